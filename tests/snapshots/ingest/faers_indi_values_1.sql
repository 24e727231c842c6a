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
    NULLIF(
      CASE
        WHEN ARRAY_EXTRACT(LIST_EXTRACT("field", 2), 1) BETWEEN '!' AND '~'
        AND ARRAY_EXTRACT(LIST_EXTRACT("field", 2), -1) BETWEEN '!' AND '~'
        THEN LIST_EXTRACT("field", 2)
        ELSE REGEXP_REPLACE(LIST_EXTRACT("field", 2), '^[SPACES]+|[SPACES]+$', '', 'g')
      END,
      ''
    ) AS value,
    CASE
      WHEN NOT (
        NULLIF(
          CASE
            WHEN ARRAY_EXTRACT(LIST_EXTRACT("field", 2), 1) BETWEEN '!' AND '~'
            AND ARRAY_EXTRACT(LIST_EXTRACT("field", 2), -1) BETWEEN '!' AND '~'
            THEN LIST_EXTRACT("field", 2)
            ELSE REGEXP_REPLACE(LIST_EXTRACT("field", 2), '^[SPACES]+|[SPACES]+$', '', 'g')
          END,
          ''
        )
      ) IS NULL
      AND (
        CASE
          WHEN REGEXP_FULL_MATCH(LIST_EXTRACT("field", 2), '[0-9]+')
          THEN TRY_CAST(LIST_EXTRACT("field", 2) AS BIGINT)
          WHEN REGEXP_FULL_MATCH(
            NULLIF(
              CASE
                WHEN ARRAY_EXTRACT(LIST_EXTRACT("field", 2), 1) BETWEEN '!' AND '~'
                AND ARRAY_EXTRACT(LIST_EXTRACT("field", 2), -1) BETWEEN '!' AND '~'
                THEN LIST_EXTRACT("field", 2)
                ELSE REGEXP_REPLACE(LIST_EXTRACT("field", 2), '^[SPACES]+|[SPACES]+$', '', 'g')
              END,
              ''
            ),
            '[0-9]+'
          )
          THEN TRY_CAST(NULLIF(
            CASE
              WHEN ARRAY_EXTRACT(LIST_EXTRACT("field", 2), 1) BETWEEN '!' AND '~'
              AND ARRAY_EXTRACT(LIST_EXTRACT("field", 2), -1) BETWEEN '!' AND '~'
              THEN LIST_EXTRACT("field", 2)
              ELSE REGEXP_REPLACE(LIST_EXTRACT("field", 2), '^[SPACES]+|[SPACES]+$', '', 'g')
            END,
            ''
          ) AS BIGINT)
        END
      ) IS NULL
      THEN 'case id is not an integer'
    END AS reason
  FROM "temp"."main"."srsql_record" AS "r"
  WHERE
    r.line > 1
    AND NOT "r"."line" IN (
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
