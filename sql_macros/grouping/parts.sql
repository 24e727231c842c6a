-- Parts: what a missingness pattern is cut into, so that its cases are grouped part by part.

-- What:    the part in which each case of a pattern is grouped: cut by the values of the category
--          that has fewest, then by quantile ranges of the number that has fewest. Equal values are
--          never parted; values of the category that too few have go together.
-- Inputs:  profiles(case_no, pattern, carrier); boxes(case_no, position, low, high);
--          attributes(position, span), span 0: a category; chosen: the pattern (bit mask of the
--          QIDs grouped by); most: parts at most, NULL: as many as there can be; at_least: cases
--          that carry the bounds in a part, where equal values do not make it smaller.
-- Outputs: case_no, part (dense from 0); no row for a pattern without QIDs.
-- Source:  SPEC section 17 (parts); which QIDs and which ranges are ours.
CREATE OR REPLACE MACRO srsql.parts_of(profiles, boxes, attributes, chosen, most, at_least) AS TABLE
WITH
members AS (
    SELECT p.case_no, p.carrier::INTEGER AS carries
    FROM query_table(profiles) AS p
    WHERE p.pattern = chosen
),

known AS MATERIALIZED (
    SELECT
        b.case_no,
        b.position,
        b.low,
        b.high,
        a.span = 0 AS is_category
    FROM query_table(boxes) AS b
    INNER JOIN query_table(attributes) AS a ON b.position = a.position
    SEMI JOIN members AS m ON b.case_no = m.case_no
    WHERE (chosen::INTEGER >> b.position) & 1 = 1
),

counted AS (
    SELECT k.position, k.is_category, count(DISTINCT k.low) AS distinct_values
    FROM known AS k
    GROUP BY k.position, k.is_category
),

cutting AS (
    SELECT
        c.is_category,
        list(c.position ORDER BY c.distinct_values, c.position)[1] AS position
    FROM counted AS c
    GROUP BY c.is_category
),

-- node: where the value of the category lies in its tree; place: twice the middle of the number.
placed AS MATERIALIZED (
    SELECT
        m.case_no,
        m.carries,
        max(k.low) FILTER (WHERE c.is_category) AS node,
        max(k.low + k.high) FILTER (WHERE NOT c.is_category) AS place
    FROM members AS m
    INNER JOIN known AS k ON m.case_no = k.case_no
    INNER JOIN cutting AS c ON k.position = c.position
    GROUP BY m.case_no, m.carries
),

nodes AS (
    SELECT p.node, sum(p.carries) AS carriers
    FROM placed AS p
    WHERE p.node IS NOT NULL
    GROUP BY p.node
),

frequent AS (
    SELECT n.node, n.carriers FROM nodes AS n WHERE n.carriers >= at_least
),

-- Where all others together are too few as well, they go to the smallest of the frequent ones.
others AS (
    SELECT
        CASE
            WHEN coalesce(sum(n.carriers), 0) < at_least
                THEN (SELECT list(f.node ORDER BY f.carriers, f.node)[1] FROM frequent AS f)
        END AS node
    FROM nodes AS n
    WHERE n.carriers < at_least
),

by_category AS MATERIALIZED (
    SELECT p.case_no, p.carries, p.place, coalesce(f.node, o.node, -1) AS section
    FROM placed AS p
    LEFT JOIN frequent AS f ON p.node = f.node
    CROSS JOIN others AS o
),

sections AS (
    SELECT
        CASE
            WHEN (SELECT count(DISTINCT b.section) FROM by_category AS b) <= coalesce(most, 2 ** 31)
                THEN c.section
            ELSE -1
        END AS section,
        c.case_no,
        c.carries,
        c.place
    FROM by_category AS c
),

sized AS (
    SELECT
        s.section,
        s.case_no,
        s.place,
        sum(s.carries) OVER (PARTITION BY s.section)::BIGINT AS carriers,
        coalesce(sum(s.carries) OVER (
            PARTITION BY s.section
            ORDER BY s.place RANGE BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ), 0)::BIGINT AS carriers_below,
        greatest(
            at_least,
            ceil(sum(s.carries) OVER () / coalesce(most, 2 ** 31))
        )::BIGINT AS size
    FROM sections AS s
),

-- Of n ranges a case lies in that which the carriers below its value have filled.
ranges AS (
    SELECT
        s.section,
        s.case_no,
        coalesce(
            least(
                greatest(s.carriers // s.size, 1) - 1,
                s.carriers_below * greatest(s.carriers // s.size, 1) // nullif(s.carriers, 0)
            ),
            0
        ) AS range_no
    FROM sized AS s
)

SELECT
    r.case_no,
    (dense_rank() OVER (ORDER BY r.section, r.range_no) - 1)::INTEGER AS part
FROM ranges AS r;

-- What:    parts as they go to whoever carries them: a row each, in which everything is a list.
-- Inputs:  members(part, case_no, known, carrier, kind, group_no); boxes(case_no, position, low,
--          high); case_terms(case_no, term_no, weight).
-- Outputs: part, cases STRUCT(case_no, known, carrier, kind, group_no)[] by case, boxes
--          STRUCT(case_no, position, low, high)[] of the QIDs in known, terms
--          STRUCT(case_no, term_no, weight)[]; NULL where there is none.
-- Source:  SPEC section 17 (what crosses to a task are public Arrow types).
CREATE OR REPLACE MACRO srsql.part_rows(members, boxes, case_terms) AS TABLE
WITH
everybody AS (
    SELECT
        m.part,
        list(struct_pack(
            case_no := m.case_no,
            known := m.known,
            carrier := m.carrier,
            kind := m.kind::INTEGER,
            group_no := m.group_no
        ) ORDER BY m.case_no) AS cases
    FROM query_table(members) AS m
    GROUP BY m.part
),

ends AS (
    SELECT
        m.part,
        list(struct_pack(
            case_no := b.case_no, position := b.position, low := b.low, high := b.high
        )) AS boxes
    FROM query_table(boxes) AS b
    INNER JOIN query_table(members) AS m ON b.case_no = m.case_no
    WHERE (m.known >> b.position) & 1 = 1
    GROUP BY m.part
),

held AS (
    SELECT
        m.part,
        list(struct_pack(
            case_no := t.case_no, term_no := t.term_no, weight := t.weight
        )) AS terms
    FROM query_table(case_terms) AS t
    INNER JOIN query_table(members) AS m ON t.case_no = m.case_no
    GROUP BY m.part
)

SELECT p.part, p.cases, e.boxes, h.terms
FROM everybody AS p
LEFT JOIN ends AS e ON p.part = e.part
LEFT JOIN held AS h ON p.part = h.part;

-- What:    srsql.group_cases of several missingness patterns, each by itself, twice as many at a
--          time as the connection has threads.
-- Inputs:  as of srsql.group_cases; problems(pattern, k: at_least, draw): in place of chosen,
--          at_least and draw. Each case has one box of each QID of its pattern.
-- Outputs: pattern, case_no, group_no (from 0 on in each pattern; -1: no group could take it).
-- Source:  as of srsql.group_onto; SPEC section 17 (parts).
CREATE OR REPLACE MACRO srsql.group_patterns(
    profiles, boxes, case_terms, attributes, thresholds, problems, weight_scale, leftovers, rules
) AS TABLE
WITH
members AS MATERIALIZED (
    SELECT p.case_no, p.pattern, p.carrier, p.kind
    FROM query_table(profiles) AS p
    SEMI JOIN query_table(problems) AS b ON p.pattern = b.pattern
),

cases AS (
    SELECT list(struct_pack(
        case_no := m.case_no,
        known := m.pattern::INTEGER,
        carrier := m.carrier,
        kind := m.kind::INTEGER
    )) AS cases
    FROM members AS m
),

asked AS (
    SELECT list(struct_pack(
        pattern := b.pattern::INTEGER,
        k := b.k::BIGINT,
        draw := b.draw::BIGINT,
        attributes := q.attributes
    )) AS problems
    FROM query_table(problems) AS b
    CROSS JOIN LATERAL (
        SELECT a.attributes FROM srsql.attribute_list(attributes, b.pattern) AS a
    ) AS q
)

SELECT unnest(srsql_group_patterns(
    c.cases, e.boxes, h.terms, b.problems, t.thresholds,
    struct_insert(
        rules,
        weight_scale := weight_scale::BIGINT,
        leftovers := leftovers,
        threads := 2 * current_setting('threads')::INTEGER
    )
), recursive := true)
FROM cases AS c
CROSS JOIN srsql.every_box_list(boxes) AS e
CROSS JOIN srsql.term_list(case_terms, 'members') AS h
CROSS JOIN asked AS b
CROSS JOIN srsql.threshold_list(thresholds) AS t
WHERE len(c.cases) > 0;
