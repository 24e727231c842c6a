-- The audit of a series as one query, in any DuckDB client. Its parts are the statements of the
-- steps that srsql audit runs, so that both have one definition; releases and windows of
-- persistence follow each other as the rounds of a recursive query, which holds one at a time.

-- What:    what is to be judged, in order: every reported release as it is, its four windows of
--          persistence where it promises to withstand P, and those who left it where it has a later
--          version.
-- Inputs:  subjects: of audit_subjects.
-- Outputs: job_no (from 1), kind ('own', 'window', 'left' or 'left_series'), and what the steps
--          take, by their names.
-- Source:  SPEC sections 5 and 9; docs/decisions.md, D286.
CREATE OR REPLACE MACRO srsql_internal.audit_jobs(subjects) AS TABLE
WITH
lists AS (
    SELECT s.*, list_filter(s.attacks, LAMBDA a: a NOT IN ('md', 'p')) AS without_neighbours
    FROM query_table(subjects) AS s
    WHERE
        s.reported
        AND CASE
            WHEN len(s.lacks) = 0 THEN true
            ELSE error('the release of ' || s.quarter || ' cannot be judged: ' || s.lacks[1])
        END
),

windows AS (
    SELECT
        unnest(['next', 'next', 'previous', 'previous']) AS side,
        unnest([true, false, true, false]) AS inside
),

versions AS (SELECT unnest(['left_series', 'left']) AS kind),

kinds AS (
    SELECT
        l.*,
        'own' AS kind,
        NULL::VARCHAR AS side,
        true AS inside,
        l.attacks AS played,
        []::INTEGER[] AS not_in
    FROM lists AS l
    UNION ALL
    SELECT l.*, 'window', w.side, w.inside, l.without_neighbours, []::INTEGER[]
    FROM lists AS l
    CROSS JOIN windows AS w
    WHERE list_contains(l.attacks, 'p')
    UNION ALL
    SELECT
        l.*,
        x.kind,
        NULL,
        true,
        list_filter(
            l.attacks,
            LAMBDA a: a <> 'p' AND (l.explicit OR NOT list_contains(l.undefended, a))
        ),
        CASE x.kind WHEN 'left' THEN l.newer ELSE l.since END
    FROM lists AS l
    CROSS JOIN versions AS x
    WHERE len(l.newer) > 0
)

SELECT
    row_number() OVER (ORDER BY k.seq, k.kind, k.side, k.inside)::INTEGER AS job_no,
    k.kind,
    k.release_id,
    k.side,
    k.inside,
    k.not_in,
    list_contains(k.played, 'b') AS b,
    list_contains(k.played, 'f') AS f,
    list_contains(k.played, 'l') AS l,
    list_contains(k.played, 'md') AS md,
    list_contains(k.played, 'ss') AS ss,
    k.k,
    coalesce(k.alpha_num, 1) AS alpha_num,
    coalesce(k.alpha_den, 1) AS alpha_den,
    k.theta_num,
    k.theta_den,
    k.weight_scale,
    k.newest,
    k.originals,
    k.perturbed AND k.kind = 'own' AS perturbed
FROM kinds AS k;

-- What:    the raw quasi-identifiers of the cases of a release as boxes; what was drawn at random
--          tells no targets apart, and a forgotten case has no box.
-- Inputs:  job(release_id, originals), one row; members(case_no, case_id).
-- Outputs: case_no, box.
-- Source:  SPEC section 9.
CREATE OR REPLACE MACRO srsql_internal.raw_boxes(job, members) AS TABLE
WITH
own_release AS MATERIALIZED (
    SELECT j.release_id FROM query_table(job) AS j WHERE j.originals
),

positions AS MATERIALIZED (
    SELECT p.* FROM srsql.box_positions('own_release') AS p
),

known AS (
    SELECT q.case_no, q.position, q.low, q.high
    FROM srsql.case_qid AS q
    SEMI JOIN own_release AS r ON q.release_id = r.release_id
)

SELECT
    m.case_no,
    srsql.box_of(list(srsql.box_place(p.position, q.low, q.high, p.root_low, p.root_high))) AS box
FROM query_table(members) AS m
ANTI JOIN srsql.forgotten_case AS f ON m.case_id = f.token
CROSS JOIN positions AS p
LEFT JOIN known AS q ON m.case_no = q.case_no AND p.position = q.position AND NOT p.perturbed
GROUP BY m.case_no;

-- What:    the groups in danger of every job at every scope, and a row for each job and scope.
-- Inputs:  subjects: of audit_subjects; jobs: of audit_jobs; next_cases(case_id): of the period
--          after the newest release.
-- Outputs: job_no, scope, group_id (NULL: the row of the job and scope), dig, dsg, ssg, persistent;
--          of a job: groups, outside, bounds_broken, bounds_broken_earliest, self_excluded,
--          internal, fewest.
-- Source:  Huang 2021, Definitions 1 to 5; SPEC section 9.
CREATE OR REPLACE MACRO srsql_internal.audit_rounds(subjects, jobs, next_cases) AS TABLE
WITH RECURSIVE
series AS MATERIALIZED (
    SELECT
        list(s.release_id ORDER BY s.seq) AS release_ids,
        list(s.quarter_no ORDER BY s.seq) AS quarters,
        list(s.reported ORDER BY s.seq) AS reported,
        NULL::INTEGER[] AS known
    FROM query_table(subjects) AS s
),

scopes AS (SELECT unnest(['group', 'match']) AS scope),

job_list AS MATERIALIZED (
    SELECT j.* FROM query_table(jobs) AS j
),

srsql_audit_next AS MATERIALIZED (
    SELECT n.case_id FROM query_table(next_cases) AS n
),

srsql_audit_part AS MATERIALIZED (
    SELECT NULL::INTEGER AS release_id, NULL::INTEGER AS group_id WHERE false
),

-- parts: audit/appearances, audit/series; of: series
rounds AS (
    SELECT
        0 AS job_no,
        NULL::VARCHAR AS scope,
        NULL::INTEGER AS group_id,
        false AS dig,
        false AS dsg,
        false AS ssg,
        false AS persistent,
        NULL::BIGINT AS groups,
        NULL::BIGINT AS outside,
        NULL::BIGINT AS bounds_broken,
        NULL::BIGINT AS bounds_broken_earliest,
        NULL::BIGINT AS self_excluded,
        NULL::BIGINT AS internal,
        NULL::BIGINT AS fewest
    UNION ALL
    (
        WITH
        job AS MATERIALIZED (
            SELECT j.*
            FROM job_list AS j
            WHERE j.job_no = (SELECT max(r.job_no) FROM rounds AS r) + 1
        ),

        srsql_audit_bound AS MATERIALIZED (
            SELECT -1 AS term_no, j.alpha_num AS theta_num, j.alpha_den AS theta_den
            FROM job AS j
            WHERE j.ss AND j.alpha_num < j.alpha_den
            UNION ALL
            SELECT
                t.term_no,
                coalesce(j.theta_num, t.theta_num),
                coalesce(j.theta_den, t.theta_den)
            FROM job AS j
            INNER JOIN srsql.threshold AS t ON j.release_id = t.release_id
            WHERE coalesce(j.theta_num, t.theta_num) < coalesce(j.theta_den, t.theta_den)
        ),

        -- parts: audit/release, audit/sizes; of: job
        srsql_audit_raw AS MATERIALIZED (
            SELECT r.* FROM srsql_internal.raw_boxes('job', 'srsql_audit_member') AS r
        ),

        member_of_cells AS MATERIALIZED (
            SELECT m.* FROM srsql_audit_member AS m WHERE NOT (SELECT j.originals FROM job AS j)
        ),

        size_of_cells AS MATERIALIZED (
            SELECT s.* FROM srsql_audit_group_size AS s WHERE NOT (SELECT j.originals FROM job AS j)
        ),

        -- parts: audit/targets; of: job; as: _of_originals
        -- parts: audit/cells; of: job; as: _of_cells;
        --   reading: audit_member as member_of_cells, audit_group_size as size_of_cells
        srsql_audit_target AS MATERIALIZED (
            SELECT t.* FROM srsql_audit_target_of_originals AS t
            UNION ALL BY NAME
            SELECT t.* FROM srsql_audit_target_of_cells AS t
        ),

        -- parts: audit/scope_group; of: job
        -- parts: audit/places; of: job
        place_of_cells AS MATERIALIZED (
            SELECT p.* FROM srsql_audit_place AS p WHERE NOT (SELECT j.originals FROM job AS j)
        ),

        -- parts: audit/cells_match; of: job; as: _of_match_cells;
        --   reading: audit_member as member_of_cells, audit_place as place_of_cells
        match_target AS MATERIALIZED (
            SELECT t.* FROM srsql_audit_target_of_originals AS t
            UNION ALL BY NAME
            SELECT t.* FROM srsql_audit_target_of_match_cells AS t
        ),

        -- parts: audit/points, audit/scope_match; of: job; as: _match;
        --   reading: audit_target as match_target
        own_set AS MATERIALIZED (
            SELECT s.* FROM srsql_audit_sets AS s
            WHERE s.remaining > 0 OR (SELECT j.side FROM job AS j) IS NULL
        ),

        own_match_set AS MATERIALIZED (
            SELECT s.* FROM srsql_audit_sets_match AS s
            WHERE s.remaining > 0 OR (SELECT j.side FROM job AS j) IS NULL
        ),

        dangerous AS MATERIALIZED (
            SELECT 'group' AS scope, d.*
            FROM srsql.dangerous_groups(
                'own_set', 'srsql_audit_breach', (SELECT j.k FROM job AS j)
            ) AS d
            UNION ALL
            SELECT 'match', d.*
            FROM srsql.dangerous_groups(
                'own_match_set', 'srsql_audit_breach_match', (SELECT j.k FROM job AS j)
            ) AS d
        )

        SELECT
            j.job_no,
            d.scope,
            d.group_id,
            d.dig,
            d.dsg,
            d.ssg,
            d.persistent,
            NULL,
            NULL,
            NULL,
            NULL,
            NULL,
            NULL,
            NULL
        FROM job AS j
        CROSS JOIN dangerous AS d
        WHERE j.side IS NULL OR d.dig OR d.dsg OR d.ssg
        UNION ALL
        SELECT
            j.job_no,
            c.scope,
            NULL,
            false,
            false,
            false,
            false,
            (SELECT count(*) FROM srsql_audit_group_size),
            (
                SELECT coalesce(sum(t.cases), 0)::BIGINT
                FROM srsql_audit_target_of_originals AS t
                WHERE NOT t.inside
            ),
            (SELECT count(*) FROM srsql_audit_member AS m WHERE NOT m.bounds_all),
            (SELECT count(*) FROM srsql_audit_member AS m WHERE NOT m.bounds_earliest),
            (
                SELECT count(*)
                FROM srsql_audit_member AS m
                INNER JOIN srsql_audit_raw AS r ON m.case_no = r.case_no
                WHERE srsql.exclusion_b(m.earlier, r.box) OR srsql.exclusion_f(m.later, r.box)
            ),
            (
                SELECT count(*)
                FROM srsql.internal_groups(
                    (SELECT o.release_id FROM job AS o WHERE o.perturbed)
                ) AS i
                WHERE i.breached OR i.carriers < (SELECT o.k FROM job AS o)
            ),
            CASE
                WHEN c.scope = 'group' THEN (SELECT min(s.remaining) FROM srsql_audit_sets AS s)
            END
        FROM job AS j
        CROSS JOIN scopes AS c
    )
)

SELECT r.* FROM rounds AS r WHERE r.job_no > 0;

-- What:    the figures of every release and scope.
-- Inputs:  subjects: of audit_subjects; jobs: of audit_jobs; rounds: of audit_rounds.
-- Outputs: release_id, scope, groups, dig, dsg, ssg, persistence, erasure, erasure_series, outside,
--          bounds_broken, bounds_broken_earliest, self_excluded, internal, fewest; as srsql audit
--          has them.
-- Source:  Huang 2021, Definitions 1 to 5; SPEC section 9.
CREATE OR REPLACE MACRO srsql_internal.audit_figures(subjects, jobs, rounds) AS TABLE
WITH
found AS MATERIALIZED (
    SELECT j.release_id, j.kind, r.*
    FROM query_table(rounds) AS r
    INNER JOIN query_table(jobs) AS j ON r.job_no = j.job_no
),

groups_of_release AS (
    SELECT
        f.release_id,
        f.scope,
        f.group_id,
        bool_or(f.dig) AS dig,
        bool_or(f.dsg) AS dsg,
        bool_or(f.ssg) AS ssg,
        bool_or(f.persistent) FILTER (WHERE f.kind = 'own') AS stays,
        bool_or(f.kind = 'window') AS in_window
    FROM found AS f
    WHERE f.group_id IS NOT NULL AND f.kind IN ('own', 'window')
    GROUP BY f.release_id, f.scope, f.group_id
),

counted AS (
    SELECT
        g.release_id,
        g.scope,
        count(*) FILTER (WHERE g.dig) AS dig,
        count(*) FILTER (WHERE g.dsg) AS dsg,
        count(*) FILTER (WHERE g.ssg) AS ssg,
        count(*) FILTER (WHERE g.stays) AS stays,
        count(*) FILTER (WHERE g.in_window) AS in_window
    FROM groups_of_release AS g
    GROUP BY g.release_id, g.scope
),

who_left AS (
    SELECT
        f.release_id,
        f.scope,
        count(*) FILTER (WHERE f.kind = 'left') AS erasure,
        count(*) FILTER (WHERE f.kind = 'left_series') AS erasure_series
    FROM found AS f
    WHERE f.group_id IS NOT NULL AND (f.dig OR f.dsg OR f.ssg)
    GROUP BY f.release_id, f.scope
),

-- regions that match are counted across groups unless a comparator put a case into several
countable AS (
    SELECT m.release_id
    FROM srsql.member AS m
    SEMI JOIN srsql.claim AS c ON m.release_id = c.release_id
    GROUP BY m.release_id
    HAVING count(*) > count(DISTINCT m.case_id)
)

SELECT
    f.release_id,
    f.scope,
    f.groups,
    coalesce(c.dig, 0) AS dig,
    coalesce(c.dsg, 0) AS dsg,
    coalesce(c.ssg, 0) AS ssg,
    CASE
        WHEN list_contains(s.attacks, 'p') THEN coalesce(c.in_window, 0)
        WHEN f.scope = 'group' THEN coalesce(c.stays, 0)
    END AS persistence,
    CASE WHEN len(s.newer) > 0 THEN coalesce(l.erasure, 0) END AS erasure,
    CASE WHEN len(s.newer) > 0 THEN coalesce(l.erasure_series, 0) END AS erasure_series,
    CASE WHEN s.originals THEN f.outside END AS outside,
    f.bounds_broken,
    f.bounds_broken_earliest,
    CASE WHEN s.originals AND list_contains(s.attacks, 'p') THEN f.self_excluded END
        AS self_excluded,
    CASE WHEN s.perturbed THEN f.internal END AS internal,
    f.fewest
FROM found AS f
INNER JOIN query_table(subjects) AS s ON f.release_id = s.release_id
LEFT JOIN counted AS c ON f.release_id = c.release_id AND f.scope = c.scope
LEFT JOIN who_left AS l ON f.release_id = l.release_id AND f.scope = l.scope
WHERE
    f.group_id IS NULL
    AND f.kind = 'own'
    AND (f.scope = 'group' OR f.release_id NOT IN (SELECT x.release_id FROM countable AS x));

-- What:    whether figures are safe, by which verdicts are given.
CREATE OR REPLACE MACRO srsql_internal.is_safe(dig, dsg, ssg, internal, erasure, claims_erasure) AS
CASE
    WHEN claims_erasure AND erasure > 0 THEN false
    WHEN internal IS NOT NULL THEN internal = 0
    ELSE dig + dsg + ssg = 0
END;

-- What:    The audit of a series: a row for each release and scope, with the verdict.
-- Inputs:  period: a label such as '2011Q4'; default: every release; series: its name; dataset: its
--          name, where several have such a series; attacks: list of b, f, l, md, ss, p; default:
--          what the release promises to withstand, else b, f, l; k, theta ('1/3'), alpha: bounds;
--          default: those of the release; reports: a table with case_id and quarter of the raw
--          reports, by which MD of the newest release is told; default: those of the warehouse.
-- Outputs: period, release_id, model, status, scope, safe; kept_safe, agrees: the verdict that the
--          release keeps, and whether it has the same figures; attacks, not_evaluated, undefended;
--          why: of each that is not evaluated, and what to do; k; groups; dig, dsg, ssg: of them in
--          danger; dir, dsr, ssgr: their shares; persistence,
--          erasure, erasure_series, leaving: groups in danger under P, E, E over the series, G
--          (NULL: not evaluated); erasure_claimed; outside: cases whose region does not cover their
--          values; internal: groups of a perturbed release that break k or theta; bounds_broken:
--          old cases whose region does not cover all their earlier ones; fewest: candidates that
--          remain.
-- Source:  Huang 2021, Definitions 1 to 5; SPEC sections 9 and 20.
CREATE OR REPLACE MACRO srsql.audit(
    period := NULL,
    series := 'main',
    dataset := NULL,
    attacks := NULL,
    k := NULL,
    theta := NULL,
    alpha := NULL,
    reports := 'srsql_reader.report'
) AS TABLE
WITH
audit_subject AS MATERIALIZED (
    SELECT s.*
    FROM srsql_internal.audit_subjects(
        series, dataset, period, attacks, k, theta, alpha, reports
    ) AS s
),

audit_job AS MATERIALIZED (
    SELECT j.* FROM srsql_internal.audit_jobs('audit_subject') AS j
),

coming_case AS MATERIALIZED (
    SELECT n.case_id FROM srsql_internal.next_cases(series, dataset, reports) AS n
),

audit_round AS MATERIALIZED (
    SELECT r.* FROM srsql_internal.audit_rounds('audit_subject', 'audit_job', 'coming_case') AS r
),

audit_figure AS MATERIALIZED (
    SELECT f.*
    FROM srsql_internal.audit_figures('audit_subject', 'audit_job', 'audit_round') AS f
),

kept AS (
    SELECT
        v.release_id,
        v.scope,
        v.attacks,
        v.groups,
        v.internal,
        v.erasure,
        count(*) FILTER (WHERE g.dig) AS dig,
        count(*) FILTER (WHERE g.dsg) AS dsg,
        count(*) FILTER (WHERE g.ssg) AS ssg
    FROM srsql.verdict AS v
    LEFT JOIN srsql.verdict_group AS g ON v.release_id = g.release_id AND v.scope = g.scope
    WHERE
        k IS NULL
        AND theta IS NULL
        AND alpha IS NULL
        AND v.attacker = (
            SELECT list(s.release_id ORDER BY s.release_id) FROM audit_subject AS s
        )
    GROUP BY ALL
),

-- G: who left for good is in no release that is out and of a later period.
leaving_release AS MATERIALIZED (
    SELECT s.release_id, s.quarter, len(s.newer) > 0 AS replaced
    FROM audit_subject AS s
    WHERE s.joined
),

gone AS (
    SELECT
        s.release_id,
        count(*) FILTER (WHERE g.remaining > 0 AND g.remaining < s.k) AS groups
    FROM leaving_release AS r
    INNER JOIN audit_subject AS s ON r.release_id = s.release_id
    LEFT JOIN srsql.leaving_groups('leaving_release') AS g ON r.release_id = g.release_id
    WHERE NOT s.newest OR len(s.newer) > 0
    GROUP BY s.release_id
),

judged AS (
    SELECT
        f.*,
        srsql_internal.is_safe(
            f.dig, f.dsg, f.ssg, f.internal, f.erasure, s.claims_erasure
        ) AS safe,
        s.seq,
        s.quarter,
        s.model,
        s.status,
        s.attacks,
        s.not_evaluated,
        s.why,
        s.undefended,
        s.k,
        s.claims_erasure
    FROM audit_figure AS f
    INNER JOIN audit_subject AS s ON f.release_id = s.release_id
)

SELECT
    j.quarter AS period,
    j.release_id,
    j.model,
    j.status,
    j.scope,
    j.safe,
    srsql_internal.is_safe(v.dig, v.dsg, v.ssg, v.internal, v.erasure, j.claims_erasure)
        AS kept_safe,
    CASE
        WHEN v.attacks = j.attacks
            THEN
                v.groups = j.groups
                AND v.dig = j.dig
                AND v.dsg = j.dsg
                AND v.ssg = j.ssg
                AND coalesce(v.internal, -1) = coalesce(j.internal, -1)
                AND coalesce(v.erasure, -1) = coalesce(j.erasure, -1)
    END AS agrees,
    j.attacks,
    j.not_evaluated,
    j.why,
    j.undefended,
    j.k,
    j.groups,
    j.dig,
    j.dsg,
    j.ssg,
    coalesce(j.dig / nullif(j.groups, 0), 0) AS dir,
    coalesce(j.dsg / nullif(j.groups, 0), 0) AS dsr,
    coalesce(j.ssg / nullif(j.groups, 0), 0) AS ssgr,
    j.persistence,
    j.erasure,
    j.claims_erasure AS erasure_claimed,
    j.erasure_series,
    CASE WHEN j.scope = 'group' THEN g.groups END AS leaving,
    j.outside,
    j.internal,
    j.bounds_broken,
    j.fewest
FROM judged AS j
LEFT JOIN kept AS v ON j.release_id = v.release_id AND j.scope = v.scope
LEFT JOIN gone AS g ON j.release_id = g.release_id
ORDER BY j.seq, j.scope;
