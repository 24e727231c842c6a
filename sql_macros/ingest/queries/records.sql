-- Facts about the records of one file, before they are judged.
-- Source: SPEC section 16 (every line is accounted for).

-- name: header
-- The record of line 1: its fields, how many lines it takes, and why it cannot be read.
SELECT
    r.field,
    r.lines,
    r.fault
FROM temp.main.srsql_record AS r
WHERE r.line = 1;

-- name: extent
-- How many physical lines the records take, the header's among them; how many are below it; and the
-- fields of the one that begins in line $first.
SELECT
    sum(r.lines) AS lines_of_records,
    count(*) FILTER (WHERE r.line > 1) AS records,
    (
        SELECT len(f.field) FROM temp.main.srsql_record AS f
        WHERE f.line = $first
    ) AS fields_of_first
FROM temp.main.srsql_record AS r;

-- name: widths
-- Records below the header with $width fields; those with one more, which is empty.
SELECT
    count(*) FILTER (WHERE len(r.field) = $width) AS plain,
    count(*) FILTER (
        WHERE len(r.field) = $width + 1 AND list_extract(r.field, $width + 1) = ''
    ) AS with_separator
FROM temp.main.srsql_record AS r
WHERE r.line > 1;

-- name: parquet_header
-- No row, but the columns of the Parquet file at $path.
SELECT f.* FROM read_parquet($path, hive_partitioning = false) AS f WHERE false;

-- name: parquet_rows
-- How many rows the Parquet file at $path says that it has.
SELECT coalesce(sum(m.num_rows), 0)::BIGINT AS parquet_rows
FROM parquet_file_metadata($path) AS m;

-- name: drop_view
-- Drop a temporary view, if it is there.
DROP VIEW IF EXISTS temp.main.srsql_view;

-- name: drop
-- Drop a temporary table, if it is there.
DROP TABLE IF EXISTS temp.main.srsql_table;
