-- One attacker, played in any DuckDB client: what is known of a target is a struct of names of
-- quasi-identifiers and values, as they are spoken of.

-- What:    how the numbers of a dataset become granules, as its text declares: the size of one, and
--          whether halves are rounded up.
-- Inputs:  of_dataset.
-- Outputs: attribute, granularity, rounds_up (NULL: not told); a row for each quasi-identifier.
CREATE OR REPLACE MACRO srsql_internal.scales(of_dataset) AS TABLE
WITH
blocks AS (
    SELECT unnest(regexp_split_to_array(d.toml, '(?m)^\s*\[\[qid\]\].*$')[2:]) AS block
    FROM srsql.dataset AS d
    WHERE d.dataset = of_dataset
),

own AS (
    SELECT regexp_split_to_array(b.block, '(?m)^\s*\[')[1] AS block FROM blocks AS b
)

SELECT
    regexp_extract(o.block, '(?m)^\s*name\s*=\s*["'']([^"'']+)', 1) AS attribute,
    coalesce(
        try_cast(
            nullif(regexp_extract(o.block, '(?m)^\s*granularity\s*=\s*"?([0-9.]+)', 1), '')
            AS DECIMAL(18, 6)
        ),
        1
    ) AS granularity,
    CASE regexp_extract(o.block, '(?m)^\s*rounding\s*=\s*["''](\w+)', 1)
        WHEN 'floor' THEN false
        WHEN 'untold' THEN NULL
        ELSE true
    END AS rounds_up
FROM own AS o;

-- What:    what an attacker knows, as intervals of a release; an error for a name or a value that
--          there is not.
-- Inputs:  knowledge: struct of quasi-identifier and value; of_release(release_id, dataset): the
--          name of a table of one row.
-- Outputs: position, attribute, low, high.
-- Source:  SPEC section 9.
CREATE OR REPLACE MACRO srsql_internal.known_intervals(knowledge, of_release) AS TABLE
WITH
said AS MATERIALIZED (
    SELECT lower(trim(s.key)) AS attribute, trim(s.value ->> '$') AS told
    FROM json_each(to_json(knowledge)) AS s
    WHERE (s.value ->> '$') IS NOT NULL
),

attributes AS MATERIALIZED (
    SELECT a.position, a.attribute, a.kind, r.dataset, s.granularity, s.rounds_up
    FROM query_table(of_release) AS r
    INNER JOIN srsql.attribute AS a ON r.release_id = a.release_id
    LEFT JOIN srsql_internal.scales((SELECT o.dataset FROM query_table(of_release) AS o)) AS s
        ON a.attribute = s.attribute
),

nodes AS MATERIALIZED (
    SELECT a.attribute, n.node, n.pre, n.last, n.low, n.high
    FROM attributes AS a
    INNER JOIN srsql.node AS n ON a.dataset = n.dataset AND a.attribute = n.attribute
    WHERE a.kind = 'categorical'
),

numbers AS (
    SELECT
        s.attribute,
        s.told,
        a.position,
        a.kind,
        CASE
            WHEN a.granularity IS NULL
                THEN error('dataset ' || a.dataset || ' declares no granularity of ' || a.attribute)
            WHEN
                a.kind = 'numeric'
                AND a.rounds_up IS NULL
                AND try_cast(s.told AS DECIMAL(18, 6)) % a.granularity <> 0
                THEN error(
                    'how ' || a.attribute || ' is rounded is not told: give a multiple of '
                    || a.granularity
                )
            WHEN coalesce(a.rounds_up, true)
                THEN floor(try_cast(s.told AS DECIMAL(18, 6)) / a.granularity + 0.5)::BIGINT
            ELSE floor(try_cast(s.told AS DECIMAL(18, 6)) / a.granularity)::BIGINT
        END AS granules
    FROM said AS s
    LEFT JOIN attributes AS a ON s.attribute = a.attribute
),

chosen AS (
    SELECT
        n.*,
        coalesce(
            (
                SELECT min(struct_pack(low := t.pre, high := t.last))
                FROM nodes AS t
                WHERE t.attribute = n.attribute AND upper(t.node) = upper(n.told)
            ),
            (
                SELECT min(struct_pack(low := t.pre, high := t.last))
                FROM nodes AS t
                WHERE
                    t.attribute = n.attribute
                    AND t.pre = t.last
                    AND try_cast(n.told AS DECIMAL(18, 6)) BETWEEN t.low AND t.high
            )
        ) AS node
    FROM numbers AS n
)

SELECT
    c.position,
    c.attribute,
    CASE
        WHEN c.position IS NULL
            THEN
                error(
                    c.attribute || ' is no quasi-identifier: give some of '
                    || (
                        SELECT string_agg(a.attribute, ', ' ORDER BY a.position)
                        FROM attributes AS a
                    )
                )
        WHEN c.kind = 'numeric' AND c.granules IS NULL
            THEN error(c.attribute || ' is a number, and ' || c.told || ' is none')
        WHEN c.kind = 'numeric' THEN c.granules
        WHEN c.node IS NULL
            THEN
                error(
                    c.told || ' is no value of ' || c.attribute || ': give one of '
                    || (
                        SELECT string_agg(n.node, ', ' ORDER BY n.pre)
                        FROM nodes AS n
                        WHERE n.attribute = c.attribute
                    )
                )
        ELSE c.node.low
    END AS low,
    CASE WHEN c.kind = 'numeric' THEN c.granules ELSE c.node.high END AS high
FROM chosen AS c;

-- What:    the release of a period that is attacked: the one that is out, or, where the target is
--          known to have left it, the version before.
-- Inputs:  of_period; of_series, of_dataset: as of named_series; has_left.
-- Outputs: release_id, dataset, joined (ids follow cases), next_period, previous_period,
--          tells_gone; one row.
CREATE OR REPLACE MACRO srsql_internal.attacked_release(
    of_period, of_series, of_dataset, has_left
) AS TABLE
WITH
versions AS (
    SELECT
        r.release_id,
        r.dataset,
        n.ids <> 'per-quarter' AS joined,
        r.status = 'released' AS is_out,
        row_number() OVER (ORDER BY r.release_id DESC) AS place
    FROM srsql_internal.named_series(of_series, of_dataset) AS n
    INNER JOIN srsql.exposed_release AS r ON n.dataset = r.dataset AND n.series = r.series
    WHERE r.quarter = of_period::VARCHAR
),

chosen AS MATERIALIZED (
    SELECT v.release_id, v.dataset, v.joined
    FROM versions AS v
    WHERE CASE WHEN has_left THEN v.place = 2 ELSE v.is_out END
),

parted AS (
    SELECT count(*) > count(DISTINCT m.case_id) AS several
    FROM srsql.member AS m
    SEMI JOIN srsql.claim AS c ON m.release_id = c.release_id
    SEMI JOIN chosen AS o ON m.release_id = o.release_id
),

others AS (
    SELECT
        max(a.quarter) FILTER (WHERE a.next) AS next_period,
        max(a.quarter) FILTER (WHERE a.previous) AS previous_period,
        coalesce(bool_or(a.without_gone), false) AS tells_gone
    FROM srsql.attack_releases((SELECT c.release_id FROM chosen AS c)) AS a
)

SELECT
    CASE
        WHEN c.release_id IS NULL
            THEN
                error(
                    'no ' || CASE WHEN has_left THEN 'earlier version' ELSE 'release' END || ' of '
                    || of_period::VARCHAR || ': FROM srsql.series() lists what is out'
                )
        WHEN p.several
            THEN error('reports of a case are in several regions: candidates cannot be counted')
        ELSE c.release_id
    END AS release_id,
    c.dataset,
    c.joined,
    o.next_period,
    o.previous_period,
    o.tells_gone
FROM others AS o
CROSS JOIN parted AS p
LEFT JOIN chosen AS c ON true;

-- What:    The cases that an attacker cannot tell from the target, and what rules each of them out.
-- Inputs:  period: of the release that the target is in; knowledge: struct of quasi-identifier and
--          value, such as {'age': 44, 'sex': 'M'}; series, dataset: as of srsql.audit; new: the
--          target is in no earlier period; stopped: it is not in the next one; stayed: it is in the
--          next one; has_left: it left with the newest version of the period; gone: it left for
--          good.
-- Outputs: case_id, group_id, in_next, in_previous, excluded_by: list of the sets (B, F, L, MD, E,
--          P, G) that it is in; empty: it remains.
-- Source:  Huang 2021, Definitions 1 to 3 and 5; SPEC sections 9 and 20.
CREATE OR REPLACE MACRO srsql.candidates(
    period,
    knowledge,
    series := 'main',
    dataset := NULL,
    new := false,
    stopped := false,
    stayed := false,
    has_left := false,
    gone := false
) AS TABLE
WITH
attacked AS MATERIALIZED (
    SELECT a.* FROM srsql_internal.attacked_release(period, series, dataset, has_left) AS a
),

known_interval AS MATERIALIZED (
    SELECT k.* FROM srsql_internal.known_intervals(knowledge, 'attacked') AS k
),

candidate AS MATERIALIZED (
    SELECT c.*
    FROM srsql.attack_candidates('known_interval', (SELECT a.release_id FROM attacked AS a)) AS c
),

chosen_set AS MATERIALIZED (
    SELECT unnest(list_filter(
        [
            'B',
            'F',
            CASE WHEN new THEN 'L' END,
            CASE WHEN stopped AND a.next_period IS NOT NULL THEN 'MD' END,
            CASE WHEN has_left THEN 'E' END,
            CASE WHEN stayed AND a.next_period IS NOT NULL THEN 'P' END,
            CASE WHEN gone AND a.tells_gone THEN 'G' END
        ],
        LAMBDA name: name IS NOT NULL
    )) AS exclusion
    FROM attacked AS a
    WHERE
        CASE
            WHEN stayed AND (stopped OR gone)
                THEN error('a target that stayed has neither stopped nor gone')
            ELSE true
        END
),

reasons AS (
    SELECT e.case_no, list(DISTINCT e.exclusion ORDER BY e.exclusion) AS excluded_by
    FROM srsql.attack_exclusions(
        'known_interval', 'candidate', (SELECT a.release_id FROM attacked AS a)
    ) AS e
    SEMI JOIN chosen_set AS s ON e.exclusion = s.exclusion
    GROUP BY e.case_no
)

SELECT
    c.case_id,
    c.group_id,
    c.in_next,
    c.in_previous,
    coalesce(r.excluded_by, []) AS excluded_by,
    c.case_no,
    c.is_ss
FROM candidate AS c
LEFT JOIN reasons AS r ON c.case_no = r.case_no
ORDER BY c.case_no;

-- What:    One attacker played: how many candidates there are, what each exclusion set rules out,
--          who remains, and what can be inferred of the target.
-- Inputs:  as of srsql.candidates.
-- Outputs: step (candidates; excluded; remaining; inferred: a value of those who remain; united:
--          the same with their values of all releases; persistent: who remains of another period),
--          name (of the set, the value or the period), cases, share (of those who remain), theta,
--          exceeds (the share exceeds theta).
-- Source:  Huang 2021, Definitions 1 to 5; SPEC sections 9 and 20.
CREATE OR REPLACE MACRO srsql.attack(
    period,
    knowledge,
    series := 'main',
    dataset := NULL,
    new := false,
    stopped := false,
    stayed := false,
    has_left := false,
    gone := false
) AS TABLE
WITH
attacked AS MATERIALIZED (
    SELECT a.* FROM srsql_internal.attacked_release(period, series, dataset, has_left) AS a
),

candidate AS MATERIALIZED (
    SELECT c.*
    FROM srsql.candidates(
        period, knowledge, series, dataset, new, stopped, stayed, has_left, gone
    ) AS c
),

remaining_case AS MATERIALIZED (
    SELECT c.case_no, c.is_ss, c.in_next, c.in_previous
    FROM candidate AS c
    WHERE len(c.excluded_by) = 0
),

names AS (SELECT unnest(['B', 'F', 'L', 'MD', 'E', 'P', 'G']) AS name),

found AS (
    SELECT 1 AS place, 'candidates' AS step, NULL AS name, count(*) AS cases, NULL AS share,
        NULL AS theta, NULL AS exceeds
    FROM candidate
    UNION ALL
    SELECT 2, 'excluded', s.name, count(c.case_no), NULL, NULL, NULL
    FROM attacked AS a
    CROSS JOIN names AS s
    LEFT JOIN candidate AS c ON list_contains(c.excluded_by, s.name)
    WHERE
        s.name IN ('B', 'F')
        OR (s.name = 'L' AND new)
        OR (s.name = 'MD' AND stopped AND a.next_period IS NOT NULL)
        OR (s.name = 'E' AND has_left)
        OR (s.name = 'P' AND stayed AND a.next_period IS NOT NULL)
        OR (s.name = 'G' AND gone AND a.tells_gone)
    GROUP BY s.name
    UNION ALL
    SELECT 3, 'remaining', NULL, count(*), NULL, NULL, NULL FROM remaining_case
    UNION ALL
    SELECT 4, 'inferred', i.term, i.holders, i.confidence, i.theta_num / nullif(i.theta_den, 0),
        i.exceeds
    FROM srsql.attack_inference('remaining_case', (SELECT a.release_id FROM attacked AS a)) AS i
    UNION ALL
    SELECT 5, 'united', u.term, u.holders, u.confidence, u.theta_num / nullif(u.theta_den, 0),
        u.exceeds
    FROM srsql.attack_union('remaining_case', (SELECT a.release_id FROM attacked AS a)) AS u
    WHERE (SELECT a.joined FROM attacked AS a)
    UNION ALL
    SELECT 6, 'persistent', a.next_period, (
            SELECT count(*) FROM remaining_case AS r WHERE r.in_next
        ), NULL, NULL, NULL
    FROM attacked AS a
    WHERE a.next_period IS NOT NULL AND NOT (stopped OR stayed OR gone)
    UNION ALL
    SELECT 6, 'persistent', a.previous_period, (
            SELECT count(*) FROM remaining_case AS r WHERE r.in_previous
        ), NULL, NULL, NULL
    FROM attacked AS a
    WHERE a.previous_period IS NOT NULL AND NOT (new OR stayed OR (gone AND has_left))
)

SELECT f.step, f.name, f.cases, f.share, f.theta, f.exceeds
FROM found AS f
ORDER BY f.place ASC, f.share DESC, f.name ASC;
