-- Step of an audit: scope = match, what is certain. Regions that several groups have are one place.
-- Reads the tables of audit/steps/scope_group.sql.

CREATE OR REPLACE TEMP TABLE srsql_audit_place AS
WITH places AS (
    SELECT
        c.box,
        sum(c.cases)::BIGINT AS cases,
        sum(c.of_l)::BIGINT AS of_l,
        sum(c.of_md)::BIGINT AS of_md,
        sum(c.of_both)::BIGINT AS of_both
    FROM temp.main.srsql_audit_crowd AS c
    GROUP BY c.box
)

SELECT
    row_number() OVER ()::INTEGER AS place_no,
    list_transform(p.box, LAMBDA x: x < srsql.anything()) AS pattern,
    p.*
FROM places AS p;

-- Cases that their other regions may rule out for some target that their own region covers; kinds
-- of them that no question can tell apart.
CREATE OR REPLACE TEMP TABLE srsql_audit_kind_case AS
SELECT
    m.case_no,
    p.place_no,
    dense_rank() OVER (ORDER BY p.place_no, m.earlier, m.later, m.l, m.md)::INTEGER AS kind_no,
    m.earlier,
    m.later,
    m.l,
    m.md
FROM temp.main.srsql_audit_loose AS m
INNER JOIN temp.main.srsql_audit_crowd AS g ON m.group_id = g.group_id
INNER JOIN temp.main.srsql_audit_place AS p ON g.box = p.box
WHERE NOT m.steady;

CREATE OR REPLACE TEMP TABLE srsql_audit_kind AS
SELECT
    k.kind_no,
    k.place_no,
    any_value(k.earlier) AS earlier,
    any_value(k.later) AS later,
    any_value(k.l) AS l,
    any_value(k.md) AS md,
    count(*) AS cases
FROM temp.main.srsql_audit_kind_case AS k
GROUP BY k.kind_no, k.place_no;

-- With what is loose in each place; core: the cases that no question of the chosen attacks within
-- the region rules out. unsafe: k of them or a threshold are not certain there. A union of places
-- that are not unsafe is safe for every target they cover: each keeps at least k, and the shares of
-- a union lie between the shares of its parts (SPEC section 8, lemma).
CREATE OR REPLACE TEMP TABLE srsql_audit_stock AS
WITH
loose AS (
    SELECT
        k.place_no,
        sum(k.cases)::BIGINT AS cases,
        coalesce(sum(k.cases) FILTER (WHERE k.l), 0)::BIGINT AS of_l,
        coalesce(sum(k.cases) FILTER (WHERE k.md), 0)::BIGINT AS of_md,
        coalesce(sum(k.cases) FILTER (WHERE k.l AND k.md), 0)::BIGINT AS of_both
    FROM temp.main.srsql_audit_kind AS k
    GROUP BY k.place_no
)

SELECT
    p.place_no,
    p.cases,
    p.of_l,
    p.of_md,
    p.of_both,
    coalesce(o.cases, 0) AS loose,
    coalesce(o.of_l, 0) AS loose_l,
    coalesce(o.of_md, 0) AS loose_md,
    coalesce(o.of_both, 0) AS loose_both,
    srsql.kept(p.cases, p.of_l, p.of_md, p.of_both, true, true)
    - srsql.kept(
        coalesce(o.cases, 0), coalesce(o.of_l, 0), coalesce(o.of_md, 0), coalesce(o.of_both, 0),
        true, true
    ) AS core
FROM temp.main.srsql_audit_place AS p
LEFT JOIN loose AS o ON p.place_no = o.place_no;

CREATE OR REPLACE TEMP TABLE srsql_audit_place_load AS
SELECT
    p.place_no,
    w.term_no,
    sum(w.weight)::HUGEINT AS weight,
    sum(w.of_l)::HUGEINT AS of_l,
    sum(w.of_md)::HUGEINT AS of_md,
    sum(w.of_both)::HUGEINT AS of_both
FROM temp.main.srsql_audit_load AS w
INNER JOIN temp.main.srsql_audit_crowd AS g ON w.group_id = g.group_id
INNER JOIN temp.main.srsql_audit_place AS p ON g.box = p.box
GROUP BY p.place_no, w.term_no;

CREATE OR REPLACE TEMP TABLE srsql_audit_unsafe AS
WITH shares AS (
    SELECT DISTINCT w.place_no
    FROM temp.main.srsql_audit_place_load AS w
    INNER JOIN temp.main.srsql_audit_bound AS b ON w.term_no = b.term_no
    INNER JOIN temp.main.srsql_audit_stock AS s ON w.place_no = s.place_no
    WHERE srsql.exceeds(w.weight, b.theta_num, b.theta_den, s.core, $weight_scale::BIGINT)
)

SELECT p.place_no, p.pattern, p.box
FROM temp.main.srsql_audit_place AS p
INNER JOIN temp.main.srsql_audit_stock AS s ON p.place_no = s.place_no
LEFT JOIN shares AS w ON p.place_no = w.place_no
WHERE s.core < $k::INTEGER OR w.place_no IS NOT NULL;
