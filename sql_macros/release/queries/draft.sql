-- A draft becomes a release.

-- name: draft
-- Number, schema, k and private manifest of the draft of a quarter.
SELECT r.release_id, r.schema_name, r.k, r.private_manifest
FROM srsql.release AS r
WHERE
    r.dataset = $dataset AND r.series = $series AND r.quarter = $quarter AND r.status = 'draft';

-- name: released_since
-- The latest quarter of the series that is out and was not yet when a draft was made ($known_then:
-- the releases that it follows).
SELECT max(r.quarter)
FROM srsql.exposed_release AS r
WHERE
    r.dataset = $dataset
    AND r.series = $series
    AND NOT list_contains($known_then::INTEGER[], r.release_id);

-- name: source_replaced
-- Whether the source of a release was replaced.
SELECT i.replaced
FROM srsql.release AS r
INNER JOIN srsql.ingestion AS i ON r.ingestion_id = i.ingestion_id
WHERE r.release_id = $release_id;

-- name: viewed_stores
-- The views of a schema, with the tables that hold their rows.
SELECT v.view_name, 'release_' || $release_id::VARCHAR || '_' || v.view_name AS store
FROM duckdb_views() AS v
WHERE v.schema_name = $schema AND v.database_name = current_database();

-- name: expose
-- A draft becomes a release.
UPDATE srsql.release
SET status = 'released', schema_name = $schema
WHERE release_id = $release_id;
