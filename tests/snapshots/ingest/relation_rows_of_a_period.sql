SELECT
  CAST("t"."id" AS TEXT) COLLATE C AS id,
  system.main.list_value(CAST("t"."id" AS TEXT) COLLATE C, CAST("t"."Age" AS TEXT) COLLATE C) AS field,
  CASE
    WHEN NOT "h"."reported"
    THEN 'no report has its key'
    WHEN NOT "h"."known"
    THEN 'no period'
  END AS fault
FROM "clinic"."main"."Adverse Events" AS "t"
JOIN "temp"."main"."srsql_period_text" AS "h"
  ON CAST(CAST("t"."day" AS DATE) AS TEXT) COLLATE C IS NOT DISTINCT FROM "h"."text"
