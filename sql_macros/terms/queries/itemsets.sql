-- Frequent itemsets, level by level, over srsql_itemset_basket(record, term): the baskets without
-- their infrequent terms. srsql_itemset_holder(record, set_no, last): which records hold the sets
-- of the level, and the greatest term of each.

-- name: first_holders
-- The holders of the frequent terms, in the order of $terms.
CREATE OR REPLACE TEMP TABLE srsql_itemset_holder AS
WITH numbered AS (
    SELECT
        unnest($terms::VARCHAR[]) AS term,
        unnest(range(len($terms::VARCHAR[]))) AS set_no
)

SELECT b.record, n.set_no, b.term AS last
FROM temp.main.srsql_itemset_basket AS b
INNER JOIN numbered AS n ON b.term = n.term;

-- name: longer_sets
-- The frequent sets of one term more: set_no (of the set without it), term, records.
SELECT l.set_no, l.term, l.records
FROM srsql.frequent_longer(
    'temp.main.srsql_itemset_holder', 'temp.main.srsql_itemset_basket', $at_least
) AS l
ORDER BY l.set_no, l.term;

-- name: next_holders
-- The holders of these sets, which are numbered from $start.
CREATE OR REPLACE TEMP TABLE srsql_itemset_holder AS
WITH longer_set AS MATERIALIZED (
    SELECT
        unnest($before::BIGINT[]) AS before,
        unnest($terms::VARCHAR[]) AS term,
        unnest(range($start::BIGINT, $start::BIGINT + len($terms::VARCHAR[]))) AS set_no
)

SELECT h.record, h.set_no, h.last
FROM srsql.itemset_holders(
    'temp.main.srsql_itemset_holder', 'temp.main.srsql_itemset_basket', 'longer_set'
) AS h;
