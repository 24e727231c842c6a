-- FAERS ASCII: a line is a record, "$" separates its fields, nothing is quoted or escaped.
-- In: temp table srsql_line. Out: temp table srsql_record (line, lines, field, fault).

CREATE OR REPLACE TEMP TABLE srsql_record AS
SELECT
    line,
    1 AS lines,
    string_split(text, '$') AS field,
    CASE WHEN regexp_full_match(text, $blank) THEN 'blank line' END AS fault
FROM temp.main.srsql_line;
