-- Step: numbers the physical lines of a file. One thread numbers; what is made of a line is made
--   afterwards, by all of them. $quote: the quote whose lines are marked (NULL: none are); $odd:
--   whether lines with what $controls matches are, which is in some line of the file. For $path,
--   $separator, $returns and $return_mark see srsql.physical_lines.
-- Reads: nothing
-- Writes: record(line, text, quoted, marked)
-- Source: SPEC section 16 (every line is accounted for).

CREATE OR REPLACE TEMP TABLE srsql_record AS
SELECT
    line,
    text,
    coalesce(contains(text, $quote::VARCHAR), false) AS quoted,
    CASE WHEN $odd THEN regexp_matches(text, $controls) ELSE false END AS marked
FROM srsql.physical_lines($path, $separator, $returns, $return_mark);
