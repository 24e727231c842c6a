-- Step: the cases and groups of one release ($release_id), as the chosen attacks see them: $b, $f,
--   $l, $md, $ss. $not_in: releases whose cases are left out, since the target, and so every
--   candidate, is known to be in none of them (the erasure attack: the later versions). $side: the
--   period, next or previous, of which the target, and so every candidate, is known to be in it or,
--   where not $inside, not in it (persistence); NULL: neither is known. $newest:
--   audit_next has the cases of the quarter after it; $alpha_num and $alpha_den bound the share of
--   ss cases, $weight_scale is the weight of a whole case.
-- Reads: audit_region(release_id, group_id, box), audit_history(release_id, case_no, ...),
--   audit_next(case_id), audit_bound(term_no, theta_num, theta_den), srsql.member, srsql.case_flag,
--   srsql.case_term
-- Writes: audit_member(case_no, case_id, group_id, old, in_next_quarter, in_previous_quarter, l,
--   md, earlier, later, steady, bounds_all, bounds_earliest, is_ss), audit_held(case_no, term_no,
--   weight)
-- Source: Huang 2021, Definitions 1 to 5; SPEC section 9; docs/decisions.md, D286.

CREATE OR REPLACE TEMP TABLE srsql_audit_member AS
WITH
elsewhere AS (
    SELECT m.case_id
    FROM (SELECT unnest($not_in::INTEGER[]) AS release_id) AS r
    INNER JOIN srsql.member AS m ON r.release_id = m.release_id
),

-- each of one release, and not by a parameter in a LEFT JOIN, which DuckDB 1.5 does not know in a
-- macro
regions AS (
    SELECT g.group_id, g.box
    FROM temp.main.srsql_audit_region AS g
    WHERE g.release_id = $release_id::INTEGER
),

history AS (
    SELECT h.* FROM temp.main.srsql_audit_history AS h WHERE h.release_id = $release_id::INTEGER
),

coming AS (
    SELECT x.case_id FROM temp.main.srsql_audit_next AS x WHERE $newest::BOOLEAN
),

flags AS (
    SELECT t.case_no, t.is_ss FROM srsql.case_flag AS t WHERE t.release_id = $release_id::INTEGER
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
    LEFT JOIN regions AS g ON m.group_id = g.group_id
    LEFT JOIN history AS h ON m.case_no = h.case_no
    LEFT JOIN coming AS x ON m.case_id = x.case_id
    LEFT JOIN flags AS t ON m.case_no = t.case_no
    WHERE m.release_id = $release_id::INTEGER
)

SELECT a.*
FROM srsql.attacked_cases('cases', $l::BOOLEAN, $md::BOOLEAN) AS a
WHERE srsql.exclusion_p($side, $inside::BOOLEAN, a.in_next_quarter, a.in_previous_quarter) IS FALSE;

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
