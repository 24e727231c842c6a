WITH exact_match AS (
  SELECT DISTINCT
    "t0"."caseid" AS unit,
    "t0"."pt" AS exact_0
  FROM (
    SELECT
      "v".*
      REPLACE ("l0"."name" AS "pt")
    FROM "release_2011q4"."reac" AS "v"
    LEFT JOIN "temp"."main"."srsql_level_name" AS "l0"
      ON "l0"."attribute" = 'reac.pt' AND "l0"."value" = "v"."pt"
  ) AS "t0"
  WHERE
    UPPER("t0"."pt") <> 'FEVER'
    AND EXISTS(
      SELECT
        1
      FROM (
        SELECT
          "v".*
          REPLACE ("l0"."name" AS "drugname")
        FROM "release_2011q4"."drug" AS "v"
        LEFT JOIN "temp"."main"."srsql_level_name" AS "l0"
          ON "l0"."attribute" = 'drug.drugname' AND "l0"."value" = "v"."drugname"
      ) AS "t1"
      WHERE
        "t1"."caseid" = "t0"."caseid"
        AND "t1"."drugname" IN (
          NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE('Heart', '[INVISIBLE]', '', 'g'))), ''),
          NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE('x', '[INVISIBLE]', '', 'g'))), '')
        )
    )
    AND NOT "t0"."pt" IS NULL
), outcome AS (
  SELECT
    "a"."unit",
    "a"."exact_0" AS group_0
  FROM "exact_match" AS "a"
), verdict AS (
  SELECT
    "c"."unit",
    "c"."group_0",
    1 AS weight,
    COUNT(*) = 1 AS certain,
    1 = 1 AS known,
    SUM(CAST(1 AS DECIMAL(18, 12))) AS part
  FROM "outcome" AS "c"
  GROUP BY
    "c"."unit",
    "c"."group_0"
), bound AS (
  SELECT
    "j"."unit",
    "j"."group_0",
    MAX("j"."weight") AS weight,
    MAX(CASE WHEN "j"."certain" THEN 1 ELSE 0 END) AS certain,
    MAX(CASE WHEN "j"."certain" THEN 1 ELSE LEAST(1, "j"."part") END) AS part,
    MAX(CASE WHEN "j"."known" THEN 1 ELSE 0 END) AS known
  FROM "verdict" AS "j"
  GROUP BY
    "j"."unit",
    "j"."group_0"
)
SELECT
  "b"."group_0" AS "pt",
  CAST(COALESCE(SUM("b"."certain" * "b"."weight"), 0) AS BIGINT) AS lower,
  CAST(COALESCE(SUM("b"."part" * "b"."weight"), 0) AS DOUBLE) AS expected,
  CAST(COALESCE(SUM("b"."weight"), 0) AS BIGINT) AS upper,
  CAST(COALESCE(SUM("b"."known" * "b"."weight"), 0) AS BIGINT) AS known
FROM "bound" AS "b"
GROUP BY
  "b"."group_0"
ORDER BY
  "b"."group_0" ASC
