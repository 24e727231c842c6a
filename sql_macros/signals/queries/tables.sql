-- The temporary tables of one call of `srsql signals`, in the order in which they are made. Tables
-- of one side (the originals or what was released of them) are named without it: srsql_case stands
-- for srsql_signal_original_case or srsql_signal_released_case.

-- name: node
-- The leaves under each node that a record may name.
-- Inputs: lists of the same length: positions of quasi-identifiers, labels of their nodes, numbers
-- of the first and the last leaf under them.
CREATE OR REPLACE TEMP TABLE temp.main.srsql_signal_node AS
SELECT
    unnest($positions::INTEGER[]) AS position,
    unnest($nodes::VARCHAR[]) AS node,
    unnest($lows::BIGINT[]) AS low,
    unnest($highs::BIGINT[]) AS high;

-- name: condition
-- One row per quasi-identifier that the condition restricts; see srsql.signal_weights.
-- Inputs: lists of the same length.
CREATE OR REPLACE TEMP TABLE temp.main.srsql_signal_condition AS
SELECT
    unnest($positions::BIGINT[]) AS position,
    unnest($lows::BIGINT[]) AS low,
    unnest($highs::BIGINT[]) AS high,
    unnest($domain_lows::BIGINT[]) AS domain_low,
    unnest($domain_highs::BIGINT[]) AS domain_high;

-- name: observed_domain
-- What the regions of one quasi-identifier span.
SELECT coalesce(min(b.low), 0) AS low, coalesce(max(b.high), 0) AS high
FROM temp.main.srsql_box AS b
WHERE b.position = $position;

-- name: weight
-- How far each case of a side meets the condition.
CREATE OR REPLACE TEMP TABLE temp.main.srsql_weight AS
SELECT w.*
FROM srsql.signal_weights(
    'temp.main.srsql_case', 'temp.main.srsql_box', 'temp.main.srsql_signal_condition'
) AS w;

-- name: observed
-- Observed and expected cases of every pair of a side that was reported at least once.
CREATE OR REPLACE TEMP TABLE temp.main.srsql_observed AS
SELECT o.*
FROM srsql.observed_pairs(
    'temp.main.srsql_weight', 'temp.main.srsql_drug', 'temp.main.srsql_reaction'
) AS o;

-- name: prior
-- The prior of the gamma-Poisson shrinker that all pairs of a side have.
CREATE OR REPLACE TEMP TABLE temp.main.srsql_prior AS
SELECT p.* FROM srsql.gps_prior('temp.main.srsql_observed') AS p;

-- name: prior_parameters
-- The fields of Shrinkage after its condition and its side.
SELECT
    p.pairs,
    p.prior.alpha1,
    p.prior.beta1,
    p.prior.alpha2,
    p.prior.beta2,
    p.prior.p
FROM temp.main.srsql_prior AS p;

-- name: pair_of_rules
-- The pairs of the rules of these numbers.
CREATE OR REPLACE TEMP TABLE temp.main.srsql_signal_pair AS
SELECT DISTINCT w.drug, w.reaction
FROM temp.main.srsql_signal_wanted AS w
WHERE list_contains($numbers::BIGINT[], w.pair_no);

-- name: pair_of_cases
-- The pairs that occur together in enough cases of a side.
CREATE OR REPLACE TEMP TABLE temp.main.srsql_signal_pair AS
SELECT p.drug, p.reaction
FROM srsql.signal_pairs(
    'temp.main.srsql_weight', 'temp.main.srsql_drug', 'temp.main.srsql_reaction', $enough
) AS p;

-- name: contingency
-- The 2 x 2 table of each pair on a side.
CREATE OR REPLACE TEMP TABLE temp.main.srsql_contingency AS
SELECT c.*
FROM srsql.contingency(
    'temp.main.srsql_weight',
    'temp.main.srsql_drug',
    'temp.main.srsql_reaction',
    'temp.main.srsql_signal_pair'
) AS c;

-- name: ratio
-- PRR, ROR and IC of each pair on a side, with their intervals.
CREATE OR REPLACE TEMP TABLE temp.main.srsql_ratio AS
SELECT r.* FROM srsql.signal_measures('temp.main.srsql_contingency') AS r;

-- name: measure
-- The same with EBGM.
CREATE OR REPLACE TEMP TABLE temp.main.srsql_measure AS
SELECT m.* FROM srsql.shrunk_measures('temp.main.srsql_ratio', 'temp.main.srsql_prior') AS m;

-- name: bias
-- What the release changes of each pair.
CREATE OR REPLACE TEMP TABLE temp.main.srsql_signal_bias AS
SELECT b.*
FROM srsql.signal_bias(
    'temp.main.srsql_signal_original_measure', 'temp.main.srsql_signal_released_measure'
) AS b;

-- name: bias_quantiles
-- How the changes are distributed over all pairs.
SELECT q.*
FROM srsql.signal_bias_quantiles('temp.main.srsql_signal_bias') AS q
ORDER BY q.measure;
