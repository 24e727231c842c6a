-- Step: judges the lines of a list of withdrawn cases, one id a line, without a header, perhaps
--   with a trailing separator; what is no case id is rejected, like a record that cannot be loaded.
--   $ends is a class of the characters that are no part of an id at the ends of a line, $integer
--   says whether ids are integers; for $controls see srsql.without_controls, for
--   $path, $separator, $returns and $return_mark see
--   srsql.physical_lines.
-- Reads: nothing
-- Writes: record(line, field, case_id), rejected_record(line, field, reason)
-- Source: SPEC section 16 (deleted cases; rejects keep file, line and reason).

CREATE OR REPLACE TEMP TABLE srsql_record AS
SELECT
    l.line,
    [l.text] AS field,
    srsql.identifier(
        srsql.without_controls(l.text, $controls, $ends), $ends, $integer
    ) AS case_id
FROM srsql.physical_lines($path, $separator, $returns, $return_mark) AS l;

CREATE OR REPLACE TEMP TABLE srsql_rejected_record AS
SELECT
    w.line,
    w.field,
    CASE
        WHEN regexp_full_match(w.field[1], $ends || '*') THEN 'blank line'
        ELSE 'case id is not an integer'
    END AS reason
FROM temp.main.srsql_record AS w
WHERE w.case_id IS NULL;
