SELECT
  CONCAT_WS(
    ',',
    COALESCE(
      CAST(STRLEN(CAST("t"."primaryid" AS TEXT)) AS TEXT) || ':' || CAST("t"."primaryid" AS TEXT),
      '-'
    ),
    COALESCE(
      CAST(STRLEN(CAST("t"."caseid" AS TEXT)) AS TEXT) || ':' || CAST("t"."caseid" AS TEXT),
      '-'
    ),
    COALESCE(
      CAST(STRLEN(CAST("t"."quarter" AS TEXT)) AS TEXT) || ':' || CAST("t"."quarter" AS TEXT),
      '-'
    ),
    COALESCE(
      CAST(STRLEN(CAST("t"."age_low" AS TEXT)) AS TEXT) || ':' || CAST("t"."age_low" AS TEXT),
      '-'
    ),
    COALESCE(
      CAST(STRLEN(CAST("t"."age_high" AS TEXT)) AS TEXT) || ':' || CAST("t"."age_high" AS TEXT),
      '-'
    ),
    COALESCE(
      CAST(STRLEN(CAST("t"."sex" AS TEXT)) AS TEXT) || ':' || CAST("t"."sex" AS TEXT),
      '-'
    ),
    CHR(10)
  )
FROM "temp"."main"."srsql_loaded_demo" AS "t"
