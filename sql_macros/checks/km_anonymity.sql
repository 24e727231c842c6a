-- k^m-anonymity of the chunks of a disassociated release, checked from its published tables alone
-- (their names as in checks/chunks.sql). Nothing here is used to make a release.

-- What:    the chunks that are not k^m-anonymous, one row each.
-- Inputs:  record_chunks, shared_chunks; at_least: k; together: m, of any size.
-- Outputs: shared (is it a shared chunk), owner (the cluster or joint cluster), chunk, terms (so
--          many occur together ...), subrecords (... in so few), common (the terms that these
--          subrecords have in common, sorted).
-- Source:  Terrovitis et al. 2012; Loukides 2014, section 3.1.
-- How:     combinations are told apart by the set of subrecords that hold them alone, so a long
--          subrecord costs no more than a short one: from the sets of single terms, each step cuts
--          every set of k or more with the set of one more term. Only subrecords matter that lie,
--          whole, in fewer than k (else their combinations lie in k, too): one of at most m terms
--          is a breach by itself, and a set without one is left alone, as is one that the steps
--          left cannot bring below k. Equal subrecords count up to k.
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
    SELECT
        'record chunk' AS scope,
        false AS shared,
        count(DISTINCT row(r.cluster, r.chunk)) AS chunks
    FROM query_table(record_chunks) AS r
    UNION ALL
    SELECT 'shared chunk', true, count(DISTINCT row(s.joint, s.chunk))
    FROM query_table(shared_chunks) AS s
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
