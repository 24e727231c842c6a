-- What the catalog says of series and their periods.

-- name: schema_of
-- The schema that the releases of a quarter have, or its drafts ($draft).
SELECT max(r.schema_name)
FROM srsql.release AS r
WHERE
    r.dataset = $dataset
    AND r.series = $series
    AND r.quarter = $quarter
    AND (r.status = 'draft') = $draft;

-- name: schemas
-- Every schema there is, and every one that a series or a release has a claim on.
SELECT s.schema_name
FROM duckdb_schemas() AS s
WHERE s.database_name = current_database()
UNION
SELECT s.cumulative_schema AS schema_name FROM srsql.series AS s
UNION
SELECT r.schema_name FROM srsql.release AS r;

-- name: find
-- The series of that name.
SELECT s.dataset, s.series, s.family, s.cumulative_schema, s.pseudonym_key, s.ids
FROM srsql.series AS s
WHERE s.dataset = $dataset AND s.series = $series;

-- name: make
-- A series, at its first release.
INSERT INTO srsql.series VALUES ($dataset, $series, $family, $schema, $key, $ids);

-- name: others
-- How many releases a series has beside drafts of the quarter $draft_of.
SELECT count(*)
FROM srsql.release AS r
WHERE
    r.dataset = $dataset
    AND r.series = $series
    AND NOT (r.status = 'draft' AND r.quarter = $draft_of);

-- name: forget_ids
-- The pseudonyms of a series that was never exposed.
DELETE FROM srsql.id_pseudonym AS p
WHERE p.dataset = $dataset AND p.series = $series;

-- name: forget
-- A series that was never exposed.
DELETE FROM srsql.series AS s
WHERE s.dataset = $dataset AND s.series = $series;

-- name: periods
-- Every period that was ingested or released, in the order of their labels, with its kind (NULL:
-- its label has no calendar). A dump, whose files may be called otherwise, has ingestions of its
-- periods beside its own.
WITH known AS (
    SELECT i.quarter
    FROM srsql.ingestion AS i
    WHERE
        i.dataset = $dataset
        AND i.ingestion_id NOT IN (SELECT d.ingestion_id FROM srsql.dump_period AS d)
    UNION
    SELECT r.quarter FROM srsql.release AS r WHERE r.dataset = $dataset
)

SELECT k.quarter, srsql.period_kind(k.quarter) AS kind
FROM known AS k
ORDER BY k.quarter;

-- name: kind
-- What a period is by its label $label; NULL: no calendar knows it.
SELECT srsql.period_kind($label);

-- name: next_period
-- The period just after $quarter, if the warehouse has it: by the calendar of the labels, else the
-- earliest later one.
WITH later AS (
    SELECT min(i.quarter) AS quarter
    FROM srsql.ingestion AS i
    WHERE i.dataset = $dataset AND i.quarter > $quarter AND NOT i.replaced
)

SELECT l.quarter FROM later AS l WHERE srsql.follows_on($quarter, l.quarter);

-- name: newest_own
-- The newest quarter that is or was out in a series, or $quarter, which is about to be (NULL:
-- none); NULL if that release is somebody else's.
WITH quarters AS (
    SELECT r.quarter, r.model = 'imported' AS is_imported
    FROM srsql.release AS r
    SEMI JOIN srsql.exposed_release AS e ON r.release_id = e.release_id
    WHERE r.dataset = $dataset AND r.series = $series
    UNION ALL
    SELECT $quarter::VARCHAR AS quarter, false AS is_imported
    WHERE $quarter IS NOT NULL
)

SELECT CASE WHEN NOT arg_max(q.is_imported, q.quarter) THEN max(q.quarter) END AS quarter
FROM quarters AS q;

-- name: numbers
-- Numbers of the periods $labels: those of two periods of which one follows on the other differ by
-- one.
WITH labels AS (SELECT unnest($labels::VARCHAR[]) AS label),

pairs AS (
    SELECT l.label, lag(l.label) OVER (ORDER BY l.label) AS earlier FROM labels AS l
),

steps AS (
    SELECT p.label, 2 - srsql.follows_on(p.earlier, p.label)::INTEGER AS step FROM pairs AS p
)

SELECT s.label, (sum(s.step) OVER (ORDER BY s.label))::INTEGER AS number
FROM steps AS s
ORDER BY s.label;

-- name: gaps
-- Neighbours among the periods $labels of which one does not follow on the other, and the periods
-- between them.
WITH labels AS (SELECT unnest($labels::VARCHAR[]) AS label),

pairs AS (
    SELECT l.label, lead(l.label) OVER (ORDER BY l.label) AS following FROM labels AS l
),

found AS (
    SELECT p.label, p.following, srsql.periods_between(p.label, p.following) AS missing
    FROM pairs AS p
)

SELECT f.label, f.following, f.missing
FROM found AS f
WHERE len(f.missing) > 0
ORDER BY f.label;

-- name: without_calendar
-- Those of the periods $labels of which no calendar tells what comes next.
SELECT l.label
FROM (SELECT unnest($labels::VARCHAR[]) AS label) AS l
WHERE srsql.period_kind(l.label) IS NULL
ORDER BY l.label;

-- name: parameters
-- What a series was made with.
SELECT p.keyword, p.value, p.sha256
FROM srsql.series_parameter AS p
WHERE p.dataset = $dataset AND p.series = $series
ORDER BY p.keyword;

-- name: forget_parameters
-- What a series was made with goes, before it is told anew.
DELETE FROM srsql.series_parameter AS p
WHERE p.dataset = $dataset AND p.series = $series;

-- name: keep_parameters
-- What a series was made with: $keywords, $contents and $digests, side by side.
INSERT INTO srsql.series_parameter
SELECT
    $dataset,
    $series,
    unnest($keywords::VARCHAR[]) AS keyword,
    unnest($contents::VARCHAR[]) AS value,
    unnest($digests::VARCHAR[]) AS sha256;

-- name: every_series
-- Every series with the quarters that are out, in the order of dataset and name.
SELECT
    s.dataset,
    s.series,
    s.family,
    s.ids,
    coalesce(
        (
            SELECT list(DISTINCT r.quarter ORDER BY r.quarter)
            FROM srsql.exposed_release AS r
            WHERE r.dataset = s.dataset AND r.series = s.series
        ),
        []
    ) AS quarters
FROM srsql.series AS s
ORDER BY s.dataset, s.series;

-- name: has_table
-- Whether the schema $store has a table $name.
SELECT count(*) > 0
FROM duckdb_tables() AS t
WHERE
    t.schema_name = $store
    AND t.table_name = $name
    AND t.database_name = current_database();

-- name: keyed
-- Those of $releases whose rows have the keys of terms beside their spellings.
SELECT k.release_id
FROM srsql.release_key AS k
WHERE k.version > 0 AND list_contains($releases::INTEGER[], k.release_id);

-- name: uncommented
-- The views of the releases of a series, and of all of them together, and their columns (NULL: the
-- view itself), that have no comment.
WITH schemas AS (
    SELECT r.schema_name
    FROM srsql.release AS r
    WHERE r.dataset = $dataset AND r.series = $series AND r.status <> 'superseded'
    UNION
    SELECT s.cumulative_schema
    FROM srsql.series AS s
    WHERE s.dataset = $dataset AND s.series = $series
)

SELECT v.schema_name, v.view_name, NULL AS column_name
FROM system.main.duckdb_views() AS v
SEMI JOIN schemas AS s ON v.schema_name = s.schema_name
WHERE v.database_name = system.main.current_database() AND v.comment IS NULL
UNION ALL
SELECT c.schema_name, c.table_name, c.column_name
FROM system.main.duckdb_columns() AS c
SEMI JOIN schemas AS s ON c.schema_name = s.schema_name
WHERE c.database_name = system.main.current_database() AND c.comment IS NULL
ORDER BY ALL;
