SELECT
  "t"."caseid" AS case_id,
  MAX("t"."quarter") AS quarter
FROM "raw_faers"."demo" AS "t"
ANTI JOIN (
  SELECT
    "r"."quarter",
    "w"."case_id"
  FROM "srsql"."withheld" AS "w"
  JOIN "srsql"."release" AS "r"
    ON "w"."release_id" = "r"."release_id"
  WHERE
    "w"."release_id" IN (1, 2)
    AND "w"."reason" IN ('deleted', 'missing_qid', 'counted_before')
  UNION ALL
  SELECT
    "r"."quarter",
    "w"."case_id"
  FROM "srsql"."waiting" AS "w"
  JOIN "srsql"."release" AS "r"
    ON "w"."release_id" = "r"."release_id"
  WHERE
    "w"."release_id" IN (1, 2)
) AS withdrawn
  ON "t"."quarter" = "withdrawn"."quarter"
  AND CAST("t"."caseid" AS TEXT) = "withdrawn"."case_id"
WHERE
  "t"."quarter" IN ('2011Q3', '2011Q4')
GROUP BY
  "t"."caseid"
