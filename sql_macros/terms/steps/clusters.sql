-- Step: HORPART makes clusters of the baskets; what kernels need to know of each term.
-- Parameters: max_size (a part with fewer records is a cluster), least (records of a cluster),
--   lexicographic (small parts are pooled in the order of their terms).
-- Reads: basket, part, constraint, sensitive_number
-- Writes: term_role, cluster
-- Source: Loukides 2014, section 4 (HORPART) and 7 (sensitive terms); SPEC section 11.

CREATE OR REPLACE TEMP TABLE srsql_term_role AS
SELECT r.*
FROM srsql.term_roles(
    'temp.main.srsql_basket', 'temp.main.srsql_constraint', 'temp.main.srsql_sensitive_number'
) AS r;

CREATE OR REPLACE TEMP TABLE srsql_cluster AS
SELECT h.record_no, h.cluster_no
FROM srsql.horizontal_parts(
    'temp.main.srsql_basket',
    'temp.main.srsql_part',
    'temp.main.srsql_term_role',
    $max_size::INTEGER,
    $least::INTEGER,
    $lexicographic::BOOLEAN
) AS h;
