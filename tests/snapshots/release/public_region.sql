SELECT
  "r"."group_no",
  MAX(CASE WHEN "r"."position" = 0 THEN "r"."low" END) AS "age_low",
  MAX(CASE WHEN "r"."position" = 0 THEN "r"."high" END) AS "age_high",
  MAX(CASE WHEN "r"."position" = 1 THEN "r"."low" END) AS "wt_low",
  MAX(CASE WHEN "r"."position" = 1 THEN "r"."high" END) AS "wt_high",
  COALESCE(MAX("n2"."node"), 'Any') AS "sex"
FROM "temp"."main"."srsql_region" AS "r"
LEFT JOIN "temp"."main"."srsql_node" AS "n2"
  ON "r"."position" = 2
  AND "n2"."position" = 2
  AND "n2"."pre" = "r"."low"
  AND "n2"."last" = "r"."high"
GROUP BY
  "r"."group_no"
