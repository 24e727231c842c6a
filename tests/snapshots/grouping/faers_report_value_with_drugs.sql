CREATE OR REPLACE TEMPORARY TABLE srsql_report_value AS
SELECT
  "t"."primaryid" AS report_id,
  'indi_pt' AS attribute,
  w.key_no,
  w.word_no,
  TRUE AS shown,
  TRUE AS sensitive
FROM "raw_faers"."indi" AS "t"
JOIN "temp"."main"."srsql_word" AS "w"
  ON "t"."indi_pt" = w.text AND w.attribute = 'indi_pt'
WHERE
  "t"."quarter" = ?
UNION ALL
SELECT
  "t"."primaryid" AS report_id,
  'pt' AS attribute,
  w.key_no,
  w.word_no,
  TRUE AS shown,
  TRUE AS sensitive
FROM "raw_faers"."reac" AS "t"
JOIN "temp"."main"."srsql_word" AS "w"
  ON "t"."pt" = w.text AND w.attribute = 'pt'
WHERE
  "t"."quarter" = ?
UNION ALL
SELECT
  "t"."primaryid" AS report_id,
  'drugname' AS attribute,
  w.key_no,
  w.word_no,
  TRUE AS shown,
  FALSE AS sensitive
FROM "raw_faers"."drug" AS "t"
JOIN "temp"."main"."srsql_word" AS "w"
  ON "t"."drugname" = w.text AND w.attribute = 'drugname'
WHERE
  "t"."quarter" = ?
