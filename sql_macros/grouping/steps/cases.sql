-- Step: works out what the records of a release ($release_id) have. A record is a super-record, a
--   report, or a piece of a case (see grouping/steps/pieces.sql), as the case numbers of its
--   reports say. A value that is certain weighs $weight_scale. $one_report: every record is of one
--   report; $one_value: and that has one value at most.
-- Reads: case_report(case_no, report_id, case_id), report_box(report_id, position, low, high),
--   word(word_no, key_no, attribute, term), report_value(report_id, attribute, key_no, word_no,
--   shown, sensitive), node
-- Writes: case(case_no, case_id, reports), box(case_no, position, low, high), case_word(case_no,
--   key_no, word_no, weight, direct, shown)
-- Source: Lin 2016, "combined record", Definition 1 (external knowledge); SPEC section 2.

CREATE OR REPLACE TEMP TABLE srsql_case AS
SELECT c.case_no, c.case_id, 1::INTEGER AS reports
FROM temp.main.srsql_case_report AS c
WHERE $one_report
UNION ALL
SELECT c.case_no, any_value(c.case_id) AS case_id, count(*)::INTEGER AS reports
FROM temp.main.srsql_case_report AS c
WHERE NOT $one_report
GROUP BY c.case_no;

-- Most cases have one report, whose box is theirs: nodes already, where it is of a hierarchy.
CREATE OR REPLACE TEMP TABLE srsql_box AS
WITH
several AS MATERIALIZED (
    SELECT c.case_no FROM temp.main.srsql_case AS c WHERE c.reports > 1
),

several_box AS (
    SELECT c.case_no, b.position, b.low, b.high
    FROM temp.main.srsql_report_box AS b
    INNER JOIN temp.main.srsql_case_report AS c ON b.report_id = c.report_id
    SEMI JOIN several AS s ON c.case_no = s.case_no
),

hull AS MATERIALIZED (
    SELECT s.* FROM srsql.super_record('several_box') AS s
)

SELECT e.case_no, e.position, e.low, e.high
FROM srsql.enclosing_node('hull', 'temp.main.srsql_node') AS e
UNION ALL
SELECT c.case_no, b.position, b.low, b.high
FROM temp.main.srsql_report_box AS b
INNER JOIN temp.main.srsql_case_report AS c ON b.report_id = c.report_id
ANTI JOIN several AS s ON c.case_no = s.case_no;

-- Sensitive values of each case: its own, and with external knowledge those its drugs suggest.
CREATE OR REPLACE TEMP TABLE srsql_case_word AS
WITH held AS (
    SELECT c.case_no, v.key_no, v.word_no, v.shown
    FROM temp.main.srsql_report_value AS v
    INNER JOIN temp.main.srsql_case_report AS c ON v.report_id = c.report_id
    WHERE v.sensitive
),

distinct_value AS (
    SELECT h.case_no, h.key_no, h.word_no, h.shown
    FROM held AS h
    WHERE $one_value
    UNION ALL
    SELECT h.case_no, h.key_no, min(h.word_no) AS word_no, bool_or(h.shown) AS shown
    FROM held AS h
    WHERE NOT $one_value
    GROUP BY h.case_no, h.key_no
)

SELECT
    d.case_no, d.key_no, d.word_no, $weight_scale::BIGINT AS weight, true AS direct, d.shown
FROM distinct_value AS d;

INSERT INTO temp.main.srsql_case_word
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
    FROM srsql.known_diseases($release_id) AS e
)

SELECT i.case_no, w.key_no, w.word_no, i.weight, false, false
FROM srsql.inferred_terms('case_drug', 'knowledge', $weight_scale) AS i
INNER JOIN temp.main.srsql_word AS w ON i.disease = w.term AND w.attribute IS NULL
ANTI JOIN temp.main.srsql_case_word AS b ON i.case_no = b.case_no AND w.key_no = b.key_no;
