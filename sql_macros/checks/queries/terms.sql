-- What the checks of terms that are released apart from records read of the tables that a release
-- was made with: who is in which cluster is what only its making knows.

-- name: members
-- The cluster of every original record.
CREATE OR REPLACE TEMP TABLE srsql_original_cluster AS
SELECT b.case_no AS record, k.cluster_no AS cluster
FROM temp.main.srsql_cluster AS k
INNER JOIN temp.main.srsql_basket_case AS b ON k.record_no = b.record_no;

-- name: members_of_groups
-- The same where clusters lie inside QID-groups: a group with too few terms is one cluster, in
-- which a case without a term counts as a record.
CREATE OR REPLACE TEMP TABLE srsql_original_cluster AS
WITH small_group AS (
    SELECT DISTINCT b.part, k.cluster_no
    FROM temp.main.srsql_cluster AS k
    INNER JOIN temp.main.srsql_basket_case AS b ON k.record_no = b.record_no
    WHERE b.small
)

SELECT b.case_no AS record, k.cluster_no AS cluster
FROM temp.main.srsql_cluster AS k
INNER JOIN temp.main.srsql_basket_case AS b ON k.record_no = b.record_no
UNION ALL
SELECT g.case_no, s.cluster_no
FROM small_group AS s
INNER JOIN temp.main.srsql_grouped AS g ON s.part = g.group_no
ANTI JOIN temp.main.srsql_original_term AS o ON g.case_no = o.record;

-- name: add_cases_without_terms
-- The cases without a term of such groups become original records without a term.
INSERT INTO temp.main.srsql_original_term
SELECT g.case_no, NULL
FROM temp.main.srsql_grouped AS g
SEMI JOIN temp.main.srsql_basket_case AS b ON g.group_no = b.part AND b.small
ANTI JOIN temp.main.srsql_original_term AS o ON g.case_no = o.record;

-- name: add_all_cases_without_terms
-- Where whole rows are taken apart, every case without a term is such a record.
INSERT INTO temp.main.srsql_original_term
SELECT g.case_no, NULL
FROM temp.main.srsql_grouped AS g
ANTI JOIN temp.main.srsql_original_term AS o ON g.case_no = o.record;

-- name: values_of_records
-- The sensitive values of every original record, whose attributes are $attributes, without what
-- qualifies them: record, value.
SELECT DISTINCT
    h.record,
    CASE
        WHEN contains(h.attribute, '/') AND contains(h.told, '/')
            THEN regexp_replace(h.told, '/[^/]*$', '')
        ELSE h.told
    END AS value
FROM (
    SELECT
        o.record,
        split_part(o.term, ':', 1) AS attribute,
        substr(o.term, instr(o.term, ':') + 1) AS told
    FROM temp.main.srsql_original_term AS o
    WHERE list_contains($attributes::VARCHAR[], split_part(o.term, ':', 1))
) AS h;

-- name: value_thresholds
-- The thresholds of a release, as checks call them: value, theta_num, theta_den.
SELECT t.term AS value, t.theta_num, t.theta_den
FROM srsql.threshold AS t
WHERE t.release_id = $release;

-- name: sensitive_items
-- The items of the sensitive terms, whatever their prefix or number: term.
SELECT DISTINCT i.item AS term
FROM temp.main.srsql_case_item AS i
SEMI JOIN temp.main.srsql_sensitive_term AS s ON i.term = s.term;

-- name: generalized_numbers
-- The published number of every original record whose terms are generalized: case_no, record.
SELECT b.case_no, r.record
FROM temp.main.srsql_generalized_record AS r
INNER JOIN temp.main.srsql_basket_case AS b ON r.record_no = b.record_no;

-- name: utility_constraints
-- The utility policy in the catalog: name, term.
SELECT c.name, c.term
FROM srsql.utility_constraint AS c
WHERE c.release_id = $release;

-- name: node_holders
-- The sets of one node, and which records hold them: record, set_no, last.
CREATE OR REPLACE TEMP TABLE srsql_itemset_holder AS
SELECT b.record, b.term AS set_no, b.term AS last
FROM temp.main.srsql_itemset_basket AS b;

-- name: node_sets
-- The sets of one node: before, term, records, set_no.
CREATE OR REPLACE TEMP TABLE srsql_node_set AS
SELECT b.term AS before, b.term, count(*) AS records, b.term AS set_no
FROM temp.main.srsql_itemset_basket AS b
GROUP BY b.term;

-- name: longer_node_sets
-- The sets of one node more.
CREATE OR REPLACE TEMP TABLE srsql_node_set AS
SELECT l.set_no AS before, l.term, l.records, row_number() OVER () AS set_no
FROM srsql.frequent_longer(
    'temp.main.srsql_itemset_holder', 'temp.main.srsql_itemset_basket', 1
) AS l;

-- name: longer_node_holders
-- Which records hold those of them that enough records hold.
CREATE OR REPLACE TEMP TABLE srsql_itemset_holder AS
WITH frequent_set AS MATERIALIZED (
    SELECT s.before, s.term, s.set_no
    FROM temp.main.srsql_node_set AS s
    WHERE s.records >= $1
)

SELECT h.record, h.set_no, h.last
FROM srsql.itemset_holders(
    'temp.main.srsql_itemset_holder', 'temp.main.srsql_itemset_basket', 'frequent_set'
) AS h;

-- name: rare_node_sets
-- How many of the sets fewer than k records hold, and how many sets there are.
SELECT count(*) FILTER (WHERE s.records < $1), count(*)
FROM temp.main.srsql_node_set AS s;
