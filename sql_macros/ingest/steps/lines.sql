-- The physical lines of a text file, numbered from 1 (blank ones too).
-- In: $path a glob that names one file, $returns, $return_mark (see engine/ingest/extract.py).
-- Out: temp table srsql_line (line, text). The delimiter is a noncharacter no line holds.

CREATE OR REPLACE TEMP TABLE srsql_line AS
SELECT
    row_number() OVER () AS line,
    coalesce(CASE WHEN $returns THEN replace(text, $return_mark, chr(13)) ELSE text END, '') AS text
FROM read_csv(
    $path,
    columns = { 'text': 'VARCHAR' },
    delim = $separator,
    quote = '',
    escape = '',
    comment = '',
    new_line = '\n',
    header = false,
    auto_detect = false,
    hive_partitioning = false,
    max_line_size = 16777216,
    buffer_size = 33554432
);
