INSERT INTO srsql.reject (
  ingestion_id,
  dataset,
  quarter,
  file,
  line,
  kind,
  column_name,
  value,
  reason
)
SELECT
  $ingestion AS ingestion_id,
  $dataset AS dataset,
  $quarter AS quarter,
  $file AS file,
  "found"."line" AS line,
  'value' AS kind,
  'caseid' AS column_name,
  "found"."value" AS value,
  "found"."reason" AS reason
FROM (
  SELECT
    "r"."line" AS line,
    NULLIF(REGEXP_REPLACE(LIST_EXTRACT("field", 2), '^[SPACES]+|[SPACES]+$', '', 'g'), '') AS value,
    CASE
      WHEN NOT (
        NULLIF(REGEXP_REPLACE(LIST_EXTRACT("field", 2), '^[SPACES]+|[SPACES]+$', '', 'g'), '')
      ) IS NULL
      AND (
        CASE
          WHEN REGEXP_FULL_MATCH(LIST_EXTRACT("field", 2), '[0-9]+')
          THEN TRY_CAST(LIST_EXTRACT("field", 2) AS BIGINT)
          WHEN REGEXP_FULL_MATCH(
            NULLIF(REGEXP_REPLACE(LIST_EXTRACT("field", 2), '^[SPACES]+|[SPACES]+$', '', 'g'), ''),
            '[0-9]+'
          )
          THEN TRY_CAST(NULLIF(REGEXP_REPLACE(LIST_EXTRACT("field", 2), '^[SPACES]+|[SPACES]+$', '', 'g'), '') AS BIGINT)
        END
      ) IS NULL
      THEN 'case id is not an integer'
    END AS reason
  FROM "temp"."main"."srsql_record" AS "r"
  WHERE
    NOT "r"."line" IN (
      SELECT
        line
      FROM "temp"."main"."srsql_rejected_record"
    )
) AS found
WHERE
  NOT (
    "found"."reason"
  ) IS NULL
ORDER BY
  "found"."line"
