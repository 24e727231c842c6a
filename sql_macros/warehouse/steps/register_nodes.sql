-- Step: stores the nodes of one hierarchy ($dataset, $attribute), given by equally long lists in
--   preorder ($node, $parent as a preorder number or -1, $last, $depth, $height, $leaf_count, $low,
--   $high), and its closure with depth, height and leaf count of every ancestor.
-- Reads: nothing
-- Writes: srsql.node, srsql.hierarchy
-- Source: SPEC section 4 (closure table; h(node), the longest path down to a leaf).

INSERT INTO srsql.node
SELECT
    $dataset AS dataset,
    $attribute AS attribute,
    listed.node,
    CASE
        WHEN listed.parent >= 0 THEN list_extract($node::VARCHAR[], listed.parent + 1)
    END AS parent,
    listed.pre,
    listed.last,
    listed.depth,
    listed.height,
    listed.leaf_count,
    cast(listed.low AS DECIMAL(18, 6)) AS low,
    cast(listed.high AS DECIMAL(18, 6)) AS high
FROM (
    SELECT
        unnest(range(len($node::VARCHAR[]))) AS pre,
        unnest($node::VARCHAR[]) AS node,
        unnest($parent::BIGINT[]) AS parent,
        unnest($last::BIGINT[]) AS last,
        unnest($depth::INTEGER[]) AS depth,
        unnest($height::INTEGER[]) AS height,
        unnest($leaf_count::INTEGER[]) AS leaf_count,
        unnest($low::VARCHAR[]) AS low,
        unnest($high::VARCHAR[]) AS high
) AS listed;

INSERT INTO srsql.hierarchy
SELECT
    node.dataset,
    node.attribute,
    node.node,
    above.node AS ancestor,
    above.depth,
    above.height,
    above.leaf_count
FROM srsql.node AS node
INNER JOIN srsql.node AS above
    ON
        node.dataset = above.dataset
        AND node.attribute = above.attribute
        AND above.pre <= node.pre
        AND node.last <= above.last
WHERE node.dataset = $dataset AND node.attribute = $attribute;
