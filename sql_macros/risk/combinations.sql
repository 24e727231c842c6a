-- How rare the combinations of terms are that an attacker may know.
--   baskets(record, term), distinct.

-- What:    the combinations of so many terms, counted by the number of records that hold them.
--          Every combination of every record is made: for few or short records only.
-- Outputs: records, combinations (distinct ones that so many records hold).
-- Source:  Loukides 2014, Fig. 12.
CREATE OR REPLACE MACRO srsql.combination_frequencies(baskets, size) AS TABLE
WITH RECURSIVE
numbered AS (
    SELECT b.record, dense_rank() OVER (ORDER BY b.term) AS term FROM query_table(baskets) AS b
),

grown AS (
    SELECT n.record, [n.term] AS terms, n.term AS last FROM numbered AS n
    UNION ALL
    SELECT g.record, list_append(g.terms, n.term), n.term
    FROM grown AS g
    INNER JOIN numbered AS n ON g.record = n.record AND g.last < n.term
    WHERE len(g.terms) < size
)

SELECT c.records, count(*) AS combinations
FROM (
    SELECT g.terms, count(*) AS records FROM grown AS g WHERE len(g.terms) = size GROUP BY g.terms
) AS c
GROUP BY c.records;
