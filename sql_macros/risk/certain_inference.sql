-- Which terms follow with certainty from one or two that are known of a record, as far as the
-- published tables of a disassociated release tell. Names of tables as in checks/chunks.sql.

-- What:    for each record that is looked at, how many of its sets of one and of two terms let a
--          further term follow: in every dataset of I(D_A) every record that holds the set has it.
-- Inputs:  the published tables; originals(record, term), distinct: what the records hold; records:
--          so many are looked at, if there are more, drawn by a hash of their numbers.
-- Outputs: record, items (1, 2), sets, certain.
-- Source:  Awad 2019 (cover problem of disassociation); SPEC section 11.
-- How:     the chunks of a cluster meet independently, so what follows from terms of different
--          chunks is what follows in each, and what all records of the cluster have. Within a chunk
--          it is what all subrecords with the known terms have; an item term tells nothing. A term
--          follows if it does in every cluster that can hold the set.
CREATE OR REPLACE MACRO srsql.certain_sets(
    clusters, joint_clusters, record_chunks, shared_chunks, item_chunks, originals, records
) AS TABLE
WITH
looked_at AS (
    SELECT r.record
    FROM (SELECT DISTINCT o.record FROM query_table(originals) AS o) AS r
    QUALIFY row_number() OVER (ORDER BY md5(r.record::VARCHAR), r.record) <= records
),

held AS MATERIALIZED (
    SELECT o.record, o.term
    FROM (SELECT DISTINCT t.record, t.term FROM query_table(originals) AS t) AS o
    SEMI JOIN looked_at AS l ON o.record = l.record
),

asked AS MATERIALIZED (
    SELECT DISTINCT a.term AS one, b.term AS other
    FROM held AS a
    INNER JOIN held AS b ON a.record = b.record AND a.term <= b.term
),

wanted AS (
    SELECT DISTINCT h.term FROM held AS h
),

member AS (
    SELECT DISTINCT j.joint, j.cluster FROM query_table(joint_clusters) AS j
),

crowd AS (
    SELECT m.joint, sum(c.records)::BIGINT AS records
    FROM member AS m
    INNER JOIN query_table(clusters) AS c ON m.cluster = c.cluster
    GROUP BY m.joint
),

part AS MATERIALIZED (
    SELECT false AS shared, r.cluster AS owner, r.chunk, r.subrecord, r.term
    FROM query_table(record_chunks) AS r
    UNION ALL
    SELECT true, s.joint, s.chunk, s.subrecord, s.term
    FROM query_table(shared_chunks) AS s
),

support AS MATERIALIZED (
    SELECT p.shared, p.owner, p.chunk, p.term, count(*) AS held
    FROM part AS p
    GROUP BY p.shared, p.owner, p.chunk, p.term
),

place AS MATERIALIZED (
    SELECT s.owner AS cluster, s.shared, s.owner, s.chunk, s.term
    FROM support AS s
    WHERE NOT s.shared
    UNION ALL
    SELECT m.cluster, s.shared, s.owner, s.chunk, s.term
    FROM support AS s
    INNER JOIN member AS m ON s.owner = m.joint
    WHERE s.shared
    UNION ALL
    SELECT i.cluster, NULL AS shared, i.cluster AS owner, NULL AS chunk, i.term
    FROM query_table(item_chunks) AS i
),

-- where a set can be, and whether its two terms are in one chunk there
possible AS MATERIALIZED (
    SELECT
        a.one,
        a.other,
        p.cluster,
        coalesce(
            a.one <> a.other AND p.shared = q.shared AND p.owner = q.owner AND p.chunk = q.chunk,
            false
        ) AS together,
        p.shared,
        p.owner,
        p.chunk,
        q.shared AS other_shared,
        q.owner AS other_owner,
        q.chunk AS other_chunk
    FROM asked AS a
    INNER JOIN place AS p ON a.one = p.term
    INNER JOIN place AS q ON a.other = q.term AND p.cluster = q.cluster
),

-- the subrecords with both terms of a set that is in one chunk, and what they have
both_held AS (
    SELECT s.one, s.other, s.shared, s.owner, s.chunk, x.subrecord
    FROM (
        SELECT DISTINCT p.one, p.other, p.shared, p.owner, p.chunk
        FROM possible AS p
        WHERE p.together
    ) AS s
    INNER JOIN part AS x
        ON s.shared = x.shared AND s.owner = x.owner AND s.chunk = x.chunk AND s.one = x.term
    INNER JOIN part AS y
        ON
            s.shared = y.shared AND s.owner = y.owner AND s.chunk = y.chunk AND s.other = y.term
            AND x.subrecord = y.subrecord
),

both_support AS (
    SELECT b.one, b.other, b.shared, b.owner, b.chunk, count(*) AS held
    FROM both_held AS b
    GROUP BY b.one, b.other, b.shared, b.owner, b.chunk
),

after_both AS (
    SELECT b.one, b.other, b.shared, b.owner, b.chunk, p.term
    FROM both_held AS b
    INNER JOIN part AS p
        ON
            b.shared = p.shared AND b.owner = p.owner AND b.chunk = p.chunk
            AND b.subrecord = p.subrecord
    INNER JOIN both_support AS n
        ON
            b.one = n.one AND b.other = n.other AND b.shared = n.shared AND b.owner = n.owner
            AND b.chunk = n.chunk
    GROUP BY b.one, b.other, b.shared, b.owner, b.chunk, p.term
    HAVING count(*) = any_value(n.held)
),

-- what follows from one term in its chunk
after_one AS MATERIALIZED (
    SELECT x.shared, x.owner, x.chunk, x.term AS known, y.term
    FROM part AS x
    SEMI JOIN wanted AS w ON x.term = w.term
    INNER JOIN part AS y
        ON
            x.shared = y.shared AND x.owner = y.owner AND x.chunk = y.chunk
            AND x.subrecord = y.subrecord
    INNER JOIN support AS s
        ON x.shared = s.shared AND x.owner = s.owner AND x.chunk = s.chunk AND x.term = s.term
    WHERE x.term <> y.term
    GROUP BY x.shared, x.owner, x.chunk, x.term, y.term
    HAVING count(*) = any_value(s.held)
),

-- what all records of a cluster have
everywhere AS (
    SELECT c.cluster, s.term
    FROM support AS s
    INNER JOIN query_table(clusters) AS c ON s.owner = c.cluster AND s.held = c.records
    WHERE NOT s.shared
    UNION ALL
    SELECT m.cluster, s.term
    FROM support AS s
    INNER JOIN crowd AS w ON s.owner = w.joint AND s.held = w.records
    INNER JOIN member AS m ON s.owner = m.joint
    WHERE s.shared
),

-- a set that no subrecord holds together cannot be in that cluster
kept AS MATERIALIZED (
    SELECT p.*
    FROM possible AS p
    LEFT JOIN both_support AS n
        ON
            p.one = n.one AND p.other = n.other AND p.shared = n.shared AND p.owner = n.owner
            AND p.chunk = n.chunk
    WHERE NOT p.together OR n.held IS NOT NULL
),

following AS (
    SELECT k.one, k.other, k.cluster, f.term
    FROM kept AS k
    INNER JOIN after_both AS f
        ON
            k.one = f.one AND k.other = f.other AND k.shared = f.shared AND k.owner = f.owner
            AND k.chunk = f.chunk
    WHERE k.together
    UNION
    SELECT k.one, k.other, k.cluster, f.term
    FROM kept AS k
    INNER JOIN after_one AS f
        ON k.shared = f.shared AND k.owner = f.owner AND k.chunk = f.chunk AND k.one = f.known
    WHERE NOT k.together
    UNION
    SELECT k.one, k.other, k.cluster, f.term
    FROM kept AS k
    INNER JOIN after_one AS f
        ON
            k.other_shared = f.shared AND k.other_owner = f.owner AND k.other_chunk = f.chunk
            AND k.other = f.known
    WHERE NOT k.together
    UNION
    SELECT k.one, k.other, k.cluster, e.term
    FROM kept AS k
    INNER JOIN everywhere AS e ON k.cluster = e.cluster
),

spread AS (
    SELECT k.one, k.other, count(*) AS clusters FROM kept AS k GROUP BY k.one, k.other
),

certain AS (
    SELECT DISTINCT f.one, f.other
    FROM (
        SELECT g.one, g.other, g.term, count(*) AS clusters
        FROM following AS g
        WHERE g.term NOT IN (g.one, g.other)
        GROUP BY g.one, g.other, g.term
    ) AS f
    INNER JOIN spread AS s
        ON f.one = s.one AND f.other = s.other AND f.clusters = s.clusters
)

SELECT
    a.record,
    CASE WHEN a.term = b.term THEN 1 ELSE 2 END AS items,
    count(*) AS sets,
    count(c.one) AS certain
FROM held AS a
INNER JOIN held AS b ON a.record = b.record AND a.term <= b.term
LEFT JOIN certain AS c ON a.term = c.one AND b.term = c.other
GROUP BY a.record, items;

-- What:    the shares of the records of which one or two known terms tell a further one.
-- Inputs:  sets: what srsql.certain_sets gives; of_release: a release id.
-- Outputs: uniform rows 'certain_inference'; violating = records some set of which does ('worst':
--          what a known patient risks), or expected ones for a random set; total = records that
--          have so many terms.
-- Source:  Awad 2019; SPEC sections 11 and 18.
CREATE OR REPLACE MACRO srsql.certain_inference(sets, of_release) AS TABLE
WITH figures AS (
    SELECT
        s.items,
        count(*) AS records,
        count(*) FILTER (WHERE s.certain > 0) AS worst,
        fsum(s.certain / s.sets) AS random
    FROM query_table(sets) AS s
    GROUP BY s.items
),

ways AS (
    SELECT f.items, f.records, unnest([
        struct_pack(way := 'worst', found := f.worst::DOUBLE),
        struct_pack(way := 'random', found := f.random)
    ], recursive := true)
    FROM figures AS f
)

SELECT unnest(srsql.metric_row(
    of_release,
    'certain_inference',
    w.items::VARCHAR || ' known, ' || w.way,
    w.found,
    w.records
))
FROM ways AS w
ORDER BY w.items ASC, w.way DESC;
