-- What the manifests tell of a release ($release_id).

-- name: shown_k
-- The smallest group that the thresholds of its released values explain.
SELECT max((t.theta_den + t.theta_num - 1) // t.theta_num)
FROM srsql.told_thresholds($release_id) AS t
WHERE t.theta_num > 0;

-- name: files
-- The files of an ingestion ($ingestion_id), and what became of their records.
SELECT f.table_name, f.file, f.sha256, f.records, f.loaded, f.rejected
FROM srsql.ingested_file AS f
WHERE f.ingestion_id = $ingestion_id
ORDER BY f.file;

-- name: columns
-- Columns of which values of an ingestion ($ingestion_id) were not understood.
SELECT c.table_name, c.column_name, c.filled, c.unread
FROM srsql.ingested_column AS c
WHERE c.ingestion_id = $ingestion_id AND c.unread > 0
ORDER BY c.table_name, c.column_name;

-- name: required_tables
-- Tables in which reports of an ingestion ($ingestion_id) have no row, and whether these are too
-- many and were allowed.
SELECT t.table_name, t.reports, t.without_row, t.allowed
FROM srsql.required_table AS t
WHERE t.ingestion_id = $ingestion_id
ORDER BY t.table_name;

-- name: tables_of_one_file
-- The tables that a release ($release_id) has of one file each, so that no two rows have one line.
SELECT f.table_name
FROM srsql.ingested_file AS f
INNER JOIN srsql.release AS r ON f.ingestion_id = r.ingestion_id
WHERE r.release_id = $release_id
GROUP BY f.table_name
HAVING count(*) = 1;

-- name: source
-- Where an ingestion came from, and its digest.
SELECT i.source, i.sha256 FROM srsql.ingestion AS i WHERE i.ingestion_id = $ingestion_id;

-- name: counts
-- New cases, old ones, reports and groups.
WITH cases AS (
    SELECT
        bool_or(m.is_new) AS is_new,
        bool_or(NOT m.is_new) AS is_old,
        sum(m.reports) AS reports
    FROM srsql.member AS m
    WHERE m.release_id = $release_id
    GROUP BY m.case_id
)

SELECT
    count(*) FILTER (WHERE c.is_new) AS new_cases,
    count(*) FILTER (WHERE c.is_old) AS old_cases,
    coalesce(sum(c.reports), 0)::BIGINT AS reports,
    (
        SELECT count(DISTINCT m.group_id) FROM srsql.member AS m WHERE m.release_id = $release_id
    ) AS groups
FROM cases AS c;

-- name: withheld
-- Cases and reports that were withheld, by reason.
SELECT w.reason, count(*) AS cases, sum(w.reports)::BIGINT AS reports
FROM srsql.withheld AS w
WHERE w.release_id = $release_id
GROUP BY w.reason
ORDER BY w.reason;

-- name: given_up
-- Values that were given up, by quasi-identifier.
SELECT a.attribute, count(*) AS cases
FROM srsql.case_qid AS c
INNER JOIN srsql.attribute AS a ON c.release_id = a.release_id AND c.position = a.position
WHERE c.release_id = $release_id AND c.given_up
GROUP BY a.attribute
ORDER BY a.attribute;

-- name: suppressed_shares
-- How much is suppressed, in parts of 1 / $per, rounded up so that nobody counts on less; no rows
-- where nothing is.
SELECT
    v.scope,
    ((v.violating::BIGINT * $per + v.total::BIGINT - 1) // v.total::BIGINT)::INTEGER AS parts
FROM srsql.suppressed_value_rate($release_id) AS v
WHERE
    v.measure = 'suppressed_values'
    AND v.total > 0
    AND EXISTS (FROM srsql.suppressed AS s WHERE s.release_id = $release_id);

-- name: suppressed_values
-- Each value that is suppressed of some cases: how many, its threshold, the groups of these cases,
-- those in which more cases than it allows show the value or lost it, and the largest such share.
SELECT c.term, c.cases, c.theta, c.groups, c.above, c.worst
FROM srsql.suppressed_confidence($release_id) AS c
ORDER BY c.cases DESC, c.term ASC;

-- name: made_after
-- The releases of the series that are or were out before it.
SELECT r.release_id
FROM srsql.release AS own
INNER JOIN srsql.exposed_release AS r
    ON own.dataset = r.dataset AND own.series = r.series AND own.release_id <> r.release_id
WHERE own.release_id = $release_id
ORDER BY r.release_id;

-- name: store
-- Keeps the private manifest.
UPDATE srsql.release SET private_manifest = $manifest WHERE release_id = $release_id;
