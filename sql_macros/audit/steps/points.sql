-- Step: what of scope = match is not certain. ask: a box that targets have; point: what the asks
--   that look alike to the regions of one pattern have in common, so that regions are looked up and
--   cases summed up once for all of them.
-- Reads: audit_target(box, inside), audit_place(place_no, box, pattern, cases, ..., unsafe),
--   audit_place_term_weight(place_no, term_no, weight, of_l, of_md, of_both)
-- Writes: audit_open_ask(ask_no, box), audit_view(ask_no, point_no, pattern, box),
--   audit_cover(point_no, place_no), audit_point_term_weight(point_no, term_no, weight, of_l,
--   of_md, of_both), audit_point_size(point_no, cases, ..., peak)
-- Source: SPEC section 8 (lemma), section 9 (scope = match).

-- Only asks that an unsafe place covers need work, and those some target of which its own region
-- does not cover.
CREATE OR REPLACE TEMP TABLE srsql_audit_open_ask AS
WITH
target_box AS MATERIALIZED (
    SELECT row_number() OVER ()::INTEGER AS ask_no, t.box, bool_and(t.inside) AS inside
    FROM temp.main.srsql_audit_target AS t
    GROUP BY t.box
),

unsafe_place AS MATERIALIZED (
    SELECT p.place_no, p.pattern, p.box FROM temp.main.srsql_audit_place AS p WHERE p.unsafe
),

unsafe_view AS MATERIALIZED (
    SELECT p.* FROM srsql.projected('target_box', 'unsafe_place') AS p
),

unsafe_point AS MATERIALIZED (
    SELECT row_number() OVER ()::INTEGER AS point_no, v.pattern, v.box
    FROM unsafe_view AS v GROUP BY v.pattern, v.box
),

covered AS (
    SELECT DISTINCT c.point_no FROM srsql.covering('unsafe_point', 'unsafe_place') AS c
)

SELECT a.ask_no, a.box
FROM target_box AS a
WHERE
    NOT a.inside
    OR a.ask_no IN (
        SELECT v.ask_no
        FROM covered AS c
        INNER JOIN unsafe_point AS p ON c.point_no = p.point_no
        INNER JOIN unsafe_view AS v ON p.pattern = v.pattern AND p.box = v.box
    );

CREATE OR REPLACE TEMP TABLE srsql_audit_view AS
WITH
place_view AS MATERIALIZED (
    SELECT p.*
    FROM srsql.projected('temp.main.srsql_audit_open_ask', 'temp.main.srsql_audit_place') AS p
),

points AS (
    SELECT row_number() OVER ()::INTEGER AS point_no, v.pattern, v.box
    FROM place_view AS v GROUP BY v.pattern, v.box
)

SELECT v.ask_no, p.point_no, p.pattern, p.box
FROM place_view AS v
INNER JOIN points AS p ON v.pattern = p.pattern AND v.box = p.box;

CREATE OR REPLACE TEMP TABLE srsql_audit_cover AS
WITH point AS MATERIALIZED (
    SELECT v.point_no, any_value(v.pattern) AS pattern, any_value(v.box) AS box
    FROM temp.main.srsql_audit_view AS v
    GROUP BY v.point_no
)

SELECT c.* FROM srsql.covering('point', 'temp.main.srsql_audit_place') AS c;

CREATE OR REPLACE TEMP TABLE srsql_audit_point_term_weight AS
SELECT
    c.point_no,
    w.term_no,
    sum(w.weight)::HUGEINT AS weight,
    sum(w.of_l)::HUGEINT AS of_l,
    sum(w.of_md)::HUGEINT AS of_md,
    sum(w.of_both)::HUGEINT AS of_both
FROM temp.main.srsql_audit_cover AS c
INNER JOIN temp.main.srsql_audit_place_term_weight AS w ON c.place_no = w.place_no
GROUP BY c.point_no, w.term_no;

-- Sums over the places that cover a point; no value has more weight there than peak.
CREATE OR REPLACE TEMP TABLE srsql_audit_point_size AS
WITH
sizes AS (
    SELECT
        c.point_no,
        sum(s.cases)::BIGINT AS cases,
        sum(s.of_l)::BIGINT AS of_l,
        sum(s.of_md)::BIGINT AS of_md,
        sum(s.of_both)::BIGINT AS of_both,
        sum(s.loose)::BIGINT AS loose,
        sum(s.loose_l)::BIGINT AS loose_l,
        sum(s.loose_md)::BIGINT AS loose_md,
        sum(s.loose_both)::BIGINT AS loose_both
    FROM temp.main.srsql_audit_cover AS c
    INNER JOIN temp.main.srsql_audit_place AS s ON c.place_no = s.place_no
    GROUP BY c.point_no
),

peaks AS (
    SELECT w.point_no, max(w.weight) AS peak
    FROM temp.main.srsql_audit_point_term_weight AS w
    GROUP BY w.point_no
)

SELECT s.*, coalesce(p.peak, 0)::HUGEINT AS peak
FROM sizes AS s
LEFT JOIN peaks AS p ON s.point_no = p.point_no;
