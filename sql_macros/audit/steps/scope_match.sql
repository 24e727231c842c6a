-- Step of an audit: scope = match, what is not certain. Reads the tables of audit/steps/places.sql
-- and srsql_audit_target. ask: a box that targets have; question: with what else tells targets
-- apart (is_new, stopped).

CREATE OR REPLACE TEMP TABLE srsql_audit_ask AS
SELECT row_number() OVER ()::INTEGER AS ask_no, t.box, bool_and(t.inside) AS inside
FROM temp.main.srsql_audit_target AS t
GROUP BY t.box;

-- Only asks that an unsafe place covers need work, and those some target of which its own region
-- does not cover.
CREATE OR REPLACE TEMP TABLE srsql_audit_view AS
SELECT p.*
FROM srsql.projected('temp.main.srsql_audit_ask', 'temp.main.srsql_audit_unsafe') AS p;

CREATE OR REPLACE TEMP TABLE srsql_audit_point AS
SELECT row_number() OVER ()::INTEGER AS point_no, v.pattern, v.box
FROM temp.main.srsql_audit_view AS v GROUP BY v.pattern, v.box;

CREATE OR REPLACE TEMP TABLE srsql_audit_open_ask AS
WITH covered AS (
    SELECT DISTINCT c.point_no
    FROM srsql.covering('temp.main.srsql_audit_point', 'temp.main.srsql_audit_unsafe') AS c
)

SELECT a.ask_no, a.box
FROM temp.main.srsql_audit_ask AS a
WHERE
    NOT a.inside
    OR a.ask_no IN (
        SELECT v.ask_no
        FROM covered AS c
        INNER JOIN temp.main.srsql_audit_point AS p ON c.point_no = p.point_no
        INNER JOIN temp.main.srsql_audit_view AS v ON p.pattern = v.pattern AND p.box = v.box
    );

CREATE OR REPLACE TEMP TABLE srsql_audit_view AS
SELECT p.*
FROM srsql.projected('temp.main.srsql_audit_open_ask', 'temp.main.srsql_audit_place') AS p;

CREATE OR REPLACE TEMP TABLE srsql_audit_point AS
SELECT row_number() OVER ()::INTEGER AS point_no, v.pattern, v.box
FROM temp.main.srsql_audit_view AS v GROUP BY v.pattern, v.box;

CREATE OR REPLACE TEMP TABLE srsql_audit_view AS
SELECT v.ask_no, p.point_no
FROM temp.main.srsql_audit_view AS v
INNER JOIN temp.main.srsql_audit_point AS p ON v.pattern = p.pattern AND v.box = p.box;

CREATE OR REPLACE TEMP TABLE srsql_audit_cover AS
SELECT c.*
FROM srsql.covering('temp.main.srsql_audit_point', 'temp.main.srsql_audit_place') AS c;

-- Sums over the places that cover a point.
CREATE OR REPLACE TEMP TABLE srsql_audit_point_stock AS
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
INNER JOIN temp.main.srsql_audit_stock AS s ON c.place_no = s.place_no
GROUP BY c.point_no;

CREATE OR REPLACE TEMP TABLE srsql_audit_point_load AS
SELECT
    c.point_no,
    w.term_no,
    sum(w.weight)::HUGEINT AS weight,
    sum(w.of_l)::HUGEINT AS of_l,
    sum(w.of_md)::HUGEINT AS of_md,
    sum(w.of_both)::HUGEINT AS of_both
FROM temp.main.srsql_audit_cover AS c
INNER JOIN temp.main.srsql_audit_place_load AS w ON c.place_no = w.place_no
GROUP BY c.point_no, w.term_no;

CREATE OR REPLACE TEMP TABLE srsql_audit_peak AS
SELECT w.point_no, max(w.weight) AS weight
FROM temp.main.srsql_audit_point_load AS w GROUP BY w.point_no;

-- at_most: who remains without the other regions; at_least: if these rule out all they may; peak:
-- no value has more weight than that.
CREATE OR REPLACE TEMP TABLE srsql_audit_question AS
WITH
questions AS (
    SELECT DISTINCT a.ask_no, a.box, t.is_new, t.stopped
    FROM temp.main.srsql_audit_open_ask AS a
    INNER JOIN temp.main.srsql_audit_target AS t ON a.box = t.box
),

stocks AS (
    SELECT
        v.ask_no,
        sum(s.cases)::BIGINT AS cases,
        sum(s.of_l)::BIGINT AS of_l,
        sum(s.of_md)::BIGINT AS of_md,
        sum(s.of_both)::BIGINT AS of_both,
        sum(s.loose)::BIGINT AS loose,
        sum(s.loose_l)::BIGINT AS loose_l,
        sum(s.loose_md)::BIGINT AS loose_md,
        sum(s.loose_both)::BIGINT AS loose_both,
        coalesce(sum(w.weight), 0)::HUGEINT AS peak
    FROM temp.main.srsql_audit_view AS v
    INNER JOIN temp.main.srsql_audit_point_stock AS s ON v.point_no = s.point_no
    LEFT JOIN temp.main.srsql_audit_peak AS w ON v.point_no = w.point_no
    GROUP BY v.ask_no
)

SELECT
    row_number() OVER ()::INTEGER AS question_no,
    q.ask_no,
    q.box,
    q.is_new,
    q.stopped,
    coalesce(s.cases, 0) AS cases,
    CASE WHEN q.is_new THEN coalesce(s.of_l, 0) ELSE 0 END AS l,
    CASE WHEN q.stopped THEN coalesce(s.of_md, 0) ELSE 0 END AS md,
    coalesce(srsql.kept(s.cases, s.of_l, s.of_md, s.of_both, q.is_new, q.stopped), 0) AS at_most,
    coalesce(
        srsql.kept(s.cases, s.of_l, s.of_md, s.of_both, q.is_new, q.stopped)
        - srsql.kept(s.loose, s.loose_l, s.loose_md, s.loose_both, q.is_new, q.stopped),
        0
    ) AS at_least,
    coalesce(s.peak, 0) AS peak
FROM questions AS q
LEFT JOIN stocks AS s ON q.ask_no = s.ask_no;

-- Values that may exceed theta: for the places that cover a question together only if for those of
-- some pattern, since a share of a union is not above the shares of all its parts; and only if it
-- would with the peaks of the other patterns.
CREATE OR REPLACE TEMP TABLE srsql_audit_high AS
WITH views AS (
    SELECT
        v.point_no,
        q.is_new,
        q.stopped,
        max(q.peak) AS peak,
        min(q.at_least) AS at_least
    FROM temp.main.srsql_audit_question AS q
    INNER JOIN temp.main.srsql_audit_view AS v ON q.ask_no = v.ask_no
    GROUP BY v.point_no, q.is_new, q.stopped
)

SELECT
    w.point_no,
    w.term_no,
    v.is_new,
    v.stopped,
    b.theta_num,
    b.theta_den,
    $weight_scale::BIGINT AS weight_scale,
    w.weight - k.weight AS above_peak
FROM temp.main.srsql_audit_point_load AS w
INNER JOIN temp.main.srsql_audit_point_stock AS s ON w.point_no = s.point_no
INNER JOIN temp.main.srsql_audit_peak AS k ON w.point_no = k.point_no
INNER JOIN temp.main.srsql_audit_bound AS b ON w.term_no = b.term_no
INNER JOIN views AS v ON w.point_no = v.point_no
WHERE srsql.exceeds(
    v.peak + w.weight - k.weight, b.theta_num, b.theta_den, v.at_least, $weight_scale::BIGINT
)
AND srsql.exceeds(
    srsql.kept(w.weight, w.of_l, w.of_md, w.of_both, v.is_new, v.stopped),
    b.theta_num,
    b.theta_den,
    srsql.kept(s.cases, s.of_l, s.of_md, s.of_both, v.is_new, v.stopped)
    - srsql.kept(s.loose, s.loose_l, s.loose_md, s.loose_both, v.is_new, v.stopped),
    $weight_scale::BIGINT
);

CREATE OR REPLACE TEMP TABLE srsql_audit_asked AS
SELECT DISTINCT q.question_no, q.ask_no, h.term_no
FROM temp.main.srsql_audit_question AS q
INNER JOIN temp.main.srsql_audit_view AS v ON q.ask_no = v.ask_no
INNER JOIN temp.main.srsql_audit_high AS h
    ON v.point_no = h.point_no AND q.is_new = h.is_new AND q.stopped = h.stopped
WHERE srsql.exceeds(
    q.peak + h.above_peak, h.theta_num, h.theta_den, q.at_least, h.weight_scale
);

CREATE OR REPLACE TEMP TABLE srsql_audit_doubt AS
WITH summed AS (
    SELECT
        a.question_no,
        a.term_no,
        sum(
            srsql.kept(w.weight, w.of_l, w.of_md, w.of_both, q.is_new, q.stopped)
        )::HUGEINT AS weight
    FROM temp.main.srsql_audit_asked AS a
    INNER JOIN temp.main.srsql_audit_question AS q ON a.question_no = q.question_no
    INNER JOIN temp.main.srsql_audit_view AS v ON a.ask_no = v.ask_no
    INNER JOIN temp.main.srsql_audit_point_load AS w
        ON v.point_no = w.point_no AND a.term_no = w.term_no
    GROUP BY a.question_no, a.term_no
)

SELECT s.question_no, s.term_no, s.weight, b.theta_num, b.theta_den
FROM summed AS s
INNER JOIN temp.main.srsql_audit_question AS q ON s.question_no = q.question_no
INNER JOIN temp.main.srsql_audit_bound AS b ON s.term_no = b.term_no
WHERE srsql.exceeds(s.weight, b.theta_num, b.theta_den, q.at_least, $weight_scale::BIGINT);

-- For what is still open, case by case (kinds of cases that no question tells apart).
CREATE OR REPLACE TEMP TABLE srsql_audit_gone AS
WITH
open_questions AS (
    SELECT q.question_no, q.ask_no, q.box, q.is_new, q.stopped
    FROM temp.main.srsql_audit_question AS q
    WHERE
        q.at_least < $k::INTEGER
        OR q.question_no IN (SELECT d.question_no FROM temp.main.srsql_audit_doubt AS d)
),

pairs AS (
    SELECT
        q.question_no,
        k.kind_no,
        k.cases,
        NOT srsql.covers(k.earlier, q.box) AS b,
        NOT srsql.covers(k.later, q.box) AS f,
        (q.is_new AND k.l) OR (q.stopped AND k.md) AS otherwise
    FROM open_questions AS q
    INNER JOIN temp.main.srsql_audit_view AS v ON q.ask_no = v.ask_no
    INNER JOIN temp.main.srsql_audit_cover AS c ON v.point_no = c.point_no
    INNER JOIN temp.main.srsql_audit_kind AS k ON c.place_no = k.place_no
)

SELECT p.* FROM pairs AS p WHERE p.b OR p.f;

CREATE OR REPLACE TEMP TABLE srsql_audit_answer AS
WITH gone AS (
    SELECT
        g.question_no,
        sum(g.cases) FILTER (WHERE g.b)::BIGINT AS b,
        sum(g.cases) FILTER (WHERE g.f)::BIGINT AS f,
        sum(g.cases) FILTER (WHERE NOT g.otherwise)::BIGINT AS alone
    FROM temp.main.srsql_audit_gone AS g
    GROUP BY g.question_no
)

SELECT
    q.*,
    coalesce(g.b, 0) AS b,
    coalesce(g.f, 0) AS f,
    q.at_most - coalesce(g.alone, 0) AS remaining
FROM temp.main.srsql_audit_question AS q
LEFT JOIN gone AS g ON q.question_no = g.question_no;

CREATE OR REPLACE TEMP TABLE srsql_audit_match_share AS
WITH
kind_load AS (
    SELECT k.kind_no, h.term_no, sum(h.weight)::HUGEINT AS weight
    FROM temp.main.srsql_audit_kind_case AS k
    INNER JOIN temp.main.srsql_audit_held AS h ON k.case_no = h.case_no
    SEMI JOIN temp.main.srsql_audit_gone AS g ON k.kind_no = g.kind_no
    GROUP BY k.kind_no, h.term_no
),

gone AS (
    SELECT g.question_no, w.term_no, sum(w.weight)::HUGEINT AS weight
    FROM temp.main.srsql_audit_gone AS g
    INNER JOIN kind_load AS w ON g.kind_no = w.kind_no
    SEMI JOIN temp.main.srsql_audit_doubt AS d
        ON g.question_no = d.question_no AND w.term_no = d.term_no
    WHERE NOT g.otherwise
    GROUP BY g.question_no, w.term_no
)

SELECT
    d.question_no,
    d.term_no,
    d.theta_num,
    d.theta_den,
    a.remaining::HUGEINT * $weight_scale::BIGINT AS whole,
    d.weight - coalesce(g.weight, 0) AS weight
FROM temp.main.srsql_audit_doubt AS d
INNER JOIN temp.main.srsql_audit_answer AS a ON d.question_no = a.question_no
LEFT JOIN gone AS g ON d.question_no = g.question_no AND d.term_no = g.term_no
WHERE
    a.remaining > 0
    AND srsql.exceeds(
        d.weight - coalesce(g.weight, 0), d.theta_num, d.theta_den, a.remaining, $weight_scale::BIGINT
    );
