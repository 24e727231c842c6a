-- What cases who pool what they know of themselves tell of the others (Loukides 2014, section 7.2,
-- names attackers who collude or know several records, and leaves them open).

-- What:    what a coalition of some cases of a crowd concludes of the others. A crowd are cases
--          that nobody else tells apart; a coalition knows which of them its members are, and what
--          these have, so that it takes them off: of n cases of whom s hold a value, x and y in
--          the coalition who do and do not hold it leave (s - x) / (n - x - y) for the others.
-- Inputs:  cells_of(crowd, cases, value, holders, theta_num, theta_den, pool): one row for each
--          crowd and value that some case of it holds (value NULL: the crowd alone, holders 0);
--          pool: cases among whom the coalition is, at least all of the crowd; scope: said behind
--          the number of the coalition; coalition: cases in it; at_least: k.
-- Outputs: uniform rows by scope. worst: of all coalitions of so many cases or fewer the one that
--          tells most of a value (of those who do not hold it as many as there are); at random: the
--          mean over all coalitions of exactly so many others of each holder; without: of none,
--          which is certain by what is published alone. What is counted are
--          cases with a value (holders); of candidates, cases.
--          coalition_candidates: are left among fewer than k where all are of the crowd;
--          coalition_above: concluded with more than theta, of values with a theta below 1;
--          coalition_certain: concluded with certainty.
-- Source:  multivariate hypergeometric distribution of (x, y), see tests/oracles/coalitions.py.
CREATE OR REPLACE MACRO srsql.coalition(cells_of, scope, coalition, at_least, of_release) AS TABLE
WITH
cells AS (
    SELECT c.*, c.cases - c.holders AS rest, row_number() OVER () AS cell_no
    FROM query_table(cells_of) AS c
),

valued AS (SELECT c.* FROM cells AS c WHERE c.holders > 0),

worst AS (
    SELECT
        v.holders,
        v.theta_num < v.theta_den AS is_bounded,
        v.holders::HUGEINT * v.theta_den
        > v.theta_num::HUGEINT * (v.cases - least(coalition, v.rest)) AS is_above,
        v.rest <= coalition AS is_certain,
        v.rest = 0 AS is_certain_alone
    FROM valued AS v
),

-- who is drawn of the others of a holder; of a pool that is too small, all others
drawn AS (
    SELECT v.*, least(coalition, v.pool - 1) AS members
    FROM valued AS v
),

numbers AS (SELECT r.range AS n FROM range(coalition + 1) AS r),

likely AS (
    SELECT
        d.cell_no,
        d.holders,
        d.theta_num < d.theta_den AS is_bounded,
        (d.holders - x.n)::HUGEINT * d.theta_den
        > d.theta_num::HUGEINT * (d.cases - x.n - y.n) AS is_above,
        y.n = d.rest AS is_certain,
        exp(
            srsql.log_choose(d.holders - 1, x.n)
            + srsql.log_choose(d.rest, y.n)
            + srsql.log_choose(d.pool - d.cases, d.members - x.n - y.n)
            - srsql.log_choose(d.pool - 1, d.members)
        ) AS p
    FROM drawn AS d
    INNER JOIN numbers AS x ON x.n <= least(d.members, d.holders - 1)
    INNER JOIN numbers AS y ON y.n <= least(d.members, d.rest)
    WHERE d.members - x.n - y.n BETWEEN 0 AND d.pool - d.cases
),

crowds AS (
    SELECT c.crowd, any_value(c.cases) AS cases FROM cells AS c GROUP BY c.crowd
),

told AS (
    SELECT
        'coalition_candidates' AS measure,
        'worst' AS how,
        coalesce(sum(c.cases) FILTER (WHERE c.cases - coalition < at_least), 0) AS n,
        coalesce(sum(c.cases), 0) AS total
    FROM crowds AS c
    UNION ALL
    SELECT
        'coalition_above',
        'worst',
        coalesce(sum(w.holders) FILTER (WHERE w.is_above), 0),
        coalesce(sum(w.holders), 0)
    FROM worst AS w
    WHERE w.is_bounded
    UNION ALL
    SELECT
        'coalition_certain',
        'worst',
        coalesce(sum(w.holders) FILTER (WHERE w.is_certain), 0),
        coalesce(sum(w.holders), 0)
    FROM worst AS w
    UNION ALL
    SELECT
        'coalition_certain',
        'without',
        coalesce(sum(w.holders) FILTER (WHERE w.is_certain_alone), 0),
        coalesce(sum(w.holders), 0)
    FROM worst AS w
    UNION ALL
    SELECT
        'coalition_above',
        'at random',
        coalesce(fsum(l.holders * l.p) FILTER (WHERE l.is_above), 0),
        coalesce(fsum(l.holders * l.p), 0)
    FROM likely AS l
    WHERE l.is_bounded
    UNION ALL
    SELECT
        'coalition_certain',
        'at random',
        coalesce(fsum(l.holders * l.p) FILTER (WHERE l.is_certain), 0),
        coalesce(fsum(l.holders * l.p), 0)
    FROM likely AS l
)

SELECT
    unnest(srsql.metric_row(
        of_release,
        t.measure,
        t.how || CASE WHEN t.how <> 'without' THEN ', ' || coalition || ' cases' ELSE '' END
        || scope,
        t.n,
        t.total
    ))
FROM told AS t
WHERE t.total > 0;

-- What:    the natural logarithm of the binomial coefficient; 0 <= k <= n.
CREATE OR REPLACE MACRO srsql.log_choose(n, k) AS (
    lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
);

-- What:    the crowds of a release of rows: groups, and the values that rows of their cases show.
--          Rows over a lattice are no case's.
-- Outputs: cells as srsql.coalition takes them.
CREATE OR REPLACE MACRO srsql.coalition_groups(of_release) AS TABLE
WITH
crowd AS (
    SELECT m.group_id, count(*) AS cases
    FROM srsql.member AS m
    ANTI JOIN srsql.lattice AS l ON m.release_id = l.release_id
    WHERE m.release_id = of_release
    GROUP BY m.group_id
),

held AS (
    SELECT m.group_id, t.term_no, count(*) AS holders
    FROM srsql.member AS m
    INNER JOIN srsql.case_term AS t
        ON t.release_id = of_release AND m.case_no = t.case_no AND t.direct
    WHERE m.release_id = of_release
    GROUP BY m.group_id, t.term_no
)

SELECT
    c.group_id AS crowd,
    c.cases,
    h.term_no AS value,
    coalesce(h.holders, 0) AS holders,
    coalesce(q.theta_num, 1) AS theta_num,
    coalesce(q.theta_den, 1) AS theta_den,
    c.cases AS pool
FROM crowd AS c
LEFT JOIN held AS h ON c.group_id = h.group_id
LEFT JOIN srsql.threshold AS q
    ON q.release_id = of_release AND h.term_no = q.term_no AND q.theta_den > 0;

-- What:    the crowds of terms apart from records, for an attacker who knows a term of a record
--          and its cluster: subrecords of a record chunk that hold it; the values are the other
--          terms of the chunk. No term has a theta.
-- Inputs:  clusters(cluster, records), record_chunks(cluster, chunk, subrecord, term).
-- Outputs: cells as srsql.coalition takes them.
CREATE OR REPLACE MACRO srsql.coalition_chunks(clusters, record_chunks) AS TABLE
WITH
part AS (
    SELECT DISTINCT r.cluster, r.chunk, r.subrecord, r.term FROM query_table(record_chunks) AS r
),

known AS (
    SELECT
        p.cluster,
        p.chunk,
        p.term,
        count(*) AS cases,
        row_number() OVER () AS crowd
    FROM part AS p
    GROUP BY p.cluster, p.chunk, p.term
),

together AS (
    SELECT k.crowd, o.term, count(*) AS holders
    FROM known AS k
    INNER JOIN part AS p ON k.cluster = p.cluster AND k.chunk = p.chunk AND k.term = p.term
    INNER JOIN part AS o
        ON p.cluster = o.cluster AND p.chunk = o.chunk AND p.subrecord = o.subrecord
        AND p.term <> o.term
    GROUP BY k.crowd, o.term
)

SELECT
    k.crowd,
    k.cases,
    t.term AS value,
    coalesce(t.holders, 0) AS holders,
    1 AS theta_num,
    1 AS theta_den,
    c.records AS pool
FROM known AS k
INNER JOIN query_table(clusters) AS c ON k.cluster = c.cluster
LEFT JOIN together AS t ON k.crowd = t.crowd;
