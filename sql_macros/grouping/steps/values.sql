-- Step: numbers the sensitive values of l-diversity, which are parted by attribute ($attributes, in
--   the order of the dataset): the same term as a reaction and as an indication is two values.
-- Reads: report_value(report_id, attribute, key_no, sensitive), case_report(case_no, report_id)
-- Writes: value(case_no, value_no, attribute_no)
-- Source: Gal et al. 2008, as Lin 2016 takes it.

CREATE OR REPLACE TEMP TABLE srsql_value AS
WITH
attributes AS (
    SELECT u.place - 1 AS attribute_no, u.attribute
    FROM (
        SELECT
            unnest($attributes::VARCHAR[]) AS attribute,
            unnest(range(1, len($attributes::VARCHAR[]) + 1)) AS place
    ) AS u
),

listed AS MATERIALIZED (
    SELECT DISTINCT c.case_no, a.attribute_no, v.key_no
    FROM temp.main.srsql_report_value AS v
    INNER JOIN attributes AS a ON v.attribute = a.attribute
    INNER JOIN temp.main.srsql_case_report AS c ON v.report_id = c.report_id
    WHERE v.sensitive
),

numbers AS (
    SELECT
        d.attribute_no,
        d.key_no,
        (row_number() OVER (ORDER BY d.attribute_no, d.key_no) - 1)::INTEGER AS value_no
    FROM (SELECT DISTINCT l.attribute_no, l.key_no FROM listed AS l) AS d
)

SELECT l.case_no, n.value_no, l.attribute_no::INTEGER AS attribute_no
FROM listed AS l
INNER JOIN numbers AS n ON l.attribute_no = n.attribute_no AND l.key_no = n.key_no;
