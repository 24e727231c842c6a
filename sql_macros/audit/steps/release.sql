-- Step: the cases and groups of one release ($release_id), as the chosen attacks see them: $b, $f,
--   $l, $md, $ss. $not_in: releases whose cases are left out, since the target, and so every
--   candidate, is known to be in none of them (the erasure attack: the later versions). $newest:
--   audit_next has the cases of the quarter after it; $alpha_num and $alpha_den bound the share of
--   ss cases, $weight_scale is the weight of a whole case.
-- Reads: audit_region(release_id, group_id, box), audit_history(release_id, case_no, ...),
--   audit_next(case_id), audit_bound(term_no, theta_num, theta_den), srsql.member, srsql.case_flag,
--   srsql.case_term
-- Writes: audit_member(case_no, case_id, group_id, old, in_next_quarter, in_previous_quarter, l,
--   md, earlier, later, steady, bounds_all, bounds_earliest, is_ss), audit_group_size(group_id,
--   box, cases, ..., place_no), audit_held(case_no, term_no, weight),
--   audit_group_term_weight(group_id, term_no, weight, of_l, of_md, of_both)
-- Source: Huang 2021, Definitions 1 to 5; SPEC section 9.

-- l: ruled out for a new target; md: for one that stopped; steady: the other regions of the case
-- rule it out for no target that its own region covers.
CREATE OR REPLACE TEMP TABLE srsql_audit_member AS
WITH
elsewhere AS (
    SELECT m.case_id
    FROM (SELECT unnest($not_in::INTEGER[]) AS release_id) AS r
    INNER JOIN srsql.member AS m ON r.release_id = m.release_id
),

cases AS (
    SELECT
        m.case_no,
        m.case_id,
        m.group_id,
        g.box,
        coalesce(h.old, false) AS old,
        coalesce(h.in_next_quarter, false) OR x.case_id IS NOT NULL AS in_next_quarter,
        coalesce(h.in_previous_quarter, false) AS in_previous_quarter,
        CASE WHEN $b::BOOLEAN THEN h.earlier END AS earlier,
        CASE WHEN $f::BOOLEAN THEN h.later END AS later,
        coalesce(h.bounds_all, true) AS bounds_all,
        coalesce(h.bounds_earliest, true) AS bounds_earliest,
        coalesce(t.is_ss, false) AS is_ss
    FROM srsql.member AS m
    ANTI JOIN elsewhere AS e ON m.case_id = e.case_id
    LEFT JOIN temp.main.srsql_audit_region AS g
        ON m.group_id = g.group_id AND m.release_id = g.release_id
    LEFT JOIN temp.main.srsql_audit_history AS h
        ON m.release_id = h.release_id AND m.case_no = h.case_no
    LEFT JOIN temp.main.srsql_audit_next AS x ON $newest::BOOLEAN AND m.case_id = x.case_id
    LEFT JOIN srsql.case_flag AS t ON m.release_id = t.release_id AND m.case_no = t.case_no
    WHERE m.release_id = $release_id::INTEGER
)

SELECT
    c.* EXCLUDE (box),
    $l::BOOLEAN AND c.old AS l,
    $md::BOOLEAN AND c.in_next_quarter AS md,
    CASE
        WHEN c.earlier IS NULL AND c.later IS NULL THEN true
        ELSE srsql.covers(c.earlier, c.box) AND srsql.covers(c.later, c.box)
    END AS steady
FROM cases AS c;

-- place_no: the least of the groups with the same region, which are one place for an attacker who
-- is not told of groups.
CREATE OR REPLACE TEMP TABLE srsql_audit_group_size AS
WITH sizes AS (
    SELECT
        m.group_id,
        any_value(g.box) AS box,
        count(*) AS cases,
        count(*) FILTER (WHERE m.l) AS of_l,
        count(*) FILTER (WHERE m.md) AS of_md,
        count(*) FILTER (WHERE m.l AND m.md) AS of_both,
        count(*) FILTER (WHERE m.in_next_quarter) AS next_cases,
        count(*) FILTER (WHERE m.in_next_quarter AND m.l) AS next_l,
        count(*) FILTER (WHERE m.in_previous_quarter) AS previous_cases,
        count(*) FILTER (WHERE m.in_previous_quarter AND m.md) AS previous_md
    FROM temp.main.srsql_audit_member AS m
    INNER JOIN temp.main.srsql_audit_region AS g
        ON m.group_id = g.group_id AND $release_id::INTEGER = g.release_id
    GROUP BY m.group_id
)

SELECT
    s.*,
    min(s.group_id) OVER (PARTITION BY s.box) AS place_no
FROM sizes AS s;

-- ss cases count as holders of the value -1.
CREATE OR REPLACE TEMP TABLE srsql_audit_held AS
SELECT c.case_no, c.term_no, c.weight
FROM srsql.case_term AS c
SEMI JOIN temp.main.srsql_audit_bound AS b ON c.term_no = b.term_no
WHERE c.release_id = $release_id::INTEGER
UNION ALL
SELECT m.case_no, -1 AS term_no, $weight_scale::BIGINT AS weight_scale
FROM temp.main.srsql_audit_member AS m
WHERE m.is_ss AND $ss::BOOLEAN;

CREATE OR REPLACE TEMP TABLE srsql_audit_group_term_weight AS
SELECT w.*
FROM srsql.group_term_weights('temp.main.srsql_audit_held', 'temp.main.srsql_audit_member') AS w;
