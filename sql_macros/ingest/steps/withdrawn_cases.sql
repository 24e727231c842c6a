-- Step: takes in a list of withdrawn cases, one id a line, without a header, perhaps with a
--   trailing separator; what is no case id becomes a rejected record. $ends are the characters
--   that are no part of an id at the ends of a line, $integer says whether ids are integers, and
--   $length how much of a rejected line is stored.
-- Reads: line(line, text)
-- Writes: withdrawn(line, text, case_id, reason), srsql.deleted_case, srsql.reject
-- Source: SPEC section 16 (deleted cases; rejects keep file, line and reason).

CREATE OR REPLACE TEMP TABLE srsql_withdrawn AS
SELECT
    line,
    text,
    CASE
        WHEN trim(text, $ends) = '' THEN NULL
        WHEN NOT $integer THEN trim(text, $ends)
        WHEN regexp_full_match(trim(text, $ends), '[0-9]+')
            THEN cast(try_cast(trim(text, $ends) AS BIGINT) AS VARCHAR)
    END AS case_id,
    CASE
        WHEN trim(text, $ends) = '' THEN 'blank line'
        ELSE 'case id is not an integer'
    END AS reason
FROM temp.main.srsql_line;

INSERT INTO srsql.deleted_case
SELECT DISTINCT
    $dataset AS dataset,
    case_id,
    $ingestion AS ingestion_id
FROM temp.main.srsql_withdrawn
WHERE case_id IS NOT NULL
ORDER BY case_id;

INSERT INTO srsql.reject (
    ingestion_id, dataset, quarter, file, line, kind, column_name, value, reason, record
)
SELECT
    $ingestion AS ingestion_id,
    $dataset AS dataset,
    $quarter AS quarter,
    $file AS file,
    line,
    'row' AS kind,
    NULL AS column_name,
    NULL AS value,
    reason,
    left(text, $length) AS record
FROM temp.main.srsql_withdrawn
WHERE case_id IS NULL
ORDER BY line;
