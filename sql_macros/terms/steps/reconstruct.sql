-- Step: samples one dataset that could have been the original one from the published tables of a
--   disassociated release alone.
-- Parameters: chunk_seed, item_seed (of an experiment; NULL: the secure generator).
-- Reads: pub_clusters, pub_joint_clusters, pub_record_chunk, pub_shared_chunk, pub_item_chunk
-- Writes: pub_reconstructed
-- Source: Loukides 2014, sections 3.1 and 6.1.

CREATE OR REPLACE TEMP TABLE srsql_pub_reconstructed AS
WITH
sampled AS MATERIALIZED (
    SELECT r.record_no, r.cluster
    FROM srsql.sampled_records('temp.main.srsql_pub_clusters') AS r
),

chunk_seat AS MATERIALIZED (
    SELECT s.shared, s.owner, s.chunk_no, s.record_no
    FROM srsql.chunk_seats(
        'sampled',
        'temp.main.srsql_pub_joint_clusters',
        'temp.main.srsql_pub_record_chunk',
        'temp.main.srsql_pub_shared_chunk'
    ) AS s
),

seat AS MATERIALIZED (
    SELECT o.shared, o.owner, o.chunk_no, o.record_no, o.subrecord
    FROM srsql.subrecord_order('chunk_seat', $chunk_seed::BIGINT) AS o
),

item_place AS MATERIALIZED (
    SELECT i.record_no, i.cluster, i.term
    FROM srsql.item_places(
        'temp.main.srsql_pub_clusters',
        'temp.main.srsql_pub_item_chunk',
        $item_seed::BIGINT
    ) AS i
)

SELECT r.record_no AS record, r.cluster, w.term
FROM (
    SELECT s.record_no, c.term
    FROM temp.main.srsql_pub_record_chunk AS c
    INNER JOIN seat AS s
        ON
            NOT s.shared
            AND c.cluster = s.owner
            AND c.chunk = s.chunk_no
            AND c.subrecord = s.subrecord
    UNION ALL
    SELECT s.record_no, c.term
    FROM temp.main.srsql_pub_shared_chunk AS c
    INNER JOIN seat AS s
        ON s.shared AND c.joint = s.owner AND c.chunk = s.chunk_no AND c.subrecord = s.subrecord
    UNION ALL
    SELECT i.record_no, i.term FROM item_place AS i
) AS w
INNER JOIN sampled AS r ON w.record_no = r.record_no
ORDER BY r.record_no, w.term;
