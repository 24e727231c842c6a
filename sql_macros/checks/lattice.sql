-- What released rows over the lattice of Lee 2020 show of themselves, and what they lose.
-- Parameters that name tables take their names; every macro returns uniform rows.

-- What:    rows have the numbers from 1 on, each once, and an informative value.
-- Inputs:  seen(number, informative): the published rows; of_release: only passed through.
-- Outputs: one uniform row; violating: rows with a number that is not 1 .. rows, one that occurs
--          twice, or no value.
-- Source:  SPEC section 12.
CREATE OR REPLACE MACRO srsql.check_row_numbers(seen, of_release) AS TABLE
WITH told AS (
    SELECT
        s.number,
        s.informative,
        count(*) OVER (PARTITION BY s.number) AS times,
        count(*) OVER () AS row_count
    FROM query_table(seen) AS s
),

counted AS (
    SELECT
        count_if(
            t.number IS NULL OR t.number < 1 OR t.number > t.row_count
            OR t.times > 1 OR t.informative IS NULL
        )::DOUBLE AS wrong,
        count(*)::DOUBLE AS total
    FROM told AS t
)

SELECT unnest(srsql.check_row(of_release, 'check_row_numbers', 'row', c.wrong, c.total, 0))
FROM counted AS c;

-- What:    every dimension value is one of the level that was taken, or tells nothing.
-- Inputs:  seen(number, place, shown): published values as text; allowed(place, shown): those of
--          the level, what tells nothing (a missing or suppressed value) among them or at the top.
-- Outputs: one uniform row; violating: values.
-- Source:  Lee 2020, full-domain generalization.
CREATE OR REPLACE MACRO srsql.check_row_levels(seen, allowed, of_release) AS TABLE
WITH known AS (
    SELECT DISTINCT a.place, a.shown FROM query_table(allowed) AS a
),

counted AS (
    SELECT count_if(k.place IS NULL)::DOUBLE AS wrong, count(*)::DOUBLE AS total
    FROM query_table(seen) AS s
    LEFT JOIN known AS k ON s.place = k.place AND s.shown = k.shown
)

SELECT unnest(srsql.check_row(of_release, 'check_row_levels', 'row', c.wrong, c.total, 0))
FROM counted AS c;

-- What:    every class (rows with the same dimension values) has as many rows as is claimed.
-- Inputs:  seen(shown, row_count): the published values as a list of texts, and how many rows have
--          them, in any number of rows; fewest: rows of a class; of_release.
-- Outputs: one uniform row; violating: classes with fewer.
-- Source:  Sweeney 2002; Lee 2020, "Data utility" (k-anonymization).
CREATE OR REPLACE MACRO srsql.check_row_classes(seen, fewest, of_release) AS TABLE
WITH sizes AS (
    SELECT s.shown, sum(s.row_count) AS row_count FROM query_table(seen) AS s GROUP BY s.shown
),

counted AS (
    SELECT count_if(s.row_count < fewest)::DOUBLE AS wrong, count(*)::DOUBLE AS total
    FROM sizes AS s
)

SELECT unnest(srsql.check_row(of_release, 'check_row_classes', 'class', c.wrong, c.total, fewest))
FROM counted AS c;

-- What:    rows over a lattice charge every case of the quarter once, what the manifest says;
--          nothing where the model has no epsilon.
-- Inputs:  of_release: of rows over a lattice.
-- Source:  SPEC section 10.
CREATE OR REPLACE MACRO srsql.check_charges(of_release) AS TABLE
WITH
told AS (
    SELECT
        r.dataset,
        r.series,
        r.quarter,
        string_split(r.private_manifest ->> '$.epsilon', '/') AS epsilon
    FROM srsql.release AS r WHERE r.release_id = of_release
),

expected AS (
    SELECT DISTINCT c.case_id
    FROM (
        SELECT m.case_id FROM srsql.member AS m WHERE m.release_id = of_release
        UNION ALL
        SELECT w.case_id
        FROM srsql.withheld AS w
        WHERE w.release_id = of_release AND w.case_no IS NOT NULL
    ) AS c
    WHERE (SELECT t.epsilon FROM told AS t) IS NOT NULL
),

charged AS (
    SELECT
        s.case_id,
        count(*) AS times,
        bool_and(
            s.attribute IS NULL
            AND s.dataset = t.dataset
            AND s.series = t.series
            AND s.quarter = t.quarter
            AND s.epsilon_num * coalesce(t.epsilon[2]::BIGINT, 1)
            = s.epsilon_den * t.epsilon[1]::BIGINT
        ) AS as_told
    FROM srsql.budget_ledger AS s
    CROSS JOIN told AS t
    WHERE s.release_id = of_release
    GROUP BY s.case_id
),

verdicts AS (
    SELECT coalesce(e.case_id IS NOT NULL AND c.times = 1 AND c.as_told, false) AS correct
    FROM expected AS e
    FULL JOIN charged AS c ON e.case_id = c.case_id
)

SELECT
    unnest(srsql.check_row(of_release, 'check_charges', 'case of the quarter', f.violating,
        f.total, 0))
FROM (
    SELECT count(*) FILTER (WHERE NOT v.correct) AS violating, count(*) AS total
    FROM verdicts AS v
) AS f;

-- What:    NCP, EMD, Rate and IL of the node that was taken, their expectation over the nodes (the
--          sum of probability times loss: what the choice comes to, whichever node was drawn), and
--          their means over the nodes of each height of the lattice that were looked at
--          (Figures 8 to 10). For the steward: counts of counterfeits are in them.
-- Inputs:  of_release: a release id.
-- Outputs: uniform rows; total: classes (chosen) or nodes (expected, height N). emd is the mean
--          over the classes, and il has that one; emd (all records) and il (all records) compare
--          all informative values at once (of a release made before layout 9 emd and il do, too).
--          ncp (eq. 6) is as printed, summed over the dimensions; suppressed: classes;
--          counterfeits: records. Nothing is expected where a probability cannot be told. No rows
--          of other releases.
-- Source:  Lee 2020, equations 5 to 12.
CREATE OR REPLACE MACRO srsql.lattice_loss(of_release) AS TABLE
WITH
seen AS (
    SELECT
        n.chosen,
        n.classes,
        n.records,
        n.suppressed,
        n.counterfeits,
        n.probability,
        list_sum(n.levels)::INTEGER AS height,
        [
            struct_pack(
                measure := 'il', amount := n.ncp + coalesce(n.emd_classes, n.emd) + n.rate
            ),
            struct_pack(measure := 'ncp', amount := n.ncp),
            struct_pack(measure := 'emd', amount := coalesce(n.emd_classes, n.emd)),
            struct_pack(measure := 'rate', amount := n.rate),
            struct_pack(measure := 'il (all records)', amount := n.ncp + n.emd + n.rate),
            struct_pack(measure := 'emd (all records)', amount := n.emd),
            struct_pack(measure := 'ncp (eq. 6)', amount := n.ncp * len(n.levels))
        ] AS losses
    FROM srsql.lattice_node AS n WHERE n.release_id = of_release
),

each AS (
    SELECT s.chosen, s.classes, s.height, s.probability, unnest(s.losses) AS loss FROM seen AS s
),

listed AS (
    SELECT
        e.loss.measure AS measure,
        'chosen' AS scope,
        NULL::DOUBLE AS violating,
        e.classes::DOUBLE AS total,
        e.loss.amount AS ratio
    FROM each AS e WHERE e.chosen
    UNION ALL
    SELECT
        e.loss.measure,
        'expected',
        NULL,
        count(*)::DOUBLE,
        fsum(e.probability * e.loss.amount)
    FROM each AS e
    GROUP BY e.loss.measure
    HAVING count(e.probability) = count(*)
    UNION ALL
    SELECT
        e.loss.measure,
        'height ' || e.height::VARCHAR,
        NULL,
        count(*)::DOUBLE,
        fsum(e.loss.amount) / count(*)
    FROM each AS e
    GROUP BY e.loss.measure, e.height
    UNION ALL
    SELECT 'suppressed', 'chosen', s.suppressed, s.classes, s.suppressed / nullif(s.classes, 0)
    FROM seen AS s WHERE s.chosen
    UNION ALL
    SELECT
        'counterfeits', 'chosen', s.counterfeits, s.records, s.counterfeits / nullif(s.records, 0)
    FROM seen AS s WHERE s.chosen
)

SELECT
    unnest(srsql.uniform_row(
        of_release,
        l.measure,
        l.scope,
        l.violating,
        l.total,
        l.ratio,
        NULL,
        NULL
    ))
FROM listed AS l;
