SELECT
  "i"."public_report" AS "primaryid",
  "i"."public_case" AS "caseid",
  "s_drug_seq"."ordinal" AS "drug_seq",
  "t"."role_cod",
  CASE WHEN NOT "t"."srsql_drugname" IS NULL THEN "t"."drugname" END AS "drugname",
  "t"."srsql_drugname" AS "drugname_key"
FROM "raw_faers"."drug" AS "t"
JOIN "temp"."main"."srsql_identity" AS "i"
  ON "t"."primaryid" = "i"."report_id"
JOIN "temp"."main"."srsql_public_region" AS "g"
  ON "i"."group_no" = "g"."group_no"
LEFT JOIN "temp"."main"."srsql_serial" AS "s_drug_seq"
  ON "s_drug_seq"."numbering" = 'drug'
  AND "s_drug_seq"."report_id" = "t"."primaryid"
  AND "s_drug_seq"."value" = "t"."drug_seq"
WHERE
  "t"."quarter" = '2022Q4'
ORDER BY
  "i"."public_report",
  "i"."public_case",
  "t"."srsql_line",
  "t"."drug_seq",
  "t"."role_cod",
  "t"."drugname"
