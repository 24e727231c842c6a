SELECT
  "r"."report_id",
  "r"."case_id",
  "r"."case_no",
  "r"."group_no",
  "r"."report_id" AS public_report,
  "r"."case_id" AS public_case
FROM (
  SELECT
    "c"."report_id",
    "c"."case_id",
    "g"."case_no",
    "g"."group_no" AS group_no
  FROM "temp"."main"."srsql_case_report" AS "c"
  JOIN "temp"."main"."srsql_grouped" AS "g"
    ON "c"."case_no" = "g"."case_no"
) AS r
