-- Step of a release: what its records (super-records, or reports) have. Reads srsql_case and
-- srsql_case_report of grouping/steps/super_records.sql, grouping/steps/reports.sql or
-- grouping/steps/pieces.sql, and what was composed from the dataset schema:
-- srsql_report_box(report_id, position, low, high), srsql_report_term(report_id, attribute, term,
-- spelling, shown), srsql_report_drug(report_id, drug), srsql_attribute(position, name, kind, span,
-- parent, last, height), srsql_node(position, node, pre, last), srsql_knowledge(drug, disease),
-- srsql_run(unit).

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

CREATE OR REPLACE TEMP TABLE srsql_belief AS
SELECT
    c.case_no,
    t.term,
    min(t.spelling) AS spelling,
    any_value(r.unit) AS weight,
    true AS direct,
    bool_or(t.shown) AS shown
FROM temp.main.srsql_report_term AS t
INNER JOIN temp.main.srsql_case_report AS c ON t.report_id = c.report_id
CROSS JOIN temp.main.srsql_run AS r
GROUP BY c.case_no, t.term;

INSERT INTO temp.main.srsql_belief
WITH
-- Sensitive values of each case: its own, and with external knowledge those its drugs suggest.
case_drug AS MATERIALIZED (
    SELECT DISTINCT c.case_no, d.drug
    FROM temp.main.srsql_report_drug AS d
    INNER JOIN temp.main.srsql_case_report AS c ON d.report_id = c.report_id
)

SELECT i.case_no, i.disease, i.disease AS spelling, i.weight, false, false
FROM srsql.inferred_terms(
    'case_drug',
    'temp.main.srsql_knowledge',
    (SELECT r.unit FROM temp.main.srsql_run AS r)
) AS i
ANTI JOIN temp.main.srsql_belief AS b ON i.case_no = b.case_no AND i.disease = b.term;

CREATE OR REPLACE TEMP TABLE srsql_term AS
SELECT
    (row_number() OVER (ORDER BY b.term) - 1)::INTEGER AS term_no,
    b.term,
    min(b.spelling) AS spelling,
    count(*) FILTER (WHERE b.direct) AS cases
FROM temp.main.srsql_belief AS b
GROUP BY b.term;

CREATE OR REPLACE TEMP TABLE srsql_case_term AS
SELECT b.case_no, t.term_no, b.weight, b.direct, b.shown
FROM temp.main.srsql_belief AS b
INNER JOIN temp.main.srsql_term AS t ON b.term = t.term;

DROP TABLE temp.main.srsql_belief;

-- "observed" domains: what the quarter's own values span.
UPDATE temp.main.srsql_attribute
SET span = greatest(1, (
    SELECT coalesce(max(b.high) - min(b.low), 1)
    FROM temp.main.srsql_box AS b
    WHERE b.position = srsql_attribute.position
))
WHERE kind = 'numeric' AND span = 0;
