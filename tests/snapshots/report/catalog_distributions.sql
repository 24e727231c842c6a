WITH member AS MATERIALIZED (
  SELECT
    m.*
  FROM srsql.REPORT_MEMBERS($release) AS m
), region AS MATERIALIZED (
  SELECT
    g.*
  FROM srsql.REPORT_REGIONS($release) AS g
), confidence AS MATERIALIZED (
  SELECT
    c.*
  FROM srsql.REPORT_CONFIDENCES($release) AS c
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
