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
        CASE
          WHEN STRLEN('Product used for unknown indication') = LENGTH('Product used for unknown indication')
          AND (
            ARRAY_EXTRACT('Product used for unknown indication', 1) BETWEEN '!' AND '~'
            AND ARRAY_EXTRACT('Product used for unknown indication', -1) BETWEEN '!' AND '~'
          )
          THEN UPPER('Product used for unknown indication')
          ELSE UPPER(
            NFC_NORMALIZE(REGEXP_REPLACE('Product used for unknown indication', '[INVISIBLE]', '', 'g'))
          )
        END,
        ''
      ),
      NULLIF(
        CASE
          WHEN STRLEN('Drug use for unknown indication') = LENGTH('Drug use for unknown indication')
          AND (
            ARRAY_EXTRACT('Drug use for unknown indication', 1) BETWEEN '!' AND '~'
            AND ARRAY_EXTRACT('Drug use for unknown indication', -1) BETWEEN '!' AND '~'
          )
          THEN UPPER('Drug use for unknown indication')
          ELSE UPPER(
            NFC_NORMALIZE(REGEXP_REPLACE('Drug use for unknown indication', '[INVISIBLE]', '', 'g'))
          )
        END,
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
          CASE
            WHEN STRLEN('Product used for unknown indication') = LENGTH('Product used for unknown indication')
            AND (
              ARRAY_EXTRACT('Product used for unknown indication', 1) BETWEEN '!' AND '~'
              AND ARRAY_EXTRACT('Product used for unknown indication', -1) BETWEEN '!' AND '~'
            )
            THEN UPPER('Product used for unknown indication')
            ELSE UPPER(
              NFC_NORMALIZE(REGEXP_REPLACE('Product used for unknown indication', '[INVISIBLE]', '', 'g'))
            )
          END,
          ''
        ),
        NULLIF(
          CASE
            WHEN STRLEN('Drug use for unknown indication') = LENGTH('Drug use for unknown indication')
            AND (
              ARRAY_EXTRACT('Drug use for unknown indication', 1) BETWEEN '!' AND '~'
              AND ARRAY_EXTRACT('Drug use for unknown indication', -1) BETWEEN '!' AND '~'
            )
            THEN UPPER('Drug use for unknown indication')
            ELSE UPPER(
              NFC_NORMALIZE(REGEXP_REPLACE('Drug use for unknown indication', '[INVISIBLE]', '', 'g'))
            )
          END,
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
