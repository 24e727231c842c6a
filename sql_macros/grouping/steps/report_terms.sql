-- Step of a release of a comparator that takes reports for cases: thresholds follow the number of
-- cases that hold a value, as for the models whose danger it is compared with. Reads
-- srsql_report(report_id, case_id), srsql_report_term(report_id, term, ...); changes srsql_term.

UPDATE temp.main.srsql_term AS t
SET cases = n.cases
FROM (
    SELECT h.term, count(DISTINCT r.case_id) AS cases
    FROM temp.main.srsql_report_term AS h
    INNER JOIN temp.main.srsql_report AS r ON h.report_id = r.report_id
    GROUP BY h.term
) AS n
WHERE t.term = n.term;
