SELECT
  f.quarter,
  COUNT(*) AS cases
FROM (
  SELECT
    c.case_id,
    MIN(c.quarter) AS quarter
  FROM (
    SELECT
      '2011Q3' AS quarter,
      CAST("v"."caseid" AS TEXT) AS case_id
    FROM "release_2011q3"."demo" AS "v"
    UNION ALL
    SELECT
      '2011Q4' AS quarter,
      CAST("v"."caseid" AS TEXT) AS case_id
    FROM "release_2011q4"."demo" AS "v"
  ) AS c
  GROUP BY
    c.case_id
) AS f
GROUP BY
  f.quarter
