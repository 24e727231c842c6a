-- Step: counts the cases of every spelling of the sensitive terms. A term of one spelling has its
--   own count; the others are counted anew, since a case may have several of a term. term_no
--   numbers spellings, of_term is the number of their term.
-- Reads: term(term_no, key_no, term, spelling, cases), word(word_no, key_no, spelling,
--   has_several), report_value(report_id, word_no, sensitive), case_report(case_no, report_id)
-- Writes: spelling(term_no, of_term, term, cases)
-- Source: SPEC section 2 (thresholds of a key).

CREATE OR REPLACE TEMP TABLE srsql_spelling AS
WITH
counted AS (
    SELECT w.key_no, w.spelling, count(DISTINCT c.case_no) AS cases
    FROM temp.main.srsql_report_value AS v
    INNER JOIN temp.main.srsql_word AS w ON v.word_no = w.word_no AND w.has_several
    INNER JOIN temp.main.srsql_case_report AS c ON v.report_id = c.report_id
    WHERE v.sensitive
    GROUP BY w.key_no, w.spelling
),

every AS (
    SELECT t.term_no AS of_term, t.spelling AS term, t.cases
    FROM temp.main.srsql_term AS t
    ANTI JOIN temp.main.srsql_word AS w ON t.key_no = w.key_no AND w.has_several
    UNION ALL
    SELECT t.term_no AS of_term, c.spelling AS term, c.cases
    FROM counted AS c
    INNER JOIN temp.main.srsql_term AS t ON c.key_no = t.key_no
)

SELECT
    (row_number() OVER (ORDER BY e.of_term, e.term) - 1)::INTEGER AS term_no,
    e.of_term,
    e.term,
    e.cases
FROM every AS e;
