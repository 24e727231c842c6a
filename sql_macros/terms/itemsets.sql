-- Frequent itemsets, level by level. Each level is a pair of tables: the sets, and which records
-- hold them. A set of n + 1 terms is the set of its n least terms with one more behind them.
--   baskets(record, term), distinct.

-- What:    the terms that so many records hold.
-- Outputs: set_no (0), term, records.
CREATE OR REPLACE MACRO srsql.frequent_terms(baskets, at_least) AS TABLE
SELECT 0::BIGINT AS set_no, b.term, count(*) AS records
FROM query_table(baskets) AS b
GROUP BY b.term
HAVING count(*) >= at_least;

-- What:    the sets of one more term that so many records hold.
-- Inputs:  holders(record, set_no, last): which records hold the sets of this level, and the
--          greatest term of each; baskets of frequent terms alone.
-- Outputs: set_no (of the set without its greatest term), term (the greatest), records.
-- Source:  the downward closure of Apriori: of an infrequent set no longer one is frequent.
CREATE OR REPLACE MACRO srsql.frequent_longer(holders, baskets, at_least) AS TABLE
SELECT h.set_no, b.term, count(*) AS records
FROM query_table(holders) AS h
INNER JOIN query_table(baskets) AS b ON h.record = b.record AND h.last < b.term
GROUP BY h.set_no, b.term
HAVING count(*) >= at_least;

-- What:    which records hold the sets of the next level.
-- Inputs:  holders, baskets as above; longer(set_no, before, term): the numbered rows of
--          frequent_longer, before = the number of the set without the greatest term.
CREATE OR REPLACE MACRO srsql.itemset_holders(holders, baskets, longer) AS TABLE
SELECT h.record, n.set_no, n.term AS last
FROM query_table(holders) AS h
INNER JOIN query_table(longer) AS n ON h.set_no = n.before
INNER JOIN query_table(baskets) AS b ON h.record = b.record AND n.term = b.term;
