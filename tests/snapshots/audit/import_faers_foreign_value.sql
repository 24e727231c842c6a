CREATE OR REPLACE TEMPORARY TABLE srsql_foreign_value AS
SELECT
  split.line,
  'indi_pt' AS "attribute",
  CASE
    WHEN NOT NULLIF(
      CASE
        WHEN STRLEN("split"."value") = LENGTH("split"."value")
        AND (
          ARRAY_EXTRACT("split"."value", 1) BETWEEN '!' AND '~'
          AND ARRAY_EXTRACT("split"."value", -1) BETWEEN '!' AND '~'
        )
        THEN UPPER("split"."value")
        ELSE UPPER(NFC_NORMALIZE(REGEXP_REPLACE("split"."value", '[INVISIBLE]', '', 'g')))
      END,
      ''
    ) IN (
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
    THEN NULLIF(
      CASE
        WHEN STRLEN("split"."value") = LENGTH("split"."value")
        AND (
          ARRAY_EXTRACT("split"."value", 1) BETWEEN '!' AND '~'
          AND ARRAY_EXTRACT("split"."value", -1) BETWEEN '!' AND '~'
        )
        THEN UPPER("split"."value")
        ELSE UPPER(NFC_NORMALIZE(REGEXP_REPLACE("split"."value", '[INVISIBLE]', '', 'g')))
      END,
      ''
    )
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
      WHEN NOT NULLIF(
        CASE
          WHEN STRLEN("split"."value") = LENGTH("split"."value")
          AND (
            ARRAY_EXTRACT("split"."value", 1) BETWEEN '!' AND '~'
            AND ARRAY_EXTRACT("split"."value", -1) BETWEEN '!' AND '~'
          )
          THEN UPPER("split"."value")
          ELSE UPPER(NFC_NORMALIZE(REGEXP_REPLACE("split"."value", '[INVISIBLE]', '', 'g')))
        END,
        ''
      ) IN (
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
      THEN NULLIF(
        CASE
          WHEN STRLEN("split"."value") = LENGTH("split"."value")
          AND (
            ARRAY_EXTRACT("split"."value", 1) BETWEEN '!' AND '~'
            AND ARRAY_EXTRACT("split"."value", -1) BETWEEN '!' AND '~'
          )
          THEN UPPER("split"."value")
          ELSE UPPER(NFC_NORMALIZE(REGEXP_REPLACE("split"."value", '[INVISIBLE]', '', 'g')))
        END,
        ''
      )
    END
  ) IS NULL
UNION ALL
SELECT
  split.line,
  'pt' AS "attribute",
  NULLIF(
    CASE
      WHEN STRLEN("split"."value") = LENGTH("split"."value")
      AND (
        ARRAY_EXTRACT("split"."value", 1) BETWEEN '!' AND '~'
        AND ARRAY_EXTRACT("split"."value", -1) BETWEEN '!' AND '~'
      )
      THEN UPPER("split"."value")
      ELSE UPPER(NFC_NORMALIZE(REGEXP_REPLACE("split"."value", '[INVISIBLE]', '', 'g')))
    END,
    ''
  ) AS "term"
FROM (
  SELECT
    p.line,
    UNNEST(STR_SPLIT("p"."value 1", ';')) AS "value"
  FROM "temp"."main"."srsql_foreign_parsed" AS "p"
) AS split
WHERE
  NOT (
    NULLIF(
      CASE
        WHEN STRLEN("split"."value") = LENGTH("split"."value")
        AND (
          ARRAY_EXTRACT("split"."value", 1) BETWEEN '!' AND '~'
          AND ARRAY_EXTRACT("split"."value", -1) BETWEEN '!' AND '~'
        )
        THEN UPPER("split"."value")
        ELSE UPPER(NFC_NORMALIZE(REGEXP_REPLACE("split"."value", '[INVISIBLE]', '', 'g')))
      END,
      ''
    )
  ) IS NULL
