-- Who could be the target where whole rows are taken apart: cases of groups whose region covers
-- the quasi-identifiers, in clusters that admit the items. Parameters name tables.

-- What:    how many cases of a cluster have a region that covers what a case has of its own.
-- Inputs:  of_release: a release id; placed(case_no, cluster): the cluster of each released case;
--          asked(case_no, cluster): which clusters are looked at for which cases.
-- Outputs: case_no, cluster, cases (an empty value of a row covers every value) and alike, those of
--          them whose rows show a value exactly where the row of the case does.
-- Source:  SPEC sections 11 and 18. Only an empty value covers one that is missing.
CREATE OR REPLACE MACRO srsql.covering_cases(of_release, placed, asked) AS TABLE
WITH
crowd AS MATERIALIZED (
    SELECT m.group_id, p.cluster, count(*) AS cases
    FROM query_table(placed) AS p
    INNER JOIN srsql.member AS m ON p.case_no = m.case_no
    WHERE m.release_id = of_release
    GROUP BY m.group_id, p.cluster
),

own AS MATERIALIZED (
    SELECT o.case_no, o.position, o.low, o.high
    FROM srsql.original_qid(of_release) AS o
    SEMI JOIN query_table(asked) AS a ON o.case_no = a.case_no
),

judged AS (
    SELECT
        a.case_no,
        a.cluster,
        c.group_id,
        any_value(c.cases) AS cases,
        bool_and(
            g.low IS NULL OR coalesce(g.low <= o.low AND o.high <= g.high, false)
        ) AS covers,
        bool_and((g.low IS NULL) = (s.low IS NULL)) AS is_alike
    FROM query_table(asked) AS a
    INNER JOIN crowd AS c ON a.cluster = c.cluster
    INNER JOIN srsql.region AS g ON c.group_id = g.group_id AND g.release_id = of_release
    INNER JOIN srsql.member AS m ON m.release_id = of_release AND a.case_no = m.case_no
    LEFT JOIN srsql.region AS s
        ON s.release_id = of_release AND m.group_id = s.group_id AND g.position = s.position
    LEFT JOIN own AS o ON a.case_no = o.case_no AND g.position = o.position
    GROUP BY a.case_no, a.cluster, c.group_id
)

SELECT
    j.case_no,
    j.cluster,
    coalesce(sum(j.cases) FILTER (WHERE j.covers), 0)::BIGINT AS cases,
    coalesce(sum(j.cases) FILTER (WHERE j.covers AND j.is_alike), 0)::BIGINT AS alike
FROM judged AS j
GROUP BY j.case_no, j.cluster;

-- What:    whether one record of a cluster can hold a set of items: in some dataset that fits what
--          is published it does.
-- Inputs:  record_chunks, item_chunks: as in checks/chunks.sql; sets(set_no, cluster, term).
-- Outputs: set_no, cluster, admitted.
-- Source:  SPEC section 11. An item without a count may lie on any record, and so may a subrecord
--          of any chunk: some subrecord of each chunk has to hold what the chunk has of the set.
CREATE OR REPLACE MACRO srsql.admitted_sets(record_chunks, item_chunks, sets) AS TABLE
WITH
asked AS MATERIALIZED (
    SELECT DISTINCT s.set_no, s.cluster, s.term FROM query_table(sets) AS s
),

held AS (
    SELECT a.set_no, a.cluster, r.chunk, r.subrecord, count(*) AS terms
    FROM asked AS a
    INNER JOIN query_table(record_chunks) AS r ON a.cluster = r.cluster AND a.term = r.term
    GROUP BY a.set_no, a.cluster, r.chunk, r.subrecord
),

most AS (
    SELECT h.set_no, h.cluster, h.chunk, max(h.terms) AS terms
    FROM held AS h
    GROUP BY h.set_no, h.cluster, h.chunk
),

together AS (
    SELECT m.set_no, m.cluster, sum(m.terms) AS terms FROM most AS m GROUP BY m.set_no, m.cluster
),

free AS (
    SELECT a.set_no, a.cluster, count(*) AS terms
    FROM asked AS a
    SEMI JOIN query_table(item_chunks) AS i ON a.cluster = i.cluster AND a.term = i.term
    GROUP BY a.set_no, a.cluster
),

size AS (
    SELECT a.set_no, a.cluster, count(*) AS terms FROM asked AS a GROUP BY a.set_no, a.cluster
)

SELECT
    s.set_no,
    s.cluster,
    coalesce(t.terms, 0) + coalesce(f.terms, 0) = s.terms AS admitted
FROM size AS s
LEFT JOIN together AS t ON s.set_no = t.set_no AND s.cluster = t.cluster
LEFT JOIN free AS f ON s.set_no = f.set_no AND s.cluster = f.cluster;
