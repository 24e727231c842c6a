SELECT
  ROW_NUMBER() OVER () - 1 AS position,
  "t"."primaryid" AS report_id,
  "t"."caseid" AS case_id,
  "t"."quarter" AS period,
  CAST(JSON_OBJECT('age_low', "t"."age_low", 'age_high', "t"."age_high", 'sex', "t"."sex") AS TEXT) AS region
FROM "temp"."main"."srsql_loaded_demo" AS "t"
