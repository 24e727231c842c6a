SELECT DISTINCT
  "i"."public_case" AS case_id,
  'indi_pt' AS attribute,
  SRSQL_CHECKED_TERM_KEY("t"."indi_pt") AS term
FROM "raw_faers"."indi" AS "t"
JOIN "temp"."main"."srsql_identity" AS "i"
  ON "t"."primaryid" = "i"."report_id"
WHERE
  "t"."quarter" = '2011Q4' AND NOT "t"."srsql_indi_pt" IS NULL
UNION ALL
SELECT DISTINCT
  "v"."caseid" AS case_id,
  'indi_pt' AS attribute,
  "n"."term" AS term
FROM "release_2011q4"."indi" AS "v"
JOIN (
  SELECT
    "d"."text",
    SRSQL_CHECKED_TERM_KEY("d"."text") AS term
  FROM (
    SELECT
      MIN("v"."indi_pt") AS text
    FROM "release_2011q4"."indi" AS "v"
    GROUP BY
      "v"."indi_pt"
  ) AS d
  WHERE
    SRSQL_CHECKED_TERM_KEY("d"."text") <> ''
) AS "n"
  ON "v"."indi_pt" = "n"."text"
UNION ALL
SELECT DISTINCT
  "v"."caseid" AS case_id,
  'pt' AS attribute,
  "n"."term" AS term
FROM "release_2011q4"."reac" AS "v"
JOIN (
  SELECT
    "d"."text",
    SRSQL_CHECKED_TERM_KEY("d"."text") AS term
  FROM (
    SELECT
      MIN("v"."pt") AS text
    FROM "release_2011q4"."reac" AS "v"
    GROUP BY
      "v"."pt"
  ) AS d
  WHERE
    SRSQL_CHECKED_TERM_KEY("d"."text") <> ''
) AS "n"
  ON "v"."pt" = "n"."text"
