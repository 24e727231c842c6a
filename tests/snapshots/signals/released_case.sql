SELECT
  "t"."caseid" AS case_id,
  MAX("t"."quarter") AS quarter
FROM "released"."demo" AS "t"
WHERE
  "t"."quarter" IN ('2011Q3', '2011Q4')
GROUP BY
  "t"."caseid"
