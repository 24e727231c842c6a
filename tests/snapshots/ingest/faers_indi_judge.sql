CREATE OR REPLACE TEMPORARY TABLE "temp"."main"."srsql_rejected_record" AS
SELECT
  j.line,
  j.field,
  j.reason
FROM (
  SELECT
    line,
    field,
    CASE
      WHEN NOT (
        "fault"
      ) IS NULL
      THEN "fault"
      WHEN LENGTH("field") < 4
      THEN 'too few fields (a short row, or a line end inside a value)'
      WHEN LENGTH("field") BETWEEN 7 AND 9 AND LENGTH("field") >= 6
      THEN 'two records on one line'
      WHEN LENGTH("field") > 4
      THEN 'too many fields (a separator inside a value)'
      WHEN (
        CASE
          WHEN REGEXP_FULL_MATCH(LIST_EXTRACT("field", 1), '[0-9]+')
          THEN TRY_CAST(LIST_EXTRACT("field", 1) AS BIGINT)
          WHEN REGEXP_FULL_MATCH(
            NULLIF(REGEXP_REPLACE(LIST_EXTRACT("field", 1), '^[SPACES]+|[SPACES]+$', '', 'g'), ''),
            '[0-9]+'
          )
          THEN TRY_CAST(NULLIF(REGEXP_REPLACE(LIST_EXTRACT("field", 1), '^[SPACES]+|[SPACES]+$', '', 'g'), '') AS BIGINT)
        END
      ) IS NULL
      THEN CASE
        WHEN (
          NULLIF(REGEXP_REPLACE(LIST_EXTRACT("field", 1), '^[SPACES]+|[SPACES]+$', '', 'g'), '')
        ) IS NULL
        THEN 'blank report id'
        WHEN REGEXP_FULL_MATCH(
          NULLIF(REGEXP_REPLACE(LIST_EXTRACT("field", 1), '^[SPACES]+|[SPACES]+$', '', 'g'), ''),
          '[0-9]+[.]0+'
        )
        THEN 'report id is a float: write integers'
        ELSE 'report id is not an integer'
      END
    END AS reason
  FROM "temp"."main"."srsql_record"
) AS j
WHERE
  NOT j.reason IS NULL
