WITH known_box AS MATERIALIZED (
  SELECT
    "q"."case_no",
    [
      COALESCE(
        ANY_VALUE(
          CASE
            WHEN "q"."position" = 0 AND NOT srsql.says_nothing("q"."low", "q"."high", NULL, NULL)
            THEN -"q"."low"
          END
        ),
        srsql.unbounded_end()
      ),
      COALESCE(
        ANY_VALUE(
          CASE
            WHEN "q"."position" = 0 AND NOT srsql.says_nothing("q"."low", "q"."high", NULL, NULL)
            THEN "q"."high"
          END
        ),
        srsql.unbounded_end()
      ),
      COALESCE(
        ANY_VALUE(
          CASE
            WHEN "q"."position" = 1 AND NOT srsql.says_nothing("q"."low", "q"."high", 0, 2)
            THEN -"q"."low"
          END
        ),
        srsql.unbounded_end()
      ),
      COALESCE(
        ANY_VALUE(
          CASE
            WHEN "q"."position" = 1 AND NOT srsql.says_nothing("q"."low", "q"."high", 0, 2)
            THEN "q"."high"
          END
        ),
        srsql.unbounded_end()
      ),
      srsql.unbounded_end(),
      srsql.unbounded_end()
    ] AS box
  FROM "srsql"."case_qid" AS "q"
  WHERE
    "q"."release_id" = 7
  GROUP BY
    "q"."case_no"
)
SELECT
  m.case_no,
  COALESCE(b.box, LIST_RESIZE(CAST([] AS BIGINT[]), $ends, srsql.unbounded_end())) AS box
FROM temp.main.srsql_audit_member AS m
ANTI JOIN srsql.forgotten_case AS f
  ON m.case_id = f.token
LEFT JOIN known_box AS b
  ON m.case_no = b.case_no
WHERE
  $ends > 0
