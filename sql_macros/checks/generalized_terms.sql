-- What a release of generalized terms keeps, checked from its published tables (see
-- terms/generalization.sql). Nothing here is used to make a release. Every check returns the
-- uniform row.

-- What:    the tables have the shape that they are read by: a term in one node, a node with a term
--          and with a record, a record either with nodes or with one NULL, and no row twice.
-- Inputs:  generalized, nodes; release_id.
CREATE OR REPLACE MACRO srsql.check_node_structure(generalized, nodes, release_id) AS TABLE
WITH
named AS (
    SELECT DISTINCT t.node FROM query_table(nodes) AS t
),

used AS (
    SELECT DISTINCT g.node FROM query_table(generalized) AS g WHERE g.node IS NOT NULL
),

wrong_term AS (
    SELECT t.term FROM query_table(nodes) AS t GROUP BY t.term
    HAVING count(*) > 1 OR t.term IS NULL OR bool_or(t.node IS NULL)
),

wrong_record AS (
    SELECT g.record FROM query_table(generalized) AS g GROUP BY g.record
    HAVING
        g.record IS NULL
        OR count(*) > greatest(1, count(g.node))
        OR count(g.node) > count(DISTINCT g.node)
),

fault AS (
    SELECT 'term' AS scope, count(*) AS n FROM wrong_term
    UNION ALL
    SELECT 'node', count(*)
    FROM named AS a
    FULL JOIN used AS u ON a.node = u.node
    WHERE a.node IS NULL OR u.node IS NULL
    UNION ALL
    SELECT 'record', count(*) FROM wrong_record
),

total AS (
    SELECT 'term' AS scope, count(*) AS n FROM query_table(nodes)
    UNION ALL
    SELECT 'node', count(DISTINCT t.node) FROM query_table(nodes) AS t
    UNION ALL
    SELECT 'record', count(DISTINCT g.record) FROM query_table(generalized) AS g
)

SELECT unnest(srsql.check_row(release_id, 'check_node_structure', f.scope, f.n, t.n, 0))
FROM fault AS f
INNER JOIN total AS t ON f.scope = t.scope;

-- What:    every node lies in one utility constraint, or wholly outside of all.
-- Inputs:  nodes; constraints(name, term); release_id.
-- Source:  Loukides 2014, section 1.1: what a study counts together is not mixed with other terms.
CREATE OR REPLACE MACRO srsql.check_node_constraints(nodes, constraints, release_id) AS TABLE
WITH
judged AS (
    SELECT t.node, count(*) > 1 AND (count(DISTINCT c.name) > 1 OR bool_or(c.name IS NULL)) AS mixed
    FROM query_table(nodes) AS t
    LEFT JOIN query_table(constraints) AS c ON t.term = c.term
    GROUP BY t.node
)

SELECT
    unnest(srsql.check_row(release_id, 'check_node_constraints', 'node', f.violating, f.total, 0))
FROM (
    SELECT count(*) FILTER (WHERE j.mixed) AS violating, count(*) AS total
    FROM judged AS j
) AS f;

-- What:    every record has the nodes of its own released terms, no other, and none is missing.
-- Inputs:  generalized, nodes; originals(record, term), distinct; numbering(case_no, record): the
--          published number of each original record.
CREATE OR REPLACE MACRO srsql.check_generalized_records(
    generalized, nodes, originals, numbering, release_id
) AS TABLE
WITH
expected AS (
    SELECT b.record, list_sort(
        list(DISTINCT t.node) FILTER (WHERE t.node IS NOT NULL)
    ) AS nodes
    FROM query_table(originals) AS o
    LEFT JOIN query_table(numbering) AS b ON o.record = b.case_no
    LEFT JOIN query_table(nodes) AS t ON o.term = t.term
    GROUP BY b.record, o.record
),

shown AS (
    SELECT g.record, list_sort(list(g.node) FILTER (WHERE g.node IS NOT NULL)) AS nodes
    FROM query_table(generalized) AS g
    GROUP BY g.record
),

judged AS (
    SELECT
        e.record IS NULL
        OR s.record IS NULL
        OR coalesce(e.nodes, []) <> coalesce(s.nodes, []) AS wrong
    FROM expected AS e
    FULL JOIN shown AS s ON e.record = s.record
)

SELECT
    unnest(srsql.check_row(
        release_id, 'check_generalized_records', 'record', f.violating, f.total, 0
    ))
FROM (
    SELECT count(*) FILTER (WHERE j.wrong) AS violating, count(*) AS total
    FROM judged AS j
) AS f;
