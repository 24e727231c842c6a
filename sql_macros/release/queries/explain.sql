-- Why a release ($release_id) shows a case as it does, or not at all: for the steward.

-- name: release
-- The release, and the manifest of the one whose groups it has: its own, or the first version's.
WITH RECURSIVE versions AS (
    SELECT r.release_id FROM srsql.release AS r WHERE r.release_id = $release_id
    UNION ALL
    SELECT c.corrects
    FROM versions AS v
    INNER JOIN srsql.correction AS c ON v.release_id = c.release_id
)

SELECT r.model, r.status, r.k, r.k_effective, r.weight_scale, f.private_manifest
FROM srsql.release AS r
CROSS JOIN srsql.release AS f
WHERE
    r.release_id = $release_id
    AND f.release_id = (SELECT min(v.release_id) FROM versions AS v);

-- name: token
-- What stands for a case id ($case_id) that is forgotten, with the day and the reason.
SELECT f.token, f.forgotten_on::VARCHAR, f.reason
FROM srsql.forgotten_case AS f
WHERE
    f.dataset = $dataset
    AND f.token = srsql.forgotten_token($inner_pad::BLOB, $outer_pad::BLOB, $case_id::VARCHAR);

-- name: deleted
-- Whether the regulator withdrew a case.
SELECT count(*) > 0
FROM srsql.deleted_case AS d
WHERE d.dataset = $dataset AND d.case_id = $case_id;

-- name: quarters
-- The quarters of a series in which a case is or was out.
SELECT DISTINCT r.quarter
FROM srsql.exposed_release AS r
INNER JOIN srsql.member AS m ON r.release_id = m.release_id
WHERE r.dataset = $dataset AND r.series = $series AND m.case_id = $case_id
ORDER BY r.quarter;

-- name: places
-- The groups that a case is in, with its number in each.
SELECT m.case_no, m.group_id, m.is_new
FROM srsql.member AS m
WHERE m.release_id = $release_id AND m.case_id = $case_id
ORDER BY m.group_id;

-- name: withheld
-- Why a case is withheld, and its number (NULL: it has none).
SELECT w.case_no, w.reason
FROM srsql.withheld AS w
WHERE w.release_id = $release_id AND w.case_id = $case_id;

-- name: waits
-- Since when a withheld case waits, if it does.
SELECT w.since
FROM srsql.waiting AS w
WHERE w.release_id = $release_id AND w.case_id = $case_id;

-- name: taken_in
-- Since when a case waited that the release took in.
SELECT t.since FROM srsql.taken_in($release_id) AS t WHERE t.case_id = $case_id;

-- name: left_while_waiting
-- The periods since which a case waited whose data were replaced by some that lack it.
SELECT l.quarter
FROM srsql.left_while_waiting($release_id) AS l
WHERE l.case_id = $case_id
ORDER BY l.quarter;

-- name: left_since
-- Why a case has left since the release was made.
SELECT l.reason
FROM srsql.withdrawn_member AS l
WHERE l.release_id = $release_id AND l.case_id = $case_id;

-- name: sizes
-- Cases, new ones, and those that carry the bounds in a group ($group_id).
SELECT
    count(DISTINCT m.case_id) AS cases,
    count(DISTINCT m.case_id) FILTER (WHERE m.is_new) AS new_cases,
    count(*) FILTER (WHERE f.carrier) AS carriers
FROM srsql.member AS m
LEFT JOIN srsql.case_flag AS f ON m.release_id = f.release_id AND m.case_no = f.case_no
WHERE m.release_id = $release_id AND m.group_id = $group_id;

-- name: region
-- The region of a group, with the value of one of its cases ($case_no), whether that was given up,
-- and whether the release draws such values at random; then what it drew.
SELECT
    a.position,
    g.low,
    g.high,
    q.low IS NOT NULL AS is_known,
    coalesce(q.given_up, false) AS given_up,
    p.position IS NOT NULL AS is_drawn,
    d.low AS drawn_low,
    d.high AS drawn_high
FROM srsql.attribute AS a
LEFT JOIN srsql.region AS g
    ON a.release_id = g.release_id AND a.position = g.position AND g.group_id = $group_id
LEFT JOIN srsql.case_qid AS q
    ON a.release_id = q.release_id AND a.position = q.position AND q.case_no = $case_no
LEFT JOIN srsql.perturbation AS p ON a.release_id = p.release_id AND a.position = p.position
LEFT JOIN srsql.perturbed AS d
    ON a.release_id = d.release_id AND a.position = d.position AND d.case_no = $case_no
WHERE a.release_id = $release_id
ORDER BY a.position;

-- name: ends
-- Who sets the ends of a group's region: the members whose own values, or regions of earlier
-- releases ($made_after) that $cover has them cover, lie lowest or highest. quarter: of such a
-- region; NULL: it is the own value. Of an own value no more is told than that it is an end.
WITH
members AS MATERIALIZED (
    SELECT m.case_no, m.case_id
    FROM srsql.member AS m
    WHERE m.release_id = $release_id AND m.group_id = $group_id
),

past AS MATERIALIZED (
    SELECT
        m.case_id,
        m.release_id,
        m.group_id,
        r.quarter,
        r.quarter <= own.quarter AS earlier,
        row_number() OVER (PARTITION BY m.case_id ORDER BY r.quarter, r.release_id) AS turn
    FROM srsql.member AS m
    SEMI JOIN members AS own_member ON m.case_id = own_member.case_id
    INNER JOIN srsql.release AS r ON m.release_id = r.release_id
    INNER JOIN srsql.release AS own ON own.release_id = $release_id
    WHERE list_contains($made_after::INTEGER[], m.release_id)
),

boxes AS MATERIALIZED (
    SELECT q.position, m.case_id, NULL::VARCHAR AS quarter, q.low, q.high
    FROM members AS m
    INNER JOIN srsql.case_qid AS q ON q.release_id = $release_id AND m.case_no = q.case_no
    UNION ALL
    SELECT g.position, p.case_id, p.quarter, g.low, g.high
    FROM past AS p
    INNER JOIN srsql.region AS g ON p.release_id = g.release_id AND p.group_id = g.group_id
    INNER JOIN srsql.attribute AS a ON a.release_id = $release_id AND g.position = a.position
    WHERE
        p.earlier
        AND (
            $cover = 'all'
            OR ($cover = 'earliest' AND p.turn = 1)
            OR ($cover = 'later' AND a.kind = 'categorical')
        )
),

hull AS (
    SELECT b.position, min(b.low) AS low, max(b.high) AS high
    FROM boxes AS b
    GROUP BY b.position
)

SELECT
    b.position,
    b.case_id,
    b.quarter,
    coalesce(b.low = h.low, false) AS is_low,
    coalesce(b.high = h.high, false) AS is_high,
    b.low IS NULL AS is_missing
FROM boxes AS b
INNER JOIN hull AS h ON b.position = h.position
WHERE b.low = h.low OR b.high = h.high OR (b.low IS NULL AND b.quarter IS NOT NULL)
ORDER BY b.position, b.quarter NULLS FIRST, b.case_id;

-- name: least_room
-- The value of a group that leaves it the least room: its holders (external knowledge counts them
-- in parts), the cases that carry the bound, the threshold, and how many of those it needs.
SELECT
    t.term,
    h.weight / $weight_scale AS held,
    h.carriers,
    t.theta_num,
    t.theta_den,
    ceil(h.weight * t.theta_den / ($weight_scale::HUGEINT * t.theta_num))::BIGINT AS needs
FROM (
    SELECT
        c.term_no,
        sum(c.weight)::HUGEINT AS weight,
        (
            SELECT count(*) FILTER (WHERE f.carrier)
            FROM srsql.member AS o
            INNER JOIN srsql.case_flag AS f ON o.release_id = f.release_id AND o.case_no = f.case_no
            WHERE o.release_id = $release_id AND o.group_id = $group_id
        ) AS carriers
    FROM srsql.member AS m
    INNER JOIN srsql.case_term AS c ON m.release_id = c.release_id AND m.case_no = c.case_no
    WHERE m.release_id = $release_id AND m.group_id = $group_id
    GROUP BY c.term_no
) AS h
INNER JOIN srsql.threshold AS t ON t.release_id = $release_id AND h.term_no = t.term_no
WHERE t.theta_num > 0 AND t.theta_num < t.theta_den
ORDER BY needs DESC, t.term ASC
LIMIT 1;

-- name: raised
-- The values for whose thresholds groups hold $least cases and not k.
SELECT t.term, t.theta_num, t.theta_den
FROM srsql.threshold AS t
WHERE
    t.release_id = $release_id
    AND t.theta_num > 0
    AND (t.theta_den + t.theta_num - 1) // t.theta_num = $least
ORDER BY t.term;

-- name: own_values
-- The values of a case with thresholds below 1, the least threshold first, and how many cases of
-- the quarter hold them.
SELECT t.term, t.cases, t.theta_num, t.theta_den
FROM srsql.case_term AS c
INNER JOIN srsql.threshold AS t ON c.release_id = t.release_id AND c.term_no = t.term_no
WHERE c.release_id = $release_id AND c.case_no = $case_no AND t.theta_num < t.theta_den
ORDER BY t.theta_num / t.theta_den, t.term;

-- name: pattern
-- How many cases of the quarter know the same quasi-identifiers as a case, and which it lacks.
WITH known AS MATERIALIZED (
    SELECT
        q.case_no,
        list(q.position ORDER BY q.position) FILTER (WHERE q.low IS NULL) AS missing
    FROM srsql.case_qid AS q
    WHERE q.release_id = $release_id
    GROUP BY q.case_no
)

SELECT count(*) AS cases, coalesce(any_value(own.missing), []) AS missing
FROM known AS k
INNER JOIN known AS own ON k.missing IS NOT DISTINCT FROM own.missing
WHERE own.case_no = $case_no;

-- name: later
-- The later quarters of the series in which a case was out already.
SELECT DISTINCT r.quarter
FROM srsql.exposed_release AS r
INNER JOIN srsql.member AS m ON r.release_id = m.release_id
INNER JOIN srsql.release AS own ON own.release_id = $release_id
WHERE
    r.dataset = own.dataset
    AND r.series = own.series
    AND r.quarter > own.quarter
    AND m.case_id = $case_id
ORDER BY r.quarter;

-- name: promised
-- The earlier quarters of the series whose releases counted a case as absent from the next.
SELECT DISTINCT r.quarter
FROM srsql.exposed_release AS r
INNER JOIN srsql.member AS m ON r.release_id = m.release_id
INNER JOIN srsql.case_flag AS f ON m.release_id = f.release_id AND m.case_no = f.case_no
INNER JOIN srsql.release AS own ON own.release_id = $release_id
WHERE
    r.dataset = own.dataset
    AND r.series = own.series
    AND r.quarter < own.quarter
    AND m.case_id = $case_id
    AND f.is_md
ORDER BY r.quarter;
