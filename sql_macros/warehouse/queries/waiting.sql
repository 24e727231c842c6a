-- Whether cases of a series wait, and where their reports lie.

-- name: any_waits
-- Whether a case waits, or waited, in the series.
SELECT count(*) > 0
FROM srsql.waiting AS w
INNER JOIN srsql.release AS r ON w.release_id = r.release_id
WHERE r.dataset = $dataset AND r.series = $series;

-- name: carried_from
-- The periods whose reports a release of $quarter takes in.
SELECT DISTINCT i.quarter
FROM srsql.ingestion AS i
WHERE
    i.dataset = $dataset
    AND i.quarter < $quarter
    AND i.quarter IN (
        SELECT unnest(c.periods) FROM srsql.carried_cases($dataset, $series, NULL) AS c
        WHERE c.batch IS NULL OR c.batch = $quarter
    )
ORDER BY i.quarter;

-- name: is_cumulative
-- Whether a cumulative source of a dataset was ingested, and whether it brought anything late.
SELECT count(*) > 0 AS is_cumulative, count(d.label) > 0 AS has_late
FROM srsql.dump_period AS d
WHERE d.dataset = $dataset;

-- name: late_places
-- Under which period a series shows late_row(report_id, case_id, quarter, ingestion_id, label).
SELECT p.report_id, p.label, p.quarter, p.batch
FROM srsql.late_places('late_row', $dataset, $series, $own) AS p;

-- name: late_pending
-- The late_row(report_id, case_id, quarter, ingestion_id, label) that no release of a series took:
-- cases of which it has none, which its next release takes, and reports of released cases.
WITH
known AS (
    SELECT e.release_id, e.quarter
    FROM srsql.exposed_release AS e
    WHERE e.dataset = $dataset AND e.series = $series
),

released AS (
    SELECT DISTINCT m.case_id
    FROM srsql.member AS m
    SEMI JOIN known AS k ON m.release_id = k.release_id
)

SELECT
    count(DISTINCT l.case_id) FILTER (WHERE r.case_id IS NULL) AS new_cases,
    count(DISTINCT l.report_id) FILTER (WHERE r.case_id IS NOT NULL) AS versions
FROM late_row AS l
LEFT JOIN released AS r ON l.case_id = r.case_id
WHERE
    l.quarter IN (SELECT k.quarter FROM known AS k)
    AND NOT EXISTS (
        SELECT 1
        FROM srsql.taken_case AS t
        INNER JOIN known AS k ON t.release_id = k.release_id
        WHERE
            t.case_id = l.case_id
            AND t.quarter = l.quarter
            AND t.ingestion_id = l.ingestion_id
    );
