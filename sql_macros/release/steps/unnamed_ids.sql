-- Step: lists the ids of a release that have no pseudonym yet in the series $series of $dataset, or
--   in its quarter $quarter where each has other ones (NULL: one for all quarters). A report id
--   that is the case id at the same time is a case's ($report_kind).
-- Reads: shown_report(report_id, case_id, case_no, group_no), srsql.id_pseudonym
-- Writes: unnamed_id(kind, id, case_id)
-- Source: SPEC section 5.

CREATE OR REPLACE TEMP TABLE srsql_unnamed_id AS
WITH shown AS (
    SELECT 'case' AS kind, r.case_id::VARCHAR AS id, r.case_id::VARCHAR AS case_id
    FROM temp.main.srsql_shown_report AS r
    UNION ALL
    SELECT $report_kind AS kind, r.report_id::VARCHAR AS id, r.case_id::VARCHAR AS case_id
    FROM temp.main.srsql_shown_report AS r
)

SELECT s.kind, s.id, min(s.case_id) AS case_id
FROM shown AS s
WHERE NOT EXISTS (
    SELECT 1 FROM srsql.id_pseudonym AS p
    WHERE
        p.dataset = $dataset
        AND p.series = $series
        AND p.quarter IS NOT DISTINCT FROM $quarter::VARCHAR
        AND p.kind = s.kind
        AND p.id = s.id
)
GROUP BY s.kind, s.id;
