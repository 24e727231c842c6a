-- What the checks of ids and of orders read of the catalog and of the tables that a release was
-- made with.

-- name: key
-- The ids of the series of a release, its key, and whether another series has the same one.
SELECT
    s.ids,
    s.pseudonym_key,
    s.pseudonym_key IN (
        SELECT o.pseudonym_key
        FROM srsql.series AS o
        WHERE
            o.pseudonym_key IS NOT NULL
            AND (o.dataset, o.series) <> (s.dataset, s.series)
    ) AS shared
FROM srsql.release AS r
INNER JOIN srsql.series AS s ON r.dataset = s.dataset AND r.series = s.series
WHERE r.release_id = $release;

-- name: taken
-- What stands for an original in the place of the pseudonym of its first attempt, since those of
-- all attempts before it stand for other ids of the series. Only what rows show and first_id has
-- not is looked for.
WITH RECURSIVE -- noqa: PRS
stranger AS (
    SELECT s.kind, s.id FROM shown_id AS s
    ANTI JOIN first_id AS f ON s.kind = f.kind AND s.id = f.id
),

tried AS (
    SELECT o.kind, o.id AS original, 0 AS attempt, srsql.checked_pseudonym(
        $inner_key::BLOB,
        $outer_key::BLOB,
        concat_ws(':', o.kind, 0, strlen($quarter), $quarter, o.id),
        $bits
    ) AS made
    FROM stranger AS x
    INNER JOIN srsql.id_pseudonym AS p
        ON
            p.dataset = $dataset
            AND p.series = $series
            AND x.kind = p.kind
            AND x.id = p.pseudonym::VARCHAR
            AND p.quarter IS NOT DISTINCT FROM nullif($quarter, '')
    INNER JOIN original_id AS o ON p.kind = o.kind AND p.id = o.id
    UNION ALL
    SELECT t.kind, t.original, t.attempt + 1, srsql.checked_pseudonym(
        $inner_key::BLOB,
        $outer_key::BLOB,
        concat_ws(':', t.kind, t.attempt + 1, strlen($quarter), $quarter, t.original),
        $bits
    )
    FROM tried AS t
    INNER JOIN srsql.id_pseudonym AS p
        ON p.dataset = $dataset AND p.series = $series AND t.made = p.pseudonym
    WHERE t.attempt + 1 < $attempts AND (p.kind, p.id) <> (t.kind, t.original)
)

SELECT t.kind, t.made::VARCHAR AS id FROM tried AS t WHERE t.attempt > 0;

-- name: subrecords
-- Of each chunk in which not all subrecords are the same: whether they stand, by number, as the
-- records do that have them, and the chance of that in an order that was drawn.
WITH
held AS (
    SELECT
        c.cluster_no AS cluster,
        t.chunk_no AS chunk,
        b.record_no AS place,
        string_agg(n.term, '|' ORDER BY n.term) AS terms
    FROM temp.main.srsql_basket AS b
    INNER JOIN temp.main.srsql_cluster AS c ON b.record_no = c.record_no
    INNER JOIN temp.main.srsql_chunk_term AS t
        ON c.cluster_no = t.cluster_no AND b.term_no = t.term_no
    INNER JOIN temp.main.srsql_basket_term AS n ON b.term_no = n.term_no
    WHERE t.chunk_no > 0
    GROUP BY c.cluster_no, t.chunk_no, b.record_no
),

shown AS (
    SELECT
        s.cluster,
        s.chunk,
        s.subrecord AS place,
        string_agg(s.term, '|' ORDER BY s.term) AS terms
    FROM temp.main.srsql_pub_record_chunk AS s
    GROUP BY s.cluster, s.chunk, s.subrecord
),

alike AS (
    SELECT h.cluster, h.chunk, sum(h.ways) AS ways, count(*) AS kinds
    FROM (
        SELECT d.cluster, d.chunk, lgamma(count(*) + 1) AS ways
        FROM held AS d
        GROUP BY d.cluster, d.chunk, d.terms
    ) AS h
    GROUP BY h.cluster, h.chunk
),

made AS (
    SELECT h.cluster, h.chunk, list(h.terms ORDER BY h.place) AS terms, count(*) AS records
    FROM held AS h
    GROUP BY h.cluster, h.chunk
),

told AS (
    SELECT s.cluster, s.chunk, list(s.terms ORDER BY s.place) AS terms
    FROM shown AS s
    GROUP BY s.cluster, s.chunk
)

SELECT
    'subrecord' AS scope,
    m.terms = t.terms AS rising,
    exp(a.ways - lgamma(m.records + 1)) AS chance
FROM made AS m
INNER JOIN told AS t ON m.cluster = t.cluster AND m.chunk = t.chunk
INNER JOIN alike AS a ON m.cluster = a.cluster AND m.chunk = a.chunk
WHERE a.kinds > 1;

-- name: clusters
-- Pairs of clusters within groups that are half of all apart by number: whether the group of the
-- one comes before that of the other.
WITH placed AS (
    SELECT
        min(p.part_no) AS part_no,
        row_number() OVER (ORDER BY c.cluster_no) AS place,
        count(*) OVER () // 2 AS half
    FROM temp.main.srsql_cluster AS c
    INNER JOIN temp.main.srsql_part AS p ON c.record_no = p.record_no
    GROUP BY c.cluster_no
)

SELECT 'cluster' AS scope, p.part_no < q.part_no AS rising, 0.5 AS chance
FROM placed AS p
INNER JOIN placed AS q ON p.place + p.half = q.place AND p.place <= p.half
WHERE p.part_no <> q.part_no;

-- name: records
-- The same of generalized records.
WITH placed AS (
    SELECT
        g.record_no,
        row_number() OVER (ORDER BY g.record) AS place,
        count(*) OVER () // 2 AS half
    FROM temp.main.srsql_generalized_record AS g
)

SELECT 'record' AS scope, p.record_no < q.record_no AS rising, 0.5 AS chance
FROM placed AS p
INNER JOIN placed AS q ON p.place + p.half = q.place AND p.place <= p.half;
