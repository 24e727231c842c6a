SELECT
  CAST("t"."primaryid" AS TEXT) AS report_id,
  CAST("t"."caseid" AS TEXT) AS case_id
FROM "raw_faers"."demo" AS "t"
WHERE
  "t"."quarter" = '2011Q4'
