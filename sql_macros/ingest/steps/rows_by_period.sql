-- Step: finds the texts of a period column whose rows are of the period $label (NULL: of any), and
--   those that belong to no period. For $rule and $ends see srsql.period_labels.
-- Reads: period_key(text)
-- Writes: period_text(text, known, reported)
-- Source: SPEC section 2 (period), section 16 (a row of no period is rejected, not dropped).

CREATE OR REPLACE TEMP TABLE srsql_period_text AS
SELECT
    l.text,
    l.label IS NOT NULL AS known,
    true AS reported
FROM srsql.period_labels('temp.main.srsql_period_key', $rule, $ends) AS l
WHERE $label::VARCHAR IS NULL OR l.label = $label::VARCHAR OR l.label IS NULL;
