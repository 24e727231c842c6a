-- What a disassociated release keeps, checked from its published tables alone. Nothing here is used
-- to make a release. Inputs are the names of tables or views of the published shape:
--   clusters(cluster, records); joint_clusters(joint, cluster);
--   record_chunks(cluster, chunk, subrecord, term); shared_chunks(joint, chunk, subrecord, term);
--   item_chunks(cluster, term).
-- Every check returns the uniform row, release = the id given.

-- What:    every cluster has at least so many records: k, or l where l-diversity is asked for.
CREATE OR REPLACE MACRO srsql.check_cluster_size(clusters, at_least, release_id) AS TABLE
SELECT
    unnest(srsql.check_row(
        release_id, 'check_cluster_size', 'cluster', f.violating, f.total, at_least
    ))
FROM (
    SELECT
        count(*) FILTER (WHERE c.records IS NULL OR c.records < at_least) AS violating,
        count(*) AS total
    FROM query_table(clusters) AS c
) AS f;

-- What:    the clusters without an item chunk whose record chunks have too few subrecords for k
--          records to hold the same terms of min(m, v) chunks and every other one a term at least.
-- Outputs: cluster, records, chunks (v), subrecords (non-empty, of its record chunks), needed.
-- Source:  Terrovitis et al. 2012; SPEC section 11. Shared chunks do not count. A cluster
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
WITH
bare AS (
    SELECT b.cluster FROM srsql.bare_clusters(
        clusters, record_chunks, item_chunks, at_least, together
    ) AS b
),

judged AS (
    SELECT c.cluster, b.cluster IS NOT NULL AS broken
    FROM query_table(clusters) AS c
    ANTI JOIN query_table(item_chunks) AS i ON c.cluster = i.cluster
    LEFT JOIN bare AS b ON c.cluster = b.cluster
)

SELECT
    unnest(srsql.check_row(
        release_id, 'check_bare_clusters', 'cluster without item chunk', f.violating, f.total, 0
    ))
FROM (
    SELECT count(*) FILTER (WHERE j.broken) AS violating, count(*) AS total
    FROM judged AS j
) AS f;

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
    SELECT 'record chunk' AS scope, count(DISTINCT row(r.cluster, r.chunk, r.term)) AS n
    FROM query_table(record_chunks) AS r
    UNION ALL
    SELECT 'item chunk', count(*) FROM query_table(item_chunks)
    UNION ALL
    SELECT 'shared chunk', count(DISTINCT row(s.joint, s.chunk, s.term))
    FROM query_table(shared_chunks) AS s
)

SELECT
    unnest(srsql.check_row(release_id, 'check_one_place', f.scope, f.violating, f.total, 0))
FROM (
    SELECT p.scope, count(d.scope) AS violating, any_value(p.n) AS total
    FROM places AS p
    LEFT JOIN doubled AS d ON p.scope = d.scope
    GROUP BY p.scope
) AS f;

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
    unnest(srsql.check_row(
        release_id, 'check_kept_apart', 'sensitive term', f.violating, f.total, 0
    ))
FROM (
    SELECT count(*) FILTER (WHERE j.broken) AS violating, count(*) AS total
    FROM judged AS j
) AS f;

-- What:    where whole rows are taken apart: a case has one row, a cluster as many rows as records,
--          every region of a cluster at least so many cases (clusters are unions of groups), and no
--          chunk is shared by clusters.
-- Inputs:  rows(case_id, region, cluster): the released rows of cases; at_least: k.
-- Outputs: four uniform rows (scope 'case', 'cluster', 'region of a cluster', 'joint cluster').
-- Source:  SPEC section 11 (whole rows).
CREATE OR REPLACE MACRO srsql.check_row_clusters(
    rows, clusters, joint_clusters, at_least, release_id
) AS TABLE
WITH
people AS (
    SELECT r.case_id, count(*) AS n FROM query_table(rows) AS r GROUP BY r.case_id
),

members AS (
    SELECT r.cluster, count(*) AS n FROM query_table(rows) AS r GROUP BY r.cluster
),

sized AS (
    SELECT coalesce(c.records = w.n, false) AS kept
    FROM query_table(clusters) AS c
    FULL JOIN members AS w ON c.cluster = w.cluster
),

parts AS (
    SELECT r.cluster, r.region, count(DISTINCT r.case_id) AS n
    FROM query_table(rows) AS r
    GROUP BY r.cluster, r.region
),

found AS (
    SELECT 'case' AS scope, count(*) FILTER (WHERE p.n <> 1) AS violating, count(*) AS total,
        1 AS bound
    FROM people AS p
    UNION ALL
    SELECT 'cluster', count(*) FILTER (WHERE NOT s.kept), count(*), 0 FROM sized AS s
    UNION ALL
    SELECT 'region of a cluster', count(*) FILTER (WHERE p.n < at_least), count(*), at_least
    FROM parts AS p
    UNION ALL
    SELECT 'joint cluster', count(*), count(*), 0 FROM query_table(joint_clusters)
)

SELECT
    unnest(srsql.check_row(
        release_id, 'check_row_clusters', f.scope, f.violating, f.total, f.bound
    ))
FROM found AS f;
