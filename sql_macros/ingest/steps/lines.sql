-- Step: numbers the physical lines of a text file from 1, blank ones too. $path is a glob that
--   names one file, $separator a noncharacter that no line holds; where $returns is true,
--   $return_mark stands for a carriage return (see engine/ingest/records.py).
-- Reads: nothing
-- Writes: line(line, text)
-- Source: SPEC section 16 (every line is accounted for).

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
