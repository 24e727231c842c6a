-- What the catalog says of the released views that questions are answered from.

-- name: series
-- The family of a series, the schema of all its quarters together, whether its ids are pseudonyms,
-- and of which kind; the key itself is not read.
SELECT s.family, s.cumulative_schema, s.pseudonym_key IS NOT NULL AS has_key, s.ids
FROM srsql.series AS s
WHERE s.dataset = $dataset AND s.series = $series;

-- name: released_quarters
-- The quarters of a series that are out, with the schemas of their views and their numbers, oldest
-- first.
SELECT r.quarter, r.schema_name, r.release_id
FROM srsql.release AS r
WHERE r.dataset = $dataset AND r.series = $series AND r.status = 'released'
ORDER BY r.quarter;
