-- Step of a release of l-diversity: sensitive values told apart by attribute (the same term as a
-- reaction and as an indication is two values). Reads srsql_report_term(report_id, attribute,
-- term), srsql_case_report(case_no, report_id), srsql_sensitive(attribute_no, attribute).
-- Source: Gal et al. 2008, as Lin 2016 takes it.

CREATE OR REPLACE TEMP TABLE srsql_value_kind AS
SELECT
    (row_number() OVER (ORDER BY v.attribute_no, v.term) - 1)::INTEGER AS value_no,
    v.attribute_no::INTEGER AS attribute_no,
    v.term
FROM (
    SELECT DISTINCT s.attribute_no, t.term
    FROM temp.main.srsql_report_term AS t
    INNER JOIN temp.main.srsql_sensitive AS s ON t.attribute = s.attribute
) AS v;

CREATE OR REPLACE TEMP TABLE srsql_value AS
SELECT DISTINCT c.case_no, k.value_no
FROM temp.main.srsql_report_term AS t
INNER JOIN temp.main.srsql_sensitive AS s ON t.attribute = s.attribute
INNER JOIN temp.main.srsql_value_kind AS k ON s.attribute_no = k.attribute_no AND t.term = k.term
INNER JOIN temp.main.srsql_case_report AS c ON t.report_id = c.report_id;
