CREATE OR REPLACE TEMPORARY TABLE srsql_foreign_value AS
SELECT
  split.line,
  'indi_pt' AS "attribute",
  CASE
    WHEN NOT NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE("split"."value", '[INVISIBLE]', '', 'g'))), '') IN (
      NULLIF(
        UPPER(
          NFC_NORMALIZE(REGEXP_REPLACE('Product used for unknown indication', '[INVISIBLE]', '', 'g'))
        ),
        ''
      ),
      NULLIF(
        UPPER(
          NFC_NORMALIZE(REGEXP_REPLACE('Drug use for unknown indication', '[INVISIBLE]', '', 'g'))
        ),
        ''
      )
    )
    THEN NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE("split"."value", '[INVISIBLE]', '', 'g'))), '')
  END AS "term"
FROM (
  SELECT
    p.line,
    UNNEST(STR_SPLIT("p"."value 0", ';')) AS "value"
  FROM "temp"."main"."srsql_foreign_parsed" AS "p"
) AS split
WHERE
  NOT (
    CASE
      WHEN NOT NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE("split"."value", '[INVISIBLE]', '', 'g'))), '') IN (
        NULLIF(
          UPPER(
            NFC_NORMALIZE(REGEXP_REPLACE('Product used for unknown indication', '[INVISIBLE]', '', 'g'))
          ),
          ''
        ),
        NULLIF(
          UPPER(
            NFC_NORMALIZE(REGEXP_REPLACE('Drug use for unknown indication', '[INVISIBLE]', '', 'g'))
          ),
          ''
        )
      )
      THEN NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE("split"."value", '[INVISIBLE]', '', 'g'))), '')
    END
  ) IS NULL
UNION ALL
SELECT
  split.line,
  'pt' AS "attribute",
  NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE("split"."value", '[INVISIBLE]', '', 'g'))), '') AS "term"
FROM (
  SELECT
    p.line,
    UNNEST(STR_SPLIT("p"."value 1", ';')) AS "value"
  FROM "temp"."main"."srsql_foreign_parsed" AS "p"
) AS split
WHERE
  NOT (
    NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE("split"."value", '[INVISIBLE]', '', 'g'))), '')
  ) IS NULL
