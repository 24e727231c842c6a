-- What is asked of a release whose whole rows are taken apart, to find who could be a target.

-- name: released
-- Its dataset, series, quarter, k, and whether its tables are there.
SELECT
    r.dataset,
    r.series,
    r.quarter,
    r.k,
    r.status <> 'superseded' AS is_out
FROM srsql.release AS r
WHERE r.release_id = $release_id;

-- name: placed
-- The cluster of every released case, by the pseudonym that its row has in released_row(case_id,
-- cluster).
SELECT m.case_no, d.cluster
FROM released_row AS d
INNER JOIN srsql.id_pseudonym AS p ON d.case_id = p.pseudonym
INNER JOIN srsql.member AS m ON p.id = m.case_id
WHERE
    m.release_id = $release_id
    AND p.dataset = $dataset
    AND p.series = $series
    AND p.kind = 'case'
    AND (p.quarter IS NULL OR p.quarter = $quarter);

-- name: drawn
-- The cases that are looked at: as many as $cases, drawn with $seed.
WITH placed AS (
    SELECT coalesce(list(p.case_no::INTEGER ORDER BY p.case_no), []) AS case_nos
    FROM temp.main.srsql_placed_case AS p
)

SELECT unnest(srsql_drawn_cases(d.case_nos, $cases::INTEGER, $seed::BIGINT)) AS case_no
FROM placed AS d;

-- name: own_covering
-- Of the cases in a list ($cases), those of their own cluster that cover them: case_no, cluster,
-- cases, alike.
WITH
target AS (
    SELECT unnest($cases::INTEGER[]) AS case_no
),

asked AS MATERIALIZED (
    SELECT p.case_no, p.cluster
    FROM temp.main.srsql_placed_case AS p
    SEMI JOIN target AS t ON p.case_no = t.case_no
)

SELECT c.case_no, c.cluster, c.cases, c.alike
FROM srsql.covering_cases($release_id, 'temp.main.srsql_placed_case', 'asked') AS c
ORDER BY c.case_no;

-- name: all_covering
-- The same of every cluster in which some case covers them.
WITH
target AS (
    SELECT unnest($cases::INTEGER[]) AS case_no
),

known_cluster AS (
    SELECT DISTINCT p.cluster FROM temp.main.srsql_placed_case AS p
),

asked AS MATERIALIZED (
    SELECT t.case_no, k.cluster FROM target AS t CROSS JOIN known_cluster AS k
)

SELECT c.case_no, c.cluster, c.cases, c.alike
FROM srsql.covering_cases($release_id, 'temp.main.srsql_placed_case', 'asked') AS c
WHERE c.cases > 0
ORDER BY c.case_no, c.cluster;
