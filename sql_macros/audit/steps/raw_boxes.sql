-- Step: what the raw quasi-identifiers of the cases of one release ($release_id) are, as boxes. A
--   forgotten case, whose values are erased, has none; no released value tells targets apart by
--   what was perturbed, and an attacker knows $known positions alone (NULL: all).
-- Reads: audit_member(case_no, case_id), srsql.case_qid, srsql.forgotten_case
-- Writes: audit_raw(case_no, box)
-- Source: SPEC section 9.

CREATE OR REPLACE TEMP TABLE srsql_audit_raw AS
WITH
own_release AS (
    SELECT $release_id::INTEGER AS release_id
),

positions AS MATERIALIZED (
    SELECT a.position, a.root_low, a.root_high, a.perturbed
    FROM srsql.box_positions('own_release') AS a
)

SELECT
    m.case_no,
    srsql.box_of(list(srsql.box_place(a.position, q.low, q.high, a.root_low, a.root_high))) AS box
FROM temp.main.srsql_audit_member AS m
ANTI JOIN srsql.forgotten_case AS f ON m.case_id = f.token
CROSS JOIN positions AS a
LEFT JOIN srsql.case_qid AS q
    ON
        $release_id::INTEGER = q.release_id
        AND m.case_no = q.case_no
        AND a.position = q.position
        AND NOT a.perturbed
        AND ($known::INTEGER[] IS NULL OR list_contains($known::INTEGER[], a.position))
GROUP BY m.case_no;
