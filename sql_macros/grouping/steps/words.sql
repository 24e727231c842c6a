-- Step: numbers the texts of a release ($release_id), so that what follows compares numbers. Those
--   of one key stand together, in the order of their spellings: numbers compare as the texts do. A
--   disease that external knowledge tells of has no attribute.
-- Reads: text(attribute, text, term, spelling, sensitive)
-- Writes: word(word_no, key_no, attribute, text, term, spelling, has_several), text
-- Source: SPEC section 2 (term: key).

CREATE OR REPLACE TEMP TABLE srsql_word AS
WITH
told AS (
    SELECT DISTINCT t.attribute, t.text, t.term, t.spelling, t.sensitive
    FROM temp.main.srsql_text AS t
    UNION ALL
    SELECT DISTINCT NULL, NULL, e.disease, e.disease AS spelling, false
    FROM srsql.known_diseases($release_id::INTEGER) AS e
),

spelled AS (
    SELECT t.term, min(t.spelling) <> max(t.spelling) AS has_several
    FROM told AS t
    WHERE t.sensitive
    GROUP BY t.term
)

SELECT
    (row_number() OVER (ORDER BY t.term, t.spelling, t.attribute, t.text) - 1)::INTEGER AS word_no,
    (dense_rank() OVER (ORDER BY t.term) - 1)::INTEGER AS key_no,
    t.attribute,
    t.text,
    t.term,
    t.spelling,
    coalesce(s.has_several, false) AS has_several
FROM told AS t
LEFT JOIN spelled AS s ON t.term = s.term;

DROP TABLE temp.main.srsql_text;
