-- Step: stores the nodes of one hierarchy ($dataset, $attribute) and its closure with depth, height
--   and leaf count of every ancestor: parent by parent, so that it costs as much as it has rows.
-- Reads: given_node(pre, node, parent, last, depth, height, leaf_count, low, high)
-- Writes: srsql.node, srsql.hierarchy
-- Source: SPEC section 4 (closure table; h(node), the longest path down to a leaf).

INSERT INTO srsql.node
SELECT
    $dataset AS dataset,
    $attribute AS attribute,
    listed.node,
    listed.parent,
    listed.pre,
    listed.last,
    listed.depth,
    listed.height,
    listed.leaf_count,
    cast(listed.low AS DECIMAL(18, 6)) AS low,
    cast(listed.high AS DECIMAL(18, 6)) AS high
FROM temp.main.srsql_given_node AS listed;

INSERT INTO srsql.hierarchy
WITH RECURSIVE own AS (
    SELECT n.* FROM srsql.node AS n WHERE n.dataset = $dataset AND n.attribute = $attribute
),

closure (node, ancestor, above) AS (
    SELECT own.node, own.node AS ancestor, own.parent AS above FROM own
    UNION ALL
    SELECT closure.node, own.node AS ancestor, own.parent AS above
    FROM closure
    INNER JOIN own ON closure.above = own.node
)

SELECT
    $dataset AS dataset,
    $attribute AS attribute,
    closure.node,
    closure.ancestor,
    own.depth,
    own.height,
    own.leaf_count
FROM closure
INNER JOIN own ON closure.ancestor = own.node;
