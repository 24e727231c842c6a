-- Step of a release of generalized terms (CBA): which terms become which node, and what is
-- published. Reads srsql_basket(record_no, term_no), srsql_basket_term(term_no, term),
-- srsql_constraint(term_no, constraint_no), srsql_cba(k, m, order_seed): one row. Makes
-- srsql_generalized(term_no, node_no: NULL = suppressed), srsql_generalized_record(record_no,
-- record: its published number) and srsql_pub_* (to be published: without, and not ordered by, what
-- identifies a record).

CREATE OR REPLACE TEMP TABLE srsql_generalized AS
SELECT g.term_no, g.node_no
FROM srsql.generalized_nodes(
    'temp.main.srsql_basket',
    'temp.main.srsql_constraint',
    $k::INTEGER,
    $m::INTEGER
) AS g;

-- All records are one chunk: their order is as random as that of subrecords.
CREATE OR REPLACE TEMP TABLE srsql_ungeneralized AS
SELECT DISTINCT false AS shared, 1 AS owner, 1 AS chunk_no, b.record_no
FROM temp.main.srsql_basket AS b;

CREATE OR REPLACE TEMP TABLE srsql_generalized_record AS
SELECT o.record_no, o.subrecord AS record
FROM srsql.subrecord_order(
    'temp.main.srsql_ungeneralized', $order_seed::BIGINT
) AS o;

DROP TABLE temp.main.srsql_ungeneralized;

CREATE OR REPLACE TEMP TABLE srsql_pub_generalized_terms AS
WITH held AS (
    SELECT DISTINCT b.record_no, g.node_no
    FROM temp.main.srsql_basket AS b
    INNER JOIN temp.main.srsql_generalized AS g ON b.term_no = g.term_no
    WHERE g.node_no IS NOT NULL
)

SELECT r.record, h.node_no AS node
FROM temp.main.srsql_generalized_record AS r
LEFT JOIN held AS h ON r.record_no = h.record_no
ORDER BY r.record, h.node_no;

CREATE OR REPLACE TEMP TABLE srsql_pub_term_nodes AS
SELECT g.node_no AS node, t.term
FROM temp.main.srsql_generalized AS g
INNER JOIN temp.main.srsql_basket_term AS t ON g.term_no = t.term_no
WHERE g.node_no IS NOT NULL
ORDER BY g.node_no, t.term;
