-- Cases that an ingestion knows beforehand: forgotten ones, and those that a replaced source had.
-- Source: SPEC section 16 (remanence; every line is accounted for).

-- name: create_found
-- The ids of forgotten cases, and of their reports, that the files of an ingestion have.
CREATE OR REPLACE TEMP TABLE srsql_forgotten_id (kind VARCHAR, id VARCHAR);

-- name: recognize
-- The forgotten ids among the case ids of a file, and among the fields of what cannot be loaded.
INSERT INTO temp.main.srsql_forgotten_id
WITH asked AS (
    SELECT l.case_id AS id FROM temp.main.srsql_forgotten_line AS l
    UNION
    SELECT srsql.identifier(t.text, $ends, $integer) AS id
    FROM (SELECT unnest(l.field) AS text FROM temp.main.srsql_forgotten_line AS l) AS t
)

SELECT 'case' AS kind, a.id
FROM asked AS a
WHERE
    a.id IS NOT NULL
    AND srsql.forgotten_token($inner_pad::BLOB, $outer_pad::BLOB, a.id) IN (
        SELECT f.token FROM srsql.forgotten_case AS f WHERE f.dataset = $dataset
    );

-- name: reports
-- The reports of forgotten cases.
INSERT INTO temp.main.srsql_forgotten_id
SELECT DISTINCT 'report' AS kind, l.report_id AS id
FROM temp.main.srsql_forgotten_line AS l
INNER JOIN temp.main.srsql_forgotten_id AS f ON f.kind = 'case' AND l.case_id = f.id
WHERE l.report_id IS NOT NULL;

-- name: reject
-- Records of forgotten cases are rejected, without their text.
INSERT INTO temp.main.srsql_rejected_record
SELECT DISTINCT
    l.line,
    []::VARCHAR[] AS field,
    'forgotten_case' AS reason
FROM temp.main.srsql_forgotten_line AS l
INNER JOIN temp.main.srsql_forgotten_id AS f
    ON
        (f.kind = 'case' AND l.case_id = f.id)
        OR (f.kind = 'report' AND l.report_id = f.id);

-- name: reject_alone
-- What they would be rejected for besides is not told.
DELETE FROM temp.main.srsql_rejected_record AS j
WHERE j.reason <> 'forgotten_case' AND j.line IN (
    SELECT f.line FROM temp.main.srsql_rejected_record AS f WHERE f.reason = 'forgotten_case'
);

-- name: blank
-- A record that cannot be loaded anyway keeps its reason, but not its text.
UPDATE temp.main.srsql_rejected_record AS j
SET field = list_transform(j.field, LAMBDA part: '')
WHERE j.reason <> 'forgotten_case' AND j.line IN (
    SELECT t.line
    FROM (
        SELECT l.line, unnest(l.field) AS text FROM temp.main.srsql_forgotten_line AS l
    ) AS t
    INNER JOIN temp.main.srsql_forgotten_id AS f
        ON srsql.identifier(t.text, $ends, $integer) = f.id
);

-- name: replaced
-- The rows of srsql.replaced_case: cases that are absent from what replaced a source (present:
-- case_id, digest), or changed in it.
SELECT
    $dataset AS dataset,
    $quarter AS quarter,
    b.case_id,
    CASE WHEN p.case_id IS NULL THEN 'absent' ELSE 'changed' END AS change,
    $ingestion AS ingestion_id
FROM temp.main.srsql_replaced_before AS b
LEFT JOIN present AS p ON b.case_id = p.case_id
WHERE p.case_id IS NULL OR p.digest <> b.digest
ORDER BY b.case_id;

-- name: compared
-- An ingestion was compared with the one that it replaced.
INSERT INTO srsql.compared_ingestion VALUES ($ingestion);
