-- Step: numbers the physical lines of a file whose records are its lines; these are split where
--   they are read. One thread numbers; all of them split. For $path, $separator, $returns and
--   $return_mark see srsql.physical_lines.
-- Reads: nothing
-- Writes: record(line, text)
-- Source: SPEC section 16 (every line is accounted for).

CREATE OR REPLACE TEMP TABLE srsql_record AS
SELECT
    line,
    text
FROM srsql.physical_lines($path, $separator, $returns, $return_mark);
