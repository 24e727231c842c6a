SELECT DISTINCT
  u.case_id,
  u.term
FROM (
  SELECT
    "v"."caseid" AS case_id,
    srsql.term_key("v"."indi_pt") AS term
  FROM "release_2011q4"."indi" AS "v"
  WHERE
    NOT (
      srsql.term_key("v"."indi_pt")
    ) IS NULL
  UNION ALL
  SELECT
    "v"."caseid" AS case_id,
    srsql.term_key("v"."pt") AS term
  FROM "release_2011q4"."reac" AS "v"
  WHERE
    NOT (
      srsql.term_key("v"."pt")
    ) IS NULL
) AS u
