-- A release before it is exposed, and the version that it replaces.

-- name: version_before
-- The version of release $release_id that was out last before it.
SELECT max(e.release_id)
FROM srsql.release AS r
INNER JOIN srsql.exposed_release AS e
    ON r.dataset = e.dataset AND r.series = e.series AND r.quarter = e.quarter
WHERE r.release_id = $release_id AND e.release_id < r.release_id;

-- name: keeps_remainder
-- Whether release $release_id corrects $before and keeps what was left of groups.
SELECT c.release_id
FROM srsql.correction AS c
WHERE c.release_id = $release_id AND c.corrects = $before AND c.keep_remainder;

-- name: manifest
-- The private manifest of a release.
SELECT r.private_manifest FROM srsql.release AS r WHERE r.release_id = $release_id;

-- name: publishable
-- The model of a release, and whether noise, if any, is no experiment's, by manifest and catalog.
SELECT
    any_value(r.model) AS model,
    coalesce(bool_and((r.private_manifest ->> '$.publishable')::BOOLEAN), true)
    AND coalesce(bool_and(p.noise = 'secure' AND p.calibration IN ('sound', 'paper')), true)
        AS publishable
FROM srsql.release AS r
LEFT JOIN srsql.perturbation AS p ON r.release_id = p.release_id
WHERE r.release_id = $release_id;
