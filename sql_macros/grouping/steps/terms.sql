-- Step: numbers the sensitive values of all records, and says what "observed" domains span.
-- Reads: case_word(case_no, key_no, word_no, weight, direct, shown), word(word_no, term, spelling),
--   box(case_no, position, low, high)
-- Writes: term(term_no, key_no, term, spelling, cases), case_term(case_no, term_no, weight, direct,
--   shown), case_word, attribute
-- Source: Lin 2016, Definition 1; SPEC section 2.

CREATE OR REPLACE TEMP TABLE srsql_term AS
WITH held AS (
    SELECT
        b.key_no,
        min(b.word_no) AS word_no,
        count(*) FILTER (WHERE b.direct) AS cases
    FROM temp.main.srsql_case_word AS b
    GROUP BY b.key_no
)

SELECT
    (row_number() OVER (ORDER BY h.key_no) - 1)::INTEGER AS term_no,
    h.key_no,
    w.term,
    w.spelling,
    h.cases
FROM held AS h
INNER JOIN temp.main.srsql_word AS w ON h.word_no = w.word_no;

CREATE OR REPLACE TEMP TABLE srsql_case_term AS
SELECT b.case_no, t.term_no, b.weight, b.direct, b.shown
FROM temp.main.srsql_case_word AS b
INNER JOIN temp.main.srsql_term AS t ON b.key_no = t.key_no;

DROP TABLE temp.main.srsql_case_word;

-- "observed" domains: what the quarter's own values span.
UPDATE temp.main.srsql_attribute
SET span = greatest(1, (
    SELECT coalesce(max(b.high) - min(b.low), 1)
    FROM temp.main.srsql_box AS b
    WHERE b.position = srsql_attribute.position
))
WHERE kind = 'numeric' AND span = 0;
