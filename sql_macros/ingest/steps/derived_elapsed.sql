-- Step: the class of the days from the earliest start to the earliest end of each report; $classes
--   are the days with which a class begins, $labels the name of what is before the start, of the
--   class from day 0, and of each of $classes. For $ends see srsql.day_of.
-- Reads: derived_source(report, text, is_start)
-- Writes: derived_value(report, value)
-- Source: docs/configuration.md (derived columns).

CREATE OR REPLACE TEMP TABLE srsql_derived_value AS
WITH
days AS (
    SELECT
        s.report,
        min(srsql.day_of(s.text, $ends)) FILTER (WHERE NOT s.is_start)
        - min(srsql.day_of(s.text, $ends)) FILTER (WHERE s.is_start) AS elapsed
    FROM temp.main.srsql_derived_source AS s
    GROUP BY s.report
)

SELECT
    d.report,
    srsql.class_label(d.elapsed, [0] || $classes::INTEGER[], $labels::VARCHAR[]) AS value
FROM days AS d;
