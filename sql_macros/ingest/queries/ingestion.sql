-- The life of an ingestion, as the catalog keeps it.
-- Source: SPEC section 5 (ingested files with SHA-256), section 16 (a rerun works).

-- name: loaded
-- The ingestion that the period of a dataset is loaded from, if it is loaded.
SELECT
    i.ingestion_id,
    i.sha256,
    i.source
FROM srsql.ingestion AS i
WHERE i.dataset = $dataset AND i.quarter = $quarter AND NOT i.replaced;

-- name: replace
-- Mark an ingestion as replaced.
UPDATE srsql.ingestion SET replaced = true WHERE ingestion_id = $ingestion;

-- name: open
-- Begin an ingestion.
INSERT INTO srsql.ingestion
VALUES ($ingestion, $dataset, $quarter, $source, $sha256, $software, false);
