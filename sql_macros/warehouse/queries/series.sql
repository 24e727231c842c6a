-- What the catalog says of series and their periods.

-- name: schema_of
-- The schema that the releases of a quarter have, or its drafts ($draft).
SELECT max(r.schema_name)
FROM srsql.release AS r
WHERE
    r.dataset = $dataset
    AND r.series = $series
    AND r.quarter = $quarter
    AND (r.status = 'draft') = $draft;

-- name: schemas
-- Every schema there is, and every one that a series or a release has a claim on.
SELECT s.schema_name
FROM duckdb_schemas() AS s
WHERE s.database_name = current_database()
UNION
SELECT s.cumulative_schema AS schema_name FROM srsql.series AS s
UNION
SELECT r.schema_name FROM srsql.release AS r;

-- name: find
-- The series of that name.
SELECT s.dataset, s.series, s.family, s.cumulative_schema, s.pseudonym_key, s.ids
FROM srsql.series AS s
WHERE s.dataset = $dataset AND s.series = $series;

-- name: make
-- A series, at its first release.
INSERT INTO srsql.series VALUES ($dataset, $series, $family, $schema, $key, $ids);

-- name: others
-- How many releases a series has beside drafts of the quarter $draft_of.
SELECT count(*)
FROM srsql.release AS r
WHERE
    r.dataset = $dataset
    AND r.series = $series
    AND NOT (r.status = 'draft' AND r.quarter = $draft_of);

-- name: forget_ids
-- The pseudonyms of a series that was never exposed.
DELETE FROM srsql.id_pseudonym AS p
WHERE p.dataset = $dataset AND p.series = $series;

-- name: forget
-- A series that was never exposed.
DELETE FROM srsql.series AS s
WHERE s.dataset = $dataset AND s.series = $series;

-- name: periods
-- Every period that was ingested or released, in the order of their labels.
SELECT i.quarter FROM srsql.ingestion AS i WHERE i.dataset = $dataset
UNION
SELECT r.quarter FROM srsql.release AS r WHERE r.dataset = $dataset
ORDER BY ALL;

-- name: next_period
-- The earliest later period in the warehouse.
SELECT min(i.quarter)
FROM srsql.ingestion AS i
WHERE i.dataset = $dataset AND i.quarter > $quarter AND NOT i.replaced;
