-- A patient is forgotten: what of the catalog names the case is erased, or names its token instead.
-- Source: SPEC section 16 (remanence).

-- name: make_key
-- The key of the tokens of a dataset, unless it has one.
INSERT INTO srsql.forgotten_key
SELECT $dataset, $key
WHERE NOT EXISTS (SELECT 1 FROM srsql.forgotten_key AS k WHERE k.dataset = $dataset);

-- name: key
-- The key of the tokens of a dataset.
SELECT k.key FROM srsql.forgotten_key AS k WHERE k.dataset = $dataset;

-- name: read_ids
-- The case ids of $written as the raw tables hold them; NULL: none can be so.
SELECT w.text, srsql.identifier(w.text, $ends, $integer) AS case_id
FROM (
    SELECT
        unnest($written::VARCHAR[]) AS text,
        unnest(range(len($written::VARCHAR[]))) AS place
) AS w
ORDER BY w.place;

-- name: create_cases
-- The cases to forget, each with its token.
CREATE OR REPLACE TEMP TABLE srsql_forget_case AS
SELECT
    c.case_id,
    srsql.forgotten_token($inner_pad::BLOB, $outer_pad::BLOB, c.case_id) AS token
FROM (SELECT DISTINCT unnest($cases::VARCHAR[]) AS case_id) AS c
ORDER BY c.case_id;

-- name: create_lines
-- The lines of files that the rows to erase were read from, with the ids that they have; those of
-- the report table are the reports of the cases. Filled from the raw tables.
CREATE OR REPLACE TEMP TABLE srsql_forget_line (
    quarter VARCHAR, table_name VARCHAR, line BIGINT, case_id VARCHAR, report_id VARCHAR
);

-- name: create_places
-- Where the catalog has the cases: in groups (released), or withheld with a number.
CREATE OR REPLACE TEMP TABLE srsql_forget_place AS
SELECT m.release_id, m.case_no, m.case_id, true AS released
FROM srsql.member AS m
INNER JOIN srsql.release AS r ON m.release_id = r.release_id
SEMI JOIN temp.main.srsql_forget_case AS f ON m.case_id = f.case_id
WHERE r.dataset = $dataset
UNION ALL
SELECT w.release_id, w.case_no, w.case_id, false AS released
FROM srsql.withheld AS w
INNER JOIN srsql.release AS r ON w.release_id = r.release_id
SEMI JOIN temp.main.srsql_forget_case AS f ON w.case_id = f.case_id
WHERE r.dataset = $dataset;

-- name: raw_tables
-- The raw tables that there are; those of a lake are views.
SELECT t.table_name
FROM duckdb_tables() AS t
WHERE t.schema_name = $schema AND t.database_name = current_database()
UNION ALL
SELECT v.view_name AS table_name
FROM duckdb_views() AS v
WHERE v.schema_name = $schema AND v.database_name = current_database();

-- name: found
-- The cases that lines of the dataset name, or that were forgotten before.
SELECT c.case_id
FROM temp.main.srsql_forget_case AS c
WHERE
    c.case_id IN (SELECT l.case_id FROM temp.main.srsql_forget_line AS l)
    OR c.token IN (SELECT f.token FROM srsql.forgotten_case AS f WHERE f.dataset = $dataset);

-- name: drafts
-- The drafts that have one of the cases, released or withheld.
SELECT DISTINCT r.series, r.quarter
FROM srsql.release AS r
INNER JOIN temp.main.srsql_forget_place AS p ON r.release_id = p.release_id
WHERE r.status = 'draft'
ORDER BY ALL;

-- name: forget_drafts
-- The places in drafts are gone with these.
DELETE FROM temp.main.srsql_forget_place AS p
WHERE p.release_id NOT IN (SELECT r.release_id FROM srsql.release AS r);

-- name: erase_qids
-- Erases the raw quasi-identifiers of the cases.
DELETE FROM srsql.case_qid AS q
WHERE EXISTS (
    SELECT 1 FROM temp.main.srsql_forget_place AS p
    WHERE p.release_id = q.release_id AND p.case_no = q.case_no
);

-- name: erase_withheld_terms
-- Erases the sensitive values of the cases where they were withheld: no group counts them.
DELETE FROM srsql.case_term AS t
WHERE EXISTS (
    SELECT 1 FROM temp.main.srsql_forget_place AS p
    WHERE p.release_id = t.release_id AND p.case_no = t.case_no AND NOT p.released
);

-- name: erase_suppressed
-- Erases the sensitive values that were suppressed of the cases: no row shows them.
DELETE FROM srsql.suppressed AS s
WHERE EXISTS (
    SELECT 1 FROM temp.main.srsql_forget_place AS p
    WHERE p.release_id = s.release_id AND p.case_no = s.case_no
);

-- name: places_released
-- The releases that have one of the cases.
SELECT DISTINCT p.release_id FROM temp.main.srsql_forget_place AS p WHERE p.released;

-- name: duplicates
-- Other cases that are suspected to be one person with one of the cases, the likeliest first.
SELECT p.case_id
FROM (
    SELECT d.other_case_id AS case_id, d.probability
    FROM srsql.suspected_duplicate AS d
    SEMI JOIN temp.main.srsql_forget_case AS one ON d.case_id = one.case_id
    WHERE d.dataset = $dataset
    UNION ALL
    SELECT d.case_id, d.probability
    FROM srsql.suspected_duplicate AS d
    SEMI JOIN temp.main.srsql_forget_case AS other ON d.other_case_id = other.case_id
    WHERE d.dataset = $dataset
) AS p
ANTI JOIN temp.main.srsql_forget_case AS f ON p.case_id = f.case_id
GROUP BY p.case_id
ORDER BY max(p.probability) DESC, p.case_id;

-- name: keep_tokens
-- The tokens, by which files that have the cases are recognized.
INSERT INTO srsql.forgotten_case
SELECT $dataset, f.token, $reason, $today::DATE
FROM temp.main.srsql_forget_case AS f
WHERE f.token NOT IN (SELECT g.token FROM srsql.forgotten_case AS g WHERE g.dataset = $dataset);

-- name: blank_records
-- Takes away the text of rejected records with a field that is the id of a case or its report.
UPDATE srsql.reject AS j
SET record = NULL, value = NULL
WHERE
    j.dataset = $dataset
    AND coalesce(j.record, j.value) IS NOT NULL
    AND list_has_any(
        list_transform(
            list_concat(
                string_split(coalesce(j.record, ''), $separator),
                list_concat([coalesce(j.value, '')], string_split(coalesce(j.value, ''), ' '))
            ),
            LAMBDA part: srsql.identifier(part, $ends, $integer)
        ),
        (
            SELECT coalesce(list(i.id), [])
            FROM (
                SELECT f.case_id AS id FROM temp.main.srsql_forget_case AS f
                UNION ALL
                SELECT l.report_id AS id FROM temp.main.srsql_forget_line AS l
            ) AS i
        )
    );

-- name: blank_values
-- Takes away rejected values of the erased rows, and those of sources that were replaced, of which
-- nobody can tell any more whose they are.
UPDATE srsql.reject AS j
SET value = NULL
FROM srsql.ingestion AS i
WHERE
    j.ingestion_id = i.ingestion_id
    AND i.dataset = $dataset
    AND j.kind = 'value'
    AND j.value IS NOT NULL
    AND (
        i.replaced
        OR EXISTS (
            SELECT 1
            FROM temp.main.srsql_forget_line AS l
            INNER JOIN srsql.ingested_file AS f ON l.table_name = f.table_name
            WHERE
                f.ingestion_id = j.ingestion_id
                AND f.file = j.file
                AND l.quarter = j.quarter
                AND l.line = j.line
        )
    );

-- name: superseded
-- The superseded releases of a dataset that have a forgotten case.
SELECT DISTINCT r.release_id, r.series, r.quarter
FROM srsql.release AS r
INNER JOIN srsql.member AS m ON r.release_id = m.release_id
INNER JOIN srsql.forgotten_case AS f ON r.dataset = f.dataset AND m.case_id = f.token
WHERE r.dataset = $dataset AND r.status = 'superseded'
ORDER BY r.release_id;

-- name: terms
-- Values that forgotten cases alone have, in all releases of a dataset, each with the token of its
-- text; those that a release which is out shows are left for later.
WITH
forgotten_place AS MATERIALIZED (
    SELECT m.release_id, m.case_no
    FROM srsql.member AS m
    INNER JOIN srsql.release AS r ON m.release_id = r.release_id
    INNER JOIN srsql.forgotten_case AS f ON r.dataset = f.dataset AND m.case_id = f.token
    WHERE r.dataset = $dataset
    UNION
    SELECT p.release_id, p.case_no
    FROM temp.main.srsql_forget_place AS p
    WHERE p.case_no IS NOT NULL
),

held AS MATERIALIZED (
    SELECT t.release_id, t.case_no, t.term_no FROM srsql.case_term AS t
    UNION ALL
    SELECT s.release_id, s.case_no, s.term_no FROM srsql.suppressed AS s
),

asked AS MATERIALIZED (
    SELECT DISTINCT h.term
    FROM srsql.threshold AS h
    INNER JOIN srsql.release AS r ON h.release_id = r.release_id
    WHERE r.dataset = $dataset AND NOT starts_with(h.term, 'forgotten:')
    AND (
        EXISTS (
            SELECT 1
            FROM held AS t
            INNER JOIN forgotten_place AS p
                ON t.release_id = p.release_id AND t.case_no = p.case_no
            WHERE t.release_id = h.release_id AND t.term_no = h.term_no
        )
    )
),

held_by_others AS (
    SELECT DISTINCT h.term
    FROM srsql.threshold AS h
    SEMI JOIN asked AS a ON h.term = a.term
    INNER JOIN srsql.release AS r ON h.release_id = r.release_id AND r.dataset = $dataset
    INNER JOIN held AS t ON h.release_id = t.release_id AND h.term_no = t.term_no
    ANTI JOIN forgotten_place AS p ON t.release_id = p.release_id AND t.case_no = p.case_no
),

still_shown AS (
    SELECT DISTINCT h.term
    FROM srsql.threshold AS h
    INNER JOIN srsql.release AS r ON h.release_id = r.release_id
    WHERE r.dataset = $dataset AND r.status = 'released' AND h.released
)

SELECT
    a.term,
    srsql.forgotten_token($inner_pad::BLOB, $outer_pad::BLOB, 'term:' || a.term) AS token
FROM asked AS a
WHERE
    a.term NOT IN (SELECT o.term FROM held_by_others AS o)
    AND a.term NOT IN (SELECT s.term FROM still_shown AS s)
ORDER BY a.term;

-- name: name_terms
-- Tokens ($tokens) stand for such values ($terms) among the thresholds.
UPDATE srsql.threshold AS h
SET term = t.token
FROM (
    SELECT unnest($terms::VARCHAR[]) AS term, unnest($tokens::VARCHAR[]) AS token
) AS t
WHERE
    h.term = t.term
    AND h.release_id IN (SELECT r.release_id FROM srsql.release AS r WHERE r.dataset = $dataset);

-- name: name_asked_terms
-- The same among those of the policy.
UPDATE srsql.asked_threshold AS h
SET term = t.token
FROM (
    SELECT unnest($terms::VARCHAR[]) AS term, unnest($tokens::VARCHAR[]) AS token
) AS t
WHERE
    h.term = t.term
    AND h.release_id IN (SELECT r.release_id FROM srsql.release AS r WHERE r.dataset = $dataset);

-- name: manifests
-- The private manifests of a dataset.
SELECT r.release_id, r.private_manifest::VARCHAR AS text
FROM srsql.release AS r
WHERE r.dataset = $dataset
ORDER BY r.release_id;

-- name: exposed
-- The releases that are or were out and have the cases, by token.
SELECT r.release_id, r.series, r.quarter, r.status
FROM srsql.release AS r
WHERE
    r.dataset = $dataset
    AND r.status <> 'draft'
    AND EXISTS (
        SELECT 1
        FROM srsql.member AS m
        INNER JOIN temp.main.srsql_forget_case AS f ON m.case_id = f.token
        WHERE m.release_id = r.release_id
    )
ORDER BY r.series, r.quarter, r.release_id;

-- name: together
-- What forgotten cases of several quarters leave to one who joins them, by series.
SELECT t.series, t.cases, t.below_k, t.fewest, t.k FROM srsql.leaving_together($dataset) AS t;

-- name: tokens
-- Tokens of the cases, in the order of their ids.
SELECT f.case_id, f.token FROM temp.main.srsql_forget_case AS f ORDER BY f.case_id;

-- name: carried
-- Tokens and keys, to carry them into a backup that is restored.
SELECT k.dataset, k.key, f.token, f.reason, f.forgotten_on
FROM srsql.forgotten_key AS k
INNER JOIN srsql.forgotten_case AS f ON k.dataset = f.dataset
ORDER BY ALL;

-- name: carry_token
-- A token that a backup lacks.
INSERT INTO srsql.forgotten_case VALUES ($dataset, $token, $reason, $day)
ON CONFLICT DO NOTHING;

-- name: recognize
-- The cases of a restored warehouse (held: case_id) that $tokens stand for, each with its token.
WITH hashed AS (
    SELECT
        d.case_id,
        srsql.forgotten_token($inner_pad::BLOB, $outer_pad::BLOB, d.case_id) AS token
    FROM (SELECT DISTINCT h.case_id FROM held AS h WHERE h.case_id IS NOT NULL) AS d
)

SELECT h.case_id, h.token
FROM hashed AS h
WHERE h.token IN (SELECT unnest($tokens::VARCHAR[]))
ORDER BY h.case_id;

-- name: stored_columns
-- Schema, table and column of every table of a file that is looked at, and of its views no column;
-- what it calls is named in full, since the file may have macros of others.
SELECT c.schema_name, c.table_name, c.column_name
FROM system.main.duckdb_columns() AS c
INNER JOIN system.main.duckdb_tables() AS t
    ON c.database_name = t.database_name AND c.table_oid = t.table_oid
WHERE c.database_name = $database AND NOT t.temporary
UNION ALL
SELECT v.schema_name, v.view_name AS table_name, '' AS column_name
FROM system.main.duckdb_views() AS v
WHERE v.database_name = $database AND NOT v.internal;

-- name: known_before
-- How many of the cases were forgotten before.
SELECT count(*)
FROM srsql.forgotten_case AS k
SEMI JOIN temp.main.srsql_forget_case AS f ON k.token = f.token
WHERE k.dataset = $dataset;
