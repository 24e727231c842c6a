SELECT
  "q"."primaryid",
  "q"."caseid",
  "q"."quarter",
  "q"."age_low",
  "q"."age_high",
  "q"."wt_low",
  "q"."wt_high",
  "q"."sex"
FROM (
  SELECT
    CAST(srsql.pseudonym(
      UNHEX(
        '36373435323330313e3f3c3d3a3b383926272425222320212e2f2c2d2a2b282916171415121310111e1f1c1d1a1b181906070405020300010e0f0c0d0a0b0809'
      ),
      UNHEX(
        '5c5d5e5f58595a5b54555657505152534c4d4e4f48494a4b44454647404142437c7d7e7f78797a7b74757677707172736c6d6e6f68696a6b6465666760616263'
      ),
      'report',
      CAST("t"."primaryid" AS TEXT)
    ) AS BIGINT) AS "primaryid",
    CAST(srsql.pseudonym(
      UNHEX(
        '36373435323330313e3f3c3d3a3b383926272425222320212e2f2c2d2a2b282916171415121310111e1f1c1d1a1b181906070405020300010e0f0c0d0a0b0809'
      ),
      UNHEX(
        '5c5d5e5f58595a5b54555657505152534c4d4e4f48494a4b44454647404142437c7d7e7f78797a7b74757677707172736c6d6e6f68696a6b6465666760616263'
      ),
      'case',
      CAST("t"."caseid" AS TEXT)
    ) AS BIGINT) AS "caseid",
    CAST("t"."quarter" AS TEXT) AS "quarter",
    CAST("t"."age_low" AS BIGINT) AS "age_low",
    CAST("t"."age_high" AS BIGINT) AS "age_high",
    CAST("t"."wt_low" AS BIGINT) AS "wt_low",
    CAST("t"."wt_high" AS BIGINT) AS "wt_high",
    CAST("t"."sex" AS TEXT) AS "sex"
  FROM "release_2011q3"."demo" AS "t"
) AS q
ORDER BY
  "q"."primaryid",
  "q"."caseid",
  "q"."quarter",
  "q"."age_low",
  "q"."age_high",
  "q"."wt_low",
  "q"."wt_high",
  "q"."sex"; SELECT
  "q"."primaryid",
  "q"."caseid",
  "q"."drug_seq",
  "q"."role_cod",
  "q"."drugname",
  "q"."drugname_key"
FROM (
  SELECT
    CAST(srsql.pseudonym(
      UNHEX(
        '36373435323330313e3f3c3d3a3b383926272425222320212e2f2c2d2a2b282916171415121310111e1f1c1d1a1b181906070405020300010e0f0c0d0a0b0809'
      ),
      UNHEX(
        '5c5d5e5f58595a5b54555657505152534c4d4e4f48494a4b44454647404142437c7d7e7f78797a7b74757677707172736c6d6e6f68696a6b6465666760616263'
      ),
      'report',
      CAST("t"."primaryid" AS TEXT)
    ) AS BIGINT) AS "primaryid",
    CAST(srsql.pseudonym(
      UNHEX(
        '36373435323330313e3f3c3d3a3b383926272425222320212e2f2c2d2a2b282916171415121310111e1f1c1d1a1b181906070405020300010e0f0c0d0a0b0809'
      ),
      UNHEX(
        '5c5d5e5f58595a5b54555657505152534c4d4e4f48494a4b44454647404142437c7d7e7f78797a7b74757677707172736c6d6e6f68696a6b6465666760616263'
      ),
      'case',
      CAST("t"."caseid" AS TEXT)
    ) AS BIGINT) AS "caseid",
    CAST("s_drug_seq"."ordinal" AS TEXT) AS "drug_seq",
    CAST("t"."role_cod" AS TEXT) AS "role_cod",
    CAST("t"."drugname" AS TEXT) AS "drugname",
    CAST("t"."drugname_key" AS TEXT) AS "drugname_key"
  FROM "release_2011q3"."drug" AS "t"
  LEFT JOIN (
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
        FROM "release_2011q3"."drug" AS "t"
        WHERE
          NOT "t"."drug_seq" IS NULL
        UNION ALL
        SELECT
          "t"."primaryid" AS report_id,
          "t"."indi_drug_seq" AS value
        FROM "release_2011q3"."indi" AS "t"
        WHERE
          NOT "t"."indi_drug_seq" IS NULL
      ) AS p
    ) AS n
  ) AS "s_drug_seq"
    ON "s_drug_seq"."numbering" = 'drug'
    AND "s_drug_seq"."report_id" = "t"."primaryid"
    AND "s_drug_seq"."value" = "t"."drug_seq"
) AS q
ORDER BY
  "q"."primaryid",
  "q"."caseid",
  TRY_CAST("q"."drug_seq" AS INT128),
  "q"."drug_seq",
  "q"."role_cod",
  "q"."drugname",
  "q"."drugname_key"; SELECT
  "q"."primaryid",
  "q"."caseid",
  "q"."pt",
  "q"."pt_key"
FROM (
  SELECT
    CAST(srsql.pseudonym(
      UNHEX(
        '36373435323330313e3f3c3d3a3b383926272425222320212e2f2c2d2a2b282916171415121310111e1f1c1d1a1b181906070405020300010e0f0c0d0a0b0809'
      ),
      UNHEX(
        '5c5d5e5f58595a5b54555657505152534c4d4e4f48494a4b44454647404142437c7d7e7f78797a7b74757677707172736c6d6e6f68696a6b6465666760616263'
      ),
      'report',
      CAST("t"."primaryid" AS TEXT)
    ) AS BIGINT) AS "primaryid",
    CAST(srsql.pseudonym(
      UNHEX(
        '36373435323330313e3f3c3d3a3b383926272425222320212e2f2c2d2a2b282916171415121310111e1f1c1d1a1b181906070405020300010e0f0c0d0a0b0809'
      ),
      UNHEX(
        '5c5d5e5f58595a5b54555657505152534c4d4e4f48494a4b44454647404142437c7d7e7f78797a7b74757677707172736c6d6e6f68696a6b6465666760616263'
      ),
      'case',
      CAST("t"."caseid" AS TEXT)
    ) AS BIGINT) AS "caseid",
    CAST("t"."pt" AS TEXT) AS "pt",
    CAST("t"."pt_key" AS TEXT) AS "pt_key"
  FROM "release_2011q3"."reac" AS "t"
) AS q
ORDER BY
  "q"."primaryid",
  "q"."caseid",
  "q"."pt",
  "q"."pt_key"; SELECT
  "q"."primaryid",
  "q"."caseid",
  "q"."indi_drug_seq",
  "q"."indi_pt",
  "q"."indi_pt_key"
FROM (
  SELECT
    CAST(srsql.pseudonym(
      UNHEX(
        '36373435323330313e3f3c3d3a3b383926272425222320212e2f2c2d2a2b282916171415121310111e1f1c1d1a1b181906070405020300010e0f0c0d0a0b0809'
      ),
      UNHEX(
        '5c5d5e5f58595a5b54555657505152534c4d4e4f48494a4b44454647404142437c7d7e7f78797a7b74757677707172736c6d6e6f68696a6b6465666760616263'
      ),
      'report',
      CAST("t"."primaryid" AS TEXT)
    ) AS BIGINT) AS "primaryid",
    CAST(srsql.pseudonym(
      UNHEX(
        '36373435323330313e3f3c3d3a3b383926272425222320212e2f2c2d2a2b282916171415121310111e1f1c1d1a1b181906070405020300010e0f0c0d0a0b0809'
      ),
      UNHEX(
        '5c5d5e5f58595a5b54555657505152534c4d4e4f48494a4b44454647404142437c7d7e7f78797a7b74757677707172736c6d6e6f68696a6b6465666760616263'
      ),
      'case',
      CAST("t"."caseid" AS TEXT)
    ) AS BIGINT) AS "caseid",
    CAST("s_indi_drug_seq"."ordinal" AS TEXT) AS "indi_drug_seq",
    CAST("t"."indi_pt" AS TEXT) AS "indi_pt",
    CAST("t"."indi_pt_key" AS TEXT) AS "indi_pt_key"
  FROM "release_2011q3"."indi" AS "t"
  LEFT JOIN (
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
        FROM "release_2011q3"."drug" AS "t"
        WHERE
          NOT "t"."drug_seq" IS NULL
        UNION ALL
        SELECT
          "t"."primaryid" AS report_id,
          "t"."indi_drug_seq" AS value
        FROM "release_2011q3"."indi" AS "t"
        WHERE
          NOT "t"."indi_drug_seq" IS NULL
      ) AS p
    ) AS n
  ) AS "s_indi_drug_seq"
    ON "s_indi_drug_seq"."numbering" = 'drug'
    AND "s_indi_drug_seq"."report_id" = "t"."primaryid"
    AND "s_indi_drug_seq"."value" = "t"."indi_drug_seq"
) AS q
ORDER BY
  "q"."primaryid",
  "q"."caseid",
  TRY_CAST("q"."indi_drug_seq" AS INT128),
  "q"."indi_drug_seq",
  "q"."indi_pt",
  "q"."indi_pt_key"; SELECT
  "q"."primaryid",
  "q"."caseid",
  "q"."outc_cod"
FROM (
  SELECT
    CAST(srsql.pseudonym(
      UNHEX(
        '36373435323330313e3f3c3d3a3b383926272425222320212e2f2c2d2a2b282916171415121310111e1f1c1d1a1b181906070405020300010e0f0c0d0a0b0809'
      ),
      UNHEX(
        '5c5d5e5f58595a5b54555657505152534c4d4e4f48494a4b44454647404142437c7d7e7f78797a7b74757677707172736c6d6e6f68696a6b6465666760616263'
      ),
      'report',
      CAST("t"."primaryid" AS TEXT)
    ) AS BIGINT) AS "primaryid",
    CAST(srsql.pseudonym(
      UNHEX(
        '36373435323330313e3f3c3d3a3b383926272425222320212e2f2c2d2a2b282916171415121310111e1f1c1d1a1b181906070405020300010e0f0c0d0a0b0809'
      ),
      UNHEX(
        '5c5d5e5f58595a5b54555657505152534c4d4e4f48494a4b44454647404142437c7d7e7f78797a7b74757677707172736c6d6e6f68696a6b6465666760616263'
      ),
      'case',
      CAST("t"."caseid" AS TEXT)
    ) AS BIGINT) AS "caseid",
    CAST("t"."outc_cod" AS TEXT) AS "outc_cod"
  FROM "release_2011q3"."outc" AS "t"
) AS q
ORDER BY
  "q"."primaryid",
  "q"."caseid",
  "q"."outc_cod"
