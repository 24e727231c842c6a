SELECT
  "r"."report_id",
  "r"."case_id",
  "r"."case_no",
  "r"."group_no",
  "report"."pseudonym" AS public_report,
  "case"."pseudonym" AS public_case
FROM "temp"."main"."srsql_shown_report" AS "r"
JOIN (
  SELECT
    "p"."id",
    "p"."pseudonym"
  FROM "temp"."main"."srsql_named_id" AS "p"
  WHERE
    "p"."kind" = 'report'
) AS "report"
  ON "r"."report_id" = TRY_CAST("report"."id" AS BIGINT)
JOIN (
  SELECT
    "p"."id",
    "p"."pseudonym"
  FROM "temp"."main"."srsql_named_id" AS "p"
  WHERE
    "p"."kind" = 'case'
) AS "case"
  ON "r"."case_id" = TRY_CAST("case"."id" AS BIGINT)
