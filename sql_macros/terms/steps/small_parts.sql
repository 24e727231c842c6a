-- Step: adds the small groups where clusters lie inside QID-groups. A group in which too few cases
--   have a term for a cluster of their own is one cluster as a whole, its cases without a term
--   included, and all its terms are in the item chunk, so that any of its cases may hold any of
--   them.
-- Reads: basket_case, case_item, basket_term, grouped, pub_clusters
-- Writes: basket, part, cluster, chunk_term, pub_clusters, pub_item_chunk
-- Source: SPEC section 11 (clusters within QID-groups).

INSERT INTO temp.main.srsql_basket
SELECT DISTINCT c.record_no, t.term_no
FROM temp.main.srsql_case_item AS i
INNER JOIN temp.main.srsql_basket_case AS c ON i.case_no = c.case_no
INNER JOIN temp.main.srsql_basket_term AS t ON i.item = t.term
WHERE c.small;

INSERT INTO temp.main.srsql_part
SELECT c.record_no, c.part_no FROM temp.main.srsql_basket_case AS c WHERE c.small;

INSERT INTO temp.main.srsql_cluster (record_no, cluster_no)
SELECT
    c.record_no,
    (
        dense_rank() OVER (ORDER BY c.part)
        + (SELECT coalesce(max(p.cluster), 0) FROM temp.main.srsql_pub_clusters AS p)
    )::INTEGER AS cluster_no
FROM temp.main.srsql_basket_case AS c
WHERE c.small;

INSERT INTO temp.main.srsql_chunk_term (cluster_no, chunk_no, term_no)
SELECT DISTINCT k.cluster_no, 0, b.term_no
FROM temp.main.srsql_basket_case AS c
INNER JOIN temp.main.srsql_cluster AS k ON c.record_no = k.record_no
INNER JOIN temp.main.srsql_basket AS b ON c.record_no = b.record_no
WHERE c.small;

INSERT INTO temp.main.srsql_pub_clusters (cluster, records)
SELECT s.cluster_no, count(*)::INTEGER
FROM (
    SELECT DISTINCT k.cluster_no, c.part
    FROM temp.main.srsql_basket_case AS c
    INNER JOIN temp.main.srsql_cluster AS k ON c.record_no = k.record_no
    WHERE c.small
) AS s
INNER JOIN temp.main.srsql_grouped AS g ON s.part = g.group_no
GROUP BY s.cluster_no;

INSERT INTO temp.main.srsql_pub_item_chunk (cluster, term)
WITH small_cluster AS (
    SELECT k.cluster_no
    FROM temp.main.srsql_basket_case AS b
    INNER JOIN temp.main.srsql_cluster AS k ON b.record_no = k.record_no
    WHERE b.small
)

SELECT c.cluster_no, t.term
FROM temp.main.srsql_chunk_term AS c
SEMI JOIN small_cluster AS s ON c.cluster_no = s.cluster_no
INNER JOIN temp.main.srsql_basket_term AS t ON c.term_no = t.term_no;
