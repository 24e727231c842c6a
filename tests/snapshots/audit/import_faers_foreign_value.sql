CREATE OR REPLACE TEMPORARY TABLE srsql_foreign_value AS
SELECT
  split.line,
  'indi_pt' AS "attribute",
  CASE
    WHEN NOT UPPER(NULLIF(REGEXP_REPLACE("split"."value", '^[SPACES]+|[SPACES]+$', '', 'g'), '')) IN (
      UPPER(
        NULLIF(
          REGEXP_REPLACE('Product used for unknown indication', '^[SPACES]+|[SPACES]+$', '', 'g'),
          ''
        )
      ),
      UPPER(
        NULLIF(
          REGEXP_REPLACE('Drug use for unknown indication', '^[SPACES]+|[SPACES]+$', '', 'g'),
          ''
        )
      )
    )
    THEN UPPER(NULLIF(REGEXP_REPLACE("split"."value", '^[SPACES]+|[SPACES]+$', '', 'g'), ''))
  END AS "term"
FROM (
  SELECT
    p.line,
    UNNEST(STR_SPLIT("p"."value 0", ';')) AS "value"
  FROM "temp"."main"."srsql_foreign_parsed" AS "p"
) AS split
WHERE
  NOT (
    CASE
      WHEN NOT UPPER(NULLIF(REGEXP_REPLACE("split"."value", '^[SPACES]+|[SPACES]+$', '', 'g'), '')) IN (
        UPPER(
          NULLIF(
            REGEXP_REPLACE('Product used for unknown indication', '^[SPACES]+|[SPACES]+$', '', 'g'),
            ''
          )
        ),
        UPPER(
          NULLIF(
            REGEXP_REPLACE('Drug use for unknown indication', '^[SPACES]+|[SPACES]+$', '', 'g'),
            ''
          )
        )
      )
      THEN UPPER(NULLIF(REGEXP_REPLACE("split"."value", '^[SPACES]+|[SPACES]+$', '', 'g'), ''))
    END
  ) IS NULL
UNION ALL
SELECT
  split.line,
  'pt' AS "attribute",
  UPPER(NULLIF(REGEXP_REPLACE("split"."value", '^[SPACES]+|[SPACES]+$', '', 'g'), '')) AS "term"
FROM (
  SELECT
    p.line,
    UNNEST(STR_SPLIT("p"."value 1", ';')) AS "value"
  FROM "temp"."main"."srsql_foreign_parsed" AS "p"
) AS split
WHERE
  NOT (
    UPPER(NULLIF(REGEXP_REPLACE("split"."value", '^[SPACES]+|[SPACES]+$', '', 'g'), ''))
  ) IS NULL
