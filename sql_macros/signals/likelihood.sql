-- The likelihood-ratio test of a drug over all reactions. Its null distribution is drawn by
-- engine/signals/likelihood.py. Parameters that name tables take their names.

-- What:    how often a drug is reported with each reaction, and the totals of the table of all
--          drugs and reactions; a case counts in each pair of one of its drugs and its reactions.
-- Inputs:  weights(case_id, lower): cases with 1 count, those with 0 do not; drugs(case_id, drug)
--          and reactions(case_id, reaction), both distinct; wanted(drug), distinct.
-- Outputs: drug, reaction (every one that anybody has), n (with both), n_reaction (the row's
--          total), n_drug (the column's), n_all.
-- Source:  Huang, Zalkikar and Tiwari 2011.
CREATE OR REPLACE MACRO srsql.likelihood_counts(weights, drugs, reactions, wanted) AS TABLE
WITH
on_drugs AS (
    SELECT d.case_id, count(*) AS drugs
    FROM query_table(drugs) AS d
    SEMI JOIN query_table(weights) AS w ON d.case_id = w.case_id AND w.lower > 0
    GROUP BY d.case_id
),

with_reactions AS (
    SELECT r.case_id, count(*) AS reactions
    FROM query_table(reactions) AS r
    SEMI JOIN query_table(weights) AS w ON r.case_id = w.case_id AND w.lower > 0
    GROUP BY r.case_id
),

everything AS (
    SELECT coalesce(sum(d.drugs * r.reactions), 0)::BIGINT AS n_all
    FROM on_drugs AS d
    INNER JOIN with_reactions AS r ON d.case_id = r.case_id
),

of_reaction AS (
    SELECT r.reaction, sum(d.drugs)::BIGINT AS n_reaction
    FROM query_table(reactions) AS r
    INNER JOIN on_drugs AS d ON r.case_id = d.case_id
    GROUP BY r.reaction
),

of_drug AS (
    SELECT w.drug, coalesce(sum(r.reactions), 0)::BIGINT AS n_drug
    FROM query_table(wanted) AS w
    LEFT JOIN query_table(drugs) AS d ON w.drug = d.drug
    LEFT JOIN with_reactions AS r ON d.case_id = r.case_id
    GROUP BY w.drug
),

together AS (
    SELECT w.drug, r.reaction, count(*) AS n
    FROM query_table(wanted) AS w
    INNER JOIN query_table(drugs) AS d ON w.drug = d.drug
    INNER JOIN query_table(reactions) AS r ON d.case_id = r.case_id
    SEMI JOIN with_reactions AS c ON r.case_id = c.case_id
    GROUP BY w.drug, r.reaction
)

SELECT
    g.drug,
    h.reaction,
    coalesce(t.n, 0) AS n,
    h.n_reaction,
    g.n_drug,
    a.n_all
FROM of_drug AS g
CROSS JOIN of_reaction AS h
CROSS JOIN everything AS a
LEFT JOIN together AS t ON g.drug = t.drug AND h.reaction = t.reaction;

-- What:    the logarithm of each likelihood ratio: that the drug is reported with the reaction at a
--          rate of its own, and not at the one of all drugs.
-- Inputs:  counts(n, n_reaction, n_drug, n_all, ...), as likelihood_counts returns them.
-- Outputs: the columns of counts; expected = n_reaction n_drug / n_all; log_lr = n ln(n /
--          n_reaction) + (n_drug - n) ln((n_drug - n) / (n_all - n_reaction)) - n_drug ln(n_drug /
--          n_all), 0 ln 0 = 0; 0 where the drug is reported with the reaction no more often than
--          with others; log_lr_poisson = n ln(n / expected) - (n - expected), or 0: the same where
--          the expected count is taken for known, as the R package pvLRT has it.
-- Source:  Huang, Zalkikar and Tiwari 2011; Chakraborty, Markatou and Ball 2023.
CREATE OR REPLACE MACRO srsql.likelihood_ratios(counts) AS TABLE
SELECT
    c.*,
    c.n_reaction::DOUBLE * c.n_drug / nullif(c.n_all, 0) AS expected,
    CASE
        WHEN c.n::DOUBLE * (c.n_all - c.n_reaction) <= (c.n_drug - c.n)::DOUBLE * c.n_reaction
            THEN 0
        ELSE
            c.n * ln(c.n::DOUBLE / c.n_reaction)
            + CASE
                WHEN c.n_drug > c.n
                    THEN
                        (c.n_drug - c.n)
                        * ln((c.n_drug - c.n)::DOUBLE / (c.n_all - c.n_reaction))
                ELSE 0
            END
            - c.n_drug * ln(c.n_drug::DOUBLE / c.n_all)
    END AS log_lr,
    CASE
        WHEN c.n::DOUBLE * c.n_all <= c.n_reaction::DOUBLE * c.n_drug THEN 0
        ELSE
            c.n * ln(c.n::DOUBLE * c.n_all / (c.n_reaction::DOUBLE * c.n_drug))
            - (c.n - c.n_reaction::DOUBLE * c.n_drug / c.n_all)
    END AS log_lr_poisson
FROM query_table(counts) AS c;
