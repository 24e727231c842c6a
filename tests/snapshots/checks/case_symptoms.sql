SELECT
  "v"."case_id",
  "v"."attribute",
  COUNT("v"."term") AS symptoms
FROM "temp"."main"."seen" AS "v"
WHERE
  "v"."attribute" IN ('indi_pt', 'pt')
GROUP BY
  "v"."case_id",
  "v"."attribute"
