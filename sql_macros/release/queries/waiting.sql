-- The hold-back pool when a period is released (--max-delay).

-- name: wait
-- Cases that are withheld for one of $reasons wait, unless they have waited $max_delay periods.
INSERT INTO srsql.waiting
WITH own AS (
    SELECT r.quarter, (
        SELECT list(DISTINCT e.quarter)
        FROM srsql.exposed_release AS e
        WHERE e.dataset = r.dataset AND e.series = r.series
    ) AS periods
    FROM srsql.release AS r
    WHERE r.release_id = $release_id
)

SELECT $release_id, w.case_id, coalesce(t.since, o.quarter) AS since
FROM srsql.withheld AS w
CROSS JOIN own AS o
LEFT JOIN srsql.taken_in($release_id) AS t ON w.case_id = t.case_id
WHERE
    w.release_id = $release_id
    AND w.reason IN (SELECT unnest($reasons::VARCHAR[]))
    AND (
        t.since IS NULL
        OR srsql.periods_apart(t.since, o.quarter, o.periods) < $max_delay
    )
ORDER BY w.case_id;

-- name: keep_taken
-- What the earlier reports were read from of the cases that the release took in.
INSERT INTO srsql.taken_case
SELECT DISTINCT $release_id, t.case_id, i.quarter, i.ingestion_id
FROM srsql.taken_in($release_id) AS t
INNER JOIN srsql.release AS r ON r.release_id = $release_id
INNER JOIN srsql.ingestion AS i
    ON r.dataset = i.dataset AND t.since <= i.quarter AND r.quarter > i.quarter
SEMI JOIN srsql.exposed_release AS e
    ON r.dataset = e.dataset AND r.series = e.series AND i.quarter = e.quarter
WHERE NOT i.replaced
ORDER BY t.case_id, i.quarter;

-- name: wait_on
-- Who waits in a version ($release_id) that corrects the one before it ($before): whoever did, is
-- withheld in it for the same reason, and is not deleted.
INSERT INTO srsql.waiting
SELECT $release_id, w.case_id, w.since
FROM srsql.waiting AS w
INNER JOIN srsql.withheld AS was ON w.release_id = was.release_id AND w.case_id = was.case_id
SEMI JOIN srsql.withheld AS h
    ON h.release_id = $release_id AND was.case_id = h.case_id AND was.reason = h.reason
WHERE w.release_id = $before
ORDER BY w.case_id;

-- name: counts
-- Cases and reports that wait, by the reason for which they are withheld.
SELECT w.reason, count(*) AS cases, sum(w.reports)::BIGINT AS reports
FROM srsql.withheld AS w
SEMI JOIN srsql.waiting AS p ON w.release_id = p.release_id AND w.case_id = p.case_id
WHERE w.release_id = $release_id
GROUP BY w.reason
ORDER BY w.reason;

-- name: taken_in
-- How many cases a release took in, and how many more waited for it of which no report was left to
-- take in, since they came again under other case ids; who was forgotten, or whose reports the
-- data lack that replaced those of a period, is told nowhere.
WITH
own AS (
    SELECT m.case_id
    FROM srsql.member AS m
    SEMI JOIN srsql.taken_in($release_id) AS t ON m.case_id = t.case_id
    WHERE m.release_id = $release_id
    UNION ALL
    SELECT w.case_id
    FROM srsql.withheld AS w
    SEMI JOIN srsql.taken_in($release_id) AS t ON w.case_id = t.case_id
    WHERE w.release_id = $release_id
),

waited AS (
    SELECT
        t.case_id,
        t.case_id IN (SELECT o.case_id FROM own AS o) AS is_there,
        f.token IS NOT NULL
        OR t.case_id IN (
            SELECT l.case_id FROM srsql.left_while_waiting($release_id) AS l
        ) AS has_left
    FROM srsql.taken_in($release_id) AS t
    INNER JOIN srsql.release AS r ON r.release_id = $release_id
    LEFT JOIN srsql.forgotten_case AS f ON r.dataset = f.dataset AND t.case_id = f.token
)

SELECT
    count(*) FILTER (WHERE w.is_there) AS taken_in,
    count(*) FILTER (WHERE NOT w.is_there AND NOT w.has_left) AS reported_otherwise
FROM waited AS w;

-- name: take_late
-- What a release takes of late_row(case_id, quarter, ingestion_id), the reports that dumps brought
-- after their period was loaded; own_row(case_id) has the cases of its own period. Of its own
-- period: all. Of earlier ones that are out: those of cases that no release of the series has, and
-- those of a case with a report of its own period, if the series may show late reports ($shown). A
-- further version of a period takes what the versions before it took.
WITH
own AS (
    SELECT r.dataset, r.series, r.quarter
    FROM srsql.release AS r
    WHERE r.release_id = $release_id
),

known AS (
    SELECT e.release_id, e.quarter
    FROM srsql.exposed_release AS e
    INNER JOIN own AS o ON e.dataset = o.dataset AND e.series = o.series
    WHERE e.release_id <> $release_id
),

late AS (
    SELECT DISTINCT l.case_id, l.quarter, l.ingestion_id FROM late_row AS l
),

free AS (
    SELECT l.case_id, l.quarter, l.ingestion_id
    FROM late AS l
    WHERE
        NOT EXISTS (
            SELECT 1
            FROM srsql.taken_case AS t
            INNER JOIN known AS k ON t.release_id = k.release_id
            WHERE
                t.case_id = l.case_id
                AND t.quarter = l.quarter
                AND t.ingestion_id = l.ingestion_id
        )
),

reported AS (
    SELECT w.case_id FROM own_row AS w
    UNION
    SELECT f.case_id FROM free AS f INNER JOIN own AS o ON f.quarter = o.quarter
),

released AS (
    SELECT DISTINCT m.case_id
    FROM srsql.member AS m
    SEMI JOIN known AS k ON m.release_id = k.release_id
),

due AS (
    SELECT f.case_id, f.quarter, f.ingestion_id
    FROM free AS f
    CROSS JOIN own AS o
    WHERE
        o.quarter NOT IN (SELECT k.quarter FROM known AS k)
        AND (
            f.quarter = o.quarter
            OR (
                f.quarter < o.quarter
                AND f.quarter IN (SELECT k.quarter FROM known AS k)
                AND CASE
                    WHEN f.case_id IN (SELECT r.case_id FROM reported AS r) THEN $shown::BOOLEAN
                    ELSE f.case_id NOT IN (SELECT d.case_id FROM released AS d)
                END
            )
        )
    UNION
    SELECT l.case_id, l.quarter, l.ingestion_id
    FROM late AS l
    INNER JOIN srsql.taken_case AS t
        ON
            l.case_id = t.case_id
            AND l.quarter = t.quarter
            AND l.ingestion_id = t.ingestion_id
    INNER JOIN known AS k ON t.release_id = k.release_id
    INNER JOIN own AS o ON k.quarter = o.quarter
)

SELECT $release_id::INTEGER AS release_id, d.case_id, d.quarter, d.ingestion_id
FROM due AS d
ORDER BY d.case_id, d.quarter, d.ingestion_id;

-- name: withhold_late
-- Cases that came late, in a series whose releases would tell which ones did.
INSERT INTO temp.main.srsql_withheld
SELECT DISTINCT c.case_no, 'late_not_released' AS reason
FROM srsql.taken_case AS t
INNER JOIN srsql.release AS r ON t.release_id = r.release_id
INNER JOIN srsql.dump_period AS d
    ON
        r.dataset = d.dataset
        AND t.quarter = d.quarter
        AND t.ingestion_id = d.ingestion_id
        AND d.label IS NOT NULL
LEFT JOIN temp.main.srsql_unit AS u ON t.case_id = u.case_id
INNER JOIN temp.main.srsql_case AS c ON coalesce(u.unit, t.case_id) = c.case_id::VARCHAR
ANTI JOIN temp.main.srsql_withheld AS w ON c.case_no = w.case_no
WHERE t.release_id = $release_id AND t.quarter < r.quarter;

-- name: leave_late
-- Whoever is withheld is not grouped.
DELETE FROM temp.main.srsql_profile AS p
WHERE p.case_no IN (SELECT w.case_no FROM temp.main.srsql_withheld AS w);

-- name: late_cases
-- How many cases of a release came late.
SELECT count(DISTINCT m.case_id)
FROM srsql.member AS m
SEMI JOIN srsql.came_late($release_id) AS l ON m.case_id = l.case_id
WHERE m.release_id = $release_id;
