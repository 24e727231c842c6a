-- Step: lists the ids of a release that have no pseudonym yet in the series $series of $dataset, or
--   in its quarter $quarter where each has other ones (NULL: one for all quarters), and those that
--   have one. A report id that is the case id at the same time is a case's ($report_kind).
-- Reads: shown_report(report_id, case_id, case_no, group_no), srsql.id_pseudonym
-- Writes: named_id(kind, id, pseudonym), unnamed_id(kind, id, case_id)
-- Source: SPEC section 5.

-- all that a long series stores is read once, by a filter of one column
CREATE OR REPLACE TEMP TABLE srsql_named_id AS
SELECT p.kind, p.id, p.pseudonym
FROM srsql.id_pseudonym AS p
WHERE
    p.dataset = $dataset
    AND p.series = $series
    AND p.quarter IS NOT DISTINCT FROM $quarter::VARCHAR
    AND p.id IN (
        SELECT r.case_id::VARCHAR FROM temp.main.srsql_shown_report AS r
        UNION ALL
        SELECT r.report_id::VARCHAR FROM temp.main.srsql_shown_report AS r
    );

CREATE OR REPLACE TEMP TABLE srsql_unnamed_id AS
WITH
shown AS (
    SELECT 'case' AS kind, r.case_id::VARCHAR AS id, r.case_id::VARCHAR AS case_id
    FROM temp.main.srsql_shown_report AS r
    UNION ALL
    SELECT $report_kind AS kind, r.report_id::VARCHAR AS id, r.case_id::VARCHAR AS case_id
    FROM temp.main.srsql_shown_report AS r
    WHERE $report_kind <> 'case'
),

unnamed AS (
    SELECT s.kind, s.id, s.case_id
    FROM shown AS s
    ANTI JOIN temp.main.srsql_named_id AS p ON s.kind = p.kind AND s.id = p.id
)

SELECT u.kind, u.id, u.case_id
FROM unnamed AS u
WHERE $report_kind = 'case' -- each is there once
UNION ALL
SELECT u.kind, u.id, min(u.case_id) AS case_id
FROM unnamed AS u
WHERE $report_kind <> 'case'
GROUP BY u.kind, u.id;
