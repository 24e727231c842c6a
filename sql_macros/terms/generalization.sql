-- CBA, the Clustering-Based Anonymizer (Loukides and Gkoulalas-Divanis 2013), the comparator of
-- Loukides 2014: terms generalized to sets of terms ("nodes"), or suppressed. Parameters that name
-- tables take their names. Published are
--   generalized(record, node): the nodes of each record; node is NULL for a record without any;
--   nodes(node, term): a node stands for any non-empty subset of its terms.

-- What:    which terms are united, and which are suppressed: the kernel as a table macro.
-- Inputs:  basket(record_no, term_no), distinct; constraints(term_no, constraint_no): the utility
--          policy, disjoint; at_least: k; together: m.
-- Outputs: term_no, node_no from 1 on, in the order of each node's least term; NULL: suppressed.
-- Source:  Loukides 2014, section 1.1 and Fig. 3; udfs/terms/generalizing.py.
CREATE OR REPLACE MACRO srsql.generalized_nodes(basket, constraints, at_least, together) AS TABLE
WITH
held AS (
    SELECT
        coalesce(
            list(struct_pack(record_no := b.record_no, term_no := b.term_no)), []
        ) AS held
    FROM query_table(basket) AS b
),

policy AS (
    SELECT c.term_no, min(c.constraint_no) AS constraint_no
    FROM query_table(constraints) AS c
    GROUP BY c.term_no
),

known AS (
    SELECT DISTINCT b.term_no FROM query_table(basket) AS b
),

listed AS (
    SELECT
        coalesce(list(k.term_no ORDER BY k.term_no), []) AS term_nos,
        coalesce(
            list(coalesce(p.constraint_no, -1)::INTEGER ORDER BY k.term_no), []
        ) AS constraints
    FROM known AS k
    LEFT JOIN policy AS p ON k.term_no = p.term_no
)

SELECT
    unnest(t.term_nos) AS term_no,
    unnest(
        srsql_generalized(
            h.held, t.term_nos, t.constraints, at_least::INTEGER, together::INTEGER
        )
    ) AS node_no
FROM listed AS t
CROSS JOIN held AS h
WHERE len(t.term_nos) > 0;

-- What:    how many records hold a set of terms, told from the published tables alone.
-- Inputs:  generalized, nodes; sets(set_no, term): each of one term or more.
-- Outputs: set_no, lower, expected, upper. lower and upper hold for every dataset that fits;
--          expected is the mean where each non-empty subset of a node's terms is as likely as any
--          other, apart in each record and node. Of a term that is not released nothing is
--          told: it makes lower and expected 0, and does not make upper less.
-- Source:  Loukides 2014, section 1.1 ("any non-empty subset"); own.
-- How:     in a record that has all nodes of the set, j of a node's s terms are held together in
--          2^(s-j) of its 2^s - 1 subsets. A node of one term is exact. Every term of a node occurs
--          somewhere, so a single term is held once at least.
CREATE OR REPLACE MACRO srsql.node_counts(generalized, nodes, sets) AS TABLE
WITH
asked AS (
    SELECT DISTINCT s.set_no, s.term FROM query_table(sets) AS s
),

size AS (
    SELECT n.node, count(*) AS terms FROM query_table(nodes) AS n GROUP BY n.node
),

part AS (
    SELECT a.set_no, n.node, z.terms, count(*) AS asked
    FROM asked AS a
    INNER JOIN query_table(nodes) AS n ON a.term = n.term
    INNER JOIN size AS z ON n.node = z.node
    GROUP BY a.set_no, n.node, z.terms
),

placed AS (
    SELECT
        p.set_no,
        list(p.node ORDER BY p.node) AS nodes,
        sum(p.asked) AS terms,
        bool_and(p.terms = 1) AS exact,
        list_aggregate(
            list_sort(list(pow(2.0, -p.asked) / (1 - pow(2.0, -p.terms)))), 'product'
        ) AS share
    FROM part AS p
    GROUP BY p.set_no
),

-- many sets of terms are few sets of nodes
distinct_nodes AS (
    SELECT DISTINCT p.nodes FROM placed AS p
),

support AS (
    SELECT g.node, count(*) AS records FROM query_table(generalized) AS g GROUP BY g.node
),

wanted AS (
    SELECT w.nodes, w.node, s.records
    FROM (SELECT d.nodes, unnest(d.nodes) AS node FROM distinct_nodes AS d) AS w
    INNER JOIN support AS s ON w.node = s.node
),

rarest AS (
    SELECT w.nodes, min((w.records, w.node))[2] AS node, min(w.records) AS records
    FROM wanted AS w
    GROUP BY w.nodes
),

several AS (
    SELECT f.nodes, count(*) AS records
    FROM (
        SELECT r.nodes, g.record
        FROM rarest AS r
        INNER JOIN query_table(generalized) AS g ON r.node = g.node
        INNER JOIN wanted AS w ON r.nodes = w.nodes AND r.node <> w.node
        INNER JOIN query_table(generalized) AS h ON g.record = h.record AND w.node = h.node
        WHERE len(r.nodes) > 1
        GROUP BY r.nodes, g.record
        HAVING count(*) = len(r.nodes) - 1
    ) AS f
    GROUP BY f.nodes
),

held AS (
    SELECT
        r.nodes,
        CASE WHEN len(r.nodes) = 1 THEN r.records ELSE coalesce(s.records, 0) END AS records
    FROM rarest AS r
    LEFT JOIN several AS s ON r.nodes = s.nodes
),

everybody AS (
    SELECT count(DISTINCT g.record) AS records FROM query_table(generalized) AS g
),

judged AS (
    SELECT
        a.set_no,
        h.records,
        coalesce(p.terms, 0) = count(*) AS told,
        count(*) = 1 AS single,
        p.exact,
        p.share
    FROM asked AS a
    LEFT JOIN placed AS p ON a.set_no = p.set_no
    LEFT JOIN held AS h ON p.nodes = h.nodes
    GROUP BY a.set_no, h.records, p.terms, p.exact, p.share
)

SELECT
    j.set_no,
    CASE WHEN j.told AND j.exact THEN j.records ELSE (j.told AND j.single)::BIGINT END AS lower,
    CASE
        WHEN j.told AND j.exact THEN j.records
        WHEN j.told AND j.single THEN greatest(1, j.records * j.share)
        WHEN j.told THEN j.records * j.share
        ELSE 0
    END::DOUBLE AS expected,
    coalesce(j.records, e.records) AS upper
FROM judged AS j
CROSS JOIN everybody AS e;

-- What:    how many records hold one term of each set or more: the mean, as in node_counts.
-- Outputs: set_no, expected. Terms that are not released match nothing.
-- How:     of the 2^s - 1 subsets of a node, 2^(s-j) - 1 hold none of j terms.
CREATE OR REPLACE MACRO srsql.node_matches(generalized, nodes, sets) AS TABLE
WITH
asked AS (
    SELECT DISTINCT s.set_no, s.term FROM query_table(sets) AS s
),

size AS (
    SELECT n.node, count(*) AS terms FROM query_table(nodes) AS n GROUP BY n.node
),

lacking AS (
    SELECT
        p.set_no,
        p.node,
        CASE
            WHEN p.asked = p.terms THEN 0
            ELSE (pow(2.0, -p.asked) - pow(2.0, -p.terms)) / (1 - pow(2.0, -p.terms))
        END AS share
    FROM (
        SELECT a.set_no, n.node, z.terms, count(*) AS asked
        FROM asked AS a
        INNER JOIN query_table(nodes) AS n ON a.term = n.term
        INNER JOIN size AS z ON n.node = z.node
        GROUP BY a.set_no, n.node, z.terms
    ) AS p
),

matched AS (
    SELECT
        w.set_no,
        1 - list_aggregate(list_sort(list(w.share)), 'product') AS share
    FROM lacking AS w
    INNER JOIN query_table(generalized) AS g ON w.node = g.node
    GROUP BY w.set_no, g.record
)

SELECT q.set_no, coalesce(fsum(m.share), 0)::DOUBLE AS expected
FROM (SELECT DISTINCT a.set_no FROM asked AS a) AS q
LEFT JOIN matched AS m ON q.set_no = m.set_no
GROUP BY q.set_no;
