-- Step: adds the cases of artifact $artifact, with their regions and sensitive values. It runs on a
--   connection of its own that knows no warehouse, and shares nothing with what makes or checks a
--   release. region is the text of a row's published quasi-identifiers. A value is the term without
--   white space at its ends, in upper case; the same term in two columns is one.
-- Reads: report_row(position, report_id, case_id, period, region), sensitive_cell(case_id,
--   spelling)
-- Writes: case_region(artifact, region, case_id), case_value(artifact, case_id, value)
-- Source: SPEC section 16; Lin 2016, Definition 3.

INSERT INTO temp.main.srsql_case_region
SELECT DISTINCT $artifact::INTEGER AS artifact, r.region, r.case_id::VARCHAR AS case_id
FROM temp.main.srsql_report_row AS r;

INSERT INTO temp.main.srsql_case_value
WITH normalized AS (
    SELECT
        h.case_id::VARCHAR AS case_id,
        upper(regexp_replace(regexp_replace(
            h.spelling, '^[\s\p{Z}\x{b}\x{85}\x{200b}\x{feff}]+', ''
        ), '[\s\p{Z}\x{b}\x{85}\x{200b}\x{feff}]+$', '')) AS value
    FROM temp.main.srsql_sensitive_cell AS h
)

SELECT DISTINCT $artifact::INTEGER AS artifact, n.case_id, n.value
FROM normalized AS n
WHERE n.value <> '';
