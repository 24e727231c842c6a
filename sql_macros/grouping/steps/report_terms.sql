-- Step: counts the cases that hold each term where a record is a report: thresholds follow their
--   number, as for the models whose danger a comparator is compared with.
-- Reads: case_report(report_id, case_id), report_value(report_id, key_no, sensitive)
-- Writes: term
-- Source: Lin 2016, "Multiple Individual Records" and "frequency-based strategy".

UPDATE temp.main.srsql_term AS t
SET cases = n.cases
FROM (
    SELECT v.key_no, count(DISTINCT c.case_id) AS cases
    FROM temp.main.srsql_report_value AS v
    INNER JOIN temp.main.srsql_case_report AS c ON v.report_id = c.report_id
    WHERE v.sensitive
    GROUP BY v.key_no
) AS n
WHERE t.key_no = n.key_no;
