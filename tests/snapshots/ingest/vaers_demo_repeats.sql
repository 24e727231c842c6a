INSERT INTO "temp"."main"."srsql_rejected_record"
WITH report AS MATERIALIZED (
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
    END AS report_id
  FROM "temp"."main"."srsql_record" AS "r"
  WHERE
    NOT "r"."line" IN (
      SELECT
        line
      FROM "temp"."main"."srsql_rejected_record"
    )
)
SELECT
  r.line,
  r.field,
  'duplicate report id' AS reason
FROM temp.main.srsql_record AS r
WHERE
  r.line IN (
    SELECT
      n.line
    FROM (
      SELECT
        p.line,
        ROW_NUMBER() OVER (PARTITION BY p.report_id ORDER BY p.line) AS place
      FROM report AS p
      WHERE
        p.report_id IN (
          SELECT
            d.report_id
          FROM report AS d
          GROUP BY
            d.report_id
          HAVING
            COUNT(*) > 1
        )
    ) AS n
    WHERE
      n.place > 1
  )
