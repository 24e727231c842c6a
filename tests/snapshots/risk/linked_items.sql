SELECT DISTINCT
  "c"."side",
  "c"."case_no",
  'drug.drugname' AS attribute,
  "n"."term"
FROM "srsql_data"."release_7_drug" AS "t"
JOIN (
  SELECT
    "v"."value",
    NULLIF(REGEXP_REPLACE("v"."value", '^[SPACES]+|[SPACES]+$', '', 'g'), '') AS term
  FROM (
    SELECT DISTINCT
      CAST("t"."drugname" AS TEXT) AS value
    FROM "srsql_data"."release_7_drug" AS "t"
  ) AS v
) AS n
  ON CAST("t"."drugname" AS TEXT) = "n"."value"
JOIN "temp"."main"."srsql_link_case" AS "c"
  ON "c"."side" = 1 AND "c"."case_id" = CAST("t"."caseid" AS TEXT)
WHERE
  NOT "n"."term" IS NULL
