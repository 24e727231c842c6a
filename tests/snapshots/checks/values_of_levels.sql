SELECT
  0 AS place,
  COALESCE(CAST("n"."low" AS TEXT) || ' to ' || CAST("n"."high" AS TEXT), '*') AS shown
FROM "temp"."main"."srsql_dimension_node" AS "n"
WHERE
  "n"."position" = 0 AND "n"."level" = 1
UNION ALL
SELECT
  1 AS place,
  CAST(COALESCE("n"."label", 'Any') AS TEXT) AS shown
FROM "temp"."main"."srsql_dimension_node" AS "n"
WHERE
  "n"."position" = 2 AND "n"."level" = 0
