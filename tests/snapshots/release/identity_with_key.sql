SELECT
  "r"."report_id",
  "r"."case_id",
  "r"."case_no",
  "r"."group_no",
  srsql.pseudonym(
    UNHEX(
      '36373435323330313e3f3c3d3a3b383926272425222320212e2f2c2d2a2b282916171415121310111e1f1c1d1a1b181906070405020300010e0f0c0d0a0b0809'
    ),
    UNHEX(
      '5c5d5e5f58595a5b54555657505152534c4d4e4f48494a4b44454647404142437c7d7e7f78797a7b74757677707172736c6d6e6f68696a6b6465666760616263'
    ),
    'report',
    CAST("r"."report_id" AS TEXT)
  ) AS public_report,
  srsql.pseudonym(
    UNHEX(
      '36373435323330313e3f3c3d3a3b383926272425222320212e2f2c2d2a2b282916171415121310111e1f1c1d1a1b181906070405020300010e0f0c0d0a0b0809'
    ),
    UNHEX(
      '5c5d5e5f58595a5b54555657505152534c4d4e4f48494a4b44454647404142437c7d7e7f78797a7b74757677707172736c6d6e6f68696a6b6465666760616263'
    ),
    'case',
    CAST("r"."case_id" AS TEXT)
  ) AS public_case
FROM (
  SELECT
    "c"."report_id",
    "c"."case_id",
    "g"."case_no",
    "g"."group_no" AS group_no
  FROM "temp"."main"."srsql_case_report" AS "c"
  JOIN "temp"."main"."srsql_grouped" AS "g"
    ON "c"."case_no" = "g"."case_no"
) AS r
