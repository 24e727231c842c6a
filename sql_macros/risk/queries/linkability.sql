-- The releases that rows of a release could link to: those that are or were out, of our own making.

-- name: own
-- What release $release_id is.
SELECT r.dataset, r.series, r.quarter
FROM srsql.release AS r
WHERE r.release_id = $release_id;

-- name: of_the_quarter
-- The other releases of its quarter, in any series: superseded ones stay known. Where cases waited
-- for one of two series, the quarters count of which it took reports in.
SELECT
    e.release_id,
    e.series,
    e.quarter,
    e.status,
    '' AS dataset,
    CASE WHEN e.quarter <> r.quarter THEN e.quarter ELSE '' END AS apart
FROM srsql.release AS r
INNER JOIN srsql.exposed_release AS e ON r.dataset = e.dataset
WHERE
    r.release_id = $release_id
    AND e.release_id <> r.release_id
    AND e.model <> 'imported'
    AND (
        r.quarter = e.quarter
        OR (
            r.series <> e.series
            AND EXISTS (
                SELECT 1
                FROM srsql.taken_case AS t
                WHERE
                    (t.release_id = r.release_id AND t.quarter = e.quarter)
                    OR (t.release_id = e.release_id AND t.quarter = r.quarter)
            )
        )
    )
ORDER BY e.series, e.quarter, e.release_id;

-- name: of_the_files
-- The releases of other datasets, of whichever period, that were made of some file that its own
-- period was made of: superseded ones stay known.
WITH files AS (
    SELECT i.dataset, i.quarter, f.sha256
    FROM srsql.ingestion AS i
    INNER JOIN srsql.ingested_file AS f ON i.ingestion_id = f.ingestion_id
    WHERE f.records > 0
),

-- The periods that a release is made of: its own, and those of cases that waited for it.
periods AS (
    SELECT r.release_id, r.dataset, r.quarter FROM srsql.release AS r
    UNION
    SELECT t.release_id, r.dataset, t.quarter
    FROM srsql.taken_case AS t
    INNER JOIN srsql.release AS r ON t.release_id = r.release_id
)

SELECT e.release_id, e.series, e.quarter, e.status, e.dataset
FROM srsql.release AS r
INNER JOIN srsql.exposed_release AS e ON r.dataset <> e.dataset
WHERE
    r.release_id = $release_id
    AND e.model <> 'imported'
    AND EXISTS (
        SELECT 1
        FROM files AS own
        INNER JOIN files AS theirs ON own.sha256 = theirs.sha256
        INNER JOIN periods AS p ON own.dataset = p.dataset AND own.quarter = p.quarter
        INNER JOIN periods AS q ON theirs.dataset = q.dataset AND theirs.quarter = q.quarter
        WHERE p.release_id = r.release_id AND q.release_id = e.release_id
    )
ORDER BY e.dataset, e.series, e.release_id;

-- name: shared_cases
-- How many of the cases of a release a release of another dataset has as well, as a uniform row.
WITH
own AS (
    SELECT DISTINCT m.case_id AS case_no FROM srsql.member AS m WHERE m.release_id = $release_id
),

pairs AS (
    SELECT DISTINCT m.case_id AS case_no
    FROM srsql.member AS m
    SEMI JOIN own AS o ON m.case_id = o.case_no
    WHERE m.release_id = $other
)

SELECT s.* FROM srsql.linkable($release_id, $scope, 'own', 'pairs') AS s;

-- name: of_the_series
-- The releases of its series that are out for the quarters before and after its own.
SELECT e.release_id, e.series, e.quarter, e.status
FROM srsql.release AS r
INNER JOIN srsql.release AS e
    ON r.dataset = e.dataset AND r.series = e.series AND r.quarter <> e.quarter
WHERE
    r.release_id = $release_id
    AND e.status = 'released'
    AND e.model <> 'imported'
QUALIFY
    row_number() OVER (
        PARTITION BY e.quarter < r.quarter
        ORDER BY CASE WHEN e.quarter < r.quarter THEN e.quarter END DESC, e.quarter
    ) = 1
ORDER BY e.quarter;

-- name: linkable
-- How many of the rows of a release (side 1) link, as a uniform row.
WITH own AS (SELECT c.case_no FROM temp.main.srsql_link_case AS c WHERE c.side = 1)

SELECT m.*
FROM srsql.linkable($release_id, $scope, 'own', 'temp.main.srsql_link_pair') AS m;

-- name: temporary_tables
-- The temporary tables of a comparison of two releases.
SELECT t.table_name
FROM duckdb_tables() AS t
WHERE t.temporary AND starts_with(t.table_name, 'srsql_link_');

-- name: stores
-- Which of the tables $names of the schema $store there are.
SELECT t.table_name
FROM duckdb_tables() AS t
WHERE
    t.schema_name = $store
    AND list_contains($names::VARCHAR[], t.table_name)
    AND t.database_name = current_database()
ORDER BY t.table_name;
