-- Time trends of pairs of a drug and a reaction: their tables by period and cumulatively.
-- Parameters that name tables take their names.

-- What:    the 2 x 2 table of each pair in each period, and of all periods up to it.
-- Inputs:  cases(case_id, quarter, until): a row for each state of a case: the period that reports
--          it, and the next period that reports the case anew (NULL: none does); weights(case_id,
--          lower, expected, upper), drugs(case_id, drug) and reactions(case_id, reaction) of these
--          states, the latter both distinct; pairs(drug, reaction), distinct; periods(period,
--          suppressed, suppressed_drugs): so many cases of the period may have any one reaction,
--          and any one drug, beside those that are shown with it.
-- Outputs: drug, reaction, period, span, and the cells as srsql.contingency and
--          srsql.with_suppressed have them. Of span 'period' are the cases that the period reports,
--          as it has them; of span 'cumulative' all cases that it or a period before reports, each
--          once, in its latest state by then. Labels of periods are in the order of time.
-- Source:  Lin 2016, Table 1; docs/decisions.md (D355).
CREATE OR REPLACE MACRO srsql.trend_tables(
    cases, weights, drugs, reactions, pairs, periods
) AS TABLE
WITH
marked AS (
    SELECT
        p.drug,
        p.reaction,
        c.quarter,
        c.until,
        CASE
            WHEN d.case_id IS NOT NULL AND r.case_id IS NOT NULL THEN 'a'
            WHEN d.case_id IS NOT NULL THEN 'b'
            WHEN r.case_id IS NOT NULL THEN 'c'
            ELSE 'd'
        END AS cell,
        w.lower,
        w.expected,
        w.upper
    FROM query_table(pairs) AS p
    CROSS JOIN query_table(cases) AS c
    INNER JOIN query_table(weights) AS w ON c.case_id = w.case_id
    LEFT JOIN query_table(drugs) AS d ON c.case_id = d.case_id AND p.drug = d.drug
    LEFT JOIN query_table(reactions) AS r ON c.case_id = r.case_id AND p.reaction = r.reaction
),

counted AS (
    SELECT
        m.drug,
        m.reaction,
        m.quarter,
        m.until,
        m.cell,
        sum(m.lower) AS lower,
        sum(m.expected) AS expected,
        sum(m.upper) AS upper
    FROM marked AS m
    GROUP BY m.drug, m.reaction, m.quarter, m.until, m.cell
),

spanned AS (
    SELECT
        q.period,
        'period' AS span,
        q.suppressed,
        q.suppressed_drugs
    FROM query_table(periods) AS q
    UNION ALL
    SELECT
        q.period,
        'cumulative' AS span,
        (sum(q.suppressed) OVER (ORDER BY q.period))::BIGINT AS suppressed,
        (sum(q.suppressed_drugs) OVER (ORDER BY q.period))::BIGINT AS suppressed_drugs
    FROM query_table(periods) AS q
),

cells AS (
    SELECT
        p.drug,
        p.reaction,
        s.period,
        s.span,
        s.suppressed,
        s.suppressed_drugs,
        coalesce(sum(c.expected) FILTER (WHERE c.cell = 'a'), 0)::DOUBLE AS a,
        coalesce(sum(c.expected) FILTER (WHERE c.cell = 'b'), 0)::DOUBLE AS b,
        coalesce(sum(c.expected) FILTER (WHERE c.cell = 'c'), 0)::DOUBLE AS c,
        coalesce(sum(c.expected) FILTER (WHERE c.cell = 'd'), 0)::DOUBLE AS d,
        coalesce(sum(c.lower) FILTER (WHERE c.cell = 'a'), 0)::BIGINT AS a_lower,
        coalesce(sum(c.lower) FILTER (WHERE c.cell = 'b'), 0)::BIGINT AS b_lower,
        coalesce(sum(c.lower) FILTER (WHERE c.cell = 'c'), 0)::BIGINT AS c_lower,
        coalesce(sum(c.lower) FILTER (WHERE c.cell = 'd'), 0)::BIGINT AS d_lower,
        coalesce(sum(c.upper) FILTER (WHERE c.cell = 'a'), 0)::BIGINT AS a_upper,
        coalesce(sum(c.upper) FILTER (WHERE c.cell = 'b'), 0)::BIGINT AS b_upper,
        coalesce(sum(c.upper) FILTER (WHERE c.cell = 'c'), 0)::BIGINT AS c_upper,
        coalesce(sum(c.upper) FILTER (WHERE c.cell = 'd'), 0)::BIGINT AS d_upper,
        a_lower AS a_known,
        b_lower AS b_known,
        c_lower AS c_known,
        d_lower AS d_known
    FROM query_table(pairs) AS p
    CROSS JOIN spanned AS s
    LEFT JOIN counted AS c
        ON
            p.drug = c.drug AND p.reaction = c.reaction
            AND CASE
                WHEN s.span = 'period' THEN c.quarter = s.period
                ELSE c.quarter <= s.period AND coalesce(c.until > s.period, true)
            END
    GROUP BY p.drug, p.reaction, s.period, s.span, s.suppressed, s.suppressed_drugs
)

SELECT t.* EXCLUDE (suppressed, suppressed_drugs)
FROM srsql.with_suppressed('cells', suppressed, suppressed_drugs) AS t;
