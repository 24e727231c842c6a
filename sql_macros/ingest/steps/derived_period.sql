-- Step: the period ($rule: year, quarter, month) of the earliest date of each report. For $ends see
--   srsql.period_labels.
-- Reads: derived_source(report, text)
-- Writes: derived_value(report, value)
-- Source: docs/configuration.md (derived columns).

CREATE OR REPLACE TEMP TABLE srsql_derived_value AS
WITH
distinct_text AS MATERIALIZED (
    SELECT DISTINCT s.text FROM temp.main.srsql_derived_source AS s WHERE s.text IS NOT NULL
),

text_label AS MATERIALIZED (
    SELECT l.text, l.label FROM srsql.period_labels('distinct_text', $rule, $ends) AS l
)

SELECT s.report, min(l.label) AS value
FROM temp.main.srsql_derived_source AS s
LEFT JOIN text_label AS l ON s.text = l.text
GROUP BY s.report;
