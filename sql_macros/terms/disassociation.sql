-- Disassociation (Loukides 2014; SPEC section 11): the kernels as table macros. Parameters that
-- name tables take their names. A chunk_no of 0 is the item chunk.

-- What:    what the kernels need to know of each term.
-- Inputs:  basket(record_no, term_no), distinct; constraints(term_no, constraint_no): the utility
--          policy, disjoint; kept_apart(term_no).
-- Outputs: term_no, constraint_no (-1: none), kept_apart, support: records, place: the rank by
--          falling support, from 0 on.
-- Source:  Loukides 2014, section 4 and 7.2.
CREATE OR REPLACE MACRO srsql.term_roles(basket, constraints, kept_apart) AS TABLE
WITH
supports AS (
    SELECT b.term_no, count(*) AS support FROM query_table(basket) AS b GROUP BY b.term_no
),

policy AS (
    SELECT c.term_no, min(c.constraint_no) AS constraint_no
    FROM query_table(constraints) AS c
    GROUP BY c.term_no
)

SELECT
    s.term_no,
    coalesce(p.constraint_no, -1)::INTEGER AS constraint_no,
    s.term_no IN (SELECT a.term_no FROM query_table(kept_apart) AS a) AS kept_apart,
    s.support,
    (row_number() OVER (ORDER BY s.support DESC, s.term_no ASC) - 1)::INTEGER AS place
FROM supports AS s
LEFT JOIN policy AS p ON s.term_no = p.term_no;

-- What:    the terms with their roles as one list.
-- Inputs:  roles: what srsql.term_roles gives.
-- Outputs: one row: roles.
-- Source:  own.
CREATE OR REPLACE MACRO srsql.role_list(roles) AS TABLE
SELECT
    coalesce(list(struct_pack(
        term_no := r.term_no,
        constraint_no := r.constraint_no,
        kept_apart := r.kept_apart,
        place := r.place
    )), []) AS roles
FROM query_table(roles) AS r;

-- What:    parts of the data in which a cluster of enough records cannot be made.
-- Inputs:  parts(record_no, part_no); at_least: the records of a cluster.
-- Outputs: part_no, records.
-- Source:  SPEC section 11.
CREATE OR REPLACE MACRO srsql.parts_too_small(parts, at_least) AS TABLE
SELECT c.part_no, c.records
FROM (
    SELECT p.part_no, count(*) AS records FROM query_table(parts) AS p GROUP BY p.part_no
) AS c
WHERE c.records < at_least;

-- What:    HORPART: records into clusters of similar ones, none too small.
-- Inputs:  basket(record_no, term_no); parts(record_no, part_no), one row a record: clusters lie
--          within a part; roles: what srsql.term_roles gives; max_size: a part below is a cluster;
--          at_least: records of a cluster; lexicographic: those of smaller parts are pooled in the
--          order of their terms, else part by part.
-- Outputs: record_no, cluster_no from 1 on.
-- Source:  Loukides 2014, Fig. 8.
CREATE OR REPLACE MACRO srsql.horizontal_parts(
    basket, parts, roles, max_size, at_least, lexicographic
) AS TABLE
WITH
records AS (
    SELECT
        list(p.record_no ORDER BY p.record_no) AS record_nos,
        list(
            struct_pack(record_no := p.record_no, part_no := p.part_no) ORDER BY p.record_no
        ) AS records
    FROM query_table(parts) AS p
),

held AS (
    SELECT
        coalesce(
            list(struct_pack(record_no := b.record_no, term_no := b.term_no)), []
        ) AS held
    FROM query_table(basket) AS b
)

SELECT
    unnest(r.record_nos) AS record_no,
    unnest(
        srsql_horizontal_parts(
            r.records, h.held, t.roles, max_size::INTEGER, at_least::INTEGER,
            lexicographic::BOOLEAN
        )
    ) AS cluster_no
FROM records AS r
CROSS JOIN held AS h
CROSS JOIN srsql.role_list(roles) AS t
WHERE len(r.record_nos) > 0;

-- What:    clusters and how many records they have, as kernels take them.
-- Inputs:  clusters(record_no, cluster_no).
-- Outputs: clusters: STRUCT(cluster_no, records)[], one row.
-- Source:  SPEC section 11.
CREATE OR REPLACE MACRO srsql.cluster_list(clusters) AS TABLE
WITH sizes AS (
    SELECT c.cluster_no, count(*)::INTEGER AS records
    FROM query_table(clusters) AS c
    GROUP BY c.cluster_no
)

SELECT
    coalesce(list(struct_pack(cluster_no := s.cluster_no, records := s.records)), []) AS clusters
FROM sizes AS s;

-- What:    the terms of the records of clusters, as kernels take them.
-- Inputs:  basket(record_no, term_no); clusters(record_no, cluster_no).
-- Outputs: held: STRUCT(cluster_no, record_no, term_no)[], one row.
-- Source:  SPEC section 11.
CREATE OR REPLACE MACRO srsql.cluster_term_list(basket, clusters) AS TABLE
SELECT
    coalesce(list(struct_pack(
        cluster_no := c.cluster_no, record_no := b.record_no, term_no := b.term_no
    )), []) AS held
FROM query_table(basket) AS b
INNER JOIN query_table(clusters) AS c ON b.record_no = c.record_no;

-- What:    VERPART: the terms of each cluster into its record chunks and its item chunk.
-- Inputs:  basket(record_no, term_no); clusters(record_no, cluster_no); roles: what
--          srsql.term_roles gives; at_least: k; together: m; chunk_terms: terms of a chunk at most.
-- Outputs: cluster_no, chunk_no, term_no.
-- Source:  Loukides 2014, Fig. 9.
CREATE OR REPLACE MACRO srsql.vertical_chunks(
    basket, clusters, roles, at_least, together, chunk_terms
) AS TABLE
WITH
found AS (
    SELECT
        unnest(
            srsql_vertical_chunks(
                l.clusters, h.held, t.roles, at_least::INTEGER, together::INTEGER,
                chunk_terms::INTEGER
            )
        ) AS placed
    FROM srsql.cluster_list(clusters) AS l
    CROSS JOIN srsql.cluster_term_list(basket, clusters) AS h
    CROSS JOIN srsql.role_list(roles) AS t
)

SELECT placed.cluster_no, placed.chunk_no, placed.term_no
FROM found;

-- What:    whether a cluster's item chunk may be empty: its record chunks have so many non-empty
--          subrecords that no record needs more than min(m, v) of them, or a term that is kept
--          apart stays in it.
-- Inputs:  basket(record_no, term_no); clusters(record_no, cluster_no); chunk_terms(cluster_no,
--          chunk_no, term_no); roles: what srsql.term_roles gives; at_least: k; together: m.
-- Outputs: cluster_no, records, may_empty.
-- Source:  Terrovitis et al. 2012; SPEC section 11. Without a record chunk it may not be empty.
CREATE OR REPLACE MACRO srsql.cluster_room(
    basket, clusters, chunk_terms, roles, at_least, together
) AS TABLE
WITH
sizes AS (
    SELECT c.cluster_no, count(*)::INTEGER AS records
    FROM query_table(clusters) AS c
    GROUP BY c.cluster_no
),

subrecords AS (
    SELECT DISTINCT t.cluster_no, t.chunk_no, b.record_no
    FROM query_table(basket) AS b
    INNER JOIN query_table(clusters) AS c ON b.record_no = c.record_no
    INNER JOIN query_table(chunk_terms) AS t
        ON c.cluster_no = t.cluster_no AND b.term_no = t.term_no
    WHERE t.chunk_no > 0
),

filled AS (
    SELECT s.cluster_no, count(*) AS subrecords, max(s.chunk_no) AS chunks
    FROM subrecords AS s
    GROUP BY s.cluster_no
),

apart AS (
    SELECT DISTINCT t.cluster_no
    FROM query_table(chunk_terms) AS t
    INNER JOIN query_table(roles) AS r ON t.term_no = r.term_no
    WHERE r.kept_apart
)

SELECT
    s.cluster_no,
    s.records,
    coalesce(
        f.subrecords - s.records >= at_least::BIGINT * (least(together::BIGINT, f.chunks) - 1),
        false
    )
    OR a.cluster_no IS NOT NULL AS may_empty
FROM sizes AS s
LEFT JOIN filled AS f ON s.cluster_no = f.cluster_no
LEFT JOIN apart AS a ON s.cluster_no = a.cluster_no;

-- What:    refining: joint clusters and the terms of their shared chunks.
-- Inputs:  basket(record_no, term_no); clusters(record_no, cluster_no); chunk_terms(cluster_no,
--          chunk_no, term_no); room: what srsql.cluster_room gives; roles: what srsql.term_roles
--          gives; at_least: k; together: m; at_most: records of a joint cluster; shared_terms: of a
--          shared chunk at most; partners: nodes that a node meets in each term's list (0:
--          neighbours in one list meet).
-- Outputs: one row: members STRUCT(joint_no, cluster_no)[], every cluster under every joint cluster
--          it belongs to; terms STRUCT(joint_no, chunk_no, term_no)[].
-- Source:  Loukides 2014, section 4 (refining).
CREATE OR REPLACE MACRO srsql.refined(
    basket, clusters, chunk_terms, room, roles, at_least, together, at_most, shared_terms, partners
) AS TABLE
WITH
offered AS (
    SELECT t.cluster_no, t.term_no
    FROM query_table(chunk_terms) AS t
    INNER JOIN query_table(roles) AS r ON t.term_no = r.term_no
    WHERE t.chunk_no = 0 AND NOT r.kept_apart
),

held AS (
    SELECT
        coalesce(list(struct_pack(
            cluster_no := o.cluster_no, record_no := b.record_no, term_no := b.term_no
        )), []) AS held
    FROM query_table(basket) AS b
    INNER JOIN query_table(clusters) AS c ON b.record_no = c.record_no
    INNER JOIN offered AS o ON c.cluster_no = o.cluster_no AND b.term_no = o.term_no
),

barred AS (
    SELECT
        coalesce(
            list(struct_pack(cluster_no := t.cluster_no, term_no := t.term_no)), []
        ) AS barred
    FROM query_table(chunk_terms) AS t
    WHERE t.chunk_no > 0 AND t.term_no IN (SELECT o.term_no FROM offered AS o)
),

listed AS (
    SELECT
        coalesce(list(struct_pack(
            cluster_no := m.cluster_no, records := m.records, may_empty := m.may_empty
        )), []) AS clusters
    FROM query_table(room) AS m
)

SELECT f.refined.members, f.refined.terms
FROM (
    SELECT
        unnest([
            srsql_refine(
                l.clusters, h.held, b.barred, t.roles, at_least::INTEGER, together::INTEGER,
                struct_pack(
                    records := at_most::INTEGER,
                    terms := shared_terms::INTEGER,
                    partners := partners::INTEGER
                )
            )
        ]) AS refined
    FROM listed AS l
    CROSS JOIN held AS h
    CROSS JOIN barred AS b
    CROSS JOIN srsql.role_list(roles) AS t
) AS f;

-- What:    HORPART over whole groups of records: clusters are unions of groups.
-- Inputs:  basket(record_no, term_no); groups(record_no, group_no), one row a record; roles: what
--          srsql.term_roles gives; max_size: a part with fewer records is a cluster; at_least:
--          records of a cluster; lexicographic: as for srsql.horizontal_parts. A group has the
--          terms that some record of it has, and counts as many as it has records.
-- Outputs: group_no, cluster_no from 1 on.
-- Source:  Loukides 2014, Fig. 8; SPEC section 11.
CREATE OR REPLACE MACRO srsql.horizontal_groups(
    basket, groups, roles, max_size, at_least, lexicographic
) AS TABLE
WITH
sized AS (
    SELECT g.group_no, count(*)::INTEGER AS records
    FROM query_table(groups) AS g
    GROUP BY g.group_no
),

listed AS (
    SELECT
        list(s.group_no ORDER BY s.group_no) AS group_nos,
        list(
            struct_pack(group_no := s.group_no, records := s.records) ORDER BY s.group_no
        ) AS groups
    FROM sized AS s
),

held AS (
    SELECT
        coalesce(
            list(struct_pack(group_no := h.group_no, term_no := h.term_no)), []
        ) AS held
    FROM (
        SELECT DISTINCT g.group_no, b.term_no
        FROM query_table(basket) AS b
        INNER JOIN query_table(groups) AS g ON b.record_no = g.record_no
    ) AS h
)

SELECT
    unnest(l.group_nos) AS group_no,
    unnest(
        srsql_horizontal_groups(
            l.groups, h.held, t.roles, max_size::INTEGER, at_least::INTEGER,
            lexicographic::BOOLEAN
        )
    ) AS cluster_no
FROM listed AS l
CROSS JOIN held AS h
CROSS JOIN srsql.role_list(roles) AS t
WHERE len(l.group_nos) > 0;

-- What:    chunks in which no sensitive value stands above its threshold, whatever m terms of a
--          record are known.
-- Inputs:  basket(record_no, term_no); clusters(record_no, cluster_no), also of records without a
--          term; chunk_terms(cluster_no, chunk_no, term_no); bounds(term_no, value_no, theta_num,
--          theta_den); at_least: k; together: m.
-- Outputs: cluster_no, chunk_no, term_no.
-- Source:  SPEC section 11 (whole rows); udfs/terms/bounding.py.
CREATE OR REPLACE MACRO srsql.bounded_chunks(
    basket, clusters, chunk_terms, bounds, at_least, together
) AS TABLE
WITH
placed AS (
    SELECT
        coalesce(list(struct_pack(
            cluster_no := t.cluster_no, chunk_no := t.chunk_no, term_no := t.term_no
        )), []) AS placed
    FROM query_table(chunk_terms) AS t
),

bounded AS (
    SELECT
        coalesce(list(struct_pack(
            term_no := v.term_no,
            value_no := v.value_no,
            theta_num := v.theta_num,
            theta_den := v.theta_den
        )), []) AS bounds
    FROM query_table(bounds) AS v
),

found AS (
    SELECT
        unnest(
            srsql_bounded_chunks(
                l.clusters, h.held, p.placed, b.bounds, at_least::INTEGER, together::INTEGER
            )
        ) AS placed
    FROM srsql.cluster_list(clusters) AS l
    CROSS JOIN srsql.cluster_term_list(basket, clusters) AS h
    CROSS JOIN placed AS p
    CROSS JOIN bounded AS b
)

SELECT placed.cluster_no, placed.chunk_no, placed.term_no
FROM found;
