-- What the checks of noise read of the catalog: what was drawn, and from what.

-- name: perturbation
-- The attributes that a release perturbed: position, attribute, mechanism, calibration, noise, and
-- the epsilon of a value; the dataset's name of the domain is not here.
SELECT
    p.position,
    a.attribute,
    p.mechanism,
    p.calibration,
    p.noise,
    p.epsilon_num,
    p.epsilon_den
FROM srsql.perturbation AS p
INNER JOIN srsql.attribute AS a ON p.release_id = a.release_id AND p.position = a.position
WHERE p.release_id = $release
ORDER BY p.position;

-- name: numbers
-- What was drawn of a number ($position), in the order of the cases: the value that it was drawn
-- around, what is published, and the width of its group.
WITH known AS MATERIALIZED (
    SELECT m.case_no, m.group_id, q.low, q.high, v.low AS drawn
    FROM srsql.member AS m
    INNER JOIN srsql.case_qid AS q
        ON m.release_id = q.release_id AND m.case_no = q.case_no AND q.position = $position
    INNER JOIN srsql.perturbed AS v
        ON m.release_id = v.release_id AND m.case_no = v.case_no AND v.position = $position
    WHERE m.release_id = $release AND q.low IS NOT NULL AND NOT q.given_up AND v.low IS NOT NULL
),

widths AS (
    SELECT k.group_id, max(k.high) - min(k.low) AS width FROM known AS k GROUP BY k.group_id
)

SELECT k.low + (k.high - k.low) // 2 AS middle, k.drawn, w.width
FROM known AS k
INNER JOIN widths AS w ON k.group_id = w.group_id
ORDER BY k.case_no;

-- name: nodes
-- The hierarchy of an attribute: pre, last, depth.
SELECT n.pre, n.last, n.depth
FROM srsql.node AS n
WHERE n.dataset = $dataset AND n.attribute = $attribute
ORDER BY n.pre;

-- name: choices
-- What was drawn of a category ($position): the distinct values of the case's group ($by_group), or
-- its own alone, the node that is published, and how many cases have both.
WITH
known AS MATERIALIZED (
    SELECT m.group_id, q.low, v.low AS drawn
    FROM srsql.member AS m
    INNER JOIN srsql.case_qid AS q
        ON m.release_id = q.release_id AND m.case_no = q.case_no AND q.position = $position
    INNER JOIN srsql.perturbed AS v
        ON m.release_id = v.release_id AND m.case_no = v.case_no AND v.position = $position
    WHERE m.release_id = $release AND q.low IS NOT NULL AND NOT q.given_up AND v.low IS NOT NULL
),

groups AS (
    SELECT k.group_id, list_sort(list(DISTINCT k.low)) AS dom FROM known AS k GROUP BY k.group_id
)

SELECT CASE WHEN $by_group THEN g.dom ELSE [k.low] END AS dom, k.drawn, count(*) AS cases
FROM known AS k
INNER JOIN groups AS g ON k.group_id = g.group_id
GROUP BY ALL
ORDER BY ALL;

-- name: drawn_elsewhere
-- Numbers that another release drew for the same cases of the same period with secure noise, where
-- neither lies on an end of the domain ($low, $high): how many, how many are the same.
SELECT count(*) AS pairs, count(*) FILTER (WHERE v.low = w.low) AS same
FROM srsql.release AS own
INNER JOIN srsql.member AS m ON own.release_id = m.release_id
INNER JOIN srsql.perturbed AS v
    ON own.release_id = v.release_id AND m.case_no = v.case_no AND v.position = $position
INNER JOIN srsql.release AS r
    ON own.dataset = r.dataset AND own.quarter = r.quarter AND own.release_id > r.release_id
INNER JOIN srsql.perturbation AS p
    ON r.release_id = p.release_id AND p.position = $position AND p.noise = 'secure'
INNER JOIN srsql.member AS o ON r.release_id = o.release_id AND m.case_id = o.case_id
INNER JOIN srsql.perturbed AS w
    ON r.release_id = w.release_id AND o.case_no = w.case_no AND w.position = $position
WHERE
    own.release_id = $release
    AND NOT EXISTS (SELECT 1 FROM srsql.correction AS c WHERE c.release_id = own.release_id)
    AND NOT EXISTS (SELECT 1 FROM srsql.correction AS c WHERE c.release_id = r.release_id)
    AND w.low > $low
    AND w.low < $high;

-- name: cases
-- The leaves that the cases of a release have in some dimensions ($positions), and how many cases
-- have the same: low and high of each, in the order of the positions.
SELECT h.ends, count(*) AS cases
FROM (
    SELECT m.case_no, list((q.low, q.high) ORDER BY q.position) AS ends
    FROM srsql.member AS m
    INNER JOIN srsql.case_qid AS q ON m.release_id = q.release_id AND m.case_no = q.case_no
    WHERE m.release_id = $release AND list_contains($positions::INTEGER[], q.position)
    GROUP BY m.case_no
) AS h
GROUP BY h.ends;

-- name: ends
-- The ends of the values that each case of a release has in some dimensions ($positions).
SELECT m.case_no, list((q.low, q.high) ORDER BY q.position) AS ends
FROM srsql.member AS m
INNER JOIN srsql.case_qid AS q ON m.release_id = q.release_id AND m.case_no = q.case_no
WHERE m.release_id = $release AND list_contains($positions::INTEGER[], q.position)
GROUP BY m.case_no;

-- name: told
-- The private manifest of a release, which has the parameters of its draws.
SELECT r.private_manifest
FROM srsql.release AS r
WHERE r.release_id = $release;
