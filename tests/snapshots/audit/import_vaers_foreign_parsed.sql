CREATE OR REPLACE TEMPORARY TABLE srsql_foreign_parsed AS
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
  CASE
    WHEN NOT (
      "code_sex"."label"
    ) IS NULL
    THEN "code_sex"."label"
    WHEN NULLIF(
      UPPER(NFC_NORMALIZE(REGEXP_REPLACE("parsed"."1 label text", '[INVISIBLE]', '', 'g'))),
      ''
    ) IN ('*', 'ANY')
    THEN 'Any'
  END AS "1 label",
  CASE
    WHEN NOT (
      "code_state"."label"
    ) IS NULL
    THEN "code_state"."label"
    WHEN NULLIF(
      UPPER(NFC_NORMALIZE(REGEXP_REPLACE("parsed"."2 label text", '[INVISIBLE]', '', 'g'))),
      ''
    ) IN ('*', 'ANY')
    THEN 'Any'
  END AS "2 label",
  "parsed"."value 0",
  "parsed"."value 1",
  "parsed"."value 2",
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
      CASE
        WHEN NOT (
          NULLIF(
            UPPER(NFC_NORMALIZE(REGEXP_REPLACE("parsed"."1 label text", '[INVISIBLE]', '', 'g'))),
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
        UPPER(NFC_NORMALIZE(REGEXP_REPLACE("parsed"."1 label text", '[INVISIBLE]', '', 'g'))),
        ''
      ) IN ('*', 'ANY')
    )
    THEN CONCAT('sex: no node of its hierarchy is called ', "parsed"."1 label text")
    WHEN NOT (
      CASE
        WHEN NOT (
          NULLIF(
            UPPER(NFC_NORMALIZE(REGEXP_REPLACE("parsed"."2 label text", '[INVISIBLE]', '', 'g'))),
            ''
          )
        ) IS NULL
        AND (
          "code_state"."code"
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
    THEN CONCAT('state: no node of its hierarchy is called ', "parsed"."2 label text")
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
      WHEN "digits 0 high" < CAST('0' AS INT128)
      THEN 'negative'
      WHEN "granules 0 high" IS NULL
      OR "granules 0 high" < CAST('0' AS INT128)
      OR "granules 0 high" > CAST('120' AS INT128)
      THEN 'outside 0 to 120 years'
    END AS "0 high reason"
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
              ) % CAST('1000000000000000000' AS INT128)
            ) + CAST('1000000000000000000' AS INT128)
          ) % CAST('1000000000000000000' AS INT128)
        )
      ) // CAST('1000000000000000000' AS INT128) AS "granules 0 low",
      (
        (
          "digits 0 high" * "factor 0 high"
        ) - (
          (
            (
              (
                "digits 0 high" * "factor 0 high"
              ) % CAST('1000000000000000000' AS INT128)
            ) + CAST('1000000000000000000' AS INT128)
          ) % CAST('1000000000000000000' AS INT128)
        )
      ) // CAST('1000000000000000000' AS INT128) AS "granules 0 high"
    FROM (
      SELECT
        *,
        CASE
          WHEN REGEXP_FULL_MATCH("number 0 low", '[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)')
          AND LENGTH(STRUCT_EXTRACT("part 0 low", 'whole')) <= 3
          THEN TRY_CAST(CONCAT(
            STRUCT_EXTRACT("part 0 low", 'sign'),
            STRUCT_EXTRACT("part 0 low", 'whole'),
            RPAD(LEFT(STRUCT_EXTRACT("part 0 low", 'fraction'), 18), 18, '0')
          ) AS INT128)
        END AS "digits 0 low",
        CAST('1' AS INT128) AS "factor 0 low",
        CASE
          WHEN REGEXP_FULL_MATCH("number 0 high", '[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)')
          AND LENGTH(STRUCT_EXTRACT("part 0 high", 'whole')) <= 3
          THEN TRY_CAST(CONCAT(
            STRUCT_EXTRACT("part 0 high", 'sign'),
            STRUCT_EXTRACT("part 0 high", 'whole'),
            RPAD(LEFT(STRUCT_EXTRACT("part 0 high", 'fraction'), 18), 18, '0')
          ) AS INT128)
        END AS "digits 0 high",
        CAST('1' AS INT128) AS "factor 0 high"
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
          ) AS "part 0 high"
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
              WHEN LENGTH("field") <> 7
              THEN CONCAT(LENGTH("field"), ' fields, but 7 columns in the header')
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
            LIST_EXTRACT("field", 3) AS "1 label text",
            LIST_EXTRACT("field", 4) AS "2 label text",
            LIST_EXTRACT("field", 5) AS "value 0",
            LIST_EXTRACT("field", 6) AS "value 1",
            LIST_EXTRACT("field", 7) AS "value 2"
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
    WHEN STRLEN("parsed"."1 label text") = LENGTH("parsed"."1 label text")
    AND (
      ARRAY_EXTRACT("parsed"."1 label text", 1) BETWEEN '!' AND '~'
      AND ARRAY_EXTRACT("parsed"."1 label text", -1) BETWEEN '!' AND '~'
    )
    THEN UPPER("parsed"."1 label text")
    ELSE UPPER(NFC_NORMALIZE(REGEXP_REPLACE("parsed"."1 label text", '[INVISIBLE]', '', 'g')))
  END
LEFT JOIN "temp"."main"."srsql_code" AS "code_state"
  ON "code_state"."qid" = 'state'
  AND "code_state"."code" = CASE
    WHEN STRLEN("parsed"."2 label text") = LENGTH("parsed"."2 label text")
    AND (
      ARRAY_EXTRACT("parsed"."2 label text", 1) BETWEEN '!' AND '~'
      AND ARRAY_EXTRACT("parsed"."2 label text", -1) BETWEEN '!' AND '~'
    )
    THEN UPPER("parsed"."2 label text")
    ELSE UPPER(NFC_NORMALIZE(REGEXP_REPLACE("parsed"."2 label text", '[INVISIBLE]', '', 'g')))
  END
