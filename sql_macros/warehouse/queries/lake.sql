-- What the catalog says of the lake. What is asked while a warehouse is opened has no search path
-- yet, so that functions are named in full.

-- name: find
-- Its name, its folder, and how often it was changed.
SELECT l.lake, l.folder, l.changes
FROM srsql.lake AS l;

-- name: files
-- The files that are read, in the order in which they are read.
SELECT f.dataset, f.table_name, f.quarter, f.bucket, f.file, f.records, f.bytes, f.sha256
FROM srsql.lake_file AS f
ORDER BY f.dataset, f.table_name, f.quarter, f.bucket, f.file;

-- name: leftovers
-- What is to be removed: changes that began, and files that are listed no more.
SELECT l.change, l.file
FROM srsql.lake_leftover AS l;

-- name: cleared
-- Everything of that was removed.
DELETE FROM srsql.lake_leftover;

-- name: forget
-- There is no lake after all: its first change came to nothing.
DELETE FROM srsql.lake
WHERE changes = 0;

-- name: make
-- A lake, before anything lies in it.
INSERT INTO srsql.lake VALUES ($lake, $folder, 0);

-- name: begin
-- A change begins: its files carry its name.
INSERT INTO srsql.lake_leftover VALUES ($change, NULL);

-- name: count_change
-- One change more.
UPDATE srsql.lake SET changes = changes + 1;

-- name: datasets
-- The datasets that lie in the lake, and how many buckets each has.
SELECT d.dataset, d.buckets
FROM srsql.lake_dataset AS d
ORDER BY d.dataset;

-- name: buckets
-- How many buckets a dataset has; no row: its rows are kept in the file.
SELECT d.buckets
FROM srsql.lake_dataset AS d
WHERE d.dataset = $dataset;

-- name: is_in_file
-- Whether something of a dataset was ingested already, which lies in the file then.
SELECT count(*) > 0
FROM srsql.ingestion AS i
WHERE i.dataset = $dataset AND $dataset NOT IN (SELECT d.dataset FROM srsql.lake_dataset AS d);

-- name: add_dataset
-- A dataset lies in the lake from now on.
INSERT INTO srsql.lake_dataset VALUES ($dataset, $buckets);

-- name: add_file
-- A file is read from now on.
INSERT INTO srsql.lake_file VALUES (
    $dataset, $table, $quarter, $bucket, $file, $records, $bytes, $sha256
);

-- name: leave_files
-- These files are to be removed once that is committed.
INSERT INTO srsql.lake_leftover
SELECT
    $change AS change,
    f.file
FROM srsql.lake_file AS f
WHERE list_contains($files::VARCHAR[], f.file);

-- name: drop_files
-- They are read no more.
DELETE FROM srsql.lake_file AS f
WHERE list_contains($files::VARCHAR[], f.file);

-- name: move
-- The lake is elsewhere.
UPDATE srsql.lake SET folder = $folder;

-- name: database_file
-- The file of a database; NULL: it is in memory.
SELECT d.path
FROM duckdb_databases() AS d
WHERE d.database_name = $database;

-- name: taken_in
-- The tables of a schema whose names begin with $prefix: periods that a private copy took in.
SELECT t.table_name
FROM duckdb_tables() AS t
WHERE
    t.schema_name = $schema
    AND starts_with(t.table_name, $prefix)
    AND t.database_name = current_database()
ORDER BY t.table_name;

-- name: period_parts
-- The buckets of a period ($quarter of $dataset): the files of each, and the cases of it that a
-- list of the data withdrew, whatever the period.
WITH
listed AS (
    SELECT
        f.bucket AS part,
        list(
            struct_pack(
                table_name := f.table_name, file := f.file, bytes := f.bytes
            )
            ORDER BY f.table_name, f.file
        ) AS files
    FROM srsql.lake_file AS f
    WHERE f.dataset = $dataset AND f.quarter = $quarter
    GROUP BY f.bucket
),

withdrawn AS (
    SELECT
        srsql.case_bucket(d.case_id, k.buckets) AS part,
        list(DISTINCT d.case_id) AS cases
    FROM srsql.deleted_case AS d
    INNER JOIN srsql.lake_dataset AS k ON d.dataset = k.dataset
    WHERE d.dataset = $dataset
    GROUP BY srsql.case_bucket(d.case_id, k.buckets)
)

SELECT l.part, l.files, coalesce(w.cases, []::VARCHAR[]) AS withdrawn
FROM listed AS l
LEFT JOIN withdrawn AS w ON l.part = w.part
ORDER BY l.part;
