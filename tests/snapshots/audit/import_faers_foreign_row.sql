CREATE OR REPLACE TEMPORARY TABLE srsql_foreign_row AS
SELECT
  p.line,
  p.case_id,
  p.group_label
FROM "temp"."main"."srsql_foreign_parsed" AS "p"
