INSERT INTO "raw_vaers"."demo" (
  "quarter",
  "srsql_line",
  "vaers_id",
  "recvdate",
  "state",
  "age_yrs",
  "cage_yr",
  "cage_mo",
  "sex",
  "rpt_date",
  "symptom_text",
  "died",
  "datedied",
  "l_threat",
  "er_visit",
  "hospital",
  "hospdays",
  "x_stay",
  "disable",
  "recovd",
  "vax_date",
  "onset_date",
  "numdays",
  "lab_data",
  "v_adminby",
  "v_fundby",
  "other_meds",
  "cur_ill",
  "history",
  "prior_vax",
  "splttype",
  "srsql_age",
  "srsql_sex",
  "srsql_state"
)
SELECT
  '2022Q4',
  "parsed"."line",
  "parsed"."vaers_id",
  "parsed"."recvdate",
  "parsed"."state",
  "parsed"."age_yrs",
  "parsed"."cage_yr",
  "parsed"."cage_mo",
  "parsed"."sex",
  "parsed"."rpt_date",
  "parsed"."symptom_text",
  "parsed"."died",
  "parsed"."datedied",
  "parsed"."l_threat",
  "parsed"."er_visit",
  "parsed"."hospital",
  "parsed"."hospdays",
  "parsed"."x_stay",
  "parsed"."disable",
  "parsed"."recovd",
  "parsed"."vax_date",
  "parsed"."onset_date",
  "parsed"."numdays",
  "parsed"."lab_data",
  "parsed"."v_adminby",
  "parsed"."v_fundby",
  "parsed"."other_meds",
  "parsed"."cur_ill",
  "parsed"."history",
  "parsed"."prior_vax",
  "parsed"."splttype",
  "number_age"."granules",
  "code_sex"."label",
  "code_state"."label"
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
    END AS "vaers_id",
    NULLIF(LIST_EXTRACT("field", 2), '') AS "recvdate",
    NULLIF(LIST_EXTRACT("field", 3), '') AS "state",
    NULLIF(LIST_EXTRACT("field", 4), '') AS "age_yrs",
    CAST(NULL AS TEXT) AS "cage_yr",
    CAST(NULL AS TEXT) AS "cage_mo",
    NULLIF(LIST_EXTRACT("field", 5), '') AS "sex",
    CAST(NULL AS TEXT) AS "rpt_date",
    CAST(NULL AS TEXT) AS "symptom_text",
    CAST(NULL AS TEXT) AS "died",
    CAST(NULL AS TEXT) AS "datedied",
    CAST(NULL AS TEXT) AS "l_threat",
    CAST(NULL AS TEXT) AS "er_visit",
    CAST(NULL AS TEXT) AS "hospital",
    CAST(NULL AS TEXT) AS "hospdays",
    CAST(NULL AS TEXT) AS "x_stay",
    CAST(NULL AS TEXT) AS "disable",
    CAST(NULL AS TEXT) AS "recovd",
    CAST(NULL AS TEXT) AS "vax_date",
    CAST(NULL AS TEXT) AS "onset_date",
    CAST(NULL AS TEXT) AS "numdays",
    CAST(NULL AS TEXT) AS "lab_data",
    CAST(NULL AS TEXT) AS "v_adminby",
    CAST(NULL AS TEXT) AS "v_fundby",
    CAST(NULL AS TEXT) AS "other_meds",
    CAST(NULL AS TEXT) AS "cur_ill",
    CAST(NULL AS TEXT) AS "history",
    CAST(NULL AS TEXT) AS "prior_vax",
    CAST(NULL AS TEXT) AS "splttype"
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
    "known"."age_yrs",
    CASE
      WHEN (
        CASE
          WHEN "text age" IS NULL
          THEN NULL
          WHEN NOT REGEXP_FULL_MATCH("number age", '[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)')
          THEN 'not a number'
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
              ) % CAST('1000000000000000000' AS INT128)
            ) + CAST('1000000000000000000' AS INT128)
          ) % CAST('1000000000000000000' AS INT128)
        )
      ) // CAST('1000000000000000000' AS INT128) AS "granules age"
    FROM (
      SELECT
        *,
        CASE
          WHEN REGEXP_FULL_MATCH("number age", '[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)')
          AND LENGTH(STRUCT_EXTRACT("part age", 'whole')) <= 3
          THEN TRY_CAST(CONCAT(
            STRUCT_EXTRACT("part age", 'sign'),
            STRUCT_EXTRACT("part age", 'whole'),
            RPAD(LEFT(STRUCT_EXTRACT("part age", 'fraction'), 18), 18, '0')
          ) AS INT128)
        END AS "digits age",
        CAST('1' AS INT128) AS "factor age"
      FROM (
        SELECT
          *,
          NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE("rows"."age_yrs", '[INVISIBLE]', '', 'g'))), '') AS "text age",
          NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE("rows"."age_yrs", '[INVISIBLE]', '', 'g'))), '') AS "number age",
          REGEXP_EXTRACT(
            NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE("rows"."age_yrs", '[INVISIBLE]', '', 'g'))), ''),
            '^([+]|-|)0*([0-9]*)(?:[.]([0-9]*))?$',
            ['sign', 'whole', 'fraction']
          ) AS "part age"
        FROM (
          SELECT DISTINCT
            NULLIF(LIST_EXTRACT("field", 4), '') AS "age_yrs"
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
  ON "parsed"."age_yrs" = "number_age"."age_yrs"
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
LEFT JOIN "temp"."main"."srsql_code" AS "code_state"
  ON "code_state"."qid" = 'state'
  AND "code_state"."code" = CASE
    WHEN STRLEN("parsed"."state") = LENGTH("parsed"."state")
    AND (
      ARRAY_EXTRACT("parsed"."state", 1) BETWEEN '!' AND '~'
      AND ARRAY_EXTRACT("parsed"."state", -1) BETWEEN '!' AND '~'
    )
    THEN UPPER("parsed"."state")
    ELSE UPPER(NFC_NORMALIZE(REGEXP_REPLACE("parsed"."state", '[INVISIBLE]', '', 'g')))
  END
ORDER BY
  "parsed"."line"
