-- The temporary tables of one call of `srsql signals`, in the order in which they are made. Tables
-- of one side (the originals or what was released of them) are named without it: srsql_case stands
-- for srsql_signal_original_case or srsql_signal_released_case.

-- name: observed_domain
-- What the regions of one quasi-identifier span.
SELECT coalesce(min(b.low), 0) AS low, coalesce(max(b.high), 0) AS high
FROM temp.main.srsql_box AS b
WHERE b.position = $position;

-- name: observed_domain_of_latest
-- The same where a case stands in each of its states: that of the latest ones.
SELECT coalesce(min(b.low), 0) AS low, coalesce(max(b.high), 0) AS high
FROM temp.main.srsql_box AS b
INNER JOIN temp.main.srsql_case AS c ON b.case_id = c.case_id
WHERE b.position = $position AND c.until IS NULL;

-- name: weight
-- How far each case of a side meets the condition.
-- Inputs: lists of the same length, an item for each quasi-identifier that the condition restricts;
-- $exclude: whether cases are left out of which one of those is missing.
CREATE OR REPLACE TEMP TABLE temp.main.srsql_weight AS
WITH condition AS MATERIALIZED (
    SELECT
        unnest($positions::BIGINT[]) AS position,
        unnest($lows::BIGINT[]) AS low,
        unnest($highs::BIGINT[]) AS high,
        unnest($domain_lows::BIGINT[]) AS domain_low,
        unnest($domain_highs::BIGINT[]) AS domain_high
)

SELECT w.* EXCLUDE (missing)
FROM srsql.signal_weights('temp.main.srsql_case', 'temp.main.srsql_box', 'condition') AS w
WHERE NOT ($exclude::BOOLEAN AND w.missing);

-- name: prior
-- The prior of the gamma-Poisson shrinker that all pairs of a side have: the fields of Shrinkage
-- after its condition and its side.
WITH
observed AS MATERIALIZED (
    SELECT o.*
    FROM srsql.observed_pairs(
        'temp.main.srsql_weight', 'temp.main.srsql_drug', 'temp.main.srsql_reaction'
    ) AS o
),

prior AS MATERIALIZED (
    SELECT p.* FROM srsql.gps_prior('observed') AS p
)

SELECT
    p.pairs,
    p.prior.alpha1,
    p.prior.beta1,
    p.prior.alpha2,
    p.prior.beta2,
    p.prior.p
FROM prior AS p;

-- name: pair_of_cases
-- The pairs that surely, or else may, occur together in enough cases of a side.
CREATE OR REPLACE TEMP TABLE temp.main.srsql_signal_pair AS
SELECT p.drug, p.reaction
FROM srsql.signal_pairs(
    'temp.main.srsql_weight', 'temp.main.srsql_drug', 'temp.main.srsql_reaction', $enough
) AS p
WHERE p.surely OR NOT $surely::BOOLEAN;

-- name: contingency
-- The 2 x 2 table of each wanted pair on a side.
CREATE OR REPLACE TEMP TABLE temp.main.srsql_contingency AS
WITH pair AS MATERIALIZED (
    SELECT DISTINCT p.drug, p.reaction FROM temp.main.srsql_signal_pair AS p
)

SELECT c.*
FROM srsql.contingency(
    'temp.main.srsql_weight', 'temp.main.srsql_drug', 'temp.main.srsql_reaction', 'pair'
) AS c;

-- name: measure
-- The 2 x 2 table of each pair on a side, with PRR, ROR, IC and their intervals, and with EBGM by
-- the prior of these parameters, and what the criteria say; $alpha1 is NULL where none could
-- be fitted. So many cases may have any one reaction ($suppressed), or any one drug
-- ($suppressed_drugs), although no row shows it: what is known is known without them.
CREATE OR REPLACE TEMP TABLE temp.main.srsql_measure AS
WITH
contingency AS MATERIALIZED (
    SELECT c.*
    FROM srsql.with_suppressed(
        'temp.main.srsql_contingency', $suppressed::BIGINT, $suppressed_drugs::BIGINT
    ) AS c
),

ratio AS MATERIALIZED (
    SELECT r.* FROM srsql.signal_measures('contingency') AS r
),

prior AS MATERIALIZED (
    SELECT
        CASE
            WHEN $alpha1::DOUBLE IS NOT NULL
                THEN struct_pack(
                    alpha1 := $alpha1::DOUBLE,
                    beta1 := $beta1::DOUBLE,
                    alpha2 := $alpha2::DOUBLE,
                    beta2 := $beta2::DOUBLE,
                    p := $p::DOUBLE
                )
        END AS prior
),

shrunk AS MATERIALIZED (
    SELECT m.* FROM srsql.shrunk_measures('ratio', 'prior') AS m
)

SELECT v.* FROM srsql.signal_verdicts('shrunk', 'prior') AS v;

-- name: measure_of_clusters
-- Where drugs and reactions are told of clusters, cells are means, of which no sample was drawn: in
-- the place of intervals PRR and ROR have the ends that the ends of the cells give, NULL where one
-- divides by 0, and what would be an interval of another measure has none.
CREATE OR REPLACE TEMP TABLE temp.main.srsql_measure AS
SELECT
    m.* REPLACE (
        m.a_lower * (m.c_upper + m.d_lower) / nullif((m.a_lower + m.b_upper) * m.c_upper, 0)
            AS prr_low,
        m.a_upper * (m.c_lower + m.d_upper) / nullif((m.a_upper + m.b_lower) * m.c_lower, 0)
            AS prr_high,
        m.a_lower * m.d_lower / nullif(m.b_upper * m.c_upper, 0) AS ror_low,
        m.a_upper * m.d_upper / nullif(m.b_lower * m.c_lower, 0) AS ror_high,
        NULL::DOUBLE AS ic_low,
        NULL::DOUBLE AS ic_high,
        NULL::DOUBLE AS ic025,
        NULL::DOUBLE AS ic975,
        NULL::DOUBLE AS eb95
    )
FROM temp.main.srsql_measure AS m;

-- name: stratum_weights
-- How far each case meets the conditions of each stratum; filled stratum by stratum. All of them
-- together (0) and the first one are there even if nobody is in them, so that pairs have tables.
CREATE OR REPLACE TEMP TABLE temp.main.srsql_stratum_weight AS
SELECT 0::INTEGER AS stratum, w.*
FROM temp.main.srsql_weight AS w
WHERE false
UNION ALL BY NAME
SELECT
    unnest([0, 1])::INTEGER AS stratum,
    0::BIGINT AS lower,
    0::DECIMAL(18, 12) AS expected,
    0::BIGINT AS upper;

-- name: stratum_weight
-- Who may be in one stratum. Inputs as of weight; $quarter: only cases whose latest quarter it is.
INSERT INTO temp.main.srsql_stratum_weight
WITH
condition AS MATERIALIZED (
    SELECT
        unnest($positions::BIGINT[]) AS position,
        unnest($lows::BIGINT[]) AS low,
        unnest($highs::BIGINT[]) AS high,
        unnest($domain_lows::BIGINT[]) AS domain_low,
        unnest($domain_highs::BIGINT[]) AS domain_high
),

listed AS MATERIALIZED (
    SELECT c.case_id
    FROM temp.main.srsql_case AS c
    WHERE $quarter::VARCHAR IS NULL OR c.quarter = $quarter::VARCHAR
)

SELECT $stratum::INTEGER AS stratum, w.* EXCLUDE (missing)
FROM srsql.signal_weights('listed', 'temp.main.srsql_box', 'condition') AS w
WHERE w.upper > 0 AND NOT ($exclude::BOOLEAN AND w.missing);

-- name: stratum_prior
-- The prior that all pairs of a side have over strata; as prior.
WITH
weight AS MATERIALIZED (
    SELECT w.* FROM temp.main.srsql_stratum_weight AS w
    WHERE w.stratum > 0
),

observed AS MATERIALIZED (
    SELECT o.*
    FROM srsql.observed_in_strata(
        'weight', 'temp.main.srsql_drug', 'temp.main.srsql_reaction'
    ) AS o
),

prior AS MATERIALIZED (
    SELECT p.* FROM srsql.gps_prior('observed') AS p
)

SELECT
    p.pairs,
    p.prior.alpha1,
    p.prior.beta1,
    p.prior.alpha2,
    p.prior.beta2,
    p.prior.p
FROM prior AS p;

-- name: stratified
-- What strata make of each wanted pair on a side; $alpha1 and what is suppressed as of measure.
CREATE OR REPLACE TEMP TABLE temp.main.srsql_stratified AS
WITH
pair AS MATERIALIZED (
    SELECT DISTINCT p.drug, p.reaction FROM temp.main.srsql_signal_pair AS p
),

shown AS MATERIALIZED (
    SELECT c.*
    FROM srsql.contingency_by_stratum(
        'temp.main.srsql_stratum_weight', 'temp.main.srsql_drug', 'temp.main.srsql_reaction',
        'pair'
    ) AS c
),

contingency AS MATERIALIZED (
    SELECT c.*
    FROM srsql.with_suppressed(
        'shown', $suppressed::BIGINT, $suppressed_drugs::BIGINT
    ) AS c
),

prior AS MATERIALIZED (
    SELECT
        CASE
            WHEN $alpha1::DOUBLE IS NOT NULL
                THEN struct_pack(
                    alpha1 := $alpha1::DOUBLE,
                    beta1 := $beta1::DOUBLE,
                    alpha2 := $alpha2::DOUBLE,
                    beta2 := $beta2::DOUBLE,
                    p := $p::DOUBLE
                )
        END AS prior
)

SELECT s.* FROM srsql.stratified_measures('contingency', 'prior') AS s;

-- name: masked
-- The cases of a dominant drug or reaction, which are left out.
CREATE OR REPLACE TEMP TABLE temp.main.srsql_masked AS
SELECT d.case_id
FROM temp.main.srsql_drug AS d
WHERE d.drug = $drug::VARCHAR
UNION
SELECT r.case_id
FROM temp.main.srsql_reaction AS r
WHERE r.reaction = $reaction::VARCHAR;

-- name: case_left
-- The cases of a side without them, their drugs and their reactions.
CREATE OR REPLACE TEMP TABLE temp.main.srsql_case AS
SELECT c.*
FROM temp.main.srsql_case AS c
ANTI JOIN temp.main.srsql_masked AS m ON c.case_id = m.case_id;

-- name: drug_left
CREATE OR REPLACE TEMP TABLE temp.main.srsql_drug AS
SELECT d.*
FROM temp.main.srsql_drug AS d
ANTI JOIN temp.main.srsql_masked AS m ON d.case_id = m.case_id;

-- name: reaction_left
CREATE OR REPLACE TEMP TABLE temp.main.srsql_reaction AS
SELECT r.*
FROM temp.main.srsql_reaction AS r
ANTI JOIN temp.main.srsql_masked AS m ON r.case_id = m.case_id;

-- name: no_indication
-- Reactions that are no indication of the same case.
CREATE OR REPLACE TEMP TABLE temp.main.srsql_reaction AS
SELECT r.*
FROM temp.main.srsql_reaction AS r
ANTI JOIN temp.main.srsql_indication AS i
    ON r.case_id = i.case_id AND r.reaction = i.indication;

-- name: item_mean
-- Of how many records of its cluster an item without a count is told on average, and at most
-- (NULL: of all of them).
CREATE OR REPLACE TEMP TABLE temp.main.srsql_item_mean AS
SELECT
    unnest($sides::VARCHAR[]) AS side,
    unnest($means::DOUBLE[]) AS mean,
    unnest($mosts::BIGINT[]) AS most;

-- name: crowd
-- How many records of each cluster meet the condition, where whole rows are taken apart.
CREATE OR REPLACE TEMP TABLE temp.main.srsql_crowd AS
SELECT w.*
FROM srsql.cluster_weights(
    'temp.main.srsql_weight', 'temp.main.srsql_place', 'temp.main.srsql_cluster_size'
) AS w;

-- name: margin
-- How many of these records hold each drug and each reaction.
CREATE OR REPLACE TEMP TABLE temp.main.srsql_margin AS
SELECT m.*
FROM srsql.term_margins(
    'temp.main.srsql_crowd', 'temp.main.srsql_holding', 'temp.main.srsql_item_mean'
) AS m;

-- name: observed
-- How often each drug is expected with each reaction.
CREATE OR REPLACE TEMP TABLE temp.main.srsql_observed AS
SELECT o.*
FROM srsql.expected_pairs(
    'temp.main.srsql_margin', 'temp.main.srsql_crowd', 'temp.main.srsql_holding'
) AS o;

-- name: observed_prior
-- The prior that these pairs have, of those that are expected in one case or more; as prior.
WITH
observed AS MATERIALIZED (
    SELECT o.drug, o.reaction, o.n, o.e
    FROM temp.main.srsql_observed AS o
    WHERE o.n >= 1 AND o.e > 0
),

prior AS MATERIALIZED (
    SELECT p.* FROM srsql.gps_prior('observed') AS p
)

SELECT
    p.pairs,
    p.prior.alpha1,
    p.prior.beta1,
    p.prior.alpha2,
    p.prior.beta2,
    p.prior.p
FROM prior AS p;

-- name: observed_pair
-- The pairs that are expected in enough cases.
CREATE OR REPLACE TEMP TABLE temp.main.srsql_signal_pair AS
SELECT o.drug, o.reaction
FROM temp.main.srsql_observed AS o
WHERE o.n >= $enough;

-- name: pair_table
-- The 2 x 2 table of each wanted pair within each cluster.
CREATE OR REPLACE TEMP TABLE temp.main.srsql_pair_table AS
WITH pair AS MATERIALIZED (
    SELECT DISTINCT p.drug, p.reaction FROM temp.main.srsql_signal_pair AS p
)

SELECT t.*
FROM srsql.cluster_tables(
    'temp.main.srsql_margin', 'temp.main.srsql_crowd', 'temp.main.srsql_holding', 'pair'
) AS t;

-- name: cluster_contingency
-- The 2 x 2 table of each wanted pair over all clusters.
CREATE OR REPLACE TEMP TABLE temp.main.srsql_contingency AS
WITH pair AS MATERIALIZED (
    SELECT DISTINCT p.drug, p.reaction FROM temp.main.srsql_signal_pair AS p
)

SELECT c.*
FROM srsql.cluster_contingency(
    'temp.main.srsql_pair_table', 'temp.main.srsql_margin', 'temp.main.srsql_crowd', 'pair'
) AS c;

-- name: bias
-- What the release changes of each pair.
CREATE OR REPLACE TEMP TABLE temp.main.srsql_signal_bias AS
SELECT b.*
FROM srsql.signal_bias(
    'temp.main.srsql_signal_original_measure', 'temp.main.srsql_signal_released_measure'
) AS b;

-- name: bias_quantiles
-- How the changes are distributed over all pairs.
SELECT q.*
FROM srsql.signal_bias_quantiles('temp.main.srsql_signal_bias') AS q
ORDER BY q.measure;

-- name: trend
-- The 2 x 2 table of each wanted pair on a side in each period, and of all periods up to it.
-- Inputs: $periods, $suppressed and $suppressed_drugs, lists of the same length: a period, and so
-- many cases of it that may have any one reaction, and any one drug, although no row shows it.
CREATE OR REPLACE TEMP TABLE temp.main.srsql_contingency AS
WITH
pair AS MATERIALIZED (
    SELECT DISTINCT p.drug, p.reaction FROM temp.main.srsql_signal_pair AS p
),

period AS MATERIALIZED (
    SELECT
        unnest($periods::VARCHAR[]) AS period,
        unnest($suppressed::BIGINT[]) AS suppressed,
        unnest($suppressed_drugs::BIGINT[]) AS suppressed_drugs
)

SELECT t.*
FROM srsql.trend_tables(
    'temp.main.srsql_case', 'temp.main.srsql_weight', 'temp.main.srsql_drug',
    'temp.main.srsql_reaction', 'pair', 'period'
) AS t;

-- name: interaction
-- The table and the measures of two drugs, those of the wanted pairs 0 and 1, and the reaction of
-- these; what is suppressed as of measure.
WITH
triple AS MATERIALIZED (
    SELECT p.drug, o.drug AS other, p.reaction
    FROM temp.main.srsql_signal_pair AS p
    INNER JOIN temp.main.srsql_signal_pair AS o ON p.reaction = o.reaction
    WHERE p.pair_no = 0 AND o.pair_no = 1
),

counted AS MATERIALIZED (
    SELECT t.*
    FROM srsql.interaction_tables(
        'temp.main.srsql_weight', 'temp.main.srsql_drug', 'temp.main.srsql_reaction', 'triple',
        $suppressed::BIGINT, $suppressed_drugs::BIGINT
    ) AS t
)

SELECT m.* FROM srsql.interaction_measures('counted') AS m;

-- name: likelihood
-- The likelihood ratio of the drug of the wanted pair with every reaction that anybody has.
WITH
wanted AS MATERIALIZED (
    SELECT DISTINCT p.drug FROM temp.main.srsql_signal_pair AS p
),

counted AS MATERIALIZED (
    SELECT c.*
    FROM srsql.likelihood_counts(
        'temp.main.srsql_weight', 'temp.main.srsql_drug', 'temp.main.srsql_reaction', 'wanted'
    ) AS c
)

SELECT
    r.reaction,
    r.n,
    r.n_reaction,
    r.n_drug,
    r.n_all,
    r.expected,
    r.log_lr,
    r.log_lr_poisson
FROM srsql.likelihood_ratios('counted') AS r
ORDER BY r.log_lr DESC, r.n DESC, r.reaction ASC;

-- name: reported_pairs
-- Each drug with each reaction of each case of counted_case(case_id, stratum), which surely meets
-- the condition. Cases are numbered in the order of what they tell; of those that tell the same it
-- does not matter which is first.
WITH
taken AS (
    SELECT d.case_id, list(d.drug ORDER BY d.drug) AS drugs
    FROM temp.main.srsql_drug AS d
    GROUP BY d.case_id
),

told AS (
    SELECT r.case_id, list(r.reaction ORDER BY r.reaction) AS reactions
    FROM temp.main.srsql_reaction AS r
    GROUP BY r.case_id
),

numbered AS (
    SELECT
        row_number() OVER (ORDER BY t.drugs, o.reactions, w.stratum) AS case_no,
        t.drugs,
        o.reactions,
        w.stratum
    FROM counted_case AS w
    INNER JOIN taken AS t ON w.case_id = t.case_id
    INNER JOIN told AS o ON w.case_id = o.case_id
),

by_drug AS (
    SELECT n.case_no, unnest(n.drugs) AS drug, n.reactions, n.stratum
    FROM numbered AS n
)

SELECT b.case_no, b.drug, unnest(b.reactions) AS reaction, b.stratum
FROM by_drug AS b
ORDER BY ALL;

-- name: tree_counts
-- The cases that surely meet the condition with the drug of the wanted pair and each reaction that
-- anybody has, and how many are expected.
WITH
pair AS MATERIALIZED (
    SELECT DISTINCT p.drug, r.reaction
    FROM temp.main.srsql_signal_pair AS p
    CROSS JOIN temp.main.srsql_reaction AS r
)

SELECT
    c.reaction,
    c.a_known AS cases,
    (c.a_known + c.b_known)::DOUBLE * (c.a_known + c.c_known)
    / (c.a_known + c.b_known + c.c_known + c.d_known) AS expected
FROM srsql.contingency(
    'temp.main.srsql_weight', 'temp.main.srsql_drug', 'temp.main.srsql_reaction', 'pair'
) AS c
WHERE c.a_known + c.c_known > 0
ORDER BY c.reaction;

-- name: leaf_weight
-- Of each stratum of a count table whether all of its cases surely meet the condition, and whether
-- some may. cell, place(case_id, stratum: a leaf) and tree(stratum, parent) are composed.
CREATE OR REPLACE TEMP TABLE temp.main.srsql_leaf_weight AS
WITH leaf AS (
    SELECT
        p.stratum,
        bool_and(coalesce(w.lower, 0) > 0) AS surely,
        bool_or(coalesce(w.upper, 0) > 0) AS maybe
    FROM temp.main.srsql_place AS p
    LEFT JOIN temp.main.srsql_weight AS w ON p.case_id = w.case_id
    GROUP BY p.stratum
)

SELECT n.stratum, bool_and(l.surely) AS surely, bool_or(l.maybe) AS maybe
FROM srsql.nested_strata('temp.main.srsql_tree') AS n
INNER JOIN leaf AS l ON n.inner_stratum = l.stratum
GROUP BY n.stratum;

-- name: count_pair
-- The told pairs of so many cases.
CREATE OR REPLACE TEMP TABLE temp.main.srsql_signal_pair AS
SELECT c.drug, c.reaction
FROM temp.main.srsql_cell AS c
WHERE c.drug IS NOT NULL AND c.reaction IS NOT NULL
GROUP BY c.drug, c.reaction
HAVING sum(c.cases) >= $enough;

-- name: no_prior
-- No prior: pairs of fewer cases, which decide it, are not told; as prior.
SELECT
    0::BIGINT AS pairs,
    NULL::DOUBLE AS alpha1,
    NULL::DOUBLE AS beta1,
    NULL::DOUBLE AS alpha2,
    NULL::DOUBLE AS beta2,
    NULL::DOUBLE AS p;

-- name: count_contingency
-- The 2 x 2 table of each wanted pair, of counts.
CREATE OR REPLACE TEMP TABLE temp.main.srsql_contingency AS
SELECT c.*
FROM srsql.count_contingency(
    'temp.main.srsql_cell', 'temp.main.srsql_leaf_weight', 'temp.main.srsql_signal_pair'
) AS c;

-- name: measure_of_counts
-- Where some count of a pair is not told, nothing is but the ends of its cells and what these
-- decide.
CREATE OR REPLACE TEMP TABLE temp.main.srsql_measure AS
WITH told AS (
    SELECT
        c.drug,
        c.reaction,
        c.a_lower = c.a_upper
        AND c.b_lower = c.b_upper
        AND c.c_lower = c.c_upper
        AND c.d_lower = c.d_upper AS told
    FROM temp.main.srsql_contingency AS c
)

SELECT
    m.* REPLACE (
        CASE WHEN t.told THEN m.prr END AS prr,
        CASE WHEN t.told THEN m.prr_low END AS prr_low,
        CASE WHEN t.told THEN m.prr_high END AS prr_high,
        CASE WHEN t.told THEN m.ror END AS ror,
        CASE WHEN t.told THEN m.ror_low END AS ror_low,
        CASE WHEN t.told THEN m.ror_high END AS ror_high,
        CASE WHEN t.told THEN m.chi2 END AS chi2,
        CASE WHEN t.told THEN m.ic END AS ic,
        CASE WHEN t.told THEN m.ic_low END AS ic_low,
        CASE WHEN t.told THEN m.ic_high END AS ic_high,
        CASE WHEN t.told THEN m.ic_shrunk END AS ic_shrunk,
        CASE WHEN t.told THEN m.ic025 END AS ic025,
        CASE WHEN t.told THEN m.ic975 END AS ic975
    )
FROM temp.main.srsql_measure AS m
INNER JOIN told AS t ON m.drug = t.drug AND m.reaction = t.reaction;

-- name: leaf_stratum
-- In which stratum each finest one of a count table lies, by what its cuts ask of the
-- quasi-identifiers $by. tree is composed.
CREATE OR REPLACE TEMP TABLE temp.main.srsql_leaf_stratum AS
WITH
leaf AS (
    SELECT t.stratum FROM temp.main.srsql_tree AS t
    ANTI JOIN temp.main.srsql_tree AS c ON t.stratum = c.parent
),

asked AS (
    SELECT
        l.stratum,
        list(
            struct_pack(qid := t."column", node := t.value, l := t.low, b := t.below, i := t.inside)
            ORDER BY t."column", t.value, t.low, t.below
        ) FILTER (WHERE list_contains($by::VARCHAR[], t."column")) AS answers
    FROM leaf AS l
    INNER JOIN srsql.nested_strata('temp.main.srsql_tree') AS n ON l.stratum = n.inner_stratum
    INNER JOIN temp.main.srsql_tree AS t ON n.stratum = t.stratum
    GROUP BY l.stratum
)

SELECT a.stratum AS leaf, dense_rank() OVER (ORDER BY a.answers)::INTEGER AS stratum
FROM asked AS a;

-- name: stratified_counts
-- What strata make of each wanted pair, of counts; where some count of some stratum is not told,
-- nothing is but the ends and what these decide.
CREATE OR REPLACE TEMP TABLE temp.main.srsql_stratified AS
WITH
listed AS (
    SELECT DISTINCT s.stratum FROM temp.main.srsql_leaf_stratum AS s
),

weight AS MATERIALIZED (
    SELECT
        k.stratum,
        n.stratum AS node,
        bool_and(l.stratum = k.stratum AND w.surely) AS surely,
        bool_or(l.stratum = k.stratum AND w.maybe) AS maybe
    FROM srsql.nested_strata('temp.main.srsql_tree') AS n
    INNER JOIN temp.main.srsql_leaf_stratum AS l ON n.inner_stratum = l.leaf
    INNER JOIN temp.main.srsql_leaf_weight AS w ON l.leaf = w.stratum
    CROSS JOIN listed AS k
    GROUP BY k.stratum, n.stratum
),

pair AS MATERIALIZED (
    SELECT DISTINCT p.drug, p.reaction FROM temp.main.srsql_signal_pair AS p
),

tables AS MATERIALIZED (
    SELECT 0 AS stratum, c.* FROM temp.main.srsql_contingency AS c
    UNION ALL BY NAME
    SELECT c.*
    FROM srsql.count_contingency_by_stratum('temp.main.srsql_cell', 'weight', 'pair') AS c
),

told AS (
    SELECT
        t.drug,
        t.reaction,
        bool_and(
            t.a_lower = t.a_upper
            AND t.b_lower = t.b_upper
            AND t.c_lower = t.c_upper
            AND t.d_lower = t.d_upper
        ) AS told
    FROM tables AS t
    GROUP BY t.drug, t.reaction
),

prior AS MATERIALIZED (
    SELECT
        NULL::STRUCT(
            alpha1 DOUBLE, beta1 DOUBLE, alpha2 DOUBLE, beta2 DOUBLE, p DOUBLE
        ) AS prior
)

SELECT
    s.* REPLACE (
        CASE WHEN t.told THEN s.prr END AS prr,
        CASE WHEN t.told THEN s.prr_low END AS prr_low,
        CASE WHEN t.told THEN s.prr_high END AS prr_high,
        CASE WHEN t.told THEN s.prr END AS prr_known,
        CASE WHEN t.told THEN s.ror END AS ror,
        CASE WHEN t.told THEN s.ror_low END AS ror_low,
        CASE WHEN t.told THEN s.ror_high END AS ror_high,
        CASE WHEN t.told THEN s.ror END AS ror_known
    )
FROM srsql.stratified_measures('tables', 'prior') AS s
INNER JOIN told AS t ON s.drug = t.drug AND s.reaction = t.reaction;
