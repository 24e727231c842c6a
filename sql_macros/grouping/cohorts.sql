-- Those who stay: cohorts of a release, and the groups that take them (see docs/models.md).

-- What:    the cases of a quarter that have to share a group: those of a group of the release just
--          before who went on.
-- Inputs:  cases(case_no, case_id); before: of that release, members(group_id, case_no, case_id),
--          flags(case_no, is_md), past(case_id): members of releases of quarters before it.
-- Outputs: group_id, cases (how many went on), present (of them are in the quarter), new_cases
--          (were in no release before that one), case_nos (those present).
-- Source:  docs/decisions.md, D287 (rule 3).
CREATE OR REPLACE MACRO srsql.cohorts(cases, members, flags, past) AS TABLE
SELECT
    m.group_id,
    count(*) AS cases,
    count(c.case_no) AS present,
    count(*) FILTER (WHERE p.case_id IS NULL) AS new_cases,
    list(c.case_no ORDER BY c.case_no) FILTER (WHERE c.case_no IS NOT NULL) AS case_nos
FROM query_table(members) AS m
INNER JOIN query_table(flags) AS f ON m.case_no = f.case_no AND NOT f.is_md
LEFT JOIN query_table(cases) AS c ON m.case_id = c.case_id::VARCHAR
LEFT JOIN query_table(past) AS p ON m.case_id = p.case_id
GROUP BY m.group_id;

-- What:    the cohorts of which more cases hold a value than theta of those that carry the bound.
-- Inputs:  cohort_cases(unit_no, case_no); sizes(unit_no, new_cases);
--          case_terms(case_no, term_no, weight); thresholds(term_no, theta_num, theta_den);
--          at_least: k; weight_scale: what a certain value weighs.
-- Outputs: unit_no, distinct.
-- Source:  docs/decisions.md, D287 (rule 3).
CREATE OR REPLACE MACRO srsql.cohorts_beyond_theta(
    cohort_cases, sizes, case_terms, thresholds, at_least, weight_scale
) AS TABLE
WITH loads AS (
    SELECT c.unit_no, t.term_no, sum(t.weight)::HUGEINT AS weight
    FROM query_table(cohort_cases) AS c
    INNER JOIN query_table(case_terms) AS t ON c.case_no = t.case_no
    GROUP BY c.unit_no, t.term_no
)

SELECT DISTINCT l.unit_no
FROM loads AS l
INNER JOIN query_table(thresholds) AS q ON l.term_no = q.term_no
INNER JOIN query_table(sizes) AS s ON l.unit_no = s.unit_no
WHERE
    q.theta_num < q.theta_den
    AND l.weight * q.theta_den
    > q.theta_num::HUGEINT * greatest(at_least, s.new_cases) * weight_scale;

-- What:    units in groups of two classes, those who go on and those who stop, each empty or with
--          k new cases and theta (the kernel as a table macro).
-- Inputs:  placed(case_no, known, goes_on, is_new, unit_no, group_no, free): the cases, the QIDs
--          that they may be grouped by (bit mask), the group that they stand in or -1, whether they
--          are new ones that may be taken to open a group; boxes(case_no, position dense from 0,
--          low, high); case_terms(case_no, term_no, weight); attributes(position, span, parent[],
--          last[], height[]); thresholds(term_no dense from 0, theta_num, theta_den); weight_scale;
--          at_least: k.
-- Outputs: case_no, group_no (-1: the case was not placed).
-- Source:  docs/decisions.md, D287 (rules 2 and 3), D288.
CREATE OR REPLACE MACRO srsql.place_units(
    placed, boxes, case_terms, attributes, thresholds, weight_scale, at_least
) AS TABLE
WITH
cases AS (
    SELECT
        list(p.case_no ORDER BY p.case_no) AS case_nos,
        list(struct_pack(
            known := p.known::BIGINT,
            goes_on := p.goes_on,
            is_new := p.is_new,
            unit_no := p.unit_no::INTEGER,
            group_no := p.group_no::INTEGER,
            free := p.free
        ) ORDER BY p.case_no) AS roles
    FROM query_table(placed) AS p
)

SELECT
    unnest(c.case_nos) AS case_no,
    unnest(srsql_place_units(
        c.case_nos, c.roles, e.boxes, h.terms, q.attributes, t.thresholds,
        struct_pack(k := at_least::BIGINT, weight_scale := weight_scale::BIGINT)
    )) AS group_no
FROM cases AS c
CROSS JOIN srsql.box_list(boxes, placed) AS e
CROSS JOIN srsql.term_list(case_terms, placed) AS h
CROSS JOIN srsql.attribute_list(attributes, -1) AS q
CROSS JOIN srsql.threshold_list(thresholds) AS t
WHERE len(c.case_nos) > 0;
