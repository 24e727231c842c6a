SELECT DISTINCT
  1,
  CAST(JSON_OBJECT('age_low', "t"."age_low", 'age_high', "t"."age_high", 'sex', "t"."sex") AS TEXT),
  'age',
  "t"."age_low",
  "t"."age_high",
  NULL
FROM "temp"."main"."srsql_loaded_demo" AS "t"
UNION ALL
SELECT DISTINCT
  1,
  CAST(JSON_OBJECT('age_low', "t"."age_low", 'age_high', "t"."age_high", 'sex', "t"."sex") AS TEXT),
  'sex',
  NULL,
  NULL,
  "t"."sex"
FROM "temp"."main"."srsql_loaded_demo" AS "t"
