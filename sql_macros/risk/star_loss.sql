-- Information loss of a release by what each case lost, be it generalized or perturbed.

-- What:    the part of IL* that a number costs: the mean of |x - v| over the published interval,
--          over the span of the domain. Where published ends coincide it is |L - v|, so that IL* is
--          IL+. With the middle m and the width w of the interval the integral is
--          w/4 + (v - m)^2/w inside it and |v - m| outside.
-- Inputs:  own_low, own_high: the original, whose value v is its midpoint; low, high: published;
--          span; all in granules and not NULL.
-- Outputs: a loss; above 1 only for an original outside the domain.
-- Source:  Wu 2022, section V.A (IL*), in closed form; SPEC sections 2 and 10.
CREATE OR REPLACE MACRO srsql.star_number(own_low, own_high, low, high, span) AS
CASE
    WHEN abs(own_low + own_high - low - high) >= high - low
        THEN abs(own_low + own_high - low - high)::DOUBLE / (2 * span)
    ELSE
        (
            (high - low)::DOUBLE
            + (own_low + own_high - low - high)::DOUBLE
            * (own_low + own_high - low - high)
            / (high - low)
        )
        / (4 * span)
END;

-- What:    IL* of every original and published value that some case has: of numbers as star_number,
--          of nodes IL_c; known but released as missing costs 1, missing and released so 0.
-- Inputs:  of_release: a release id.
-- Outputs: position, own_low, own_high, low, high, cases, loss of one case.
-- Source:  Wu 2022, sections IV.C (IL+) and V.A (IL*); SPEC sections 2 and 10.
CREATE OR REPLACE MACRO srsql.star_loss(of_release) AS TABLE
-- srsql.released_qid is written out, and cases that are alike in a group are counted before its
-- region is looked up: two tables of a row for each case and quasi-identifier take twice as long
WITH
held AS (
    SELECT
        m.group_id,
        o.position,
        o.low AS own_low,
        o.high AS own_high,
        p.case_no IS NOT NULL AS drawn,
        p.low,
        p.high,
        count(*) AS cases
    FROM srsql.case_qid AS o
    INNER JOIN srsql.member AS m ON m.release_id = of_release AND o.case_no = m.case_no
    LEFT JOIN srsql.perturbed AS p
        ON p.release_id = of_release AND o.case_no = p.case_no AND o.position = p.position
    WHERE o.release_id = of_release
    GROUP BY ALL
),

occurring AS (
    SELECT
        h.position,
        h.own_low,
        h.own_high,
        CASE WHEN h.drawn THEN h.low ELSE g.low END AS low,
        CASE WHEN h.drawn THEN h.high ELSE g.high END AS high,
        sum(h.cases)::BIGINT AS cases
    FROM held AS h
    INNER JOIN srsql.region AS g
        ON g.release_id = of_release AND h.group_id = g.group_id AND h.position = g.position
    GROUP BY ALL
),

met AS (
    SELECT DISTINCT v.position, v.own_low AS own, v.low AS published FROM occurring AS v
)

SELECT
    v.position,
    v.own_low,
    v.own_high,
    v.low,
    v.high,
    v.cases,
    CASE
        WHEN v.own_low IS NULL AND v.low IS NULL THEN 0
        WHEN v.own_low IS NULL OR v.low IS NULL THEN 1
        WHEN a.kind = 'numeric'
            THEN srsql.star_number(v.own_low, v.own_high, v.low, v.high, a.span)
        ELSE d.apart / d.united
    END::DOUBLE AS loss
FROM occurring AS v
INNER JOIN srsql.attribute AS a ON a.release_id = of_release AND v.position = a.position
LEFT JOIN srsql.node_distance_of(of_release, 'met') AS d
    ON v.position = d.position AND v.own_low = d.own AND v.low = d.published;

-- What:    NIL*: the sum of IL* per case and QID.
-- Inputs:  of_release.
-- Outputs: one uniform row 'nil_star'; violating = sum of IL*(g), total = cases x QIDs; 0 and NULL
--          where the originals are not known. Sums are of decimals: the same for any number of
--          threads.
-- Source:  Wu 2022, section V.A (NIL), over all cases; SPEC section 10.
CREATE OR REPLACE MACRO srsql.star_information_loss(of_release) AS TABLE
WITH
own AS (SELECT of_release AS release_id),

summed AS (
    SELECT
        coalesce(sum((l.cases * l.loss)::DECIMAL(38, 15)), 0)::DOUBLE AS loss,
        coalesce(sum(l.cases), 0)::DOUBLE AS total
    FROM srsql.star_loss(of_release) AS l
)

SELECT unnest(srsql.metric_row(own.release_id, 'nil_star', 'release', s.loss, s.total))
FROM summed AS s
CROSS JOIN own;

-- What:    how many of the numbers that were drawn lie at an end of what they are kept in: noise
--          that is wider than the domain leaves little else.
-- Inputs:  of_release; ends(attribute, low, high): the declared domain of each number, in granules.
-- Outputs: one uniform row per number that was drawn, its name being the scope.
-- Source:  SPEC section 10: results are clamped to the declared domain.
CREATE OR REPLACE MACRO srsql.at_domain_ends(of_release, ends) AS TABLE
WITH counted AS (
    SELECT
        a.attribute,
        count(*) FILTER (WHERE v.low <= e.low OR v.low >= e.high) AS at_ends,
        count(*) AS drawn
    FROM srsql.perturbed AS v
    INNER JOIN srsql.attribute AS a
        ON v.release_id = a.release_id AND v.position = a.position AND a.kind = 'numeric'
    INNER JOIN query_table(ends) AS e ON a.attribute = e.attribute
    WHERE v.release_id = of_release AND v.low IS NOT NULL
    GROUP BY a.attribute
)

SELECT unnest(srsql.metric_row(of_release, 'at_domain_ends', c.attribute, c.at_ends, c.drawn))
FROM counted AS c;
