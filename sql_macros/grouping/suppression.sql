-- Sensitive values that are suppressed so that cases can stay. Parameters name tables;
-- `query_table` reads them. Slots are attributes of reports: (case_no, term_no, slot_no) says in
-- which of them the value of a case stands, and one that is down to its last value loses none.

-- What:    how many of its values each slot may lose at most: it keeps one.
-- Inputs:  slots(case_no, term_no, slot_no).
-- Outputs: case_no, term_no, slot_no, room.
CREATE OR REPLACE MACRO srsql.slot_rooms(slots) AS TABLE
SELECT
    s.case_no,
    s.term_no,
    s.slot_no,
    (count(*) OVER (PARTITION BY s.slot_no) - 1)::INTEGER AS room
FROM query_table(slots) AS s;

-- What:    the least number of cases that lose each value of which there is too much, at random.
-- Inputs:  excesses(term_no, excess): by how much; losable(case_no, term_no, freed): what a case
--          may lose, and by how much less the value then counts; slots(case_no, term_no, slot_no),
--          without what is suppressed already; draw: a text that decides the random order.
-- Outputs: case_no, term_no: what is suppressed; of a value that too few may lose, all of them.
-- Source:  Lin 2016, "Conclusions" (suppression); SPEC section 6 (--on-infeasible).
CREATE OR REPLACE MACRO srsql.suppress_surplus(excesses, losable, slots, draw) AS TABLE
WITH
too_much AS (
    SELECT coalesce(list(struct_pack(
        term_no := e.term_no, excess := e.excess
    ) ORDER BY e.term_no), []) AS terms
    FROM query_table(excesses) AS e
),

asked AS (
    SELECT l.case_no, l.term_no, l.freed
    FROM query_table(losable) AS l
    SEMI JOIN query_table(excesses) AS e ON l.term_no = e.term_no
),

pairs AS (
    SELECT coalesce(list(struct_pack(
        case_no := a.case_no, term_no := a.term_no, freed := a.freed
    )), []) AS held
    FROM asked AS a
),

bound AS (
    SELECT coalesce(list(struct_pack(
        case_no := r.case_no, term_no := r.term_no, slot_no := r.slot_no, room := r.room
    )), []) AS slots
    FROM srsql.slot_rooms(slots) AS r
    SEMI JOIN asked AS a ON r.case_no = a.case_no AND r.term_no = a.term_no
),

found AS (
    SELECT unnest(srsql_suppress_surplus(t.terms, p.held, b.slots, draw)) AS pair
    FROM too_much AS t
    CROSS JOIN pairs AS p
    CROSS JOIN bound AS b
    WHERE len(t.terms) > 0
)

SELECT unnest(f.pair) FROM found AS f;

-- What:    which leftovers join which groups of their pattern, and what is suppressed for them: the
--          least number of values, each of a case drawn among those of the group that may lose it.
-- Inputs:  members(case_no, carrier, kind, group_no), -1: left over; boxes, case_terms, attributes,
--          thresholds, chosen, weight_scale, at_least, draw (a text): as for srsql.group_cases;
--          losable, slots: as above; rules: STRUCT(alpha_num, alpha_den).
-- Outputs: case_no, group_no, term_no: a case and the group that it joins (term_no -1), or a case
--          and the value that it loses (group_no -1).
-- Source:  Lin 2016, Algorithm 2, line 7, and "Conclusions"; SPEC section 7 (--leftovers).
CREATE OR REPLACE MACRO srsql.suppress_leftovers(
    members, boxes, case_terms, attributes, thresholds, losable, slots, chosen, weight_scale,
    at_least, draw, rules
) AS TABLE
WITH
cases AS (
    SELECT
        list(m.case_no ORDER BY m.case_no) AS case_nos,
        list(struct_pack(
            carrier := m.carrier, kind := m.kind::INTEGER, group_no := m.group_no
        ) ORDER BY m.case_no) AS roles
    FROM query_table(members) AS m
),

ends AS (
    SELECT coalesce(list(struct_pack(
        case_no := b.case_no, position := b.position, low := b.low, high := b.high
    )), []) AS boxes
    FROM query_table(boxes) AS b
    SEMI JOIN query_table(members) AS m ON b.case_no = m.case_no
    WHERE (chosen::INTEGER >> b.position) & 1 = 1
),

asked AS (
    SELECT DISTINCT t.term_no
    FROM query_table(case_terms) AS t
    SEMI JOIN query_table(members) AS m ON t.case_no = m.case_no AND m.group_no < 0
),

held AS (
    SELECT t.case_no, t.term_no, t.weight
    FROM query_table(case_terms) AS t
    SEMI JOIN query_table(members) AS m ON t.case_no = m.case_no
    SEMI JOIN asked AS a ON t.term_no = a.term_no
),

terms AS (
    SELECT coalesce(list(struct_pack(
        case_no := h.case_no, term_no := h.term_no, weight := h.weight
    )), []) AS held
    FROM held AS h
),

may_lose AS (
    SELECT l.case_no, l.term_no, l.freed
    FROM query_table(losable) AS l
    SEMI JOIN held AS h ON l.case_no = h.case_no AND l.term_no = h.term_no
),

pairs AS (
    SELECT coalesce(list(struct_pack(
        case_no := l.case_no, term_no := l.term_no, freed := l.freed
    )), []) AS held
    FROM may_lose AS l
),

bound AS (
    SELECT coalesce(list(struct_pack(
        case_no := r.case_no, term_no := r.term_no, slot_no := r.slot_no, room := r.room
    )), []) AS slots
    FROM srsql.slot_rooms(slots) AS r
    SEMI JOIN may_lose AS l ON r.case_no = l.case_no AND r.term_no = l.term_no
),

found AS (
    SELECT
        unnest(srsql_suppress_leftovers(
            c.case_nos, c.roles, e.boxes, t.held, q.attributes,
            struct_pack(pairs := p.held, slots := b.slots),
            struct_insert(
                rules,
                k := at_least::BIGINT,
                weight_scale := weight_scale::BIGINT,
                draw := draw::VARCHAR,
                thresholds := h.thresholds
            )
        )) AS item
    FROM cases AS c
    CROSS JOIN ends AS e
    CROSS JOIN terms AS t
    CROSS JOIN srsql.attribute_list(attributes, chosen) AS q
    CROSS JOIN srsql.threshold_list(thresholds) AS h
    CROSS JOIN pairs AS p
    CROSS JOIN bound AS b
    WHERE len(c.case_nos) > 0
)

SELECT unnest(f.item) FROM found AS f;
