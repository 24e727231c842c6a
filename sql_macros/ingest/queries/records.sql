-- Facts about the records of one file, before they are judged.
-- Source: SPEC section 16 (every line is accounted for).

-- name: header
-- The record of line 1: its fields, and why it cannot be read.
SELECT
    r.field,
    r.fault
FROM temp.main.srsql_record AS r
WHERE r.line = 1;

-- name: any_quote
-- Whether a line of the file holds a quote.
SELECT coalesce(bool_or(r.quoted), false) AS any_quote
FROM temp.main.srsql_record AS r;

-- name: quoted_header
-- The fields of line 1 of quoted CSV, and why it is no header; see ingest/quoted_lines.
SELECT
    srsql.fields_without_controls(
        srsql.quoted_fields(r.text, $delimiter, $field), $controls, $ends
    ) AS field,
    CASE
        WHEN NOT regexp_matches(r.text, $closed)
            THEN 'a quote is opened and not closed in that line'
    END AS fault
FROM temp.main.srsql_record AS r
WHERE r.line = 1;

-- name: extent
-- How many physical lines the records take, the header's among them; how many are below it; the
-- fields of the one in line 2; and whether a value of one lost control characters.
SELECT
    sum(r.lines) AS lines_of_records,
    count(*) FILTER (WHERE r.line > 1) AS records,
    (
        SELECT len(f.field) FROM temp.main.srsql_record AS f
        WHERE f.line = 2
    ) AS fields_of_first,
    bool_or(r.cleaned IS NOT NULL) AS cleaned
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
