-- Whether the published tables of a disassociated release make sense. Names of tables as in
-- checks/chunks.sql.

-- What:    what no disassociated dataset looks like, in words.
-- Outputs: scope (the kind of table), place (which row or number, and what is wrong with it).
CREATE OR REPLACE MACRO srsql.term_structure_faults(
    clusters, joint_clusters, record_chunks, shared_chunks, item_chunks
) AS TABLE
WITH
member AS (
    -- rows with a number missing are told of below
    SELECT DISTINCT j.joint, j.cluster
    FROM query_table(joint_clusters) AS j
    WHERE j.joint IS NOT NULL AND j.cluster IS NOT NULL
),

crowd AS (
    SELECT m.joint, count(*) AS clusters, coalesce(sum(c.records), 0) AS records
    FROM member AS m
    LEFT JOIN query_table(clusters) AS c ON m.cluster = c.cluster
    GROUP BY m.joint
),

overlap AS (
    SELECT a.joint, b.joint AS other, count(*) AS clusters
    FROM member AS a
    INNER JOIN member AS b ON a.cluster = b.cluster AND a.joint < b.joint
    GROUP BY a.joint, b.joint
),

own AS (
    SELECT r.cluster, r.chunk, count(DISTINCT r.subrecord) AS n, min(r.subrecord) AS first,
        max(r.subrecord) AS last
    FROM query_table(record_chunks) AS r
    WHERE r.cluster IS NOT NULL AND r.chunk IS NOT NULL AND r.subrecord IS NOT NULL
    GROUP BY r.cluster, r.chunk
),

common AS (
    SELECT s.joint, s.chunk, count(DISTINCT s.subrecord) AS n, min(s.subrecord) AS first,
        max(s.subrecord) AS last
    FROM query_table(shared_chunks) AS s
    WHERE s.joint IS NOT NULL AND s.chunk IS NOT NULL AND s.subrecord IS NOT NULL
    GROUP BY s.joint, s.chunk
)

SELECT 'cluster' AS scope, 'cluster ' || coalesce(c.cluster::VARCHAR, 'NULL') || ' has '
    || count(*) || ' row(s) and ' || coalesce(min(c.records)::VARCHAR, 'NULL') || ' records'
    AS place
FROM query_table(clusters) AS c
GROUP BY c.cluster
HAVING c.cluster IS NULL OR count(*) > 1 OR coalesce(min(c.records), 0) < 1
UNION ALL
SELECT 'joint cluster', 'joint cluster ' || coalesce(j.joint::VARCHAR, 'NULL') || ' has cluster '
    || coalesce(j.cluster::VARCHAR, 'NULL') || ' ' || count(*) || ' time(s)'
FROM query_table(joint_clusters) AS j
GROUP BY j.joint, j.cluster
HAVING j.joint IS NULL OR j.cluster IS NULL OR count(*) > 1
UNION ALL
SELECT 'joint cluster', 'joint cluster ' || m.joint || ' has the unknown cluster ' || m.cluster
FROM member AS m
ANTI JOIN query_table(clusters) AS c ON m.cluster = c.cluster
UNION ALL
SELECT 'joint cluster', 'joint cluster ' || w.joint || ' has one cluster'
FROM crowd AS w
WHERE w.clusters < 2
UNION ALL
SELECT 'joint cluster', 'joint cluster ' || w.joint || ' has no shared chunk'
FROM crowd AS w
ANTI JOIN common AS s ON w.joint = s.joint
UNION ALL
SELECT 'joint cluster', 'joint clusters ' || o.joint || ' and ' || o.other
    || ' overlap, and neither holds the other'
FROM overlap AS o
INNER JOIN crowd AS a ON o.joint = a.joint
INNER JOIN crowd AS b ON o.other = b.joint
WHERE o.clusters < least(a.clusters, b.clusters)
UNION ALL
SELECT 'record chunk', 'cluster ' || coalesce(r.cluster::VARCHAR, 'NULL') || ', chunk '
    || coalesce(r.chunk::VARCHAR, 'NULL') || ', subrecord '
    || coalesce(r.subrecord::VARCHAR, 'NULL') || ': term ' || coalesce(r.term, 'NULL')
    || ' stands ' || count(*) || ' time(s)'
FROM query_table(record_chunks) AS r
GROUP BY r.cluster, r.chunk, r.subrecord, r.term
HAVING
    count(*) > 1 OR r.cluster IS NULL OR r.chunk IS NULL OR r.subrecord IS NULL OR r.term IS NULL
UNION ALL
SELECT 'record chunk', 'cluster ' || o.cluster || ', chunk ' || o.chunk || ': ' || o.n
    || ' subrecords of ' || coalesce(c.records::VARCHAR, 'unknown') || ' records, numbered '
    || o.first || ' to ' || o.last
FROM own AS o
LEFT JOIN query_table(clusters) AS c ON o.cluster = c.cluster
WHERE c.cluster IS NULL OR o.n > c.records OR o.first <> 1 OR o.last <> o.n
UNION ALL
SELECT 'shared chunk', 'joint cluster ' || coalesce(s.joint::VARCHAR, 'NULL') || ', chunk '
    || coalesce(s.chunk::VARCHAR, 'NULL') || ', subrecord '
    || coalesce(s.subrecord::VARCHAR, 'NULL') || ': term ' || coalesce(s.term, 'NULL')
    || ' stands ' || count(*) || ' time(s)'
FROM query_table(shared_chunks) AS s
GROUP BY s.joint, s.chunk, s.subrecord, s.term
HAVING count(*) > 1 OR s.joint IS NULL OR s.chunk IS NULL OR s.subrecord IS NULL OR s.term IS NULL
UNION ALL
SELECT 'shared chunk', 'joint cluster ' || o.joint || ', chunk ' || o.chunk || ': ' || o.n
    || ' subrecords of ' || coalesce(w.records::VARCHAR, 'unknown') || ' records, numbered '
    || o.first || ' to ' || o.last
FROM common AS o
LEFT JOIN crowd AS w ON o.joint = w.joint
WHERE w.joint IS NULL OR o.n > w.records OR o.first <> 1 OR o.last <> o.n
UNION ALL
SELECT 'item chunk', 'cluster ' || coalesce(i.cluster::VARCHAR, 'NULL') || ': term '
    || coalesce(i.term, 'NULL') || ' stands ' || count(*) || ' time(s)'
FROM query_table(item_chunks) AS i
GROUP BY i.cluster, i.term
HAVING count(*) > 1 OR i.cluster IS NULL OR i.term IS NULL
UNION ALL
SELECT 'item chunk', 'the item chunk of the unknown cluster ' || i.cluster
FROM (SELECT DISTINCT u.cluster FROM query_table(item_chunks) AS u) AS i
ANTI JOIN query_table(clusters) AS c ON i.cluster = c.cluster
WHERE i.cluster IS NOT NULL;

-- What:    the published tables are such as disassociation makes; one row per kind of table, which
--          counts the faults against the rows.
CREATE OR REPLACE MACRO srsql.check_term_structure(
    clusters, joint_clusters, record_chunks, shared_chunks, item_chunks, release_id
) AS TABLE
WITH
fault AS (
    SELECT f.scope FROM srsql.term_structure_faults(
        clusters, joint_clusters, record_chunks, shared_chunks, item_chunks
    ) AS f
),

kinds AS (
    SELECT 'cluster' AS scope, count(*) AS n FROM query_table(clusters)
    UNION ALL
    SELECT 'joint cluster', count(*) FROM query_table(joint_clusters)
    UNION ALL
    SELECT 'record chunk', count(*) FROM query_table(record_chunks)
    UNION ALL
    SELECT 'shared chunk', count(*) FROM query_table(shared_chunks)
    UNION ALL
    SELECT 'item chunk', count(*) FROM query_table(item_chunks)
)

SELECT
    release_id AS release,
    'check_term_structure' AS measure,
    k.scope,
    count(f.scope)::DOUBLE AS violating,
    any_value(k.n)::DOUBLE AS total,
    count(f.scope) / nullif(any_value(k.n), 0) AS ratio,
    0::DOUBLE AS threshold,
    count(f.scope) = 0 AS passed
FROM kinds AS k
LEFT JOIN fault AS f ON k.scope = f.scope
GROUP BY k.scope;
