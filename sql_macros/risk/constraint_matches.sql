-- How many records match a utility constraint, told from the published tables of a disassociated
-- release. Names of tables, and item_means, as in risk/term_counts.sql.

-- What:    for each set, the mean number of records that hold one of its terms or more, over the
--          datasets that can be reconstructed.
-- Outputs: set_no, expected.
CREATE OR REPLACE MACRO srsql.term_matches_at_means(
    clusters, joint_clusters, record_chunks, shared_chunks, item_chunks, sets, item_means
) AS TABLE
WITH
asked AS (
    SELECT DISTINCT s.set_no, s.term FROM query_table(sets) AS s
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

above AS (
    SELECT a.set_no, s.joint, s.chunk, count(DISTINCT s.subrecord) AS held
    FROM asked AS a
    INNER JOIN query_table(shared_chunks) AS s ON a.term = s.term
    GROUP BY a.set_no, s.joint, s.chunk
),

lacking AS (
    SELECT a.set_no, r.cluster, 1 - count(DISTINCT r.subrecord) / any_value(c.records) AS share
    FROM asked AS a
    INNER JOIN query_table(record_chunks) AS r ON a.term = r.term
    INNER JOIN query_table(clusters) AS c ON r.cluster = c.cluster
    GROUP BY a.set_no, r.cluster, r.chunk
    UNION ALL
    SELECT
        a.set_no,
        i.cluster,
        1 - least(1, coalesce(e.mean, 1)::DOUBLE / c.records)
    FROM asked AS a
    INNER JOIN query_table(item_chunks) AS i ON a.term = i.term
    INNER JOIN query_table(clusters) AS c ON i.cluster = c.cluster
    LEFT JOIN query_table(item_means) AS e ON i.term = e.term
    UNION ALL
    SELECT s.set_no, m.cluster, 1 - s.held / w.records
    FROM above AS s
    INNER JOIN crowd AS w ON s.joint = w.joint
    INNER JOIN member AS m ON s.joint = m.joint
),

share AS (
    SELECT
        w.set_no,
        w.cluster,
        list_aggregate(list_sort(list(w.share)), 'product') AS none
    FROM lacking AS w
    GROUP BY w.set_no, w.cluster
)

SELECT q.set_no, coalesce(fsum((1 - h.none) * c.records), 0)::DOUBLE AS expected
FROM (SELECT DISTINCT a.set_no FROM asked AS a) AS q
LEFT JOIN share AS h ON q.set_no = h.set_no
LEFT JOIN query_table(clusters) AS c ON h.cluster = c.cluster
GROUP BY q.set_no;

-- What:    the same where an item term is in one record of its cluster, as in the paper.
CREATE OR REPLACE MACRO srsql.term_matches(
    clusters, joint_clusters, record_chunks, shared_chunks, item_chunks, sets
) AS TABLE
WITH
no_mean AS MATERIALIZED (
    SELECT NULL::VARCHAR AS term, 1.0 AS mean
)

SELECT m.set_no, m.expected
FROM
    srsql.term_matches_at_means(
        clusters, joint_clusters, record_chunks, shared_chunks, item_chunks, sets, 'no_mean'
    ) AS m;
