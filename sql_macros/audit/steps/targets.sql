-- Step: the targets of one release ($release_id) whose cases' raw quasi-identifiers are known.
--   Cases of a group that an attacker's questions cannot tell apart are one target, case_no the
--   least of them. Of a case that was forgotten the catalog has no raw values: it is judged as if
--   its region were all that is known, which rules out at least whoever any value in it does. No
--   released value tells targets apart by what was perturbed. $l, $md: whether the attacker knows
--   that a target is new, that it stopped.
-- Reads: audit_member(case_no, group_id, old, in_next_quarter, in_previous_quarter),
--   audit_group_size(group_id, box), srsql.case_qid
-- Writes: audit_target(target_no, group_id, box, is_new, stopped, in_next_quarter,
--   in_previous_quarter, case_no, cases, inside, groups)
-- Source: Huang 2021, Definitions 1 to 5; SPEC section 9.

CREATE OR REPLACE TEMP TABLE srsql_audit_target AS
WITH
own_release AS (
    SELECT $release_id::INTEGER AS release_id
),

positions AS MATERIALIZED (
    SELECT a.position, a.root_low, a.root_high, a.perturbed
    FROM srsql.box_positions('own_release') AS a
),

raw AS (
    SELECT
        m.case_no,
        CASE
            WHEN count(q.case_no) = 0 THEN any_value(g.box)
            ELSE flatten(
                list(srsql.box_part(q.low, q.high, a.root_low, a.root_high) ORDER BY a.position)
            )
        END AS box
    FROM temp.main.srsql_audit_member AS m
    INNER JOIN temp.main.srsql_audit_group_size AS g ON m.group_id = g.group_id
    CROSS JOIN positions AS a
    LEFT JOIN srsql.case_qid AS q
        ON
            $release_id::INTEGER = q.release_id
            AND m.case_no = q.case_no
            AND a.position = q.position
            AND NOT a.perturbed
    GROUP BY m.case_no
),

classes AS (
    SELECT
        m.group_id,
        r.box,
        $l::BOOLEAN AND NOT m.old AS is_new,
        $md::BOOLEAN AND NOT m.in_next_quarter AS stopped,
        m.in_next_quarter,
        m.in_previous_quarter,
        min(m.case_no) AS case_no,
        count(*) AS cases
    FROM temp.main.srsql_audit_member AS m
    INNER JOIN raw AS r ON m.case_no = r.case_no
    GROUP BY m.group_id, r.box, is_new, stopped, m.in_next_quarter, m.in_previous_quarter
)

-- groups: those that the target stands for.
SELECT
    row_number() OVER (ORDER BY c.case_no)::INTEGER AS target_no,
    c.*,
    srsql.covers(g.box, c.box) AS inside,
    [c.group_id] AS groups
FROM classes AS c
INNER JOIN temp.main.srsql_audit_group_size AS g ON c.group_id = g.group_id;
