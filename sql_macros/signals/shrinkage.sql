-- DuMouchel's gamma-Poisson shrinker over all pairs of a drug and a reaction. The prior and the
-- posterior are computed by the UDFs srsql_gps_prior and srsql_ebgm (udfs/shrinkage.py).

-- What:    observed and expected cases of every pair that was reported at least once.
-- Inputs:  weights(case_id, expected); drugs(case_id, drug) and reactions(case_id, reaction), both
--          distinct.
-- Outputs: drug, reaction, n (expected number of cases with both), e = (a + b) (a + c) / N.
-- Source:  DuMouchel 1999; as openEBGM counts, unstratified, without zero counts.
CREATE OR REPLACE MACRO srsql.observed_pairs(weights, drugs, reactions) AS TABLE
WITH
everyone AS (
    SELECT sum(w.expected)::DOUBLE AS cases FROM query_table(weights) AS w
),

on_drug AS (
    SELECT d.drug, sum(w.expected)::DOUBLE AS cases
    FROM query_table(drugs) AS d
    INNER JOIN query_table(weights) AS w ON d.case_id = w.case_id
    GROUP BY d.drug
),

with_reaction AS (
    SELECT r.reaction, sum(w.expected)::DOUBLE AS cases
    FROM query_table(reactions) AS r
    INNER JOIN query_table(weights) AS w ON r.case_id = w.case_id
    GROUP BY r.reaction
),

together AS (
    SELECT d.drug, r.reaction, sum(w.expected)::DOUBLE AS cases
    FROM query_table(drugs) AS d
    INNER JOIN query_table(reactions) AS r ON d.case_id = r.case_id
    INNER JOIN query_table(weights) AS w ON d.case_id = w.case_id
    GROUP BY d.drug, r.reaction
    HAVING sum(w.expected) >= 1
)

SELECT t.drug, t.reaction, t.cases AS n, g.cases * h.cases / a.cases AS e
FROM together AS t
INNER JOIN on_drug AS g ON t.drug = g.drug
INNER JOIN with_reaction AS h ON t.reaction = h.reaction
CROSS JOIN everyone AS a;

-- What:    the pairs squashed: those of almost the same n and e are one point at their mean, since
--          the likelihood has about the same value there. A cell is 1/20 wide in n and 1 % in e.
-- Inputs:  pairs, as observed_pairs returns them.
-- Outputs: n, e, weight (pairs of the point).
-- Source:  DuMouchel and Pregibon 2001 (data squashing).
CREATE OR REPLACE MACRO srsql.squashed_pairs(pairs) AS TABLE
SELECT
    sum(p.n::DECIMAL(38, 12))::DOUBLE / count(*) AS n,
    sum(p.e::DECIMAL(38, 18))::DOUBLE / count(*) AS e,
    count(*) AS weight
FROM query_table(pairs) AS p
GROUP BY round(p.n * 20), floor(ln(p.e) * 100);

-- What:    the prior of largest likelihood, given that every pair was reported: relative rates are
--          drawn from gamma(alpha1, beta1) with the probability p, else from gamma(alpha2, beta2).
-- Inputs:  pairs, as observed_pairs returns them.
-- Outputs: pairs (how many), prior STRUCT(alpha1, beta1, alpha2, beta2, p), the part of the larger
--          mean first; NULL where there are fewer than 50 pairs.
-- Source:  DuMouchel 1999; DuMouchel and Pregibon 2001.
CREATE OR REPLACE MACRO srsql.gps_prior(pairs) AS TABLE
SELECT
    coalesce(sum(s.weight), 0)::BIGINT AS pairs,
    srsql_gps_prior(
        list(s.n ORDER BY s.n, s.e), list(s.e ORDER BY s.n, s.e), list(s.weight ORDER BY s.n, s.e)
    ) AS prior
FROM srsql.squashed_pairs(pairs) AS s;

-- What:    the empirical Bayes geometric mean of each table and the 5 % and 95 % quantiles of its
--          posterior; NULL where nothing is expected, or no prior could be fitted.
-- Inputs:  tables(a, b, c, d, ...); priors: one row, as gps_prior returns it.
-- Outputs: the columns of tables; ebgm, eb05, eb95; the criterion signal_eb05 (eb05 >= 2).
-- Source:  DuMouchel 1999; Szarfman, Machado and O'Neill 2002 for the criterion.
CREATE OR REPLACE MACRO srsql.shrunk_measures(tables, priors) AS TABLE
WITH fitted AS (
    SELECT
        t.*,
        CASE
            WHEN p.prior IS NOT NULL
                THEN srsql_ebgm(
                    t.a, (t.a + t.b) * (t.a + t.c) / nullif(t.a + t.b + t.c + t.d, 0), p.prior
                )
        END AS posterior
    FROM query_table(tables) AS t
    CROSS JOIN query_table(priors) AS p
)

SELECT
    f.* EXCLUDE (posterior),
    f.posterior.ebgm,
    f.posterior.eb05,
    f.posterior.eb95,
    f.posterior.eb05 >= 2 AS signal_eb05
FROM fitted AS f;

-- What:    whether each criterion is met, judged on whole cases and never on a fraction: 'holds'
--          (in every world, which is a table of whole numbers between lower and upper), 'does not'
--          (in none), else 'undecided'; undefined is not met. PRR, a - E and the variances are
--          taken at the ends of the cells that make them least and most, and chi2 = (|a - E| -
--          1/2)^2 (1/E11 + 1/E12 + 1/E21 + 1/E22) at those of its factors: a verdict may be
--          'undecided' although no world differs, and is never wrong. EB05 is judged at the ends of
--          a and of what is expected, under the prior as it was fitted; NULL where there is none.
-- Inputs:  tables(a, b, c, d, x_lower and x_upper of each cell, ...), as shrunk_measures returns
--          them; priors: one row, as gps_prior returns it.
-- Outputs: the columns of tables, signal_prr, signal_mhra, signal_ror, signal_ic and signal_eb05 as
--          verdicts.
-- Source:  SPEC section 14; Lin 2016, Table 2.
CREATE OR REPLACE MACRO srsql.signal_verdicts(tables, priors) AS TABLE
WITH
ends AS (
    SELECT
        t.*,
        t.a_lower = t.a_upper AND t.b_lower = t.b_upper
        AND t.c_lower = t.c_upper AND t.d_lower = t.d_upper AS exact,
        t.a_lower::DOUBLE AS a0,
        t.b_lower::DOUBLE AS b0,
        t.c_lower::DOUBLE AS c0,
        t.d_lower::DOUBLE AS d0,
        t.a_upper::DOUBLE AS a1,
        t.b_upper::DOUBLE AS b1,
        t.c_upper::DOUBLE AS c1,
        t.d_upper::DOUBLE AS d1,
        greatest(t.a_lower, 1)::DOUBLE AS a_one,
        greatest(t.b_lower, 1)::DOUBLE AS b_one,
        greatest(t.c_lower, 1)::DOUBLE AS c_one,
        1.959963984540054::DOUBLE AS z
    FROM query_table(tables) AS t
),

factors AS (
    SELECT
        e.*,
        e.a0 * (e.c1 + e.d0) / nullif(e.c1 * (e.a0 + e.b1), 0) AS prr_least,
        e.a1 * (e.c_one + e.d1) / nullif(e.c_one * (e.a1 + e.b0), 0) AS prr_most,
        (e.a0 * e.d0 - e.b1 * e.c1) / nullif(e.a0 + e.b1 + e.c1 + e.d0, 0) AS excess_least,
        (e.a1 * e.d1 - e.b0 * e.c0) / nullif(e.a1 + e.b0 + e.c0 + e.d1, 0) AS excess_most,
        (e.a0 + e.b0) * (e.a0 + e.c0) / nullif(e.a0 + e.b0 + e.c0 + e.d1, 0) AS e11_least,
        (e.a0 + e.b0) * (e.b0 + e.d0) / nullif(e.a0 + e.b0 + e.c1 + e.d0, 0) AS e12_least,
        (e.c0 + e.d0) * (e.a0 + e.c0) / nullif(e.a0 + e.b1 + e.c0 + e.d0, 0) AS e21_least,
        (e.c0 + e.d0) * (e.b0 + e.d0) / nullif(e.a1 + e.b0 + e.c0 + e.d0, 0) AS e22_least,
        (e.a1 + e.b1) * (e.a1 + e.c1) / nullif(e.a1 + e.b1 + e.c1 + e.d0, 0) AS e11_most,
        (e.a1 + e.b1) * (e.b1 + e.d1) / nullif(e.a1 + e.b1 + e.c0 + e.d1, 0) AS e12_most,
        (e.c1 + e.d1) * (e.a1 + e.c1) / nullif(e.a1 + e.b0 + e.c1 + e.d1, 0) AS e21_most,
        (e.c1 + e.d1) * (e.b1 + e.d1) / nullif(e.a0 + e.b1 + e.c1 + e.d1, 0) AS e22_most
    FROM ends AS e
),

measured AS (
    SELECT
        f.*,
        ln(nullif(f.prr_least, 0)) - f.z * sqrt(
            f.b1 / nullif(f.a0 * (f.a0 + f.b1), 0) + f.d1 / nullif(f.c0 * (f.c0 + f.d1), 0)
        ) AS prr_low_least,
        ln(nullif(f.prr_most, 0)) - f.z * sqrt(
            f.b0 / nullif(f.a1 * (f.a1 + f.b0), 0) + f.d0 / nullif(f.c1 * (f.c1 + f.d0), 0)
        ) AS prr_low_most,
        greatest(0, greatest(f.excess_least, -f.excess_most) - 0.5) ** 2 * (
            1 / nullif(f.e11_most, 0) + 1 / nullif(f.e12_most, 0)
            + 1 / nullif(f.e21_most, 0) + 1 / nullif(f.e22_most, 0)
        ) AS chi2_least,
        greatest(0, greatest(-f.excess_least, f.excess_most) - 0.5) ** 2 * (
            1 / nullif(f.e11_least, 0) + 1 / nullif(f.e12_least, 0)
            + 1 / nullif(f.e21_least, 0) + 1 / nullif(f.e22_least, 0)
        ) AS chi2_most,
        ln(nullif(f.a0 * f.d0 / nullif(f.b1 * f.c1, 0), 0)) - f.z * sqrt(
            1 / nullif(f.a0, 0) + 1 / nullif(f.b0, 0) + 1 / nullif(f.c0, 0) + 1 / nullif(f.d0, 0)
        ) AS ror_low_least,
        ln(nullif(f.a1 * f.d1 / (f.b_one * f.c_one), 0)) - f.z * sqrt(
            1 / nullif(f.a1, 0) + 1 / nullif(f.b1, 0) + 1 / nullif(f.c1, 0) + 1 / nullif(f.d1, 0)
        ) AS ror_low_most,
        ln(nullif(f.a0, 0) / (f.a0 + f.b1) * (1 + (f.b0 + f.d0) / nullif(f.a1 + f.c1, 0)))
        - f.z * sqrt(greatest(
            0,
            1 / nullif(f.a0, 0) - 1 / nullif(f.a1 + f.b1, 0) - 1 / nullif(f.a1 + f.c1, 0)
            + 2 * least(
                f.a1 / nullif((f.a1 + f.b0) * (f.a0 + f.c0), 0),
                f.a1 / nullif((f.a1 + f.c0) * (f.a0 + f.b0), 0)
            )
            - 1 / nullif(f.a1 + f.b1 + f.c1 + f.d1, 0)
        )) AS ic_low_least,
        ln(nullif(f.a1, 0) / (f.a1 + f.b0) * (1 + (f.b1 + f.d1) / (f.a_one + f.c0)))
        - f.z * sqrt(greatest(
            0,
            1 / nullif(f.a1, 0) - 1 / (f.a_one + f.b0) - 1 / (f.a_one + f.c0)
            + 2 * greatest(
                f.a_one / ((f.a_one + f.b1) * nullif(f.a1 + f.c1, 0)),
                f.a_one / ((f.a_one + f.c1) * nullif(f.a1 + f.b1, 0))
            )
            - 1 / (f.a_one + f.b0 + f.c0 + f.d0)
        )) AS ic_low_most,
        CASE
            WHEN NOT f.exact AND p.prior IS NOT NULL
                THEN srsql_ebgm(f.a0, f.e11_most, p.prior).eb05
        END AS eb05_least,
        CASE
            WHEN NOT f.exact AND p.prior IS NOT NULL
                THEN srsql_ebgm(f.a1, f.e11_least, p.prior).eb05
        END AS eb05_most
    FROM factors AS f
    CROSS JOIN query_table(priors) AS p
)

SELECT
    m.* EXCLUDE (
        exact, a0, b0, c0, d0, a1, b1, c1, d1, a_one, b_one, c_one, z, prr_least, prr_most,
        excess_least, excess_most, e11_least, e12_least, e21_least, e22_least, e11_most, e12_most,
        e21_most, e22_most, prr_low_least, prr_low_most, chi2_least, chi2_most, ror_low_least,
        ror_low_most, ic_low_least, ic_low_most, eb05_least, eb05_most
    )
    REPLACE (
        CASE
            WHEN m.exact THEN if(coalesce(m.signal_prr, false), 'holds', 'does not')
            WHEN m.a0 > 0 AND m.c0 > 0 AND m.prr_low_least > 0 THEN 'holds'
            WHEN m.a1 = 0 OR m.c1 = 0 OR m.prr_low_most <= 0 THEN 'does not'
            ELSE 'undecided'
        END AS signal_prr,
        CASE
            WHEN m.exact THEN if(coalesce(m.signal_mhra, false), 'holds', 'does not')
            WHEN m.a0 >= 3 AND m.c0 > 0 AND m.b0 + m.d0 > 0 AND m.prr_least >= 2
                AND m.chi2_least >= 4
                THEN 'holds'
            WHEN m.a1 < 3 OR m.c1 = 0 OR m.b1 + m.d1 = 0 OR m.prr_most < 2 OR m.chi2_most < 4
                THEN 'does not'
            ELSE 'undecided'
        END AS signal_mhra,
        CASE
            WHEN m.exact THEN if(coalesce(m.signal_ror, false), 'holds', 'does not')
            WHEN least(m.a0, m.b0, m.c0, m.d0) > 0 AND m.ror_low_least > 0 THEN 'holds'
            WHEN least(m.a1, m.b1, m.c1, m.d1) = 0 OR m.ror_low_most <= 0 THEN 'does not'
            ELSE 'undecided'
        END AS signal_ror,
        CASE
            WHEN m.exact THEN if(coalesce(m.signal_ic, false), 'holds', 'does not')
            WHEN m.a0 >= 1 AND m.ic_low_least > 0 THEN 'holds'
            WHEN m.a1 < 1 OR m.ic_low_most <= 0 THEN 'does not'
            ELSE 'undecided'
        END AS signal_ic,
        CASE
            WHEN m.signal_eb05 IS NULL AND m.ebgm IS NULL AND m.eb05_most IS NULL THEN NULL
            WHEN m.exact THEN if(m.signal_eb05, 'holds', 'does not')
            WHEN m.eb05_least >= 2 THEN 'holds'
            WHEN m.eb05_most < 2 THEN 'does not'
            ELSE 'undecided'
        END AS signal_eb05
    )
FROM measured AS m;
