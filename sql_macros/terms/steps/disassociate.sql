-- Step: after VERPART, what joint clusters share (refining), and what is published of all. The
--   tables cluster, chunk_term and shared_term have numbers and stay internal; no table that is
--   published has, or is ordered by, what identifies a record.
-- Parameters: k, m (Definition 1), joint_limit (records of a joint cluster), chunk_terms (terms of
--   a chunk at most), partners (clusters that one meets in each term's list; 0: neighbours meet),
--   order_seed (of an experiment; NULL: the secure generator).
-- Reads: basket, cluster, term_role, chunk_term, repeated, basket_term
-- Writes: chunk_term, refined, shared_term, subrecord, pub_clusters, pub_joint_clusters,
--   pub_record_chunk, pub_shared_chunk, pub_item_chunk
-- Source: Loukides 2014, section 4 (refining) and 7 (repeated and sensitive terms); SPEC
--   section 11.

-- Whoever holds a term twice holds it once. In two chunks the second would tell which subrecords of
-- the other it can go with, so all of them are in one chunk or in the item chunk (and not shared).
CREATE OR REPLACE TEMP TABLE srsql_chunk_term AS
WITH torn AS (
    SELECT c.cluster_no, r.base_no
    FROM temp.main.srsql_chunk_term AS c
    INNER JOIN temp.main.srsql_repeated AS r ON c.term_no = r.term_no
    GROUP BY c.cluster_no, r.base_no
    HAVING count(DISTINCT c.chunk_no) > 1
),

moved AS (
    SELECT DISTINCT t.cluster_no, r.term_no
    FROM torn AS t
    INNER JOIN temp.main.srsql_repeated AS r ON t.base_no = r.base_no
)

SELECT
    c.cluster_no,
    CASE WHEN m.term_no IS NULL THEN c.chunk_no ELSE 0 END AS chunk_no,
    c.term_no
FROM temp.main.srsql_chunk_term AS c
LEFT JOIN moved AS m ON c.cluster_no = m.cluster_no AND c.term_no = m.term_no;

CREATE OR REPLACE TEMP TABLE srsql_refined AS
WITH
shared_role AS MATERIALIZED (
    SELECT
        t.* REPLACE (
            t.kept_apart
            OR t.term_no IN (SELECT r.term_no FROM temp.main.srsql_repeated AS r) AS kept_apart
        )
    FROM temp.main.srsql_term_role AS t
),

cluster_room AS MATERIALIZED (
    SELECT r.cluster_no, r.records, r.may_empty
    FROM srsql.cluster_room(
        'temp.main.srsql_basket',
        'temp.main.srsql_cluster',
        'temp.main.srsql_chunk_term',
        'temp.main.srsql_term_role',
        $k::INTEGER,
        $m::INTEGER
    ) AS r
)

SELECT r.members, r.terms
FROM srsql.refined(
    'temp.main.srsql_basket',
    'temp.main.srsql_cluster',
    'temp.main.srsql_chunk_term',
    'cluster_room',
    'shared_role',
    $k::INTEGER,
    $m::INTEGER,
    $joint_limit::INTEGER,
    $chunk_terms::INTEGER,
    $partners::INTEGER
) AS r;

-- Rows stand in the order of what is published, so that their order tells nothing.
CREATE OR REPLACE TEMP TABLE srsql_pub_joint_clusters AS
SELECT m.member.joint_no AS joint, m.member.cluster_no AS cluster
FROM (SELECT unnest(r.members) AS member FROM temp.main.srsql_refined AS r) AS m
ORDER BY m.member.joint_no, m.member.cluster_no;

CREATE OR REPLACE TEMP TABLE srsql_shared_term AS
SELECT t.term.joint_no, t.term.chunk_no, t.term.term_no
FROM (SELECT unnest(r.terms) AS term FROM temp.main.srsql_refined AS r) AS t;

DROP TABLE temp.main.srsql_refined;

-- What is shared has left the item chunks below.
CREATE OR REPLACE TEMP TABLE srsql_chunk_term AS
WITH lent AS (
    SELECT j.cluster AS cluster_no, s.term_no
    FROM temp.main.srsql_pub_joint_clusters AS j
    INNER JOIN temp.main.srsql_shared_term AS s ON j.joint = s.joint_no
)

SELECT c.cluster_no, c.chunk_no, c.term_no
FROM temp.main.srsql_chunk_term AS c
ANTI JOIN lent AS l ON c.cluster_no = l.cluster_no AND c.term_no = l.term_no;

CREATE OR REPLACE TEMP TABLE srsql_subrecord AS
WITH
located AS MATERIALIZED (
    SELECT false AS shared, t.cluster_no AS owner, t.chunk_no, b.record_no, b.term_no
    FROM temp.main.srsql_basket AS b
    INNER JOIN temp.main.srsql_cluster AS c ON b.record_no = c.record_no
    INNER JOIN temp.main.srsql_chunk_term AS t
        ON c.cluster_no = t.cluster_no AND b.term_no = t.term_no
    WHERE t.chunk_no > 0
    UNION ALL
    SELECT true, s.joint_no, s.chunk_no, b.record_no, b.term_no
    FROM temp.main.srsql_basket AS b
    INNER JOIN temp.main.srsql_cluster AS c ON b.record_no = c.record_no
    INNER JOIN temp.main.srsql_pub_joint_clusters AS j ON c.cluster_no = j.cluster
    INNER JOIN temp.main.srsql_shared_term AS s
        ON j.joint = s.joint_no AND b.term_no = s.term_no
)

SELECT p.shared, p.owner, p.chunk_no, o.subrecord, t.term
FROM located AS p
INNER JOIN srsql.subrecord_order('located', $order_seed::BIGINT) AS o
    ON
        p.shared = o.shared
        AND p.owner = o.owner
        AND p.chunk_no = o.chunk_no
        AND p.record_no = o.record_no
INNER JOIN temp.main.srsql_basket_term AS t ON p.term_no = t.term_no;

CREATE OR REPLACE TEMP TABLE srsql_pub_clusters AS
SELECT c.cluster_no AS cluster, count(*)::INTEGER AS records
FROM temp.main.srsql_cluster AS c
GROUP BY c.cluster_no
ORDER BY c.cluster_no;

CREATE OR REPLACE TEMP TABLE srsql_pub_record_chunk AS
SELECT s.owner AS cluster, s.chunk_no AS chunk, s.subrecord, s.term
FROM temp.main.srsql_subrecord AS s
WHERE NOT s.shared
ORDER BY s.owner, s.chunk_no, s.subrecord, s.term;

CREATE OR REPLACE TEMP TABLE srsql_pub_shared_chunk AS
SELECT s.owner AS joint, s.chunk_no AS chunk, s.subrecord, s.term
FROM temp.main.srsql_subrecord AS s
WHERE s.shared
ORDER BY s.owner, s.chunk_no, s.subrecord, s.term;

CREATE OR REPLACE TEMP TABLE srsql_pub_item_chunk AS
SELECT c.cluster_no AS cluster, t.term
FROM temp.main.srsql_chunk_term AS c
INNER JOIN temp.main.srsql_basket_term AS t ON c.term_no = t.term_no
WHERE c.chunk_no = 0
ORDER BY c.cluster_no, t.term;

DROP TABLE temp.main.srsql_subrecord;
