SELECT
  "v"."row" AS number,
  0 AS place,
  COALESCE(CAST("v"."age_low" AS TEXT) || ' to ' || CAST("v"."age_high" AS TEXT), '*') AS shown
FROM "release_2011q4"."released_rows" AS "v"
UNION ALL
SELECT
  "v"."row" AS number,
  1 AS place,
  CAST("v"."sex" AS TEXT) AS shown
FROM "release_2011q4"."released_rows" AS "v"
