-- What a publication reads of the catalog.

-- name: releases_of_series
-- Every release of series $2 of dataset $1, in order, and whether ids were released as pseudonyms.
SELECT
    r.release_id,
    r.quarter,
    r.status,
    r.model,
    r.schema_name,
    s.pseudonym_key IS NOT NULL AS keyed
FROM srsql.release AS r
INNER JOIN srsql.series AS s ON r.dataset = s.dataset AND r.series = s.series
WHERE r.dataset = $1 AND r.series = $2
ORDER BY r.quarter, r.release_id;

-- name: released_thresholds
-- theta of every value that a row of release $1 shows; nothing unless $2: the model keeps them.
SELECT t.term, t.theta_num, t.theta_den
FROM srsql.told_thresholds($1) AS t
WHERE $2
ORDER BY t.term;

-- name: release_facts
-- k of release $1, and its private manifest.
SELECT r.k, r.private_manifest FROM srsql.release AS r WHERE r.release_id = $1;
