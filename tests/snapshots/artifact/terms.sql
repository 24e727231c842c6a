SELECT
  "q"."cluster",
  "q"."records",
  "q"."age_low",
  "q"."age_high",
  "q"."wt_low",
  "q"."wt_high",
  "q"."sex"
FROM (
  SELECT
    CAST("t"."cluster" AS BIGINT) AS "cluster",
    CAST("t"."records" AS BIGINT) AS "records",
    CAST("t"."age_low" AS BIGINT) AS "age_low",
    CAST("t"."age_high" AS BIGINT) AS "age_high",
    CAST("t"."wt_low" AS BIGINT) AS "wt_low",
    CAST("t"."wt_high" AS BIGINT) AS "wt_high",
    CAST("t"."sex" AS TEXT) AS "sex"
  FROM "release_2011q3"."clusters" AS "t"
) AS q
ORDER BY
  "q"."cluster",
  "q"."records",
  "q"."age_low",
  "q"."age_high",
  "q"."wt_low",
  "q"."wt_high",
  "q"."sex"; SELECT
  "q"."joint",
  "q"."cluster"
FROM (
  SELECT
    CAST("t"."joint" AS BIGINT) AS "joint",
    CAST("t"."cluster" AS BIGINT) AS "cluster"
  FROM "release_2011q3"."joint_clusters" AS "t"
) AS q
ORDER BY
  "q"."joint",
  "q"."cluster"; SELECT
  "q"."cluster",
  "q"."chunk",
  "q"."subrecord",
  "q"."term"
FROM (
  SELECT
    CAST("t"."cluster" AS BIGINT) AS "cluster",
    CAST("t"."chunk" AS BIGINT) AS "chunk",
    CAST("t"."subrecord" AS BIGINT) AS "subrecord",
    CAST("t"."term" AS TEXT) AS "term"
  FROM "release_2011q3"."record_chunk" AS "t"
) AS q
ORDER BY
  "q"."cluster",
  "q"."chunk",
  "q"."subrecord",
  "q"."term"; SELECT
  "q"."joint",
  "q"."chunk",
  "q"."subrecord",
  "q"."term"
FROM (
  SELECT
    CAST("t"."joint" AS BIGINT) AS "joint",
    CAST("t"."chunk" AS BIGINT) AS "chunk",
    CAST("t"."subrecord" AS BIGINT) AS "subrecord",
    CAST("t"."term" AS TEXT) AS "term"
  FROM "release_2011q3"."shared_chunk" AS "t"
) AS q
ORDER BY
  "q"."joint",
  "q"."chunk",
  "q"."subrecord",
  "q"."term"; SELECT
  "q"."cluster",
  "q"."term"
FROM (
  SELECT
    CAST("t"."cluster" AS BIGINT) AS "cluster",
    CAST("t"."term" AS TEXT) AS "term"
  FROM "release_2011q3"."item_chunk" AS "t"
) AS q
ORDER BY
  "q"."cluster",
  "q"."term"; SELECT
  "q"."record",
  "q"."cluster",
  "q"."term"
FROM (
  SELECT
    CAST("t"."record" AS BIGINT) AS "record",
    CAST("t"."cluster" AS BIGINT) AS "cluster",
    CAST("t"."term" AS TEXT) AS "term"
  FROM "release_2011q3"."reconstructed" AS "t"
) AS q
ORDER BY
  "q"."record",
  "q"."cluster",
  "q"."term"
