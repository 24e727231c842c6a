-- Step: what the groups of one release ($release_id) add up to: cases, and the weight of each
--   value, with what L and MD rule out of both.
-- Reads: audit_member(case_no, group_id, l, md, in_next_quarter, in_previous_quarter),
--   audit_region(release_id, group_id, box), audit_held(case_no, term_no, weight)
-- Writes: audit_group_size(group_id, cases, ..., box, place_no), audit_group_term_weight(group_id,
--   term_no, weight, of_l, of_md, of_both)
-- Source: Huang 2021, Definitions 3 and 5; SPEC section 9 (P).

-- place_no: the least of the groups with the same region, which are one place for an attacker who
-- is not told of groups.
CREATE OR REPLACE TEMP TABLE srsql_audit_group_size AS
WITH sizes AS (
    SELECT
        m.group_id,
        count(*) AS cases,
        count(*) FILTER (WHERE m.l) AS of_l,
        count(*) FILTER (WHERE m.md) AS of_md,
        count(*) FILTER (WHERE m.l AND m.md) AS of_both,
        count(*) FILTER (WHERE m.in_next_quarter) AS next_cases,
        count(*) FILTER (WHERE m.in_next_quarter AND m.l) AS next_l,
        count(*) FILTER (WHERE m.in_previous_quarter) AS previous_cases,
        count(*) FILTER (WHERE m.in_previous_quarter AND m.md) AS previous_md
    FROM temp.main.srsql_audit_member AS m
    GROUP BY m.group_id
)

SELECT
    s.*,
    g.box,
    min(s.group_id) OVER (PARTITION BY g.box) AS place_no
FROM sizes AS s
INNER JOIN temp.main.srsql_audit_region AS g
    ON s.group_id = g.group_id AND $release_id::INTEGER = g.release_id;

CREATE OR REPLACE TEMP TABLE srsql_audit_group_term_weight AS
SELECT w.*
FROM srsql.group_term_weights('temp.main.srsql_audit_held', 'temp.main.srsql_audit_member') AS w;
