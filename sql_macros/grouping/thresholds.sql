-- Thresholds theta and whether they can be met (SPEC section 6).

-- What:    the frequency policy: the most frequent tenth of the distinct values gets theta = 1, the
--          least frequent tenth 0.2, the rest 0.4. The tenths are rounded to the safe side: the
--          unprotected one down, the strict one up. Order by case count, ties by the value's text.
-- Inputs:  term_cases(term_no, term, cases).
-- Outputs: term_no, theta_num, theta_den.
-- Source:  Lin 2016, "frequency-based strategy".
CREATE OR REPLACE MACRO srsql.theta_frequency(term_cases) AS TABLE
WITH ranked AS (
    SELECT
        t.term_no,
        row_number() OVER (ORDER BY t.cases DESC, t.term ASC) AS place,
        count(*) OVER () AS total
    FROM query_table(term_cases) AS t
)

SELECT
    r.term_no,
    CASE
        WHEN r.place <= r.total // 10 THEN 1
        WHEN r.place > r.total - (r.total + 9) // 10 THEN 1
        ELSE 2
    END::BIGINT AS theta_num,
    CASE
        WHEN r.place <= r.total // 10 THEN 1
        ELSE 5
    END::BIGINT AS theta_den
FROM ranked AS r;

-- What:    values that no grouping can keep below theta, since the cases together do not:
--          sum of p(r, s) > theta_s x carriers; theta = 1 bounds nothing.
-- Inputs:  case_terms(case_no, term_no, weight); thresholds(term_no, theta_num, theta_den);
--          present(case_no, carrier): the cases, and which of them carry the bound; unit: the
--          weight of a certain value.
-- Outputs: term_no, weight (sum, in 1 / unit), cases (that hold it), total (carriers), exact.
-- Source:  Lin 2016, after Definition 3 (theta_i >= P(s_i)); SPEC section 6.
CREATE OR REPLACE MACRO srsql.infeasible(case_terms, thresholds, present, unit) AS TABLE
WITH
total AS (
    SELECT count(*) FILTER (WHERE p.carrier) AS cases FROM query_table(present) AS p
),

held AS (
    SELECT
        t.term_no,
        sum(t.weight::HUGEINT) AS weight,
        count(*) AS cases
    FROM query_table(case_terms) AS t
    SEMI JOIN query_table(present) AS p ON t.case_no = p.case_no
    GROUP BY t.term_no
)

SELECT
    h.term_no,
    h.weight,
    h.cases,
    total.cases AS total
FROM held AS h
INNER JOIN query_table(thresholds) AS q ON h.term_no = q.term_no
CROSS JOIN total
WHERE
    q.theta_num < q.theta_den
    AND h.weight * q.theta_den > q.theta_num::HUGEINT * total.cases * unit;

-- What:    the cases to withhold so that every threshold can be met: greedy by the number of
--          infeasible values held, then least case number; none of them could come back alone.
-- Inputs:  profiles(case_no, carrier); case_terms(case_no, term_no, weight); thresholds(term_no
--          dense from 0, theta_num, theta_den); unit: the weight of a certain value.
-- Outputs: case_no.
-- Source:  SPEC section 6 (--on-infeasible withhold).
CREATE OR REPLACE MACRO srsql.withhold_infeasible(profiles, case_terms, thresholds, unit) AS TABLE
WITH
theta AS (
    SELECT
        coalesce(list(q.theta_num ORDER BY q.term_no), []::BIGINT[]) AS num,
        coalesce(list(q.theta_den ORDER BY q.term_no), []::BIGINT[]) AS den
    FROM query_table(thresholds) AS q
),

cases AS (
    SELECT
        list(p.case_no ORDER BY p.case_no) AS case_nos,
        list(p.carrier ORDER BY p.case_no) AS carriers
    FROM query_table(profiles) AS p
),

held AS (
    SELECT coalesce(list(struct_pack(
        case_no := t.case_no, term_no := t.term_no, weight := t.weight
    )), []) AS terms
    FROM query_table(case_terms) AS t
    SEMI JOIN query_table(profiles) AS p ON t.case_no = p.case_no
),

verdicts AS (
    SELECT
        unnest(c.case_nos) AS case_no,
        unnest(srsql_withhold_infeasible(
            c.case_nos, c.carriers, h.terms, t.num, t.den, unit::BIGINT
        )) AS withheld
    FROM cases AS c
    CROSS JOIN held AS h
    CROSS JOIN theta AS t
    WHERE len(c.case_nos) > 0
)

SELECT v.case_no FROM verdicts AS v WHERE v.withheld;
