-- What one who knows where a patient is and some of the items published of it can single out and
-- infer: items are drugs and terms, each the normalized name of one attribute, without role or
-- sequence. Parameters name tables; `query_table` reads them.

-- What:    what known items leave of every released case (UDF srsql_exposure). Candidates hold the
--          known items and have a region that covers the case's own quasi-identifiers, as far as
--          the release tells one.
-- Inputs:  of_release: a release id; items(case_no, attribute, term, sensitive): what is published
--          of its cases, no row twice; seed: of the sets of three that are drawn.
-- Outputs: case_no, known ('drugs', 'terms', 'drugs or terms'), items (0 to 3, or NULL for all),
--          sets (looked at), fewest (candidates of the worst set, at most k), and how many sets
--          leave fewer than k (below_k), leave one (alone), let a further term follow with
--          certainty (certain) or with nine candidates in ten (likely; for 1 and 2 items). Who has
--          fewer items is known by all of them; who has none has no row.
-- Source:  SPEC section 18.
CREATE OR REPLACE MACRO srsql.exposure(of_release, items, seed) AS TABLE
WITH
numbered AS MATERIALIZED (
    SELECT
        i.case_no,
        (dense_rank() OVER (ORDER BY i.sensitive, i.attribute, i.term) - 1)::INTEGER AS item_no,
        CASE
            WHEN i.sensitive THEN dense_rank() OVER (PARTITION BY i.sensitive ORDER BY i.term)
            ELSE 0
        END::INTEGER - 1 AS value_no
    FROM query_table(items) AS i
),

boxes AS MATERIALIZED (
    SELECT q.case_no, q.position, q.low, q.high, true AS own
    FROM srsql.original_qid(of_release) AS q
    UNION ALL
    SELECT m.case_no, g.position, g.low, g.high, false AS own
    FROM srsql.member AS m
    INNER JOIN srsql.region AS g ON m.release_id = g.release_id AND m.group_id = g.group_id
    WHERE m.release_id = of_release
),

found AS (
    SELECT unnest(srsql_exposure(
        (
            SELECT coalesce(list(m.case_no::INTEGER ORDER BY m.case_no), [])
            FROM srsql.member AS m
            WHERE m.release_id = of_release
        ),
        (
            SELECT coalesce(list(struct_pack(
                case_no := b.case_no::INTEGER,
                place := b.position::INTEGER,
                low := b.low::BIGINT,
                high := b.high::BIGINT
            )) FILTER (WHERE b.own AND b.low IS NOT NULL), [])
            FROM boxes AS b
        ),
        (
            SELECT coalesce(list(struct_pack(
                case_no := b.case_no::INTEGER,
                place := b.position::INTEGER,
                low := b.low::BIGINT,
                high := b.high::BIGINT
            )) FILTER (WHERE NOT b.own AND b.low IS NOT NULL), [])
            FROM boxes AS b
        ),
        (
            SELECT coalesce(list(struct_pack(case_no := n.case_no::INTEGER, item_no := n.item_no)), [])
            FROM numbered AS n
        ),
        (
            SELECT coalesce(list(f.value_no ORDER BY f.item_no), [])
            FROM (SELECT DISTINCT n.item_no, n.value_no FROM numbered AS n) AS f
        ),
        (SELECT r.k::INTEGER FROM srsql.release AS r WHERE r.release_id = of_release),
        seed::BIGINT
    )) AS row
)

SELECT
    f.row.case_no,
    ['drugs', 'terms', 'drugs or terms'][f.row.known + 1] AS known,
    nullif(f.row.items, 4) AS items,
    f.row.sets,
    f.row.fewest,
    f.row.below_k,
    f.row.alone,
    f.row.certain,
    f.row.likely
FROM found AS f;

-- What:    singling out and inference as shares of the released cases: of some set of the case's
--          items ('worst': what a known patient risks) and of a random one.
-- Inputs:  of_release; exposure: the name of a table with the columns of srsql.exposure.
-- Outputs: uniform rows; violating = cases (for random sets, expected ones), total = cases that
--          have such items.
--          candidates_below_k: fewer than k candidates; one_candidate: none but the case;
--          certain_term, likely_term: a further term follows. The scope tells the known items.
-- Source:  SPEC section 18.
CREATE OR REPLACE MACRO srsql.singling_out(of_release, exposure) AS TABLE
WITH
bound AS (
    SELECT r.k FROM srsql.release AS r WHERE r.release_id = of_release
),

sums AS (
    SELECT
        e.known,
        coalesce(e.items, 4) AS items,
        count(*) AS cases,
        count(*) FILTER (WHERE e.fewest < b.k) AS worst_below_k,
        count(*) FILTER (WHERE e.fewest = 1) AS worst_alone,
        count(*) FILTER (WHERE e.certain > 0) AS worst_certain,
        count(*) FILTER (WHERE e.likely > 0) AS worst_likely,
        sum((e.below_k / e.sets)::DECIMAL(38, 15)) AS below_k,
        sum((e.alone / e.sets)::DECIMAL(38, 15)) AS alone,
        sum((e.certain / e.sets)::DECIMAL(38, 15)) AS certain,
        sum((e.likely / e.sets)::DECIMAL(38, 15)) AS likely
    FROM query_table(exposure) AS e
    CROSS JOIN bound AS b
    WHERE e.items IS DISTINCT FROM 0 OR e.known = 'drugs'
    GROUP BY e.known, e.items
),

named AS (
    SELECT
        s.*,
        CASE s.items
            WHEN 0 THEN 'region alone'
            WHEN 1 THEN '1 of the ' || s.known
            WHEN 2 THEN '2 of the ' || s.known
            WHEN 3 THEN '3 of the ' || s.known
            ELSE 'all ' || replace(s.known, ' or ', ' and ')
        END AS scope
    FROM sums AS s
),

measures AS (
    SELECT
        n.*,
        unnest([
            struct_pack(
                measure := 'candidates_below_k', worst := n.worst_below_k, random := n.below_k
            ),
            struct_pack(measure := 'one_candidate', worst := n.worst_alone, random := n.alone),
            struct_pack(measure := 'certain_term', worst := n.worst_certain, random := n.certain),
            struct_pack(measure := 'likely_term', worst := n.worst_likely, random := n.likely)
        ]) AS m
    FROM named AS n
),

-- one set is the worst and a random one at once
ways AS (
    SELECT m.*, unnest(CASE WHEN m.items IN (0, 4) THEN [''] ELSE ['worst', 'random'] END) AS way
    FROM measures AS m
    WHERE m.items IN (1, 2) OR m.m.measure IN ('candidates_below_k', 'one_candidate')
)

SELECT unnest(srsql.metric_row(
    of_release,
    w.m.measure,
    w.scope || CASE WHEN w.way = '' THEN '' ELSE ', ' || w.way END,
    CASE WHEN w.way = 'random' THEN w.m.random ELSE w.m.worst END,
    w.cases
))
FROM ways AS w
ORDER BY w.m.measure, w.items, w.known, w.way DESC;

-- What:    what no threshold bounds: the pairs of a case and a value of it whose theta is 1.
-- Inputs:  of_release.
-- Outputs: a uniform row; violating = pairs, total = all pairs of released cases and values.
-- Source:  SPEC section 18.
CREATE OR REPLACE MACRO srsql.unbounded_values(of_release) AS TABLE
WITH pairs AS (
    SELECT t.theta_num >= t.theta_den AS unbounded
    FROM srsql.case_term AS c
    INNER JOIN srsql.threshold AS t ON c.release_id = t.release_id AND c.term_no = t.term_no
    SEMI JOIN srsql.member AS m ON c.release_id = m.release_id AND c.case_no = m.case_no
    WHERE c.release_id = of_release AND c.direct AND t.released
),

figures AS (
    SELECT count(*) FILTER (WHERE p.unbounded) AS unbounded, count(*) AS total FROM pairs AS p
)

SELECT unnest(srsql.metric_row(
    of_release, 'unbounded_values', 'case and value', f.unbounded, f.total
))
FROM figures AS f;

-- What:    regions all of whose cases have a value in common, which the region alone tells.
-- Inputs:  of_release.
-- Outputs: a uniform row; violating = such regions, total = regions.
-- Source:  SPEC section 18.
CREATE OR REPLACE MACRO srsql.unanimous_regions(of_release) AS TABLE
WITH
regions AS (
    SELECT
        m.case_no,
        list(struct_pack(low := g.low, high := g.high) ORDER BY g.position) AS region
    FROM srsql.member AS m
    LEFT JOIN srsql.region AS g ON m.release_id = g.release_id AND m.group_id = g.group_id
    WHERE m.release_id = of_release
    GROUP BY m.case_no
),

sizes AS (
    SELECT r.region, count(*) AS cases FROM regions AS r GROUP BY r.region
),

held AS (
    SELECT r.region, c.term_no, count(*) AS cases
    FROM regions AS r
    INNER JOIN srsql.case_term AS c ON c.release_id = of_release AND r.case_no = c.case_no
    INNER JOIN srsql.threshold AS t ON c.release_id = t.release_id AND c.term_no = t.term_no
    WHERE c.direct AND t.released
    GROUP BY r.region, c.term_no
),

figures AS (
    SELECT
        count(*) AS total,
        count(*) FILTER (
            WHERE EXISTS (
                SELECT 1 FROM held AS h WHERE h.region = s.region AND h.cases = s.cases
            )
        ) AS unanimous
    FROM sizes AS s
)

SELECT unnest(srsql.metric_row(
    of_release, 'unanimous_regions', 'region', f.unanimous, f.total
))
FROM figures AS f;
