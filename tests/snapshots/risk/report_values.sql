SELECT
  "m"."case_no" AS record,
  'pt:' AS prefix,
  srsql.term_key("t"."pt") AS term,
  COUNT(*) AS times
FROM "raw_faers"."reac" AS "t"
JOIN "raw_faers"."demo" AS "r"
  ON "r"."primaryid" = "t"."primaryid" AND "r"."quarter" = "t"."quarter"
JOIN "srsql"."member" AS "m"
  ON CAST("r"."caseid" AS TEXT) = "m"."case_id"
WHERE
  (
    "m"."release_id" = 7 AND "t"."quarter" = $quarter
  )
  AND NOT "t"."srsql_pt" IS NULL
GROUP BY
  "m"."case_no",
  "t"."primaryid",
  srsql.term_key("t"."pt")
UNION ALL
SELECT
  "m"."case_no" AS record,
  'drugname:' AS prefix,
  srsql.term_key("t"."drugname") AS term,
  COUNT(*) AS times
FROM "raw_faers"."drug" AS "t"
JOIN "raw_faers"."demo" AS "r"
  ON "r"."primaryid" = "t"."primaryid" AND "r"."quarter" = "t"."quarter"
JOIN "srsql"."member" AS "m"
  ON CAST("r"."caseid" AS TEXT) = "m"."case_id"
WHERE
  (
    "m"."release_id" = 7 AND "t"."quarter" = $quarter
  )
  AND NOT "t"."srsql_drugname" IS NULL
GROUP BY
  "m"."case_no",
  "t"."primaryid",
  srsql.term_key("t"."drugname")
