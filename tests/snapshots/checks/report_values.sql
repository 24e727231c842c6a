SELECT DISTINCT
  "v"."primaryid" AS report_id,
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
  "v"."primaryid" AS report_id,
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
