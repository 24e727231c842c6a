-- Step: HORPART makes clusters of whole groups; what kernels need to know of each term.
-- Parameters: max_size (a part with fewer records is a cluster), least (records of a cluster),
--   lexicographic (small parts are pooled in the order of their terms).
-- Reads: basket, basket_case, constraint, sensitive_number
-- Writes: term_role, cluster
-- Source: Loukides 2014, section 4 (HORPART) and 7 (sensitive terms); SPEC section 11 (whole rows).

CREATE OR REPLACE TEMP TABLE srsql_term_role AS
SELECT r.*
FROM srsql.term_roles(
    'temp.main.srsql_basket', 'temp.main.srsql_constraint', 'temp.main.srsql_sensitive_number'
) AS r;

CREATE OR REPLACE TEMP TABLE srsql_cluster AS
WITH
record_group AS MATERIALIZED (
    SELECT c.record_no, c.part::INTEGER AS group_no FROM temp.main.srsql_basket_case AS c
),

group_cluster AS MATERIALIZED (
    SELECT h.group_no, h.cluster_no
    FROM srsql.horizontal_groups(
        'temp.main.srsql_basket',
        'record_group',
        'temp.main.srsql_term_role',
        $max_size::INTEGER,
        $least::INTEGER,
        $lexicographic::BOOLEAN
    ) AS h
)

SELECT r.record_no, g.cluster_no
FROM record_group AS r
INNER JOIN group_cluster AS g ON r.group_no = g.group_no;
