-- Step of a release with disassociated terms inside QID-groups: groups in which too few cases have
-- a term for a cluster of their own. The whole group is the cluster, its cases without a term
-- included, and all its terms are in the item chunk, so that any of its cases may hold any of them.
-- Reads srsql_basket_case and srsql_case_item of terms/steps/baskets.sql,
-- srsql_basket_term(term_no, term), srsql_grouped(case_no, group_no); adds to the result tables of
-- terms/steps/disassociate.sql.

CREATE OR REPLACE TEMP TABLE srsql_small_part AS
SELECT
    s.part,
    s.part_no,
    (
        row_number() OVER (ORDER BY s.part)
        + (SELECT coalesce(max(p.cluster), 0) FROM temp.main.srsql_pub_clusters AS p)
    )::INTEGER AS cluster_no,
    (
        SELECT count(*) FROM temp.main.srsql_grouped AS g WHERE g.group_no = s.part
    )::INTEGER AS records
FROM (
    SELECT DISTINCT c.part, c.part_no FROM temp.main.srsql_basket_case AS c WHERE c.small
) AS s;

INSERT INTO temp.main.srsql_basket
SELECT DISTINCT c.record_no, t.term_no
FROM temp.main.srsql_case_item AS i
INNER JOIN temp.main.srsql_basket_case AS c ON i.case_no = c.case_no
INNER JOIN temp.main.srsql_basket_term AS t ON i.item = t.term
WHERE c.small;

INSERT INTO temp.main.srsql_part
SELECT c.record_no, c.part_no FROM temp.main.srsql_basket_case AS c WHERE c.small;

INSERT INTO temp.main.srsql_cluster (record_no, cluster_no)
SELECT c.record_no, s.cluster_no
FROM temp.main.srsql_basket_case AS c
INNER JOIN temp.main.srsql_small_part AS s ON c.part = s.part
WHERE c.small;

INSERT INTO temp.main.srsql_chunk_term (cluster_no, chunk_no, term_no)
SELECT DISTINCT s.cluster_no, 0, b.term_no
FROM temp.main.srsql_basket_case AS c
INNER JOIN temp.main.srsql_small_part AS s ON c.part = s.part
INNER JOIN temp.main.srsql_basket AS b ON c.record_no = b.record_no
WHERE c.small;

INSERT INTO temp.main.srsql_pub_clusters (cluster, records)
SELECT s.cluster_no, s.records FROM temp.main.srsql_small_part AS s;

INSERT INTO temp.main.srsql_pub_item_chunk (cluster, term)
SELECT c.cluster_no, t.term
FROM temp.main.srsql_chunk_term AS c
INNER JOIN temp.main.srsql_small_part AS s ON c.cluster_no = s.cluster_no
INNER JOIN temp.main.srsql_basket_term AS t ON c.term_no = t.term_no;
