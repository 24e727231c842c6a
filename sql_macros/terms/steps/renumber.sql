-- Step: draws the numbers of clusters that lie inside QID-groups anew. Those that clusters were
--   made under follow the numbers of the groups, which are not published, and come last where too
--   few cases of a group have a term, which nothing else tells: fewer than k of them could then
--   hold what an attacker knows. There are no joint clusters.
-- Parameters: order_seed (of an experiment; NULL: the secure generator).
-- Reads: pub_clusters
-- Writes: drawn_number, cluster, chunk_term, pub_clusters, pub_record_chunk, pub_item_chunk
-- Source: SPEC section 11 (clusters within QID-groups).

CREATE OR REPLACE TEMP TABLE srsql_drawn_number AS
SELECT
    unnest(l.clusters) AS cluster_no,
    unnest(
        srsql_shuffled(
            [len(l.clusters)::INTEGER],
            $order_seed::BIGINT
        )
    ) AS drawn
FROM (
    SELECT coalesce(list(c.cluster ORDER BY c.cluster), []::INTEGER[]) AS clusters
    FROM temp.main.srsql_pub_clusters AS c
) AS l;

UPDATE temp.main.srsql_cluster SET cluster_no = n.drawn
FROM temp.main.srsql_drawn_number AS n
WHERE srsql_cluster.cluster_no = n.cluster_no;

UPDATE temp.main.srsql_chunk_term SET cluster_no = n.drawn
FROM temp.main.srsql_drawn_number AS n
WHERE srsql_chunk_term.cluster_no = n.cluster_no;

UPDATE temp.main.srsql_pub_clusters SET cluster = n.drawn
FROM temp.main.srsql_drawn_number AS n
WHERE srsql_pub_clusters.cluster = n.cluster_no;

UPDATE temp.main.srsql_pub_record_chunk SET cluster = n.drawn
FROM temp.main.srsql_drawn_number AS n
WHERE srsql_pub_record_chunk.cluster = n.cluster_no;

UPDATE temp.main.srsql_pub_item_chunk SET cluster = n.drawn
FROM temp.main.srsql_drawn_number AS n
WHERE srsql_pub_item_chunk.cluster = n.cluster_no;

DROP TABLE temp.main.srsql_drawn_number;
