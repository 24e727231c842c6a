SELECT
  "t"."primaryid" AS report_id,
  "t"."caseid" AS case_id
FROM "raw_faers"."demo" AS "t"
WHERE
  "t"."quarter" = '2011Q4'
