-- Step of a release that is disassociated: clusters, chunks, joint clusters, and what is published.
-- Reads srsql_basket(record_no, term_no), srsql_part(record_no, part_no),
-- srsql_constraint(term_no, constraint_no), srsql_kept_apart(term_no),
-- srsql_repeated(term_no, base_no): the times a term is told,
-- srsql_basket_term(term_no, term),
-- srsql_disassociation(k, m, max_size, least, joint_limit, order_seed, chunk_seed, item_seed): one
-- row. Makes srsql_cluster, srsql_chunk_term, srsql_joint, srsql_shared_term (numbers, internal)
-- and srsql_pub_* (to be published: no table has, or is ordered by, what identifies a record).

CREATE OR REPLACE TEMP TABLE srsql_term_role AS
SELECT r.*
FROM srsql.term_roles(
    'temp.main.srsql_basket', 'temp.main.srsql_constraint', 'temp.main.srsql_kept_apart'
) AS r;

CREATE OR REPLACE TEMP TABLE srsql_cluster AS
SELECT h.record_no, h.cluster_no
FROM srsql.horizontal_parts(
    'temp.main.srsql_basket',
    'temp.main.srsql_part',
    'temp.main.srsql_term_role',
    $max_size::INTEGER,
    $least::INTEGER
) AS h;

CREATE OR REPLACE TEMP TABLE srsql_chunk_term AS
SELECT v.cluster_no, v.chunk_no, v.term_no
FROM srsql.vertical_chunks(
    'temp.main.srsql_basket',
    'temp.main.srsql_cluster',
    'temp.main.srsql_term_role',
    $k::INTEGER,
    $m::INTEGER
) AS v;

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

CREATE OR REPLACE TEMP TABLE srsql_shared_role AS
SELECT
    t.* REPLACE (
        t.kept_apart
        OR t.term_no IN (SELECT r.term_no FROM temp.main.srsql_repeated AS r) AS kept_apart
    )
FROM temp.main.srsql_term_role AS t;

CREATE OR REPLACE TEMP TABLE srsql_cluster_room AS
SELECT r.cluster_no, r.records, r.may_empty
FROM srsql.cluster_room(
    'temp.main.srsql_basket',
    'temp.main.srsql_cluster',
    'temp.main.srsql_chunk_term',
    'temp.main.srsql_term_role',
    $k::INTEGER,
    $m::INTEGER
) AS r;

CREATE OR REPLACE TEMP TABLE srsql_refined AS
SELECT r.members, r.terms
FROM srsql.refined(
    'temp.main.srsql_basket',
    'temp.main.srsql_cluster',
    'temp.main.srsql_chunk_term',
    'temp.main.srsql_cluster_room',
    'temp.main.srsql_shared_role',
    $k::INTEGER,
    $m::INTEGER,
    $joint_limit::INTEGER
) AS r;

CREATE OR REPLACE TEMP TABLE srsql_joint AS
SELECT m.member.joint_no, m.member.cluster_no
FROM (SELECT unnest(r.members) AS member FROM temp.main.srsql_refined AS r) AS m;

CREATE OR REPLACE TEMP TABLE srsql_shared_term AS
SELECT t.term.joint_no, t.term.chunk_no, t.term.term_no
FROM (SELECT unnest(r.terms) AS term FROM temp.main.srsql_refined AS r) AS t;

DROP TABLE temp.main.srsql_refined;

-- What is shared has left the item chunks below.
CREATE OR REPLACE TEMP TABLE srsql_chunk_term AS
WITH lent AS (
    SELECT j.cluster_no, s.term_no
    FROM temp.main.srsql_joint AS j
    INNER JOIN temp.main.srsql_shared_term AS s ON j.joint_no = s.joint_no
)

SELECT c.cluster_no, c.chunk_no, c.term_no
FROM temp.main.srsql_chunk_term AS c
ANTI JOIN lent AS l ON c.cluster_no = l.cluster_no AND c.term_no = l.term_no;

CREATE OR REPLACE TEMP TABLE srsql_located AS
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
INNER JOIN temp.main.srsql_joint AS j ON c.cluster_no = j.cluster_no
INNER JOIN temp.main.srsql_shared_term AS s
    ON j.joint_no = s.joint_no AND b.term_no = s.term_no;

CREATE OR REPLACE TEMP TABLE srsql_subrecord AS
SELECT o.shared, o.owner, o.chunk_no, o.record_no, o.subrecord
FROM srsql.subrecord_order(
    'temp.main.srsql_located', $order_seed::BIGINT
) AS o;

-- Rows stand in the order of what is published, so that their order tells nothing.
CREATE OR REPLACE TEMP TABLE srsql_pub_clusters AS
SELECT c.cluster_no AS cluster, count(*)::INTEGER AS records
FROM temp.main.srsql_cluster AS c
GROUP BY c.cluster_no
ORDER BY c.cluster_no;

CREATE OR REPLACE TEMP TABLE srsql_pub_joint_clusters AS
SELECT j.joint_no AS joint, j.cluster_no AS cluster
FROM temp.main.srsql_joint AS j
ORDER BY j.joint_no, j.cluster_no;

CREATE OR REPLACE TEMP TABLE srsql_pub_record_chunk AS
SELECT p.owner AS cluster, p.chunk_no AS chunk, s.subrecord, t.term
FROM temp.main.srsql_located AS p
INNER JOIN temp.main.srsql_subrecord AS s
    ON
        p.shared = s.shared
        AND p.owner = s.owner
        AND p.chunk_no = s.chunk_no
        AND p.record_no = s.record_no
INNER JOIN temp.main.srsql_basket_term AS t ON p.term_no = t.term_no
WHERE NOT p.shared
ORDER BY p.owner, p.chunk_no, s.subrecord, t.term;

CREATE OR REPLACE TEMP TABLE srsql_pub_shared_chunk AS
SELECT p.owner AS joint, p.chunk_no AS chunk, s.subrecord, t.term
FROM temp.main.srsql_located AS p
INNER JOIN temp.main.srsql_subrecord AS s
    ON
        p.shared = s.shared
        AND p.owner = s.owner
        AND p.chunk_no = s.chunk_no
        AND p.record_no = s.record_no
INNER JOIN temp.main.srsql_basket_term AS t ON p.term_no = t.term_no
WHERE p.shared
ORDER BY p.owner, p.chunk_no, s.subrecord, t.term;

CREATE OR REPLACE TEMP TABLE srsql_pub_item_chunk AS
SELECT c.cluster_no AS cluster, t.term
FROM temp.main.srsql_chunk_term AS c
INNER JOIN temp.main.srsql_basket_term AS t ON c.term_no = t.term_no
WHERE c.chunk_no = 0
ORDER BY c.cluster_no, t.term;

DROP TABLE temp.main.srsql_located;

DROP TABLE temp.main.srsql_subrecord;
