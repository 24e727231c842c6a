-- The names of values on levels of dictionaries, in temp.main.srsql_level_name.

-- name: make
CREATE OR REPLACE TEMP TABLE srsql_level_name (
    attribute VARCHAR, value VARCHAR, term VARCHAR, name VARCHAR, listed BOOLEAN
);

-- name: names
-- Those of the distinct values of a column ($attribute), which level_term has; level_entry has the
-- dictionary.
SELECT
    $attribute::VARCHAR AS attribute,
    n.value,
    t.term,
    n.name,
    n.listed
FROM srsql.names_on_level('level_term', 'level_entry') AS n
INNER JOIN level_term AS t ON n.value = t.value;

-- name: several
-- A value of a column with more than one name.
SELECT n.value
FROM temp.main.srsql_level_name AS n
WHERE n.attribute = $attribute
GROUP BY n.value
HAVING count(*) > 1
ORDER BY n.value
LIMIT 1;

-- name: lacking
-- How many values of a column the dictionary lacks, and how many there are, each in its normal
-- form: rows can have several spellings of one.
SELECT
    count(DISTINCT n.term) FILTER (WHERE NOT n.listed) AS lacking,
    count(DISTINCT n.term) AS found
FROM temp.main.srsql_level_name AS n
WHERE n.attribute = $attribute;

-- name: coverage
-- The values of a column by their cases (srsql_held: case_id, value), the most first, and their
-- names.
WITH counted AS MATERIALIZED (
    SELECT
        h.value,
        count(DISTINCT h.case_id) AS cases
    FROM temp.main.srsql_held AS h
    GROUP BY h.value
),

named AS MATERIALIZED (
    SELECT
        n.value,
        list_sort(list(n.name) FILTER (WHERE n.listed)) AS names
    FROM temp.main.srsql_level_name AS n
    WHERE n.attribute = $attribute
    GROUP BY n.value
)

SELECT
    c.value,
    c.cases,
    coalesce(n.names, []::VARCHAR[]) AS names
FROM counted AS c
INNER JOIN named AS n ON c.value = n.value
ORDER BY c.cases DESC, c.value ASC;

-- name: covered
-- How many cases have a value, and how many of them none that the dictionary lacks.
WITH told AS MATERIALIZED (
    SELECT
        h.case_id,
        bool_and(n.listed) AS covered
    FROM temp.main.srsql_held AS h
    INNER JOIN temp.main.srsql_level_name AS n
        ON h.value = n.value AND n.attribute = $attribute
    GROUP BY h.case_id
)

SELECT
    count(*) AS holders,
    count(*) FILTER (WHERE t.covered) AS covered
FROM told AS t;
