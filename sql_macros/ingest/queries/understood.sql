-- What an ingestion understood of its columns, which reports lack rows, and how texts were read.
-- Source: SPEC section 22 (what was understood is counted by column; required child tables).

-- name: unread
-- Values of one file that count as missing, by column; $partial is a regular expression of dates
-- that tell less than a derived column needs, which are understood all the same.
SELECT
    r.column_name,
    count(DISTINCT r.line) AS unread
FROM srsql.reject AS r
WHERE
    r.ingestion_id = $ingestion
    AND r.file = $file
    AND r.kind = 'value'
    AND NOT (r.reason LIKE 'no date %' AND regexp_full_match(r.value, $partial))
GROUP BY r.column_name;

-- name: examples
-- Reasons of the values of one column ($name) of a file, the commonest first, each with its first
-- values and their lines.
SELECT
    r.reason,
    list_slice(list({ 'value': r.value, 'line': r.line } ORDER BY r.line), 1, $many) AS examples
FROM srsql.reject AS r
WHERE
    r.ingestion_id = $ingestion
    AND r.file = $file
    AND r.kind = 'value'
    AND r.column_name = $name
    AND NOT (r.reason LIKE 'no date %' AND regexp_full_match(r.value, $partial))
GROUP BY r.reason
ORDER BY count(*) DESC, r.reason ASC;

-- name: odd_records
-- The records that have one of the physical lines $odd.
SELECT DISTINCT r.line
FROM (SELECT unnest($odd::BIGINT[]) AS line) AS o
ASOF INNER JOIN temp.main.srsql_record AS r ON o.line >= r.line
WHERE o.line < r.line + r.lines;

-- name: store_column
-- Store what was understood of one column.
INSERT INTO srsql.ingested_column VALUES (
    $ingestion, $table, $name, $filled, $unread
);

-- name: columns
-- What was understood of the columns of an ingestion.
SELECT
    c.table_name,
    c.column_name,
    c.filled,
    c.unread
FROM srsql.ingested_column AS c
WHERE c.ingestion_id = $ingestion
ORDER BY c.rowid;

-- name: store_text
-- Store by which encoding a file was read, and how many of its lines do not fit it.
INSERT INTO srsql.ingested_text VALUES ($ingestion, $file, $encoding, $odd_lines);

-- name: texts
-- How the text files of an ingestion were read.
SELECT
    t.file,
    t.encoding,
    t.odd_lines
FROM srsql.ingested_text AS t
WHERE t.ingestion_id = $ingestion;

-- name: store_required
-- Store how many reports have no row in a table in which each must have one.
INSERT INTO srsql.required_table VALUES (
    $ingestion, $table, $reports, $without_row, $allowed
);

-- name: required
-- The tables in which reports of an ingestion have no row although each must have one.
SELECT
    t.table_name,
    t.reports,
    t.without_row,
    t.allowed
FROM srsql.required_table AS t
WHERE t.ingestion_id = $ingestion
ORDER BY t.rowid;

-- name: incomplete
-- Periods that were taken in although too many reports have no row in a table.
SELECT
    i.dataset,
    i.quarter,
    t.table_name,
    t.reports,
    t.without_row
FROM srsql.required_table AS t
INNER JOIN srsql.ingestion AS i ON t.ingestion_id = i.ingestion_id
WHERE t.allowed AND NOT i.replaced
ORDER BY i.dataset, i.quarter, t.table_name;

-- name: period_before
-- Records that each table of the last period before $quarter has in the raw tables.
SELECT
    i.quarter,
    f.table_name,
    sum(f.loaded)::BIGINT AS loaded
FROM srsql.ingestion AS i
INNER JOIN srsql.ingested_file AS f ON i.ingestion_id = f.ingestion_id
WHERE
    i.dataset = $dataset
    AND NOT i.replaced
    AND i.quarter = (
        SELECT max(b.quarter)
        FROM srsql.ingestion AS b
        WHERE b.dataset = $dataset AND b.quarter < $quarter AND NOT b.replaced
    )
GROUP BY i.quarter, f.table_name;
