-- Step: finds the nearest published records of each original QID of a release: those that one who
--   knows the QID cannot tell from the case's own.
-- Parameters: $release_id.
-- Reads: srsql.attribute
-- Writes: link_box(original, case_no, position, low, high), link_tuple(case_no, own_no,
--   published_no), link_own_value(tuple_no, position, low, high), link_pair(own_no, published_no)
-- Source: Wu 2022, section V.A (G, "minimum difference from r"); SPEC section 10.

-- The QIDs of the cases: the originals (original), and as they are published.
CREATE OR REPLACE TEMP TABLE srsql_link_box AS
SELECT true AS original, o.case_no, o.position, o.low, o.high
FROM srsql.original_qid($release_id::INTEGER) AS o
UNION ALL
SELECT false AS original, p.case_no, p.position, p.low, p.high
FROM srsql.released_qid($release_id::INTEGER) AS p;

-- The distinct QID that each case has, and that which is published of it, by number.
CREATE OR REPLACE TEMP TABLE srsql_link_tuple AS
WITH
own_box AS MATERIALIZED (
    SELECT b.case_no, b.position, b.low, b.high FROM temp.main.srsql_link_box AS b WHERE b.original
),

published_box AS MATERIALIZED (
    SELECT b.case_no, b.position, b.low, b.high
    FROM temp.main.srsql_link_box AS b
    WHERE NOT b.original
)

SELECT p.case_no, o.tuple_no AS own_no, p.tuple_no AS published_no
FROM srsql.qid_tuples('published_box') AS p
LEFT JOIN srsql.qid_tuples('own_box') AS o ON p.case_no = o.case_no;

CREATE OR REPLACE TEMP TABLE srsql_link_own_value AS
WITH
own_box AS MATERIALIZED (
    SELECT b.case_no, b.position, b.low, b.high FROM temp.main.srsql_link_box AS b WHERE b.original
),

own AS MATERIALIZED (
    SELECT t.case_no, t.own_no AS tuple_no
    FROM temp.main.srsql_link_tuple AS t
    WHERE t.own_no IS NOT NULL
)

SELECT v.tuple_no, v.position, v.low, v.high
FROM srsql.tuple_values('own_box', 'own') AS v;

CREATE OR REPLACE TEMP TABLE srsql_link_pair AS
WITH
own AS MATERIALIZED (
    SELECT DISTINCT t.own_no AS tuple_no
    FROM temp.main.srsql_link_tuple AS t
    WHERE t.own_no IS NOT NULL
),

published AS MATERIALIZED (
    SELECT t.case_no, t.published_no AS tuple_no FROM temp.main.srsql_link_tuple AS t
),

published_box AS MATERIALIZED (
    SELECT b.case_no, b.position, b.low, b.high
    FROM temp.main.srsql_link_box AS b
    WHERE NOT b.original
),

published_value AS MATERIALIZED (
    SELECT v.tuple_no, v.position, v.low, v.high
    FROM srsql.tuple_values('published_box', 'published') AS v
),

link_attribute AS MATERIALIZED (
    SELECT a.position, CASE WHEN a.kind = 'numeric' THEN a.span ELSE 0 END AS span
    FROM srsql.attribute AS a
    WHERE a.release_id = $release_id::INTEGER
),

link_distance AS MATERIALIZED (
    SELECT d.position, d.own, d.published, d.apart, d.united
    FROM srsql.node_distance($release_id::INTEGER) AS d
)

SELECT n.own_no, n.published_no
FROM srsql.nearest(
    'own',
    'temp.main.srsql_link_own_value',
    'published',
    'published_value',
    'link_attribute',
    'link_distance'
) AS n;
