-- Ids of a release and the pseudonyms that stand for them (SPEC section 5).

-- name: unnamed
-- How many ids have no pseudonym yet.
SELECT count(u.id) FROM temp.main.srsql_unnamed_id AS u;

-- name: counts
-- Cases by their own ids and by those they are published under; reports where they have other ids
-- ($by_report).
SELECT
    (SELECT count(DISTINCT i.case_id) FROM temp.main.srsql_identity AS i) AS cases,
    (SELECT count(DISTINCT i.public_case) FROM temp.main.srsql_identity AS i) AS public_cases,
    (SELECT count(DISTINCT i.report_id) FROM temp.main.srsql_identity AS i WHERE $by_report)
        AS reports,
    (SELECT count(DISTINCT i.public_report) FROM temp.main.srsql_identity AS i WHERE $by_report)
        AS public_reports;

-- name: one_row
-- The reports of a case are published as one row, under the least of their ids.
CREATE OR REPLACE TEMP TABLE srsql_identity AS
SELECT
    i.report_id,
    i.case_id,
    i.case_no,
    i.group_no,
    min(i.public_report) OVER (PARTITION BY i.public_case) AS public_report,
    i.public_case
FROM temp.main.srsql_identity AS i;

-- name: shared
-- Pseudonyms of a release, of reports only where those have other ids ($by_report), that stand for
-- more than one id of their series.
SELECT count(*)
FROM (
    SELECT p.pseudonym
    FROM srsql.id_pseudonym AS p
    WHERE
        p.dataset = $dataset
        AND p.series = $series
        AND p.pseudonym IN (
            SELECT i.public_case FROM temp.main.srsql_identity AS i
            UNION ALL
            SELECT i.public_report FROM temp.main.srsql_identity AS i WHERE $by_report
        )
    GROUP BY p.pseudonym
    HAVING count(*) > 1
) AS d;

-- name: look_up
-- The ids that $asked stands for: pseudonyms, or case ids of the source where $by_case. quarters:
-- those in which the case (of a report: the report) is or was out. The rows are pseudonym_of
-- (quarter, kind, id, case_id, pseudonym) of a series and the reports (quarter, report_id, case_id)
-- that it has had.
WITH
asked AS (
    SELECT DISTINCT unnest($asked::VARCHAR[]) AS text
),

chosen AS MATERIALIZED (
    SELECT a.text, p.*
    FROM asked AS a
    INNER JOIN pseudonym_of AS p
        ON a.text = CASE WHEN $by_case THEN p.case_id ELSE p.pseudonym::VARCHAR END
),

shown AS MATERIALIZED (
    SELECT r.quarter, 'case' AS kind, r.case_id AS id FROM report_out AS r
    UNION
    SELECT r.quarter, $report_kind AS kind, r.report_id AS id FROM report_out AS r
)

SELECT
    c.text,
    c.kind,
    c.pseudonym,
    c.case_id,
    CASE WHEN c.kind = 'report' THEN c.id END AS report_id,
    coalesce(
        list(s.quarter ORDER BY s.quarter) FILTER (WHERE s.quarter IS NOT NULL), []
    ) AS quarters
FROM chosen AS c
LEFT JOIN shown AS s
    ON
        c.kind = s.kind
        AND c.id = s.id
        AND (c.quarter IS NULL OR c.quarter = s.quarter)
GROUP BY c.text, c.kind, c.pseudonym, c.case_id, c.id, c.quarter
HAVING $quarter::VARCHAR IS NULL OR count_if(s.quarter = $quarter) > 0
ORDER BY c.text, c.kind, report_id, c.quarter, c.pseudonym;
