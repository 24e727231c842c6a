SELECT
  "n"."pair_no",
  srsql.term_key("n"."drug") AS drug,
  srsql.term_key("n"."reaction") AS reaction
FROM (
  SELECT
    UNNEST(CAST($numbers AS BIGINT[])) AS pair_no,
    UNNEST(CAST($drugs AS TEXT[])) AS drug,
    UNNEST(CAST($reactions AS TEXT[])) AS reaction
) AS n
