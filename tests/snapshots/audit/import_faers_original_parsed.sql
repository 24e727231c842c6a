CREATE OR REPLACE TEMPORARY TABLE srsql_original_parsed AS
SELECT
  "parsed"."line",
  CASE
    WHEN REGEXP_FULL_MATCH("parsed"."case text", '[0-9]+')
    THEN TRY_CAST("parsed"."case text" AS BIGINT)
    WHEN REGEXP_FULL_MATCH(
      NULLIF(REGEXP_REPLACE("parsed"."case text", '^[SPACES]+|[SPACES]+$', '', 'g'), ''),
      '[0-9]+'
    )
    THEN TRY_CAST(NULLIF(REGEXP_REPLACE("parsed"."case text", '^[SPACES]+|[SPACES]+$', '', 'g'), '') AS BIGINT)
  END AS "case_id",
  "parsed"."group_label",
  "0 low",
  "0 high",
  "1 low",
  "1 high",
  CASE
    WHEN NOT (
      "code_sex"."label"
    ) IS NULL
    THEN "code_sex"."label"
    WHEN NULLIF(
      UPPER(NFC_NORMALIZE(REGEXP_REPLACE("parsed"."2 label text", '[INVISIBLE]', '', 'g'))),
      ''
    ) IN ('*', 'ANY')
    THEN NULL
  END AS "2 label",
  CASE
    WHEN NOT (
      "record fault"
    ) IS NULL
    THEN "record fault"
    WHEN (
      NULLIF(REGEXP_REPLACE("parsed"."case text", '^[SPACES]+|[SPACES]+$', '', 'g'), '')
    ) IS NULL
    THEN 'no case id'
    WHEN (
      CASE
        WHEN REGEXP_FULL_MATCH("parsed"."case text", '[0-9]+')
        THEN TRY_CAST("parsed"."case text" AS BIGINT)
        WHEN REGEXP_FULL_MATCH(
          NULLIF(REGEXP_REPLACE("parsed"."case text", '^[SPACES]+|[SPACES]+$', '', 'g'), ''),
          '[0-9]+'
        )
        THEN TRY_CAST(NULLIF(REGEXP_REPLACE("parsed"."case text", '^[SPACES]+|[SPACES]+$', '', 'g'), '') AS BIGINT)
      END
    ) IS NULL
    THEN CONCAT('the case id is not an integer: ', "parsed"."case text")
    WHEN NOT (
      "0 low reason"
    ) IS NULL
    THEN CONCAT('age: ', "0 low text", ' is ', "0 low reason")
    WHEN NOT (
      "0 high reason"
    ) IS NULL
    THEN CONCAT('age: ', "0 high text", ' is ', "0 high reason")
    WHEN (
      (
        "0 low"
      ) IS NULL
    ) <> (
      (
        "0 high"
      ) IS NULL
    )
    THEN 'age: one end of the interval is missing'
    WHEN "0 low" > "0 high"
    THEN CONCAT('age: low above high (', "0 low text", ' > ', "0 high text", ')')
    WHEN NOT (
      "1 low reason"
    ) IS NULL
    THEN CONCAT('wt: ', "1 low text", ' is ', "1 low reason")
    WHEN NOT (
      "1 high reason"
    ) IS NULL
    THEN CONCAT('wt: ', "1 high text", ' is ', "1 high reason")
    WHEN (
      (
        "1 low"
      ) IS NULL
    ) <> (
      (
        "1 high"
      ) IS NULL
    )
    THEN 'wt: one end of the interval is missing'
    WHEN "1 low" > "1 high"
    THEN CONCAT('wt: low above high (', "1 low text", ' > ', "1 high text", ')')
    WHEN NOT (
      CASE
        WHEN NOT (
          NULLIF(
            UPPER(NFC_NORMALIZE(REGEXP_REPLACE("parsed"."2 label text", '[INVISIBLE]', '', 'g'))),
            ''
          )
        ) IS NULL
        AND (
          "code_sex"."code"
        ) IS NULL
        THEN 'unknown code'
      END
    ) IS NULL
    AND NOT (
      NULLIF(
        UPPER(NFC_NORMALIZE(REGEXP_REPLACE("parsed"."2 label text", '[INVISIBLE]', '', 'g'))),
        ''
      ) IN ('*', 'ANY')
    )
    THEN CONCAT('sex: no node of its hierarchy is called ', "parsed"."2 label text")
  END AS "fault"
FROM (
  SELECT
    *,
    CASE
      WHEN (
        CASE
          WHEN "text 0 low" IS NULL
          OR "text 0 low" IN (
            NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE('*', '[INVISIBLE]', '', 'g'))), ''),
            NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE('ANY', '[INVISIBLE]', '', 'g'))), '')
          )
          THEN NULL
          WHEN NOT REGEXP_FULL_MATCH("number 0 low", '[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)')
          THEN 'not a number'
          WHEN "unit 0 low" IS NULL
          THEN 'no unit'
          WHEN "factor 0 low" IS NULL
          THEN 'unknown unit'
          WHEN "digits 0 low" < CAST('0' AS INT128)
          THEN 'negative'
          WHEN "granules 0 low" IS NULL
          OR "granules 0 low" < CAST('0' AS INT128)
          OR "granules 0 low" > CAST('120' AS INT128)
          THEN 'outside 0 to 120 years'
        END
      ) IS NULL
      AND NOT (
        "text 0 low" IS NULL
        OR "text 0 low" IN (
          NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE('*', '[INVISIBLE]', '', 'g'))), ''),
          NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE('ANY', '[INVISIBLE]', '', 'g'))), '')
        )
      )
      THEN TRY_CAST("granules 0 low" AS BIGINT)
    END AS "0 low",
    CASE
      WHEN "text 0 low" IS NULL
      OR "text 0 low" IN (
        NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE('*', '[INVISIBLE]', '', 'g'))), ''),
        NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE('ANY', '[INVISIBLE]', '', 'g'))), '')
      )
      THEN NULL
      WHEN NOT REGEXP_FULL_MATCH("number 0 low", '[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)')
      THEN 'not a number'
      WHEN "unit 0 low" IS NULL
      THEN 'no unit'
      WHEN "factor 0 low" IS NULL
      THEN 'unknown unit'
      WHEN "digits 0 low" < CAST('0' AS INT128)
      THEN 'negative'
      WHEN "granules 0 low" IS NULL
      OR "granules 0 low" < CAST('0' AS INT128)
      OR "granules 0 low" > CAST('120' AS INT128)
      THEN 'outside 0 to 120 years'
    END AS "0 low reason",
    CASE
      WHEN (
        CASE
          WHEN "text 0 high" IS NULL
          OR "text 0 high" IN (
            NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE('*', '[INVISIBLE]', '', 'g'))), ''),
            NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE('ANY', '[INVISIBLE]', '', 'g'))), '')
          )
          THEN NULL
          WHEN NOT REGEXP_FULL_MATCH("number 0 high", '[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)')
          THEN 'not a number'
          WHEN "unit 0 high" IS NULL
          THEN 'no unit'
          WHEN "factor 0 high" IS NULL
          THEN 'unknown unit'
          WHEN "digits 0 high" < CAST('0' AS INT128)
          THEN 'negative'
          WHEN "granules 0 high" IS NULL
          OR "granules 0 high" < CAST('0' AS INT128)
          OR "granules 0 high" > CAST('120' AS INT128)
          THEN 'outside 0 to 120 years'
        END
      ) IS NULL
      AND NOT (
        "text 0 high" IS NULL
        OR "text 0 high" IN (
          NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE('*', '[INVISIBLE]', '', 'g'))), ''),
          NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE('ANY', '[INVISIBLE]', '', 'g'))), '')
        )
      )
      THEN TRY_CAST("granules 0 high" AS BIGINT)
    END AS "0 high",
    CASE
      WHEN "text 0 high" IS NULL
      OR "text 0 high" IN (
        NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE('*', '[INVISIBLE]', '', 'g'))), ''),
        NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE('ANY', '[INVISIBLE]', '', 'g'))), '')
      )
      THEN NULL
      WHEN NOT REGEXP_FULL_MATCH("number 0 high", '[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)')
      THEN 'not a number'
      WHEN "unit 0 high" IS NULL
      THEN 'no unit'
      WHEN "factor 0 high" IS NULL
      THEN 'unknown unit'
      WHEN "digits 0 high" < CAST('0' AS INT128)
      THEN 'negative'
      WHEN "granules 0 high" IS NULL
      OR "granules 0 high" < CAST('0' AS INT128)
      OR "granules 0 high" > CAST('120' AS INT128)
      THEN 'outside 0 to 120 years'
    END AS "0 high reason",
    CASE
      WHEN (
        CASE
          WHEN "text 1 low" IS NULL
          OR "text 1 low" IN (
            NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE('*', '[INVISIBLE]', '', 'g'))), ''),
            NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE('ANY', '[INVISIBLE]', '', 'g'))), '')
          )
          THEN NULL
          WHEN NOT REGEXP_FULL_MATCH("number 1 low", '[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)')
          THEN 'not a number'
          WHEN "unit 1 low" IS NULL
          THEN 'no unit'
          WHEN "factor 1 low" IS NULL
          THEN 'unknown unit'
          WHEN "digits 1 low" < CAST('0' AS INT128)
          THEN 'negative'
          WHEN "granules 1 low" IS NULL
          OR "granules 1 low" < CAST('0' AS INT128)
          OR "granules 1 low" > CAST('400' AS INT128)
          THEN 'outside 0 to 400 kg'
        END
      ) IS NULL
      AND NOT (
        "text 1 low" IS NULL
        OR "text 1 low" IN (
          NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE('*', '[INVISIBLE]', '', 'g'))), ''),
          NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE('ANY', '[INVISIBLE]', '', 'g'))), '')
        )
      )
      THEN TRY_CAST("granules 1 low" AS BIGINT)
    END AS "1 low",
    CASE
      WHEN "text 1 low" IS NULL
      OR "text 1 low" IN (
        NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE('*', '[INVISIBLE]', '', 'g'))), ''),
        NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE('ANY', '[INVISIBLE]', '', 'g'))), '')
      )
      THEN NULL
      WHEN NOT REGEXP_FULL_MATCH("number 1 low", '[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)')
      THEN 'not a number'
      WHEN "unit 1 low" IS NULL
      THEN 'no unit'
      WHEN "factor 1 low" IS NULL
      THEN 'unknown unit'
      WHEN "digits 1 low" < CAST('0' AS INT128)
      THEN 'negative'
      WHEN "granules 1 low" IS NULL
      OR "granules 1 low" < CAST('0' AS INT128)
      OR "granules 1 low" > CAST('400' AS INT128)
      THEN 'outside 0 to 400 kg'
    END AS "1 low reason",
    CASE
      WHEN (
        CASE
          WHEN "text 1 high" IS NULL
          OR "text 1 high" IN (
            NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE('*', '[INVISIBLE]', '', 'g'))), ''),
            NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE('ANY', '[INVISIBLE]', '', 'g'))), '')
          )
          THEN NULL
          WHEN NOT REGEXP_FULL_MATCH("number 1 high", '[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)')
          THEN 'not a number'
          WHEN "unit 1 high" IS NULL
          THEN 'no unit'
          WHEN "factor 1 high" IS NULL
          THEN 'unknown unit'
          WHEN "digits 1 high" < CAST('0' AS INT128)
          THEN 'negative'
          WHEN "granules 1 high" IS NULL
          OR "granules 1 high" < CAST('0' AS INT128)
          OR "granules 1 high" > CAST('400' AS INT128)
          THEN 'outside 0 to 400 kg'
        END
      ) IS NULL
      AND NOT (
        "text 1 high" IS NULL
        OR "text 1 high" IN (
          NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE('*', '[INVISIBLE]', '', 'g'))), ''),
          NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE('ANY', '[INVISIBLE]', '', 'g'))), '')
        )
      )
      THEN TRY_CAST("granules 1 high" AS BIGINT)
    END AS "1 high",
    CASE
      WHEN "text 1 high" IS NULL
      OR "text 1 high" IN (
        NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE('*', '[INVISIBLE]', '', 'g'))), ''),
        NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE('ANY', '[INVISIBLE]', '', 'g'))), '')
      )
      THEN NULL
      WHEN NOT REGEXP_FULL_MATCH("number 1 high", '[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)')
      THEN 'not a number'
      WHEN "unit 1 high" IS NULL
      THEN 'no unit'
      WHEN "factor 1 high" IS NULL
      THEN 'unknown unit'
      WHEN "digits 1 high" < CAST('0' AS INT128)
      THEN 'negative'
      WHEN "granules 1 high" IS NULL
      OR "granules 1 high" < CAST('0' AS INT128)
      OR "granules 1 high" > CAST('400' AS INT128)
      THEN 'outside 0 to 400 kg'
    END AS "1 high reason"
  FROM (
    SELECT
      *,
      (
        (
          "digits 0 low" * "factor 0 low"
        ) - (
          (
            (
              (
                "digits 0 low" * "factor 0 low"
              ) % CAST('17532000000000000000000' AS INT128)
            ) + CAST('17532000000000000000000' AS INT128)
          ) % CAST('17532000000000000000000' AS INT128)
        )
      ) // CAST('17532000000000000000000' AS INT128) AS "granules 0 low",
      (
        (
          "digits 0 high" * "factor 0 high"
        ) - (
          (
            (
              (
                "digits 0 high" * "factor 0 high"
              ) % CAST('17532000000000000000000' AS INT128)
            ) + CAST('17532000000000000000000' AS INT128)
          ) % CAST('17532000000000000000000' AS INT128)
        )
      ) // CAST('17532000000000000000000' AS INT128) AS "granules 0 high",
      (
        (
          (
            "digits 1 low" * "factor 1 low"
          ) * CAST('2' AS INT128) + CAST('100000000000000000000000000' AS INT128)
        ) - (
          (
            (
              (
                (
                  "digits 1 low" * "factor 1 low"
                ) * CAST('2' AS INT128) + CAST('100000000000000000000000000' AS INT128)
              ) % CAST('200000000000000000000000000' AS INT128)
            ) + CAST('200000000000000000000000000' AS INT128)
          ) % CAST('200000000000000000000000000' AS INT128)
        )
      ) // CAST('200000000000000000000000000' AS INT128) AS "granules 1 low",
      (
        (
          (
            "digits 1 high" * "factor 1 high"
          ) * CAST('2' AS INT128) + CAST('100000000000000000000000000' AS INT128)
        ) - (
          (
            (
              (
                (
                  "digits 1 high" * "factor 1 high"
                ) * CAST('2' AS INT128) + CAST('100000000000000000000000000' AS INT128)
              ) % CAST('200000000000000000000000000' AS INT128)
            ) + CAST('200000000000000000000000000' AS INT128)
          ) % CAST('200000000000000000000000000' AS INT128)
        )
      ) // CAST('200000000000000000000000000' AS INT128) AS "granules 1 high"
    FROM (
      SELECT
        *,
        CASE
          WHEN REGEXP_FULL_MATCH("number 0 low", '[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)')
          AND LENGTH(STRUCT_EXTRACT("part 0 low", 'whole')) <= 7
          THEN TRY_CAST(CONCAT(
            STRUCT_EXTRACT("part 0 low", 'sign'),
            STRUCT_EXTRACT("part 0 low", 'whole'),
            RPAD(LEFT(STRUCT_EXTRACT("part 0 low", 'fraction'), 18), 18, '0')
          ) AS INT128)
        END AS "digits 0 low",
        CASE "unit 0 low"
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
        END AS "factor 0 low",
        CASE
          WHEN REGEXP_FULL_MATCH("number 0 high", '[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)')
          AND LENGTH(STRUCT_EXTRACT("part 0 high", 'whole')) <= 7
          THEN TRY_CAST(CONCAT(
            STRUCT_EXTRACT("part 0 high", 'sign'),
            STRUCT_EXTRACT("part 0 high", 'whole'),
            RPAD(LEFT(STRUCT_EXTRACT("part 0 high", 'fraction'), 18), 18, '0')
          ) AS INT128)
        END AS "digits 0 high",
        CASE "unit 0 high"
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
        END AS "factor 0 high",
        CASE
          WHEN REGEXP_FULL_MATCH("number 1 low", '[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)')
          AND LENGTH(STRUCT_EXTRACT("part 1 low", 'whole')) <= 6
          THEN TRY_CAST(CONCAT(
            STRUCT_EXTRACT("part 1 low", 'sign'),
            STRUCT_EXTRACT("part 1 low", 'whole'),
            RPAD(LEFT(STRUCT_EXTRACT("part 1 low", 'fraction'), 18), 18, '0')
          ) AS INT128)
        END AS "digits 1 low",
        CASE "unit 1 low"
          WHEN 'KG'
          THEN CAST('100000000' AS INT128)
          WHEN 'LBS'
          THEN CAST('45359237' AS INT128)
          WHEN 'GMS'
          THEN CAST('100000' AS INT128)
        END AS "factor 1 low",
        CASE
          WHEN REGEXP_FULL_MATCH("number 1 high", '[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)')
          AND LENGTH(STRUCT_EXTRACT("part 1 high", 'whole')) <= 6
          THEN TRY_CAST(CONCAT(
            STRUCT_EXTRACT("part 1 high", 'sign'),
            STRUCT_EXTRACT("part 1 high", 'whole'),
            RPAD(LEFT(STRUCT_EXTRACT("part 1 high", 'fraction'), 18), 18, '0')
          ) AS INT128)
        END AS "digits 1 high",
        CASE "unit 1 high"
          WHEN 'KG'
          THEN CAST('100000000' AS INT128)
          WHEN 'LBS'
          THEN CAST('45359237' AS INT128)
          WHEN 'GMS'
          THEN CAST('100000' AS INT128)
        END AS "factor 1 high"
      FROM (
        SELECT
          *,
          NULLIF(
            UPPER(NFC_NORMALIZE(REGEXP_REPLACE("rows"."0 low text", '[INVISIBLE]', '', 'g'))),
            ''
          ) AS "text 0 low",
          NULLIF(
            UPPER(NFC_NORMALIZE(REGEXP_REPLACE("rows"."0 low text", '[INVISIBLE]', '', 'g'))),
            ''
          ) AS "number 0 low",
          REGEXP_EXTRACT(
            NULLIF(
              UPPER(NFC_NORMALIZE(REGEXP_REPLACE("rows"."0 low text", '[INVISIBLE]', '', 'g'))),
              ''
            ),
            '^([+]|-|)0*([0-9]*)(?:[.]([0-9]*))?$',
            ['sign', 'whole', 'fraction']
          ) AS "part 0 low",
          NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE("rows"."0 unit", '[INVISIBLE]', '', 'g'))), '') AS "unit 0 low",
          NULLIF(
            UPPER(NFC_NORMALIZE(REGEXP_REPLACE("rows"."0 high text", '[INVISIBLE]', '', 'g'))),
            ''
          ) AS "text 0 high",
          NULLIF(
            UPPER(NFC_NORMALIZE(REGEXP_REPLACE("rows"."0 high text", '[INVISIBLE]', '', 'g'))),
            ''
          ) AS "number 0 high",
          REGEXP_EXTRACT(
            NULLIF(
              UPPER(NFC_NORMALIZE(REGEXP_REPLACE("rows"."0 high text", '[INVISIBLE]', '', 'g'))),
              ''
            ),
            '^([+]|-|)0*([0-9]*)(?:[.]([0-9]*))?$',
            ['sign', 'whole', 'fraction']
          ) AS "part 0 high",
          NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE("rows"."0 unit", '[INVISIBLE]', '', 'g'))), '') AS "unit 0 high",
          NULLIF(
            UPPER(NFC_NORMALIZE(REGEXP_REPLACE("rows"."1 low text", '[INVISIBLE]', '', 'g'))),
            ''
          ) AS "text 1 low",
          NULLIF(
            UPPER(NFC_NORMALIZE(REGEXP_REPLACE("rows"."1 low text", '[INVISIBLE]', '', 'g'))),
            ''
          ) AS "number 1 low",
          REGEXP_EXTRACT(
            NULLIF(
              UPPER(NFC_NORMALIZE(REGEXP_REPLACE("rows"."1 low text", '[INVISIBLE]', '', 'g'))),
              ''
            ),
            '^([+]|-|)0*([0-9]*)(?:[.]([0-9]*))?$',
            ['sign', 'whole', 'fraction']
          ) AS "part 1 low",
          NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE("rows"."1 unit", '[INVISIBLE]', '', 'g'))), '') AS "unit 1 low",
          NULLIF(
            UPPER(NFC_NORMALIZE(REGEXP_REPLACE("rows"."1 high text", '[INVISIBLE]', '', 'g'))),
            ''
          ) AS "text 1 high",
          NULLIF(
            UPPER(NFC_NORMALIZE(REGEXP_REPLACE("rows"."1 high text", '[INVISIBLE]', '', 'g'))),
            ''
          ) AS "number 1 high",
          REGEXP_EXTRACT(
            NULLIF(
              UPPER(NFC_NORMALIZE(REGEXP_REPLACE("rows"."1 high text", '[INVISIBLE]', '', 'g'))),
              ''
            ),
            '^([+]|-|)0*([0-9]*)(?:[.]([0-9]*))?$',
            ['sign', 'whole', 'fraction']
          ) AS "part 1 high",
          NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE("rows"."1 unit", '[INVISIBLE]', '', 'g'))), '') AS "unit 1 high"
        FROM (
          SELECT
            line,
            LIST_EXTRACT("field", 1) AS "case text",
            CAST(NULL AS TEXT) AS "group_label",
            CASE
              WHEN NOT (
                "fault"
              ) IS NULL
              THEN "fault"
              WHEN LENGTH("field") <> 6
              THEN CONCAT(LENGTH("field"), ' fields, but 6 columns in the header')
            END AS "record fault",
            CASE
              WHEN REGEXP_FULL_MATCH(
                NULLIF(REGEXP_REPLACE(LIST_EXTRACT("field", 2), '^[SPACES]+|[SPACES]+$', '', 'g'), ''),
                '^\[?\s*([+-]?(?:[0-9]+(?:[.][0-9]*)?|[.][0-9]+))\s*(?:[-–~,]\s*([+-]?(?:[0-9]+(?:[.][0-9]*)?|[.][0-9]+)))?\s*\]?$'
              )
              THEN STRUCT_EXTRACT(
                REGEXP_EXTRACT(
                  NULLIF(REGEXP_REPLACE(LIST_EXTRACT("field", 2), '^[SPACES]+|[SPACES]+$', '', 'g'), ''),
                  '^\[?\s*([+-]?(?:[0-9]+(?:[.][0-9]*)?|[.][0-9]+))\s*(?:[-–~,]\s*([+-]?(?:[0-9]+(?:[.][0-9]*)?|[.][0-9]+)))?\s*\]?$',
                  ['low', 'high']
                ),
                'low'
              )
              ELSE NULLIF(REGEXP_REPLACE(LIST_EXTRACT("field", 2), '^[SPACES]+|[SPACES]+$', '', 'g'), '')
            END AS "0 low text",
            CASE
              WHEN REGEXP_FULL_MATCH(
                NULLIF(REGEXP_REPLACE(LIST_EXTRACT("field", 2), '^[SPACES]+|[SPACES]+$', '', 'g'), ''),
                '^\[?\s*([+-]?(?:[0-9]+(?:[.][0-9]*)?|[.][0-9]+))\s*(?:[-–~,]\s*([+-]?(?:[0-9]+(?:[.][0-9]*)?|[.][0-9]+)))?\s*\]?$'
              )
              THEN COALESCE(
                NULLIF(
                  STRUCT_EXTRACT(
                    REGEXP_EXTRACT(
                      NULLIF(REGEXP_REPLACE(LIST_EXTRACT("field", 2), '^[SPACES]+|[SPACES]+$', '', 'g'), ''),
                      '^\[?\s*([+-]?(?:[0-9]+(?:[.][0-9]*)?|[.][0-9]+))\s*(?:[-–~,]\s*([+-]?(?:[0-9]+(?:[.][0-9]*)?|[.][0-9]+)))?\s*\]?$',
                      ['low', 'high']
                    ),
                    'high'
                  ),
                  ''
                ),
                STRUCT_EXTRACT(
                  REGEXP_EXTRACT(
                    NULLIF(REGEXP_REPLACE(LIST_EXTRACT("field", 2), '^[SPACES]+|[SPACES]+$', '', 'g'), ''),
                    '^\[?\s*([+-]?(?:[0-9]+(?:[.][0-9]*)?|[.][0-9]+))\s*(?:[-–~,]\s*([+-]?(?:[0-9]+(?:[.][0-9]*)?|[.][0-9]+)))?\s*\]?$',
                    ['low', 'high']
                  ),
                  'low'
                )
              )
              ELSE NULLIF(REGEXP_REPLACE(LIST_EXTRACT("field", 2), '^[SPACES]+|[SPACES]+$', '', 'g'), '')
            END AS "0 high text",
            LIST_EXTRACT("field", 3) AS "0 unit",
            CASE
              WHEN REGEXP_FULL_MATCH(
                NULLIF(REGEXP_REPLACE(LIST_EXTRACT("field", 4), '^[SPACES]+|[SPACES]+$', '', 'g'), ''),
                '^\[?\s*([+-]?(?:[0-9]+(?:[.][0-9]*)?|[.][0-9]+))\s*(?:[-–~,]\s*([+-]?(?:[0-9]+(?:[.][0-9]*)?|[.][0-9]+)))?\s*\]?$'
              )
              THEN STRUCT_EXTRACT(
                REGEXP_EXTRACT(
                  NULLIF(REGEXP_REPLACE(LIST_EXTRACT("field", 4), '^[SPACES]+|[SPACES]+$', '', 'g'), ''),
                  '^\[?\s*([+-]?(?:[0-9]+(?:[.][0-9]*)?|[.][0-9]+))\s*(?:[-–~,]\s*([+-]?(?:[0-9]+(?:[.][0-9]*)?|[.][0-9]+)))?\s*\]?$',
                  ['low', 'high']
                ),
                'low'
              )
              ELSE NULLIF(REGEXP_REPLACE(LIST_EXTRACT("field", 4), '^[SPACES]+|[SPACES]+$', '', 'g'), '')
            END AS "1 low text",
            CASE
              WHEN REGEXP_FULL_MATCH(
                NULLIF(REGEXP_REPLACE(LIST_EXTRACT("field", 4), '^[SPACES]+|[SPACES]+$', '', 'g'), ''),
                '^\[?\s*([+-]?(?:[0-9]+(?:[.][0-9]*)?|[.][0-9]+))\s*(?:[-–~,]\s*([+-]?(?:[0-9]+(?:[.][0-9]*)?|[.][0-9]+)))?\s*\]?$'
              )
              THEN COALESCE(
                NULLIF(
                  STRUCT_EXTRACT(
                    REGEXP_EXTRACT(
                      NULLIF(REGEXP_REPLACE(LIST_EXTRACT("field", 4), '^[SPACES]+|[SPACES]+$', '', 'g'), ''),
                      '^\[?\s*([+-]?(?:[0-9]+(?:[.][0-9]*)?|[.][0-9]+))\s*(?:[-–~,]\s*([+-]?(?:[0-9]+(?:[.][0-9]*)?|[.][0-9]+)))?\s*\]?$',
                      ['low', 'high']
                    ),
                    'high'
                  ),
                  ''
                ),
                STRUCT_EXTRACT(
                  REGEXP_EXTRACT(
                    NULLIF(REGEXP_REPLACE(LIST_EXTRACT("field", 4), '^[SPACES]+|[SPACES]+$', '', 'g'), ''),
                    '^\[?\s*([+-]?(?:[0-9]+(?:[.][0-9]*)?|[.][0-9]+))\s*(?:[-–~,]\s*([+-]?(?:[0-9]+(?:[.][0-9]*)?|[.][0-9]+)))?\s*\]?$',
                    ['low', 'high']
                  ),
                  'low'
                )
              )
              ELSE NULLIF(REGEXP_REPLACE(LIST_EXTRACT("field", 4), '^[SPACES]+|[SPACES]+$', '', 'g'), '')
            END AS "1 high text",
            LIST_EXTRACT("field", 5) AS "1 unit",
            LIST_EXTRACT("field", 6) AS "2 label text"
          FROM "temp"."main"."srsql_record"
          WHERE
            "fault" IS DISTINCT FROM 'blank line'
        ) AS rows
      ) AS parts
    ) AS numbers
  ) AS granules
) AS parsed
LEFT JOIN "temp"."main"."srsql_code" AS "code_sex"
  ON "code_sex"."qid" = 'sex'
  AND "code_sex"."code" = CASE
    WHEN STRLEN("parsed"."2 label text") = LENGTH("parsed"."2 label text")
    AND (
      ARRAY_EXTRACT("parsed"."2 label text", 1) BETWEEN '!' AND '~'
      AND ARRAY_EXTRACT("parsed"."2 label text", -1) BETWEEN '!' AND '~'
    )
    THEN UPPER("parsed"."2 label text")
    ELSE UPPER(NFC_NORMALIZE(REGEXP_REPLACE("parsed"."2 label text", '[INVISIBLE]', '', 'g')))
  END
