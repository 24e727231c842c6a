-- Whether the published tables of a disassociated release tell the truth about the originals. Names
-- of tables as in checks/chunks.sql; in addition
--   originals(record, term): the records as they in_previous_quarter, distinct;
--   members(record, cluster): the cluster of each of them (private).

-- What:    the published tables hold as many records as in_previous_quarter, and every term as
--          often: exactly where no item chunk has it, else in one to all records of each cluster
--          that has it.
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

SELECT unnest(srsql.check_row(release_id, 'check_term_support', f.scope, f.violating, f.total, 0))
FROM found AS f;

-- What:    the originals are a dataset of I(D_A): every term of every record has exactly one place
--          in its cluster, and the chunks are what the records show there, no more and no less.
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
    SELECT 'item', i.cluster, i.cluster AS owner, 0, i.term FROM query_table(item_chunks) AS i
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
    SELECT coalesce(s.n = p.n, false) AS kept
    FROM shown AS s
    FULL JOIN published AS p
        ON s.kind = p.kind AND s.owner = p.owner AND s.chunk = p.chunk AND s.terms = p.terms
),

crowd AS (
    SELECT q.cluster, count(DISTINCT q.record) AS n
    FROM (
        SELECT p.record, p.cluster FROM placed AS p
        UNION ALL
        SELECT r.record, r.cluster FROM query_table(members) AS r
    ) AS q
    GROUP BY q.cluster
),

sizes AS (
    SELECT coalesce(c.records = w.n, false) AS kept
    FROM query_table(clusters) AS c
    FULL JOIN crowd AS w ON c.cluster = w.cluster
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

SELECT unnest(srsql.check_row(release_id, 'check_projection', f.scope, f.violating, f.total, 0))
FROM found AS f;

-- What:    no item without a count is held by more records of its cluster than is promised.
-- Inputs:  most: records.
-- Outputs: one uniform row (scope 'item').
-- Source:  SPEC section 18.
CREATE OR REPLACE MACRO srsql.check_item_cases(item_chunks, originals, members, most, release_id)
AS TABLE
WITH held AS (
    SELECT i.cluster, i.term, count(DISTINCT o.record) AS records
    FROM query_table(item_chunks) AS i
    INNER JOIN query_table(members) AS m ON i.cluster = m.cluster
    INNER JOIN query_table(originals) AS o ON m.record = o.record AND i.term = o.term
    GROUP BY i.cluster, i.term
),

found AS (
    SELECT count(*) FILTER (WHERE h.records > most) AS violating, count(*) AS total FROM held AS h
)

SELECT unnest(srsql.check_row(release_id, 'check_item_cases', 'item', f.violating, f.total, 0))
FROM found AS f;

-- What:    no sensitive value is held by a larger share of a region's cases in a cluster than its
--          threshold.
-- Inputs:  places(record, region, cluster): of every record; values(record, value), distinct;
--          thresholds(value, theta_num, theta_den).
-- Outputs: one uniform row (scope 'value of a region in a cluster'); a value without a threshold
--          violates.
-- Source:  SPEC section 18.
CREATE OR REPLACE MACRO srsql.check_region_caps(places, record_values, thresholds, release_id)
AS TABLE
WITH
cell AS (
    SELECT p.cluster, p.region, count(DISTINCT p.record) AS records
    FROM query_table(places) AS p
    GROUP BY p.cluster, p.region
),

held AS (
    SELECT p.cluster, p.region, v.value, count(DISTINCT p.record) AS holders
    FROM query_table(places) AS p
    INNER JOIN query_table(record_values) AS v ON p.record = v.record
    GROUP BY p.cluster, p.region, v.value
),

found AS (
    SELECT
        count(*) FILTER (
            WHERE coalesce(h.holders * t.theta_den > t.theta_num * c.records, true)
        ) AS violating,
        count(*) AS total
    FROM held AS h
    INNER JOIN cell AS c ON h.cluster = c.cluster AND h.region = c.region
    LEFT JOIN query_table(thresholds) AS t ON h.value = t.value
)

SELECT unnest(
    srsql.check_row(
        release_id, 'check_region_caps', 'value of a region in a cluster', f.violating, f.total, 0
    )
)
FROM found AS f;
