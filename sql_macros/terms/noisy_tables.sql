-- Count tables with noise (SPEC section 19, R8; decision 53). Cases with the same key are counted,
-- noise is added to every count, and a count below a threshold is not published.
--
-- Claim: two data sets differ in one case. For every set S of outputs of one table, in both
-- directions, P(S of one) <= exp(epsilon) P(S of the other) + delta.
-- Proof. A case adds at most n keys of its own choice to a table, each once: what it adds is a
-- function of the case alone (bounded_items, bounded_pairs), so no other case's keys change. Noise
-- Z of a count is independent, P(Z = z) proportional to a^|z| with a = exp(-1 / scale).
-- Let m <= n of the keys be of other cases, too; their counts differ by 1, so that the chance of an
-- output of these changes by a factor of at most a^-m. The other j <= n - m keys have a count of 1
-- in the larger data set and stand in no output of the smaller one. One of them is published with
-- p = P(1 + Z >= threshold) = a^(threshold - 1) / (1 + a), any of them with at most j p <= delta.
--   larger to smaller: P(S) <= P(S and none of them) + j p <= a^-m P'(S) + delta.
--   smaller to larger: P'(S) <= a^-m P(S and none of them) / (1 - p)^j <= a^-(m + j) P(S), since
--     p <= 1 - a, which the maker asks of a threshold as well.
-- With scale = n / epsilon, a^-(m + j) <= exp(epsilon). Keys of a closed list (strata) need no
-- threshold, and delta is 0. Tables of a release add up; a case stands in one release of a series.
-- Released is what passes check_noisy_law, which refuses a true draw with q <= 3e-12: P(S, passed)
-- is P(S) or less, and P'(S) <= P'(S, passed) + q, which adds (1 + exp(epsilon)) q at most, drawn
-- anew or not.
--
-- Parameters that name tables take their names.

-- What:    the values of every case that are counted: at most so many of an attribute, by a rule
--          that depends on the case alone: those whose text has the lowest digest with its id.
-- Inputs:  held(unit, name, attribute, term), distinct: name is the id of the case; most: values.
-- Outputs: unit, name, attribute, term.
-- Source:  SPEC section 19, R8.
CREATE OR REPLACE MACRO srsql.bounded_items(held, most) AS TABLE
SELECT h.unit, h.name, h.attribute, h.term
FROM query_table(held) AS h
QUALIFY
    row_number() OVER (
        PARTITION BY h.unit, h.attribute
        ORDER BY md5(concat_ws(chr(31), h.name, h.attribute, h.term)), h.term
    ) <= most::BIGINT;

-- What:    the pairs of values of every case that are counted: at most so many of all kinds
--          together, by the same rule.
-- Inputs:  items(unit, name, attribute, term), distinct; kinds(attribute, other): whose pairs are
--          counted; most: pairs.
-- Outputs: unit, attribute, term, other_attribute, other_term.
-- Source:  SPEC section 19, R8.
CREATE OR REPLACE MACRO srsql.bounded_pairs(items, kinds, most) AS TABLE
SELECT
    i.unit,
    i.attribute,
    i.term,
    o.attribute AS other_attribute,
    o.term AS other_term
FROM query_table(items) AS i
INNER JOIN query_table(kinds) AS k ON i.attribute = k.attribute
INNER JOIN query_table(items) AS o ON i.unit = o.unit AND k.other = o.attribute
QUALIFY
    row_number() OVER (
        PARTITION BY i.unit
        ORDER BY
            md5(concat_ws(chr(31), i.name, i.attribute, i.term, o.attribute, o.term)),
            i.attribute,
            i.term,
            o.attribute,
            o.term
    ) <= most::BIGINT;

-- What:    counts with noise, without those below the threshold.
-- Inputs:  cells(cell, units): cell a number; numerator, denominator: of the scale; threshold:
--          NULL: every cell is published; seed: NULL for the secure generator. Pass a
--          value, not a call of a random function.
-- Outputs: cell, cases. Every reading of this macro draws anew: keep the result in a table.
-- Source:  Canonne, Kamath and Steinke 2020 (noise); Rogers 2023 (thresholds); decision 53.
CREATE OR REPLACE MACRO srsql.noisy_counts(cells, numerator, denominator, threshold, seed) AS TABLE
WITH
lists AS (
    SELECT
        coalesce(list(c.cell ORDER BY c.cell), []::BIGINT[]) AS listed,
        coalesce(list(c.units ORDER BY c.cell), []::BIGINT[]) AS units,
        coalesce(list(numerator::BIGINT ORDER BY c.cell), []::BIGINT[]) AS numerators,
        coalesce(list(denominator::BIGINT ORDER BY c.cell), []::BIGINT[]) AS denominators
    FROM query_table(cells) AS c
),

drawn AS (
    SELECT
        unnest(l.listed) AS cell,
        unnest(l.units) AS units,
        unnest(srsql_laplace_noise(l.numerators, l.denominators, seed::BIGINT)) AS noise
    FROM lists AS l
)

SELECT d.cell, (d.units + d.noise)::BIGINT AS cases
FROM drawn AS d
WHERE threshold IS NULL OR d.units + d.noise >= threshold::BIGINT;
