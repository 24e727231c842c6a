-- What the check of published texts reads: columns with texts, and where these hold ids of others.
-- A word is a run of letters and digits that no other letter or digit touches. An id is held where
-- it stands in a text as whole words, with what stands between them; what it begins or ends with
-- beside letters and digits (such as #) counts for nothing. Of fewer than 6 characters it is none.
-- Numbers are compared as they are written: 0012345678 is a code, and not the id 12345678.

-- name: text_columns
-- The columns of the views of a schema that show texts: table_name, column_name.
SELECT c.table_name, c.column_name
FROM duckdb_columns() AS c
WHERE
    c.database_name = current_database()
    AND c.schema_name = $schema
    AND c.table_name <> 'manifest'
    AND (c.data_type = 'VARCHAR' OR c.data_type LIKE 'ENUM%')
ORDER BY c.table_name, c.column_index;

-- name: keyed
-- Whether the series of a release shows pseudonyms.
SELECT s.pseudonym_key IS NOT NULL
FROM srsql.release AS r
INNER JOIN srsql.series AS s ON r.dataset = s.dataset AND r.series = s.series
WHERE r.release_id = $release;

-- name: number_words
-- The words of published_text that may be whole numbers of at least 6 digits: place, value, word.
WITH words AS (
    SELECT
        t.place,
        t.value,
        unnest(list_distinct(regexp_extract_all(t.value, '[\p{L}\p{N}]+'))) AS word
    FROM published_text AS t
    WHERE t.searched AND regexp_matches(t.value, '[0-9]{6}')
)

SELECT w.place, w.value, w.word
FROM words AS w
WHERE regexp_full_match(w.word, '[1-9][0-9]{5,18}') AND try_cast(w.word AS BIGINT) IS NOT NULL;

-- name: text_words
-- The runs of up to as many words of published_text as an id of source_id has, with what stands
-- between them, in upper case: place, value, word.
WITH
pieces AS (
    SELECT
        t.place,
        t.value,
        regexp_extract_all(upper(t.value), '[\p{L}\p{N}]+|[^\p{L}\p{N}]+') AS parts
    FROM published_text AS t
    WHERE t.searched
),

places AS (
    SELECT p.place, p.value, p.parts, unnest(range(1, len(p.parts) + 1)) AS first_part
    FROM pieces AS p
),

most AS (
    SELECT max(len(regexp_extract_all(i.id, '[\p{L}\p{N}]+'))) AS words FROM source_id AS i
),

sizes AS (
    SELECT unnest(range(m.words)) AS more FROM most AS m
),

runs AS (
    SELECT
        s.place,
        s.value,
        array_to_string(list_slice(s.parts, s.first_part, s.first_part + 2 * z.more), '') AS word
    FROM places AS s
    INNER JOIN sizes AS z ON s.first_part + 2 * z.more <= len(s.parts)
    WHERE regexp_matches(s.parts[s.first_part], '[\p{L}\p{N}]')
)

SELECT DISTINCT r.place, r.value, r.word FROM runs AS r WHERE length(r.word) >= 6;
