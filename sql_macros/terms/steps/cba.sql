-- Step: generalizes the terms to nodes by CBA, and makes what is published of them.
--   generalized_record(record_no, record) has the published number of each record, drawn; no table
--   that is published has, or is ordered by, what identifies a record. A term without a node is
--   suppressed.
-- Parameters: k, m, order_seed (of an experiment; NULL: the secure generator).
-- Reads: basket, basket_term, constraint
-- Writes: generalized_record, pub_term_nodes, pub_generalized_terms
-- Source: Loukides and Gkoulalas-Divanis 2013 (CBA), as Loukides 2014, section 6.3, compares with
--   it; SPEC section 13.

CREATE OR REPLACE TEMP TABLE srsql_pub_term_nodes AS
SELECT g.node_no AS node, t.term
FROM srsql.generalized_nodes(
    'temp.main.srsql_basket',
    'temp.main.srsql_constraint',
    $k::INTEGER,
    $m::INTEGER
) AS g
INNER JOIN temp.main.srsql_basket_term AS t ON g.term_no = t.term_no
WHERE g.node_no IS NOT NULL
ORDER BY g.node_no, t.term;

-- All records are one chunk: their order is as random as that of subrecords.
CREATE OR REPLACE TEMP TABLE srsql_generalized_record AS
WITH one_chunk AS MATERIALIZED (
    SELECT DISTINCT false AS shared, 1 AS owner, 1 AS chunk_no, b.record_no
    FROM temp.main.srsql_basket AS b
)

SELECT o.record_no, o.subrecord AS record
FROM srsql.subrecord_order('one_chunk', $order_seed::BIGINT) AS o;

CREATE OR REPLACE TEMP TABLE srsql_pub_generalized_terms AS
WITH held AS (
    SELECT DISTINCT b.record_no, n.node
    FROM temp.main.srsql_basket AS b
    INNER JOIN temp.main.srsql_basket_term AS t ON b.term_no = t.term_no
    INNER JOIN temp.main.srsql_pub_term_nodes AS n ON t.term = n.term
)

SELECT r.record, h.node
FROM temp.main.srsql_generalized_record AS r
LEFT JOIN held AS h ON r.record_no = h.record_no
ORDER BY r.record, h.node;
