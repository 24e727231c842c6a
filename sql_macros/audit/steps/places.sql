-- Step: what is certain at scope = match. Regions that several groups have are one place. A place
--   is unsafe where $k cases or a threshold are not certain. A union of places that are not unsafe
--   is safe for every target they cover: each keeps at least $k, and the shares of a union lie
--   between the shares of its parts. $weight_scale: the weight of a whole case.
-- Reads: audit_member(case_no, group_id, earlier, later, l, md, steady), audit_group_size(group_id,
--   box, cases, of_l, of_md, of_both, place_no), audit_group_term_weight(group_id, term_no, weight,
--   of_l, of_md, of_both), audit_bound(term_no, theta_num, theta_den)
-- Writes: audit_kind(kind_no, place_no, earlier, later, l, md, cases, case_nos),
--   audit_place_term_weight(place_no, term_no, weight, of_l, of_md, of_both), audit_place(place_no,
--   box, pattern, cases, of_l, of_md, of_both, loose, loose_l, loose_md, loose_both, core, unsafe)
-- Source: SPEC section 8 (lemma), section 9 (scope = match).

-- Cases that their other regions may rule out for some target that their own region covers, in
-- kinds that no question can tell apart.
CREATE OR REPLACE TEMP TABLE srsql_audit_kind AS
SELECT
    row_number() OVER ()::INTEGER AS kind_no,
    g.place_no,
    m.earlier,
    m.later,
    m.l,
    m.md,
    count(*) AS cases,
    list(m.case_no) AS case_nos
FROM temp.main.srsql_audit_member AS m
INNER JOIN temp.main.srsql_audit_group_size AS g ON m.group_id = g.group_id
WHERE NOT m.steady
GROUP BY g.place_no, m.earlier, m.later, m.l, m.md;

CREATE OR REPLACE TEMP TABLE srsql_audit_place_term_weight AS
SELECT
    g.place_no,
    w.term_no,
    sum(w.weight)::HUGEINT AS weight,
    sum(w.of_l)::HUGEINT AS of_l,
    sum(w.of_md)::HUGEINT AS of_md,
    sum(w.of_both)::HUGEINT AS of_both
FROM temp.main.srsql_audit_group_term_weight AS w
INNER JOIN temp.main.srsql_audit_group_size AS g ON w.group_id = g.group_id
GROUP BY g.place_no, w.term_no;

-- With what is loose in each place; core: the cases that no question of the chosen attacks within
-- the region rules out.
CREATE OR REPLACE TEMP TABLE srsql_audit_place AS
WITH
places AS (
    SELECT
        g.place_no,
        any_value(g.box) AS box,
        sum(g.cases)::BIGINT AS cases,
        sum(g.of_l)::BIGINT AS of_l,
        sum(g.of_md)::BIGINT AS of_md,
        sum(g.of_both)::BIGINT AS of_both
    FROM temp.main.srsql_audit_group_size AS g
    GROUP BY g.place_no
),

loose AS (
    SELECT
        k.place_no,
        sum(k.cases)::BIGINT AS cases,
        coalesce(sum(k.cases) FILTER (WHERE k.l), 0)::BIGINT AS of_l,
        coalesce(sum(k.cases) FILTER (WHERE k.md), 0)::BIGINT AS of_md,
        coalesce(sum(k.cases) FILTER (WHERE k.l AND k.md), 0)::BIGINT AS of_both
    FROM temp.main.srsql_audit_kind AS k
    GROUP BY k.place_no
),

sizes AS MATERIALIZED (
    SELECT
        p.*,
        coalesce(o.cases, 0) AS loose,
        coalesce(o.of_l, 0) AS loose_l,
        coalesce(o.of_md, 0) AS loose_md,
        coalesce(o.of_both, 0) AS loose_both,
        srsql.remaining_after_l_md(p.cases, p.of_l, p.of_md, p.of_both, true, true)
        - srsql.remaining_after_l_md(
            coalesce(o.cases, 0), coalesce(o.of_l, 0), coalesce(o.of_md, 0),
            coalesce(o.of_both, 0), true, true
        ) AS core
    FROM places AS p
    LEFT JOIN loose AS o ON p.place_no = o.place_no
),

shares AS (
    SELECT DISTINCT w.place_no
    FROM temp.main.srsql_audit_place_term_weight AS w
    INNER JOIN temp.main.srsql_audit_bound AS b ON w.term_no = b.term_no
    INNER JOIN sizes AS s ON w.place_no = s.place_no
    WHERE srsql.exceeds(w.weight, b.theta_num, b.theta_den, s.core, $weight_scale::BIGINT)
)

SELECT
    s.*,
    list_transform(s.box, LAMBDA x: x < srsql.unbounded_end()) AS pattern,
    s.core < $k::INTEGER OR w.place_no IS NOT NULL AS unsafe
FROM sizes AS s
LEFT JOIN shares AS w ON s.place_no = w.place_no;
