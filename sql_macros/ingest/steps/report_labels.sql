-- Step: gives every report the labels of its periods. For $rule and $ends see srsql.period_labels;
--   $integer says whether ids are integers.
-- Reads: period_key(text, report)
-- Writes: report_label(report, label)
-- Source: SPEC section 2 (period).

CREATE OR REPLACE TEMP TABLE srsql_report_label AS
WITH
distinct_text AS MATERIALIZED (
    SELECT DISTINCT k.text FROM temp.main.srsql_period_key AS k
),

text_label AS MATERIALIZED (
    SELECT l.text, l.label FROM srsql.period_labels('distinct_text', $rule, $ends) AS l
)

SELECT DISTINCT
    srsql.identifier(k.report, $ends, $integer) AS report,
    l.label
FROM temp.main.srsql_period_key AS k
INNER JOIN text_label AS l ON k.text IS NOT DISTINCT FROM l.text;
