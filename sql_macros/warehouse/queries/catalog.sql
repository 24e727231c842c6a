-- The datasets of a warehouse.

-- name: nodes
-- The nodes of the hierarchies of a dataset, each hierarchy in preorder.
SELECT n.attribute, n.node, n.parent, n.low, n.high
FROM srsql.node AS n
WHERE n.dataset = $dataset
ORDER BY n.attribute, n.pre;

-- name: update
-- A dataset that reads as before takes its new text.
UPDATE srsql.dataset
SET version = $version, fingerprint = $fingerprint, origin = $origin, toml = $toml
WHERE dataset = $dataset;

-- name: has_data
-- Whether anything was ingested or released of a dataset.
SELECT
    EXISTS (SELECT 1 FROM srsql.ingestion AS i WHERE i.dataset = $dataset)
    OR EXISTS (SELECT 1 FROM srsql.release AS r WHERE r.dataset = $dataset);

-- name: raw_key
-- The version of the key of terms that the raw tables of a dataset hold; none: 0.
SELECT k.version FROM srsql.dataset_key AS k WHERE k.dataset = $dataset;

-- name: forgotten_key
-- The key of the tokens of a dataset, if some case of it is forgotten.
SELECT k.key
FROM srsql.forgotten_key AS k
WHERE
    k.dataset = $dataset
    AND EXISTS (SELECT 1 FROM srsql.forgotten_case AS f WHERE f.dataset = k.dataset);
