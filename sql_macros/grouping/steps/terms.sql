-- Step: numbers the sensitive values of all records, and says what "observed" domains span.
-- Reads: case_text(case_no, term, spelling, weight, direct, shown), box(case_no, position, low,
--   high)
-- Writes: term(term_no, term, spelling, cases), case_term(case_no, term_no, weight, direct, shown),
--   case_text, attribute
-- Source: Lin 2016, Definition 1; SPEC section 2.

CREATE OR REPLACE TEMP TABLE srsql_term AS
SELECT
    (row_number() OVER (ORDER BY b.term) - 1)::INTEGER AS term_no,
    b.term,
    min(b.spelling) AS spelling,
    count(*) FILTER (WHERE b.direct) AS cases
FROM temp.main.srsql_case_text AS b
GROUP BY b.term;

CREATE OR REPLACE TEMP TABLE srsql_case_term AS
SELECT b.case_no, t.term_no, b.weight, b.direct, b.shown
FROM temp.main.srsql_case_text AS b
INNER JOIN temp.main.srsql_term AS t ON b.term = t.term;

DROP TABLE temp.main.srsql_case_text;

-- "observed" domains: what the quarter's own values span.
UPDATE temp.main.srsql_attribute
SET span = greatest(1, (
    SELECT coalesce(max(b.high) - min(b.low), 1)
    FROM temp.main.srsql_box AS b
    WHERE b.position = srsql_attribute.position
))
WHERE kind = 'numeric' AND span = 0;
