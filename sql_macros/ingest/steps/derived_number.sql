-- Step: the class of the number of different terms of each report; $classes are the numbers with
--   which a class begins, $labels the name of the class from 0 and of each of $classes.
-- Reads: derived_source(report, text)
-- Writes: derived_value(report, value)
-- Source: docs/configuration.md (derived columns).

CREATE OR REPLACE TEMP TABLE srsql_derived_value AS
SELECT
    s.report,
    srsql.class_label(
        count(DISTINCT s.text), $classes::INTEGER[], $labels::VARCHAR[]
    ) AS value
FROM temp.main.srsql_derived_source AS s
GROUP BY s.report;
