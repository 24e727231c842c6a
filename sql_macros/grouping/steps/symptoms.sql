-- Step: counts the values that each case has of every sensitive attribute, and their spellings,
--   which are more where a case has a term in several. $one_value: it has one report, and that has
--   one value at most.
-- Reads: word(word_no, key_no, spelling, has_several), report_value(report_id, attribute, key_no,
--   word_no, sensitive), case_report(report_id, case_id)
-- Writes: symptoms(case_id, attribute, symptoms, spellings)
-- Source: Huang 2021, Definition 6 (substantially many symptoms); SPEC section 2 (term: ss).

CREATE OR REPLACE TEMP TABLE srsql_symptoms AS
WITH
held AS (
    SELECT c.case_id, v.attribute, v.key_no
    FROM temp.main.srsql_report_value AS v
    INNER JOIN temp.main.srsql_case_report AS c ON v.report_id = c.report_id
    WHERE v.sensitive
),

-- Few terms have several spellings. A spelling is of one term: a case has as many spellings more
-- than terms as these have.
spelled AS (
    SELECT
        c.case_id,
        v.attribute,
        count(DISTINCT w.spelling) - count(DISTINCT w.key_no) AS more
    FROM temp.main.srsql_report_value AS v
    INNER JOIN temp.main.srsql_word AS w ON v.word_no = w.word_no AND w.has_several
    INNER JOIN temp.main.srsql_case_report AS c ON v.report_id = c.report_id
    WHERE v.sensitive AND NOT $one_value
    GROUP BY c.case_id, v.attribute
),

counted AS (
    SELECT h.case_id, h.attribute, count(DISTINCT h.key_no) AS symptoms
    FROM held AS h
    WHERE NOT $one_value
    GROUP BY h.case_id, h.attribute
)

SELECT h.case_id, h.attribute, 1::BIGINT AS symptoms, 1::BIGINT AS spellings
FROM held AS h
WHERE $one_value
UNION ALL
SELECT
    c.case_id,
    c.attribute,
    c.symptoms,
    c.symptoms + coalesce(s.more, 0) AS spellings
FROM counted AS c
LEFT JOIN spelled AS s ON c.case_id = s.case_id AND c.attribute = s.attribute;
