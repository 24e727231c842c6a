-- Interaction of two drugs: whether a reaction is reported with both of them more often than what
-- each of them adds would make it. Parameters that name tables take their names.

-- What:    the 2 x 2 x 2 table of two drugs and a reaction, by cases.
-- Inputs:  weights(case_id, lower, expected, upper); drugs(case_id, drug) and
--          reactions(case_id, reaction), both distinct; triples(drug, other, reaction), distinct,
--          of two different drugs; suppressed and suppressed_drugs: so many cases, whole
--          numbers, may have any one reaction, and any one drug, beside those that are shown with
--          it.
-- Outputs: drug, other, reaction, and for each cell nijk (i: with the drug, j: with the other one,
--          k: with the reaction; 1 or 0) nijk (expected), nijk_lower and nijk_upper as
--          srsql.contingency and srsql.with_suppressed have them; what is known is nijk_lower.
-- Source:  Noren, Sundberg, Bate and Edwards 2008.
CREATE OR REPLACE MACRO srsql.interaction_tables(
    weights, drugs, reactions, triples, suppressed, suppressed_drugs
) AS TABLE
WITH
marked AS (
    SELECT
        t.drug,
        t.other,
        t.reaction,
        if(d.case_id IS NULL, 0, 4) + if(o.case_id IS NULL, 0, 2) + if(r.case_id IS NULL, 0, 1)
            AS cell,
        w.lower,
        w.expected,
        w.upper
    FROM query_table(triples) AS t
    CROSS JOIN query_table(weights) AS w
    LEFT JOIN query_table(drugs) AS d ON w.case_id = d.case_id AND t.drug = d.drug
    LEFT JOIN query_table(drugs) AS o ON w.case_id = o.case_id AND t.other = o.drug
    LEFT JOIN query_table(reactions) AS r ON w.case_id = r.case_id AND t.reaction = r.reaction
),

numbers AS (
    SELECT unnest(range(8)) AS cell
),

counted AS (
    SELECT
        t.drug,
        t.other,
        t.reaction,
        n.cell,
        coalesce(sum(m.lower), 0) AS lower,
        coalesce(sum(m.expected), 0) AS expected,
        coalesce(sum(m.upper), 0) AS upper
    FROM query_table(triples) AS t
    CROSS JOIN numbers AS n
    LEFT JOIN marked AS m
        ON
            t.drug = m.drug AND t.other = m.other AND t.reaction = m.reaction
            AND n.cell = m.cell
    GROUP BY t.drug, t.other, t.reaction, n.cell
),

bounded AS (
    SELECT
        c.*,
        if(c.cell & 1 = 0, suppressed, 0)
        + (2 - bit_count(c.cell & 6)) * suppressed_drugs AS may_leave,
        if(c.cell & 1 = 1, suppressed, 0) + bit_count(c.cell & 6) * suppressed_drugs AS may_join
    FROM counted AS c
),

allowed AS (
    SELECT
        c.drug,
        c.other,
        c.reaction,
        c.cell,
        any_value(c.expected)::DOUBLE AS expected,
        greatest(0, any_value(c.lower - c.may_leave))::BIGINT AS lower,
        (any_value(c.upper) + least(any_value(c.may_join), coalesce(sum(n.upper), 0)))::BIGINT
            AS upper
    FROM bounded AS c
    LEFT JOIN counted AS n  -- the cells in which a case of this one may be shown instead
        ON
            c.drug = n.drug AND c.other = n.other AND c.reaction = n.reaction
            AND n.cell < c.cell AND n.cell & c.cell = n.cell
            AND (suppressed > 0 OR n.cell & 1 = c.cell & 1)
            AND (suppressed_drugs > 0 OR n.cell & 6 = c.cell & 6)
    GROUP BY c.drug, c.other, c.reaction, c.cell
)

SELECT
    a.drug,
    a.other,
    a.reaction,
    max(a.expected) FILTER (WHERE a.cell = 7) AS n111,
    max(a.expected) FILTER (WHERE a.cell = 6) AS n110,
    max(a.expected) FILTER (WHERE a.cell = 5) AS n101,
    max(a.expected) FILTER (WHERE a.cell = 4) AS n100,
    max(a.expected) FILTER (WHERE a.cell = 3) AS n011,
    max(a.expected) FILTER (WHERE a.cell = 2) AS n010,
    max(a.expected) FILTER (WHERE a.cell = 1) AS n001,
    max(a.expected) FILTER (WHERE a.cell = 0) AS n000,
    max(a.lower) FILTER (WHERE a.cell = 7) AS n111_lower,
    max(a.lower) FILTER (WHERE a.cell = 6) AS n110_lower,
    max(a.lower) FILTER (WHERE a.cell = 5) AS n101_lower,
    max(a.lower) FILTER (WHERE a.cell = 4) AS n100_lower,
    max(a.lower) FILTER (WHERE a.cell = 3) AS n011_lower,
    max(a.lower) FILTER (WHERE a.cell = 2) AS n010_lower,
    max(a.lower) FILTER (WHERE a.cell = 1) AS n001_lower,
    max(a.lower) FILTER (WHERE a.cell = 0) AS n000_lower,
    max(a.upper) FILTER (WHERE a.cell = 7) AS n111_upper,
    max(a.upper) FILTER (WHERE a.cell = 6) AS n110_upper,
    max(a.upper) FILTER (WHERE a.cell = 5) AS n101_upper,
    max(a.upper) FILTER (WHERE a.cell = 4) AS n100_upper,
    max(a.upper) FILTER (WHERE a.cell = 3) AS n011_upper,
    max(a.upper) FILTER (WHERE a.cell = 2) AS n010_upper,
    max(a.upper) FILTER (WHERE a.cell = 1) AS n001_upper,
    max(a.upper) FILTER (WHERE a.cell = 0) AS n000_upper
FROM allowed AS a
GROUP BY a.drug, a.other, a.reaction;

-- What:    how many times as many cases of a group have the reaction as have it not.
-- Inputs:  with_it, without_it: numbers of cases, not below 0.
-- Outputs: the odds; 'infinity' where all have it, 0 where the group is empty.
CREATE OR REPLACE MACRO srsql.reporting_odds(with_it, without_it) AS
CASE
    WHEN without_it > 0 THEN with_it / without_it
    WHEN with_it > 0 THEN 'infinity'::DOUBLE
    ELSE 0
END;

-- What:    the share of the reports with both drugs that would have the reaction if what each drug
--          adds to the odds were added up, and a drug that lowers them changed nothing.
-- Inputs:  neither, one, other: the odds with neither drug and with one of them alone.
-- Outputs: g11 = 1 - 1 / (max(neither, one) + max(neither, other) - neither + 1).
-- Source:  Noren, Sundberg, Bate and Edwards 2008.
CREATE OR REPLACE MACRO srsql.share_without_interaction(neither, one, other) AS
CASE
    WHEN isinf(greatest(neither, one, other)) THEN 1
    ELSE 1 - 1 / (greatest(neither, one) + greatest(neither, other) - neither + 1)
END;

-- What:    the share of a gamma distribution of scale 1 that lies below a value.
-- Inputs:  shape above 0; log_x: the logarithm of the value, which is at most shape +
--          10 sqrt(shape) + 50.
-- Outputs: P(s, x) = x^s e^-x / Gamma(s + 1) (1 + x / (s + 1) + x^2 / ((s + 1) (s + 2)) + ...);
--          terms behind the last one are below 1e-16 of the largest.
CREATE OR REPLACE MACRO srsql.gamma_share(shape, log_x) AS list_sum(
    list_transform(
        range((24 * sqrt(shape))::BIGINT + 200),
        LAMBDA n: exp((shape + n) * log_x - exp(log_x) - lgamma(shape + n + 1))
    )
);

-- What:    one step of a bisection for the quantile of a gamma distribution of scale 1.
-- Inputs:  ends: STRUCT(low, high), between which its logarithm lies; shape; share.
-- Outputs: ends, half as far from each other.
CREATE OR REPLACE MACRO srsql.gamma_bracket(ends, shape, share) AS
CASE
    WHEN srsql.gamma_share(shape, (ends['low'] + ends['high']) / 2) < share
        THEN struct_pack(low := (ends['low'] + ends['high']) / 2, high := ends['high'])
    ELSE struct_pack(low := ends['low'], high := (ends['low'] + ends['high']) / 2)
END;

-- What:    the quantile of a gamma distribution of scale 1, as a logarithm.
-- Inputs:  shape above 0; share: of the distribution below the quantile, between 0 and 1.
-- Outputs: STRUCT(low, high), equal to 15 digits.
CREATE OR REPLACE MACRO srsql.log_gamma_quantile(shape, share) AS list_reduce( -- noqa: PRS
    list_prepend(
        struct_pack(
            low := (ln(share) + lgamma(shape + 1)) / shape,
            high := ln(shape + 10 * sqrt(shape) + 50)
        ),
        list_transform(range(64), LAMBDA i: struct_pack(low := 0::DOUBLE, high := 0::DOUBLE))
    ),
    LAMBDA ends, step: srsql.gamma_bracket(ends, shape, share)
);

-- What:    the quantile of a gamma distribution of scale 1.
-- Inputs:  shape above 0; share: of the distribution below the quantile, between 0 and 1.
-- Outputs: the quantile, to 10 digits; NULL where an input is NULL.
CREATE OR REPLACE MACRO srsql.gamma_quantile(shape, share) AS
exp(srsql.log_gamma_quantile(shape, share)['high']);

-- What:    the measure of interaction with shrinkage of each table: of expected cases, of those
--          that are known, and between bounds that hold whatever values of the regions are true.
-- Inputs:  tables, as interaction_tables returns them.
-- Outputs: the columns of tables; e111 (cases that would be reported without interaction), omega =
--          log2((n111 + 1/2) / (e111 + 1/2)), omega025 and omega975 (2.5 % and 97.5 % of its
--          posterior, log2 of quantiles of gamma(n111 + 1/2, e111 + 1/2)); e111_known, omega_known
--          and omega025_known; e111_lower, e111_upper, omega_lower, omega_upper, omega025_lower and
--          omega025_upper; signal_omega (omega025 > 0): 'holds', 'does not' or 'undecided'. NULL
--          where nobody has neither drug, or one of them alone.
-- Source:  Noren, Sundberg, Bate and Edwards 2008, with alpha = 1/2.
-- How:     cells are anything between their own bounds. The share without interaction grows with
--          the odds of each drug alone; in those of neither it falls, is level between those of the
--          two drugs, and grows, so that it is least where they come nearest to that level and most
--          at one end. (n111 + 1/2) / ((n111 + n110) g + 1/2) grows with n111 and falls with n110
--          and g; so does the lower limit, since a low quantile of gamma(s) divided by s grows
--          with s.
CREATE OR REPLACE MACRO srsql.interaction_measures(tables) AS TABLE
WITH
odds AS (
    SELECT
        t.*,
        t.n111_lower = t.n111_upper AND t.n110_lower = t.n110_upper
        AND t.n101_lower = t.n101_upper AND t.n100_lower = t.n100_upper
        AND t.n011_lower = t.n011_upper AND t.n010_lower = t.n010_upper
        AND t.n001_lower = t.n001_upper AND t.n000_lower = t.n000_upper AS exact,
        t.n101 + t.n100 > 0 AND t.n011 + t.n010 > 0 AND t.n001 + t.n000 > 0 AS defined,
        t.n101_lower + t.n100_lower > 0 AND t.n011_lower + t.n010_lower > 0
        AND t.n001_lower + t.n000_lower > 0 AS always,
        t.n101_upper + t.n100_upper > 0 AND t.n011_upper + t.n010_upper > 0
        AND t.n001_upper + t.n000_upper > 0 AS ever,
        srsql.reporting_odds(t.n001, t.n000) AS o00,
        srsql.reporting_odds(t.n101, t.n100) AS o10,
        srsql.reporting_odds(t.n011, t.n010) AS o01,
        srsql.reporting_odds(t.n001_lower, t.n000_lower) AS k00,
        srsql.reporting_odds(t.n101_lower, t.n100_lower) AS k10,
        srsql.reporting_odds(t.n011_lower, t.n010_lower) AS k01,
        srsql.reporting_odds(t.n001_lower, t.n000_upper) AS l00,
        srsql.reporting_odds(t.n101_lower, t.n100_upper) AS l10,
        srsql.reporting_odds(t.n011_lower, t.n010_upper) AS l01,
        srsql.reporting_odds(t.n001_upper, t.n000_lower) AS u00,
        srsql.reporting_odds(t.n101_upper, t.n100_lower) AS u10,
        srsql.reporting_odds(t.n011_upper, t.n010_lower) AS u01
    FROM query_table(tables) AS t
),

shares AS (
    SELECT
        o.*,
        CASE
            WHEN o.defined THEN srsql.share_without_interaction(o.o00, o.o10, o.o01)
        END AS g,
        CASE
            WHEN o.always THEN srsql.share_without_interaction(o.k00, o.k10, o.k01)
        END AS g_known,
        CASE
            WHEN o.ever
                THEN srsql.share_without_interaction(
                    least(greatest(o.l00, least(o.l10, o.l01)), o.u00), o.l10, o.l01
                )
        END AS g_least,
        CASE
            WHEN o.ever
                THEN greatest(
                    srsql.share_without_interaction(o.l00, o.u10, o.u01),
                    srsql.share_without_interaction(o.u00, o.u10, o.u01)
                )
        END AS g_most
    FROM odds AS o
),

expected AS (
    SELECT
        s.*,
        (s.n111 + s.n110) * s.g AS e111,
        (s.n111_lower + s.n110_lower) * s.g_known AS e111_known,
        (s.n111_lower + s.n110_lower) * s.g_least AS e111_lower,
        (s.n111_upper + s.n110_upper) * s.g_most AS e111_upper,
        (s.n111_lower + s.n110_upper) * s.g_most AS e_of_least,
        (s.n111_upper + s.n110_lower) * s.g_least AS e_of_most
    FROM shares AS s
),

limits AS (
    SELECT
        e.*,
        log2((e.n111 + 0.5) / (e.e111 + 0.5)) AS omega,
        log2(srsql.gamma_quantile(e.n111 + 0.5, 0.025::DOUBLE) / (e.e111 + 0.5)) AS omega025,
        log2(srsql.gamma_quantile(e.n111 + 0.5, 0.975::DOUBLE) / (e.e111 + 0.5)) AS omega975,
        log2((e.n111_lower + 0.5) / (e.e111_known + 0.5)) AS omega_known,
        log2(
            srsql.gamma_quantile(e.n111_lower + 0.5, 0.025::DOUBLE) / (e.e111_known + 0.5)
        ) AS omega025_known,
        log2((e.n111_lower + 0.5) / (e.e_of_least + 0.5)) AS omega_lower,
        log2((e.n111_upper + 0.5) / (e.e_of_most + 0.5)) AS omega_upper,
        log2(
            srsql.gamma_quantile(e.n111_lower + 0.5, 0.025::DOUBLE) / (e.e_of_least + 0.5)
        ) AS omega025_lower,
        log2(
            srsql.gamma_quantile(e.n111_upper + 0.5, 0.025::DOUBLE) / (e.e_of_most + 0.5)
        ) AS omega025_upper
    FROM expected AS e
)

SELECT
    l.* EXCLUDE (
        exact, defined, always, ever, o00, o10, o01, k00, k10, k01, l00, l10, l01, u00, u10, u01,
        g, g_known, g_least, g_most, e_of_least, e_of_most
    ),
    CASE
        WHEN l.exact THEN if(coalesce(l.omega025 > 0, false), 'holds', 'does not')
        WHEN l.always AND l.omega025_lower > 0 THEN 'holds'
        WHEN NOT l.ever OR l.omega025_upper <= 0 THEN 'does not'
        ELSE 'undecided'
    END AS signal_omega
FROM limits AS l;
