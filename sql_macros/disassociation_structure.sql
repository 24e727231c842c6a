-- Whether the published tables of a disassociated release make sense, and whether they tell the
-- truth about the originals. Names of tables as in disassociation_checks.sql; in addition
--   originals(record, term): the records as they came, distinct;
--   members(record, cluster): the cluster of each of them (private).

-- What:    what no disassociated dataset looks like, in words.
-- Outputs: scope (the kind of table), place (which row or number, and what is wrong with it).
CREATE OR REPLACE MACRO srsql.term_structure_faults(
    clusters, joint_clusters, record_chunks, shared_chunks, item_chunks
) AS TABLE
WITH
member AS (
    SELECT DISTINCT j.joint, j.cluster FROM query_table(joint_clusters) AS j
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
    GROUP BY r.cluster, r.chunk
),

common AS (
    SELECT s.joint, s.chunk, count(DISTINCT s.subrecord) AS n, min(s.subrecord) AS first,
        max(s.subrecord) AS last
    FROM query_table(shared_chunks) AS s
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
ANTI JOIN query_table(clusters) AS c ON i.cluster = c.cluster;

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

-- What:    the published tables hold as many records as came, and every term as often: exactly where
--          no item chunk has it, else between one and all records of each cluster that has it there.
-- Outputs: two uniform rows (scope 'record', 'term').
CREATE OR REPLACE MACRO srsql.check_term_support(
    clusters, record_chunks, shared_chunks, item_chunks, originals, release_id
) AS TABLE
WITH
fixed AS (
    SELECT p.term, count(*) AS n
    FROM (
        SELECT r.term FROM query_table(record_chunks) AS r
        UNION ALL
        SELECT s.term FROM query_table(shared_chunks) AS s
    ) AS p
    GROUP BY p.term
),

hidden AS (
    SELECT i.term, count(*) AS least_n, sum(c.records) AS most_n
    FROM query_table(item_chunks) AS i
    INNER JOIN query_table(clusters) AS c ON i.cluster = c.cluster
    GROUP BY i.term
),

known AS (
    SELECT o.term, count(*) AS n
    FROM query_table(originals) AS o
    WHERE o.term IS NOT NULL
    GROUP BY o.term
),

judged AS (
    SELECT
        coalesce(k.n, 0) BETWEEN coalesce(f.n, 0) + coalesce(h.least_n, 0)
        AND coalesce(f.n, 0) + coalesce(h.most_n, 0) AS kept
    FROM known AS k
    FULL JOIN fixed AS f ON k.term = f.term
    FULL JOIN hidden AS h ON coalesce(k.term, f.term) = h.term
),

found AS (
    SELECT
        'record' AS scope,
        abs(
            (SELECT coalesce(sum(c.records), 0) FROM query_table(clusters) AS c)
            - count(DISTINCT o.record)
        ) AS violating,
        count(DISTINCT o.record) AS total
    FROM query_table(originals) AS o
    UNION ALL
    SELECT 'term', count(*) FILTER (WHERE NOT j.kept), count(*) FROM judged AS j
)

SELECT
    release_id AS release,
    'check_term_support' AS measure,
    f.scope,
    f.violating::DOUBLE AS violating,
    f.total::DOUBLE AS total,
    f.violating / nullif(f.total, 0) AS ratio,
    0::DOUBLE AS threshold,
    f.violating = 0 AS passed
FROM found AS f;

-- What:    the originals are a dataset of I(D_A): every term of every record has exactly one place in
--          its cluster, and the chunks are what the records show there, no more and no less.
-- Outputs: four uniform rows: scope 'record' (every record has a cluster of its size), 'term'
--          (places of terms), 'subrecord' (distinct subrecords, with how often they occur), 'item'.
-- Source:  Loukides 2014, section 3.1.
CREATE OR REPLACE MACRO srsql.check_projection(
    clusters, joint_clusters, record_chunks, shared_chunks, item_chunks,
    originals, members, release_id
) AS TABLE
WITH
above AS (
    SELECT DISTINCT s.joint, s.chunk, s.term FROM query_table(shared_chunks) AS s
),

carried AS (
    SELECT DISTINCT m.cluster, o.term
    FROM query_table(originals) AS o
    INNER JOIN query_table(members) AS m ON o.record = m.record
    WHERE o.term IS NOT NULL
),

place AS (
    SELECT DISTINCT 'record' AS kind, r.cluster, r.cluster AS owner, r.chunk, r.term
    FROM query_table(record_chunks) AS r
    UNION ALL
    SELECT 'item', i.cluster, i.cluster, 0, i.term FROM query_table(item_chunks) AS i
    UNION ALL
    SELECT 'shared', j.cluster, a.joint, a.chunk, a.term
    FROM query_table(joint_clusters) AS j
    INNER JOIN above AS a ON j.joint = a.joint
    SEMI JOIN carried AS c ON j.cluster = c.cluster AND a.term = c.term
),

placed AS (
    SELECT o.record, o.term, m.cluster, p.kind, p.owner, p.chunk
    FROM query_table(originals) AS o
    LEFT JOIN query_table(members) AS m ON o.record = m.record
    LEFT JOIN place AS p ON m.cluster = p.cluster AND o.term = p.term
    WHERE o.term IS NOT NULL
),

places AS (
    SELECT count(p.kind) AS n FROM placed AS p GROUP BY p.record, p.term
),

shown AS (
    SELECT q.kind, q.owner, q.chunk, q.terms, count(*) AS n
    FROM (
        SELECT p.kind, p.owner, p.chunk, list(p.term ORDER BY p.term) AS terms
        FROM placed AS p
        WHERE p.kind <> 'item'
        GROUP BY p.kind, p.owner, p.chunk, p.record
    ) AS q
    GROUP BY q.kind, q.owner, q.chunk, q.terms
),

published AS (
    SELECT q.kind, q.owner, q.chunk, q.terms, count(*) AS n
    FROM (
        SELECT 'record' AS kind, r.cluster AS owner, r.chunk, list(r.term ORDER BY r.term) AS terms
        FROM query_table(record_chunks) AS r
        GROUP BY r.cluster, r.chunk, r.subrecord
        UNION ALL
        SELECT 'shared', s.joint, s.chunk, list(s.term ORDER BY s.term)
        FROM query_table(shared_chunks) AS s
        GROUP BY s.joint, s.chunk, s.subrecord
    ) AS q
    GROUP BY q.kind, q.owner, q.chunk, q.terms
),

pieces AS (
    SELECT s.n IS NOT DISTINCT FROM p.n AS kept
    FROM shown AS s
    FULL JOIN published AS p
        ON s.kind = p.kind AND s.owner = p.owner AND s.chunk = p.chunk AND s.terms = p.terms
),

sizes AS (
    SELECT c.records IS NOT DISTINCT FROM m.n AS kept
    FROM query_table(clusters) AS c
    FULL JOIN (
        SELECT q.cluster, count(DISTINCT q.record) AS n
        FROM (
            SELECT p.record, p.cluster FROM placed AS p
            UNION ALL
            SELECT r.record, r.cluster FROM query_table(members) AS r
        ) AS q
        GROUP BY q.cluster
    ) AS m ON c.cluster = m.cluster
),

items AS (
    SELECT c.cluster IS NOT NULL AS kept
    FROM query_table(item_chunks) AS i
    LEFT JOIN carried AS c ON i.cluster = c.cluster AND i.term = c.term
),

found AS (
    SELECT 'record' AS scope, count(*) FILTER (WHERE NOT s.kept) AS violating, count(*) AS total
    FROM sizes AS s
    UNION ALL
    SELECT 'term', count(*) FILTER (WHERE p.n <> 1), count(*) FROM places AS p
    UNION ALL
    SELECT 'subrecord', count(*) FILTER (WHERE NOT p.kept), count(*) FROM pieces AS p
    UNION ALL
    SELECT 'item', count(*) FILTER (WHERE NOT i.kept), count(*) FROM items AS i
)

SELECT
    release_id AS release,
    'check_projection' AS measure,
    f.scope,
    f.violating::DOUBLE AS violating,
    f.total::DOUBLE AS total,
    f.violating / nullif(f.total, 0) AS ratio,
    0::DOUBLE AS threshold,
    f.violating = 0 AS passed
FROM found AS f;
