SELECT
  "r"."group_no",
  MAX("n0"."low") AS "age_low",
  MAX("n0"."high") AS "age_high",
  MAX(CASE WHEN "r"."position" = 1 THEN "r"."low" END) AS "wt_low",
  MAX(CASE WHEN "r"."position" = 1 THEN "r"."high" END) AS "wt_high",
  COALESCE(MAX("n2"."node"), 'Any') AS "sex"
FROM (
  /* What the rows of each case (here its own group) show: the draw, the group's region, or missing. */
  SELECT
    g.case_no AS group_no,
    r.position,
    COALESCE(d.low, r.low) AS low,
    COALESCE(d.high, r.high) AS high
  FROM temp.main.srsql_grouped AS g
  INNER JOIN temp.main.srsql_region AS r
    ON g.group_no = r.group_no
  LEFT JOIN temp.main.srsql_drawn AS d
    ON g.case_no = d.case_no AND r.position = d.position
) AS r
LEFT JOIN "temp"."main"."srsql_node" AS "n0"
  ON "r"."position" = 0
  AND "n0"."position" = 0
  AND "n0"."pre" = "r"."low"
  AND "n0"."last" = "r"."high"
LEFT JOIN "temp"."main"."srsql_node" AS "n2"
  ON "r"."position" = 2
  AND "n2"."position" = 2
  AND "n2"."pre" = "r"."low"
  AND "n2"."last" = "r"."high"
GROUP BY
  "r"."group_no"
