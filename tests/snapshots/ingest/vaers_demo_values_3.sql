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
  'state' AS column_name,
  "found"."value" AS value,
  "found"."reason" AS reason
FROM (
  SELECT
    "raw"."srsql_line" AS line,
    "raw"."state" AS value,
    CASE
      WHEN NOT (
        NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE("raw"."state", '[INVISIBLE]', '', 'g'))), '')
      ) IS NULL
      AND (
        "code_state"."code"
      ) IS NULL
      THEN 'unknown code'
    END AS reason
  FROM (
    SELECT
      *
    FROM "raw_vaers"."demo"
    WHERE
      "quarter" = $quarter AND NOT (
        "state"
      ) IS NULL AND (
        "srsql_state"
      ) IS NULL
  ) AS raw
  LEFT JOIN "temp"."main"."srsql_code" AS "code_state"
    ON "code_state"."qid" = 'state'
    AND "code_state"."code" = CASE
      WHEN STRLEN("raw"."state") = LENGTH("raw"."state")
      AND (
        ARRAY_EXTRACT("raw"."state", 1) BETWEEN '!' AND '~'
        AND ARRAY_EXTRACT("raw"."state", -1) BETWEEN '!' AND '~'
      )
      THEN UPPER("raw"."state")
      ELSE UPPER(NFC_NORMALIZE(REGEXP_REPLACE("raw"."state", '[INVISIBLE]', '', 'g')))
    END
) AS found
WHERE
  NOT (
    "found"."reason"
  ) IS NULL
ORDER BY
  "found"."line"
