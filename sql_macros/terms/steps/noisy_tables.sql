-- Step: the published tables of counts with noise.
-- Reads: noisy_unit(unit, name, stratum), noisy_held(unit, name, attribute, term), noisy_kind,
--   noisy_leaf(stratum)
-- Writes: noisy_item, noisy_pair, noisy_case_cell, noisy_item_cell, noisy_pair_cell,
--   pub_noisy_case_count, pub_noisy_item_count, pub_noisy_pair_count
-- Source: SPEC section 19, R8; decision 53; terms/noisy_tables.sql has the proof.

CREATE OR REPLACE TEMP TABLE srsql_noisy_item AS
SELECT i.unit, i.name, i.attribute, i.term
FROM srsql.bounded_items('temp.main.srsql_noisy_held', $case_items) AS i;

CREATE OR REPLACE TEMP TABLE srsql_noisy_pair AS
SELECT p.unit, p.attribute, p.term, p.other_attribute, p.other_term
FROM srsql.bounded_pairs(
    'temp.main.srsql_noisy_item', 'temp.main.srsql_noisy_kind', $case_pairs
) AS p;

-- Strata are a closed list: those without a case have a count of 0.
CREATE OR REPLACE TEMP TABLE srsql_noisy_case_cell AS
SELECT
    row_number() OVER (ORDER BY l.stratum) AS cell,
    l.stratum,
    count(u.unit) AS units
FROM temp.main.srsql_noisy_leaf AS l
LEFT JOIN temp.main.srsql_noisy_unit AS u ON l.stratum = u.stratum
GROUP BY l.stratum;

CREATE OR REPLACE TEMP TABLE srsql_noisy_item_cell AS
SELECT
    row_number() OVER (ORDER BY u.stratum, i.attribute, i.term) AS cell,
    u.stratum,
    i.attribute,
    i.term,
    count(*) AS units
FROM temp.main.srsql_noisy_item AS i
INNER JOIN temp.main.srsql_noisy_unit AS u ON i.unit = u.unit
GROUP BY u.stratum, i.attribute, i.term;

CREATE OR REPLACE TEMP TABLE srsql_noisy_pair_cell AS
SELECT
    row_number() OVER (
        ORDER BY u.stratum, p.attribute, p.term, p.other_attribute, p.other_term
    ) AS cell,
    u.stratum,
    p.attribute,
    p.term,
    p.other_attribute,
    p.other_term,
    count(*) AS units
FROM temp.main.srsql_noisy_pair AS p
INNER JOIN temp.main.srsql_noisy_unit AS u ON p.unit = u.unit
GROUP BY u.stratum, p.attribute, p.term, p.other_attribute, p.other_term;

CREATE OR REPLACE TEMP TABLE srsql_pub_noisy_case_count AS
SELECT c.stratum, n.cases
FROM srsql.noisy_counts(
    'temp.main.srsql_noisy_case_cell', $case_num, $case_den, NULL::BIGINT, $case_seed
) AS n
INNER JOIN temp.main.srsql_noisy_case_cell AS c ON n.cell = c.cell;

CREATE OR REPLACE TEMP TABLE srsql_pub_noisy_item_count AS
SELECT c.stratum, c.attribute, c.term, n.cases
FROM srsql.noisy_counts(
    'temp.main.srsql_noisy_item_cell', $item_num, $item_den, $item_least, $item_seed
) AS n
INNER JOIN temp.main.srsql_noisy_item_cell AS c ON n.cell = c.cell;

CREATE OR REPLACE TEMP TABLE srsql_pub_noisy_pair_count AS
SELECT c.stratum, c.attribute, c.term, c.other_attribute, c.other_term, n.cases
FROM srsql.noisy_counts(
    'temp.main.srsql_noisy_pair_cell', $pair_num, $pair_den, $pair_least, $pair_seed
) AS n
INNER JOIN temp.main.srsql_noisy_pair_cell AS c ON n.cell = c.cell;
