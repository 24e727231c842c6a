-- What disassociation asks of its temporary tables.

-- name: parts_too_small
-- Parts with fewer than $least records: part_no, records.
SELECT p.part_no, p.records
FROM srsql.parts_too_small('temp.main.srsql_part', $least) AS p
ORDER BY p.part_no;

-- name: sensitive_numbers
-- The numbers of the sensitive terms; a prefix or an occurrence number does not make another term.
CREATE OR REPLACE TEMP TABLE srsql_sensitive_number AS
SELECT DISTINCT t.term_no
FROM temp.main.srsql_case_item AS i
INNER JOIN temp.main.srsql_basket_term AS t ON i.item = t.term
SEMI JOIN temp.main.srsql_sensitive_term AS s ON i.term = s.term;

-- name: sensitive_terms_not_held
-- Sensitive terms that no released case holds.
SELECT s.term
FROM temp.main.srsql_sensitive_term AS s
ANTI JOIN temp.main.srsql_case_item AS i ON s.term = i.term
ORDER BY s.term;

-- name: chunk_clusters
-- VERPART makes the chunks of all clusters at once.
CREATE OR REPLACE TEMP TABLE srsql_chunk_term AS
SELECT v.cluster_no, v.chunk_no, v.term_no
FROM srsql.vertical_chunks(
    'temp.main.srsql_basket',
    'temp.main.srsql_cluster',
    'temp.main.srsql_term_role',
    $k::INTEGER,
    $m::INTEGER,
    $chunk_terms::INTEGER
) AS v;

-- name: bound_chunks
-- What is told above its threshold of a record of which some terms are known is moved.
CREATE OR REPLACE TEMP TABLE srsql_chunk_term AS
SELECT b.cluster_no, b.chunk_no, b.term_no
FROM srsql.bounded_chunks(
    'temp.main.srsql_basket',
    'temp.main.srsql_cluster',
    'temp.main.srsql_chunk_term',
    'temp.main.srsql_term_bound',
    $k::INTEGER,
    $m::INTEGER
) AS b;

-- name: put_apart
-- Terms of clusters ($clusters, $terms) get record chunks of their own; the numbers have no gaps.
CREATE OR REPLACE TEMP TABLE srsql_chunk_term AS
WITH
asked AS (
    SELECT unnest($clusters::INTEGER[]) AS cluster_no, unnest($terms::VARCHAR[]) AS term
),

moved AS (
    SELECT DISTINCT a.cluster_no, t.term_no
    FROM asked AS a
    INNER JOIN temp.main.srsql_basket_term AS t ON a.term = t.term
),

placed AS (
    SELECT
        c.cluster_no,
        c.term_no,
        c.chunk_no,
        CASE WHEN m.term_no IS NOT NULL THEN c.term_no END AS own,
        c.chunk_no = 0 AND m.term_no IS NULL AS is_item
    FROM temp.main.srsql_chunk_term AS c
    LEFT JOIN moved AS m ON c.cluster_no = m.cluster_no AND c.term_no = m.term_no
)

SELECT
    p.cluster_no,
    CASE
        WHEN p.is_item THEN 0
        ELSE dense_rank() OVER (
            PARTITION BY p.cluster_no, p.is_item
            ORDER BY p.own NULLS FIRST, CASE WHEN p.own IS NULL THEN p.chunk_no END
        )
    END::INTEGER AS chunk_no,
    p.term_no
FROM placed AS p
ORDER BY p.cluster_no, p.term_no;

-- name: held_often
-- Sensitive terms in the item chunk of a cluster that $k of its records hold or more, unless no
-- term would be left there: cluster_no, term. Each is there since it and another one that tells
-- the same value would add up to more than its threshold; what regions keep bounds the value all
-- the same.
WITH
held AS (
    SELECT t.cluster_no, t.term_no, count(*) AS records
    FROM temp.main.srsql_chunk_term AS t
    INNER JOIN temp.main.srsql_cluster AS c ON t.cluster_no = c.cluster_no
    INNER JOIN temp.main.srsql_basket AS b
        ON c.record_no = b.record_no AND t.term_no = b.term_no
    WHERE t.chunk_no = 0
    GROUP BY t.cluster_no, t.term_no
),

sensitive AS (
    SELECT DISTINCT n.term_no, n.term
    FROM temp.main.srsql_basket_term AS n
    INNER JOIN temp.main.srsql_case_item AS i ON n.term = i.item
    WHERE i.sensitive
),

asked AS (
    SELECT h.cluster_no, s.term, h.records >= $k AND s.term IS NOT NULL AS often
    FROM held AS h
    LEFT JOIN sensitive AS s ON h.term_no = s.term_no
)

SELECT a.cluster_no, a.term
FROM asked AS a
WHERE a.often AND a.cluster_no IN (SELECT o.cluster_no FROM asked AS o WHERE NOT o.often)
ORDER BY a.cluster_no, a.term;

-- name: most_of_an_item
-- How many records of its cluster hold an item without a count, at most.
SELECT max(h.records)
FROM (
    SELECT count(*) AS records
    FROM temp.main.srsql_chunk_term AS t
    INNER JOIN temp.main.srsql_cluster AS c ON t.cluster_no = c.cluster_no
    INNER JOIN temp.main.srsql_basket AS b
        ON c.record_no = b.record_no AND t.term_no = b.term_no
    WHERE t.chunk_no = 0
    GROUP BY t.cluster_no, t.term_no
) AS h;

-- name: least_for_thresholds
-- The most records that a sensitive value needs in a cluster: its terms, divided by its threshold.
SELECT max(v.records)
FROM (
    SELECT (count(*)::HUGEINT * b.theta_den + b.theta_num - 1) // b.theta_num AS records
    FROM temp.main.srsql_term_bound AS b
    WHERE b.theta_num > 0
    GROUP BY b.value_no, b.theta_num, b.theta_den
) AS v;

-- name: cluster_parts
-- The clusters, each with its records and their terms, in parts of $at_least records or more: one
-- row a part. Nothing in the chunks of a cluster depends on another one.
WITH
sizes AS (
    SELECT c.cluster_no, count(*)::INTEGER AS records
    FROM temp.main.srsql_cluster AS c
    GROUP BY c.cluster_no
),

numbered AS (
    SELECT
        s.cluster_no,
        s.records,
        (
            (sum(s.records) OVER (ORDER BY s.cluster_no) - s.records) // $at_least::INTEGER
        )::INTEGER AS part
    FROM sizes AS s
),

listed AS (
    SELECT
        n.part,
        list(
            struct_pack(cluster_no := n.cluster_no, records := n.records) ORDER BY n.cluster_no
        ) AS clusters
    FROM numbered AS n
    GROUP BY n.part
),

held AS (
    SELECT
        n.part,
        list(
            struct_pack(
                cluster_no := c.cluster_no, record_no := b.record_no, term_no := b.term_no
            )
            ORDER BY b.record_no, b.term_no
        ) AS held
    FROM temp.main.srsql_basket AS b
    INNER JOIN temp.main.srsql_cluster AS c ON b.record_no = c.record_no
    INNER JOIN numbered AS n ON c.cluster_no = n.cluster_no
    GROUP BY n.part
)

SELECT l.part, l.clusters, coalesce(h.held, []) AS held
FROM listed AS l
LEFT JOIN held AS h ON l.part = h.part
ORDER BY l.part;

-- name: chunk_part
-- Where a part of the clusters is carried: VERPART makes their chunks.
WITH found AS (
    SELECT
        unnest(
            srsql_vertical_chunks(
                p.clusters,
                p.held,
                t.roles,
                $k::INTEGER,
                $m::INTEGER,
                $chunk_terms::INTEGER
            )
        ) AS placed
    FROM temp.main.srsql_part_row AS p
    CROSS JOIN srsql.role_list('temp.main.srsql_term_role') AS t
)

SELECT placed.cluster_no, placed.chunk_no, placed.term_no
FROM found;

-- name: take_chunks
-- What came back of all parts.
CREATE OR REPLACE TEMP TABLE srsql_chunk_term AS
SELECT c.cluster_no, c.chunk_no, c.term_no
FROM temp.main.srsql_carried AS c
ORDER BY c.cluster_no, c.term_no;
