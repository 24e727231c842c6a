-- Step: counts the values that each case has of every sensitive attribute, and their spellings,
--   which are more where a case has a term in several. $one_value: it has one report, and that has
--   one value at most.
-- Reads: report_value(report_id, attribute, term, spelling, sensitive), case_report(report_id,
--   case_id)
-- Writes: symptoms(case_id, attribute, symptoms, spellings)
-- Source: Huang 2021, Definition 6 (substantially many symptoms); SPEC section 2 (term: ss).

CREATE OR REPLACE TEMP TABLE srsql_symptoms AS
WITH
held AS (
    SELECT c.case_id, v.attribute, v.term, v.spelling
    FROM temp.main.srsql_report_value AS v
    INNER JOIN temp.main.srsql_case_report AS c ON v.report_id = c.report_id
    WHERE v.sensitive
),

by_term AS MATERIALIZED (
    SELECT
        h.case_id,
        h.attribute,
        h.term,
        min(h.spelling) <> max(h.spelling) AS has_several
    FROM held AS h
    WHERE NOT $one_value
    GROUP BY h.case_id, h.attribute, h.term
),

-- Few cases have a term in several spellings: these alone are counted by spellings, too.
several AS MATERIALIZED (
    SELECT c.report_id, c.case_id
    FROM temp.main.srsql_case_report AS c
    SEMI JOIN (SELECT b.case_id FROM by_term AS b WHERE b.has_several) AS b
        ON c.case_id = b.case_id
),

spelled AS (
    SELECT s.case_id, v.attribute, count(DISTINCT v.spelling) AS spellings
    FROM temp.main.srsql_report_value AS v
    INNER JOIN several AS s ON v.report_id = s.report_id
    WHERE v.sensitive
    GROUP BY s.case_id, v.attribute
),

counted AS (
    SELECT b.case_id, b.attribute, count(*) AS symptoms
    FROM by_term AS b
    GROUP BY b.case_id, b.attribute
)

SELECT h.case_id, h.attribute, 1::BIGINT AS symptoms, 1::BIGINT AS spellings
FROM held AS h
WHERE $one_value
UNION ALL
SELECT
    c.case_id,
    c.attribute,
    c.symptoms,
    coalesce(s.spellings, c.symptoms) AS spellings
FROM counted AS c
LEFT JOIN spelled AS s ON c.case_id = s.case_id AND c.attribute = s.attribute;
