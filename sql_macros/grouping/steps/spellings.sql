-- Step: counts the cases of every spelling of the sensitive terms. A term of one spelling has its
--   own count; the others are counted anew, since a case may have several of a term. term_no
--   numbers spellings, key_no is that of their term.
-- Reads: term(term_no, term, spelling, cases), report_value(report_id, term, spelling, sensitive),
--   case_report(case_no, report_id)
-- Writes: spelling(term_no, key_no, term, cases)
-- Source: SPEC section 2 (thresholds of a key).

CREATE OR REPLACE TEMP TABLE srsql_spelling AS
WITH
several AS MATERIALIZED (
    SELECT v.term
    FROM temp.main.srsql_report_value AS v
    WHERE v.sensitive
    GROUP BY v.term
    HAVING min(v.spelling) <> max(v.spelling)
),

counted AS (
    SELECT v.term, v.spelling, count(DISTINCT c.case_no) AS cases
    FROM temp.main.srsql_report_value AS v
    INNER JOIN temp.main.srsql_case_report AS c ON v.report_id = c.report_id
    SEMI JOIN several AS s ON v.term = s.term
    WHERE v.sensitive
    GROUP BY v.term, v.spelling
),

every AS (
    SELECT t.term_no AS key_no, t.spelling AS term, t.cases
    FROM temp.main.srsql_term AS t
    ANTI JOIN several AS s ON t.term = s.term
    UNION ALL
    SELECT t.term_no AS key_no, c.spelling AS term, c.cases
    FROM counted AS c
    INNER JOIN temp.main.srsql_term AS t ON c.term = t.term
)

SELECT
    (row_number() OVER (ORDER BY e.key_no, e.term) - 1)::INTEGER AS term_no,
    e.key_no,
    e.term,
    e.cases
FROM every AS e;
