SELECT
  "n"."pair_no",
  NULLIF(
    CASE
      WHEN STRLEN("n"."drug") = LENGTH("n"."drug")
      AND (
        ARRAY_EXTRACT("n"."drug", 1) BETWEEN '!' AND '~'
        AND ARRAY_EXTRACT("n"."drug", -1) BETWEEN '!' AND '~'
      )
      THEN UPPER("n"."drug")
      ELSE UPPER(NFC_NORMALIZE(REGEXP_REPLACE("n"."drug", '[INVISIBLE]', '', 'g')))
    END,
    ''
  ) AS drug,
  NULLIF(
    CASE
      WHEN STRLEN("n"."reaction") = LENGTH("n"."reaction")
      AND (
        ARRAY_EXTRACT("n"."reaction", 1) BETWEEN '!' AND '~'
        AND ARRAY_EXTRACT("n"."reaction", -1) BETWEEN '!' AND '~'
      )
      THEN UPPER("n"."reaction")
      ELSE UPPER(NFC_NORMALIZE(REGEXP_REPLACE("n"."reaction", '[INVISIBLE]', '', 'g')))
    END,
    ''
  ) AS reaction
FROM (
  SELECT
    UNNEST(CAST($numbers AS BIGINT[])) AS pair_no,
    UNNEST(CAST($drugs AS TEXT[])) AS drug,
    UNNEST(CAST($reactions AS TEXT[])) AS reaction
) AS n
