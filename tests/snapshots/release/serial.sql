SELECT
  'drug' AS numbering,
  n.report_id,
  n.value,
  CAST(ROW_NUMBER() OVER (PARTITION BY n.report_id ORDER BY TRY_CAST(n.value AS INT128), n.value) AS TEXT) AS ordinal
FROM (
  SELECT DISTINCT
    p.*
  FROM (
    SELECT
      "t"."primaryid" AS report_id,
      "t"."drug_seq" AS value
    FROM "raw_faers"."drug" AS "t"
    WHERE
      NOT "t"."drug_seq" IS NULL
    UNION ALL
    SELECT
      "t"."primaryid" AS report_id,
      "t"."indi_drug_seq" AS value
    FROM "raw_faers"."indi" AS "t"
    WHERE
      NOT "t"."indi_drug_seq" IS NULL
  ) AS p
) AS n
