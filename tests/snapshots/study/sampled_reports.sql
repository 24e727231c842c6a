SELECT
  "r"."primaryid" AS report_id
FROM "raw_faers"."demo" AS "r"
WHERE
  "r"."quarter" = ?
  AND "r"."caseid" IN (
    SELECT
      "r"."caseid"
    FROM (
      SELECT DISTINCT
        "r"."caseid"
      FROM "raw_faers"."demo" AS "r"
      WHERE
        "r"."quarter" = ?
    ) AS r
    ORDER BY
      MD5('7/' || CAST("r"."caseid" AS TEXT)),
      "r"."caseid"
    LIMIT 20
  )
