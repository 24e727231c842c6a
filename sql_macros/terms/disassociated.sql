-- What a disassociated release leaves to chance: the order of subrecords, and a sampled dataset.
-- Parameters that name tables take their names.

-- What:    the non-empty subrecords of each chunk in a random order: which of two chunks'
--          subrecords belong to one record is what disassociation hides.
-- Inputs:  placed(shared, owner, chunk_no, record_no, term_no): the terms of record chunks (owner:
--          the cluster) and shared chunks (shared; owner: the joint cluster); seed: NULL for the
--          secure generator, else that of an experiment.
-- Outputs: shared, owner, chunk_no, record_no, subrecord from 1 on. Every reading of this macro
--          draws anew: keep the result in a table.
-- Source:  Loukides 2014, section 3.2; SPEC section 11.
CREATE OR REPLACE MACRO srsql.subrecord_order(placed, seed) AS TABLE
WITH
subrecords AS (
    SELECT DISTINCT p.shared, p.owner, p.chunk_no, p.record_no
    FROM query_table(placed) AS p
),

numbered AS (
    SELECT
        s.*,
        row_number() OVER (ORDER BY s.shared, s.owner, s.chunk_no, s.record_no) AS place
    FROM subrecords AS s
),

sizes AS (
    SELECT s.shared, s.owner, s.chunk_no, count(*) AS subrecords
    FROM subrecords AS s
    GROUP BY s.shared, s.owner, s.chunk_no
),

listed AS (
    SELECT
        coalesce(
            list(z.subrecords::INTEGER ORDER BY z.shared, z.owner, z.chunk_no), []::INTEGER[]
        ) AS sizes,
        range(1, coalesce(sum(z.subrecords), 0)::BIGINT + 1) AS places
    FROM sizes AS z
),

drawn AS (
    SELECT
        unnest(l.places) AS place,
        unnest(srsql_shuffled(l.sizes, seed::BIGINT)) AS subrecord
    FROM listed AS l
)

SELECT n.shared, n.owner, n.chunk_no, n.record_no, d.subrecord
FROM numbered AS n
INNER JOIN drawn AS d ON n.place = d.place;

-- What:    the records of a dataset that the published tables may stand for: numbers from 1 on, in
--          the order of the clusters.
-- Inputs:  clusters(cluster, records).
-- Outputs: record_no, cluster.
-- Source:  own.
CREATE OR REPLACE MACRO srsql.sampled_records(clusters) AS TABLE
SELECT (w.before + w.i)::INTEGER AS record_no, w.cluster
FROM (
    SELECT
        c.cluster,
        sum(c.records) OVER (ORDER BY c.cluster) - c.records AS before,
        unnest(range(1, c.records + 1)) AS i
    FROM query_table(clusters) AS c
) AS w;

-- What:    every record that a subrecord of a chunk may lie on: those of its cluster, or of its
--          joint cluster. srsql.subrecord_order over it places each chunk's subrecords by an
--          independent uniform permutation of all these records; the last numbers are the empty
--          subrecords.
-- Inputs:  records: what srsql.sampled_records gives; joint_clusters(joint, cluster);
--          record_chunks(cluster, chunk, subrecord, term); shared_chunks(joint, chunk, subrecord,
--          term).
-- Outputs: shared, owner, chunk_no, record_no.
-- Source:  Loukides 2014, section 3.2.
CREATE OR REPLACE MACRO srsql.chunk_seats(
    records, joint_clusters, record_chunks, shared_chunks
) AS TABLE
SELECT false AS shared, c.cluster AS owner, c.chunk AS chunk_no, r.record_no
FROM (SELECT DISTINCT h.cluster, h.chunk FROM query_table(record_chunks) AS h) AS c
INNER JOIN query_table(records) AS r ON c.cluster = r.cluster
UNION ALL
SELECT true, c.joint, c.chunk, r.record_no
FROM (SELECT DISTINCT h.joint, h.chunk FROM query_table(shared_chunks) AS h) AS c
INNER JOIN query_table(joint_clusters) AS j ON c.joint = j.joint
INNER JOIN query_table(records) AS r ON j.cluster = r.cluster;

-- What:    each item term on one record of its cluster, all alike likely.
-- Inputs:  clusters(cluster, records); item_chunks(cluster, term); seed: NULL for the secure
--          generator, else that of an experiment.
-- Outputs: record_no as of srsql.sampled_records, cluster, term. Every reading of this macro draws
--          anew: keep the result in a table.
-- Source:  Terrovitis et al. 2012: an item chunk vouches for one occurrence.
CREATE OR REPLACE MACRO srsql.item_places(clusters, item_chunks, seed) AS TABLE
WITH
sizes AS (
    SELECT
        c.cluster,
        c.records,
        sum(c.records) OVER (ORDER BY c.cluster) - c.records AS before
    FROM query_table(clusters) AS c
),

items AS (
    SELECT i.cluster, i.term, s.records, s.before
    FROM query_table(item_chunks) AS i
    INNER JOIN sizes AS s ON i.cluster = s.cluster
),

listed AS (
    SELECT
        coalesce(
            list(
                struct_pack(before := i.before, owner := i.cluster, term := i.term)
                ORDER BY i.cluster, i.term
            ), []
        ) AS items,
        coalesce(list(i.records::INTEGER ORDER BY i.cluster, i.term), []::INTEGER[]) AS totals
    FROM items AS i
),

drawn AS (
    SELECT
        unnest(l.items) AS item,
        unnest(srsql_drawn_below(l.totals, seed::BIGINT)) AS place
    FROM listed AS l
)

SELECT (d.item.before + 1 + d.place)::INTEGER AS record_no, d.item.owner AS cluster, d.item.term
FROM drawn AS d;
