-- Step: a series that was made before groups were refined goes on without: its latest parameters
--   say so, as if they had been given. Another setting needs a yes (--change).
-- Reads: srsql.series_parameter
-- Writes: srsql.series_parameter
-- Source: SPEC sections 5 and 7; schemas/catalog.sql.

INSERT INTO srsql.series_parameter
SELECT p.dataset, p.series, 'refine' AS keyword, 'off' AS value, NULL AS sha256
FROM srsql.series_parameter AS p
WHERE
    p.keyword = 'leftovers'
    AND NOT EXISTS (
        SELECT 1 FROM srsql.series_parameter AS q
        WHERE q.dataset = p.dataset AND q.series = p.series AND q.keyword = 'refine'
    )
ORDER BY ALL;
