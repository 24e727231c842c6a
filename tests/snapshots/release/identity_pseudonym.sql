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
  ON CAST("r"."report_id" AS TEXT) = "report"."id"
JOIN (
  SELECT
    "p"."id",
    "p"."pseudonym"
  FROM "temp"."main"."srsql_named_id" AS "p"
  WHERE
    "p"."kind" = 'case'
) AS "case"
  ON CAST("r"."case_id" AS TEXT) = "case"."id"
