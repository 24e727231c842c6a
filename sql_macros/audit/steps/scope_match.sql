-- Step: scope = match: the targets in danger when all cases whose region covers a target are its
--   candidates. question: an ask with what else tells targets apart (is_new, stopped). Sums over
--   points bound what a question can find, and only what they leave open is looked at case by case.
--   $k: least number of cases; $weight_scale: the weight of a whole case.
-- Reads: audit_target(target_no, box, is_new, stopped, groups), audit_open_ask(ask_no, box),
--   audit_view(ask_no, point_no), audit_cover(point_no, place_no),
--   audit_point_term_weight(point_no, term_no, weight, of_l, of_md, of_both),
--   audit_point_size(point_no, cases, ..., peak), audit_kind(kind_no, place_no, earlier, later, l,
--   md, cases, case_nos), audit_held(case_no, term_no, weight), audit_bound(term_no, theta_num,
--   theta_den)
-- Writes: audit_question(question_no, ask_no, box, is_new, stopped, cases, l, md, at_most,
--   at_least, peak), audit_sets(target_no, group_id, candidates, b, f, l, md, remaining, staying,
--   staying_back, breaches), audit_breach(target_no, group_id, term_no, theta_num, theta_den,
--   whole, weight)
-- Source: Huang 2021, Definitions 1 to 5; SPEC section 8 (lemma), section 9 (scope = match).

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
        sum(s.peak)::HUGEINT AS peak
    FROM temp.main.srsql_audit_view AS v
    INNER JOIN temp.main.srsql_audit_point_size AS s ON v.point_no = s.point_no
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
    coalesce(
        srsql.remaining_after_l_md(s.cases, s.of_l, s.of_md, s.of_both, q.is_new, q.stopped), 0
    ) AS at_most,
    coalesce(
        srsql.remaining_after_l_md(s.cases, s.of_l, s.of_md, s.of_both, q.is_new, q.stopped)
        - srsql.remaining_after_l_md(
            s.loose, s.loose_l, s.loose_md, s.loose_both, q.is_new, q.stopped
        ),
        0
    ) AS at_least,
    coalesce(s.peak, 0) AS peak
FROM questions AS q
LEFT JOIN stocks AS s ON q.ask_no = s.ask_no;

-- What may be in danger, case by case (kinds of cases that no question tells apart); breaches are
-- the values that more hold than their thresholds allow.
CREATE OR REPLACE TEMP TABLE srsql_audit_sets AS
WITH
-- Values that may exceed theta: for the places that cover a question together only if for those of
-- some pattern, since a share of a union is not above the shares of all its parts; and only if it
-- would with the peaks of the other patterns.
high_term AS MATERIALIZED (
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
        w.weight - s.peak AS above_peak
    FROM temp.main.srsql_audit_point_term_weight AS w
    INNER JOIN temp.main.srsql_audit_point_size AS s ON w.point_no = s.point_no
    INNER JOIN temp.main.srsql_audit_bound AS b ON w.term_no = b.term_no
    INNER JOIN views AS v ON w.point_no = v.point_no
    WHERE srsql.exceeds(
        v.peak + w.weight - s.peak, b.theta_num, b.theta_den, v.at_least, $weight_scale::BIGINT
    )
    AND srsql.exceeds(
        srsql.remaining_after_l_md(w.weight, w.of_l, w.of_md, w.of_both, v.is_new, v.stopped),
        b.theta_num,
        b.theta_den,
        srsql.remaining_after_l_md(s.cases, s.of_l, s.of_md, s.of_both, v.is_new, v.stopped)
        - srsql.remaining_after_l_md(
            s.loose, s.loose_l, s.loose_md, s.loose_both, v.is_new, v.stopped
        ),
        $weight_scale::BIGINT
    )
),

question_term AS MATERIALIZED (
    SELECT DISTINCT q.question_no, q.ask_no, h.term_no
    FROM temp.main.srsql_audit_question AS q
    INNER JOIN temp.main.srsql_audit_view AS v ON q.ask_no = v.ask_no
    INNER JOIN high_term AS h
        ON v.point_no = h.point_no AND q.is_new = h.is_new AND q.stopped = h.stopped
    WHERE srsql.exceeds(
        q.peak + h.above_peak, h.theta_num, h.theta_den, q.at_least, h.weight_scale
    )
),

summed AS (
    SELECT
        a.question_no,
        a.term_no,
        sum(
            srsql.remaining_after_l_md(w.weight, w.of_l, w.of_md, w.of_both, q.is_new, q.stopped)
        )::HUGEINT AS weight
    FROM question_term AS a
    INNER JOIN temp.main.srsql_audit_question AS q ON a.question_no = q.question_no
    INNER JOIN temp.main.srsql_audit_view AS v ON a.ask_no = v.ask_no
    INNER JOIN temp.main.srsql_audit_point_term_weight AS w
        ON v.point_no = w.point_no AND a.term_no = w.term_no
    GROUP BY a.question_no, a.term_no
),

doubt AS MATERIALIZED (
    SELECT s.question_no, s.term_no, s.weight, b.theta_num, b.theta_den
    FROM summed AS s
    INNER JOIN temp.main.srsql_audit_question AS q ON s.question_no = q.question_no
    INNER JOIN temp.main.srsql_audit_bound AS b ON s.term_no = b.term_no
    WHERE srsql.exceeds(s.weight, b.theta_num, b.theta_den, q.at_least, $weight_scale::BIGINT)
),

open_questions AS (
    SELECT q.question_no, q.ask_no, q.box, q.is_new, q.stopped
    FROM temp.main.srsql_audit_question AS q
    WHERE
        q.at_least < $k::INTEGER
        OR q.question_no IN (SELECT d.question_no FROM doubt AS d)
),

question_kinds AS (
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
),

excluded AS MATERIALIZED (
    SELECT p.* FROM question_kinds AS p WHERE p.b OR p.f
),

excluded_cases AS (
    SELECT
        e.question_no,
        sum(e.cases) FILTER (WHERE e.b)::BIGINT AS b,
        sum(e.cases) FILTER (WHERE e.f)::BIGINT AS f,
        sum(e.cases) FILTER (WHERE NOT e.otherwise)::BIGINT AS alone
    FROM excluded AS e
    GROUP BY e.question_no
),

answers AS MATERIALIZED (
    SELECT
        q.*,
        coalesce(e.b, 0) AS b,
        coalesce(e.f, 0) AS f,
        q.at_most - coalesce(e.alone, 0) AS remaining
    FROM temp.main.srsql_audit_question AS q
    LEFT JOIN excluded_cases AS e ON q.question_no = e.question_no
),

kind_cases AS (
    SELECT k.kind_no, unnest(k.case_nos) AS case_no
    FROM temp.main.srsql_audit_kind AS k
    SEMI JOIN excluded AS e ON k.kind_no = e.kind_no
),

kind_weights AS (
    SELECT k.kind_no, h.term_no, sum(h.weight)::HUGEINT AS weight
    FROM kind_cases AS k
    INNER JOIN temp.main.srsql_audit_held AS h ON k.case_no = h.case_no
    GROUP BY k.kind_no, h.term_no
),

excluded_weights AS (
    SELECT e.question_no, w.term_no, sum(w.weight)::HUGEINT AS weight
    FROM excluded AS e
    INNER JOIN kind_weights AS w ON e.kind_no = w.kind_no
    SEMI JOIN doubt AS d ON e.question_no = d.question_no AND w.term_no = d.term_no
    WHERE NOT e.otherwise
    GROUP BY e.question_no, w.term_no
),

breaches AS (
    SELECT
        d.question_no,
        list(struct_pack(
            term_no := d.term_no,
            theta_num := d.theta_num,
            theta_den := d.theta_den,
            whole := a.remaining::HUGEINT * $weight_scale::BIGINT,
            weight := d.weight - coalesce(e.weight, 0)
        )) AS breaches
    FROM doubt AS d
    INNER JOIN answers AS a ON d.question_no = a.question_no
    LEFT JOIN excluded_weights AS e ON d.question_no = e.question_no AND d.term_no = e.term_no
    WHERE
        a.remaining > 0
        AND srsql.exceeds(
            d.weight - coalesce(e.weight, 0),
            d.theta_num,
            d.theta_den,
            a.remaining,
            $weight_scale::BIGINT
        )
    GROUP BY d.question_no
),

dangers AS (
    SELECT a.*, b.breaches
    FROM answers AS a
    LEFT JOIN breaches AS b ON a.question_no = b.question_no
    WHERE a.remaining < $k::INTEGER OR b.question_no IS NOT NULL
)

SELECT
    t.target_no,
    unnest(t.groups) AS group_id,
    d.cases AS candidates,
    d.b,
    d.f,
    d.l,
    d.md,
    d.remaining,
    NULL::BIGINT AS staying,
    NULL::BIGINT AS staying_back,
    d.breaches
FROM dangers AS d
INNER JOIN temp.main.srsql_audit_target AS t
    ON d.box = t.box AND d.is_new = t.is_new AND d.stopped = t.stopped;

CREATE OR REPLACE TEMP TABLE srsql_audit_breach AS
WITH breaches AS (
    SELECT s.target_no, s.group_id, unnest(s.breaches) AS breach
    FROM temp.main.srsql_audit_sets AS s
)

SELECT
    b.target_no,
    b.group_id,
    struct_extract(b.breach, 'term_no') AS term_no,
    struct_extract(b.breach, 'theta_num') AS theta_num,
    struct_extract(b.breach, 'theta_den') AS theta_den,
    struct_extract(b.breach, 'whole') AS whole,
    struct_extract(b.breach, 'weight') AS weight
FROM breaches AS b;
