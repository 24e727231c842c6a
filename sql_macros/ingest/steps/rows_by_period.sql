-- Step: finds the texts of a period column whose rows are of the period $label, and those that
--   belong to no period.
-- Reads: period_label(text, label)
-- Writes: period_text(text, known)
-- Source: SPEC section 2 (period), section 16 (a row of no period is rejected, not dropped).

CREATE OR REPLACE TEMP TABLE srsql_period_text AS
SELECT
    l.text,
    l.label IS NOT NULL AS known
FROM temp.main.srsql_period_label AS l
WHERE l.label = $label OR l.label IS NULL;
