-- What the views of readers are made of.

-- name: ingested
-- Datasets that were ingested.
SELECT DISTINCT i.dataset FROM srsql.ingestion AS i ORDER BY i.dataset;

-- name: series
-- The series of a dataset in which cases can be followed, each with the schema of its views.
SELECT s.series, s.cumulative_schema
FROM srsql.series AS s
WHERE s.dataset = $dataset AND s.ids <> $ids AND s.cumulative_schema IS NOT NULL
ORDER BY s.series;

-- name: out
-- The releases of a dataset that are out, each with the schema of its views.
SELECT r.series, r.quarter, r.schema_name
FROM srsql.release AS r
WHERE r.dataset = $dataset AND r.status = 'released' AND r.schema_name <> ''
ORDER BY r.series, r.quarter, r.release_id;

-- name: has_view
-- Whether a schema has a view of a name.
SELECT count(*) > 0
FROM duckdb_views() AS v
WHERE v.database_name = current_database() AND v.schema_name = $schema AND v.view_name = $name;

-- name: text
-- The text of a view.
SELECT v.sql
FROM duckdb_views() AS v
WHERE v.database_name = current_database() AND v.schema_name = $schema AND v.view_name = $name;
