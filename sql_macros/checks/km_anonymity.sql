-- k^m-anonymity of the chunks of a disassociated release, checked from its published tables alone
-- (their names as in checks/chunks.sql). What makes a release uses nothing of it; which of its
-- chunks cannot be proved is asked here, and those are made anew.

-- What:    the chunks that are not k^m-anonymous, or of which that is not decided within so many
--          steps of the search, one row each.
-- Inputs:  record_chunks, shared_chunks; at_least: k; together: m, of any size; steps: of the
--          search in one chunk.
-- Outputs: shared (is it a shared chunk), owner (the cluster or joint cluster), chunk, terms (of
--          the chunk), known (the terms of one breach, sorted; NULL: not decided).
-- Source:  Terrovitis et al. 2012; Loukides 2014, section 3.1; the kernel udfs/checks.
CREATE OR REPLACE MACRO srsql.km_unproved(
    record_chunks, shared_chunks, at_least, together, steps
) AS TABLE
WITH
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
    SELECT w.shared, w.owner, w.chunk, w.terms, count(*) AS copies
    FROM whole AS w
    WHERE len(w.terms) > 0
    GROUP BY w.shared, w.owner, w.chunk, w.terms
),

-- a subrecord that lies in fewer than k has fewer copies
rare AS (
    SELECT k.*, min(k.copies) OVER (PARTITION BY k.shared, k.owner, k.chunk) AS fewest
    FROM kind AS k
),

numbered AS MATERIALIZED (
    SELECT
        r.shared,
        r.owner,
        r.chunk,
        r.terms,
        least(r.copies, at_least)::INTEGER AS copies,
        (dense_rank() OVER (ORDER BY r.shared, r.owner, r.chunk))::INTEGER AS chunk_no,
        (row_number() OVER (ORDER BY r.shared, r.owner, r.chunk, r.terms))::INTEGER AS kind_no
    FROM rare AS r
    WHERE r.fewest < at_least
),

kinds AS (
    SELECT
        coalesce(list(struct_pack(
            kind_no := n.kind_no, chunk_no := n.chunk_no, copies := n.copies
        )), []) AS kinds
    FROM numbered AS n
),

held AS (
    SELECT
        coalesce(list(struct_pack(kind_no := h.kind_no, term := h.term)), []) AS held
    FROM (SELECT n.kind_no, unnest(n.terms) AS term FROM numbered AS n) AS h
),

searched AS (
    SELECT
        unnest(srsql_unproved_chunks(
            k.kinds, h.held, at_least::BIGINT, together::BIGINT, steps::BIGINT
        )) AS result
    FROM kinds AS k
    CROSS JOIN held AS h
),

found AS (
    SELECT result.chunk_no, result.known FROM searched
),

extent AS (
    SELECT n.chunk_no, n.shared, n.owner, n.chunk, list_distinct(flatten(list(n.terms))) AS terms
    FROM numbered AS n
    GROUP BY n.chunk_no, n.shared, n.owner, n.chunk
)

SELECT e.shared, e.owner, e.chunk, len(e.terms) AS terms, list_sort(f.known) AS known
FROM found AS f
INNER JOIN extent AS e ON f.chunk_no = e.chunk_no;

-- What:    the chunks that are not k^m-anonymous, one row each, with one breach.
-- Inputs:  as of srsql.km_unproved.
-- Outputs: shared, owner, chunk, known (terms of the chunk, m at most, sorted), subrecords (in so
--          few they occur together, counted anew).
-- Source:  Terrovitis et al. 2012; Loukides 2014, section 3.1.
CREATE OR REPLACE MACRO srsql.km_breaches(
    record_chunks, shared_chunks, at_least, together, steps
) AS TABLE
WITH
breach AS (
    SELECT u.shared, u.owner, u.chunk, u.known
    FROM srsql.km_unproved(record_chunks, shared_chunks, at_least, together, steps) AS u
    WHERE u.known IS NOT NULL
),

piece AS (
    SELECT false AS shared, r.cluster AS owner, r.chunk, r.subrecord, r.term
    FROM query_table(record_chunks) AS r
    UNION ALL
    SELECT true, s.joint, s.chunk, s.subrecord, s.term FROM query_table(shared_chunks) AS s
),

holder AS (
    SELECT b.shared, b.owner, b.chunk, b.known
    FROM breach AS b
    INNER JOIN piece AS p
        ON
            b.shared = p.shared
            AND b.owner IS NOT DISTINCT FROM p.owner
            AND b.chunk IS NOT DISTINCT FROM p.chunk
    GROUP BY b.shared, b.owner, b.chunk, b.known, p.subrecord
    HAVING list_has_all(list(p.term), b.known)
)

SELECT h.shared, h.owner, h.chunk, h.known, count(*) AS subrecords
FROM holder AS h
GROUP BY h.shared, h.owner, h.chunk, h.known;

-- What:    every combination of at most m terms that occurs in a chunk occurs in at least k of its
--          subrecords; one row for record chunks, one for shared chunks, and one for chunks of
--          either kind of which that is not decided within so many steps: they fail.
-- Source:  SPEC section 11; Loukides 2014, section 3.1.
CREATE OR REPLACE MACRO srsql.check_km(
    record_chunks, shared_chunks, at_least, together, steps, release_id
) AS TABLE
WITH
unproved AS MATERIALIZED (
    SELECT u.shared, u.known IS NULL AS undecided
    FROM srsql.km_unproved(record_chunks, shared_chunks, at_least, together, steps) AS u
),

seen AS (
    SELECT false AS shared, count(DISTINCT row(r.cluster, r.chunk)) AS chunks
    FROM query_table(record_chunks) AS r
    UNION ALL
    SELECT true, count(DISTINCT row(s.joint, s.chunk)) FROM query_table(shared_chunks) AS s
),

judged AS (
    SELECT
        CASE WHEN s.shared THEN 'shared chunk' ELSE 'record chunk' END AS scope,
        count(u.shared) AS violating,
        any_value(s.chunks) AS total
    FROM seen AS s
    LEFT JOIN unproved AS u ON s.shared = u.shared AND NOT u.undecided
    GROUP BY s.shared
    UNION ALL
    SELECT
        format('chunk not provable within {:,} steps', steps::BIGINT),
        (SELECT count(*) FROM unproved AS u WHERE u.undecided),
        sum(s.chunks)
    FROM seen AS s
)

SELECT
    unnest(srsql.check_row(release_id, 'check_km', j.scope, j.violating, j.total, at_least))
FROM judged AS j;
