-- What the released cases hold; report_item(report_id, attribute, term, times) is composed from the
-- columns of the dataset.

-- name: case_items
-- The terms of each released case, over all its reports, each as often as one report tells it:
-- case_no, term, part (0 where clusters lie in no QID-group), base, item (base with its number).
WITH
told AS (
    SELECT
        g.case_no,
        g.group_no,
        i.attribute,
        i.term,
        max(CASE WHEN $repeated::BOOLEAN THEN i.times ELSE 1 END) AS times
    FROM report_item AS i
    INNER JOIN temp.main.srsql_case_report AS c ON i.report_id = c.report_id
    INNER JOIN temp.main.srsql_grouped AS g ON c.case_no = g.case_no
    GROUP BY g.case_no, g.group_no, i.attribute, i.term
),

occurrences AS (
    SELECT t.case_no, t.group_no, t.attribute, t.term, unnest(range(1, t.times + 1)) AS nth
    FROM told AS t
)

SELECT DISTINCT
    o.case_no,
    o.term,
    CASE WHEN $grouped::BOOLEAN THEN o.group_no ELSE 0 END AS part,
    CASE WHEN $prefixed::BOOLEAN THEN o.attribute || ':' ELSE '' END || o.term AS base,
    CASE WHEN $prefixed::BOOLEAN THEN o.attribute || ':' ELSE '' END
    || o.term
    || CASE WHEN o.nth > 1 THEN ' (' || o.nth::VARCHAR || ')' ELSE '' END AS item
FROM occurrences AS o;

-- name: row_items
-- The items of each released case where whole rows are taken apart, over all its reports; of
-- report_item(report_id, attribute, term, qualifier, sensitive): case_no, term, part, base, item,
-- sensitive (the term has a threshold). A qualifier is part of the item.
SELECT DISTINCT
    g.case_no,
    i.term,
    0 AS part,
    i.attribute || ':' || i.term || coalesce('/' || i.qualifier, '') AS base,
    i.attribute || ':' || i.term || coalesce('/' || i.qualifier, '') AS item,
    i.sensitive
FROM report_item AS i
INNER JOIN temp.main.srsql_case_report AS c ON i.report_id = c.report_id
INNER JOIN temp.main.srsql_grouped AS g ON c.case_no = g.case_no;

-- name: cluster_groups
-- The QID-group of every cluster, where clusters lie inside groups: cluster, group_no.
SELECT DISTINCT c.cluster_no AS cluster, b.part AS group_no
FROM temp.main.srsql_cluster AS c
INNER JOIN temp.main.srsql_basket_case AS b ON c.record_no = b.record_no;
