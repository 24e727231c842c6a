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
  'wt' AS column_name,
  "found"."value" AS value,
  "found"."reason" AS reason
FROM (
  SELECT
    "raw"."srsql_line" AS line,
    CONCAT_WS(' ', "raw"."wt", "raw"."wt_cod") AS value,
    CASE
      WHEN "text wt" IS NULL
      THEN NULL
      WHEN NOT REGEXP_FULL_MATCH("number wt", '[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)')
      THEN 'not a number'
      WHEN "unit wt" IS NULL
      THEN 'no unit'
      WHEN "factor wt" IS NULL
      THEN 'unknown unit'
      WHEN "digits wt" < CAST('0' AS INT128)
      THEN 'negative'
      WHEN "granules wt" IS NULL
      OR "granules wt" < CAST('0' AS INT128)
      OR "granules wt" > CAST('400' AS INT128)
      THEN 'outside 0 to 400 kg'
    END AS reason
  FROM (
    SELECT
      *,
      (
        (
          (
            "digits wt" * "factor wt"
          ) * CAST('2' AS INT128) + CAST('100000000000000000000000000' AS INT128)
        ) - (
          (
            (
              (
                (
                  "digits wt" * "factor wt"
                ) * CAST('2' AS INT128) + CAST('100000000000000000000000000' AS INT128)
              ) % CAST('200000000000000000000000000' AS INT128)
            ) + CAST('200000000000000000000000000' AS INT128)
          ) % CAST('200000000000000000000000000' AS INT128)
        )
      ) // CAST('200000000000000000000000000' AS INT128) AS "granules wt"
    FROM (
      SELECT
        *,
        CASE
          WHEN REGEXP_FULL_MATCH("number wt", '[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)')
          AND LENGTH(STRUCT_EXTRACT("part wt", 'whole')) <= 6
          THEN TRY_CAST(CONCAT(
            STRUCT_EXTRACT("part wt", 'sign'),
            STRUCT_EXTRACT("part wt", 'whole'),
            RPAD(LEFT(STRUCT_EXTRACT("part wt", 'fraction'), 18), 18, '0')
          ) AS INT128)
        END AS "digits wt",
        CASE "unit wt"
          WHEN 'KG'
          THEN CAST('100000000' AS INT128)
          WHEN 'LBS'
          THEN CAST('45359237' AS INT128)
          WHEN 'GMS'
          THEN CAST('100000' AS INT128)
        END AS "factor wt"
      FROM (
        SELECT
          *,
          NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE("rows"."wt", '[INVISIBLE]', '', 'g'))), '') AS "text wt",
          NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE("rows"."wt", '[INVISIBLE]', '', 'g'))), '') AS "number wt",
          REGEXP_EXTRACT(
            NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE("rows"."wt", '[INVISIBLE]', '', 'g'))), ''),
            '^([+]|-|)0*([0-9]*)(?:[.]([0-9]*))?$',
            ['sign', 'whole', 'fraction']
          ) AS "part wt",
          NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE("rows"."wt_cod", '[INVISIBLE]', '', 'g'))), '') AS "unit wt"
        FROM (
          SELECT
            *
          FROM "raw_faers"."demo"
          WHERE
            "quarter" = $quarter AND NOT (
              "wt"
            ) IS NULL AND (
              "srsql_wt"
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
