-- Step: the count tables of a release by rules R2, R3, G1, G2 and G3, each count of $k units or
--   more.
-- Reads: pub_stratum(stratum, parent, node), counted_unit(unit, leaf), counted_kind(attribute,
--   other), held_item(unit, attribute, term, sensitive), item_theta(term, theta_num, theta_den)
-- Writes: counted_item(item_no, group_no, attribute, term, rest, theta_num, theta_den),
--   unit_item(unit, item_no), count_stratum(node, parent), told_count(item_no, other_no, node,
--   units), pub_case_count(stratum, cases), pub_item_count(stratum, attribute, term, cases),
--   pub_pair_count(stratum, attribute, term, other_attribute, other_term, cases)
-- Source: SPEC section 19; sql_macros/terms/count_tables.sql.

CREATE OR REPLACE TEMP TABLE srsql_counted_item AS
WITH
times AS (
    SELECT h.unit, h.attribute, count(*) AS terms
    FROM temp.main.srsql_held_item AS h
    GROUP BY h.unit, h.attribute
),

single AS (
    SELECT t.attribute FROM times AS t GROUP BY t.attribute HAVING max(t.terms) = 1
),

named AS (
    SELECT h.attribute, h.term, any_value(h.sensitive) AS sensitive
    FROM temp.main.srsql_held_item AS h
    GROUP BY h.attribute, h.term
    UNION ALL
    SELECT s.attribute, NULL AS term, false AS sensitive FROM single AS s
),

numbered AS (
    SELECT
        n.attribute,
        n.term,
        n.sensitive,
        (row_number() OVER (ORDER BY n.attribute, n.term NULLS LAST) - 1)::INTEGER AS item_no
    FROM named AS n
)

SELECT
    n.item_no,
    CASE
        WHEN n.attribute IN (SELECT s.attribute FROM single AS s)
            THEN min(n.item_no) OVER (PARTITION BY n.attribute)
        ELSE n.item_no
    END AS group_no,
    n.attribute,
    n.term,
    n.term IS NULL AS rest,
    coalesce(h.theta_num, if(n.sensitive AND n.term IS NOT NULL, 0, 1)) AS theta_num,
    coalesce(h.theta_den, 1) AS theta_den
FROM numbered AS n
LEFT JOIN temp.main.srsql_item_theta AS h ON n.sensitive AND n.term = h.term;

CREATE OR REPLACE TEMP TABLE srsql_unit_item AS
SELECT h.unit, i.item_no
FROM temp.main.srsql_held_item AS h
INNER JOIN temp.main.srsql_counted_item AS i ON h.attribute = i.attribute AND h.term = i.term;

CREATE OR REPLACE TEMP TABLE srsql_count_stratum AS
SELECT s.node, p.node AS parent
FROM temp.main.srsql_pub_stratum AS s
LEFT JOIN temp.main.srsql_pub_stratum AS p ON s.parent = p.stratum;

CREATE OR REPLACE TEMP TABLE srsql_told_count AS
SELECT c.item_no, c.other_no, c.node, c.units
FROM
    srsql.count_tables(
        'temp.main.srsql_count_stratum',
        'temp.main.srsql_counted_unit',
        'temp.main.srsql_unit_item',
        'temp.main.srsql_counted_item',
        'temp.main.srsql_counted_kind',
        $k
    ) AS c
WHERE c.units > 0;

CREATE OR REPLACE TEMP TABLE srsql_pub_case_count AS
SELECT s.stratum, c.units AS cases
FROM temp.main.srsql_told_count AS c
INNER JOIN temp.main.srsql_pub_stratum AS s ON c.node = s.node
WHERE c.item_no IS NULL;

CREATE OR REPLACE TEMP TABLE srsql_pub_item_count AS
SELECT s.stratum, i.attribute, i.term, c.units AS cases
FROM temp.main.srsql_told_count AS c
INNER JOIN temp.main.srsql_pub_stratum AS s ON c.node = s.node
INNER JOIN temp.main.srsql_counted_item AS i ON c.item_no = i.item_no
WHERE c.other_no IS NULL;

CREATE OR REPLACE TEMP TABLE srsql_pub_pair_count AS
SELECT
    s.stratum,
    i.attribute,
    i.term,
    o.attribute AS other_attribute,
    o.term AS other_term,
    c.units AS cases
FROM temp.main.srsql_told_count AS c
INNER JOIN temp.main.srsql_pub_stratum AS s ON c.node = s.node
INNER JOIN temp.main.srsql_counted_item AS i ON c.item_no = i.item_no
INNER JOIN temp.main.srsql_counted_item AS o ON c.other_no = o.item_no;
