-- Step: what may be suppressed of the cases of a release: values that its rows would show, of which
--   no other release of the series that is or was out has told of the case. $weight_scale: what a
--   certain value weighs.
-- Reads: case(case_no, case_id), case_report(case_no, report_id), report_value(report_id,
--   attribute, key_no, shown, sensitive), term(term_no, key_no, term), case_term(case_no, term_no,
--   weight, direct, shown), suggested(case_no, term_no, weight), appearance(case_no, release_id),
--   srsql.member, srsql.case_term, srsql.threshold
-- Writes: losable(case_no, term_no, freed), slot(case_no, term_no, slot_no)
-- Source: Lin 2016, "Conclusions" (suppression).

CREATE OR REPLACE TEMP TABLE srsql_losable AS
WITH told AS (
    SELECT DISTINCT a.case_no, h.term
    FROM temp.main.srsql_appearance AS a
    INNER JOIN temp.main.srsql_case AS c ON a.case_no = c.case_no
    INNER JOIN srsql.member AS m
        ON a.release_id = m.release_id AND c.case_id::VARCHAR = m.case_id
    INNER JOIN srsql.case_term AS b
        ON m.release_id = b.release_id AND m.case_no = b.case_no AND b.direct
    INNER JOIN srsql.threshold AS h ON b.release_id = h.release_id AND b.term_no = h.term_no
)

SELECT b.case_no, b.term_no, $weight_scale::BIGINT - coalesce(e.weight, 0) AS freed
FROM temp.main.srsql_case_term AS b
INNER JOIN temp.main.srsql_term AS t ON b.term_no = t.term_no
ANTI JOIN told AS o ON b.case_no = o.case_no AND t.term = o.term
LEFT JOIN temp.main.srsql_suggested AS e ON b.case_no = e.case_no AND b.term_no = e.term_no
WHERE b.direct AND b.shown AND coalesce(e.weight, 0) < $weight_scale::BIGINT;

-- An attribute of a report is a slot; what is suppressed already stands in none.
CREATE OR REPLACE TEMP TABLE srsql_slot AS
WITH listed AS (
    SELECT DISTINCT c.case_no, v.report_id, v.attribute, t.term_no
    FROM temp.main.srsql_report_value AS v
    INNER JOIN temp.main.srsql_case_report AS c ON v.report_id = c.report_id
    INNER JOIN temp.main.srsql_term AS t ON v.key_no = t.key_no
    WHERE v.sensitive AND v.shown
)

SELECT
    l.case_no,
    l.term_no,
    dense_rank() OVER (ORDER BY l.case_no, l.report_id, l.attribute)::INTEGER AS slot_no
FROM listed AS l;
