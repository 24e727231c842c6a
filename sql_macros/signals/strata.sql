-- Measures over strata (sex, age band, period): Mantel-Haenszel PRR and ROR, expected cases summed
-- over strata. Parameters that name tables take their names.

-- What:    tables whose bounds allow for cases that may have any one reaction, or any one drug,
--          although no row shows it. Who lacks the reaction moves from b to a and from d to c, who
--          lacks the drug from c to a and from d to b, who lacks both from d to a; what is known is
--          known without them. Each bound is reached by some originals.
-- Inputs:  tables(a, b, c, d with _lower, _upper and _known, ...); suppressed and
--          suppressed_drugs: so many cases, whole numbers or columns of tables, may have any one
--          reaction, and any one drug, beside those that are shown with it.
-- Outputs: the columns of tables.
CREATE OR REPLACE MACRO srsql.with_suppressed(tables, suppressed, suppressed_drugs) AS TABLE
SELECT c.* REPLACE (
    c.a_upper + least(suppressed, c.b_upper) + least(suppressed_drugs, c.c_upper) + least(
        c.d_upper,
        suppressed - least(suppressed, c.b_upper),
        suppressed_drugs - least(suppressed_drugs, c.c_upper)
    ) AS a_upper,
    greatest(0, c.b_lower - suppressed) AS b_lower,
    greatest(0, c.b_known - suppressed) AS b_known,
    c.b_upper + least(suppressed_drugs, c.d_upper) AS b_upper,
    greatest(0, c.c_lower - suppressed_drugs) AS c_lower,
    greatest(0, c.c_known - suppressed_drugs) AS c_known,
    c.c_upper + least(suppressed, c.d_upper) AS c_upper,
    greatest(0, c.d_lower - suppressed - suppressed_drugs) AS d_lower,
    greatest(0, c.d_known - suppressed - suppressed_drugs) AS d_known
)
FROM query_table(tables) AS c;

-- What:    observed and expected cases of every pair that was reported at least once, both summed
--          over strata.
-- Inputs:  weights(stratum, case_id, expected); drugs(case_id, drug) and
--          reactions(case_id, reaction), both distinct.
-- Outputs: drug, reaction, n, e = the sum of (a + b) (a + c) / N over the strata.
-- Source:  DuMouchel 1999, section 2; as openEBGM counts (processRaw with stratify = TRUE).
CREATE OR REPLACE MACRO srsql.observed_in_strata(weights, drugs, reactions) AS TABLE
WITH
everyone AS (
    SELECT w.stratum, sum(w.expected)::DOUBLE AS cases
    FROM query_table(weights) AS w
    GROUP BY w.stratum
    HAVING sum(w.expected) > 0
),

on_drug AS (
    SELECT w.stratum, d.drug, sum(w.expected)::DOUBLE AS cases
    FROM query_table(drugs) AS d
    INNER JOIN query_table(weights) AS w ON d.case_id = w.case_id
    GROUP BY w.stratum, d.drug
),

with_reaction AS (
    SELECT w.stratum, r.reaction, sum(w.expected)::DOUBLE AS cases
    FROM query_table(reactions) AS r
    INNER JOIN query_table(weights) AS w ON r.case_id = w.case_id
    GROUP BY w.stratum, r.reaction
),

together AS (
    SELECT d.drug, r.reaction, sum(w.expected)::DOUBLE AS cases
    FROM query_table(drugs) AS d
    INNER JOIN query_table(reactions) AS r ON d.case_id = r.case_id
    INNER JOIN query_table(weights) AS w ON d.case_id = w.case_id
    GROUP BY d.drug, r.reaction
    HAVING sum(w.expected) >= 1
)

SELECT
    t.drug,
    t.reaction,
    t.cases AS n,
    sum((g.cases * h.cases / a.cases)::DECIMAL(38, 18))::DOUBLE AS e
FROM together AS t
INNER JOIN on_drug AS g ON t.drug = g.drug
INNER JOIN with_reaction AS h ON t.reaction = h.reaction AND g.stratum = h.stratum
INNER JOIN everyone AS a ON g.stratum = a.stratum
GROUP BY t.drug, t.reaction, t.cases;

-- What:    PRR and ROR over strata after Mantel and Haenszel, with intervals of 95 %, and observed
--          and expected cases summed over strata. Undefined is NULL: a ratio whose denominator is
--          0, an interval that would divide by 0.
-- Inputs:  tables(drug, reaction, stratum, a, b, c, d): a row for each stratum, N = a + b + c + d.
-- Outputs: drug, reaction; strata (in which somebody is counted); n (sum of a); e (sum of
--          (a + b) (a + c) / N); prr = sum(a (c + d) / N) / sum(c (a + b) / N) with prr_low and
--          prr_high by the variance of Greenland and Robins; ror = sum(a d / N) / sum(b c / N) with
--          ror_low and ror_high by the variance of Robins, Breslow and Greenland. Of one stratum
--          these are the intervals of Katz and of Woolf.
-- Source:  Mantel and Haenszel 1959; Greenland and Robins 1985; Robins, Breslow and Greenland 1986.
CREATE OR REPLACE MACRO srsql.mantel_haenszel(tables) AS TABLE
WITH
stratum AS (
    SELECT
        t.drug,
        t.reaction,
        t.a,
        t.b,
        t.c,
        t.d,
        nullif(t.a + t.b + t.c + t.d, 0) AS everyone
    FROM query_table(tables) AS t
),

terms AS (
    SELECT
        s.drug,
        s.reaction,
        s.everyone,
        s.a,
        (s.a + s.b) * (s.a + s.c) / s.everyone AS e,
        s.a * (s.c + s.d) / s.everyone AS with_drug,
        s.c * (s.a + s.b) / s.everyone AS without_drug,
        (s.a * s.d * (s.a + s.b) + s.b * s.c * (s.c + s.d)) / s.everyone ** 2 AS spread,
        s.a * s.d / s.everyone AS concordant,
        s.b * s.c / s.everyone AS discordant,
        (s.a + s.d) / s.everyone AS p,
        (s.b + s.c) / s.everyone AS q
    FROM stratum AS s
),

sums AS (
    SELECT
        t.drug,
        t.reaction,
        count(t.everyone) AS strata,
        sum(t.a::DECIMAL(38, 18))::DOUBLE AS n,
        coalesce(sum(t.e::DECIMAL(38, 18))::DOUBLE, 0) AS e,
        nullif(sum(t.with_drug::DECIMAL(38, 18))::DOUBLE, 0) AS with_drug,
        nullif(sum(t.without_drug::DECIMAL(38, 18))::DOUBLE, 0) AS without_drug,
        sum(t.spread::DECIMAL(38, 18))::DOUBLE AS spread,
        nullif(sum(t.concordant::DECIMAL(38, 18))::DOUBLE, 0) AS concordant,
        nullif(sum(t.discordant::DECIMAL(38, 18))::DOUBLE, 0) AS discordant,
        sum((t.p * t.concordant)::DECIMAL(38, 18))::DOUBLE AS pr,
        sum((t.p * t.discordant + t.q * t.concordant)::DECIMAL(38, 18))::DOUBLE AS ps_qr,
        sum((t.q * t.discordant)::DECIMAL(38, 18))::DOUBLE AS qs
    FROM terms AS t
    GROUP BY t.drug, t.reaction
),

points AS (
    SELECT
        s.*,
        coalesce(s.with_drug, 0) / s.without_drug AS prr,
        coalesce(s.concordant, 0) / s.discordant AS ror,
        1.959963984540054::DOUBLE
        * sqrt(greatest(0, s.spread) / (s.with_drug * s.without_drug)) AS prr_margin,
        1.959963984540054::DOUBLE * sqrt(
            s.pr / (2 * s.concordant ** 2)
            + s.ps_qr / (2 * s.concordant * s.discordant)
            + s.qs / (2 * s.discordant ** 2)
        ) AS ror_margin
    FROM sums AS s
)

SELECT
    p.drug,
    p.reaction,
    p.strata,
    p.n,
    p.e,
    p.prr,
    p.prr * exp(-p.prr_margin) AS prr_low,
    p.prr * exp(p.prr_margin) AS prr_high,
    p.ror,
    p.ror * exp(-p.ror_margin) AS ror_low,
    p.ror * exp(p.ror_margin) AS ror_high
FROM points AS p;
