-- What a disassociated release keeps, checked from its published tables alone. Nothing here is used
-- to make a release. Inputs are the names of tables or views of the published shape:
--   clusters(cluster, records); joint_clusters(joint, cluster);
--   record_chunks(cluster, chunk, subrecord, term); shared_chunks(joint, chunk, subrecord, term);
--   item_chunks(cluster, term).
-- Every check returns the uniform row, release = the id given.

-- What:    the chunks that are not k^m-anonymous, one row each.
-- Inputs:  record_chunks, shared_chunks; at_least: k; together: m, of any size.
-- Outputs: shared (is it a shared chunk), owner (the cluster or joint cluster), chunk, terms (so
--          many occur together ...), subrecords (... in so few), common (the terms that these
--          subrecords have in common, sorted).
-- Source:  Terrovitis et al. 2012; Loukides 2014, section 3.1.
-- How:     combinations are told apart by the set of subrecords that hold them alone, so a long
--          subrecord costs no more than a short one: from the sets of single terms, each step cuts
--          every set of k or more with the set of one more term. Only subrecords matter that lie,
--          whole, in fewer than k (else their combinations lie in k, too): one of at most m terms is
--          a breach by itself, and a set without one is left alone, as is one that the steps left
--          cannot bring below k. Equal subrecords count up to k.
CREATE OR REPLACE MACRO srsql.km_breaches(record_chunks, shared_chunks, at_least, together) AS TABLE
WITH RECURSIVE
piece AS (
    SELECT false AS shared, r.cluster AS owner, r.chunk, r.subrecord, r.term
    FROM query_table(record_chunks) AS r
    UNION ALL
    SELECT true, s.joint, s.chunk, s.subrecord, s.term FROM query_table(shared_chunks) AS s
),

whole AS (
    SELECT p.shared, p.owner, p.chunk, list_sort(list_distinct(list(p.term))) AS terms
    FROM piece AS p
    GROUP BY p.shared, p.owner, p.chunk, p.subrecord
),

kind AS (
    SELECT w.shared, w.owner, w.chunk, w.terms, least(count(*), at_least)::BIGINT AS copies
    FROM whole AS w
    GROUP BY w.shared, w.owner, w.chunk, w.terms
),

laid AS (
    SELECT
        k.shared,
        k.owner,
        k.chunk,
        k.terms,
        k.copies,
        sum(k.copies) OVER (
            PARTITION BY k.shared, k.owner, k.chunk ORDER BY k.terms
        )::BIGINT AS until,
        sum(k.copies) OVER (PARTITION BY k.shared, k.owner, k.chunk)::BIGINT AS width
    FROM kind AS k
),

spread AS (
    SELECT
        l.shared, l.owner, l.chunk, l.copies, l.until, l.width, l.terms, unnest(l.terms) AS term
    FROM laid AS l
),

gaps AS (
    SELECT
        s.*,
        s.until - s.copies - coalesce(lag(s.until) OVER (
            PARTITION BY s.shared, s.owner, s.chunk, s.term ORDER BY s.until
        ), 0) AS gap
    FROM spread AS s
),

-- a bit for each subrecord of the chunk
holder AS (
    SELECT
        g.shared,
        g.owner,
        g.chunk,
        g.term,
        (
            string_agg(repeat('0', g.gap) || repeat('1', g.copies), '' ORDER BY g.until)
            || repeat('0', max(g.width) - max(g.until))
        )::BIT AS held
    FROM gaps AS g
    GROUP BY g.shared, g.owner, g.chunk, g.term
),

rare AS (
    SELECT
        s.shared,
        s.owner,
        s.chunk,
        s.until,
        any_value(s.copies) AS copies,
        any_value(s.width) AS width,
        count(*) AS terms,
        bit_count(bit_and(h.held))::BIGINT AS subrecords,
        bit_and(h.held) AS held
    FROM spread AS s
    INNER JOIN holder AS h
        ON s.shared = h.shared AND s.owner = h.owner AND s.chunk = h.chunk AND s.term = h.term
    WHERE together > 2 AND s.copies < at_least
    GROUP BY s.shared, s.owner, s.chunk, s.until
    HAVING bit_count(bit_and(h.held)) < at_least
),

short AS (
    SELECT r.shared, r.owner, r.chunk, min((r.terms, r.subrecords, r.held)) AS found
    FROM rare AS r
    WHERE r.terms <= together
    GROUP BY r.shared, r.owner, r.chunk
),

rare_gaps AS (
    SELECT
        r.*,
        r.until - r.copies - coalesce(lag(r.until) OVER (
            PARTITION BY r.shared, r.owner, r.chunk ORDER BY r.until
        ), 0) AS gap
    FROM rare AS r
),

suspect AS (
    SELECT
        g.shared,
        g.owner,
        g.chunk,
        (
            string_agg(repeat('0', g.gap) || repeat('1', g.copies), '' ORDER BY g.until)
            || repeat('0', max(g.width) - max(g.until))
        )::BIT AS mask
    FROM rare_gaps AS g
    GROUP BY g.shared, g.owner, g.chunk
),

-- reach: how many subrecords one more term can take away
step AS (
    SELECT
        h.shared,
        h.owner,
        h.chunk,
        h.held,
        s.mask,
        max(length(h.held) - bit_count(h.held)) OVER (
            PARTITION BY h.shared, h.owner, h.chunk
        ) AS reach
    FROM holder AS h
    LEFT JOIN suspect AS s ON h.shared = s.shared AND h.owner = s.owner AND h.chunk = s.chunk
    ANTI JOIN short AS o ON h.shared = o.shared AND h.owner = o.owner AND h.chunk = o.chunk
    WHERE together <= 2 OR bit_count(h.held & s.mask) > 0
),

walk AS (
    SELECT s.shared, s.owner, s.chunk, s.held, 1::BIGINT AS terms FROM step AS s
    UNION
    SELECT w.shared, w.owner, w.chunk, w.held & s.held, w.terms + 1
    FROM walk AS w
    INNER JOIN step AS s ON w.shared = s.shared AND w.owner = s.owner AND w.chunk = s.chunk
    WHERE
        w.terms < together
        AND bit_count(w.held) >= at_least
        AND bit_count(w.held) - (together - w.terms) * s.reach < at_least
        AND w.held & s.held <> w.held
        AND bit_count(w.held & s.held) > 0
        AND (together <= 2 OR bit_count(w.held & s.held & s.mask) > 0)
),

worst AS (
    SELECT w.shared, w.owner, w.chunk, min((w.terms, bit_count(w.held)::BIGINT, w.held)) AS found
    FROM walk AS w
    WHERE bit_count(w.held) < at_least
    GROUP BY w.shared, w.owner, w.chunk
    UNION ALL
    SELECT o.shared, o.owner, o.chunk, o.found FROM short AS o
)

SELECT
    b.shared,
    b.owner,
    b.chunk,
    any_value(b.found[1]) AS terms,
    any_value(b.found[2]) AS subrecords,
    list(h.term ORDER BY h.term) AS common
FROM worst AS b
INNER JOIN holder AS h ON b.shared = h.shared AND b.owner = h.owner AND b.chunk = h.chunk
WHERE b.found[3] & h.held = b.found[3]
GROUP BY b.shared, b.owner, b.chunk;

-- What:    every combination of at most m terms that occurs in a chunk occurs in at least k of its
--          subrecords; one row for record chunks, one for shared chunks.
-- Source:  SPEC section 11; Loukides 2014, section 3.1.
CREATE OR REPLACE MACRO srsql.check_km(
    record_chunks, shared_chunks, at_least, together, release_id
) AS TABLE
WITH
breach AS (
    SELECT b.shared FROM srsql.km_breaches(record_chunks, shared_chunks, at_least, together) AS b
),

seen AS (
    SELECT 'record chunk' AS scope, false AS shared, (
        SELECT count(*) FROM (SELECT DISTINCT r.cluster, r.chunk FROM query_table(record_chunks) AS r)
    ) AS chunks
    UNION ALL
    SELECT 'shared chunk', true, (
        SELECT count(*) FROM (SELECT DISTINCT s.joint, s.chunk FROM query_table(shared_chunks) AS s)
    )
)

SELECT
    release_id AS release,
    'check_km' AS measure,
    s.scope,
    count(b.shared)::DOUBLE AS violating,
    any_value(s.chunks)::DOUBLE AS total,
    count(b.shared) / nullif(any_value(s.chunks), 0) AS ratio,
    at_least::DOUBLE AS threshold,
    count(b.shared) = 0 AS passed
FROM seen AS s
LEFT JOIN breach AS b ON s.shared = b.shared
GROUP BY s.scope;

-- What:    every cluster has at least so many records: k, or l where l-diversity is asked for.
CREATE OR REPLACE MACRO srsql.check_cluster_size(clusters, at_least, release_id) AS TABLE
SELECT
    release_id AS release,
    'check_cluster_size' AS measure,
    'cluster' AS scope,
    count(*) FILTER (WHERE c.records IS NULL OR c.records < at_least)::DOUBLE AS violating,
    count(*)::DOUBLE AS total,
    count(*) FILTER (WHERE c.records IS NULL OR c.records < at_least)
    / nullif(count(*), 0) AS ratio,
    at_least::DOUBLE AS threshold,
    count(*) FILTER (WHERE c.records IS NULL OR c.records < at_least) = 0 AS passed
FROM query_table(clusters) AS c;

-- What:    the clusters without an item chunk whose record chunks have too few subrecords: k records
--          cannot hold the same terms of min(m, v) chunks and every other record one term at least.
-- Outputs: cluster, records, chunks (v), subrecords (non-empty ones over its record chunks), needed.
-- Source:  Terrovitis et al. 2012, Lemma 2; SPEC section 11. Shared chunks do not count. A cluster
--          without any chunk of its own could have records without a term, so it needs one chunk.
CREATE OR REPLACE MACRO srsql.bare_clusters(
    clusters, record_chunks, item_chunks, at_least, together
) AS TABLE
WITH
filled AS (
    SELECT f.cluster, count(DISTINCT f.chunk) AS chunks, count(*) AS subrecords
    FROM (
        SELECT DISTINCT r.cluster, r.chunk, r.subrecord FROM query_table(record_chunks) AS r
    ) AS f
    GROUP BY f.cluster
),

judged AS (
    SELECT
        c.cluster,
        c.records,
        coalesce(f.chunks, 0) AS chunks,
        coalesce(f.subrecords, 0) AS subrecords,
        c.records
        + at_least * (greatest(1, least(together, coalesce(f.chunks, 0))) - 1) AS needed
    FROM query_table(clusters) AS c
    LEFT JOIN filled AS f ON c.cluster = f.cluster
    ANTI JOIN query_table(item_chunks) AS i ON c.cluster = i.cluster
)

SELECT j.* FROM judged AS j WHERE j.subrecords < j.needed;

-- What:    a cluster whose item chunk is empty has subrecords enough (see bare_clusters).
CREATE OR REPLACE MACRO srsql.check_bare_clusters(
    clusters, record_chunks, item_chunks, at_least, together, release_id
) AS TABLE
SELECT
    release_id AS release,
    'check_bare_clusters' AS measure,
    'cluster without item chunk' AS scope,
    b.clusters::DOUBLE AS violating,
    count(n.cluster)::DOUBLE AS total,
    b.clusters / nullif(count(n.cluster), 0) AS ratio,
    0::DOUBLE AS threshold,
    b.clusters = 0 AS passed
FROM (
    SELECT c.cluster FROM query_table(clusters) AS c
    ANTI JOIN query_table(item_chunks) AS i ON c.cluster = i.cluster
) AS n
RIGHT JOIN (
    SELECT count(*) AS clusters FROM srsql.bare_clusters(
        clusters, record_chunks, item_chunks, at_least, together
    )
) AS b ON true
GROUP BY b.clusters;

-- What:    the terms that stand in two places of one cluster, of which the second makes the first
--          tell more than it should.
-- Outputs: scope ('shared chunk': in a shared chunk above the cluster and elsewhere; 'item chunk':
--          in the item chunk and a record chunk; 'record chunk': in two record chunks), owner (the
--          cluster, or one of the joint clusters of two shared chunks), term.
-- Source:  SPEC section 11; Loukides 2014, section 4 (chunks partition the terms).
CREATE OR REPLACE MACRO srsql.doubled_terms(
    joint_clusters, record_chunks, shared_chunks, item_chunks
) AS TABLE
WITH
own AS (
    SELECT DISTINCT r.cluster, r.chunk, r.term FROM query_table(record_chunks) AS r
),

item AS (
    SELECT DISTINCT i.cluster, i.term FROM query_table(item_chunks) AS i
),

above AS (
    SELECT DISTINCT s.joint, s.chunk, s.term FROM query_table(shared_chunks) AS s
),

member AS (
    SELECT DISTINCT j.joint, j.cluster FROM query_table(joint_clusters) AS j
),

related AS (
    SELECT DISTINCT a.joint, b.joint AS other
    FROM member AS a
    INNER JOIN member AS b ON a.cluster = b.cluster AND a.joint <= b.joint
)

SELECT 'record chunk' AS scope, o.cluster AS owner, o.term
FROM own AS o
GROUP BY o.cluster, o.term
HAVING count(*) > 1
UNION ALL
SELECT DISTINCT 'item chunk', i.cluster, i.term
FROM item AS i
INNER JOIN own AS o ON i.cluster = o.cluster AND i.term = o.term
UNION ALL
SELECT DISTINCT 'shared chunk', p.cluster, p.term
FROM (
    SELECT o.cluster, o.term FROM own AS o
    UNION ALL
    SELECT i.cluster, i.term FROM item AS i
) AS p
INNER JOIN member AS m ON p.cluster = m.cluster
INNER JOIN above AS a ON m.joint = a.joint AND p.term = a.term
UNION ALL
SELECT DISTINCT 'shared chunk', a.joint, a.term
FROM above AS a
INNER JOIN related AS r ON a.joint = r.joint
INNER JOIN above AS b ON r.other = b.joint AND a.term = b.term
WHERE a.joint <> b.joint OR a.chunk < b.chunk;

-- What:    a term stands in one place of a cluster (see doubled_terms); one row per scope.
CREATE OR REPLACE MACRO srsql.check_one_place(
    joint_clusters, record_chunks, shared_chunks, item_chunks, release_id
) AS TABLE
WITH
doubled AS (
    SELECT d.scope FROM srsql.doubled_terms(
        joint_clusters, record_chunks, shared_chunks, item_chunks
    ) AS d
),

places AS (
    SELECT 'record chunk' AS scope, count(*) AS n
    FROM (SELECT DISTINCT r.cluster, r.chunk, r.term FROM query_table(record_chunks) AS r)
    UNION ALL
    SELECT 'item chunk', count(*) FROM query_table(item_chunks)
    UNION ALL
    SELECT 'shared chunk', count(*)
    FROM (SELECT DISTINCT s.joint, s.chunk, s.term FROM query_table(shared_chunks) AS s)
)

SELECT
    release_id AS release,
    'check_one_place' AS measure,
    p.scope,
    count(d.scope)::DOUBLE AS violating,
    any_value(p.n)::DOUBLE AS total,
    count(d.scope) / nullif(any_value(p.n), 0) AS ratio,
    0::DOUBLE AS threshold,
    count(d.scope) = 0 AS passed
FROM places AS p
LEFT JOIN doubled AS d ON p.scope = d.scope
GROUP BY p.scope;

-- What:    a sensitive term is in item chunks only (l-diversity).
-- Inputs:  sensitive(term): the terms that are kept apart.
-- Source:  Loukides 2014, section 7.2.
CREATE OR REPLACE MACRO srsql.check_kept_apart(
    record_chunks, shared_chunks, sensitive, release_id
) AS TABLE
WITH
shown AS (
    SELECT r.term FROM query_table(record_chunks) AS r
    UNION
    SELECT s.term FROM query_table(shared_chunks) AS s
),

judged AS (
    SELECT k.term, s.term IS NOT NULL AS broken
    FROM (SELECT DISTINCT q.term FROM query_table(sensitive) AS q) AS k
    LEFT JOIN shown AS s ON k.term = s.term
)

SELECT
    release_id AS release,
    'check_kept_apart' AS measure,
    'sensitive term' AS scope,
    count(*) FILTER (WHERE j.broken)::DOUBLE AS violating,
    count(*)::DOUBLE AS total,
    count(*) FILTER (WHERE j.broken) / nullif(count(*), 0) AS ratio,
    0::DOUBLE AS threshold,
    count(*) FILTER (WHERE j.broken) = 0 AS passed
FROM judged AS j;
