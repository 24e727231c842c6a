-- Step: finds the report ids, as a child table writes them, whose rows are of the period $label
--   (NULL: of any): a row is of the periods of its report, or belongs to no period, whose report
--   tells none or is not there. $ends is a class of white space, $integer says whether ids are
--   integers.
-- Reads: period_key(text), report_label(report, label)
-- Writes: period_text(text, known, reported)
-- Source: SPEC section 2 (period), section 16 (a row of no period is rejected, not dropped).

CREATE OR REPLACE TEMP TABLE srsql_period_text AS
SELECT
    k.text,
    count(r.label) > 0 AS known,
    count(r.report) > 0 OR srsql.identifier(k.text, $ends, $integer) IS NULL AS reported
FROM temp.main.srsql_period_key AS k
LEFT JOIN temp.main.srsql_report_label AS r
    ON srsql.identifier(k.text, $ends, $integer) = r.report
GROUP BY k.text
HAVING
    $label::VARCHAR IS NULL
    OR count(r.label) = 0
    OR coalesce(bool_or(r.label = $label::VARCHAR), false);
