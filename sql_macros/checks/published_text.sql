-- The check of the texts that a release shows, whatever they came from: a value that holds another
-- record has its line end, its length, or its ids.

-- What:    whether a text holds a line end or another control character: C0, DEL, C1, U+2028 or
--          U+2029.
CREATE OR REPLACE MACRO srsql.breaks_line(value) AS
regexp_matches(value, '[\x{0}-\x{1f}\x{7f}-\x{9f}\x{2028}\x{2029}]');

-- What:    no text that is published holds a line end or another control character, is longer than
--          its column may be, or holds the id of another report or case as a whole word. A column
--          that does has a row of its own with its name; else one row tells of all texts.
-- Inputs:  texts_of(place, most, searched, value): the distinct texts of each column (place, as
--          table.column), the characters that it may have at most, and whether ids are searched in
--          it; of a column in which none are, such as one of serial numbers, those texts alone that
--          break a line or are longer. held_of(place, value, id): texts that hold an id of others.
-- Outputs: uniform rows; a total is of these texts.
-- Source:  SPEC section 22.
CREATE OR REPLACE MACRO srsql.check_text(texts_of, held_of, release_id) AS TABLE
WITH
holders AS (
    SELECT DISTINCT h.place, h.value FROM query_table(held_of) AS h
),

judged AS (
    SELECT
        t.place,
        t.searched,
        srsql.breaks_line(t.value) AS breaks,
        length(t.value) > t.most AS longer,
        h.value IS NOT NULL AS holds
    FROM query_table(texts_of) AS t
    LEFT JOIN holders AS h ON t.place = h.place AND t.value = h.value
),

kinds AS (
    SELECT 1 AS kind, 'with a line end or control character' AS what
    UNION ALL
    SELECT 2 AS kind, 'longer than declared' AS what
    UNION ALL
    SELECT 3 AS kind, 'with an id of another report or case' AS what
),

counts AS (
    SELECT
        k.kind,
        k.what,
        j.place,
        count(j.place) FILTER (WHERE k.kind < 3 OR j.searched) AS total,
        count(j.place) FILTER (
            WHERE CASE k.kind WHEN 1 THEN j.breaks WHEN 2 THEN j.longer ELSE j.holds END
        ) AS violating
    FROM kinds AS k
    LEFT JOIN judged AS j ON true
    GROUP BY k.kind, k.what, j.place
),

found AS (
    SELECT c.kind, c.place || ': ' || c.what AS scope, c.violating, c.total
    FROM counts AS c
    WHERE c.violating > 0
    UNION ALL
    SELECT c.kind, 'all columns: ' || c.what AS scope, 0 AS violating, sum(c.total) AS total
    FROM counts AS c
    GROUP BY c.kind, c.what
    HAVING sum(c.violating) = 0
)

SELECT unnest(srsql.check_row(release_id, 'check_text', f.scope, f.violating, f.total, 0))
FROM (SELECT u.* FROM found AS u ORDER BY u.kind, u.scope) AS f;
