-- What one who knows where a patient is and some of the items published of it can single out and
-- infer: items are drugs and terms, each a name of one attribute as it is printed, without role or
-- sequence. Parameters name tables; `query_table` reads them.

-- What:    what known items leave of the released cases (UDF srsql_exposure). Candidates hold the
--          known items and have a region that covers the case's own quasi-identifiers, as far as
--          the release tells one. Every set of one and of two items of a case is looked at; of
--          three, four sets of each case are drawn; all items are one set.
-- Inputs:  of_release: a release id; items(case_no, attribute, term, value, sensitive): what is
--          published of its cases, a row once or more often, and of which value the term is a
--          spelling: that follows from others, whatever its spelling is; cases: so many are drawn
--          and looked at, among all as candidates; seed: of what is drawn; readings: a list of how
--          an empty value of a row is read. 'anything': it covers every value. 'not known': no
--          report told it, so that candidates show a value exactly where the row of the case does.
-- Outputs: empty (the reading), known ('drugs', 'terms', 'drugs or terms'), items (0 to 3, or NULL
--          for all), cases that have such items; those some set of which leaves fewer than k
--          candidates (worst_below_k) or one (worst_alone), or lets a further term of the case
--          follow with certainty (worst_certain) or with nine candidates in ten (worst_likely; for
--          1 and 2 items); and sums over the cases of the shares of their sets that do (below_k,
--          alone, certain, likely). Who has fewer items is known by all of them.
-- Source:  SPEC section 18.
CREATE OR REPLACE MACRO srsql.exposure(of_release, items, cases, seed, readings) AS TABLE
WITH
reading AS MATERIALIZED (
    SELECT
        unnest(readings) AS empty,
        generate_subscripts(readings, 1) AS reading_no
),

-- a drawn value is empty for a case and not for its group
drawn_empty AS (
    SELECT p.case_no, sum(1::BIGINT << p.position)::BIGINT AS positions
    FROM srsql.perturbed AS p
    WHERE p.release_id = of_release AND p.low IS NULL AND list_contains(readings, 'not known')
    GROUP BY p.case_no
),

shown_alike AS MATERIALIZED (
    SELECT m.case_no, m.group_id, coalesce(d.positions, 0) AS drawn_empty
    FROM srsql.member AS m
    LEFT JOIN drawn_empty AS d ON m.case_no = d.case_no
    WHERE m.release_id = of_release
),

places AS MATERIALIZED (
    SELECT
        s.group_id,
        s.drawn_empty,
        row_number() OVER (ORDER BY s.group_id, s.drawn_empty)::INTEGER AS place_no
    FROM shown_alike AS s
    GROUP BY s.group_id, s.drawn_empty
),

placed_case AS MATERIALIZED (
    SELECT s.case_no, p.place_no
    FROM shown_alike AS s
    INNER JOIN places AS p ON s.group_id = p.group_id AND s.drawn_empty = p.drawn_empty
),

far AS (
    SELECT 1::BIGINT << 61 AS away
),

-- Where empty means not known it is one value more, far below all others. A drawn value tells no
-- more than that it is none of these.
shown AS MATERIALIZED (
    SELECT
        r.reading_no,
        p.place_no,
        g.position,
        g.low IS NULL AS lacks_region,
        CASE
            WHEN g.low IS NOT NULL THEN g.low
            WHEN t.position IS NULL OR (p.drawn_empty >> g.position) & 1 = 1 THEN -f.away
            ELSE 1 - f.away
        END AS low,
        CASE
            WHEN g.low IS NOT NULL THEN g.high
            WHEN t.position IS NULL OR (p.drawn_empty >> g.position) & 1 = 1 THEN -f.away
            ELSE f.away
        END AS high
    FROM srsql.region AS g
    INNER JOIN places AS p ON g.group_id = p.group_id
    CROSS JOIN far AS f
    CROSS JOIN reading AS r
    LEFT JOIN srsql.perturbation AS t ON t.release_id = of_release AND g.position = t.position
    WHERE g.release_id = of_release AND (g.low IS NOT NULL OR r.empty = 'not known')
),

members AS MATERIALIZED (
    SELECT coalesce(
        list(struct_pack(case_no := p.case_no::INTEGER, group_no := p.place_no)), []
    ) AS placed
    FROM placed_case AS p
),

targets AS MATERIALIZED (
    SELECT srsql_drawn_cases(
        list_transform(m.placed, LAMBDA p: struct_extract(p, 'case_no')),
        cases::INTEGER,
        seed::BIGINT
    ) AS case_nos
    FROM members AS m
),

target AS MATERIALIZED (
    SELECT unnest(t.case_nos) AS case_no FROM targets AS t
),

by_presence AS (
    SELECT s.reading_no, c.case_no, s.position, s.low, s.high
    FROM target AS t
    INNER JOIN placed_case AS c ON t.case_no = c.case_no
    INNER JOIN shown AS s ON c.place_no = s.place_no AND s.lacks_region
),

own AS (
    SELECT e.reading_no, e.case_no, e.position, e.low, e.high
    FROM by_presence AS e
    UNION ALL
    SELECT r.reading_no, q.case_no, q.position, q.low, q.high
    FROM srsql.original_qid(of_release) AS q
    CROSS JOIN reading AS r
    SEMI JOIN target AS t ON q.case_no = t.case_no
    ANTI JOIN by_presence AS e
        ON
            r.reading_no = e.reading_no
            AND q.case_no = e.case_no
            AND q.position = e.position
    WHERE q.low IS NOT NULL
),

own_lists AS (
    SELECT
        r.reading_no,
        coalesce(list(struct_pack(
            case_no := o.case_no::INTEGER,
            position := o.position::INTEGER,
            low := o.low::BIGINT,
            high := o.high::BIGINT
        )) FILTER (WHERE o.case_no IS NOT NULL), []) AS boxes
    FROM reading AS r
    LEFT JOIN own AS o ON r.reading_no = o.reading_no
    GROUP BY r.reading_no
),

shown_lists AS (
    SELECT
        r.reading_no,
        coalesce(list(struct_pack(
            case_no := s.place_no,
            position := s.position::INTEGER,
            low := s.low::BIGINT,
            high := s.high::BIGINT
        )) FILTER (WHERE s.place_no IS NOT NULL), []) AS boxes
    FROM reading AS r
    LEFT JOIN shown AS s ON r.reading_no = s.reading_no
    GROUP BY r.reading_no
),

known AS MATERIALIZED (
    SELECT DISTINCT i.attribute, i.term, i.value, i.sensitive
    FROM query_table(items) AS i
    SEMI JOIN target AS t ON i.case_no = t.case_no
),

-- what no target holds is no known item, unless it tells of a value that a target has
told AS (
    SELECT k.attribute, k.term, k.value, false AS sensitive FROM known AS k WHERE NOT k.sensitive
    UNION ALL
    SELECT DISTINCT i.attribute, i.term, i.value, true AS sensitive
    FROM query_table(items) AS i
    SEMI JOIN known AS k ON i.value = k.value AND k.sensitive
    WHERE i.sensitive
),

names AS MATERIALIZED (
    SELECT
        n.attribute,
        n.term,
        (row_number() OVER (ORDER BY n.sensitive, n.attribute, n.term) - 1)::INTEGER AS item_no,
        CASE
            WHEN n.sensitive THEN dense_rank() OVER (PARTITION BY n.sensitive ORDER BY n.value) - 1
            ELSE -1
        END::INTEGER AS value_no
    FROM told AS n
),

found AS (
    SELECT unnest(srsql_exposure(
        (SELECT m.placed FROM members AS m),
        (SELECT list(l.boxes ORDER BY l.reading_no) FROM own_lists AS l),
        (SELECT list(l.boxes ORDER BY l.reading_no) FROM shown_lists AS l),
        (
            SELECT
                coalesce(
                    list(struct_pack(case_no := i.case_no::INTEGER, item_no := n.item_no)), []
                )
            FROM query_table(items) AS i
            INNER JOIN names AS n ON i.attribute = n.attribute AND i.term = n.term
        ),
        (SELECT coalesce(list(n.value_no ORDER BY n.item_no), []) FROM names AS n),
        (SELECT t.case_nos FROM targets AS t),
        struct_pack(
            k := (SELECT r.k::INTEGER FROM srsql.release AS r WHERE r.release_id = of_release),
            seed := seed::BIGINT
        )
    ), recursive := true)
)

SELECT
    readings[f.reading + 1] AS empty,
    ['drugs', 'terms', 'drugs or terms'][f.known + 1] AS known,
    nullif(f.items, 4) AS items,
    f.cases,
    f.worst_below_k,
    f.worst_alone,
    f.worst_certain,
    f.worst_likely,
    f.below_k,
    f.alone,
    f.certain,
    f.likely
FROM found AS f;

-- What:    singling out and inference as shares of the released cases: of some set of the case's
--          items ('worst': what a known patient risks) and of a random one.
-- Inputs:  as srsql.exposure.
-- Outputs: uniform rows, each with its reading (empty); violating = cases (for random sets,
--          expected ones), total = cases looked at that have such items. candidates_below_k: fewer
--          than k candidates; one_candidate: none but itself; certain_term, likely_term: a further
--          term follows. The scope tells the known items.
-- Source:  SPEC section 18.
CREATE OR REPLACE MACRO srsql.singling_out(of_release, items, cases, seed, readings) AS TABLE
WITH
named AS (
    SELECT
        e.*,
        CASE coalesce(e.items, 4)
            WHEN 0 THEN 'region alone'
            WHEN 4 THEN 'all ' || replace(e.known, ' or ', ' and ')
            ELSE e.items::VARCHAR || ' of the ' || e.known
        END AS scope
    FROM srsql.exposure(of_release, items, cases, seed, readings) AS e
    WHERE e.items IS DISTINCT FROM 0 OR e.known = 'drugs'
),

measures AS (
    SELECT
        n.*,
        unnest([
            struct_pack(
                name := 'candidates_below_k', worst := n.worst_below_k, random := n.below_k
            ),
            struct_pack(name := 'one_candidate', worst := n.worst_alone, random := n.alone),
            struct_pack(name := 'certain_term', worst := n.worst_certain, random := n.certain),
            struct_pack(name := 'likely_term', worst := n.worst_likely, random := n.likely)
        ]) AS measure
    FROM named AS n
),

-- where there is one set, it is the worst and a random one at once
ways AS (
    SELECT
        m.*,
        unnest(
            CASE WHEN coalesce(m.items, 0) = 0 THEN [''] ELSE [', worst', ', random'] END
        ) AS way
    FROM measures AS m
    WHERE m.items IN (1, 2) OR m.measure.name IN ('candidates_below_k', 'one_candidate')
)

SELECT
    unnest(srsql.metric_row(
        of_release,
        w.measure.name,
        w.scope || w.way,
        CASE WHEN w.way = ', random' THEN w.measure.random ELSE w.measure.worst END,
        w.cases
    )),
    w.empty
FROM ways AS w
ORDER BY w.measure.name ASC, coalesce(w.items, 4) ASC, w.known ASC, w.way DESC;

-- What:    what no threshold bounds: the pairs of a case and a value of it whose theta is 1.
-- Inputs:  of_release.
-- Outputs: a uniform row; violating = pairs, total = all pairs of released cases and values.
-- Source:  SPEC section 18.
CREATE OR REPLACE MACRO srsql.unbounded_values(of_release) AS TABLE
WITH pairs AS (
    SELECT t.theta_num >= t.theta_den AS unbounded
    FROM srsql.case_term AS c
    INNER JOIN srsql.threshold AS t ON t.release_id = of_release AND c.term_no = t.term_no
    SEMI JOIN srsql.member AS m ON m.release_id = of_release AND c.case_no = m.case_no
    WHERE c.release_id = of_release AND c.direct AND t.released
),

figures AS (
    SELECT count(*) FILTER (WHERE p.unbounded) AS unbounded, count(*) AS total FROM pairs AS p
)

SELECT unnest(srsql.metric_row(
    of_release, 'unbounded_values', 'case and value', f.unbounded, f.total
))
FROM figures AS f;

-- What:    the regions of the groups of a release, numbered: groups that show the same have one.
-- Inputs:  of_release.
-- Outputs: group_id, region_no. A group of which no quasi-identifier is known to the catalog has
--          no row.
-- Source:  SPEC section 18.
CREATE OR REPLACE MACRO srsql.numbered_regions(of_release) AS TABLE
WITH
places AS MATERIALIZED (
    SELECT g.group_id, g.position, g.low, g.high
    FROM srsql.region AS g
    WHERE g.release_id = of_release
),

-- a number is compared faster than the place that it stands for
numbered AS (
    SELECT
        p.position,
        p.low,
        p.high,
        row_number() OVER (ORDER BY p.position, p.low, p.high) AS place_no
    FROM places AS p
    GROUP BY p.position, p.low, p.high
),

regions AS (
    SELECT p.group_id, list_sort(list(n.place_no)) AS region
    FROM places AS p
    INNER JOIN numbered AS n
        ON
            p.position = n.position
            AND p.low IS NOT DISTINCT FROM n.low
            AND p.high IS NOT DISTINCT FROM n.high
    GROUP BY p.group_id
)

SELECT r.group_id, dense_rank() OVER (ORDER BY r.region) AS region_no
FROM regions AS r;

-- What:    regions all of whose cases have a value in common, which the region alone tells. It is
--          one of the first case's, so no others are counted.
-- Inputs:  of_release.
-- Outputs: a uniform row; violating = such regions, total = regions.
-- Source:  SPEC section 18.
CREATE OR REPLACE MACRO srsql.unanimous_regions(of_release) AS TABLE
WITH
members AS MATERIALIZED (
    SELECT m.case_no, coalesce(n.region_no, 0) AS region_no
    FROM srsql.member AS m
    LEFT JOIN srsql.numbered_regions(of_release) AS n ON m.group_id = n.group_id
    WHERE m.release_id = of_release
),

sizes AS MATERIALIZED (
    SELECT m.region_no, count(*) AS cases, min(m.case_no) AS first_case
    FROM members AS m
    GROUP BY m.region_no
),

terms AS (
    SELECT c.case_no, c.term_no
    FROM srsql.case_term AS c
    INNER JOIN srsql.threshold AS t ON t.release_id = of_release AND c.term_no = t.term_no
    WHERE c.release_id = of_release AND c.direct AND t.released
),

of_first AS (
    SELECT s.region_no, t.term_no
    FROM sizes AS s
    INNER JOIN terms AS t ON s.first_case = t.case_no
),

held AS (
    SELECT f.region_no, f.term_no, count(*) AS cases
    FROM of_first AS f
    INNER JOIN members AS m ON f.region_no = m.region_no
    INNER JOIN terms AS t ON m.case_no = t.case_no AND f.term_no = t.term_no
    GROUP BY f.region_no, f.term_no
),

figures AS (
    SELECT
        count(*) AS total,
        count(*) FILTER (
            WHERE EXISTS (
                SELECT 1 FROM held AS h WHERE h.region_no = s.region_no AND h.cases = s.cases
            )
        ) AS unanimous
    FROM sizes AS s
)

SELECT unnest(srsql.metric_row(
    of_release, 'unanimous_regions', 'region', f.unanimous, f.total
))
FROM figures AS f;

-- What:    cases that have their region together with all their values of a column for themselves.
-- Inputs:  of_release; items(case_no, column_name, value): what the released cases show of columns.
-- Outputs: a uniform row for each column; violating = cases that no other case of their region is
--          like, total = cases that show a value of it.
-- Source:  SPEC section 18.
CREATE OR REPLACE MACRO srsql.column_singling_out(of_release, items) AS TABLE
WITH
shown AS (
    SELECT i.column_name, i.case_no, list_sort(list(DISTINCT i.value)) AS held
    FROM query_table(items) AS i
    WHERE i.value IS NOT NULL
    GROUP BY i.column_name, i.case_no
),

alike AS (
    SELECT
        s.column_name,
        count(*) OVER (
            PARTITION BY s.column_name, coalesce(n.region_no, 0), s.held
        ) AS cases
    FROM shown AS s
    INNER JOIN srsql.member AS m ON m.release_id = of_release AND s.case_no = m.case_no
    LEFT JOIN srsql.numbered_regions(of_release) AS n ON m.group_id = n.group_id
),

figures AS (
    SELECT a.column_name, count(*) FILTER (WHERE a.cases = 1) AS alone, count(*) AS total
    FROM alike AS a
    GROUP BY a.column_name
)

SELECT unnest(srsql.metric_row(
    of_release, 'one_candidate_by_column', f.column_name, f.alone, f.total
))
FROM figures AS f
ORDER BY f.column_name;
