-- Grouping: the lists that its kernels take, of the tables that its steps have.

-- What:    the boxes of cases by the QIDs that they are grouped by.
-- Inputs:  boxes(case_no, position, low, high); members(case_no, known: bit mask of these QIDs).
-- Outputs: boxes: STRUCT(case_no, position, low, high)[], one row.
-- Source:  SPEC section 7.
CREATE OR REPLACE MACRO srsql.box_list(boxes, members) AS TABLE
SELECT coalesce(list(struct_pack(
    case_no := b.case_no, position := b.position, low := b.low, high := b.high
)), []) AS boxes
FROM query_table(boxes) AS b
INNER JOIN query_table(members) AS m ON b.case_no = m.case_no
WHERE (m.known >> b.position) & 1 = 1;

-- What:    all boxes there are, of QIDs that are known.
-- Inputs:  boxes(case_no, position, low, high); low: NULL where the QID is not known.
-- Outputs: boxes: STRUCT(case_no, position, low, high)[], one row.
-- Source:  SPEC section 7.
CREATE OR REPLACE MACRO srsql.every_box_list(boxes) AS TABLE
SELECT coalesce(list(struct_pack(
    case_no := b.case_no, position := b.position, low := b.low, high := b.high
)), []) AS boxes
FROM query_table(boxes) AS b
WHERE b.low IS NOT NULL;

-- What:    the terms of cases.
-- Inputs:  case_terms(case_no, term_no, weight); members(case_no).
-- Outputs: terms: STRUCT(case_no, term_no, weight)[], one row.
-- Source:  SPEC section 7.
CREATE OR REPLACE MACRO srsql.term_list(case_terms, members) AS TABLE
SELECT coalesce(list(struct_pack(
    case_no := t.case_no, term_no := t.term_no, weight := t.weight
)), []) AS terms
FROM query_table(case_terms) AS t
SEMI JOIN query_table(members) AS m ON t.case_no = m.case_no;

-- What:    the QIDs that cases are grouped by, by their position.
-- Inputs:  attributes(position, span, parent[], last[], height[]); chosen: bit mask of them (-1:
--          all).
-- Outputs: attributes: STRUCT(place, span, parent, last, height)[], one row.
-- Source:  SPEC section 7.
CREATE OR REPLACE MACRO srsql.attribute_list(attributes, chosen) AS TABLE
SELECT coalesce(list(struct_pack(
    place := a.position,
    span := a.span,
    parent := a.parent,
    last := a.last,
    height := a.height
) ORDER BY a.position), []) AS attributes
FROM query_table(attributes) AS a
WHERE (chosen::INTEGER >> a.position) & 1 = 1;

-- What:    the thresholds of all values, by their number.
-- Inputs:  thresholds(term_no dense from 0, theta_num, theta_den).
-- Outputs: thresholds: STRUCT(num, den)[], one row.
-- Source:  SPEC section 7.
CREATE OR REPLACE MACRO srsql.threshold_list(thresholds) AS TABLE
SELECT coalesce(list(struct_pack(
    num := q.theta_num, den := q.theta_den
) ORDER BY q.term_no), []) AS thresholds
FROM query_table(thresholds) AS q;
