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

-- name: counts
-- Cases and reports that wait, by the reason for which they are withheld.
SELECT w.reason, count(*) AS cases, sum(w.reports)::BIGINT AS reports
FROM srsql.withheld AS w
SEMI JOIN srsql.waiting AS p ON w.release_id = p.release_id AND w.case_id = p.case_id
WHERE w.release_id = $release_id
GROUP BY w.reason
ORDER BY w.reason;

-- name: taken_in
-- How many cases a release took in.
SELECT count(*) FROM srsql.taken_in($release_id);
