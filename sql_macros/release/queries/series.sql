-- A series when a quarter is released: turn, drafts, versions, ids (SPEC section 5).

-- name: latest_quarter
-- The latest quarter that is or was out.
SELECT max(r.quarter)
FROM srsql.exposed_release AS r
WHERE r.dataset = $dataset AND r.series = $series;

-- name: versions
-- How many releases of a quarter are or were out.
SELECT count(*)
FROM srsql.exposed_release AS r
WHERE r.dataset = $dataset AND r.series = $series AND r.quarter = $quarter;

-- name: quarter_before
-- The latest quarter before $quarter that is or was out.
SELECT max(r.quarter)
FROM srsql.exposed_release AS r
WHERE r.dataset = $dataset AND r.series = $series AND r.quarter < $quarter;

-- name: drafts
-- Number and schema of the drafts of a quarter.
SELECT r.release_id, r.schema_name
FROM srsql.release AS r
WHERE
    r.dataset = $dataset AND r.series = $series AND r.quarter = $quarter AND r.status = 'draft';

-- name: stores
-- The tables of the schema $store whose names start with $prefix.
SELECT t.table_name
FROM duckdb_tables() AS t
WHERE
    t.schema_name = $store
    AND starts_with(t.table_name, $prefix)
    AND t.database_name = current_database();

-- name: other_releases
-- Number and schema of the releases of a quarter that are out, $release_id aside.
SELECT r.release_id, r.schema_name
FROM srsql.release AS r
WHERE
    r.dataset = $dataset
    AND r.series = $series
    AND r.quarter = $quarter
    AND r.status = 'released'
    AND r.release_id <> $release_id;

-- name: supersede
-- The views of a release are gone; its rows in the catalog stay.
UPDATE srsql.release SET status = 'superseded' WHERE release_id = $release_id;

-- name: term_formats
-- In which formats the series has terms apart from rows.
SELECT DISTINCT r.model
FROM srsql.disassociated AS d
INNER JOIN srsql.release AS r ON d.release_id = r.release_id
WHERE r.dataset = $dataset AND r.series = $series;

-- name: releases
-- Quarter and number of every release that is out, in order.
SELECT r.quarter, r.release_id
FROM srsql.release AS r
WHERE r.dataset = $dataset AND r.series = $series AND r.status = 'released'
ORDER BY r.quarter;

-- name: made
-- The release of a quarter that is out, else with $draft its draft: number, status, schema, private
-- manifest, data, and which ids its series has.
SELECT r.release_id, r.status, r.schema_name, r.private_manifest, r.ingestion_id, s.ids
FROM srsql.release AS r
INNER JOIN srsql.series AS s ON r.dataset = s.dataset AND r.series = s.series
WHERE
    r.dataset = $dataset
    AND r.series = $series
    AND r.quarter = $quarter
    AND (r.status = 'released' OR (r.status = 'draft' AND $draft))
ORDER BY r.status DESC;

-- name: next_release_id
-- The number of a new release, of our own or imported.
SELECT nextval('srsql.release_ids');

-- name: register
-- The row of a release whose figures are not known yet.
INSERT INTO srsql.release
VALUES (
    $release_id, $dataset, $series, $quarter, $model, $status, $k, $k, 1, $schema, $ingestion_id,
    '{}'
);

-- name: set_figures
-- The k that groups were grown to, and what a certain value weighs.
UPDATE srsql.release
SET k_effective = $k_effective, weight_scale = $weight_scale
WHERE release_id = $release_id;

-- name: ingested_quarters
-- The quarters that are in the warehouse, from $first to $last.
SELECT i.quarter
FROM srsql.ingestion AS i
WHERE i.dataset = $dataset AND NOT i.replaced AND i.quarter BETWEEN $first AND $last
ORDER BY i.quarter;
