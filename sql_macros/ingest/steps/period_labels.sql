-- Which rows of a table are of one period: the texts of its key column, each with its label.
-- In: temp table srsql_key (text, report): the distinct texts of the column that tells the period
-- (report is NULL), or of the report id, normalized, where the report tells it. $rule: what the
-- texts are (label, year, quarter, month; a date as 2022-10-14, 20221014, 202210); $ends: a class
-- of white space.
-- Out: temp table srsql_label (text, label), NULL where the text does not tell a period.

CREATE OR REPLACE TEMP TABLE srsql_label AS
WITH trimmed AS (
    SELECT
        k.text,
        regexp_replace(k.text, '^' || $ends || '+|' || $ends || '+$', '', 'g') AS told
    FROM temp.main.srsql_key AS k
),

parts AS (
    SELECT
        t.text,
        t.told,
        regexp_extract(
            t.told,
            '^([0-9]{4})(?:-?(0[1-9]|1[0-2])(?:-?[0-9]{2}(?:[ T].*)?)?)?$',
            ['year', 'month']
        ) AS part
    FROM trimmed AS t
)

SELECT
    p.text,
    CASE
        WHEN $rule = 'label' THEN nullif(p.told, '')
        WHEN $rule = 'year' THEN nullif(p.part.year, '')
        WHEN p.part.month = '' THEN NULL
        WHEN $rule = 'month' THEN p.part.year || '-' || p.part.month
        ELSE p.part.year || 'Q' || ((try_cast(p.part.month AS INTEGER) + 2) // 3)
    END AS label
FROM parts AS p;

-- The texts whose rows are of the period $label, and those that belong to no period.
-- Out: temp table srsql_here (text, known).
CREATE OR REPLACE TEMP TABLE srsql_here AS
SELECT
    l.text,
    l.label IS NOT NULL AS known
FROM temp.main.srsql_label AS l
WHERE l.label = $label OR l.label IS NULL;

-- The same for child rows: a row is of the periods of its report.
-- In: temp tables srsql_key (text: report ids as the child writes them, report: normalized) and
-- srsql_report_label (report, label). Out: temp table srsql_here (text, known).
CREATE OR REPLACE TEMP TABLE srsql_here AS
SELECT
    k.text,
    count(r.label) > 0 AS known
FROM temp.main.srsql_key AS k LEFT JOIN temp.main.srsql_report_label AS r ON k.report = r.report
GROUP BY k.text
HAVING count(r.label) = 0 OR coalesce(bool_or(r.label = $label), false);
