-- Step: the groups of audit_part that are of some releases ($release_ids), laid out as if they were
--   all the groups of one release: cases, groups and values of different releases have different
--   numbers, and the number of the release is 0. $b, $f, $l, $md, $ss, $alpha_num, $alpha_den,
--   $weight_scale: as in audit/steps/release.sql and the same for all of them.
-- Reads: audit_part(release_id, group_id, group_no), audit_region(release_id, group_id, box),
--   audit_history(release_id, case_no, ...), srsql.member, srsql.case_flag, srsql.case_term,
--   srsql.threshold, srsql.case_qid, srsql.forgotten_case
-- Writes: audit_part_case(case_no, case_id, group_no, release_id, own_no),
--   audit_part_region(release_id, group_id, box), audit_member(case_no, case_id, group_id, old,
--   in_next_quarter, in_previous_quarter, l, md, earlier, later, steady, bounds_all,
--   bounds_earliest, is_ss), audit_part_term(case_no, release_id, term_no, weight),
--   audit_bound(term_no, theta_num, theta_den), audit_held(case_no, term_no, weight),
--   audit_raw(case_no, box)
-- Source: Huang 2021, Definitions 1 to 5; SPEC section 9.

CREATE OR REPLACE TEMP TABLE srsql_audit_part_case AS
SELECT
    row_number() OVER (ORDER BY m.release_id, m.case_no)::INTEGER AS case_no,
    m.case_id,
    p.group_no,
    m.release_id,
    m.case_no AS own_no
FROM srsql.member AS m
INNER JOIN temp.main.srsql_audit_part AS p
    ON m.release_id = p.release_id AND m.group_id = p.group_id
WHERE p.release_id IN (SELECT unnest($release_ids::INTEGER[]));

CREATE OR REPLACE TEMP TABLE srsql_audit_part_region AS
SELECT
    0 AS release_id,
    p.group_no AS group_id,
    g.box
FROM temp.main.srsql_audit_part AS p
INNER JOIN temp.main.srsql_audit_region AS g
    ON p.release_id = g.release_id AND p.group_id = g.group_id
WHERE p.release_id IN (SELECT unnest($release_ids::INTEGER[]));

CREATE OR REPLACE TEMP TABLE srsql_audit_member AS
WITH cases AS (
    SELECT
        c.case_no,
        c.case_id,
        c.group_no AS group_id,
        g.box,
        coalesce(h.old, false) AS old,
        coalesce(h.in_next_quarter, false) AS in_next_quarter,
        coalesce(h.in_previous_quarter, false) AS in_previous_quarter,
        CASE WHEN $b::BOOLEAN THEN h.earlier END AS earlier,
        CASE WHEN $f::BOOLEAN THEN h.later END AS later,
        coalesce(h.bounds_all, true) AS bounds_all,
        coalesce(h.bounds_earliest, true) AS bounds_earliest,
        coalesce(t.is_ss, false) AS is_ss
    FROM temp.main.srsql_audit_part_case AS c
    INNER JOIN temp.main.srsql_audit_part_region AS g ON c.group_no = g.group_id
    LEFT JOIN temp.main.srsql_audit_history AS h
        ON c.release_id = h.release_id AND c.own_no = h.case_no
    LEFT JOIN srsql.case_flag AS t
        ON $ss::BOOLEAN AND c.release_id = t.release_id AND c.own_no = t.case_no
)

SELECT a.*
FROM srsql.attacked_cases('cases', $l::BOOLEAN, $md::BOOLEAN) AS a;

CREATE OR REPLACE TEMP TABLE srsql_audit_part_term AS
SELECT c.case_no, t.release_id, t.term_no, t.weight
FROM srsql.case_term AS t
INNER JOIN temp.main.srsql_audit_part_case AS c
    ON t.release_id = c.release_id AND t.case_no = c.own_no;

CREATE OR REPLACE TEMP TABLE srsql_audit_bound AS
WITH held AS (
    SELECT DISTINCT p.release_id, p.term_no FROM temp.main.srsql_audit_part_term AS p
)

SELECT
    row_number() OVER (ORDER BY t.release_id, t.term_no)::INTEGER AS term_no,
    t.theta_num,
    t.theta_den,
    t.release_id,
    t.term_no AS own_term_no
FROM srsql.threshold AS t
SEMI JOIN held AS h ON t.release_id = h.release_id AND t.term_no = h.term_no
WHERE t.theta_num < t.theta_den
UNION ALL
SELECT
    -1 AS term_no,
    $alpha_num::BIGINT AS theta_num,
    $alpha_den::BIGINT AS theta_den,
    NULL AS release_id,
    NULL AS own_term_no
WHERE $ss::BOOLEAN AND $alpha_num::BIGINT < $alpha_den::BIGINT;

CREATE OR REPLACE TEMP TABLE srsql_audit_held AS
SELECT p.case_no, b.term_no, p.weight
FROM temp.main.srsql_audit_part_term AS p
INNER JOIN temp.main.srsql_audit_bound AS b
    ON p.release_id = b.release_id AND p.term_no = b.own_term_no
UNION ALL
SELECT m.case_no, -1 AS term_no, $weight_scale::BIGINT AS weight
FROM temp.main.srsql_audit_member AS m
WHERE m.is_ss AND $ss::BOOLEAN;

CREATE OR REPLACE TEMP TABLE srsql_audit_raw AS
WITH
own_release AS (
    SELECT unnest($release_ids::INTEGER[]) AS release_id
),

positions AS MATERIALIZED (
    SELECT a.release_id, a.position, a.root_low, a.root_high, a.perturbed
    FROM srsql.box_positions('own_release') AS a
)

SELECT
    c.case_no,
    srsql.box_of(list(srsql.box_place(a.position, q.low, q.high, a.root_low, a.root_high))) AS box
FROM temp.main.srsql_audit_part_case AS c
ANTI JOIN srsql.forgotten_case AS f ON c.case_id = f.token
INNER JOIN positions AS a ON c.release_id = a.release_id
LEFT JOIN srsql.case_qid AS q
    ON
        c.release_id = q.release_id
        AND c.own_no = q.case_no
        AND a.position = q.position
        AND NOT a.perturbed
GROUP BY c.case_no;
