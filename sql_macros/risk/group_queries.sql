-- The analyst's queries of Lee 2020 on rows whose ages are intervals. Parameters that name tables
-- take their names.

-- What:    how many records each age group has, and the mean of an amount (Q1 to Q4).
-- Inputs:  shown(low, high, share, amount): the rows asked for: bounds of the age (NULL: not told),
--          the share of the row that fits the other conditions (1: surely, below 1: it is
--          generalized above what was asked for), an amount (the middle of an interval; NULL where
--          none is asked for); width: of the groups, 5 in the paper; domain_low, domain_high: the
--          least and the greatest age that there may be, NULL where nobody declares them.
-- Outputs: age_group (its first age); lower: rows that surely belong to it; expected: an age spread
--          evenly over its years, as the paper's Tables 9 and 10 have it, one that is not told over
--          the domain, of which "*" may be any value; upper: rows that may belong to it;
--          mean_amount, weighted by what is expected. Groups in which nothing is
--          expected are left out; without a domain, so are rows that tell no age.
-- Source:  Lee 2020, "Real-world analysis"; lower and upper as SPEC section 14.
CREATE OR REPLACE MACRO srsql.age_groups(shown, width, domain_low, domain_high) AS TABLE
WITH
fits AS (
    SELECT
        coalesce(s.low, domain_low) AS low,
        coalesce(s.high, domain_high) AS high,
        s.share,
        s.amount
    FROM query_table(shown) AS s
    WHERE s.share > 0
),

known AS (
    SELECT f.low, f.high, f.share, f.amount FROM fits AS f WHERE f.low IS NOT NULL
),

hidden AS (
    SELECT count(*) AS row_count FROM fits AS f WHERE f.low IS NULL
),

parts AS (
    SELECT
        k.low,
        k.high,
        k.share,
        k.amount,
        unnest(range((k.low // width)::BIGINT, (k.high // width)::BIGINT + 1)) * width AS age_group
    FROM known AS k
),

weighed AS (
    SELECT
        p.age_group,
        p.amount,
        p.share = 1 AND p.low >= p.age_group AND p.high < p.age_group + width AS sure,
        p.share
        * (least(p.high, p.age_group + width - 1) - greatest(p.low, p.age_group) + 1)
        / (p.high - p.low + 1) AS weight
    FROM parts AS p
)

SELECT
    w.age_group,
    count_if(w.sure) AS lower,
    fsum(w.weight) AS expected,
    count(*) + any_value(h.row_count) AS upper,
    fsum(w.weight * w.amount) / nullif(fsum(w.weight) FILTER (WHERE w.amount IS NOT NULL), 0)
        AS mean_amount
FROM weighed AS w
CROSS JOIN hidden AS h
GROUP BY w.age_group
ORDER BY w.age_group;
