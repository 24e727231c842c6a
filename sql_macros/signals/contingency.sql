-- Contingency tables of pairs of a drug and a reaction, by cases. Parameters that name tables take
-- their names.

-- What:    how far each case meets all conditions on quasi-identifiers, which a region that
--          straddles the bounds of a condition leaves undecided.
-- Inputs:  cases(case_id); boxes(case_id, position, low, high): inclusive integers, NULL = missing,
--          a row for each case and position with a condition; conditions(position, low, high,
--          domain_low, domain_high).
-- Outputs: case_id, lower (1 if every value of the region meets them; a missing one does not),
--          upper (1 if some value does; a missing one may, unless low > high), expected (the share
--          that does, uniform over the region or, where it is missing, over the domain, and
--          independent over quasi-identifiers), missing (a value that a condition asks for is).
-- Source:  SPEC section 14.
CREATE OR REPLACE MACRO srsql.signal_weights(cases, boxes, conditions) AS TABLE
WITH
met AS (
    SELECT
        b.case_id,
        coalesce(t.low <= b.low AND b.high <= t.high, false) AS inside,
        b.low IS NULL AS missing,
        t.low <= t.high AND (b.low IS NULL OR (b.low <= t.high AND t.low <= b.high)) AS touches,
        greatest(
            0,
            least(coalesce(b.high, t.domain_high), t.high)
            - greatest(coalesce(b.low, t.domain_low), t.low) + 1
        ) / (coalesce(b.high, t.domain_high) - coalesce(b.low, t.domain_low) + 1) AS part
    FROM query_table(boxes) AS b
    INNER JOIN query_table(conditions) AS t ON b.position = t.position
),

judged AS (
    SELECT
        m.case_id,
        bool_and(m.inside) AS inside,
        bool_and(m.touches) AS touches,
        bool_or(m.missing) AS missing,
        product(m.part) AS part
    FROM met AS m
    GROUP BY m.case_id
)

SELECT
    c.case_id,
    coalesce(j.inside, true)::BIGINT AS lower,
    coalesce(j.part, 1)::DECIMAL(18, 12) AS expected,
    coalesce(j.touches, true)::BIGINT AS upper,
    coalesce(j.missing, false) AS missing
FROM query_table(cases) AS c
LEFT JOIN judged AS j ON c.case_id = j.case_id;

-- What:    the pairs that may occur together in enough cases.
-- Inputs:  weights(case_id, lower, upper); drugs(case_id, drug) and reactions(case_id, reaction),
--          both distinct; enough: cases, a whole number.
-- Outputs: drug, reaction, surely (they occur in so many whatever values of the regions are true).
CREATE OR REPLACE MACRO srsql.signal_pairs(weights, drugs, reactions, enough) AS TABLE
SELECT d.drug, r.reaction, sum(w.lower) >= enough AS surely
FROM query_table(drugs) AS d
INNER JOIN query_table(reactions) AS r ON d.case_id = r.case_id
INNER JOIN query_table(weights) AS w ON d.case_id = w.case_id
GROUP BY d.drug, r.reaction
HAVING sum(w.upper) >= enough;

-- What:    the 2 x 2 table of each pair in each stratum, by cases.
-- Inputs:  weights(stratum, case_id, lower, expected, upper): a row for each stratum that a case
--          may be in, as signal_weights returns them of the stratum's conditions;
--          drugs(case_id, drug) and reactions(case_id, reaction), both distinct;
--          pairs(drug, reaction), distinct.
-- Outputs: drug, reaction, stratum, and for each cell x of a (drug and reaction), b (drug alone),
--          c (reaction alone), d (neither): x (expected), x_lower, x_upper, and x_known: the cases
--          whose regions decide every condition. All conditions of a signal must hold, so that who
--          is decided and meets them is who surely meets them: x_known = x_lower. Every pair has a
--          row for every stratum that anybody may be in.
-- Source:  Lin 2016, Table 1, of each stratum.
CREATE OR REPLACE MACRO srsql.contingency_by_stratum(weights, drugs, reactions, pairs) AS TABLE
WITH
everyone AS (
    SELECT
        w.stratum,
        sum(w.lower) AS lower,
        sum(w.expected) AS expected,
        sum(w.upper) AS upper
    FROM query_table(weights) AS w
    GROUP BY w.stratum
),

on_drug AS (
    SELECT
        w.stratum,
        d.drug,
        sum(w.lower) AS lower,
        sum(w.expected) AS expected,
        sum(w.upper) AS upper
    FROM query_table(drugs) AS d
    INNER JOIN query_table(weights) AS w ON d.case_id = w.case_id
    SEMI JOIN query_table(pairs) AS p ON d.drug = p.drug
    GROUP BY w.stratum, d.drug
),

with_reaction AS (
    SELECT
        w.stratum,
        r.reaction,
        sum(w.lower) AS lower,
        sum(w.expected) AS expected,
        sum(w.upper) AS upper
    FROM query_table(reactions) AS r
    INNER JOIN query_table(weights) AS w ON r.case_id = w.case_id
    SEMI JOIN query_table(pairs) AS p ON r.reaction = p.reaction
    GROUP BY w.stratum, r.reaction
),

together AS (
    SELECT
        w.stratum,
        p.drug,
        p.reaction,
        sum(w.lower) AS lower,
        sum(w.expected) AS expected,
        sum(w.upper) AS upper
    FROM query_table(pairs) AS p
    INNER JOIN query_table(drugs) AS d ON p.drug = d.drug
    INNER JOIN query_table(reactions) AS r ON p.reaction = r.reaction AND d.case_id = r.case_id
    INNER JOIN query_table(weights) AS w ON d.case_id = w.case_id
    GROUP BY w.stratum, p.drug, p.reaction
),

margins AS (
    SELECT
        p.drug,
        p.reaction,
        n.stratum,
        coalesce(t.lower, 0) AS a_lower,
        coalesce(t.expected, 0) AS a,
        coalesce(t.upper, 0) AS a_upper,
        coalesce(g.lower, 0) AS drug_lower,
        coalesce(g.expected, 0) AS drug_expected,
        coalesce(g.upper, 0) AS drug_upper,
        coalesce(r.lower, 0) AS reaction_lower,
        coalesce(r.expected, 0) AS reaction_expected,
        coalesce(r.upper, 0) AS reaction_upper,
        n.lower,
        n.expected,
        n.upper
    FROM query_table(pairs) AS p
    CROSS JOIN everyone AS n
    LEFT JOIN together AS t
        ON p.drug = t.drug AND p.reaction = t.reaction AND n.stratum = t.stratum
    LEFT JOIN on_drug AS g ON p.drug = g.drug AND n.stratum = g.stratum
    LEFT JOIN with_reaction AS r ON p.reaction = r.reaction AND n.stratum = r.stratum
)

SELECT
    m.drug,
    m.reaction,
    m.stratum,
    m.a::DOUBLE AS a,
    (m.drug_expected - m.a)::DOUBLE AS b,
    (m.reaction_expected - m.a)::DOUBLE AS c,
    (m.expected - m.drug_expected - m.reaction_expected + m.a)::DOUBLE AS d,
    m.a_lower::BIGINT AS a_lower,
    (m.drug_lower - m.a_lower)::BIGINT AS b_lower,
    (m.reaction_lower - m.a_lower)::BIGINT AS c_lower,
    (m.lower - m.drug_lower - m.reaction_lower + m.a_lower)::BIGINT AS d_lower,
    m.a_upper::BIGINT AS a_upper,
    (m.drug_upper - m.a_upper)::BIGINT AS b_upper,
    (m.reaction_upper - m.a_upper)::BIGINT AS c_upper,
    (m.upper - m.drug_upper - m.reaction_upper + m.a_upper)::BIGINT AS d_upper,
    m.a_lower::BIGINT AS a_known,
    (m.drug_lower - m.a_lower)::BIGINT AS b_known,
    (m.reaction_lower - m.a_lower)::BIGINT AS c_known,
    (m.lower - m.drug_lower - m.reaction_lower + m.a_lower)::BIGINT AS d_known
FROM margins AS m;

-- What:    the 2 x 2 table of each pair, by cases.
-- Inputs:  weights(case_id, lower, expected, upper); drugs(case_id, drug) and
--          reactions(case_id, reaction), both distinct; pairs(drug, reaction), distinct.
-- Outputs: drug, reaction, and the cells as srsql.contingency_by_stratum has them.
-- Source:  Lin 2016, Table 1.
CREATE OR REPLACE MACRO srsql.contingency(weights, drugs, reactions, pairs) AS TABLE
WITH one_stratum AS (
    SELECT 0 AS stratum, w.case_id, w.lower, w.expected, w.upper
    FROM query_table(weights) AS w
    UNION ALL
    SELECT 0, NULL, 0, 0, 0  -- the stratum is there where nobody is
)

SELECT c.* EXCLUDE (stratum)
FROM srsql.contingency_by_stratum('one_stratum', drugs, reactions, pairs) AS c;
