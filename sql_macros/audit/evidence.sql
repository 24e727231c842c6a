-- What an audit shows of the groups in danger. Parameters that name tables take their names.

-- What:    the dangerous groups, worst first, each with the target of which the fewest remain; and,
--          if asked for, the group of which the fewest remain although nothing is in danger.
-- Inputs:  dangerous: of srsql.dangerous_groups; sets: of srsql.exclusion_sets; at_most: how many
--          groups; with_safe: whether a safe group is wanted where none is dangerous.
-- Outputs: place (1 is worst), the columns of both, of the target with the least remaining (the
--          least target_no among equals).
CREATE OR REPLACE MACRO srsql.worst_groups(dangerous, sets, at_most, with_safe) AS TABLE
WITH
worst AS (
    SELECT s.group_id, arg_min(s, (s.remaining, s.target_no)) AS target
    FROM query_table(sets) AS s
    GROUP BY s.group_id
),

judged AS (
    SELECT
        w.group_id,
        coalesce(d.dig, false) AS dig,
        coalesce(d.dsg, false) AS dsg,
        coalesce(d.ssg, false) AS ssg,
        coalesce(d.persistent, false) AS persistent,
        w.target
    FROM worst AS w
    LEFT JOIN query_table(dangerous) AS d ON w.group_id = d.group_id
),

placed AS (
    SELECT
        j.*,
        j.dig OR j.dsg OR j.ssg AS in_danger,
        row_number() OVER (
            ORDER BY
                j.dig OR j.dsg OR j.ssg DESC,
                struct_extract(j.target, 'remaining') ASC,
                j.group_id ASC
        ) AS place
    FROM judged AS j
)

SELECT
    p.place,
    p.group_id,
    p.dig,
    p.dsg,
    p.ssg,
    p.persistent,
    struct_extract(p.target, 'target_no') AS target_no,
    struct_extract(p.target, 'candidates') AS candidates,
    struct_extract(p.target, 'b') AS b,
    struct_extract(p.target, 'f') AS f,
    struct_extract(p.target, 'l') AS l,
    struct_extract(p.target, 'md') AS md,
    struct_extract(p.target, 'remaining') AS remaining
FROM placed AS p
WHERE (p.in_danger AND p.place <= at_most) OR (with_safe AND p.place = 1);

-- What:    the shares of all values among those who remain for some targets, scope = group.
-- Inputs:  chosen(target_no, group_id, remaining); targets, loads, pairs, held, bounds: tables of
--          an audit; weight_scale.
-- Outputs: target_no, group_id, term_no, theta_num, theta_den, whole, weight: the share is
--          weight / whole.
CREATE OR REPLACE MACRO srsql.remaining_shares(
    chosen, targets, loads, pairs, held, bounds, weight_scale
) AS TABLE
WITH
before AS (
    SELECT
        c.target_no,
        c.group_id,
        c.remaining,
        w.term_no,
        srsql.kept(w.weight, w.of_l, w.of_md, w.of_both, t.is_new, t.stopped) AS weight
    FROM query_table(chosen) AS c
    INNER JOIN query_table(targets) AS t ON c.target_no = t.target_no
    INNER JOIN query_table(loads) AS w ON c.group_id = w.group_id
    WHERE c.remaining > 0
),

gone AS (
    SELECT p.target_no, h.term_no, sum(h.weight)::HUGEINT AS weight
    FROM query_table(pairs) AS p
    INNER JOIN query_table(held) AS h ON p.case_no = h.case_no
    SEMI JOIN query_table(chosen) AS c ON p.target_no = c.target_no
    WHERE NOT p.otherwise
    GROUP BY p.target_no, h.term_no
)

SELECT
    s.target_no,
    s.group_id,
    s.term_no,
    b.theta_num,
    b.theta_den,
    s.remaining::HUGEINT * weight_scale AS whole,
    s.weight - coalesce(g.weight, 0) AS weight
FROM before AS s
INNER JOIN query_table(bounds) AS b ON s.term_no = b.term_no
LEFT JOIN gone AS g ON s.target_no = g.target_no AND s.term_no = g.term_no;

-- What:    the share that stands out most in each group: above its threshold if one is, then by its
--          distance from the threshold; apart from it the share of ss cases.
-- Inputs:  shares(target_no, group_id, term_no, theta_num, theta_den, whole, weight); targets;
--          members(case_no, case_id); of_release.
-- Outputs: group_id, term, confidence, theta_num, theta_den, case_id (of the target), ss_share.
CREATE OR REPLACE MACRO srsql.outstanding(shares, targets, members, of_release) AS TABLE
WITH
told AS (
    SELECT
        s.group_id,
        s.target_no,
        s.term_no,
        s.theta_num,
        s.theta_den,
        m.case_id,
        s.weight / s.whole AS share,
        s.weight * s.theta_den > s.theta_num * s.whole AS breached
    FROM query_table(shares) AS s
    INNER JOIN query_table(targets) AS t ON s.target_no = t.target_no
    LEFT JOIN query_table(members) AS m ON t.case_no = m.case_no
),

ranked AS (
    SELECT
        t.*,
        row_number() OVER (
            PARTITION BY t.group_id, t.term_no = -1
            ORDER BY
                t.breached DESC,
                t.share - t.theta_num / t.theta_den DESC,
                t.share DESC,
                t.term_no ASC,
                t.target_no ASC
        ) AS place
    FROM told AS t
    WHERE t.share > 0 OR t.term_no = -1
)

SELECT
    r.group_id,
    max(h.term) AS term,
    max(r.share) FILTER (WHERE r.term_no >= 0) AS confidence,
    max(r.theta_num) FILTER (WHERE r.term_no >= 0) AS theta_num,
    max(r.theta_den) FILTER (WHERE r.term_no >= 0) AS theta_den,
    max(r.case_id) FILTER (WHERE r.term_no >= 0) AS case_id,
    max(r.share) FILTER (WHERE r.term_no = -1) AS ss_share
FROM ranked AS r
LEFT JOIN srsql.threshold AS h ON r.term_no = h.term_no AND h.release_id = of_release
WHERE r.place = 1
GROUP BY r.group_id;
