-- Grouping from the top down: the kernel of multi-sensitive l-diversity as a table macro.

-- What:    the partition of the cases of one missingness pattern in which every group has enough
--          distinct values of each sensitive attribute, held by enough cases; nothing is drawn.
-- Inputs:  profiles(case_no, pattern); boxes(case_no, position, low, high); values_of(case_no,
--          value_no), distinct; kinds(value_no dense from 0, attribute_no); sensitive(attribute_no
--          dense from 0); attributes(position, span, parent[], last[], height[]); chosen: the
--          pattern (bit mask of the QIDs grouped by); at_least: l.
-- Outputs: case_no, group_no (-1 for all: not even all of them together have enough).
-- Source:  Gal et al. 2008, as Lin 2016 compares with it; SPEC section 13.
CREATE OR REPLACE MACRO srsql.partition_cases(
    profiles, boxes, values_of, kinds, sensitive, attributes, chosen, at_least
) AS TABLE
WITH
members AS (
    SELECT p.case_no, chosen::INTEGER AS known
    FROM query_table(profiles) AS p
    WHERE p.pattern = chosen
),

cases AS (
    SELECT list(m.case_no ORDER BY m.case_no) AS case_nos FROM members AS m
),

held AS (
    SELECT coalesce(list(struct_pack(
        case_no := v.case_no, term_no := v.value_no, weight := 1::BIGINT
    )), []) AS terms
    FROM query_table(values_of) AS v
    SEMI JOIN members AS m ON v.case_no = m.case_no
),

sorts AS (
    SELECT coalesce(list(k.attribute_no ORDER BY k.value_no), []::INTEGER[]) AS kinds
    FROM query_table(kinds) AS k
)

SELECT
    unnest(c.case_nos) AS case_no,
    unnest(srsql_partition_cases(
        c.case_nos, e.boxes, h.terms, q.attributes, s.kinds,
        (SELECT count(*) FROM query_table(sensitive))::INTEGER, at_least::INTEGER
    )) AS group_no
FROM cases AS c
CROSS JOIN srsql.box_list(boxes, 'members') AS e
CROSS JOIN held AS h
CROSS JOIN srsql.attribute_list(attributes, chosen) AS q
CROSS JOIN sorts AS s
WHERE len(c.case_nos) > 0;
