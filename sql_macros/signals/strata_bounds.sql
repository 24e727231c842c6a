-- Between which values measures over strata lie where regions leave open who is in which stratum.
-- Parameters that name tables take their names; see strata.sql for the measures themselves.

-- What:    of each stratum the corner where num - ratio * den is least (sign 1) or greatest (-1).
-- Inputs:  strata: a list over strata of lists of STRUCT(num, den); ratio; sign.
-- Outputs: a list over strata of STRUCT(gap, num, den).
-- Source:  Dinkelbach 1967: the least ratio of sums is where the least num - ratio * den adds to 0.
CREATE OR REPLACE MACRO srsql.extreme_corners(strata, ratio, sign) AS list_transform(
    strata,
    LAMBDA corners: list_min(list_transform(
        corners,
        LAMBDA x: struct_pack(
            gap := sign * (x.num - ratio * x.den), num := x.num, den := x.den
        )
    ))
);

-- What:    the ratio of sums at these corners; the one before where it is 0 by 0.
CREATE OR REPLACE MACRO srsql.ratio_of_sums(corners, before) AS coalesce(
    list_sum(list_transform(corners, LAMBDA x: x.num))
    / nullif(list_sum(list_transform(corners, LAMBDA x: x.den)), 0),
    before
);

-- What:    the least (sign 1) or greatest (-1) ratio of sums over strata, a corner for each, by
--          Dinkelbach's steps, which end at it after a few. (The linter knows no lambda of two
--          parameters.)
-- Inputs:  strata: a list over strata of lists of STRUCT(num, den); first: any ratio among them.
CREATE OR REPLACE MACRO srsql.extreme_ratio(strata, first, sign) AS list_reduce( -- noqa: PRS
    range(16)::DOUBLE[],
    LAMBDA ratio, step: srsql.ratio_of_sums(srsql.extreme_corners(strata, ratio, sign), ratio),
    first
);

-- What:    between which values PRR, ROR and the expected cases over strata lie, whatever whole
--          numbers between their bounds the cells of each stratum are; NULL: no bound on that side,
--          or never defined. PRR is num / den, sums over strata of a (c + d) / N and
--          c (a + b) / N: for any ratio, num - ratio * den falls with b and rises with d, and is
--          least and greatest at an end of a and of c. So its ends are those of some corner of each
--          stratum, which Dinkelbach's steps find; what rounding leaves widens the bound. For ROR
--          the corner is the same for every ratio, for expected cases there is no ratio.
-- Inputs:  tables(drug, reaction, stratum, x_lower and x_upper of each cell, ...).
-- Outputs: drug, reaction, exact (no cell of any stratum has two ends), e_lower, e_upper,
--          prr_lower, prr_upper, ror_lower, ror_upper, and for the criteria prr_low_least,
--          prr_low_most, ror_low_least, ror_low_most: logarithms between which the lower ends of
--          the intervals lie; prr_always and ror_always (the interval is
--          defined in every world), prr_ever and ror_ever (in some).
-- Source:  Dinkelbach 1967 for ratios; the variances of srsql.mantel_haenszel, factor by factor.
CREATE OR REPLACE MACRO srsql.mantel_haenszel_bounds(tables) AS TABLE
WITH
ends AS (
    SELECT
        t.drug,
        t.reaction,
        t.stratum,
        t.a_lower::DOUBLE AS a0,
        t.b_lower::DOUBLE AS b0,
        t.c_lower::DOUBLE AS c0,
        t.d_lower::DOUBLE AS d0,
        t.a_upper::DOUBLE AS a1,
        t.b_upper::DOUBLE AS b1,
        t.c_upper::DOUBLE AS c1,
        t.d_upper::DOUBLE AS d1
    FROM query_table(tables) AS t
),

factors AS (
    SELECT
        e.*,
        e.c0 = 0 AND e.a1 * e.d1 > 0 AS unbounded,
        e.c0 = 0 OR e.a0 + e.b0 = 0 AS none_without,
        coalesce((e.a0 + e.b0) * (e.a0 + e.c0) / nullif(e.a0 + e.b0 + e.c0 + e.d1, 0), 0) AS e_low,
        coalesce((e.a1 + e.b1) * (e.a1 + e.c1) / nullif(e.a1 + e.b1 + e.c1 + e.d0, 0), 0) AS e_high,
        coalesce(e.a0 * e.d0 / nullif(e.a0 + e.b1 + e.c1 + e.d0, 0), 0) AS r0,
        coalesce(e.a1 * e.d1 / nullif(e.a1 + e.b0 + e.c0 + e.d1, 0), 0) AS r1,
        coalesce(e.b0 * e.c0 / nullif(e.a1 + e.b0 + e.c0 + e.d1, 0), 0) AS s0,
        coalesce(e.b1 * e.c1 / nullif(e.a0 + e.b1 + e.c1 + e.d0, 0), 0) AS s1,
        coalesce((e.a0 + e.d0) / nullif(e.a0 + e.b1 + e.c1 + e.d0, 0), 0) AS p0,
        coalesce((e.a1 + e.d1) / nullif(e.a1 + e.b0 + e.c0 + e.d1, 0), 0) AS p1,
        coalesce((e.b0 + e.c0) / nullif(e.a1 + e.b0 + e.c0 + e.d1, 0), 0) AS q0,
        coalesce((e.b1 + e.c1) / nullif(e.a0 + e.b1 + e.c1 + e.d0, 0), 0) AS q1,
        coalesce((e.a0 + e.b0) / nullif(e.a0 + e.b0 + e.c1 + e.d1, 0), 0) AS drug0,
        coalesce((e.a1 + e.b1) / nullif(e.a1 + e.b1 + e.c0 + e.d0, 0), 0) AS drug1,
        coalesce((e.c0 + e.d0) / nullif(e.a1 + e.b1 + e.c0 + e.d0, 0), 0) AS rest0,
        coalesce((e.c1 + e.d1) / nullif(e.a0 + e.b0 + e.c1 + e.d1, 0), 0) AS rest1,
        list_transform(
            [[e.a1, e.c1], [e.a1, e.c0], [e.a0, e.c1], [e.a0, e.c0]],
            LAMBDA x: struct_pack(
                num := coalesce(x[1] * (x[2] + e.d0) / nullif(x[1] + e.b1 + x[2] + e.d0, 0), 0),
                den := coalesce(x[2] * (x[1] + e.b1) / nullif(x[1] + e.b1 + x[2] + e.d0, 0), 0)
            )
        ) AS least_corners,
        list_transform(
            [[e.a1, e.c1], [e.a1, e.c0], [e.a0, e.c1], [e.a0, e.c0]],
            LAMBDA x: struct_pack(
                num := coalesce(x[1] * (x[2] + e.d1) / nullif(x[1] + e.b0 + x[2] + e.d1, 0), 0),
                den := coalesce(x[2] * (x[1] + e.b0) / nullif(x[1] + e.b0 + x[2] + e.d1, 0), 0)
            )
        ) AS most_corners,
        coalesce(e.a0 * (e.c0 + e.d0) / nullif(e.a0 + e.b1 + e.c0 + e.d0, 0), 0) AS num0,
        coalesce(e.a1 * (e.c1 + e.d1) / nullif(e.a1 + e.b0 + e.c1 + e.d1, 0), 0) AS num1,
        coalesce(e.c0 * (e.a0 + e.b0) / nullif(e.a0 + e.b0 + e.c0 + e.d1, 0), 0) AS den0,
        coalesce(e.c1 * (e.a1 + e.b1) / nullif(e.a1 + e.b1 + e.c1 + e.d0, 0), 0) AS den1
    FROM ends AS e
),

sums AS (
    SELECT
        f.drug,
        f.reaction,
        bool_and(f.a0 = f.a1 AND f.b0 = f.b1 AND f.c0 = f.c1 AND f.d0 = f.d1) AS exact,
        bool_or(f.unbounded) AND bool_and(f.none_without) AS unbounded,
        sum(f.e_low::DECIMAL(38, 18))::DOUBLE AS e_lower,
        sum(f.e_high::DECIMAL(38, 18))::DOUBLE AS e_upper,
        sum(f.r0::DECIMAL(38, 18))::DOUBLE AS r0,
        sum(f.r1::DECIMAL(38, 18))::DOUBLE AS r1,
        sum(f.s0::DECIMAL(38, 18))::DOUBLE AS s0,
        sum(f.s1::DECIMAL(38, 18))::DOUBLE AS s1,
        sum((f.p0 * f.r0)::DECIMAL(38, 18))::DOUBLE AS pr0,
        sum((f.p1 * f.r1)::DECIMAL(38, 18))::DOUBLE AS pr1,
        sum((f.p0 * f.s0 + f.q0 * f.r0)::DECIMAL(38, 18))::DOUBLE AS ps_qr0,
        sum((f.p1 * f.s1 + f.q1 * f.r1)::DECIMAL(38, 18))::DOUBLE AS ps_qr1,
        sum((f.q0 * f.s0)::DECIMAL(38, 18))::DOUBLE AS qs0,
        sum((f.q1 * f.s1)::DECIMAL(38, 18))::DOUBLE AS qs1,
        sum((f.r0 * f.drug0 + f.s0 * f.rest0)::DECIMAL(38, 18))::DOUBLE AS spread0,
        sum((f.r1 * f.drug1 + f.s1 * f.rest1)::DECIMAL(38, 18))::DOUBLE AS spread1,
        sum(f.num0::DECIMAL(38, 18))::DOUBLE AS num0,
        sum(f.num1::DECIMAL(38, 18))::DOUBLE AS num1,
        sum(f.den0::DECIMAL(38, 18))::DOUBLE AS den0,
        sum(f.den1::DECIMAL(38, 18))::DOUBLE AS den1,
        list(f.least_corners ORDER BY f.stratum) AS least_corners,
        list(f.most_corners ORDER BY f.stratum) AS most_corners
    FROM factors AS f
    GROUP BY f.drug, f.reaction
),

extremes AS (
    SELECT
        s.*,
        srsql.extreme_ratio(
            s.least_corners,
            srsql.ratio_of_sums(list_transform(s.least_corners, LAMBDA x: x[1]), NULL::DOUBLE),
            1
        ) AS least_ratio,
        CASE
            WHEN NOT s.unbounded
                THEN srsql.extreme_ratio(
                    s.most_corners,
                    srsql.ratio_of_sums(
                        list_transform(s.most_corners, LAMBDA x: x[1]), NULL::DOUBLE
                    ),
                    -1
                )
        END AS most_ratio
    FROM sums AS s
),

left_over AS (
    SELECT
        x.*,
        least(0, list_sum(list_transform(
            srsql.extreme_corners(x.least_corners, x.least_ratio, 1),
            LAMBDA y: y.num - x.least_ratio * y.den
        ))) AS below,
        greatest(0, list_sum(list_transform(
            srsql.extreme_corners(x.most_corners, x.most_ratio, -1),
            LAMBDA y: y.num - x.most_ratio * y.den
        ))) AS above
    FROM extremes AS x
),

ratios AS (
    SELECT
        o.*,
        CASE
            WHEN o.below = 0 THEN o.least_ratio
            ELSE greatest(o.num0 / nullif(o.den1, 0), o.least_ratio + o.below / nullif(o.den0, 0))
        END AS prr_lower,
        CASE
            WHEN o.above = 0 THEN o.most_ratio
            ELSE least(o.num1 / nullif(o.den0, 0), o.most_ratio + o.above / nullif(o.den0, 0))
        END AS prr_upper,
        o.r0 / nullif(o.s1, 0) AS ror_lower,
        o.r1 / nullif(o.s0, 0) AS ror_upper,
        1.959963984540054::DOUBLE AS z
    FROM left_over AS o
)

SELECT
    r.drug,
    r.reaction,
    r.exact,
    r.e_lower,
    r.e_upper,
    r.prr_lower,
    r.prr_upper,
    r.ror_lower,
    r.ror_upper,
    r.num0 > 0 AND r.den0 > 0 AS prr_always,
    r.num1 > 0 AND r.den1 > 0 AS prr_ever,
    ln(nullif(r.prr_lower, 0)) - r.z * sqrt(r.spread1 / nullif(r.num0 * r.den0, 0))
        AS prr_low_least,
    ln(nullif(r.prr_upper, 0)) - r.z * sqrt(r.spread0 / nullif(r.num1 * r.den1, 0))
        AS prr_low_most,
    r.r0 > 0 AND r.s0 > 0 AS ror_always,
    r.r1 > 0 AND r.s1 > 0 AS ror_ever,
    ln(nullif(r.ror_lower, 0)) - r.z * sqrt(
        r.pr1 / nullif(2 * r.r0 ** 2, 0) + r.ps_qr1 / nullif(2 * r.r0 * r.s0, 0)
        + r.qs1 / nullif(2 * r.s0 ** 2, 0)
    ) AS ror_low_least,
    ln(nullif(r.ror_upper, 0)) - r.z * sqrt(
        r.pr0 / nullif(2 * r.r1 ** 2, 0) + r.ps_qr0 / nullif(2 * r.r1 * r.s1, 0)
        + r.qs0 / nullif(2 * r.s1 ** 2, 0)
    ) AS ror_low_most
FROM ratios AS r;

-- What:    what strata make of each pair: Mantel-Haenszel PRR and ROR and stratified EBGM, each of
--          expected cases, of those whose region decides the stratum (known), and the values
--          between which they lie whatever values of the regions are true (lower, upper);
--          criteria are verdicts as those of srsql.signal_verdicts: 'holds' in every world, 'does
--          not' in any,
--          or 'undecided'.
-- Inputs:  tables: as contingency_by_stratum returns them, with stratum 0 for all strata together,
--          whose bounds count a case once; priors: one row, as gps_prior returns it of
--          observed_in_strata, under which EBGM is bounded as it was fitted.
-- Outputs: drug, reaction, strata, n, n_lower, n_known, n_upper, e (and so on), prr with prr_low,
--          prr_high, prr_known, prr_lower, prr_upper, ror likewise, ebgm, eb05, eb95, ebgm_known,
--          ebgm_lower, ebgm_upper; signal_prr (prr_low > 1), signal_ror (ror_low > 1), signal_eb05
--          (eb05 >= 2).
-- Source:  SPEC section 14; DuMouchel 1999; srsql.mantel_haenszel.
CREATE OR REPLACE MACRO srsql.stratified_measures(tables, priors) AS TABLE
WITH
apart AS MATERIALIZED (
    SELECT t.* FROM query_table(tables) AS t
    WHERE t.stratum > 0
),

decided AS MATERIALIZED (
    SELECT
        t.drug,
        t.reaction,
        t.stratum,
        t.a_known::DOUBLE AS a,
        t.b_known::DOUBLE AS b,
        t.c_known::DOUBLE AS c,
        t.d_known::DOUBLE AS d
    FROM apart AS t
),

found AS MATERIALIZED (
    SELECT
        t.drug,
        t.reaction,
        t.a_lower AS n_lower,
        t.a_upper AS n_upper,
        m.strata,
        m.n,
        m.e,
        m.prr,
        m.prr_low,
        m.prr_high,
        m.ror,
        m.ror_low,
        m.ror_high,
        k.n AS n_known,
        k.e AS e_known,
        k.prr AS prr_known,
        k.ror AS ror_known,
        b.* EXCLUDE (drug, reaction),
        p.prior
    FROM query_table(tables) AS t
    INNER JOIN srsql.mantel_haenszel('apart') AS m
        ON t.drug = m.drug AND t.reaction = m.reaction
    INNER JOIN srsql.mantel_haenszel('decided') AS k
        ON t.drug = k.drug AND t.reaction = k.reaction
    INNER JOIN srsql.mantel_haenszel_bounds('apart') AS b
        ON t.drug = b.drug AND t.reaction = b.reaction
    CROSS JOIN query_table(priors) AS p
    WHERE t.stratum = 0
),

shrunk AS (
    SELECT
        f.*,
        srsql_ebgm(f.n, nullif(f.e, 0), f.prior) AS point,
        srsql_ebgm(f.n_known::DOUBLE, nullif(f.e_known, 0), f.prior) AS decided,
        srsql_ebgm(f.n_lower::DOUBLE, nullif(f.e_upper, 0), f.prior) AS least,
        srsql_ebgm(f.n_upper::DOUBLE, nullif(f.e_lower, 0), f.prior) AS most
    FROM found AS f
)

SELECT
    s.drug,
    s.reaction,
    s.strata,
    s.n,
    s.n_lower,
    s.n_known::BIGINT AS n_known,
    s.n_upper,
    s.e,
    s.e_lower,
    s.e_known,
    s.e_upper,
    s.prr,
    s.prr_low,
    s.prr_high,
    s.prr_known,
    s.prr_lower,
    s.prr_upper,
    s.ror,
    s.ror_low,
    s.ror_high,
    s.ror_known,
    s.ror_lower,
    s.ror_upper,
    s.point.ebgm AS ebgm,
    s.point.eb05 AS eb05,
    s.point.eb95 AS eb95,
    s.decided.ebgm AS ebgm_known,
    s.least.ebgm AS ebgm_lower,
    s.most.ebgm AS ebgm_upper,
    CASE
        WHEN s.exact THEN if(coalesce(s.prr_low > 1, false), 'holds', 'does not')
        WHEN s.prr_always AND s.prr_low_least > 0 THEN 'holds'
        WHEN NOT s.prr_ever OR s.prr_low_most <= 0 THEN 'does not'
        ELSE 'undecided'
    END AS signal_prr,
    CASE
        WHEN s.exact THEN if(coalesce(s.ror_low > 1, false), 'holds', 'does not')
        WHEN s.ror_always AND s.ror_low_least > 0 THEN 'holds'
        WHEN NOT s.ror_ever OR s.ror_low_most <= 0 THEN 'does not'
        ELSE 'undecided'
    END AS signal_ror,
    CASE
        WHEN s.point.ebgm IS NULL AND s.most.ebgm IS NULL THEN NULL
        WHEN s.least.eb05 >= 2 THEN 'holds'
        WHEN s.most.eb05 < 2 THEN 'does not'
        ELSE 'undecided'
    END AS signal_eb05
FROM shrunk AS s;
