-- Terms with several spellings, of the rows that srsql_held has (case_id, value: the key,
-- spelling).

-- name: spellings
-- Each spelling of such a term, with the cases that have it and those that have the term: the terms
-- of the most cases first, and of each its commonest spelling.
WITH
keys AS MATERIALIZED (
    SELECT h.value, count(DISTINCT h.case_id) AS cases
    FROM temp.main.srsql_held AS h
    GROUP BY h.value
    HAVING min(h.spelling) <> max(h.spelling)
),

spelled AS (
    SELECT h.value, h.spelling, count(DISTINCT h.case_id) AS cases
    FROM temp.main.srsql_held AS h
    SEMI JOIN keys AS k ON h.value = k.value
    GROUP BY h.value, h.spelling
)

SELECT s.value, s.spelling, s.cases, k.cases AS cases_of_key
FROM spelled AS s
INNER JOIN keys AS k ON s.value = k.value
ORDER BY k.cases DESC, s.value ASC, s.cases DESC, s.spelling ASC;
