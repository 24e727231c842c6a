-- What counts with noise tell of pairs, with bounds. Parameters that name tables take their names.

-- What:    every published pair with its count and PRR, and bounds that hold for all four counts of
--          a pair together with a confidence of 95 %. They are of counted values: of each case so
--          many at most.
-- Inputs:  noise(counts, scale, threshold): as released (count_noise); units, items, pairs: the
--          tables of counts (noisy_case_count, noisy_item_count, noisy_pair_count).
-- Outputs: attribute, term, other_attribute, other_term, cases, cases_low, cases_high, prr,
--          prr_low, prr_high. Counts are sums over strata; a stratum in which one is not published
--          adds 0 to the lower bound, and threshold - 1 and the margin to the upper one. prr_high
--          is NULL where there is no bound; prr, too, where an item is not published.
-- Source:  SPEC section 19, R8; decision 53. The margin of a count is the least m for which noise
--          exceeds it, to either side, with a chance of 5 % by four and the number of strata.
CREATE OR REPLACE MACRO srsql.noisy_ratios(noise, units, items, pairs) AS TABLE
WITH
whole AS MATERIALIZED (
    SELECT count(*) AS leaves, sum(u.cases) AS cases FROM query_table(units) AS u
),

scales AS (
    SELECT
        p.counts,
        p.threshold,
        split_part(p.scale, '/', 1)::DOUBLE
        / coalesce(nullif(split_part(p.scale, '/', 2), ''), '1')::DOUBLE AS scale
    FROM query_table(noise) AS p
),

margins AS MATERIALIZED (
    SELECT
        s.counts,
        s.threshold,
        greatest(
            ceil(s.scale * ln(2 * 4 * w.leaves / (0.05 * (1 + exp(-1 / s.scale)))) - 1 + 1e-09), 0
        ) AS margin,
        w.leaves
    FROM scales AS s
    CROSS JOIN whole AS w
),

total AS (
    SELECT w.cases - w.leaves * m.margin AS low, w.cases + w.leaves * m.margin AS high, w.cases
    FROM whole AS w
    INNER JOIN margins AS m ON m.counts = 'noisy_case_count'
),

item AS MATERIALIZED (
    SELECT
        i.attribute,
        i.term,
        sum(i.cases) AS cases,
        greatest(sum(i.cases) - count(*) * any_value(m.margin), 0) AS low,
        sum(i.cases) + any_value(m.leaves * m.margin)
        + (any_value(m.leaves) - count(*)) * any_value(m.threshold - 1) AS high
    FROM query_table(items) AS i
    INNER JOIN margins AS m ON m.counts = 'noisy_item_count'
    GROUP BY i.attribute, i.term
),

pair AS (
    SELECT
        p.attribute,
        p.term,
        p.other_attribute,
        p.other_term,
        sum(p.cases) AS cases,
        greatest(sum(p.cases) - count(*) * any_value(m.margin), 0) AS low,
        sum(p.cases) + any_value(m.leaves * m.margin)
        + (any_value(m.leaves) - count(*)) * any_value(m.threshold - 1) AS high
    FROM query_table(pairs) AS p
    INNER JOIN margins AS m ON m.counts = 'noisy_pair_count'
    GROUP BY p.attribute, p.term, p.other_attribute, p.other_term
),

bounded AS (
    SELECT
        p.*,
        x.cases AS x_cases,
        s.cases AS s_cases,
        coalesce(x.low, 0) AS x_low,
        coalesce(s.low, 0) AS s_low,
        coalesce(x.high, m.leaves * (m.threshold - 1 + m.margin)) AS x_high,
        coalesce(s.high, m.leaves * (m.threshold - 1 + m.margin)) AS s_high,
        t.low AS n_low,
        t.high AS n_high,
        t.cases AS n_cases
    FROM pair AS p
    LEFT JOIN item AS x ON p.attribute = x.attribute AND p.term = x.term
    LEFT JOIN item AS s ON p.other_attribute = s.attribute AND p.other_term = s.term
    INNER JOIN margins AS m ON m.counts = 'noisy_item_count'
    CROSS JOIN total AS t
)

SELECT
    b.attribute,
    b.term,
    b.other_attribute,
    b.other_term,
    b.cases::BIGINT AS cases,
    b.low::BIGINT AS cases_low,
    b.high::BIGINT AS cases_high,
    CASE
        WHEN b.s_cases > b.cases AND b.x_cases > 0
            THEN b.cases * (b.n_cases - b.x_cases) / (b.x_cases * (b.s_cases - b.cases))
    END AS prr,
    CASE
        WHEN b.s_high > b.low AND b.x_high > 0
            THEN
                b.low * greatest(b.n_low - b.x_high, 0)
                / (b.x_high * (b.s_high - b.low))
        ELSE 0
    END AS prr_low,
    CASE
        WHEN b.s_low > b.high AND b.x_low > 0
            THEN b.high * (b.n_high - b.x_low) / (b.x_low * (b.s_low - b.high))
    END AS prr_high
FROM bounded AS b;
