-- What the catalog says of the releases that signals are counted in.

-- name: released_quarters
-- The quarters of a series that are out, with their releases, oldest first.
SELECT r.quarter, r.release_id
FROM srsql.release AS r
WHERE r.dataset = $dataset AND r.series = $series AND r.status = 'released'
ORDER BY r.quarter;

-- name: models
-- The models that made these releases.
SELECT r.quarter, r.model
FROM srsql.release AS r
WHERE list_contains($releases::INTEGER[], r.release_id)
ORDER BY r.quarter;

-- name: schemas
-- The schemas of the views of these releases, and their quarters.
SELECT r.schema_name, r.quarter
FROM srsql.release AS r
WHERE list_contains($releases::INTEGER[], r.release_id)
ORDER BY r.schema_name;

-- name: replaced_quarters
-- The quarters whose raw rows were replaced after their release.
SELECT r.quarter
FROM srsql.release AS r
INNER JOIN srsql.ingestion AS i ON r.ingestion_id = i.ingestion_id
WHERE i.replaced AND list_contains($releases::INTEGER[], r.release_id)
ORDER BY r.quarter;

-- name: dropped_cases
-- How many cases these releases were asked to leave out for want of a value.
SELECT count(*) AS cases
FROM srsql.withheld AS w
WHERE w.reason = 'missing_qid' AND list_contains($releases::INTEGER[], w.release_id);
