-- Step: makes records of the lines of FAERS ASCII: a line is a record, "$" separates its fields,
--   nothing is quoted or escaped. $blank is a regular expression that a blank line matches; for
--   $path, $separator, $returns and $return_mark see srsql.physical_lines.
-- Reads: nothing
-- Writes: record(line, lines, field, fault)
-- Source: SPEC section 6 (srsql ingest), section 16 (a malformed line has a fault).

-- Lines are numbered by one thread, so that they are stored before they are split by all; the
-- records take their place.
CREATE OR REPLACE TEMP TABLE srsql_record AS
SELECT
    line,
    text
FROM srsql.physical_lines($path, $separator, $returns, $return_mark);

CREATE OR REPLACE TEMP TABLE srsql_record AS
SELECT
    line,
    1 AS lines,
    string_split(text, '$') AS field,
    CASE WHEN regexp_full_match(text, $blank) THEN 'blank line' END AS fault
FROM temp.main.srsql_record;
