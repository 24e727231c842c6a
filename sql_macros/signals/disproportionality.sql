-- Measures of disproportionate reporting (PRR, ROR, IC, chi-squared) with their intervals of 95 %,
-- and what a release changes of them. Parameters that name tables take their names.

-- What:    disproportionality of each table, with intervals of 95 %. Undefined is NULL: a ratio
--          whose denominator is 0, an interval or logarithm that would divide by 0, the interval
--          of ic where less than one case is expected to have both.
-- Inputs:  tables(a, b, c, d, ...), N = a + b + c + d.
-- Outputs: the columns of tables; prr, ror, ic, each with _low and _high: estimate and z standard
--          deviations, of the logarithm (prr: Katz; ror: Woolf; ic: delta method), and
--          ic = log2(a N / ((a + b) (a + c))); chi2 with the correction of Yates; ic_shrunk =
--          log2((a + 1/2) / (E + 1/2)) with E = (a + b) (a + c) / N, and ic025, ic975; the
--          criteria signal_prr (prr_low > 1), signal_mhra (PRR >= 2, a >= 3, chi2 >= 4), signal_ror
--          (ror_low > 1), signal_ic (ic_low > 0).
-- Source:  Lin 2016, Table 2 (which prints b + c + d for N); Noren, Hopstadius and Bate 2013 for
--          ic_shrunk, ic025, ic975.
CREATE OR REPLACE MACRO srsql.signal_measures(tables) AS TABLE
WITH
totals AS (
    SELECT
        t.*,
        t.a + t.b AS with_drug,
        t.c + t.d AS without_drug,
        t.a + t.c AS with_reaction,
        t.b + t.d AS without_reaction,
        t.a + t.b + t.c + t.d AS everyone
    FROM query_table(tables) AS t
),

points AS (
    SELECT
        s.*,
        s.a * s.without_drug / nullif(s.c * s.with_drug, 0) AS prr,
        s.a * s.d / nullif(s.b * s.c, 0) AS ror,
        log2(nullif(s.a, 0) * s.everyone / (nullif(s.with_drug, 0) * nullif(s.with_reaction, 0)))
            AS ic,
        s.everyone
        * greatest(0, abs(s.a * s.d - s.b * s.c) - s.everyone / 2) ** 2
        / nullif(s.with_drug * s.without_drug * s.with_reaction * s.without_reaction, 0) AS chi2,
        log2((s.a + 0.5) / (s.with_drug * s.with_reaction / nullif(s.everyone, 0) + 0.5))
            AS ic_shrunk,
        1.959963984540054::DOUBLE * sqrt(greatest(
            0,
            1 / nullif(s.a, 0) - 1 / nullif(s.with_drug, 0)
            + 1 / nullif(s.c, 0) - 1 / nullif(s.without_drug, 0)
        )) AS prr_margin,
        1.959963984540054::DOUBLE * sqrt(
            1 / nullif(s.a, 0) + 1 / nullif(s.b, 0) + 1 / nullif(s.c, 0) + 1 / nullif(s.d, 0)
        ) AS ror_margin,
        1.959963984540054::DOUBLE / ln(2) * sqrt(greatest(
            0,
            1 / nullif(s.a, 0) - 1 / nullif(s.with_drug, 0) - 1 / nullif(s.with_reaction, 0)
            + 2 * s.a / (nullif(s.with_drug, 0) * nullif(s.with_reaction, 0))
            - 1 / nullif(s.everyone, 0)
        )) AS ic_margin,
        sqrt(s.a + 0.5) AS root
    FROM totals AS s
),

bounds AS (
    SELECT
        p.*,
        CASE WHEN p.a > 0 AND p.c > 0 THEN p.prr * exp(-p.prr_margin) END AS prr_low,
        CASE WHEN p.a > 0 AND p.c > 0 THEN p.prr * exp(p.prr_margin) END AS prr_high,
        p.ror * exp(-p.ror_margin) AS ror_low,
        p.ror * exp(p.ror_margin) AS ror_high,
        CASE WHEN p.a >= 1 THEN p.ic - p.ic_margin END AS ic_low,
        CASE WHEN p.a >= 1 THEN p.ic + p.ic_margin END AS ic_high,
        p.ic_shrunk - 3.3::DOUBLE / p.root - 2 / p.root ** 3 AS ic025,
        p.ic_shrunk + 2.4::DOUBLE / p.root - 0.5::DOUBLE / p.root ** 3 AS ic975
    FROM points AS p
)

SELECT
    b.* EXCLUDE (
        with_drug, without_drug, with_reaction, without_reaction, everyone,
        prr_margin, ror_margin, ic_margin, root
    ),
    b.prr_low > 1 AS signal_prr,
    b.prr >= 2 AND b.a >= 3 AND b.chi2 >= 4 AS signal_mhra,
    b.ror_low > 1 AS signal_ror,
    b.ic_low > 0 AS signal_ic
FROM bounds AS b;

-- What:    what a release changes: ratios of released to original for a, PRR, ROR and EBGM,
--          differences for the information components; NULL where either is undefined, or the
--          original 0.
-- Inputs:  original and released, of the same pairs, with the columns of signal_measures and of
--          shrunk_measures.
-- Outputs: drug, reaction, a_bias, prr_bias, ror_bias, ebgm_bias, ic_shift, ic_shrunk_shift.
-- Source:  Lin 2016, "Influence on ADR signals"; Wu 2022, section V.D.
CREATE OR REPLACE MACRO srsql.signal_bias(original, released) AS TABLE
SELECT
    o.drug,
    o.reaction,
    r.a / nullif(o.a, 0) AS a_bias,
    r.prr / nullif(o.prr, 0) AS prr_bias,
    r.ror / nullif(o.ror, 0) AS ror_bias,
    r.ebgm / nullif(o.ebgm, 0) AS ebgm_bias,
    r.ic - o.ic AS ic_shift,
    r.ic_shrunk - o.ic_shrunk AS ic_shrunk_shift
FROM query_table(original) AS o
INNER JOIN query_table(released) AS r ON o.drug = r.drug AND o.reaction = r.reaction;

-- What:    how the bias is distributed over the pairs for which it is defined.
-- Inputs:  bias, as signal_bias returns it.
-- Outputs: measure, pairs, least, p05, p25, median, p75, p95, most (interpolated).
CREATE OR REPLACE MACRO srsql.signal_bias_quantiles(bias) AS TABLE
WITH listed AS (
    SELECT
        unnest(
            ['a_bias', 'prr_bias', 'ror_bias', 'ebgm_bias', 'ic_shift', 'ic_shrunk_shift']
        ) AS measure,
        unnest(
            [b.a_bias, b.prr_bias, b.ror_bias, b.ebgm_bias, b.ic_shift, b.ic_shrunk_shift]
        ) AS amount
    FROM query_table(bias) AS b
)

SELECT
    v.measure,
    count(v.amount) AS pairs,
    min(v.amount) AS least,
    quantile_cont(v.amount, 0.05) AS p05,
    quantile_cont(v.amount, 0.25) AS p25,
    quantile_cont(v.amount, 0.5) AS median,
    quantile_cont(v.amount, 0.75) AS p75,
    quantile_cont(v.amount, 0.95) AS p95,
    max(v.amount) AS most
FROM listed AS v
GROUP BY v.measure;
