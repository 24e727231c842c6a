-- Step: judges the lines of a list of withdrawn cases, one id a line, without a header, perhaps
--   with a trailing separator; what is no case id has a reason, like a record that cannot be
--   loaded. $ends is a class of the characters that are no part of an id at the ends of a line,
--   $integer says whether ids are integers; for $path, $separator, $returns and $return_mark see
--   srsql.physical_lines.
-- Reads: nothing
-- Writes: judged(line, lines, field, reason, case_id)
-- Source: SPEC section 16 (deleted cases; rejects keep file, line and reason).

CREATE OR REPLACE TEMP TABLE srsql_judged AS
WITH listed AS (
    SELECT
        l.line,
        l.text,
        srsql.identifier(l.text, $ends, $integer) AS case_id
    FROM srsql.physical_lines($path, $separator, $returns, $return_mark) AS l
)

SELECT
    l.line,
    1 AS lines,
    [l.text] AS field,
    CASE
        WHEN l.case_id IS NOT NULL THEN NULL
        WHEN regexp_full_match(l.text, $ends || '*') THEN 'blank line'
        ELSE 'case id is not an integer'
    END AS reason,
    l.case_id
FROM listed AS l;
