SELECT DISTINCT
  "v"."caseid" AS case_id,
  'drugname' AS attribute,
  "n"."term" AS drug
FROM "release_2011q4"."drug" AS "v"
JOIN (
  SELECT
    "d"."text",
    SRSQL_CHECKED_TERM_KEY("d"."text") AS term
  FROM (
    SELECT
      MIN("v"."drugname") AS text
    FROM "release_2011q4"."drug" AS "v"
    GROUP BY
      "v"."drugname"
  ) AS d
  WHERE
    SRSQL_CHECKED_TERM_KEY("d"."text") <> ''
) AS "n"
  ON "v"."drugname" = "n"."text"
