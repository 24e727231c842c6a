-- Step: takes the values out of the cases of a release ($release_id) that another release of the
--   series, which is or was out, suppressed of them: they stay suppressed. A case with a report
--   that would be left without a value of some attribute is withheld, since absence tells. What
--   its drugs suggest of a value ($weight_scale: what a certain value weighs) counts on.
-- Reads: case(case_no, case_id), case_report(case_no, report_id), word(word_no, term),
--   report_value(report_id, attribute, key_no, word_no, shown, sensitive), term(term_no, key_no,
--   term), case_term(case_no, term_no, weight,
--   direct, shown), profile(case_no), srsql.exposed_release,
--   srsql.release, srsql.member, srsql.suppressed, srsql.threshold
-- Writes: suggested(case_no, term_no, weight), suppressed(case_no, term_no), withheld(case_no,
--   reason), profile
-- Source: Lin 2016, "Conclusions" (suppression); SPEC section 16 (rules that survive any history).

-- What the drugs of a case suggest of the values that it holds itself.
CREATE OR REPLACE TEMP TABLE srsql_suggested AS
WITH
case_drug AS MATERIALIZED (
    SELECT DISTINCT c.case_no, w.term AS drug
    FROM temp.main.srsql_report_value AS v
    INNER JOIN temp.main.srsql_word AS w ON v.word_no = w.word_no
    INNER JOIN temp.main.srsql_case_report AS c ON v.report_id = c.report_id
    WHERE NOT v.sensitive
),

knowledge AS MATERIALIZED (
    SELECT e.drug, e.disease, e.diseases
    FROM srsql.known_diseases($release_id::INTEGER) AS e
)

SELECT i.case_no, t.term_no, i.weight
FROM srsql.inferred_terms('case_drug', 'knowledge', $weight_scale) AS i
INNER JOIN temp.main.srsql_term AS t ON i.disease = t.term
SEMI JOIN temp.main.srsql_case_term AS b
    ON i.case_no = b.case_no AND t.term_no = b.term_no AND b.direct;

CREATE OR REPLACE TEMP TABLE srsql_suppressed AS
WITH
others AS (
    SELECT r.release_id
    FROM srsql.exposed_release AS r
    INNER JOIN srsql.release AS own ON r.dataset = own.dataset AND r.series = own.series
    WHERE own.release_id = $release_id::INTEGER AND r.release_id <> own.release_id
),

before AS (
    SELECT DISTINCT m.case_id, h.term
    FROM srsql.suppressed AS s
    SEMI JOIN others AS o ON s.release_id = o.release_id
    INNER JOIN srsql.member AS m ON s.release_id = m.release_id AND s.case_no = m.case_no
    INNER JOIN srsql.threshold AS h ON s.release_id = h.release_id AND s.term_no = h.term_no
)

SELECT b.case_no, b.term_no
FROM before AS e
INNER JOIN temp.main.srsql_case AS c ON e.case_id = c.case_id::VARCHAR
INNER JOIN temp.main.srsql_term AS t ON e.term = t.term
INNER JOIN temp.main.srsql_case_term AS b ON c.case_no = b.case_no AND t.term_no = b.term_no
WHERE b.direct;

INSERT INTO temp.main.srsql_withheld
WITH values_of_reports AS (
    SELECT c.case_no, v.report_id, v.attribute, s.term_no IS NOT NULL AS suppressed
    FROM temp.main.srsql_report_value AS v
    INNER JOIN temp.main.srsql_case_report AS c ON v.report_id = c.report_id
    INNER JOIN temp.main.srsql_term AS t ON v.key_no = t.key_no
    LEFT JOIN temp.main.srsql_suppressed AS s ON c.case_no = s.case_no AND t.term_no = s.term_no
    WHERE
        v.sensitive
        AND v.shown
        AND c.case_no IN (SELECT l.case_no FROM temp.main.srsql_suppressed AS l)
)

SELECT DISTINCT e.case_no, 'suppressed_before'
FROM (
    SELECT v.case_no
    FROM values_of_reports AS v
    GROUP BY v.case_no, v.report_id, v.attribute
    HAVING bool_and(v.suppressed)
) AS e
WHERE e.case_no IN (SELECT p.case_no FROM temp.main.srsql_profile AS p);

DELETE FROM temp.main.srsql_profile AS p
WHERE p.case_no IN (SELECT w.case_no FROM temp.main.srsql_withheld AS w);
