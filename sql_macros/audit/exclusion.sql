-- What an attacker who joins the releases of a series rules out (Huang 2021, Definitions 1 to 5).
-- A box is the list [-low, high, -low, high, ...] of an interval per position; a position that is
-- missing has srsql.unbounded_end() twice. So a box covers another one if none of its numbers is
-- less: a missing value covers everything, and only a missing value covers it. Parameters that name
-- tables take their names.

-- What:    the end of an interval that says nothing.
CREATE OR REPLACE MACRO srsql.unbounded_end() AS 4611686018427387904;

-- What:    whether an interval says nothing; the root of a hierarchy is published as a missing
--          value is, and means as much. root_low, root_high: NULL for a number.
CREATE OR REPLACE MACRO srsql.says_nothing(low, high, root_low, root_high) AS
low IS NULL OR high IS NULL OR coalesce(low = root_low AND high = root_high, false);

-- What:    the two numbers of a position in a box.
CREATE OR REPLACE MACRO srsql.box_part(low, high, root_low, root_high) AS
CASE
    WHEN srsql.says_nothing(low, high, root_low, root_high)
        THEN [srsql.unbounded_end(), srsql.unbounded_end()]
    ELSE [-low, high]
END;

-- What:    the same with the number of the position, as srsql.box_of takes them.
CREATE OR REPLACE MACRO srsql.box_place(place, low, high, root_low, root_high) AS
struct_pack(
    place := place,
    low := CASE
        WHEN srsql.says_nothing(low, high, root_low, root_high) THEN srsql.unbounded_end()
        ELSE -low
    END,
    high := CASE
        WHEN srsql.says_nothing(low, high, root_low, root_high) THEN srsql.unbounded_end()
        ELSE high
    END
);

-- What:    the box of a list of places, one for each position, in any order. To sort a short list
--          takes a third of what an aggregate does that sorts its rows.
CREATE OR REPLACE MACRO srsql.box_of(places) AS
flatten(list_transform(
    list_sort(places::STRUCT(place INTEGER, low BIGINT, high BIGINT)[]),
    LAMBDA p: [p.low, p.high]
));

-- What:    the positions of the boxes of some releases, with what box_place needs of each.
-- Inputs:  releases(release_id).
-- Outputs: release_id, position, root_low, root_high (NULL for a number), perturbed: whether the
--          model drew the released values at random.
-- Source:  SPEC section 9; Wu 2022, section III (perturbed quasi-identifiers).
CREATE OR REPLACE MACRO srsql.box_positions(releases) AS TABLE
WITH
-- by themselves: joined with an empty table of nodes before they are grouped, DuckDB 2.0 plans
-- columns that nothing gives it
roots AS MATERIALIZED (
    SELECT n.dataset, n.attribute, max(n.pre) AS root_low, max(n.last) AS root_high
    FROM srsql.node AS n
    WHERE n.parent IS NULL
    GROUP BY n.dataset, n.attribute
),

perturbed AS (
    SELECT DISTINCT p.release_id, p.position FROM srsql.perturbation AS p
)

SELECT
    a.release_id,
    a.position,
    t.root_low,
    t.root_high,
    p.position IS NOT NULL AS perturbed
FROM query_table(releases) AS r
INNER JOIN srsql.release AS own ON r.release_id = own.release_id
INNER JOIN srsql.attribute AS a ON r.release_id = a.release_id
LEFT JOIN roots AS t
    ON own.dataset = t.dataset AND a.attribute = t.attribute AND a.kind = 'categorical'
LEFT JOIN perturbed AS p ON a.release_id = p.release_id AND a.position = p.position;

-- What:    whether the first box covers the second; a box that is NULL constrains nothing.
CREATE OR REPLACE MACRO srsql.covers(outer_box, inner_box) AS
coalesce(
    list_bool_and(list_transform(list_zip(outer_box, inner_box), LAMBDA p: p[1] >= p[2])), true
);

-- What:    the box that every one of a list of boxes covers; NULL without any.
CREATE OR REPLACE MACRO srsql.common_box(boxes) AS
CASE
    WHEN len(boxes) > 0
        THEN list_transform(
            generate_series(1, len(boxes[1])),
            LAMBDA i: list_min(list_transform(boxes, LAMBDA b: b[i]))
        )
END;

-- What:    B, the backward set: whether some earlier release shows the case with a region that does
--          not cover the target. earlier_box: the box that all its earlier regions cover.
-- Source:  Huang 2021, Definition 1 (B-attack); Wu 2022, section III.
CREATE OR REPLACE MACRO srsql.exclusion_b(earlier_box, target_box) AS
NOT srsql.covers(earlier_box, target_box);

-- What:    F, the forward set: the same of the releases that came later.
-- Source:  Huang 2021, Definition 2 (F-attack); Wu 2022, section III.
CREATE OR REPLACE MACRO srsql.exclusion_f(later_box, target_box) AS
NOT srsql.covers(later_box, target_box);

-- What:    L, the latest set: a target that is new in the release is none of the old cases, which
--          are in some release of an earlier quarter.
-- Source:  Huang 2021, Definition 3 (L-attack); SPEC section 5 (a case is in a quarter if any
--          version of it has the case).
CREATE OR REPLACE MACRO srsql.exclusion_l(target_is_new, case_is_old) AS
target_is_new AND case_is_old;

-- What:    MD, medication discontinuation: a target that stopped is none of the cases that are in
--          the next quarter.
-- Source:  Huang 2021, Definition 5 (MD-attack).
CREATE OR REPLACE MACRO srsql.exclusion_md(target_stopped, case_in_next_quarter) AS
target_stopped AND case_in_next_quarter;

-- What:    P, persistence: a target that is known to be (inside) or not to be in the next or the
--          previous period (side; NULL: not known) is no case of which the opposite is true.
-- Source:  SPEC section 9; docs/decisions.md, D286.
CREATE OR REPLACE MACRO srsql.exclusion_p(
    side, inside, case_in_next_quarter, case_in_previous_quarter
) AS
CASE side::VARCHAR
    WHEN 'next' THEN case_in_next_quarter <> inside
    WHEN 'previous' THEN case_in_previous_quarter <> inside
    ELSE false
END;

-- What:    what is left of a total without the cases that L rules out for a new target and MD for
--          one that stopped; of_both: those in L and in MD.
CREATE OR REPLACE MACRO srsql.remaining_after_l_md(total, of_l, of_md, of_both, is_new, stopped) AS
total
- CASE WHEN is_new THEN of_l ELSE 0 END
- CASE WHEN stopped THEN of_md ELSE 0 END
+ CASE WHEN is_new AND stopped THEN of_both ELSE 0 END;

-- What:    whether a weight exceeds the share theta of so many cases, in whole numbers.
CREATE OR REPLACE MACRO srsql.exceeds(weight, theta_num, theta_den, cases, weight_scale) AS
weight::HUGEINT * theta_den > theta_num::HUGEINT * cases * weight_scale;

-- What:    the region of groups as a box.
-- Inputs:  groups(release_id, group_id); known: positions, the others count as missing; NULL: all.
-- Outputs: release_id, group_id, box; distinct.
-- Source:  SPEC section 9 (a missing value covers everything).
CREATE OR REPLACE MACRO srsql.region_boxes(groups, known) AS TABLE
WITH
asked AS MATERIALIZED (
    SELECT DISTINCT g.release_id, g.group_id FROM query_table(groups) AS g
),

asked_release AS MATERIALIZED (
    SELECT DISTINCT a.release_id FROM asked AS a
),

-- known stands here, since DuckDB 1.5 takes no subquery, as which a macro may get it, in a LEFT
-- JOIN
positions AS MATERIALIZED (
    SELECT p.*, known IS NULL OR list_contains(known, p.position) AS is_known
    FROM srsql.box_positions('asked_release') AS p
)

SELECT
    a.release_id,
    a.group_id,
    srsql.box_of(list(srsql.box_place(p.position, e.low, e.high, p.root_low, p.root_high))) AS box
FROM asked AS a
INNER JOIN positions AS p ON a.release_id = p.release_id
LEFT JOIN srsql.region AS e
    ON
        a.release_id = e.release_id
        AND a.group_id = e.group_id
        AND p.position = e.position
        AND p.is_known
GROUP BY a.release_id, a.group_id;

-- What:    where each followed-up case of a series was before and will be after each of its
--          releases.
-- Inputs:  releases(release_id, seq, quarter_no, reported) of one series: seq in the order of
--          quarter and release_id, quarter_no of the next quarter is higher by one;
--          appearances(case_key, release_id, case_no, group_id): all of cases in two releases or
--          more; regions(release_id, group_id, box).
-- Outputs: release_id, case_no of those cases in the releases that are reported; old: in some
--          version of an earlier quarter; in_next_quarter, in_previous_quarter: in some version of
--          the next, the previous quarter; earlier, later: the box that all earlier (later) regions
--          cover, NULL without any; bounds_all, bounds_earliest: whether the region covers all
--          earlier regions, the earliest one.
-- Source:  Huang 2021, Definitions 1 to 4: c is in B for t if and only if t is outside the
--          intersection of the earlier regions of c, in F for the later ones.
CREATE OR REPLACE MACRO srsql.case_history(releases, appearances, regions) AS TABLE
WITH
seen AS MATERIALIZED (
    SELECT a.case_key, r.seq, r.quarter_no, r.reported, a.release_id, a.case_no, g.box
    FROM query_table(appearances) AS a
    INNER JOIN query_table(releases) AS r ON a.release_id = r.release_id
    INNER JOIN query_table(regions) AS g
        ON a.release_id = g.release_id AND a.group_id = g.group_id
),

-- One short list for each case costs a third of windows over so many cases.
courses AS (
    SELECT
        s.case_key,
        list(struct_pack(seq := s.seq, quarter_no := s.quarter_no, box := s.box) ORDER BY s.seq)
            AS course
    FROM seen AS s
    GROUP BY s.case_key
),

sides AS (
    SELECT
        s.*,
        c.course,
        list_filter(c.course, LAMBDA x: struct_extract(x, 'seq') < s.seq) AS earlier,
        list_filter(c.course, LAMBDA x: struct_extract(x, 'seq') > s.seq) AS later
    FROM seen AS s
    INNER JOIN courses AS c ON s.case_key = c.case_key
    WHERE s.reported
)

SELECT
    s.release_id,
    s.case_no,
    list_bool_or(list_transform(s.course, LAMBDA x: x.quarter_no < s.quarter_no)) AS old,
    list_bool_or(list_transform(s.course, LAMBDA x: x.quarter_no = s.quarter_no + 1))
        AS in_next_quarter,
    list_bool_or(list_transform(s.course, LAMBDA x: x.quarter_no = s.quarter_no - 1))
        AS in_previous_quarter,
    srsql.common_box(list_transform(s.earlier, LAMBDA x: x.box)) AS earlier,
    srsql.common_box(list_transform(s.later, LAMBDA x: x.box)) AS later,
    coalesce(
        list_bool_and(list_transform(s.earlier, LAMBDA x: srsql.covers(s.box, x.box))), true
    ) AS bounds_all,
    srsql.covers(s.box, s.earlier[1].box) AS bounds_earliest
FROM sides AS s;

-- What:    cases as the chosen attacks see them.
-- Inputs:  cases(box: the region of the case, old, in_next_quarter, earlier, later, ...); uses_l,
--          uses_md: whether the attacker asks for L, for MD.
-- Outputs: the columns of cases without box; l: ruled out for a new target; md: for one that
--          stopped; steady: the other regions of the case rule it out for no target that its own
--          region covers.
-- Source:  Huang 2021, Definitions 1 to 5.
CREATE OR REPLACE MACRO srsql.attacked_cases(cases, uses_l, uses_md) AS TABLE
SELECT
    c.* EXCLUDE (box),
    uses_l AND c.old AS l,
    uses_md AND c.in_next_quarter AS md,
    CASE
        WHEN c.earlier IS NULL AND c.later IS NULL THEN true
        ELSE srsql.covers(c.earlier, c.box) AND srsql.covers(c.later, c.box)
    END AS steady
FROM query_table(cases) AS c;

-- What:    the pairs of a target and a case of its group whose other regions rule it out.
-- Inputs:  targets(target_no, group_id, box, is_new, stopped); followed(group_id, case_no, earlier,
--          later, l, md, in_next_quarter, in_previous_quarter): at least those cases of each group
--          that have such a region not covering some target.
-- Outputs: target_no, case_no, b, f, otherwise (L or MD rules it out as well), in_next_quarter,
--          in_previous_quarter.
-- Source:  Huang 2021, Definitions 1 and 2.
CREATE OR REPLACE MACRO srsql.excluded_pairs(targets, followed) AS TABLE
WITH pairs AS (
    SELECT
        t.target_no,
        c.case_no,
        srsql.exclusion_b(c.earlier, t.box) AS b,
        srsql.exclusion_f(c.later, t.box) AS f,
        srsql.exclusion_l(t.is_new, c.l) OR srsql.exclusion_md(t.stopped, c.md) AS otherwise,
        c.in_next_quarter,
        c.in_previous_quarter
    FROM query_table(targets) AS t
    INNER JOIN query_table(followed) AS c ON t.group_id = c.group_id
)

SELECT p.* FROM pairs AS p WHERE p.b OR p.f;

-- What:    the sizes of the exclusion sets of each target at scope = group, and how many remain.
-- Inputs:  targets(target_no, group_id, is_new, stopped, in_next_quarter, in_previous_quarter);
--          crowds(group_id, cases, of_l, of_md, of_both, next_cases, next_l, previous_cases,
--          previous_md); pairs: of srsql.excluded_pairs.
-- Outputs: target_no, group_id, candidates, b, f, l, md, remaining; staying, staying_back: how many
--          remain who are in the next (the previous) quarter, for a target that is in it as well.
-- Source:  Huang 2021, Definitions 1 to 4; SPEC section 9 (P).
CREATE OR REPLACE MACRO srsql.exclusion_sets(targets, crowds, pairs) AS TABLE
WITH ruled_out AS (
    SELECT
        p.target_no,
        count(*) FILTER (WHERE p.b) AS b,
        count(*) FILTER (WHERE p.f) AS f,
        count(*) FILTER (WHERE NOT p.otherwise) AS alone,
        count(*) FILTER (WHERE NOT p.otherwise AND p.in_next_quarter) AS alone_next,
        count(*) FILTER (WHERE NOT p.otherwise AND p.in_previous_quarter) AS alone_came
    FROM query_table(pairs) AS p
    GROUP BY p.target_no
)

SELECT
    t.target_no,
    t.group_id,
    c.cases AS candidates,
    coalesce(x.b, 0) AS b,
    coalesce(x.f, 0) AS f,
    CASE WHEN t.is_new THEN c.of_l ELSE 0 END AS l,
    CASE WHEN t.stopped THEN c.of_md ELSE 0 END AS md,
    srsql.remaining_after_l_md(c.cases, c.of_l, c.of_md, c.of_both, t.is_new, t.stopped)
    - coalesce(x.alone, 0) AS remaining,
    CASE
        WHEN t.in_next_quarter
            THEN
                srsql.remaining_after_l_md(c.next_cases, c.next_l, 0, 0, t.is_new, false)
                - coalesce(x.alone_next, 0)
    END AS staying,
    CASE
        WHEN t.in_previous_quarter
            THEN
                srsql.remaining_after_l_md(c.previous_cases, 0, c.previous_md, 0, false, t.stopped)
                - coalesce(x.alone_came, 0)
    END AS staying_back
FROM query_table(targets) AS t
INNER JOIN query_table(crowds) AS c ON t.group_id = c.group_id
LEFT JOIN ruled_out AS x ON t.target_no = x.target_no;

-- What:    how much weight each value has in each group, and in what L and MD rule out of it.
-- Inputs:  held(case_no, term_no, weight); members(case_no, group_id, l, md).
-- Outputs: group_id, term_no, weight, of_l, of_md, of_both.
CREATE OR REPLACE MACRO srsql.group_term_weights(held, members) AS TABLE
SELECT
    m.group_id,
    h.term_no,
    sum(h.weight)::HUGEINT AS weight,
    coalesce(sum(h.weight) FILTER (WHERE m.l), 0)::HUGEINT AS of_l,
    coalesce(sum(h.weight) FILTER (WHERE m.md), 0)::HUGEINT AS of_md,
    coalesce(sum(h.weight) FILTER (WHERE m.l AND m.md), 0)::HUGEINT AS of_both
FROM query_table(held) AS h
INNER JOIN query_table(members) AS m ON h.case_no = m.case_no
GROUP BY m.group_id, h.term_no;

-- What:    the groups that do not keep k cases and every threshold by themselves, whatever the
--          target is: in some view of an attacker who may use that it is new and that it stopped,
--          with all cases gone that their other regions may rule out. Groups that are not among
--          them keep both in any union: each has at least k who remain, and the shares of a union
--          lie between the shares of its parts.
-- Inputs:  members(group_id, l, md, steady); crowds(group_id, cases, of_l, of_md, of_both); loads:
--          of srsql.group_term_weights; bounds(term_no, theta_num, theta_den); uses_l, uses_md: as
--          of srsql.attacked_cases; at_least: k; weight_scale.
-- Outputs: group_id, distinct.
-- Source:  SPEC section 8 (lemma).
CREATE OR REPLACE MACRO srsql.uncertain_groups(
    members, crowds, loads, bounds, uses_l, uses_md, at_least, weight_scale
) AS TABLE
WITH
views AS (
    SELECT v.is_new, v.stopped
    FROM (
        SELECT
            unnest([false, true, false, true]) AS is_new,
            unnest([false, false, true, true]) AS stopped
    ) AS v
    WHERE (uses_l OR NOT v.is_new) AND (uses_md OR NOT v.stopped)
),

loose AS (
    SELECT
        m.group_id,
        count(*) AS cases,
        count(*) FILTER (WHERE m.l) AS of_l,
        count(*) FILTER (WHERE m.md) AS of_md,
        count(*) FILTER (WHERE m.l AND m.md) AS of_both
    FROM query_table(members) AS m
    WHERE NOT m.steady
    GROUP BY m.group_id
),

remaining AS MATERIALIZED (
    SELECT
        g.group_id,
        v.is_new,
        v.stopped,
        srsql.remaining_after_l_md(g.cases, g.of_l, g.of_md, g.of_both, v.is_new, v.stopped)
        - coalesce(
            srsql.remaining_after_l_md(o.cases, o.of_l, o.of_md, o.of_both, v.is_new, v.stopped), 0
        ) AS cases
    FROM query_table(crowds) AS g
    CROSS JOIN views AS v
    LEFT JOIN loose AS o ON g.group_id = o.group_id
)

SELECT r.group_id FROM remaining AS r WHERE r.cases < at_least
UNION
SELECT w.group_id
FROM query_table(loads) AS w
INNER JOIN query_table(bounds) AS b ON w.term_no = b.term_no
INNER JOIN remaining AS r ON w.group_id = r.group_id
WHERE srsql.exceeds(
    srsql.remaining_after_l_md(w.weight, w.of_l, w.of_md, w.of_both, r.is_new, r.stopped),
    b.theta_num,
    b.theta_den,
    r.cases,
    weight_scale
);

-- What:    the groups that are dangerous for some of their targets.
-- Inputs:  sets: of srsql.exclusion_sets; breaches(target_no, group_id, term_no): values that a
--          target's remaining cases hold above theta, -1 for ss cases above alpha; at_least: k.
-- Outputs: group_id, dig, dsg, ssg, persistent (fewer than k stay for a target that stays as well),
--          for the groups of which some is true.
-- Source:  Huang 2021, Definitions 1 to 5; SPEC section 9 (P).
CREATE OR REPLACE MACRO srsql.dangerous_groups(sets, breaches, at_least) AS TABLE
WITH
exposed AS (
    SELECT
        s.group_id,
        bool_or(s.remaining < at_least) AS dig,
        coalesce(bool_or(least(s.staying, s.staying_back) < at_least), false) AS persistent
    FROM query_table(sets) AS s
    GROUP BY s.group_id
),

revealed AS (
    SELECT
        b.group_id,
        bool_or(b.term_no >= 0) AS dsg,
        bool_or(b.term_no = -1) AS ssg
    FROM query_table(breaches) AS b
    GROUP BY b.group_id
)

SELECT
    e.group_id,
    e.dig,
    coalesce(r.dsg, false) AS dsg,
    coalesce(r.ssg, false) AS ssg,
    e.persistent
FROM exposed AS e
LEFT JOIN revealed AS r ON e.group_id = r.group_id
WHERE e.dig OR e.persistent OR r.group_id IS NOT NULL;

-- What:    DIR, DSR and SSGR of a release.
-- Inputs:  dangerous: of srsql.dangerous_groups; groups: how many there are in all; release_id;
--          of_scope: 'group' or 'match'.
-- Outputs: three uniform rows 'dir', 'dsr', 'ssgr'; violating = dangerous groups.
-- Source:  Huang 2021, section 4.
CREATE OR REPLACE MACRO srsql.dangerous_shares(dangerous, groups, release_id, of_scope) AS TABLE
WITH figures AS (
    SELECT unnest([
        struct_pack(measure := 'dir', n := count(*) FILTER (WHERE d.dig)),
        struct_pack(measure := 'dsr', n := count(*) FILTER (WHERE d.dsg)),
        struct_pack(measure := 'ssgr', n := count(*) FILTER (WHERE d.ssg))
    ]) AS figure
    FROM query_table(dangerous) AS d
)

SELECT
    unnest(srsql.check_row(
        release_id,
        struct_extract(f.figure, 'measure'),
        of_scope,
        struct_extract(f.figure, 'n'),
        groups,
        0
    ))
FROM figures AS f;
