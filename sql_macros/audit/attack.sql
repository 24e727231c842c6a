-- One attacker who knows some quasi-identifiers of a target in a release, as sets of cases.
-- Parameters that name tables take their names; of_release is a release id. A table of knowledge is
-- (position, low, high): the intervals of what the attacker knows; a position that is not in it
-- constrains nothing.

-- What:    the other releases of the series that the attacker has, drafts aside.
-- Inputs:  of_release.
-- Outputs: release_id, quarter, earlier (before of_release in the order of quarter, release_id),
--          before (of an earlier quarter), next, previous (of the quarter just after or before),
--          newer (a later version of its own quarter), without_gone: it is out now, and shows
--          nobody who left of_release for good: of a later quarter, or of any if of_release was
--          replaced.
-- Source:  Huang 2021, Definitions 1 to 3 and 5; SPEC section 9.
CREATE OR REPLACE MACRO srsql.attack_releases(of_release) AS TABLE
WITH known AS (
    SELECT
        r.release_id,
        r.quarter,
        own.quarter AS own_quarter,
        (r.quarter, r.release_id) < (own.quarter, own.release_id) AS earlier,
        r.quarter < own.quarter AS before,
        r.quarter = own.quarter AND r.release_id > own.release_id AS newer,
        r.status = 'released'
        AND (own.status <> 'released' OR r.quarter > own.quarter) AS without_gone,
        min(CASE WHEN r.quarter > own.quarter THEN r.quarter END) OVER () AS quarter_after,
        max(CASE WHEN r.quarter < own.quarter THEN r.quarter END) OVER () AS quarter_before
    FROM srsql.release AS own
    INNER JOIN srsql.exposed_release AS r
        ON own.dataset = r.dataset AND own.series = r.series AND own.release_id <> r.release_id
    WHERE own.release_id = of_release
)

SELECT
    k.release_id,
    k.quarter,
    k.earlier,
    k.before,
    k.newer,
    k.without_gone,
    coalesce(k.quarter = k.quarter_after, false)
    AND srsql.follows_on(k.own_quarter, k.quarter) AS next,
    coalesce(k.quarter = k.quarter_before, false)
    AND srsql.follows_on(k.quarter, k.own_quarter) AS previous
FROM known AS k;

-- What:    the candidates C: the cases of a release whose region covers what is known.
-- Inputs:  knowledge; of_release.
-- Outputs: case_no, case_id, group_id, is_ss (NULL where the release does not tell), in_next,
--          in_previous: whether the case is in the next or the previous quarter.
-- Source:  SPEC section 9, scope = match.
CREATE OR REPLACE MACRO srsql.attack_candidates(knowledge, of_release) AS TABLE
WITH
outside AS (
    SELECT DISTINCT r.group_id
    FROM srsql.region AS r
    INNER JOIN query_table(knowledge) AS t ON r.position = t.position
    WHERE r.release_id = of_release AND NOT (r.low <= t.low AND t.high <= r.high)
),

neighbours AS (
    SELECT m.case_id, bool_or(a.next) AS next, bool_or(a.previous) AS previous
    FROM srsql.attack_releases(of_release) AS a
    INNER JOIN srsql.member AS m ON a.release_id = m.release_id
    WHERE a.next OR a.previous
    GROUP BY m.case_id
)

SELECT
    m.case_no,
    m.case_id,
    m.group_id,
    t.is_ss,
    coalesce(n.next, false) AS in_next,
    coalesce(n.previous, false) AS in_previous
FROM srsql.member AS m
ANTI JOIN outside AS o ON m.group_id = o.group_id
LEFT JOIN srsql.case_flag AS t ON m.release_id = t.release_id AND m.case_no = t.case_no
LEFT JOIN neighbours AS n ON m.case_id = n.case_id
WHERE m.release_id = of_release;

-- What:    why a candidate cannot be the target, one row for every reason. B, F: an earlier or a
--          later release has the case with a region that does not cover what is known. L: it is in
--          an earlier quarter, which a new target is not. MD: it is in the next quarter, which a
--          target that stopped is not. E: it is in a later version of the quarter, which a target
--          that left is not. P: it is not in the next quarter, in which a target that stayed is.
--          G: it is in a release that is out and shows nobody who left for good.
-- Inputs:  knowledge; candidates(case_no, case_id, in_next, ...); of_release.
-- Outputs: exclusion ('B', 'F', 'L', 'MD', 'E', 'P', 'G'), case_no, release_id (NULL for P),
--          quarter, position, low, high: the part of the region that does not cover; NULL for L,
--          MD, E, P, G.
-- Source:  Huang 2021, Definitions 1 to 3 and 5; SPEC section 5 (the erasure attack);
--          docs/models.md (leaving several quarters).
CREATE OR REPLACE MACRO srsql.attack_exclusions(knowledge, candidates, of_release) AS TABLE
WITH seen AS (
    SELECT
        c.case_no,
        a.release_id,
        a.quarter,
        a.earlier,
        a.before,
        a.next,
        a.newer,
        a.without_gone,
        m.group_id
    FROM query_table(candidates) AS c
    INNER JOIN srsql.member AS m ON c.case_id = m.case_id
    INNER JOIN srsql.attack_releases(of_release) AS a ON m.release_id = a.release_id
)

SELECT
    CASE WHEN s.earlier THEN 'B' ELSE 'F' END AS exclusion,
    s.case_no,
    s.release_id,
    s.quarter,
    r.position,
    r.low,
    r.high
FROM seen AS s
INNER JOIN srsql.region AS r ON s.release_id = r.release_id AND s.group_id = r.group_id
INNER JOIN query_table(knowledge) AS t ON r.position = t.position
WHERE NOT (r.low <= t.low AND t.high <= r.high)
UNION ALL
SELECT 'L', s.case_no, s.release_id, s.quarter, NULL, NULL, NULL
FROM seen AS s
WHERE s.before
UNION ALL
SELECT 'MD', s.case_no, s.release_id, s.quarter, NULL, NULL, NULL
FROM seen AS s
WHERE s.next
UNION ALL
SELECT
    'P',
    c.case_no,
    NULL AS release_id,
    (
        SELECT max(a.quarter)
        FROM srsql.attack_releases(of_release) AS a
        WHERE a.next
    ) AS quarter,
    NULL,
    NULL,
    NULL
FROM query_table(candidates) AS c
WHERE NOT c.in_next
UNION ALL
SELECT 'E', s.case_no, s.release_id, s.quarter, NULL, NULL, NULL
FROM seen AS s
WHERE s.newer
UNION ALL
SELECT 'G', s.case_no, s.release_id, s.quarter, NULL, NULL, NULL
FROM seen AS s
WHERE s.without_gone;

-- What:    what the attacker infers about the sensitive values from the cases that remain.
-- Inputs:  remaining(case_no); of_release.
-- Outputs: term, holders (cases that have the value themselves), confidence, theta_num, theta_den
--          (theta_den = 0: not known), exceeds (exact; NULL where theta is not known).
-- Source:  Lin 2016, Definition 1; Huang 2021, Definition 7.
CREATE OR REPLACE MACRO srsql.attack_inference(remaining, of_release) AS TABLE
WITH
crowd AS (
    SELECT count(*) AS cases FROM query_table(remaining)
),

held AS (
    SELECT
        c.term_no,
        count(*) FILTER (WHERE c.direct) AS holders,
        sum(c.weight)::HUGEINT AS weight
    FROM srsql.case_term AS c
    SEMI JOIN query_table(remaining) AS x ON c.case_no = x.case_no
    WHERE c.release_id = of_release
    GROUP BY c.term_no
)

SELECT
    t.term,
    h.holders,
    h.weight / (n.cases * r.weight_scale) AS confidence,
    t.theta_num,
    t.theta_den,
    CASE
        WHEN t.theta_den > 0
            THEN h.weight * t.theta_den > t.theta_num::HUGEINT * n.cases * r.weight_scale
    END AS exceeds
FROM held AS h
INNER JOIN srsql.threshold AS t ON h.term_no = t.term_no AND t.release_id = of_release
INNER JOIN srsql.release AS r ON r.release_id = of_release
CROSS JOIN crowd AS n;

-- What:    U, the union attack: the values of the cases that remain, united over all releases of
--          the series in which their ids appear.
-- Inputs:  remaining(case_no): cases of the release; of_release.
-- Outputs: term, holders (cases that some release shows with it), confidence, theta_num, theta_den
--          (of the release itself, else the least of the others; 0 / 0 where none tells), exceeds.
--          Only values that more cases hold than by the release itself.
-- Source:  SPEC section 9 (U).
CREATE OR REPLACE MACRO srsql.attack_union(remaining, of_release) AS TABLE
WITH
crowd AS (
    SELECT m.case_no, m.case_id
    FROM srsql.member AS m
    SEMI JOIN query_table(remaining) AS x ON m.case_no = x.case_no
    WHERE m.release_id = of_release
),

known AS (
    SELECT of_release AS release_id
    UNION ALL
    SELECT a.release_id FROM srsql.attack_releases(of_release) AS a
),

shown AS (
    SELECT c.case_no, t.term, t.theta_num, t.theta_den, m.release_id = of_release AS own
    FROM crowd AS c
    INNER JOIN srsql.member AS m ON c.case_id = m.case_id
    SEMI JOIN known AS k ON m.release_id = k.release_id
    INNER JOIN srsql.case_term AS h ON m.release_id = h.release_id AND m.case_no = h.case_no
    INNER JOIN srsql.threshold AS t ON h.release_id = t.release_id AND h.term_no = t.term_no
    WHERE h.direct
),

united AS (
    SELECT
        s.term,
        count(DISTINCT s.case_no) AS holders,
        count(DISTINCT s.case_no) FILTER (WHERE s.own) AS own_holders,
        arg_min(
            struct_pack(num := s.theta_num, den := s.theta_den), s.theta_num / s.theta_den
        ) FILTER (WHERE s.theta_den > 0) AS least
    FROM shown AS s
    GROUP BY s.term
),

bounded AS (
    SELECT
        u.term,
        u.holders,
        u.holders / (SELECT count(*) FROM crowd) AS confidence,
        coalesce(t.theta_num, struct_extract(u.least, 'num'), 0) AS theta_num,
        coalesce(t.theta_den, struct_extract(u.least, 'den'), 0) AS theta_den
    FROM united AS u
    LEFT JOIN srsql.threshold AS t ON t.release_id = of_release AND u.term = t.term
    WHERE u.holders > u.own_holders
)

SELECT
    b.term,
    b.holders,
    b.confidence,
    b.theta_num,
    b.theta_den,
    CASE
        WHEN b.theta_den > 0
            THEN b.holders::HUGEINT * b.theta_den
                > b.theta_num::HUGEINT * (SELECT count(*) FROM crowd)
    END AS exceeds
FROM bounded AS b;
