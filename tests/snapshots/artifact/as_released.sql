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
    CAST("t"."primaryid" AS BIGINT) AS "primaryid",
    CAST("t"."caseid" AS BIGINT) AS "caseid",
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
    CAST("t"."primaryid" AS BIGINT) AS "primaryid",
    CAST("t"."caseid" AS BIGINT) AS "caseid",
    CAST("t"."drug_seq" AS TEXT) AS "drug_seq",
    CAST("t"."role_cod" AS TEXT) AS "role_cod",
    CAST("t"."drugname" AS TEXT) AS "drugname",
    CAST("t"."drugname_key" AS TEXT) AS "drugname_key"
  FROM "release_2011q3"."drug" AS "t"
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
    CAST("t"."primaryid" AS BIGINT) AS "primaryid",
    CAST("t"."caseid" AS BIGINT) AS "caseid",
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
    CAST("t"."primaryid" AS BIGINT) AS "primaryid",
    CAST("t"."caseid" AS BIGINT) AS "caseid",
    CAST("t"."indi_drug_seq" AS TEXT) AS "indi_drug_seq",
    CAST("t"."indi_pt" AS TEXT) AS "indi_pt",
    CAST("t"."indi_pt_key" AS TEXT) AS "indi_pt_key"
  FROM "release_2011q3"."indi" AS "t"
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
    CAST("t"."primaryid" AS BIGINT) AS "primaryid",
    CAST("t"."caseid" AS BIGINT) AS "caseid",
    CAST("t"."outc_cod" AS TEXT) AS "outc_cod"
  FROM "release_2011q3"."outc" AS "t"
) AS q
ORDER BY
  "q"."primaryid",
  "q"."caseid",
  "q"."outc_cod"
