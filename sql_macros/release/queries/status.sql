-- What a warehouse holds (srsql status).

-- name: quarters
-- Every ingested quarter, with what became of its records.
SELECT
    i.dataset,
    i.quarter,
    i.source,
    sum(f.records)::BIGINT AS records,
    sum(f.loaded)::BIGINT AS loaded,
    sum(f.rejected)::BIGINT AS rejected
FROM srsql.ingestion AS i
INNER JOIN srsql.ingested_file AS f ON i.ingestion_id = f.ingestion_id
WHERE NOT i.replaced
GROUP BY i.dataset, i.quarter, i.source
ORDER BY i.dataset, i.quarter;

-- name: releases
-- Every release, drafts and superseded ones included.
SELECT
    r.release_id,
    r.dataset,
    r.series,
    r.quarter,
    r.model,
    r.k,
    r.status,
    r.schema_name AS schema,
    s.ids,
    (r.private_manifest ->> '$.cases.released')::BIGINT AS released_cases,
    (r.private_manifest ->> '$.cases.withheld')::BIGINT AS withheld_cases,
    (SELECT count(*) FROM srsql.waiting AS w WHERE w.release_id = r.release_id) AS waiting_cases
FROM srsql.release AS r
INNER JOIN srsql.series AS s ON r.dataset = s.dataset AND r.series = s.series
ORDER BY r.dataset, r.series, r.quarter, r.release_id;

-- name: delays
-- Series that hold cases back: how many cases wait now, and of those that were released how many
-- periods they waited in the median, and 95 in 100 at most.
WITH
newest AS (
    SELECT r.dataset, r.series, max(r.quarter) AS quarter
    FROM srsql.exposed_release AS r
    GROUP BY r.dataset, r.series
),

pool AS (
    SELECT
        r.dataset,
        r.series,
        count(*) FILTER (WHERE r.quarter = n.quarter AND r.status = 'released') AS waiting
    FROM srsql.waiting AS w
    INNER JOIN srsql.exposed_release AS r ON w.release_id = r.release_id
    INNER JOIN newest AS n ON r.dataset = n.dataset AND r.series = n.series
    GROUP BY r.dataset, r.series
),

periods AS (
    SELECT r.dataset, r.series, list(DISTINCT r.quarter ORDER BY r.quarter) AS labels
    FROM srsql.exposed_release AS r
    SEMI JOIN pool AS p ON r.dataset = p.dataset AND r.series = p.series
    GROUP BY r.dataset, r.series
),

-- the span in which a case waited ends with the release that has it next
spans AS (
    SELECT r.dataset, r.series, w.case_id, w.since, max(r.quarter) AS held_in
    FROM srsql.waiting AS w
    INNER JOIN srsql.exposed_release AS r ON w.release_id = r.release_id
    GROUP BY r.dataset, r.series, w.case_id, w.since
),

released AS (
    SELECT
        r.dataset,
        r.series,
        coalesce(max(srsql.periods_apart(s.since, r.quarter, p.labels)), 0) AS delay
    FROM srsql.exposed_release AS r
    INNER JOIN periods AS p ON r.dataset = p.dataset AND r.series = p.series
    INNER JOIN srsql.member AS m ON r.release_id = m.release_id
    LEFT JOIN spans AS s
        ON
            r.dataset = s.dataset
            AND r.series = s.series
            AND m.case_id = s.case_id
            AND list_position(p.labels, r.quarter) = list_position(p.labels, s.held_in) + 1
    WHERE r.status = 'released'
    GROUP BY r.dataset, r.series, r.quarter, m.case_id
)

SELECT
    p.dataset,
    p.series,
    any_value(p.waiting) AS waiting,
    quantile_disc(d.delay, 0.5) AS median,
    quantile_disc(d.delay, 0.95) AS most
FROM pool AS p
LEFT JOIN released AS d ON p.dataset = d.dataset AND p.series = d.series
GROUP BY p.dataset, p.series;
