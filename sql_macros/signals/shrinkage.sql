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
        srsql_ebgm(
            t.a, (t.a + t.b) * (t.a + t.c) / nullif(t.a + t.b + t.c + t.d, 0), p.prior
        ) AS posterior
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
