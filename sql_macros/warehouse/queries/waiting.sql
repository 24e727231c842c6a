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
