-- Facts about the records of one file, before they are judged.
-- Source: SPEC section 16 (every line is accounted for).

-- name: header
-- The fields of line 1 where quotes mean nothing, and why it is no header. Those of one field alone
-- are left as they are: tabs in it tell by what else its fields are parted. $blank matches a blank
-- line.
SELECT
    CASE
        WHEN r.marked AND contains(r.text, $delimiter)
            THEN
                srsql.fields_without_controls(string_split(r.text, $delimiter), $controls, $ends)
        ELSE string_split(r.text, $delimiter)
    END AS field,
    CASE WHEN regexp_full_match(r.text, $blank) THEN 'blank line' END AS fault
FROM temp.main.srsql_record AS r
WHERE r.line = 1;

-- name: without_header
-- The lines of a file without its header.
DELETE FROM temp.main.srsql_record AS r
WHERE r.line = 1;

-- name: any_quote
-- Whether a line of the file holds a quote.
SELECT coalesce(bool_or(r.quoted), false) AS any_quote
FROM temp.main.srsql_record AS r;

-- name: quoted_header
-- The same of line 1 of quoted CSV; see ingest/quoted_lines.
SELECT
    CASE
        WHEN contains(r.text, $delimiter)
            THEN
                srsql.fields_without_controls(
                    srsql.quoted_fields(
                        r.text, $delimiter, $quote, $field, $inner_text, $behind, $escaped
                    ),
                    $controls,
                    $ends
                )
        ELSE
            srsql.quoted_fields(
                r.text, $delimiter, $quote, $field, $inner_text, $behind, $escaped
            )
    END AS field,
    CASE
        WHEN regexp_full_match(r.text, $blank) THEN 'blank line'
        WHEN NOT regexp_matches(r.text, $closed)
            THEN 'a quote is opened and not closed in that line'
    END AS fault
FROM temp.main.srsql_record AS r
WHERE r.line = 1;

-- name: extent
-- How many physical lines the records take; how many records there are; the fields of the first one
-- if it is of line $first; and whether a value of one lost control characters.
SELECT
    coalesce(sum(r.lines), 0) AS lines_of_records,
    count(*) AS records,
    (
        SELECT len(f.field) FROM temp.main.srsql_record AS f
        WHERE f.line = $first
    ) AS fields_of_first,
    coalesce(bool_or(r.cleaned IS NOT NULL), false) AS cleaned
FROM temp.main.srsql_record AS r;

-- name: widths
-- Records with $width fields; those with one more, which is empty.
SELECT
    count(*) FILTER (WHERE len(r.field) = $width) AS plain,
    count(*) FILTER (
        WHERE len(r.field) = $width + 1 AND list_extract(r.field, $width + 1) = ''
    ) AS with_separator
FROM temp.main.srsql_record AS r;

-- name: names_again
-- Whether the first record of a file without a header has a name ($names, in lower case) where its
-- id is due, at $place.
SELECT list_contains($names::VARCHAR[], lower(trim(list_extract(r.field, $place)))) AS is_header
FROM temp.main.srsql_record AS r
WHERE r.line = 1;

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
