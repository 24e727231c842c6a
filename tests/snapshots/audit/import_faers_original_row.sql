CREATE OR REPLACE TEMPORARY TABLE srsql_original_row AS
SELECT
  p.line,
  p.case_id,
  p.group_label
FROM "temp"."main"."srsql_original_parsed" AS "p"
