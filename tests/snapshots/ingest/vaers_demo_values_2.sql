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
  'sex' AS column_name,
  "found"."value" AS value,
  "found"."reason" AS reason
FROM (
  SELECT
    "raw"."srsql_line" AS line,
    "raw"."sex" AS value,
    CASE
      WHEN NOT (
        NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE("raw"."sex", '[INVISIBLE]', '', 'g'))), '')
      ) IS NULL
      AND (
        "code_sex"."code"
      ) IS NULL
      THEN 'unknown code'
    END AS reason
  FROM (
    SELECT
      *
    FROM "raw_vaers"."demo"
    WHERE
      "quarter" = $quarter AND NOT (
        "sex"
      ) IS NULL AND (
        "srsql_sex"
      ) IS NULL
  ) AS raw
  LEFT JOIN "temp"."main"."srsql_code" AS "code_sex"
    ON "code_sex"."qid" = 'sex'
    AND "code_sex"."code" = CASE
      WHEN STRLEN("raw"."sex") = LENGTH("raw"."sex")
      AND (
        ARRAY_EXTRACT("raw"."sex", 1) BETWEEN '!' AND '~'
        AND ARRAY_EXTRACT("raw"."sex", -1) BETWEEN '!' AND '~'
      )
      THEN UPPER("raw"."sex")
      ELSE UPPER(NFC_NORMALIZE(REGEXP_REPLACE("raw"."sex", '[INVISIBLE]', '', 'g')))
    END
) AS found
WHERE
  NOT (
    "found"."reason"
  ) IS NULL
ORDER BY
  "found"."line"
