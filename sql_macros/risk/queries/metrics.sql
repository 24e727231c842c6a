-- What the catalog says of a release that is measured.

-- name: suppresses
-- Whether some value of a case of the release is suppressed.
SELECT count(*) > 0 FROM srsql.suppressed AS s WHERE s.release_id = $release_id;

-- name: waited
-- Whether cases may wait for the release, or some case of any series has waited, or came late.
SELECT
    (r.private_manifest ->> '$.max_delay') IS NOT NULL
    OR (SELECT count(*) > 0 FROM srsql.waiting)
    OR (SELECT count(*) > 0 FROM srsql.came_late(r.release_id))
FROM srsql.release AS r
WHERE r.release_id = $release_id;

-- name: kind
-- The model that made the release, and whether it perturbs quasi-identifiers.
SELECT
    r.model,
    (
        SELECT count(*) > 0
        FROM srsql.perturbation AS p
        WHERE p.release_id = r.release_id
    ) AS perturbs
FROM srsql.release AS r
WHERE r.release_id = $release_id;

-- name: views
-- The schema of its views, and its status.
SELECT r.schema_name, r.status FROM srsql.release AS r WHERE r.release_id = $release_id;

-- name: attributes
-- The kinds of its quasi-identifiers.
SELECT a.position, a.kind FROM srsql.attribute AS a WHERE a.release_id = $release_id;

-- name: nodes
-- The nodes of its categorical quasi-identifiers; see srsql.release_node.
SELECT
    n.position,
    n.node,
    n.pre,
    n.last,
    n.low,
    n.high
FROM srsql.release_node($release_id) AS n
ORDER BY n.position, n.pre;

-- name: utility_constraints
-- The terms of the constraints of its utility policy.
-- Source: Loukides 2014, section 3.2.
SELECT c.name, c.term
FROM srsql.utility_constraint AS c
WHERE c.release_id = $release_id
ORDER BY c.name, c.term;

-- name: at_domain_ends
-- How many drawn numbers lie at an end of the declared domain ($lows to $highs of $names, in
-- granules).
WITH ends AS MATERIALIZED (
    SELECT
        unnest($names::VARCHAR[]) AS attribute,
        unnest($lows::BIGINT[]) AS low,
        unnest($highs::BIGINT[]) AS high
)

SELECT m.*
FROM srsql.at_domain_ends($release_id, 'ends') AS m
ORDER BY m.scope;

-- name: dataset
-- The dataset that a release is of.
SELECT r.dataset FROM srsql.release AS r WHERE r.release_id = $release_id;

-- name: shows_empty
-- Whether some row of the release is empty in a quasi-identifier that it shows.
SELECT
    EXISTS (
        SELECT 1
        FROM srsql.region AS g
        ANTI JOIN srsql.perturbation AS t ON g.release_id = t.release_id AND g.position = t.position
        WHERE g.release_id = $release_id AND g.low IS NULL
    )
    OR EXISTS (
        SELECT 1
        FROM srsql.perturbed AS p
        WHERE p.release_id = $release_id AND p.low IS NULL
    ) AS shows_empty;
