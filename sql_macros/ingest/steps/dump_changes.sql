-- Step: compares the reports of a dump ($ingestion_id) of a cumulative source with those that the
--   warehouse has of its periods. A report that is known keeps the period under which it is.
-- Reads: dump_report(report_id, case_id, quarter, digest), dump_rejected(report_id),
--   known_report(report_id, case_id, label, digest), elsewhere(case_id), srsql.dump_period,
--   srsql.deleted_case, srsql.ingestion
-- Writes: dump_known(report_id, case_id, quarter, digest, is_withdrawn), dump_change(report_id,
--   case_id, quarter, change, label)
-- Source: SPEC section 22 (cumulative sources).

-- What is known is the newest text of each report.
CREATE OR REPLACE TEMP TABLE srsql_dump_known AS
WITH withdrawn AS (
    SELECT DISTINCT l.case_id FROM srsql.deleted_case AS l WHERE l.dataset = $dataset
)

SELECT
    k.report_id,
    k.case_id,
    coalesce(d.quarter, k.label) AS quarter,
    k.digest,
    w.case_id IS NOT NULL AS is_withdrawn
FROM temp.main.srsql_known_report AS k
LEFT JOIN srsql.dump_period AS d ON d.dataset = $dataset AND k.label = d.label
LEFT JOIN withdrawn AS w ON k.case_id = w.case_id
QUALIFY
    row_number() OVER (PARTITION BY k.report_id ORDER BY coalesce(d.ingestion_id, 0) DESC, k.label)
    = 1;

-- change: new, changed, same; of what the dump lacks: vanished, where nothing is left of the case,
-- else lacking. label: what the raw tables are to have in the place of the period.
CREATE OR REPLACE TEMP TABLE srsql_dump_change AS
WITH
loaded AS (
    SELECT i.quarter FROM srsql.ingestion AS i WHERE i.dataset = $dataset AND NOT i.replaced
),

present AS (
    SELECT
        r.report_id,
        r.case_id,
        coalesce(k.quarter, r.quarter) AS quarter,
        CASE
            WHEN k.report_id IS NULL THEN 'new'
            WHEN k.digest <> r.digest OR k.case_id <> r.case_id THEN 'changed'
            ELSE 'same'
        END AS change
    FROM temp.main.srsql_dump_report AS r
    LEFT JOIN temp.main.srsql_dump_known AS k ON r.report_id = k.report_id
),

absent AS (
    SELECT k.report_id, k.case_id, k.quarter
    FROM temp.main.srsql_dump_known AS k
    WHERE
        NOT k.is_withdrawn
        AND NOT EXISTS (
            SELECT 1 FROM temp.main.srsql_dump_report AS r
            WHERE r.report_id = k.report_id AND r.case_id = k.case_id
        )
        AND k.report_id NOT IN (SELECT j.report_id FROM temp.main.srsql_dump_rejected AS j)
),

left_of_case AS (
    SELECT p.case_id FROM present AS p
    UNION
    SELECT e.case_id FROM temp.main.srsql_elsewhere AS e
    UNION
    SELECT k.case_id
    FROM temp.main.srsql_dump_known AS k
    ANTI JOIN absent AS a ON k.report_id = a.report_id
)

SELECT
    p.report_id,
    p.case_id,
    p.quarter,
    p.change,
    CASE
        WHEN p.change = 'same' THEN NULL
        WHEN p.quarter IN (SELECT l.quarter FROM loaded AS l)
            THEN p.quarter || '+' || $ingestion_id::VARCHAR
        ELSE p.quarter
    END AS label
FROM present AS p
UNION ALL
SELECT
    a.report_id,
    a.case_id,
    a.quarter,
    CASE
        WHEN a.case_id IN (SELECT c.case_id FROM left_of_case AS c) THEN 'lacking' ELSE 'vanished'
    END AS change,
    NULL AS label
FROM absent AS a;
