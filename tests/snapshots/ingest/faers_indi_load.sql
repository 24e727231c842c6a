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
    WHEN NOT srsql.term_key("parsed"."indi_pt") IN (
      srsql.term_key('Product used for unknown indication'),
      srsql.term_key('Drug use for unknown indication')
    )
    THEN srsql.term_key("parsed"."indi_pt")
  END
FROM (
  SELECT
    "r"."line",
    CASE
      WHEN REGEXP_FULL_MATCH(LIST_EXTRACT("field", 1), '[0-9]+')
      THEN TRY_CAST(LIST_EXTRACT("field", 1) AS BIGINT)
      WHEN REGEXP_FULL_MATCH(
        NULLIF(REGEXP_REPLACE(LIST_EXTRACT("field", 1), '^[SPACES]+|[SPACES]+$', '', 'g'), ''),
        '[0-9]+'
      )
      THEN TRY_CAST(NULLIF(REGEXP_REPLACE(LIST_EXTRACT("field", 1), '^[SPACES]+|[SPACES]+$', '', 'g'), '') AS BIGINT)
    END AS "primaryid",
    CASE
      WHEN REGEXP_FULL_MATCH(LIST_EXTRACT("field", 2), '[0-9]+')
      THEN TRY_CAST(LIST_EXTRACT("field", 2) AS BIGINT)
      WHEN REGEXP_FULL_MATCH(
        NULLIF(REGEXP_REPLACE(LIST_EXTRACT("field", 2), '^[SPACES]+|[SPACES]+$', '', 'g'), ''),
        '[0-9]+'
      )
      THEN TRY_CAST(NULLIF(REGEXP_REPLACE(LIST_EXTRACT("field", 2), '^[SPACES]+|[SPACES]+$', '', 'g'), '') AS BIGINT)
    END AS "caseid",
    NULLIF(LIST_EXTRACT("field", 3), '') AS "indi_drug_seq",
    NULLIF(LIST_EXTRACT("field", 4), '') AS "indi_pt"
  FROM "temp"."main"."srsql_record" AS "r"
  WHERE
    NOT "r"."line" IN (
      SELECT
        line
      FROM "temp"."main"."srsql_rejected_record"
    )
) AS parsed
ORDER BY
  "parsed"."line"
