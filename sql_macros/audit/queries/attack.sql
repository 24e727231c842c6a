-- What one attack finds out. What the attacker knows is $positions, $lows and $highs side by side:
-- the intervals of quasi-identifiers.

-- name: releases
-- The releases of a series that stand.
SELECT r.quarter, r.release_id, r.model
FROM srsql.release AS r
WHERE r.dataset = $dataset AND r.series = $series AND r.status = 'released'
ORDER BY r.quarter;

-- name: versions
-- The versions of a quarter that are or were out, the newest first.
SELECT r.release_id, r.model
FROM srsql.exposed_release AS r
WHERE r.dataset = $dataset AND r.series = $series AND r.quarter = $quarter
ORDER BY r.release_id DESC;

-- name: create_candidates
-- The candidates: the cases of release $release_id whose region covers what the attacker knows.
CREATE OR REPLACE TEMP TABLE srsql_attack_candidate AS
WITH known_interval AS MATERIALIZED (
    SELECT
        unnest($positions::INTEGER[]) AS position,
        unnest($lows::BIGINT[]) AS low,
        unnest($highs::BIGINT[]) AS high
)

SELECT a.* FROM srsql.attack_candidates('known_interval', $release_id::INTEGER) AS a;

-- name: candidates
-- The candidates with their groups, flags, and whether neighbouring quarters have them.
SELECT c.case_no, c.case_id, c.group_id, c.is_ss, c.in_next, c.in_previous
FROM temp.main.srsql_attack_candidate AS c
ORDER BY c.case_no;

-- name: neighbours
-- Labels of the next and the previous quarter of the series, and whether a release is out in which
-- nobody is who left for good.
SELECT
    max(a.quarter) FILTER (WHERE a.next) AS next_quarter,
    max(a.quarter) FILTER (WHERE a.previous) AS previous_quarter,
    coalesce(bool_or(a.without_gone), false) AS tells_who_is_gone
FROM srsql.attack_releases($release_id::INTEGER) AS a;

-- name: exclusions
-- Who is in which of the exclusion sets $names, by which release, with the parts of the region
-- there that do not cover what the attacker knows.
WITH known_interval AS MATERIALIZED (
    SELECT
        unnest($positions::INTEGER[]) AS position,
        unnest($lows::BIGINT[]) AS low,
        unnest($highs::BIGINT[]) AS high
)

SELECT
    e.exclusion,
    e.case_no,
    e.quarter,
    list(
        struct_pack(position := e.position, low := e.low, high := e.high) ORDER BY e.position
    ) FILTER (WHERE e.position IS NOT NULL) AS parts
FROM srsql.attack_exclusions(
    'known_interval', 'temp.main.srsql_attack_candidate', $release_id::INTEGER
) AS e
WHERE list_contains($names::VARCHAR[], e.exclusion)
GROUP BY e.exclusion, e.case_no, e.quarter, e.release_id
ORDER BY e.exclusion, e.case_no, e.quarter, e.release_id;

-- name: inferences
-- What is inferred of the cases $remaining, the most confident first.
WITH remaining_case AS MATERIALIZED (
    SELECT unnest($remaining::INTEGER[]) AS case_no
)

SELECT i.term, i.holders, i.confidence, i.theta_num, i.theta_den, i.exceeds
FROM srsql.attack_inference('remaining_case', $release_id::INTEGER) AS i
ORDER BY i.confidence DESC, i.term ASC;

-- name: united_inferences
-- What is inferred of the cases $remaining from all releases together, the most confident first.
WITH remaining_case AS MATERIALIZED (
    SELECT unnest($remaining::INTEGER[]) AS case_no
)

SELECT u.term, u.holders, u.confidence, u.theta_num, u.theta_den, u.exceeds
FROM srsql.attack_union('remaining_case', $release_id::INTEGER) AS u
ORDER BY u.confidence DESC, u.term ASC;

-- name: regions
-- The regions of the groups that have candidates.
SELECT r.group_id, r.position, r.low, r.high
FROM srsql.region AS r
SEMI JOIN temp.main.srsql_attack_candidate AS c ON r.group_id = c.group_id
WHERE r.release_id = $release_id
ORDER BY r.group_id, r.position;
