-- Step: $labels[1] where some row of a report has a term of $terms (empty: any term), else
--   $labels[2].
-- Reads: derived_source(report, text)
-- Writes: derived_value(report, value)
-- Source: docs/configuration.md (derived columns).

CREATE OR REPLACE TEMP TABLE srsql_derived_value AS
SELECT
    s.report,
    CASE
        WHEN
            coalesce(bool_or(
                s.text IS NOT NULL
                AND (len($terms::VARCHAR[]) = 0 OR list_contains($terms::VARCHAR[], s.text))
            ), false)
            THEN ($labels::VARCHAR[])[1]
        ELSE ($labels::VARCHAR[])[2]
    END AS value
FROM temp.main.srsql_derived_source AS s
GROUP BY s.report;
