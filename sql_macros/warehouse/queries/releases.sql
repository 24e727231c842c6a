-- What the catalog says of releases.

-- name: series_over_lattice
-- Releases of a series that have rows of their own making.
SELECT count(*)
FROM srsql.lattice AS l
INNER JOIN srsql.release AS r ON l.release_id = r.release_id
WHERE r.dataset = $dataset AND r.series = $series;

-- name: countable_scopes
-- The scopes at which candidates can be counted: groups always, regions that match across groups
-- unless a comparator put a case into several groups.
SELECT 'group' AS scope
UNION ALL
SELECT 'match'
WHERE (
    SELECT count(*) = count(DISTINCT m.case_id)
    FROM srsql.member AS m
    SEMI JOIN srsql.claim AS c ON m.release_id = c.release_id
    WHERE m.release_id = $release_id
);

-- name: released_id
-- The release that is out for a quarter, or its draft.
SELECT r.release_id
FROM srsql.release AS r
WHERE
    r.dataset = $dataset
    AND r.quarter = $quarter
    AND r.series = $series
    AND r.status <> 'superseded'
ORDER BY r.status DESC;

-- name: terms_without_rows
-- Attributes of which a release shows the terms, but not of which case, without the column that is
-- told beside the term; and its quarter.
SELECT split_part(d.attribute, '/', 1), r.quarter
FROM srsql.disassociated AS d
INNER JOIN srsql.release AS r ON d.release_id = r.release_id
WHERE r.release_id = $release_id;

-- name: ingestion
-- The ingestion of a quarter that is not replaced.
SELECT i.ingestion_id
FROM srsql.ingestion AS i
WHERE i.dataset = $dataset AND i.quarter = $quarter AND NOT i.replaced;

-- name: rows_loaded
-- How many rows of a table an ingestion loaded from files; NULL: it read none for it.
SELECT sum(f.loaded)
FROM srsql.ingested_file AS f
WHERE f.ingestion_id = $ingestion_id AND f.table_name = $table_name;

-- name: ingested_quarters
-- The quarters that are in the warehouse, in order.
SELECT i.quarter
FROM srsql.ingestion AS i
WHERE i.dataset = $dataset AND NOT i.replaced
ORDER BY i.quarter;

-- name: disassociated
-- What a release publishes apart from records, in the order of its attributes; where whole rows are
-- taken apart, the k of their terms and the cases of a cluster.
SELECT
    d.attribute,
    d.m,
    d.diversity,
    d.repeated,
    d.term_format,
    (r.private_manifest ->> '$.term_k')::INTEGER AS term_k,
    (r.private_manifest ->> '$.term_cases')::INTEGER AS term_cases,
    (r.private_manifest ->> '$.item_cases')::INTEGER AS item_cases
FROM srsql.disassociated AS d
INNER JOIN srsql.release AS r ON d.release_id = r.release_id
WHERE d.release_id = $release_id
ORDER BY d.place;

-- name: series_disassociated
-- Attributes of which some release of a series shows the terms apart from rows, whether it has
-- rows, and whether these are whole rows that are taken apart.
SELECT DISTINCT
    d.attribute,
    d.with_rows,
    (r.private_manifest ->> '$.term_cases') IS NOT NULL AS whole_rows
FROM srsql.disassociated AS d
INNER JOIN srsql.release AS r ON d.release_id = r.release_id
WHERE r.dataset = $dataset AND r.series = $series;

-- name: optional_columns
-- The optional columns that releases of $series (NULL: of all) show, each list of them once; drafts
-- of the quarter $but aside (NULL: none).
SELECT DISTINCT coalesce(r.private_manifest ->> '$.optional_columns', '') AS columns
FROM srsql.release AS r
WHERE
    r.dataset = $dataset
    AND r.series = coalesce($series, r.series)
    AND r.model <> 'imported'
    AND NOT (r.status = 'draft' AND r.quarter IS NOT DISTINCT FROM $but)
ORDER BY columns;

-- name: qid_sets
-- The sets of quasi-identifiers that a release protects each by itself, as its manifest tells them;
-- no row where it has none.
SELECT r.private_manifest ->> '$.qid_sets' AS sets
FROM srsql.release AS r
WHERE r.release_id = $release_id AND (r.private_manifest ->> '$.qid_sets') IS NOT NULL;

-- name: staleness
-- The releases that are out, and drafts, with cases that have left since, by reason (see the view
-- srsql.stale_release); NULL asks for all datasets, series, quarters, releases.
SELECT
    r.release_id,
    r.dataset,
    r.series,
    r.quarter,
    r.status,
    coalesce(r.private_manifest ->> '$.table_k', r.private_manifest ->> '$.noisy_epsilon')
        IS NOT NULL AS counted,
    s.reason,
    s.cases
FROM srsql.stale_release AS s
INNER JOIN srsql.release AS r ON s.release_id = r.release_id
WHERE
    r.model <> 'imported'
    AND ($dataset::VARCHAR IS NULL OR r.dataset = $dataset)
    AND ($series::VARCHAR IS NULL OR r.series = $series)
    AND ($quarter::VARCHAR IS NULL OR r.quarter = $quarter)
    AND ($release_id::INTEGER IS NULL OR r.release_id = $release_id)
ORDER BY r.dataset, r.series, r.quarter, r.release_id, s.reason;

-- name: series_names
-- The series of a dataset.
SELECT s.series
FROM srsql.series AS s
WHERE s.dataset = $dataset
ORDER BY s.series;

-- name: quarters_out
-- The quarters of a series that are out, in order.
SELECT r.quarter
FROM srsql.release AS r
WHERE r.dataset = $dataset AND r.series = $series AND r.status = 'released'
ORDER BY r.quarter;

-- name: periods_loaded
-- The periods of each dataset that are loaded.
SELECT i.dataset, i.quarter
FROM srsql.ingestion AS i
WHERE NOT i.replaced;

-- name: periods_known
-- The periods of each dataset that are loaded, or are or were out.
SELECT i.dataset, i.quarter
FROM srsql.ingestion AS i
WHERE NOT i.replaced
UNION
SELECT r.dataset, r.quarter
FROM srsql.release AS r
ORDER BY ALL;

-- name: counting_together
-- Those of these schemas of releases whose public manifest says that persons were counted.
SELECT c.schema_name
FROM duckdb_columns() AS c
WHERE
    c.database_name = current_database()
    AND c.table_name = 'manifest'
    AND c.column_name = 'match_probability'
    AND list_contains($schemas::VARCHAR[], c.schema_name);

-- name: newest_key
-- The version of the key of terms of the newest release of a series, drafts included.
SELECT coalesce(k.version, 0) AS version
FROM srsql.release AS r
LEFT JOIN srsql.release_key AS k ON r.release_id = k.release_id
WHERE r.dataset = $dataset AND r.series = $series
ORDER BY r.quarter DESC, r.release_id DESC
LIMIT 1;

-- name: shows_keys
-- Whether the rows of all $releases have the keys of terms beside their spellings.
SELECT count(*) = len($releases::INTEGER[]) AS shows_keys
FROM srsql.release_key AS k
WHERE k.version > 0 AND list_contains($releases::INTEGER[], k.release_id);
