INSERT INTO "raw_vaers"."symptoms" (
  "quarter",
  "srsql_line",
  "vaers_id",
  "symptom",
  "srsql_symptom"
)
SELECT
  '2022Q4',
  "parsed"."line",
  "parsed"."vaers_id",
  "parsed"."symptom",
  srsql.term_key("parsed"."symptom")
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
    END AS "vaers_id",
    UNNEST(
      CAST([
        LIST_EXTRACT("field", 2),
        LIST_EXTRACT("field", 3),
        LIST_EXTRACT("field", 4),
        LIST_EXTRACT("field", 5),
        LIST_EXTRACT("field", 6)
      ] AS TEXT[])
    ) AS "symptom"
  FROM "temp"."main"."srsql_record" AS "r"
  WHERE
    NOT "r"."line" IN (
      SELECT
        line
      FROM "temp"."main"."srsql_rejected_record"
    )
) AS parsed
WHERE
  NOT (
    NULLIF(REGEXP_REPLACE("parsed"."symptom", '^[SPACES]+|[SPACES]+$', '', 'g'), '')
  ) IS NULL
ORDER BY
  "parsed"."line"
