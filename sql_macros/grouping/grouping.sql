-- Grouping: the kernel as a table macro, and the regions of the groups it makes.

-- What:    the greedy grouping of the cases of one missingness pattern; where groups stand already,
--          the second stage alone: the other cases join them.
-- Inputs:  profiles(case_no, pattern, carrier, kind); standing(case_no, group_no from 0 on, or -1);
--          boxes(case_no, position, low, high);
--          case_terms(case_no, term_no, weight); attributes(position, span, parent[], last[],
--          height[]); thresholds(term_no dense from 0, theta_num, theta_den); chosen: the pattern
--          (bit mask of the QIDs grouped by); weight_scale: the weight of a certain value;
--          at_least: k; draw: a number that picks the first record; leftovers: 'withhold' or
--          'merge'; rules: STRUCT(core_only, after_join, from_last, more_seeds, alpha_num,
--          alpha_den). carrier: the case counts towards k and eta; kind: 0, or 1 to 4 for a case
--          with substantially many symptoms; core_only: groups are grown on carriers alone;
--          after_join: PR of Huang 2021, eq. (2); from_last: the next seed is farthest from the
--          record added last; more_seeds: first records that may complete no group before the
--          pattern's groups are grown no more (0 in the papers).
-- Outputs: case_no, group_no (-1: no group could take the case).
-- Source:  Lin 2016, Algorithms 1 and 2; Huang 2021, procedures 1 to 3; SPEC sections 7 and 8.
CREATE OR REPLACE MACRO srsql.group_onto(
    profiles, standing, boxes, case_terms, attributes, thresholds, chosen, weight_scale, at_least,
    draw, leftovers, rules
) AS TABLE
WITH
members AS (
    SELECT
        p.case_no, p.carrier, p.kind, coalesce(s.group_no, -1) AS group_no, chosen::INTEGER AS known
    FROM query_table(profiles) AS p
    LEFT JOIN query_table(standing) AS s ON p.case_no = s.case_no
    WHERE p.pattern = chosen
),

cases AS (
    SELECT
        list(m.case_no ORDER BY m.case_no) AS case_nos,
        list(struct_pack(
            carrier := m.carrier, kind := m.kind::INTEGER, group_no := m.group_no
        ) ORDER BY m.case_no) AS roles
    FROM members AS m
)

SELECT
    unnest(c.case_nos) AS case_no,
    unnest(srsql_group_cases(
        c.case_nos, c.roles, e.boxes, h.terms, q.attributes, t.thresholds,
        struct_insert(
            rules,
            k := at_least::BIGINT,
            weight_scale := weight_scale::BIGINT,
            draw := draw::BIGINT,
            leftovers := leftovers
        )
    )) AS group_no
FROM cases AS c
CROSS JOIN srsql.box_list(boxes, 'members') AS e
CROSS JOIN srsql.term_list(case_terms, 'members') AS h
CROSS JOIN srsql.attribute_list(attributes, chosen) AS q
CROSS JOIN srsql.threshold_list(thresholds) AS t
WHERE len(c.case_nos) > 0;

-- What:    the same, where no group stands yet.
-- Inputs:  as of srsql.group_onto.
-- Outputs: as of srsql.group_onto.
-- Source:  as of srsql.group_onto.
CREATE OR REPLACE MACRO srsql.group_cases(
    profiles, boxes, case_terms, attributes, thresholds, chosen, weight_scale, at_least, draw,
    leftovers, rules
) AS TABLE
WITH nothing AS (
    SELECT NULL::INTEGER AS case_no, NULL::INTEGER AS group_no WHERE false
)

SELECT g.case_no, g.group_no
FROM srsql.group_onto(
    profiles, 'nothing', boxes, case_terms, attributes, thresholds, chosen, weight_scale, at_least,
    draw, leftovers, rules
) AS g;

-- What:    what refinement begins with: the cases that have a group, and those that have none for
--          want of one.
-- Inputs:  roles(case_no, known, carrier, kind); grouped(case_no, group_no); withheld(case_no,
--          reason); reasons: of those that may be placed. known: the QIDs that a case may be
--          grouped by.
-- Outputs: case_no, known (bit mask of QIDs), carrier, kind, group_no (-1: none).
CREATE OR REPLACE MACRO srsql.cases_to_refine(roles, grouped, withheld, reasons) AS TABLE
SELECT
    r.case_no,
    r.known,
    r.carrier,
    r.kind,
    coalesce(g.group_no, -1) AS group_no
FROM query_table(roles) AS r
LEFT JOIN query_table(grouped) AS g ON r.case_no = g.case_no
LEFT JOIN query_table(withheld) AS w ON r.case_no = w.case_no
WHERE g.case_no IS NOT NULL OR list_contains(reasons::VARCHAR[], w.reason);

-- What:    better groups than those that there are, of all missingness patterns at once: first
--          fewer cases without a group, then less loss, at the same bounds.
-- Inputs:  placed(case_no, known, carrier, kind, group_no): the cases with the QIDs that they may
--          be grouped by (bit mask) and their groups, -1 for a case that is to be placed;
--          boxes(case_no, position dense from 0, low, high): one of each known QID of a case, of
--          others none counts; case_terms(case_no, term_no, weight); attributes(position, span,
--          parent[], last[], height[]); thresholds(term_no dense from 0, theta_num, theta_den,
--          attribute_no); weight_scale: the weight of a certain value;
--          at_least: k; rules: STRUCT(effort, alpha_num, alpha_den, diversity, attributes). carrier
--          and kind: as for srsql.group_cases; effort: 'fast' or 'full'; diversity: distinct values
--          of each of so many attributes, held by so many cases, 0: none are asked. Cases that
--          never meet are refined at the same time, as many as the connection has threads.
-- Outputs: case_no, group_no (-1: the case could not be placed), pattern: the QIDs that all members
--          of the group know.
-- Source:  SPEC section 7 (refinement); Lin 2016, Definition 3; Huang 2021, Definitions 4 and 7.
CREATE OR REPLACE MACRO srsql.refine_groups(
    placed, boxes, case_terms, attributes, thresholds, weight_scale, at_least, rules
) AS TABLE
WITH
cases AS (
    SELECT list(struct_pack(
        case_no := p.case_no,
        known := p.known::INTEGER,
        carrier := p.carrier,
        kind := p.kind::INTEGER,
        group_no := p.group_no::INTEGER
    )) AS cases
    FROM query_table(placed) AS p
),

theta AS (
    SELECT coalesce(list(struct_pack(
        num := q.theta_num, den := q.theta_den, attribute_no := q.attribute_no::INTEGER
    ) ORDER BY q.term_no), []) AS thresholds
    FROM query_table(thresholds) AS q
)

SELECT unnest(srsql_refine_groups(
    c.cases, e.boxes, h.terms, q.attributes, t.thresholds,
    struct_insert(
        rules,
        k := at_least::BIGINT,
        weight_scale := weight_scale::BIGINT,
        threads := current_setting('threads')::INTEGER
    )
), recursive := true)
FROM cases AS c
CROSS JOIN srsql.every_box_list(boxes) AS e
CROSS JOIN srsql.term_list(case_terms, placed) AS h
CROSS JOIN srsql.attribute_list(attributes, -1) AS q
CROSS JOIN theta AS t
WHERE len(c.cases) > 0;

-- What:    the hull of the members' boxes per group and QID; NULL for a QID outside the pattern.
-- Inputs:  grouped(case_no, group_no, pattern); boxes(case_no, position, low, high).
-- Outputs: group_no, position, low, high (categorical: before srsql.enclosing_node).
-- Source:  Lin 2016, Algorithm 2, line 8.
CREATE OR REPLACE MACRO srsql.group_hull(grouped, boxes) AS TABLE
SELECT
    g.group_no,
    b.position,
    min(CASE WHEN (g.pattern >> b.position) & 1 = 1 THEN b.low END) AS low,
    max(CASE WHEN (g.pattern >> b.position) & 1 = 1 THEN b.high END) AS high
FROM query_table(grouped) AS g
INNER JOIN query_table(boxes) AS b ON g.case_no = b.case_no
GROUP BY g.group_no, b.position;
