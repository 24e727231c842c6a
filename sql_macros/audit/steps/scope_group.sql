-- Step: scope = group: what each target's exclusion sets leave of its group, and the values that
--   more of those who remain hold than their thresholds allow. $weight_scale: the weight of a whole
--   case.
-- Reads: audit_target(target_no, group_id, box, is_new, stopped, in_next_quarter,
--   in_previous_quarter, inside), audit_member(case_no, group_id, earlier, later, l, md, steady,
--   in_next_quarter, in_previous_quarter), audit_group_size(group_id, cases, ...),
--   audit_group_term_weight(group_id, term_no, weight, of_l, of_md, of_both), audit_held(case_no,
--   term_no, weight), audit_bound(term_no, theta_num, theta_den)
-- Writes: audit_pair(target_no, case_no, b, f, otherwise, in_next_quarter, in_previous_quarter),
--   audit_sets(target_no, group_id, candidates, b, f, l, md, remaining, staying, staying_back),
--   audit_breach(target_no, group_id, term_no, theta_num, theta_den, whole, weight)
-- Source: Huang 2021, Definitions 1 to 5; SPEC section 9.

-- case_with_history: a case that its other regions may rule out for some target of its group.
CREATE OR REPLACE TEMP TABLE srsql_audit_pair AS
WITH
strays AS (
    SELECT DISTINCT t.group_id FROM temp.main.srsql_audit_target AS t WHERE NOT t.inside
),

case_with_history AS MATERIALIZED (
    SELECT
        m.case_no,
        m.group_id,
        m.earlier,
        m.later,
        m.l,
        m.md,
        m.in_next_quarter,
        m.in_previous_quarter
    FROM temp.main.srsql_audit_member AS m
    LEFT JOIN strays AS s ON m.group_id = s.group_id
    WHERE
        (m.earlier IS NOT NULL OR m.later IS NOT NULL)
        AND (s.group_id IS NOT NULL OR NOT m.steady)
)

SELECT p.* FROM srsql.excluded_pairs('temp.main.srsql_audit_target', 'case_with_history') AS p;

CREATE OR REPLACE TEMP TABLE srsql_audit_sets AS
SELECT s.*
FROM srsql.exclusion_sets(
    'temp.main.srsql_audit_target', 'temp.main.srsql_audit_group_size', 'temp.main.srsql_audit_pair'
) AS s;

-- Values of groups of which not even all holders together exceed theta of the fewest that remain
-- need no closer look.
CREATE OR REPLACE TEMP TABLE srsql_audit_breach AS
WITH
fewest AS (
    SELECT s.group_id, min(s.remaining) AS remaining
    FROM temp.main.srsql_audit_sets AS s WHERE s.remaining > 0 GROUP BY s.group_id
),

doubts AS (
    SELECT w.*, b.theta_num, b.theta_den, $weight_scale::BIGINT AS weight_scale
    FROM temp.main.srsql_audit_group_term_weight AS w
    INNER JOIN temp.main.srsql_audit_bound AS b ON w.term_no = b.term_no
    INNER JOIN fewest AS f ON w.group_id = f.group_id
    WHERE srsql.exceeds(w.weight, b.theta_num, b.theta_den, f.remaining, $weight_scale::BIGINT)
),

shares AS (
    SELECT
        t.target_no,
        t.group_id,
        d.term_no,
        d.theta_num,
        d.theta_den,
        d.weight_scale,
        s.remaining,
        srsql.remaining_after_l_md(d.weight, d.of_l, d.of_md, d.of_both, t.is_new, t.stopped)
            AS weight
    FROM temp.main.srsql_audit_target AS t
    INNER JOIN temp.main.srsql_audit_sets AS s ON t.target_no = s.target_no
    INNER JOIN doubts AS d ON t.group_id = d.group_id
    WHERE
        s.remaining > 0
        AND srsql.exceeds(
            srsql.remaining_after_l_md(d.weight, d.of_l, d.of_md, d.of_both, t.is_new, t.stopped),
            d.theta_num,
            d.theta_den,
            s.remaining,
            d.weight_scale
        )
),

gone AS (
    SELECT p.target_no, h.term_no, sum(h.weight)::HUGEINT AS weight
    FROM temp.main.srsql_audit_pair AS p
    INNER JOIN temp.main.srsql_audit_held AS h ON p.case_no = h.case_no
    SEMI JOIN shares AS s ON p.target_no = s.target_no AND h.term_no = s.term_no
    WHERE NOT p.otherwise
    GROUP BY p.target_no, h.term_no
)

SELECT
    s.target_no,
    s.group_id,
    s.term_no,
    s.theta_num,
    s.theta_den,
    s.remaining::HUGEINT * s.weight_scale AS whole,
    s.weight - coalesce(g.weight, 0) AS weight
FROM shares AS s
LEFT JOIN gone AS g ON s.target_no = g.target_no AND s.term_no = g.term_no
WHERE srsql.exceeds(
    s.weight - coalesce(g.weight, 0), s.theta_num, s.theta_den, s.remaining, s.weight_scale
);
