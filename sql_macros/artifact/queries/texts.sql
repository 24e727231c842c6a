-- The check of the texts of one artifact, from its rows alone: it shares nothing with what makes or
-- checks a release. A word is a run of letters and digits that no other letter or digit touches.
-- Source: SPEC section 22.

-- name: held
-- Which texts of published_text(place, value, most, searched) hold which ids of published_id(id),
-- as whole words with what stands between them: place, value, id. Ids of fewer than 6 characters
-- are none, and a text that is too long is another fault.
WITH
ids AS (
    SELECT DISTINCT regexp_extract(upper(i.id), '[\p{L}\p{N}](?s:.*[\p{L}\p{N}])?') AS id
    FROM published_id AS i
),

known AS (
    SELECT k.id, len(regexp_extract_all(k.id, '[\p{L}\p{N}]+')) AS words
    FROM ids AS k
    WHERE length(k.id) >= 6
),

cut AS (
    SELECT
        t.place,
        t.value,
        regexp_extract_all(upper(t.value), '[\p{L}\p{N}]+') AS words,
        regexp_split_to_array(upper(t.value), '[\p{L}\p{N}]+') AS gaps
    FROM published_text AS t
    WHERE t.searched AND length(t.value) <= t.most
),

begun AS (
    SELECT c.place, c.value, c.words, c.gaps, unnest(range(1, len(c.words) + 1)) AS first_word
    FROM cut AS c
),

sizes AS (
    SELECT DISTINCT k.words FROM known AS k
),

runs AS (
    SELECT
        b.place,
        b.value,
        b.words[b.first_word] || array_to_string(
            list_transform(
                range(b.first_word + 1, b.first_word + s.words),
                LAMBDA n: b.gaps[n] || b.words[n]
            ),
            ''
        ) AS run
    FROM begun AS b
    INNER JOIN sizes AS s ON b.first_word + s.words <= len(b.words) + 1
)

SELECT DISTINCT r.place, r.value, r.run AS id
FROM runs AS r
SEMI JOIN known AS k ON r.run = k.id;

-- name: texts
-- How many texts published_text has, where they are none of one record, and how many of the ids of
-- others that they hold, other_id(place, value, id), are $accepted.
WITH
holders AS (
    SELECT DISTINCT o.place, o.value
    FROM other_id AS o
    WHERE NOT list_contains($accepted::VARCHAR[], o.id)
),

faults AS (
    SELECT
        t.place,
        'text(s) with a line end or another control character' AS what,
        count(*) AS texts
    FROM published_text AS t
    WHERE regexp_matches(t.value, '[[:cntrl:]\x{80}-\x{9f}\x{2028}\x{2029}]')
    GROUP BY t.place
    UNION ALL
    SELECT t.place, 'text(s) of more than ' || t.most || ' characters' AS what, count(*) AS texts
    FROM published_text AS t
    WHERE length(t.value) > t.most
    GROUP BY t.place, t.most
    UNION ALL
    SELECT
        h.place, 'text(s) with the id of another report or case' AS what, count(*) AS texts
    FROM holders AS h
    GROUP BY h.place
)

SELECT
    (SELECT count(*) FROM published_text) AS total,
    (
        SELECT list(f.place || ': ' || f.texts || ' ' || f.what ORDER BY f.place, f.what)
        FROM faults AS f
    ) AS places,
    (
        SELECT count(DISTINCT o.id) FROM other_id AS o
        WHERE list_contains($accepted::VARCHAR[], o.id)
    ) AS accepted_ids;
