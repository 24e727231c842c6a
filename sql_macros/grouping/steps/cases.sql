-- Step: works out what the records of a release ($release_id) have. A record is a super-record, a
--   report, or a piece of a case (see grouping/steps/pieces.sql), as the case numbers of its
--   reports say. A value that is certain weighs $weight_scale.
-- Reads: case_report(case_no, report_id, case_id), report_box(report_id, position, low, high),
--   report_value(report_id, attribute, term, spelling, shown, sensitive), node,
--   srsql.external_knowledge
-- Writes: case(case_no, case_id, reports), box(case_no, position, low, high), term(term_no, term,
--   spelling, cases), case_term(case_no, term_no, weight, direct, shown), attribute
-- Source: Lin 2016, "combined record", Definition 1 (external knowledge); SPEC section 2.

CREATE OR REPLACE TEMP TABLE srsql_case AS
SELECT c.case_no, c.case_id, count(*)::INTEGER AS reports
FROM temp.main.srsql_case_report AS c
GROUP BY c.case_no, c.case_id;

CREATE OR REPLACE TEMP TABLE srsql_box AS
WITH
known_box AS MATERIALIZED (
    SELECT c.case_no, b.position, b.low, b.high
    FROM temp.main.srsql_report_box AS b
    INNER JOIN temp.main.srsql_case_report AS c ON b.report_id = c.report_id
),

hull AS MATERIALIZED (
    SELECT s.* FROM srsql.super_record('known_box') AS s
)

SELECT e.case_no, e.position, e.low, e.high
FROM srsql.enclosing_node('hull', 'temp.main.srsql_node') AS e;

-- Sensitive values of each case: its own, and with external knowledge those its drugs suggest. They
-- have their texts until all terms are known and numbered.
CREATE OR REPLACE TEMP TABLE srsql_case_term AS
SELECT
    c.case_no,
    v.term,
    min(v.spelling) AS spelling,
    $weight_scale::BIGINT AS weight,
    true AS direct,
    bool_or(v.shown) AS shown
FROM temp.main.srsql_report_value AS v
INNER JOIN temp.main.srsql_case_report AS c ON v.report_id = c.report_id
WHERE v.sensitive
GROUP BY c.case_no, v.term;

INSERT INTO temp.main.srsql_case_term
WITH
case_drug AS MATERIALIZED (
    SELECT DISTINCT c.case_no, v.term AS drug
    FROM temp.main.srsql_report_value AS v
    INNER JOIN temp.main.srsql_case_report AS c ON v.report_id = c.report_id
    WHERE NOT v.sensitive
),

knowledge AS MATERIALIZED (
    SELECT e.drug, e.disease
    FROM srsql.external_knowledge AS e
    WHERE e.release_id = $release_id
)

SELECT i.case_no, i.disease, i.disease AS spelling, i.weight, false, false
FROM srsql.inferred_terms('case_drug', 'knowledge', $weight_scale) AS i
ANTI JOIN temp.main.srsql_case_term AS b ON i.case_no = b.case_no AND i.disease = b.term;

CREATE OR REPLACE TEMP TABLE srsql_term AS
SELECT
    (row_number() OVER (ORDER BY b.term) - 1)::INTEGER AS term_no,
    b.term,
    min(b.spelling) AS spelling,
    count(*) FILTER (WHERE b.direct) AS cases
FROM temp.main.srsql_case_term AS b
GROUP BY b.term;

CREATE OR REPLACE TEMP TABLE srsql_case_term AS
SELECT b.case_no, t.term_no, b.weight, b.direct, b.shown
FROM temp.main.srsql_case_term AS b
INNER JOIN temp.main.srsql_term AS t ON b.term = t.term;

-- "observed" domains: what the quarter's own values span.
UPDATE temp.main.srsql_attribute
SET span = greatest(1, (
    SELECT coalesce(max(b.high) - min(b.low), 1)
    FROM temp.main.srsql_box AS b
    WHERE b.position = srsql_attribute.position
))
WHERE kind = 'numeric' AND span = 0;
