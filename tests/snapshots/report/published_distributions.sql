WITH report_row AS MATERIALIZED (
  SELECT
    "v"."caseid" AS case_id,
    "v"."age_low",
    "v"."age_high",
    "v"."wt_low",
    "v"."wt_high",
    "v"."sex",
    DENSE_RANK() OVER (ORDER BY "v"."age_low", "v"."age_high", "v"."wt_low", "v"."wt_high", "v"."sex") AS group_id
  FROM "release_2011q4"."demo" AS "v"
), member AS MATERIALIZED (
  SELECT DISTINCT
    r.case_id,
    r.group_id
  FROM report_row AS r
), region AS MATERIALIZED (
  SELECT DISTINCT
    "r"."group_id",
    0 AS position,
    CAST(ROUND((
      "r"."age_high" - "r"."age_low"
    ) / 1) AS DOUBLE) AS width
  FROM "report_row" AS "r"
  UNION ALL
  SELECT DISTINCT
    "r"."group_id",
    1 AS position,
    CAST(ROUND((
      "r"."wt_high" - "r"."wt_low"
    ) / 1) AS DOUBLE) AS width
  FROM "report_row" AS "r"
  UNION ALL
  SELECT DISTINCT
    "r"."group_id",
    2 AS position,
    CAST("n"."height" AS DOUBLE) AS width
  FROM "report_row" AS "r"
  LEFT JOIN "srsql"."node" AS "n"
    ON "n"."dataset" = 'faers' AND "n"."attribute" = 'sex' AND "n"."node" = "r"."sex"
), confidence AS MATERIALIZED (
  SELECT
    CAST(NULL AS BIGINT) AS group_id,
    CAST(NULL AS TEXT) AS term,
    CAST(NULL AS DOUBLE) AS theta,
    CAST(NULL AS DOUBLE) AS conf
  WHERE
    FALSE
)
SELECT
  (
    SELECT
      ARRAY_AGG({'size': s.size, 'groups': s.groups} ORDER BY s.size)
    FROM srsql.REPORT_SIZES('member') AS s
  ) AS sizes,
  (
    SELECT
      ARRAY_AGG(
        {'position': w.position, 'width': w.width, 'cases': w.cases} ORDER BY w.position, w.width
      )
    FROM srsql.REPORT_WIDTHS('member', 'region') AS w
  ) AS widths,
  (
    SELECT
      ARRAY_AGG({'exposure': e.exposure, 'groups': e.groups} ORDER BY e.exposure)
    FROM srsql.REPORT_EXPOSURE('confidence') AS e
  ) AS exposures,
  (
    SELECT
      ARRAY_AGG({'theta': h.theta, 'terms': h.terms, 'highest': h.highest} ORDER BY h.theta)
    FROM srsql.REPORT_HIGHEST('confidence') AS h
  ) AS highest
