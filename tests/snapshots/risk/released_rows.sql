SELECT
  CAST("r"."age_low" AS BIGINT) AS low,
  CAST("r"."age_high" AS BIGINT) AS high,
  CAST(1.0 * CASE WHEN "r"."sex" = 'Any' THEN 0.5 WHEN "r"."sex" = 'M' THEN 1.0 ELSE 0.0 END AS DOUBLE) AS share,
  CAST((
    "r"."wt_low" + "r"."wt_high"
  ) / 2 AS DOUBLE) AS amount
FROM "release_2011q4"."released_rows" AS "r"
WHERE
  (
    srsql.term_key("r"."pt")
  ) = (
    srsql.term_key(CAST($value AS TEXT))
  )
