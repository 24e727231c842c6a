INSERT INTO "raw_faers"."indi" (
  "quarter",
  "srsql_line",
  "primaryid",
  "caseid",
  "indi_drug_seq",
  "indi_pt",
  "srsql_indi_pt"
)
SELECT
  '2022Q4',
  "parsed"."line",
  "parsed"."primaryid",
  "parsed"."caseid",
  "parsed"."indi_drug_seq",
  "parsed"."indi_pt",
  CASE
    WHEN NOT NULLIF(
      CASE
        WHEN STRLEN("parsed"."indi_pt") = LENGTH("parsed"."indi_pt")
        AND (
          ARRAY_EXTRACT("parsed"."indi_pt", 1) BETWEEN '!' AND '~'
          AND ARRAY_EXTRACT("parsed"."indi_pt", -1) BETWEEN '!' AND '~'
        )
        THEN UPPER("parsed"."indi_pt")
        ELSE UPPER(NFC_NORMALIZE(REGEXP_REPLACE("parsed"."indi_pt", '[INVISIBLE]', '', 'g')))
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
        WHEN STRLEN("parsed"."indi_pt") = LENGTH("parsed"."indi_pt")
        AND (
          ARRAY_EXTRACT("parsed"."indi_pt", 1) BETWEEN '!' AND '~'
          AND ARRAY_EXTRACT("parsed"."indi_pt", -1) BETWEEN '!' AND '~'
        )
        THEN UPPER("parsed"."indi_pt")
        ELSE UPPER(NFC_NORMALIZE(REGEXP_REPLACE("parsed"."indi_pt", '[INVISIBLE]', '', 'g')))
      END,
      ''
    )
  END
FROM (
  SELECT
    "r"."line",
    CASE
      WHEN REGEXP_FULL_MATCH(LIST_EXTRACT("field", 1), '[0-9]+')
      THEN TRY_CAST(LIST_EXTRACT("field", 1) AS BIGINT)
      WHEN REGEXP_FULL_MATCH(
        NULLIF(
          CASE
            WHEN ARRAY_EXTRACT(LIST_EXTRACT("field", 1), 1) BETWEEN '!' AND '~'
            AND ARRAY_EXTRACT(LIST_EXTRACT("field", 1), -1) BETWEEN '!' AND '~'
            THEN LIST_EXTRACT("field", 1)
            ELSE REGEXP_REPLACE(LIST_EXTRACT("field", 1), '^[SPACES]+|[SPACES]+$', '', 'g')
          END,
          ''
        ),
        '[0-9]+'
      )
      THEN TRY_CAST(NULLIF(
        CASE
          WHEN ARRAY_EXTRACT(LIST_EXTRACT("field", 1), 1) BETWEEN '!' AND '~'
          AND ARRAY_EXTRACT(LIST_EXTRACT("field", 1), -1) BETWEEN '!' AND '~'
          THEN LIST_EXTRACT("field", 1)
          ELSE REGEXP_REPLACE(LIST_EXTRACT("field", 1), '^[SPACES]+|[SPACES]+$', '', 'g')
        END,
        ''
      ) AS BIGINT)
    END AS "primaryid",
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
    END AS "caseid",
    NULLIF(LIST_EXTRACT("field", 3), '') AS "indi_drug_seq",
    NULLIF(LIST_EXTRACT("field", 4), '') AS "indi_pt"
  FROM "temp"."main"."srsql_record" AS "r"
  WHERE
    r.line > 1
    AND NOT "r"."line" IN (
      SELECT
        line
      FROM "temp"."main"."srsql_rejected_record"
    )
) AS parsed
ORDER BY
  "parsed"."line"
