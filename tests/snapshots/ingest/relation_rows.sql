SELECT
  CAST("t"."id" AS TEXT) COLLATE C AS id,
  system.main.list_value(CAST("t"."id" AS TEXT) COLLATE C, CAST("t"."Age" AS TEXT) COLLATE C) AS field,
  CAST(NULL AS TEXT) AS fault
FROM "clinic"."main"."Adverse Events" AS "t"
