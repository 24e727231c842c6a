-- What count tables with noise are made of: cases, strata, and what these hold.

-- name: unit
-- The cases of the period, released or not, that no earlier table with noise of the series counts,
-- by their values as reported: unit, name, stratum ($other if their reports disagree).
-- report_stratum(report_id, stratum) is composed.
WITH
placed AS (
    SELECT
        r.case_no,
        CASE WHEN count(DISTINCT g.stratum) = 1 THEN min(g.stratum) ELSE $other END AS stratum
    FROM temp.main.srsql_case_report AS r
    INNER JOIN report_stratum AS g ON r.report_id = g.report_id
    GROUP BY r.case_no
),

counted AS (
    SELECT b.case_id
    FROM srsql.budget_ledger AS b
    INNER JOIN srsql.release AS o ON b.dataset = o.dataset AND b.series = o.series
    WHERE
        o.release_id = $release_id
        AND b.release_id <> $release_id
        AND b.mechanism = $mechanism
)

SELECT c.case_no AS unit, c.case_id::VARCHAR AS name, p.stratum
FROM temp.main.srsql_case AS c
INNER JOIN placed AS p ON c.case_no = p.case_no
ANTI JOIN counted AS k ON c.case_id::VARCHAR = k.case_id;

-- name: held
-- What they hold, over all their reports: unit, name, attribute, term.
-- report_item(report_id, attribute, term, sensitive) is composed.
SELECT DISTINCT u.unit, u.name, i.attribute, i.term
FROM report_item AS i
INNER JOIN temp.main.srsql_case_report AS c ON i.report_id = c.report_id
INNER JOIN temp.main.srsql_noisy_unit AS u ON c.case_no = u.unit;

-- name: charge
-- Every counted case is charged its share of each table, once.
INSERT INTO srsql.budget_ledger
WITH share AS (
    SELECT
        unnest($tables::VARCHAR[]) AS counts,
        unnest($nums::BIGINT[]) AS epsilon_num,
        unnest($dens::BIGINT[]) AS epsilon_den
)

SELECT
    r.release_id,
    r.dataset,
    r.series,
    r.quarter,
    u.name,
    t.counts,
    $mechanism,
    'sound',
    t.epsilon_num,
    t.epsilon_den
FROM temp.main.srsql_noisy_unit AS u
CROSS JOIN share AS t
INNER JOIN srsql.release AS r ON r.release_id = $release_id
ORDER BY u.unit, t.counts;

-- name: counted_exactly
-- Releases that are or were out and whose exact tables count some of the cases that the tables with
-- noise of $release_id count: quarter, series, cases. Of its dataset, or of one that has some file
-- of it.
WITH
files AS (
    SELECT i.dataset, f.sha256
    FROM srsql.ingestion AS i
    INNER JOIN srsql.ingested_file AS f ON i.ingestion_id = f.ingestion_id
    WHERE f.records > 0
),

alike AS (
    SELECT o.dataset FROM srsql.release AS o WHERE o.release_id = $release_id
    UNION
    SELECT t.dataset
    FROM srsql.release AS o
    INNER JOIN files AS f ON o.dataset = f.dataset
    INNER JOIN files AS t ON f.sha256 = t.sha256
    WHERE o.release_id = $release_id
)

SELECT r.quarter, r.series, count(DISTINCT m.case_id) AS cases
FROM srsql.release AS r
SEMI JOIN alike AS a ON r.dataset = a.dataset
INNER JOIN srsql.member AS m ON r.release_id = m.release_id AND m.is_new
INNER JOIN temp.main.srsql_noisy_unit AS u ON m.case_id = u.name
WHERE
    r.release_id <> $release_id
    AND r.status <> 'draft'
    AND (r.private_manifest ->> '$.table_k') IS NOT NULL
GROUP BY r.quarter, r.series
ORDER BY r.quarter, r.series;

-- name: counted_with_noise
-- Releases whose tables with noise count some cases of the period of $release_id, other than this:
-- quarter, series, cases. Of its dataset, or of one that has some file of it.
WITH
files AS (
    SELECT i.dataset, f.sha256
    FROM srsql.ingestion AS i
    INNER JOIN srsql.ingested_file AS f ON i.ingestion_id = f.ingestion_id
    WHERE f.records > 0
),

alike AS (
    SELECT o.dataset FROM srsql.release AS o WHERE o.release_id = $release_id
    UNION
    SELECT t.dataset
    FROM srsql.release AS o
    INNER JOIN files AS f ON o.dataset = f.dataset
    INNER JOIN files AS t ON f.sha256 = t.sha256
    WHERE o.release_id = $release_id
)

SELECT b.quarter, b.series, count(DISTINCT b.case_id) AS cases
FROM srsql.budget_ledger AS b
SEMI JOIN alike AS a ON b.dataset = a.dataset
INNER JOIN srsql.release AS o ON o.release_id = $release_id
INNER JOIN temp.main.srsql_case AS c ON b.case_id = c.case_id::VARCHAR
WHERE
    b.release_id <> $release_id
    AND b.mechanism = $mechanism
    AND (b.series <> o.series OR b.dataset <> o.dataset OR $own)
GROUP BY b.quarter, b.series
ORDER BY b.quarter, b.series;

-- name: release_noisy
-- Whether counts with noise tell the items of a release.
SELECT count(*) > 0
FROM srsql.release AS r
WHERE r.release_id = $release_id AND (r.private_manifest ->> '$.noisy_epsilon') IS NOT NULL;

-- name: series_noisy
-- Whether counts with noise tell the items of some release of a series.
SELECT count(*) > 0
FROM srsql.release AS r
WHERE
    r.dataset = $dataset
    AND r.series = $series
    AND (r.private_manifest ->> '$.noisy_epsilon') IS NOT NULL;

-- name: noise
-- The published table of the noise: one row for each table of counts.
CREATE OR REPLACE TEMP TABLE temp.main.srsql_pub_count_noise AS
SELECT
    unnest($counts::VARCHAR[]) AS counts,
    unnest($epsilons::VARCHAR[]) AS epsilon,
    unnest($deltas::VARCHAR[]) AS delta,
    unnest($contributions::BIGINT[]) AS counts_of_a_case,
    unnest($scales::VARCHAR[]) AS scale,
    unnest($thresholds::BIGINT[]) AS threshold,
    unnest($errors::DOUBLE[])::DECIMAL(18, 4) AS mean_error,
    unnest($margins::BIGINT[]) AS margin_95;
