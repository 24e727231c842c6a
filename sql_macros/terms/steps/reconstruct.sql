-- Step of a release that is disassociated: one dataset that could have been the original one,
-- sampled from the published tables. Reads srsql_pub_* of terms/steps/disassociate.sql, and
-- srsql_disassociation.

-- One dataset that the tables above may stand for, made of them alone.
CREATE OR REPLACE TEMP TABLE srsql_sampled AS
SELECT r.record_no, r.cluster
FROM srsql.sampled_records('temp.main.srsql_pub_clusters') AS r;

CREATE OR REPLACE TEMP TABLE srsql_seat AS
SELECT s.shared, s.owner, s.chunk_no, s.record_no
FROM srsql.chunk_seats(
    'temp.main.srsql_sampled',
    'temp.main.srsql_pub_joint_clusters',
    'temp.main.srsql_pub_record_chunk',
    'temp.main.srsql_pub_shared_chunk'
) AS s;

CREATE OR REPLACE TEMP TABLE srsql_seat AS
SELECT o.shared, o.owner, o.chunk_no, o.record_no, o.subrecord
FROM srsql.subrecord_order(
    'temp.main.srsql_seat', $chunk_seed::BIGINT
) AS o;

CREATE OR REPLACE TEMP TABLE srsql_item_place AS
SELECT i.record_no, i.cluster, i.term
FROM srsql.item_places(
    'temp.main.srsql_pub_clusters',
    'temp.main.srsql_pub_item_chunk',
    $item_seed::BIGINT
) AS i;

CREATE OR REPLACE TEMP TABLE srsql_pub_reconstructed AS
SELECT r.record_no AS record, r.cluster, w.term
FROM (
    SELECT s.record_no, c.term
    FROM temp.main.srsql_pub_record_chunk AS c
    INNER JOIN temp.main.srsql_seat AS s
        ON
            NOT s.shared
            AND c.cluster = s.owner
            AND c.chunk = s.chunk_no
            AND c.subrecord = s.subrecord
    UNION ALL
    SELECT s.record_no, c.term
    FROM temp.main.srsql_pub_shared_chunk AS c
    INNER JOIN temp.main.srsql_seat AS s
        ON s.shared AND c.joint = s.owner AND c.chunk = s.chunk_no AND c.subrecord = s.subrecord
    UNION ALL
    SELECT i.record_no, i.term FROM temp.main.srsql_item_place AS i
) AS w
INNER JOIN temp.main.srsql_sampled AS r ON w.record_no = r.record_no
ORDER BY r.record_no, w.term;

DROP TABLE temp.main.srsql_sampled;

DROP TABLE temp.main.srsql_seat;

DROP TABLE temp.main.srsql_item_place;
