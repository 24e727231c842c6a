-- How far the worst target of a release is narrowed down, whether or not that is a danger. Read the
-- temporary tables of an audit (see audit/steps/scope_group.sql) by name.

-- What:    the fewest candidates that remain for any target after the exclusion sets.
-- Inputs:  sets(target_no, remaining): of srsql.exclusion_sets.
-- Outputs: remaining; NULL if there is no target.
-- Source:  Huang 2021, Definitions 1 to 4.
CREATE OR REPLACE MACRO srsql.fewest_remaining(sets) AS TABLE
SELECT min(s.remaining) AS remaining FROM query_table(sets) AS s;

-- What:    the greatest share of those who remain that hold one sensitive value, over all targets,
--          of the values that a threshold below 1 bounds; scope = group.
-- Inputs:  sets, targets, loads, pairs, held, bounds, weight_scale: as srsql.remaining_shares.
-- Outputs: term_no, theta_num, theta_den, weight, whole: the share is weight / whole; the least
--          term_no among equals; no row if nobody holds such a value.
-- Source:  Huang 2021, Definition 5; Lin 2016, Definition 1.
CREATE OR REPLACE MACRO srsql.greatest_share(
    sets, targets, loads, pairs, held, bounds, weight_scale
) AS TABLE
SELECT s.term_no, s.theta_num, s.theta_den, s.weight, s.whole
FROM srsql.remaining_shares(sets, targets, loads, pairs, held, bounds, weight_scale) AS s
WHERE s.term_no >= 0
ORDER BY s.weight / s.whole DESC, s.term_no ASC
LIMIT 1;
