-- What results of a comparison or an advice follow from, in the catalog.

-- name: ingested_quarters
-- The quarters of dataset $1 from $2 to $3 that are in the warehouse.
SELECT DISTINCT i.quarter
FROM srsql.ingestion AS i
WHERE i.dataset = $1 AND NOT i.replaced AND i.quarter BETWEEN $2 AND $3
ORDER BY i.quarter;

-- name: ingested_files
-- Quarter and content of every file of dataset $1 that counts.
SELECT i.quarter, i.sha256
FROM srsql.ingestion AS i
WHERE i.dataset = $1 AND NOT i.replaced
ORDER BY i.quarter, i.sha256;

-- name: schema_fingerprint
-- What tells the schema of dataset $1 from any other.
SELECT d.fingerprint FROM srsql.dataset AS d WHERE d.dataset = $1;

-- name: exposed_releases
-- The releases of series $2 of dataset $1 that an attacker has, with what tells their content.
SELECT r.release_id, r.quarter, r.status, md5(r.private_manifest) AS manifest_digest
FROM srsql.release AS r
WHERE r.dataset = $1 AND r.series = $2 AND r.status <> 'draft'
ORDER BY r.release_id;

-- name: exposed_quarters
-- The quarters of these releases, in order; one quarter once for each of its releases.
SELECT r.quarter
FROM srsql.release AS r
WHERE r.dataset = $1 AND r.series = $2 AND r.status <> 'draft'
ORDER BY r.quarter, r.release_id;

-- name: latest_model
-- The model of the latest release of series $2 of dataset $1, which is a draft only if there is no
-- other.
SELECT r.model
FROM srsql.release AS r
WHERE r.dataset = $1 AND r.series = $2
ORDER BY r.status = 'draft', r.quarter DESC, r.release_id DESC
LIMIT 1;

-- name: series_names
-- The series of dataset $1.
SELECT s.series FROM srsql.series AS s WHERE s.dataset = $1;

-- name: drop_sample
-- The reports that a sample kept are of no more use.
DROP TABLE temp.main.srsql_sampled_report;

-- name: kept_metrics
-- The metrics that release $1 has kept of itself, as uniform rows.
SELECT
    q.release_id, q.measure, q.scope, q.violating, q.total, q.ratio, q.threshold, q.passed
FROM srsql.measure AS q
WHERE q.release_id = $1 AND q.stage = 'metric'
ORDER BY q.measure, q.scope;

-- name: rows_of_sample
-- The quarter has loaded no more reports than the sample has, so that few cases compile nothing.
UPDATE srsql.ingested_file AS f
SET loaded = least(f.loaded, (SELECT count(s.report_id) FROM temp.main.srsql_sampled_report AS s))
WHERE
    f.table_name = $table_name
    AND f.ingestion_id IN (
        SELECT i.ingestion_id
        FROM srsql.ingestion AS i
        WHERE i.quarter = $quarter AND i.dataset = $dataset AND NOT i.replaced
    );
