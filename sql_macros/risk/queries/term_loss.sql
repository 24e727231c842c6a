-- How far the answers of a release of terms are off.
-- Source: Loukides 2014, Definitions 2 (ARE) and 3 (MRE).

-- name: answered_queries
-- Fills a table with lists of the same length: the number of each query, its terms, its truth and
-- its answer. It is a table because sums of errors follow the order of its rows to the last digit.
CREATE OR REPLACE TEMP TABLE srsql_answered_query AS
SELECT
    unnest($numbers::INTEGER[]) AS set_no,
    unnest($terms::INTEGER[]) AS terms,
    unnest($truths::BIGINT[]) AS truth,
    unnest($answers::DOUBLE[]) AS answer;

-- name: average_relative_error
-- By the number of terms, then over all queries.
SELECT e.terms, e.queries, e.untold, e.are, e.deviation
FROM srsql.average_relative_error('temp.main.srsql_answered_query') AS e
ORDER BY e.terms NULLS LAST;

-- name: matching_error_intervals
-- How many constraints have an error in each interval, of two lists of the same length.
WITH constraint_match AS MATERIALIZED (
    SELECT
        unnest($truths::BIGINT[]) AS truth,
        unnest($answers::DOUBLE[]) AS answer
)

SELECT i.interval_text, i.low, i.high, i.constraints, i.share
FROM srsql.matching_error_intervals('constraint_match') AS i
ORDER BY i.position;
