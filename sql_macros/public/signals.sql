-- Questions to released rows: how far a region meets a condition, pairs of a drug and a reaction.
-- They know no column of any dataset: they read the views of srsql_reader, or others of the
-- reader's own: cases(case_id, lower, expected, upper), drugs(case_id, drug) and
-- reactions(case_id, reaction), of keys of terms. What they read: pairs.sql.

-- What:    How far a region meets a condition: lower (every value meets it), upper (some value
--          may), expected (the share that does, uniform over the region, or the domain where it is
--          missing), known (the region decides).
-- Inputs:  low, high: bounds of the region, both inclusive, NULL where missing; at_least, at_most:
--          of the condition, inclusive; domain_low, domain_high: of the quasi-identifier.
-- Outputs: struct of lower, expected, upper and known, for unnest.
-- Source:  SPEC section 14.
CREATE OR REPLACE MACRO srsql.meets(low, high, at_least, at_most, domain_low, domain_high) AS
struct_pack(
    lower := coalesce(at_least <= low AND high <= at_most, false)::BIGINT,
    expected := (
        greatest(
            0,
            least(coalesce(high, domain_high), at_most)
            - greatest(coalesce(low, domain_low), at_least) + 1
        ) / (coalesce(high, domain_high) - coalesce(low, domain_low) + 1)
    )::DECIMAL(18, 12),
    upper := coalesce(low <= at_most AND at_least <= high, at_least <= at_most)::BIGINT,
    known := low IS NOT NULL
    AND high IS NOT NULL
    AND ((at_least <= low AND high <= at_most) OR at_most < low OR high < at_least)
);

-- What:    How far a published node meets the condition that a value is some node of its hierarchy.
-- Inputs:  shown: the node as published, the root where it is missing; wanted: a node; of_dataset,
--          of_attribute: names.
-- Outputs: as of srsql.meets; expected counts leaves. An error for a node that the hierarchy has
--          not, by which nobody would meet the condition.
-- Source:  SPEC section 14.
CREATE OR REPLACE MACRO srsql.meets_node(shown, wanted, of_dataset, of_attribute) AS
coalesce(
    (
        SELECT
            struct_pack(
                lower := (w.pre <= p.pre AND p.last <= w.last)::BIGINT,
                expected := (
                    CASE
                        WHEN w.pre <= p.pre AND p.last <= w.last THEN 1
                        WHEN p.pre <= w.pre AND w.last <= p.last THEN w.leaf_count / p.leaf_count
                        ELSE 0
                    END
                )::DECIMAL(18, 12),
                upper := (p.pre <= w.last AND w.pre <= p.last)::BIGINT,
                known := (w.pre <= p.pre AND p.last <= w.last) OR p.last < w.pre OR w.last < p.pre
            )
        FROM srsql.node AS p
        INNER JOIN srsql.node AS w ON p.dataset = w.dataset AND p.attribute = w.attribute
        WHERE
            p.dataset = of_dataset
            AND p.attribute = of_attribute
            AND p.node = shown
            AND w.node = wanted
    ),
    error(
        coalesce(shown::VARCHAR, 'NULL') || ' or ' || coalesce(wanted::VARCHAR, 'NULL')
        || ' is no node of ' || coalesce(of_attribute, 'NULL') || ' of '
        || coalesce(of_dataset, 'NULL') || ': FROM srsql.node lists them'
    )
);

-- What:    the key of a name of plain ASCII, without a kernel.
-- Inputs:  spelling.
-- Outputs: the key; an error for other characters, whose key stands beside them in released rows.
-- Source:  SPEC section 2 (term, key).
CREATE OR REPLACE MACRO srsql_internal.plain_key(spelling) AS
CASE
    WHEN NOT regexp_full_match(spelling, '[ -\]_a-~]*')
        THEN error(spelling || ' has other characters than ASCII: give its key, as in drugname_key')
    ELSE nullif(
        lower(
            regexp_replace(
                regexp_replace(
                    regexp_replace(spelling, ' *([-/]) *', '\1', 'g'), ' +', ' ', 'g'
                ),
                '^ +|[ .]+$', '', 'g'
            )
        ),
        ''
    )
END;

-- What:    the measures of some pairs.
-- Inputs:  pairs(drug, reaction); cases(case_id, lower, expected, upper), drugs(case_id, drug),
--          reactions(case_id, reaction); of_series, of_dataset, of_period: as of pair_rows.
-- Outputs: as of srsql.signals.
-- Source:  Lin 2016, Table 2.
CREATE OR REPLACE MACRO srsql_internal.measured_pairs(
    pairs, cases, drugs, reactions, of_series, of_dataset, of_period
) AS TABLE
WITH
own_weight AS MATERIALIZED (
    SELECT DISTINCT w.case_id, w.lower, w.expected, w.upper
    FROM srsql_internal.pair_rows(cases, of_series, of_dataset, of_period) AS w
),

distinct_drug AS MATERIALIZED (
    SELECT DISTINCT d.case_id, d.drug
    FROM srsql_internal.pair_rows(drugs, of_series, of_dataset, of_period) AS d
    WHERE d.drug IS NOT NULL
),

distinct_reaction AS MATERIALIZED (
    SELECT DISTINCT r.case_id, r.reaction
    FROM srsql_internal.pair_rows(reactions, of_series, of_dataset, of_period) AS r
    WHERE r.reaction IS NOT NULL
),

shown AS MATERIALIZED (
    SELECT c.*, h.drugs AS hidden_drugs, h.reactions AS hidden_reactions
    FROM srsql.contingency('own_weight', 'distinct_drug', 'distinct_reaction', pairs) AS c
    CROSS JOIN srsql_internal.hidden_cases(
        cases, drugs, reactions, of_series, of_dataset, of_period
    ) AS h
),

told_cell AS MATERIALIZED (
    SELECT t.*
    FROM srsql_internal.told_cells(
        cases, drugs, reactions, of_series, of_dataset, of_period
    ) AS t
),

every_stratum AS MATERIALIZED (
    SELECT DISTINCT t.stratum, true AS surely, true AS maybe FROM told_cell AS t
),

table_of_pair AS MATERIALIZED (
    SELECT s.* EXCLUDE (hidden_drugs, hidden_reactions)
    FROM srsql.with_suppressed('shown', hidden_reactions, hidden_drugs) AS s
    WHERE NOT EXISTS (SELECT 1 FROM told_cell)
    UNION ALL BY NAME
    SELECT c.*
    FROM srsql.count_contingency('told_cell', 'every_stratum', pairs) AS c
    WHERE EXISTS (SELECT 1 FROM told_cell)
),

-- of counts nothing is estimated but where each of the four is told
counted AS MATERIALIZED (
    SELECT
        t.*,
        NOT EXISTS (SELECT 1 FROM told_cell)
        OR (
            t.a_lower = t.a_upper
            AND t.b_lower = t.b_upper
            AND t.c_lower = t.c_upper
            AND t.d_lower = t.d_upper
        ) AS estimated
    FROM table_of_pair AS t
)

SELECT
    m.drug,
    m.reaction,
    m.a,
    m.b,
    m.c,
    m.d,
    m.a_lower,
    m.a_upper,
    m.b_lower,
    m.b_upper,
    m.c_lower,
    m.c_upper,
    m.d_lower,
    m.d_upper,
    CASE WHEN m.estimated THEN m.prr END AS prr,
    CASE WHEN m.estimated THEN m.prr_low END AS prr_low,
    CASE WHEN m.estimated THEN m.prr_high END AS prr_high,
    CASE WHEN m.estimated THEN m.ror END AS ror,
    CASE WHEN m.estimated THEN m.ror_low END AS ror_low,
    CASE WHEN m.estimated THEN m.ror_high END AS ror_high,
    CASE WHEN m.estimated THEN m.ic END AS ic,
    CASE WHEN m.estimated THEN m.ic_low END AS ic_low,
    CASE WHEN m.estimated THEN m.ic_high END AS ic_high,
    CASE WHEN m.estimated THEN m.chi2 END AS chi2,
    m.a_lower * (m.c_upper + m.d_lower) / nullif((m.a_lower + m.b_upper) * m.c_upper, 0)
        AS prr_least,
    m.a_upper * (m.c_lower + m.d_upper) / nullif((m.a_upper + m.b_lower) * m.c_lower, 0)
        AS prr_most
FROM srsql.signal_measures('counted') AS m
WHERE
    CASE
        WHEN
            (SELECT count(*) = count(DISTINCT w.case_id) FROM own_weight AS w)
            THEN true
        ELSE error('a case has two states: take each as its latest period has it')
    END;

-- What:    PRR, ROR, IC and chi-squared of one drug and one reaction by released cases, with 95 %
--          intervals, and the least and greatest PRR that any truth behind the regions gives.
-- Inputs:  as of srsql.pair.
-- Outputs: drug, reaction (keys), a, b, c, d, each with _lower and _upper; prr, ror, ic with _low
--          and _high (of the expected table); chi2; prr_least, prr_most: bounds over all truths,
--          values that a release suppresses among them.
-- Source:  Lin 2016, Table 2; SPEC sections 14 and 20.
CREATE OR REPLACE MACRO srsql.signals(
    drug,
    reaction,
    cases := 'srsql_reader.signal_case',
    drugs := 'srsql_reader.signal_drug',
    reactions := 'srsql_reader.signal_reaction',
    series := NULL,
    dataset := NULL,
    period := NULL
) AS TABLE
WITH
wanted AS MATERIALIZED (
    SELECT
        srsql_internal.plain_key(drug) AS drug,
        srsql_internal.plain_key(reaction) AS reaction
)

SELECT m.*
FROM srsql_internal.measured_pairs(
    'wanted', cases, drugs, reactions, series, dataset, period
) AS m;

-- What:    The contingency table of a drug and a reaction by released cases: cells a (both), b
--          (drug alone), c (reaction alone), d (neither).
-- Inputs:  drug, reaction: names; cases, drugs, reactions: names of views of the reader's own;
--          default: all cases, suspect drugs and reactions of the series; series: default main; of
--          own views the one whose rows they show; dataset: as of srsql.audit; period: of one
--          release; default: every case as its latest has it; own views choose theirs.
-- Outputs: cell, lower, expected, upper, known (cases whose regions settle every condition and that
--          meet it: as many as lower). Bounds allow for values that a release suppresses.
-- Source:  Lin 2016, Table 1; SPEC sections 14 and 20.
CREATE OR REPLACE MACRO srsql.pair(
    drug,
    reaction,
    cases := 'srsql_reader.signal_case',
    drugs := 'srsql_reader.signal_drug',
    reactions := 'srsql_reader.signal_reaction',
    series := NULL,
    dataset := NULL,
    period := NULL
) AS TABLE
SELECT
    unnest(['a', 'b', 'c', 'd']) AS cell,
    unnest([s.a_lower, s.b_lower, s.c_lower, s.d_lower]) AS lower,
    unnest([s.a, s.b, s.c, s.d]) AS expected,
    unnest([s.a_upper, s.b_upper, s.c_upper, s.d_upper]) AS upper,
    unnest([s.a_lower, s.b_lower, s.c_lower, s.d_lower]) AS known
FROM srsql.signals(drug, reaction, cases, drugs, reactions, series, dataset, period) AS s;

-- What:    The same of every pair of which at least so many cases have both, whatever the truth.
-- Inputs:  at_least: cases; the others as of srsql.pair.
-- Outputs: as of srsql.signals.
-- Source:  Lin 2016, Table 2; SPEC sections 14 and 20.
CREATE OR REPLACE MACRO srsql.signals_all(
    at_least := 3,
    cases := 'srsql_reader.signal_case',
    drugs := 'srsql_reader.signal_drug',
    reactions := 'srsql_reader.signal_reaction',
    series := NULL,
    dataset := NULL,
    period := NULL
) AS TABLE
WITH
signal_weight AS MATERIALIZED (
    SELECT DISTINCT w.case_id, w.lower, w.upper
    FROM srsql_internal.pair_rows(cases, series, dataset, period) AS w
),

own_drug AS MATERIALIZED (
    SELECT DISTINCT d.case_id, d.drug
    FROM srsql_internal.pair_rows(drugs, series, dataset, period) AS d
),

own_reaction AS MATERIALIZED (
    SELECT DISTINCT r.case_id, r.reaction
    FROM srsql_internal.pair_rows(reactions, series, dataset, period) AS r
),

wanted AS MATERIALIZED (
    SELECT p.drug, p.reaction
    FROM srsql.signal_pairs('signal_weight', 'own_drug', 'own_reaction', at_least) AS p
    WHERE p.surely
    UNION ALL
    SELECT t.drug, t.reaction
    FROM srsql_internal.told_cells(cases, drugs, reactions, series, dataset, period) AS t
    WHERE t.drug IS NOT NULL AND t.reaction IS NOT NULL
    GROUP BY t.drug, t.reaction
    HAVING sum(t.cases) >= at_least
)

SELECT m.*
FROM srsql_internal.measured_pairs(
    'wanted', cases, drugs, reactions, series, dataset, period
) AS m
ORDER BY m.prr_low DESC, m.drug ASC, m.reaction ASC;
