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
  'age' AS column_name,
  "found"."value" AS value,
  "found"."reason" AS reason
FROM (
  SELECT
    "raw"."srsql_line" AS line,
    CONCAT_WS(' ', "raw"."age", "raw"."age_cod") AS value,
    CASE
      WHEN "text age" IS NULL
      THEN NULL
      WHEN NOT REGEXP_FULL_MATCH("number age", '[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)')
      THEN 'not a number'
      WHEN "unit age" IS NULL
      THEN 'no unit'
      WHEN "factor age" IS NULL
      THEN 'unknown unit'
      WHEN "digits age" < CAST('0' AS INT128)
      THEN 'negative'
      WHEN "granules age" IS NULL
      OR "granules age" < CAST('0' AS INT128)
      OR "granules age" > CAST('120' AS INT128)
      THEN 'outside 0 to 120 years'
    END AS reason
  FROM (
    SELECT
      *,
      (
        (
          "digits age" * "factor age"
        ) - (
          (
            (
              (
                "digits age" * "factor age"
              ) % CAST('17532000000000000000000' AS INT128)
            ) + CAST('17532000000000000000000' AS INT128)
          ) % CAST('17532000000000000000000' AS INT128)
        )
      ) // CAST('17532000000000000000000' AS INT128) AS "granules age"
    FROM (
      SELECT
        *,
        CASE
          WHEN REGEXP_FULL_MATCH("number age", '[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)')
          AND LENGTH(STRUCT_EXTRACT("part age", 'whole')) <= 7
          THEN TRY_CAST(CONCAT(
            STRUCT_EXTRACT("part age", 'sign'),
            STRUCT_EXTRACT("part age", 'whole'),
            RPAD(LEFT(STRUCT_EXTRACT("part age", 'fraction'), 18), 18, '0')
          ) AS INT128)
        END AS "digits age",
        CASE "unit age"
          WHEN 'DEC'
          THEN CAST('175320' AS INT128)
          WHEN 'YR'
          THEN CAST('17532' AS INT128)
          WHEN 'MON'
          THEN CAST('1461' AS INT128)
          WHEN 'WK'
          THEN CAST('336' AS INT128)
          WHEN 'DY'
          THEN CAST('48' AS INT128)
          WHEN 'HR'
          THEN CAST('2' AS INT128)
        END AS "factor age"
      FROM (
        SELECT
          *,
          NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE("rows"."age", '[INVISIBLE]', '', 'g'))), '') AS "text age",
          NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE("rows"."age", '[INVISIBLE]', '', 'g'))), '') AS "number age",
          REGEXP_EXTRACT(
            NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE("rows"."age", '[INVISIBLE]', '', 'g'))), ''),
            '^([+]|-|)0*([0-9]*)(?:[.]([0-9]*))?$',
            ['sign', 'whole', 'fraction']
          ) AS "part age",
          NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE("rows"."age_cod", '[INVISIBLE]', '', 'g'))), '') AS "unit age"
        FROM (
          SELECT
            *
          FROM "raw_faers"."demo"
          WHERE
            "quarter" = $quarter AND NOT (
              "age"
            ) IS NULL AND (
              "srsql_age"
            ) IS NULL
        ) AS rows
      ) AS parts
    ) AS numbers
  ) AS raw
) AS found
WHERE
  NOT (
    "found"."reason"
  ) IS NULL
ORDER BY
  "found"."line"
