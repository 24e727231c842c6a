-- Step: counts the values that each case has of every sensitive attribute, and their spellings,
--   which are more where a case has a term in several. $one_value: it has one report, and that has
--   one value at most.
-- Reads: report_value(report_id, attribute, term, spelling, sensitive), case_report(report_id,
--   case_id)
-- Writes: symptoms(case_id, attribute, symptoms, spellings)
-- Source: Huang 2021, Definition 6 (substantially many symptoms); SPEC section 2 (term: ss).

CREATE OR REPLACE TEMP TABLE srsql_symptoms AS
WITH held AS (
    SELECT c.case_id, v.attribute, v.term, v.spelling
    FROM temp.main.srsql_report_value AS v
    INNER JOIN temp.main.srsql_case_report AS c ON v.report_id = c.report_id
    WHERE v.sensitive
)

SELECT h.case_id, h.attribute, 1::BIGINT AS symptoms, 1::BIGINT AS spellings
FROM held AS h
WHERE $one_value
UNION ALL
SELECT
    h.case_id,
    h.attribute,
    count(DISTINCT h.term) AS symptoms,
    count(DISTINCT h.spelling) AS spellings
FROM held AS h
WHERE NOT $one_value
GROUP BY h.case_id, h.attribute;
