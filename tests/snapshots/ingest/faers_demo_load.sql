INSERT INTO "raw_faers"."demo" (
  "quarter",
  "srsql_line",
  "primaryid",
  "caseid",
  "caseversion",
  "i_f_code",
  "event_dt",
  "mfr_dt",
  "init_fda_dt",
  "fda_dt",
  "rept_cod",
  "auth_num",
  "mfr_num",
  "mfr_sndr",
  "lit_ref",
  "age",
  "age_cod",
  "age_grp",
  "sex",
  "e_sub",
  "wt",
  "wt_cod",
  "rept_dt",
  "to_mfr",
  "occp_cod",
  "reporter_country",
  "occr_country",
  "death_dt",
  "confid",
  "image",
  "srsql_age",
  "srsql_wt",
  "srsql_sex"
)
SELECT
  '2022Q4',
  "parsed"."line",
  "parsed"."primaryid",
  "parsed"."caseid",
  "parsed"."caseversion",
  "parsed"."i_f_code",
  "parsed"."event_dt",
  "parsed"."mfr_dt",
  "parsed"."init_fda_dt",
  "parsed"."fda_dt",
  "parsed"."rept_cod",
  "parsed"."auth_num",
  "parsed"."mfr_num",
  "parsed"."mfr_sndr",
  "parsed"."lit_ref",
  "parsed"."age",
  "parsed"."age_cod",
  "parsed"."age_grp",
  "parsed"."sex",
  "parsed"."e_sub",
  "parsed"."wt",
  "parsed"."wt_cod",
  "parsed"."rept_dt",
  "parsed"."to_mfr",
  "parsed"."occp_cod",
  "parsed"."reporter_country",
  "parsed"."occr_country",
  "parsed"."death_dt",
  "parsed"."confid",
  "parsed"."image",
  "number_age"."granules",
  "number_wt"."granules",
  "code_sex"."label"
FROM (
  SELECT
    "r"."line",
    CASE
      WHEN REGEXP_FULL_MATCH(LIST_EXTRACT("field", 1), '[0-9]+')
      THEN TRY_CAST(LIST_EXTRACT("field", 1) AS BIGINT)
      WHEN REGEXP_FULL_MATCH(
        NULLIF(REGEXP_REPLACE(LIST_EXTRACT("field", 1), '^[SPACES]+|[SPACES]+$', '', 'g'), ''),
        '[0-9]+'
      )
      THEN TRY_CAST(NULLIF(REGEXP_REPLACE(LIST_EXTRACT("field", 1), '^[SPACES]+|[SPACES]+$', '', 'g'), '') AS BIGINT)
    END AS "primaryid",
    CASE
      WHEN REGEXP_FULL_MATCH(LIST_EXTRACT("field", 2), '[0-9]+')
      THEN TRY_CAST(LIST_EXTRACT("field", 2) AS BIGINT)
      WHEN REGEXP_FULL_MATCH(
        NULLIF(REGEXP_REPLACE(LIST_EXTRACT("field", 2), '^[SPACES]+|[SPACES]+$', '', 'g'), ''),
        '[0-9]+'
      )
      THEN TRY_CAST(NULLIF(REGEXP_REPLACE(LIST_EXTRACT("field", 2), '^[SPACES]+|[SPACES]+$', '', 'g'), '') AS BIGINT)
    END AS "caseid",
    CAST(NULL AS TEXT) AS "caseversion",
    NULLIF(LIST_EXTRACT("field", 3), '') AS "i_f_code",
    CAST(NULL AS TEXT) AS "event_dt",
    CAST(NULL AS TEXT) AS "mfr_dt",
    CAST(NULL AS TEXT) AS "init_fda_dt",
    CAST(NULL AS TEXT) AS "fda_dt",
    CAST(NULL AS TEXT) AS "rept_cod",
    CAST(NULL AS TEXT) AS "auth_num",
    CAST(NULL AS TEXT) AS "mfr_num",
    CAST(NULL AS TEXT) AS "mfr_sndr",
    CAST(NULL AS TEXT) AS "lit_ref",
    NULLIF(LIST_EXTRACT("field", 4), '') AS "age",
    NULLIF(LIST_EXTRACT("field", 5), '') AS "age_cod",
    CAST(NULL AS TEXT) AS "age_grp",
    NULLIF(LIST_EXTRACT("field", 6), '') AS "sex",
    CAST(NULL AS TEXT) AS "e_sub",
    NULLIF(LIST_EXTRACT("field", 7), '') AS "wt",
    NULLIF(LIST_EXTRACT("field", 8), '') AS "wt_cod",
    CAST(NULL AS TEXT) AS "rept_dt",
    CAST(NULL AS TEXT) AS "to_mfr",
    CAST(NULL AS TEXT) AS "occp_cod",
    CAST(NULL AS TEXT) AS "reporter_country",
    CAST(NULL AS TEXT) AS "occr_country",
    CAST(NULL AS TEXT) AS "death_dt",
    CAST(NULL AS TEXT) AS "confid",
    CAST(NULL AS TEXT) AS "image"
  FROM "temp"."main"."srsql_record" AS "r"
  WHERE
    NOT "r"."line" IN (
      SELECT
        line
      FROM "temp"."main"."srsql_rejected_record"
    )
) AS parsed
LEFT JOIN (
  SELECT
    "known"."age",
    "known"."age_cod",
    CASE
      WHEN (
        CASE
          WHEN "text age" IS NULL
          THEN NULL
          WHEN NOT REGEXP_FULL_MATCH("number age", '[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)')
          THEN 'not a number'
          WHEN "unit age" IS NULL
          THEN 'no unit'
          WHEN "factor age" IS NULL
          THEN 'unknown unit'
          WHEN "digits age" < CAST('0' AS INT128)
          THEN 'negative'
          WHEN "granules age" IS NULL
          OR "granules age" < CAST('0' AS INT128)
          OR "granules age" > CAST('120' AS INT128)
          THEN 'outside 0 to 120 years'
        END
      ) IS NULL
      AND NOT (
        "text age" IS NULL
      )
      THEN TRY_CAST("granules age" AS BIGINT)
    END AS granules
  FROM (
    SELECT
      *,
      (
        (
          "digits age" * "factor age"
        ) - (
          (
            (
              (
                "digits age" * "factor age"
              ) % CAST('17532000000000000000000' AS INT128)
            ) + CAST('17532000000000000000000' AS INT128)
          ) % CAST('17532000000000000000000' AS INT128)
        )
      ) // CAST('17532000000000000000000' AS INT128) AS "granules age"
    FROM (
      SELECT
        *,
        CASE
          WHEN REGEXP_FULL_MATCH("number age", '[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)')
          AND LENGTH(STRUCT_EXTRACT("part age", 'whole')) <= 7
          THEN TRY_CAST(CONCAT(
            STRUCT_EXTRACT("part age", 'sign'),
            STRUCT_EXTRACT("part age", 'whole'),
            RPAD(LEFT(STRUCT_EXTRACT("part age", 'fraction'), 18), 18, '0')
          ) AS INT128)
        END AS "digits age",
        CASE "unit age"
          WHEN 'DEC'
          THEN CAST('175320' AS INT128)
          WHEN 'YR'
          THEN CAST('17532' AS INT128)
          WHEN 'MON'
          THEN CAST('1461' AS INT128)
          WHEN 'WK'
          THEN CAST('336' AS INT128)
          WHEN 'DY'
          THEN CAST('48' AS INT128)
          WHEN 'HR'
          THEN CAST('2' AS INT128)
        END AS "factor age"
      FROM (
        SELECT
          *,
          NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE("rows"."age", '[INVISIBLE]', '', 'g'))), '') AS "text age",
          NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE("rows"."age", '[INVISIBLE]', '', 'g'))), '') AS "number age",
          REGEXP_EXTRACT(
            NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE("rows"."age", '[INVISIBLE]', '', 'g'))), ''),
            '^([+]|-|)0*([0-9]*)(?:[.]([0-9]*))?$',
            ['sign', 'whole', 'fraction']
          ) AS "part age",
          NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE("rows"."age_cod", '[INVISIBLE]', '', 'g'))), '') AS "unit age"
        FROM (
          SELECT DISTINCT
            NULLIF(LIST_EXTRACT("field", 4), '') AS "age",
            NULLIF(LIST_EXTRACT("field", 5), '') AS "age_cod"
          FROM "temp"."main"."srsql_record" AS "r"
          WHERE
            NOT "r"."line" IN (
              SELECT
                line
              FROM "temp"."main"."srsql_rejected_record"
            )
        ) AS rows
      ) AS parts
    ) AS numbers
  ) AS known
) AS number_age
  ON "parsed"."age" = "number_age"."age"
  AND "parsed"."age_cod" IS NOT DISTINCT FROM "number_age"."age_cod"
LEFT JOIN (
  SELECT
    "known"."wt",
    "known"."wt_cod",
    CASE
      WHEN (
        CASE
          WHEN "text wt" IS NULL
          THEN NULL
          WHEN NOT REGEXP_FULL_MATCH("number wt", '[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)')
          THEN 'not a number'
          WHEN "unit wt" IS NULL
          THEN 'no unit'
          WHEN "factor wt" IS NULL
          THEN 'unknown unit'
          WHEN "digits wt" < CAST('0' AS INT128)
          THEN 'negative'
          WHEN "granules wt" IS NULL
          OR "granules wt" < CAST('0' AS INT128)
          OR "granules wt" > CAST('400' AS INT128)
          THEN 'outside 0 to 400 kg'
        END
      ) IS NULL
      AND NOT (
        "text wt" IS NULL
      )
      THEN TRY_CAST("granules wt" AS BIGINT)
    END AS granules
  FROM (
    SELECT
      *,
      (
        (
          (
            "digits wt" * "factor wt"
          ) * CAST('2' AS INT128) + CAST('100000000000000000000000000' AS INT128)
        ) - (
          (
            (
              (
                (
                  "digits wt" * "factor wt"
                ) * CAST('2' AS INT128) + CAST('100000000000000000000000000' AS INT128)
              ) % CAST('200000000000000000000000000' AS INT128)
            ) + CAST('200000000000000000000000000' AS INT128)
          ) % CAST('200000000000000000000000000' AS INT128)
        )
      ) // CAST('200000000000000000000000000' AS INT128) AS "granules wt"
    FROM (
      SELECT
        *,
        CASE
          WHEN REGEXP_FULL_MATCH("number wt", '[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)')
          AND LENGTH(STRUCT_EXTRACT("part wt", 'whole')) <= 6
          THEN TRY_CAST(CONCAT(
            STRUCT_EXTRACT("part wt", 'sign'),
            STRUCT_EXTRACT("part wt", 'whole'),
            RPAD(LEFT(STRUCT_EXTRACT("part wt", 'fraction'), 18), 18, '0')
          ) AS INT128)
        END AS "digits wt",
        CASE "unit wt"
          WHEN 'KG'
          THEN CAST('100000000' AS INT128)
          WHEN 'LBS'
          THEN CAST('45359237' AS INT128)
          WHEN 'GMS'
          THEN CAST('100000' AS INT128)
        END AS "factor wt"
      FROM (
        SELECT
          *,
          NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE("rows"."wt", '[INVISIBLE]', '', 'g'))), '') AS "text wt",
          NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE("rows"."wt", '[INVISIBLE]', '', 'g'))), '') AS "number wt",
          REGEXP_EXTRACT(
            NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE("rows"."wt", '[INVISIBLE]', '', 'g'))), ''),
            '^([+]|-|)0*([0-9]*)(?:[.]([0-9]*))?$',
            ['sign', 'whole', 'fraction']
          ) AS "part wt",
          NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE("rows"."wt_cod", '[INVISIBLE]', '', 'g'))), '') AS "unit wt"
        FROM (
          SELECT DISTINCT
            NULLIF(LIST_EXTRACT("field", 7), '') AS "wt",
            NULLIF(LIST_EXTRACT("field", 8), '') AS "wt_cod"
          FROM "temp"."main"."srsql_record" AS "r"
          WHERE
            NOT "r"."line" IN (
              SELECT
                line
              FROM "temp"."main"."srsql_rejected_record"
            )
        ) AS rows
      ) AS parts
    ) AS numbers
  ) AS known
) AS number_wt
  ON "parsed"."wt" = "number_wt"."wt"
  AND "parsed"."wt_cod" IS NOT DISTINCT FROM "number_wt"."wt_cod"
LEFT JOIN "temp"."main"."srsql_code" AS "code_sex"
  ON "code_sex"."qid" = 'sex'
  AND "code_sex"."code" = CASE
    WHEN STRLEN("parsed"."sex") = LENGTH("parsed"."sex")
    AND (
      ARRAY_EXTRACT("parsed"."sex", 1) BETWEEN '!' AND '~'
      AND ARRAY_EXTRACT("parsed"."sex", -1) BETWEEN '!' AND '~'
    )
    THEN UPPER("parsed"."sex")
    ELSE UPPER(NFC_NORMALIZE(REGEXP_REPLACE("parsed"."sex", '[INVISIBLE]', '', 'g')))
  END
ORDER BY
  "parsed"."line"
