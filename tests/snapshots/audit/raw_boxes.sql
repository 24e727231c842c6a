SELECT
  "m"."case_no",
  CAST([
    COALESCE(-"q0"."low", srsql.unbounded_end()),
    COALESCE("q0"."high", srsql.unbounded_end()),
    COALESCE(-"q1"."low", srsql.unbounded_end()),
    COALESCE("q1"."high", srsql.unbounded_end()),
    srsql.unbounded_end(),
    srsql.unbounded_end()
  ] AS BIGINT[]) AS box
FROM "temp"."main"."srsql_audit_member" AS "m"
ANTI JOIN "srsql"."forgotten_case" AS "f"
  ON "m"."case_id" = "f"."token"
LEFT JOIN "srsql"."case_qid" AS "q0"
  ON "q0"."release_id" = 7
  AND "q0"."position" = 0
  AND "q0"."case_no" = "m"."case_no"
  AND NOT srsql.says_nothing("q0"."low", "q0"."high", NULL, NULL)
LEFT JOIN "srsql"."case_qid" AS "q1"
  ON "q1"."release_id" = 7
  AND "q1"."position" = 1
  AND "q1"."case_no" = "m"."case_no"
  AND NOT srsql.says_nothing("q1"."low", "q1"."high", 0, 2)
