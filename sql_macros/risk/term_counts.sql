-- How many records hold a set of terms, told from the published tables of a disassociated release.
-- Names of tables as in checks/chunks.sql; in addition
--   sets(set_no, term): the sets that are asked for, each of one term or more.
-- item_cases: in so many records of its cluster an item term is at most (NULL: in all of them).
-- Every dataset of I(D_A) is as possible as any other: subrecords meet at random, independently in
-- each chunk. For the expected number, an item term is in one record of its cluster, or on average
-- in as many as item_means(term, mean) says. Bounds do not depend on that.

-- What:    for each set, the fewest records that can hold all its terms, the mean over the datasets
--          that can be reconstructed, and the most.
-- Outputs: set_no, lower, expected, upper. A term that is nowhere makes all three 0.
-- Source:  Frechet's bounds within a cluster; SPEC section 11; Terrovitis et al. 2012.
-- How:     a cluster that has a place for every term of the set holds it in at least
--          |P| + sum(a - |P|) and at most min(a) records, over the supports a of the set's parts in
--          its record chunks (item terms: 1, and |P| or item_cases). The bounds of the clusters of
--          a joint cluster J are added, then those of the set's parts in its shared chunks are
--          applied in the same way to the sums; from the smallest joint cluster up. A set with one
--          part is exact.
CREATE OR REPLACE MACRO srsql.term_counts_at_means(
    clusters, joint_clusters, record_chunks, shared_chunks, item_chunks, sets, item_means,
    item_cases
) AS TABLE
WITH RECURSIVE
asked AS (
    SELECT DISTINCT s.set_no, s.term FROM query_table(sets) AS s
),

size AS (
    SELECT a.set_no, count(*) AS terms FROM asked AS a GROUP BY a.set_no
),

wanted AS (
    SELECT DISTINCT a.term FROM asked AS a
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

own AS (
    SELECT r.cluster, r.chunk, r.subrecord, r.term FROM query_table(record_chunks) AS r
    SEMI JOIN wanted AS w ON r.term = w.term
),

common AS (
    SELECT s.joint, s.chunk, s.subrecord, s.term FROM query_table(shared_chunks) AS s
    SEMI JOIN wanted AS w ON s.term = w.term
),

above AS (
    SELECT s.joint, s.chunk, s.term, count(*) AS held FROM common AS s
    GROUP BY s.joint, s.chunk, s.term
),

place AS (
    SELECT
        'own' AS kind, o.cluster, o.cluster AS owner, o.chunk, o.term, count(*) AS held, 1.0 AS mean
    FROM own AS o
    GROUP BY o.cluster, o.chunk, o.term
    UNION ALL
    SELECT
        'item',
        i.cluster,
        i.cluster AS owner,
        0,
        i.term,
        1,
        coalesce(e.mean, 1)::DOUBLE
    FROM query_table(item_chunks) AS i
    SEMI JOIN wanted AS w ON i.term = w.term
    LEFT JOIN query_table(item_means) AS e ON i.term = e.term
    UNION ALL
    SELECT 'shared', m.cluster, a.joint, a.chunk, a.term, a.held, 1.0
    FROM above AS a
    INNER JOIN member AS m ON a.joint = m.joint
),

-- a set can be only where its term of fewest places is
spread AS (
    SELECT w.term, count(p.term) AS places
    FROM wanted AS w
    LEFT JOIN place AS p ON w.term = p.term
    GROUP BY w.term
),

rarest AS (
    SELECT a.set_no, min((s.places, s.term))[2] AS term
    FROM asked AS a
    INNER JOIN spread AS s ON a.term = s.term
    GROUP BY a.set_no
),

part AS (
    SELECT
        a.set_no,
        p.cluster,
        p.kind,
        p.owner,
        p.chunk,
        count(*) AS terms,
        min(p.held) AS held,
        list_sort(list(p.mean)) AS means
    FROM rarest AS v
    INNER JOIN place AS f ON v.term = f.term
    INNER JOIN asked AS a ON v.set_no = a.set_no
    INNER JOIN place AS p ON f.cluster = p.cluster AND a.term = p.term
    GROUP BY a.set_no, p.cluster, p.kind, p.owner, p.chunk
),

possible AS (
    SELECT p.set_no, p.cluster
    FROM part AS p
    INNER JOIN size AS s ON p.set_no = s.set_no
    GROUP BY p.set_no, p.cluster
    HAVING sum(p.terms) = any_value(s.terms)
),

kept AS (
    SELECT p.* FROM part AS p
    SEMI JOIN possible AS q ON p.set_no = q.set_no AND p.cluster = q.cluster
),

-- several terms in one chunk: the subrecords that hold them all
together AS (
    SELECT t.kind, t.set_no, t.owner, t.chunk, count(*) AS held
    FROM (
        SELECT 'own' AS kind, k.set_no, k.owner, k.chunk
        FROM kept AS k
        INNER JOIN asked AS a ON k.set_no = a.set_no
        INNER JOIN own AS o ON k.owner = o.cluster AND k.chunk = o.chunk AND a.term = o.term
        WHERE k.kind = 'own' AND k.terms > 1
        GROUP BY k.set_no, k.owner, k.chunk, o.subrecord
        HAVING count(*) = any_value(k.terms)
        UNION ALL
        SELECT 'shared', k.set_no, k.owner, k.chunk
        FROM (
            SELECT DISTINCT s.set_no, s.owner, s.chunk, s.terms FROM kept AS s
            WHERE s.kind = 'shared' AND s.terms > 1
        ) AS k
        INNER JOIN asked AS a ON k.set_no = a.set_no
        INNER JOIN common AS c ON k.owner = c.joint AND k.chunk = c.chunk AND a.term = c.term
        GROUP BY k.set_no, k.owner, k.chunk, c.subrecord
        HAVING count(*) = any_value(k.terms)
    ) AS t
    GROUP BY t.kind, t.set_no, t.owner, t.chunk
),

counted AS (
    SELECT
        k.set_no,
        k.cluster,
        k.kind,
        k.owner,
        k.chunk,
        k.terms,
        k.means,
        coalesce(w.records, c.records) AS records,
        c.records AS own_records,
        CASE WHEN k.kind = 'item' OR k.terms = 1 THEN k.held ELSE coalesce(t.held, 0) END AS held
    FROM kept AS k
    INNER JOIN query_table(clusters) AS c ON k.cluster = c.cluster
    LEFT JOIN crowd AS w ON k.kind = 'shared' AND k.owner = w.joint
    LEFT JOIN together AS t
        ON k.kind = t.kind AND k.set_no = t.set_no AND k.owner = t.owner AND k.chunk = t.chunk
),

cap AS (
    SELECT d.set_no, d.owner AS joint, min(d.held) AS most, sum(d.held - d.records) AS slack
    FROM (
        SELECT DISTINCT k.set_no, k.owner, k.chunk, k.records, k.held FROM counted AS k
        WHERE k.kind = 'shared'
    ) AS d
    GROUP BY d.set_no, d.owner
),

leaf AS (
    SELECT
        k.set_no,
        k.cluster,
        greatest(0, any_value(k.own_records) + coalesce(sum(CASE k.kind
            WHEN 'own' THEN k.held - k.records
            WHEN 'item' THEN k.terms * (1 - k.records)
        END), 0)) AS fewest,
        min(CASE k.kind
            WHEN 'own' THEN k.held
            WHEN 'item' THEN least(k.own_records, coalesce(item_cases, k.own_records))
            ELSE k.own_records
        END)::BIGINT AS most,
        any_value(k.own_records) * list_aggregate(
            list_sort(list(CASE k.kind
                WHEN 'item' THEN pow(1 / k.records, k.terms) * list_product(k.means)
                ELSE k.held / k.records
            END)), 'product'
        ) AS mean,
        list_distinct(list(k.owner) FILTER (WHERE k.kind = 'shared')) AS joints
    FROM counted AS k
    GROUP BY k.set_no, k.cluster
),

-- the joint clusters of a leaf, the largest first
path AS (
    SELECT
        q.set_no,
        q.cluster,
        list(q.joint ORDER BY w.records DESC, q.joint ASC) AS joints
    FROM (SELECT l.set_no, l.cluster, unnest(l.joints) AS joint FROM leaf AS l) AS q
    INNER JOIN crowd AS w ON q.joint = w.joint
    GROUP BY q.set_no, q.cluster
),

climb AS (
    SELECT
        s.set_no,
        s.joints,
        max(len(s.joints)) OVER (PARTITION BY s.set_no) AS level,
        s.fewest,
        s.most
    FROM (
        SELECT
            l.set_no,
            coalesce(p.joints, []) AS joints,
            sum(l.fewest)::HUGEINT AS fewest,
            sum(l.most)::HUGEINT AS most
        FROM leaf AS l
        LEFT JOIN path AS p ON l.set_no = p.set_no AND l.cluster = p.cluster
        GROUP BY l.set_no, coalesce(p.joints, [])
    ) AS s
    UNION ALL
    SELECT c.set_no, c.joints, c.level - 1, sum(c.fewest)::HUGEINT, sum(c.most)::HUGEINT
    FROM (
        SELECT
            b.set_no,
            b.level,
            CASE WHEN p.joint IS NULL THEN b.joints ELSE b.joints[:-2] END AS joints,
            CASE WHEN p.joint IS NULL THEN b.fewest ELSE greatest(0, b.fewest + p.slack) END
                AS fewest,
            CASE WHEN p.joint IS NULL THEN b.most ELSE least(b.most, p.most) END AS most
        FROM climb AS b
        LEFT JOIN cap AS p
            ON b.set_no = p.set_no AND len(b.joints) = b.level AND b.joints[-1] = p.joint
        WHERE b.level > 0
    ) AS c
    GROUP BY c.set_no, c.joints, c.level
),

bound AS (
    SELECT b.set_no, sum(b.fewest)::BIGINT AS fewest, sum(b.most)::BIGINT AS most
    FROM climb AS b
    WHERE b.level = 0
    GROUP BY b.set_no
),

mean AS (
    SELECT l.set_no, fsum(l.mean) AS mean FROM leaf AS l GROUP BY l.set_no
)

SELECT
    s.set_no,
    coalesce(b.fewest, 0) AS lower,
    coalesce(greatest(b.fewest, least(b.most, m.mean)), 0)::DOUBLE AS expected,
    coalesce(b.most, 0) AS upper
FROM size AS s
LEFT JOIN bound AS b ON s.set_no = b.set_no
LEFT JOIN mean AS m ON s.set_no = m.set_no;

-- What:    the same where an item term is in one record of its cluster, as in the paper.
CREATE OR REPLACE MACRO srsql.term_counts(
    clusters, joint_clusters, record_chunks, shared_chunks, item_chunks, sets, item_cases
) AS TABLE
WITH
no_mean AS MATERIALIZED (
    SELECT NULL::VARCHAR AS term, 1.0 AS mean
)

SELECT c.set_no, c.lower, c.expected, c.upper
FROM
    srsql.term_counts_at_means(
        clusters, joint_clusters, record_chunks, shared_chunks, item_chunks, sets, 'no_mean',
        item_cases
    ) AS c;

-- What:    of how many records of its cluster each item term is told, on average.
-- Inputs:  attribute_means: a map, of how many records an item term of an attribute (the text
--          before the first colon) is told on average; most: no term is of more than that.
-- Outputs: term, mean.
-- Source:  zero-truncated Poisson: a term that shows in a share p of the clusters falls on
--          r = -ln(1 - p) records of each, and on r / p of those that show it, if records fall into
--          clusters at random. They do not; so what is above 1 is scaled until its mean over the
--          item chunks is that of the attribute. A term of few clusters stays near 1.
CREATE OR REPLACE MACRO srsql.item_term_means(
    clusters, record_chunks, item_chunks, attribute_means, most
) AS TABLE
WITH
place AS (
    SELECT r.cluster, r.term FROM query_table(record_chunks) AS r
    UNION
    SELECT i.cluster, i.term FROM query_table(item_chunks) AS i
),

total AS (
    SELECT count(*) AS clusters FROM query_table(clusters)
),

item AS (
    SELECT i.term, count(*) AS clusters FROM query_table(item_chunks) AS i GROUP BY i.term
),

share AS (
    SELECT p.term, count(*) / (any_value(t.clusters) + 1) AS share
    FROM place AS p
    CROSS JOIN total AS t
    GROUP BY p.term
),

excess AS (
    SELECT
        i.term,
        i.clusters,
        split_part(i.term, ':', 1) AS attribute,
        -ln(1 - s.share) / s.share - 1 AS excess
    FROM item AS i
    INNER JOIN share AS s ON i.term = s.term
),

typical AS (
    SELECT e.attribute, fsum(e.excess * e.clusters) / sum(e.clusters) AS excess
    FROM excess AS e
    GROUP BY e.attribute
)

SELECT
    e.term,
    least(
        most, 1 + (coalesce(attribute_means[e.attribute], 1) - 1) * e.excess / y.excess
    )::DOUBLE AS mean
FROM excess AS e
INNER JOIN typical AS y ON e.attribute = y.attribute;
