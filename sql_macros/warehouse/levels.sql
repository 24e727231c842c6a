-- Values of drugs and terms on a level of a dictionary, such as ingredients for names of drugs.

-- What:    what the spellings of a term have in common: codes of dictionaries such as /00002701/
--          are left out, and blanks, hyphens, stops, brackets and the like become one blank.
-- Inputs:  term: normalized.
-- Outputs: never empty where the term is not.
CREATE OR REPLACE MACRO srsql.term_spelling(term) AS
coalesce(
    nullif(
        trim(
            regexp_replace(
                regexp_replace(term, '/[0-9]{5,}/', ' ', 'g'),
                '[\s\x{a0}\-‐‑‒–—.,;:''’"/\\()\[\]{}*_]+', ' ', 'g'
            )
        ),
        ''
    ),
    term
);

-- What:    the names of values on a level; a value that the dictionary lacks is called as it is,
--          and one that has several names has a row for each.
-- Inputs:  terms(value, term): distinct values and their normalized terms; entries(term, name):
--          of the dictionary, normalized.
-- Outputs: value, name, listed (whether the dictionary has it).
CREATE OR REPLACE MACRO srsql.names_on_level(terms, entries) AS TABLE
WITH
entry AS (
    SELECT DISTINCT srsql.term_spelling(e.term) AS spelling, e.name
    FROM query_table(entries) AS e
    WHERE e.term IS NOT NULL AND e.name IS NOT NULL
),

spelled AS (
    SELECT t.value, t.term, srsql.term_spelling(t.term) AS spelling
    FROM query_table(terms) AS t
    WHERE t.term IS NOT NULL
)

SELECT
    s.value,
    coalesce(e.name, s.term) AS name,
    e.name IS NOT NULL AS listed
FROM spelled AS s
LEFT JOIN entry AS e ON s.spelling = e.spelling;
