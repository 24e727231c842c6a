-- The ids that released rows show, derived once more: by whoever has the originals and the key of
-- the series. Nothing here is used to make a release.

-- What:    the pseudonym of an id, as HMAC-SHA-256 gives it.
-- Inputs:  inner_key, outer_key: the 64 bytes of the key xor 0x36 and 0x5c; text: under the key;
--          bits: of the pseudonym, at most 60.
-- Outputs: BIGINT.
-- Source:  SPEC section 5; RFC 2104.
CREATE OR REPLACE MACRO srsql.checked_pseudonym(inner_key, outer_key, text, bits) AS (
    ('0x' || left(
        sha256(outer_key || unhex(sha256(inner_key || encode(text)))), 15
    ))::BIGINT // (1::BIGINT << (60 - bits))
);

-- What:    every id that rows show is the one that is derived of an original, and the key of it is
--          nobody else's and no text or number that can be guessed.
-- Inputs:  shown_id(kind, id); derived_id(kind, id): what the originals of the period have; why:
--          the key is none that was drawn for the series alone, in words, or empty; of_release.
-- Outputs: two uniform rows.
-- Source:  SPEC section 18.
CREATE OR REPLACE MACRO srsql.check_ids(shown_id, derived_id, why, of_release) AS TABLE
WITH
strangers AS (
    SELECT count(*) AS violating
    FROM query_table(shown_id) AS s
    ANTI JOIN query_table(derived_id) AS d ON s.kind = d.kind AND s.id = d.id
),

everybody AS (
    SELECT count(s.id) AS total FROM query_table(shown_id) AS s
),

figures AS (
    SELECT 'published id' AS scope, t.violating, e.total
    FROM strangers AS t
    CROSS JOIN everybody AS e
    UNION ALL
    SELECT
        concat_ws(': ', 'key of the series', nullif(why, '')) AS scope,
        (why <> '')::INTEGER AS violating,
        1 AS total
)

SELECT unnest(srsql.check_row(of_release, 'check_ids', f.scope, f.violating, f.total, 0))
FROM figures AS f;

-- What:    rows stand in an order that tells nothing of the one in which they were made.
-- Inputs:  paired(scope, rising, chance): what was found, each by itself, and with which chance it
--          would be found of an order that was drawn; most: how far the share found may be from
--          the mean of these chances, in nats for all together; of_release.
-- Outputs: a uniform row for each scope; violating: 1 where the order is too much like the other.
-- Source:  Hoeffding 1963, theorem 1.
CREATE OR REPLACE MACRO srsql.check_order(paired, most, of_release) AS TABLE
WITH
shares AS (
    SELECT
        p.scope,
        count(*) AS found,
        count_if(p.rising) / count(*) AS share,
        least(greatest(avg(p.chance), 1e-12), 1 - 1e-12) AS due
    FROM query_table(paired) AS p
    GROUP BY p.scope
),

apart AS (
    SELECT
        s.scope,
        s.found * (
            CASE WHEN s.share > 0 THEN s.share * ln(s.share / s.due) ELSE 0 END
            + CASE WHEN s.share < 1 THEN (1 - s.share) * ln((1 - s.share) / (1 - s.due)) ELSE 0 END
        ) AS nats
    FROM shares AS s
),

told AS (
    SELECT a.scope, (a.nats > most)::INTEGER AS violating FROM apart AS a
    UNION ALL
    SELECT 'row' AS scope, 0 AS violating WHERE NOT EXISTS (SELECT 1 FROM apart)
)

SELECT unnest(srsql.check_row(of_release, 'check_order', t.scope, t.violating, 1, 0))
FROM told AS t;
