-- Step: counts the values that each case has of every sensitive attribute, and their spellings,
--   which are more where a case has a term in several. $one_value: it has one report, and that has
--   one value at most.
-- Reads: word(word_no, spelling), report_value(report_id, attribute, key_no, word_no, sensitive),
--   case_report(report_id, case_id)
-- Writes: symptoms(case_id, attribute, symptoms, spellings)
-- Source: Huang 2021, Definition 6 (substantially many symptoms); SPEC section 2 (term: ss).

CREATE OR REPLACE TEMP TABLE srsql_symptoms AS
WITH
held AS (
    SELECT c.case_id, v.attribute, v.key_no, v.word_no
    FROM temp.main.srsql_report_value AS v
    INNER JOIN temp.main.srsql_case_report AS c ON v.report_id = c.report_id
    WHERE v.sensitive
),

case_key AS MATERIALIZED (
    SELECT
        h.case_id, h.attribute, h.key_no, min(h.word_no) AS first_word, max(h.word_no) AS last_word
    FROM held AS h
    WHERE NOT $one_value
    GROUP BY h.case_id, h.attribute, h.key_no
),

-- Few cases have a term in several words, and some of these are of one spelling. The values are
-- looked at again for them alone.
spelled AS (
    SELECT k.case_id, k.attribute, k.key_no, count(DISTINCT w.spelling) AS spellings
    FROM case_key AS k
    INNER JOIN temp.main.srsql_case_report AS c ON k.case_id = c.case_id
    INNER JOIN temp.main.srsql_report_value AS v
        ON c.report_id = v.report_id AND k.attribute = v.attribute AND k.key_no = v.key_no
    INNER JOIN temp.main.srsql_word AS w ON v.word_no = w.word_no
    WHERE v.sensitive AND k.first_word < k.last_word
    GROUP BY k.case_id, k.attribute, k.key_no
),

more_spelled AS (
    SELECT s.case_id, s.attribute, sum(s.spellings - 1)::BIGINT AS more
    FROM spelled AS s
    GROUP BY s.case_id, s.attribute
),

counted AS (
    SELECT k.case_id, k.attribute, count(*) AS symptoms
    FROM case_key AS k
    GROUP BY k.case_id, k.attribute
)

SELECT h.case_id, h.attribute, 1::BIGINT AS symptoms, 1::BIGINT AS spellings
FROM held AS h
WHERE $one_value
UNION ALL
SELECT n.case_id, n.attribute, n.symptoms, n.symptoms + coalesce(m.more, 0) AS spellings
FROM counted AS n
LEFT JOIN more_spelled AS m ON n.case_id = m.case_id AND n.attribute = m.attribute;
