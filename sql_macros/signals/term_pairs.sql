-- How many cases hold a drug, a reaction or both, where whole rows are taken apart: told from the
-- published clusters alone. Parameters that name tables take their names:
--   places(case_id, cluster): the cluster of each row; clusters(cluster, records);
--   holdings(cluster, chunk, subrecord, side, name): what subrecords hold; side is 'drug' or
--   'reaction'; chunk 0 is the item chunk, in which every item is a subrecord of its own. One name
--   may stand for several items, such as a drug in several roles, but a reaction is one item.
-- Every dataset that fits is as possible as any other: subrecords lie on any records of their
-- cluster, independently in each chunk, and an item without a count on any of them, one at least
-- and as many at most as the release promises.
-- What is published has the chunks of each cluster alone: there are no joint clusters.

-- What:    how many records of each cluster meet a condition.
-- Inputs:  weights(case_id, lower, expected, upper): as signal_weights returns them; a row without
--          a weight does not count.
-- Outputs: cluster, records, lower (surely), expected, upper (maybe).
CREATE OR REPLACE MACRO srsql.cluster_weights(weights, places, clusters) AS TABLE
WITH met AS (
    SELECT
        p.cluster,
        sum(w.lower)::BIGINT AS lower,
        sum(w.expected) AS expected,
        sum(w.upper)::BIGINT AS upper
    FROM query_table(places) AS p
    INNER JOIN query_table(weights) AS w ON p.case_id = w.case_id
    GROUP BY p.cluster
)

SELECT
    c.cluster,
    c.records::BIGINT AS records,
    coalesce(m.lower, 0) AS lower,
    coalesce(m.expected, 0)::DOUBLE AS expected,
    coalesce(m.upper, 0) AS upper
FROM query_table(clusters) AS c
LEFT JOIN met AS m ON c.cluster = m.cluster;

-- What:    of so many records of a cluster, how many meet the condition: which they are, no table
--          says, so that they may be those that do, or those that do not.
-- Inputs:  fewest, mean, most: records; crowd_row: a row of cluster_weights.
-- Outputs: STRUCT(lower, expected, upper); who is known to meet it is who surely does.
CREATE OR REPLACE MACRO srsql.met_records(fewest, mean, most, crowd_row) AS
struct_pack(
    lower := greatest(0, fewest + crowd_row.lower - crowd_row.records)::BIGINT,
    expected := mean * crowd_row.expected / crowd_row.records,
    upper := least(most, crowd_row.upper)::BIGINT
);

-- What:    how many records of a cluster hold each drug and each reaction, and by which chunks.
-- Inputs:  crowd: cluster_weights; holdings; means(side, mean, most): of how many records an item
--          without a count is told on average, and at most (NULL: of all of its cluster).
-- Outputs: side, name, cluster, least, mean, most, places: a list of STRUCT(chunk, least, most,
--          missed), missed being the share of the records that do not hold it by this chunk.
-- How:     sets of a <= b records of n have between b and min(n, a + b) in their union, and any
--          number between; placed at random they miss (1 - a/n) (1 - b/n) of the records.
CREATE OR REPLACE MACRO srsql.term_margins(crowd, holdings, means) AS TABLE
WITH
held AS (
    SELECT h.side, h.name, h.cluster, h.chunk, count(DISTINCT h.subrecord) AS subrecords
    FROM query_table(holdings) AS h
    GROUP BY h.side, h.name, h.cluster, h.chunk
),

told AS (
    SELECT
        h.side,
        h.name,
        h.cluster,
        c.records,
        struct_pack(
            chunk := h.chunk,
            least := CASE WHEN h.chunk = 0 THEN 1 ELSE h.subrecords END::BIGINT,
            most := CASE
                WHEN h.chunk = 0 THEN least(c.records, h.subrecords * coalesce(m.most, c.records))
                ELSE h.subrecords
            END::BIGINT,
            missed := CASE
                WHEN h.chunk = 0 THEN (1 - least(1, m.mean / c.records)) ** h.subrecords
                ELSE 1 - h.subrecords / c.records
            END::DOUBLE
        ) AS place
    FROM held AS h
    INNER JOIN query_table(crowd) AS c ON h.cluster = c.cluster
    INNER JOIN query_table(means) AS m ON h.side = m.side
)

SELECT
    t.side,
    t.name,
    t.cluster,
    max(t.place.least) AS least,
    any_value(t.records)
    * (1 - list_aggregate(list(t.place.missed ORDER BY t.place.chunk), 'product')) AS mean,
    least(any_value(t.records), sum(t.place.most))::BIGINT AS most,
    list(t.place ORDER BY t.place.chunk) AS places
FROM told AS t
GROUP BY t.side, t.name, t.cluster;

-- What:    the 2 x 2 table of a drug and a reaction within one cluster, by records: a (both), b
--          (drug alone), c (reaction alone), d (neither).
-- Inputs:  margins: term_margins; crowd; holdings; pairs(drug, reaction).
-- Outputs: drug, reaction, cluster, and for each cell x a STRUCT(least, mean, most).
-- How:     let the chunk of the reaction have r11 subrecords with both, r10 with the drug alone and
--          r01 with the reaction alone, and let r00 records have neither. The other chunks of the
--          drug have it on some set U of lo to hi of the n records, any set of such a size. Of r
--          records, U has between max(0, lo + r - n) and min(r, hi): so many of r01 go to a, and so
--          many of r00 of b. A reaction without a count lies on any set of 1 to r.most records.
CREATE OR REPLACE MACRO srsql.cluster_tables(margins, crowd, holdings, pairs) AS TABLE
WITH
wanted AS (
    SELECT DISTINCT p.drug, p.reaction FROM query_table(pairs) AS p
),

met AS (
    SELECT
        w.drug,
        w.reaction,
        r.cluster,
        r.least AS with_reaction,
        r.most AS with_reaction_most,
        r.mean AS with_reaction_mean,
        r.places[1].chunk AS chunk,
        d.places,
        d.mean AS with_drug_mean
    FROM wanted AS w
    INNER JOIN query_table(margins) AS r ON w.reaction = r.name AND r.side = 'reaction'
    INNER JOIN query_table(margins) AS d
        ON w.drug = d.name AND r.cluster = d.cluster AND d.side = 'drug'
),

both_held AS (
    SELECT m.drug, m.reaction, m.cluster, count(DISTINCT g.subrecord) AS subrecords
    FROM met AS m
    INNER JOIN query_table(holdings) AS g
        ON m.drug = g.name AND g.side = 'drug' AND m.cluster = g.cluster AND m.chunk = g.chunk
    INNER JOIN query_table(holdings) AS h
        ON
            m.reaction = h.name AND h.side = 'reaction' AND m.cluster = h.cluster
            AND m.chunk = h.chunk AND g.subrecord = h.subrecord
    WHERE m.chunk > 0
    GROUP BY m.drug, m.reaction, m.cluster
),

counted AS (
    SELECT
        m.*,
        c.records,
        coalesce(b.subrecords, 0) AS r11,
        coalesce(
            list_filter(m.places, LAMBDA p: p['chunk'] = m.chunk AND p['chunk'] > 0)[1].least, 0
        ) AS with_drug_here,
        list_filter(m.places, LAMBDA p: p['chunk'] <> m.chunk OR p['chunk'] = 0) AS others
    FROM met AS m
    INNER JOIN query_table(crowd) AS c ON m.cluster = c.cluster
    LEFT JOIN both_held AS b
        ON m.drug = b.drug AND m.reaction = b.reaction AND m.cluster = b.cluster
),

split AS (
    SELECT
        t.*,
        t.with_drug_here - t.r11 AS r10,
        t.with_reaction - t.r11 AS r01,
        t.records - t.with_drug_here - t.with_reaction + t.r11 AS r00,
        coalesce(list_max(list_transform(t.others, LAMBDA p: p['least'])), 0) AS lo,
        least(t.records, coalesce(list_sum(list_transform(t.others, LAMBDA p: p['most'])), 0))
            ::BIGINT AS hi,
        t.r11 + (t.with_reaction_mean - t.r11) * (
            1 - coalesce(
                list_aggregate(list_transform(t.others, LAMBDA p: p['missed']), 'product'), 1
            )
        ) AS mean
    FROM counted AS t
),

ends AS (
    SELECT
        s.drug,
        s.reaction,
        s.cluster,
        s.records,
        s.with_drug_mean,
        s.with_reaction_mean,
        s.mean,
        CASE
            WHEN s.chunk > 0
                THEN [
                    s.r11 + greatest(0, s.lo + s.r01 - s.records),
                    s.r11 + least(s.r01, s.hi),
                    s.r10 + greatest(0, s.lo + s.r00 - s.records),
                    s.r10 + least(s.r00, s.hi),
                    s.r01 - least(s.r01, s.hi),
                    s.r01 - greatest(0, s.lo + s.r01 - s.records),
                    s.r00 - least(s.r00, s.hi),
                    s.r00 - greatest(0, s.lo + s.r00 - s.records)
                ]
            ELSE [
                greatest(0, s.lo + 1 - s.records),
                least(s.hi, s.with_reaction_most),
                greatest(0, s.lo - s.with_reaction_most),
                least(s.hi, s.records - 1),
                0,
                least(s.with_reaction_most, s.records - s.lo),
                greatest(0, s.records - s.hi - s.with_reaction_most),
                s.records - s.lo
            ]
        END::BIGINT[] AS n
    FROM split AS s
)

SELECT
    e.drug,
    e.reaction,
    e.cluster,
    struct_pack(least := e.n[1], mean := e.mean, most := e.n[2]) AS a,
    struct_pack(least := e.n[3], mean := e.with_drug_mean - e.mean, most := e.n[4]) AS b,
    struct_pack(least := e.n[5], mean := e.with_reaction_mean - e.mean, most := e.n[6]) AS c,
    struct_pack(
        least := e.n[7],
        mean := e.records - e.with_drug_mean - e.with_reaction_mean + e.mean,
        most := e.n[8]
    ) AS d
FROM ends AS e;

-- What:    the joint counts of pairs of terms within a condition: how many cases hold both.
-- Inputs:  tables: cluster_tables; crowd: cluster_weights; pairs(drug, reaction).
-- Outputs: drug, reaction, lower, known, expected, upper. In every dataset that fits what is
--          published, and whatever values of the regions are true, the count is between lower and
--          upper, and both are reached. known: the condition is decided by the regions alone.
-- Source:  SPEC sections 11 and 14; Frechet's bounds; engine/shapes/clusters.py has the proof.
CREATE OR REPLACE MACRO srsql.term_pairs(tables, crowd, pairs) AS TABLE
WITH met AS (
    SELECT
        t.drug,
        t.reaction,
        srsql.met_records(t.a.least, t.a.mean, t.a.most, crowd_row) AS a
    FROM query_table(tables) AS t
    INNER JOIN query_table(crowd) AS crowd_row ON t.cluster = crowd_row.cluster
)

SELECT
    p.drug,
    p.reaction,
    coalesce(sum(m.a.lower), 0)::BIGINT AS lower,
    coalesce(sum(m.a.lower), 0)::BIGINT AS known,
    coalesce(sum(m.a.expected::DECIMAL(38, 12))::DOUBLE, 0) AS expected,
    coalesce(sum(m.a.upper), 0)::BIGINT AS upper
FROM query_table(pairs) AS p
LEFT JOIN met AS m ON p.drug = m.drug AND p.reaction = m.reaction
GROUP BY p.drug, p.reaction;

-- What:    the 2 x 2 table of each pair by cases, within a condition.
-- Inputs:  tables: cluster_tables; margins: term_margins; crowd: cluster_weights; pairs.
-- Outputs: those of srsql.contingency.
-- Source:  as srsql.term_pairs; Lin 2016, Table 1.
-- How:     every cluster has a part in every cell, and without the drug it has the same part
--          whatever the drug is: clusters with both are counted by their tables, the others by
--          what holds of the drug, of the reaction, or of everybody alone.
CREATE OR REPLACE MACRO srsql.cluster_contingency(tables, margins, crowd, pairs) AS TABLE
WITH
alone AS MATERIALIZED (
    SELECT
        m.side,
        m.name,
        m.cluster,
        srsql.met_records(m.least, m.mean, m.most, k) AS held,
        srsql.met_records(
            k.records - m.most, k.records - m.mean, k.records - m.least, k
        ) AS not_held,
        k AS whole
    FROM query_table(margins) AS m
    INNER JOIN query_table(crowd) AS k ON m.cluster = k.cluster
),

on_side AS (
    SELECT
        a.side,
        a.name,
        sum(a.held.lower) AS lower,
        sum(a.held.expected::DECIMAL(38, 12))::DOUBLE AS expected,
        sum(a.held.upper) AS upper,
        sum(a.not_held.lower - a.whole.lower) AS rest_lower,
        sum((a.not_held.expected - a.whole.expected)::DECIMAL(38, 12))::DOUBLE AS rest_expected,
        sum(a.not_held.upper - a.whole.upper) AS rest_upper
    FROM alone AS a
    GROUP BY a.side, a.name
),

everyone AS (
    SELECT
        coalesce(sum(c.lower), 0) AS lower,
        coalesce(sum(c.expected::DECIMAL(38, 12))::DOUBLE, 0) AS expected,
        coalesce(sum(c.upper), 0) AS upper
    FROM query_table(crowd) AS c
),

both_there AS (
    SELECT
        t.drug,
        t.reaction,
        d.whole,
        d.held AS drug_held,
        d.not_held AS drug_not,
        r.held AS reaction_held,
        r.not_held AS reaction_not,
        srsql.met_records(t.a.least, t.a.mean, t.a.most, d.whole) AS a,
        srsql.met_records(t.b.least, t.b.mean, t.b.most, d.whole) AS b,
        srsql.met_records(t.c.least, t.c.mean, t.c.most, d.whole) AS c,
        srsql.met_records(t.d.least, t.d.mean, t.d.most, d.whole) AS d
    FROM query_table(tables) AS t
    INNER JOIN alone AS d ON t.drug = d.name AND t.cluster = d.cluster AND d.side = 'drug'
    INNER JOIN alone AS r ON t.reaction = r.name AND t.cluster = r.cluster AND r.side = 'reaction'
),

part AS (
    SELECT
        w.drug,
        w.reaction,
        'd' AS cell,
        e.lower,
        e.expected,
        e.upper
    FROM query_table(pairs) AS w
    CROSS JOIN everyone AS e
    UNION ALL
    SELECT w.drug, w.reaction, 'b', s.lower, s.expected, s.upper
    FROM query_table(pairs) AS w
    INNER JOIN on_side AS s ON w.drug = s.name AND s.side = 'drug'
    UNION ALL
    SELECT w.drug, w.reaction, 'd', s.rest_lower, s.rest_expected, s.rest_upper
    FROM query_table(pairs) AS w
    INNER JOIN on_side AS s ON w.drug = s.name AND s.side = 'drug'
    UNION ALL
    SELECT w.drug, w.reaction, 'c', s.lower, s.expected, s.upper
    FROM query_table(pairs) AS w
    INNER JOIN on_side AS s ON w.reaction = s.name AND s.side = 'reaction'
    UNION ALL
    SELECT w.drug, w.reaction, 'd', s.rest_lower, s.rest_expected, s.rest_upper
    FROM query_table(pairs) AS w
    INNER JOIN on_side AS s ON w.reaction = s.name AND s.side = 'reaction'
    UNION ALL
    SELECT h.drug, h.reaction, 'a', h.a.lower, h.a.expected, h.a.upper FROM both_there AS h
    UNION ALL
    SELECT
        h.drug,
        h.reaction,
        'b',
        h.b.lower - h.drug_held.lower,
        h.b.expected - h.drug_held.expected,
        h.b.upper - h.drug_held.upper
    FROM both_there AS h
    UNION ALL
    SELECT
        h.drug,
        h.reaction,
        'c',
        h.c.lower - h.reaction_held.lower,
        h.c.expected - h.reaction_held.expected,
        h.c.upper - h.reaction_held.upper
    FROM both_there AS h
    UNION ALL
    SELECT
        h.drug,
        h.reaction,
        'd',
        h.d.lower - h.drug_not.lower - h.reaction_not.lower + h.whole.lower,
        h.d.expected - h.drug_not.expected - h.reaction_not.expected + h.whole.expected,
        h.d.upper - h.drug_not.upper - h.reaction_not.upper + h.whole.upper
    FROM both_there AS h
),

cell AS (
    SELECT
        p.drug,
        p.reaction,
        p.cell,
        sum(p.lower)::BIGINT AS lower,
        greatest(0, sum(p.expected::DECIMAL(38, 12))::DOUBLE) AS expected,
        sum(p.upper)::BIGINT AS upper
    FROM part AS p
    GROUP BY p.drug, p.reaction, p.cell
)

SELECT
    w.drug,
    w.reaction,
    coalesce(a.expected, 0) AS a,
    coalesce(b.expected, 0) AS b,
    coalesce(c.expected, 0) AS c,
    d.expected AS d,
    coalesce(a.lower, 0) AS a_lower,
    coalesce(b.lower, 0) AS b_lower,
    coalesce(c.lower, 0) AS c_lower,
    d.lower AS d_lower,
    coalesce(a.upper, 0) AS a_upper,
    coalesce(b.upper, 0) AS b_upper,
    coalesce(c.upper, 0) AS c_upper,
    d.upper AS d_upper,
    coalesce(a.lower, 0) AS a_known,
    coalesce(b.lower, 0) AS b_known,
    coalesce(c.lower, 0) AS c_known,
    d.lower AS d_known
FROM query_table(pairs) AS w
LEFT JOIN cell AS a ON w.drug = a.drug AND w.reaction = a.reaction AND a.cell = 'a'
LEFT JOIN cell AS b ON w.drug = b.drug AND w.reaction = b.reaction AND b.cell = 'b'
LEFT JOIN cell AS c ON w.drug = c.drug AND w.reaction = c.reaction AND c.cell = 'c'
LEFT JOIN cell AS d ON w.drug = d.drug AND w.reaction = d.reaction AND d.cell = 'd';

-- What:    how often every drug is expected with every reaction, wherever both are in one cluster.
-- Inputs:  margins: term_margins; crowd: cluster_weights; holdings.
-- Outputs: drug, reaction, n (expected number of cases with both), e = (a + b) (a + c) / N.
-- Source:  as srsql.observed_pairs and srsql.cluster_tables.
CREATE OR REPLACE MACRO srsql.expected_pairs(margins, crowd, holdings) AS TABLE
WITH
both_held AS (
    SELECT
        g.name AS drug,
        h.name AS reaction,
        g.cluster,
        count(DISTINCT g.subrecord) AS subrecords
    FROM query_table(holdings) AS g
    INNER JOIN query_table(holdings) AS h
        ON g.cluster = h.cluster AND g.chunk = h.chunk AND g.subrecord = h.subrecord
    WHERE g.side = 'drug' AND h.side = 'reaction' AND g.chunk > 0
    GROUP BY g.name, h.name, g.cluster
),

told AS (
    SELECT
        m.side,
        m.name,
        m.cluster,
        m.mean,
        m.places,
        k.records,
        k.expected
    FROM query_table(margins) AS m
    INNER JOIN query_table(crowd) AS k ON m.cluster = k.cluster
    WHERE k.expected > 0
),

everyone AS (
    SELECT sum(k.expected::DECIMAL(38, 12))::DOUBLE AS cases FROM query_table(crowd) AS k
),

on_side AS (
    SELECT t.side, t.name, sum((t.mean * t.expected / t.records)::DECIMAL(38, 12))::DOUBLE AS cases
    FROM told AS t
    GROUP BY t.side, t.name
),

counted AS (
    SELECT
        d.name AS drug,
        r.name AS reaction,
        d.records,
        d.expected,
        coalesce(b.subrecords, 0) AS r11,
        r.mean AS with_reaction,
        coalesce(
            list_aggregate(
                list_transform(
                    list_filter(
                        d.places,
                        LAMBDA p: p['chunk'] <> r.places[1].chunk OR p['chunk'] = 0
                    ),
                    LAMBDA p: p['missed']
                ),
                'product'
            ),
            1
        ) AS missed
    FROM told AS d
    INNER JOIN told AS r ON d.cluster = r.cluster
    LEFT JOIN both_held AS b
        ON d.name = b.drug AND r.name = b.reaction AND d.cluster = b.cluster
    WHERE d.side = 'drug' AND r.side = 'reaction'
),

together AS (
    SELECT
        c.drug,
        c.reaction,
        sum((
            (c.r11 + (c.with_reaction - c.r11) * (1 - c.missed)) * c.expected / c.records
        )::DECIMAL(38, 12))::DOUBLE AS n
    FROM counted AS c
    GROUP BY c.drug, c.reaction
)

SELECT t.drug, t.reaction, t.n, g.cases * h.cases / a.cases AS e
FROM together AS t
INNER JOIN on_side AS g ON t.drug = g.name AND g.side = 'drug'
INNER JOIN on_side AS h ON t.reaction = h.name AND h.side = 'reaction'
CROSS JOIN everyone AS a;
