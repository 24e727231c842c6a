-- Step: gives the distinct texts of a period column the labels of their periods, NULL where a text
--   is of no period. $rule is what the texts are (label, year, quarter, month; a
--   date as 2022-10-14, 20221014, 202210), $ends a class of white space.
-- Reads: period_key(text)
-- Writes: period_label(text, label)
-- Source: SPEC section 2 (period), docs/embedding.md (key source.period).

CREATE OR REPLACE TEMP TABLE srsql_period_label AS
WITH trimmed AS (
    SELECT
        k.text,
        regexp_replace(k.text, '^' || $ends || '+|' || $ends || '+$', '', 'g') AS name
    FROM temp.main.srsql_period_key AS k
),

parts AS (
    SELECT
        t.text,
        t.name,
        regexp_extract(
            t.name,
            '^([0-9]{4})(?:-?(0[1-9]|1[0-2])(?:-?[0-9]{2}(?:[ T].*)?)?)?$',
            ['year', 'month']
        ) AS part
    FROM trimmed AS t
)

SELECT
    p.text,
    CASE
        WHEN $rule = 'label' THEN nullif(p.name, '')
        WHEN $rule = 'year' THEN nullif(p.part.year, '')
        WHEN p.part.month = '' THEN NULL
        WHEN $rule = 'month' THEN p.part.year || '-' || p.part.month
        ELSE p.part.year || 'Q' || ((try_cast(p.part.month AS INTEGER) + 2) // 3)
    END AS label
FROM parts AS p;
