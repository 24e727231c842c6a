SELECT
  t.threshold.value AS term,
  t.threshold.theta AS theta
FROM (
  SELECT
    UNNEST(m.thresholds) AS threshold
  FROM "release_2011q4"."manifest" AS "m"
) AS t
