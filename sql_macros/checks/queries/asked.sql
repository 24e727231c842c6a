-- What the check of what was asked reads of the catalog.

-- name: kept
-- Of a release: k, the k that groups were grown to, its private manifest, and whether it corrects
-- an earlier version.
SELECT
    r.k,
    r.k_effective,
    r.private_manifest,
    c.release_id IS NOT NULL AS corrects
FROM srsql.release AS r
LEFT JOIN srsql.correction AS c ON r.release_id = c.release_id
WHERE r.release_id = $release;

-- name: before
-- How many facts of a correction are not those of the version that it corrects, of how many: its k,
-- its attacks and alpha, and the threshold of each of its values.
WITH
versions AS (
    SELECT c.release_id, c.corrects FROM srsql.correction AS c WHERE c.release_id = $release
),

facts AS (
    SELECT
        o.k = n.k
        AND coalesce(d.attacks, []) = coalesce(e.attacks, [])
        AND coalesce(d.alpha_num, 0) = coalesce(e.alpha_num, 0)
        AND coalesce(d.alpha_den, 0) = coalesce(e.alpha_den, 0) AS kept
    FROM versions AS v
    INNER JOIN srsql.release AS n ON v.release_id = n.release_id
    INNER JOIN srsql.release AS o ON v.corrects = o.release_id
    LEFT JOIN srsql.defended_attack AS d ON v.release_id = d.release_id
    LEFT JOIN srsql.defended_attack AS e ON v.corrects = e.release_id
    UNION ALL
    SELECT coalesce(t.theta_num = b.theta_num AND t.theta_den = b.theta_den, false) AS kept
    FROM versions AS v
    INNER JOIN srsql.threshold AS t ON v.release_id = t.release_id
    LEFT JOIN srsql.threshold AS b ON v.corrects = b.release_id AND t.term = b.term
)

SELECT count(*) FILTER (WHERE NOT f.kept) AS violating, count(*) AS total FROM facts AS f;

-- name: thresholds
-- How many values have another threshold than their policy gives, of how many. $kind: uniform and
-- levels give $num / $den to what is not listed ($terms, $nums, $dens; of several the least), and
-- where names on a level are listed as well ($spelled), any spelling may have less. By frequency
-- no value has more than its place among the terms gives it: the most frequent tenth is not
-- bounded, the rarest has 1/5, the rest 2/5 (Lin 2016). Of a value that patients lowered it is what
-- the policy gave, which is told; and what they left it is no more.
WITH
listed AS (
    SELECT
        l.term,
        arg_min(l.num, l.num / l.den) AS num,
        arg_min(l.den, l.num / l.den) AS den
    FROM (
        SELECT
            unnest($terms::VARCHAR[]) AS term,
            unnest($nums::BIGINT[]) AS num,
            unnest($dens::BIGINT[]) AS den
    ) AS l
    GROUP BY l.term
),

ranked AS (
    SELECT
        t.term,
        coalesce(a.theta_num, t.theta_num) AS num,
        coalesce(a.theta_den, t.theta_den) AS den,
        coalesce(
            t.theta_num::HUGEINT * a.theta_den > a.theta_num::HUGEINT * t.theta_den, false
        ) AS is_raised,
        row_number() OVER (ORDER BY t.cases DESC, t.term ASC) AS place,
        count(*) OVER () AS total
    FROM srsql.threshold AS t
    LEFT JOIN srsql.asked_threshold AS a ON t.release_id = a.release_id AND t.term = a.term
    WHERE t.release_id = $release
),

due AS (
    SELECT
        r.num,
        r.den,
        r.is_raised,
        CASE
            WHEN $kind <> 'frequency' THEN coalesce(l.num, $num)
            WHEN r.place <= r.total // 10 THEN 1
            WHEN r.place > r.total - (r.total + 9) // 10 THEN 1
            ELSE 2
        END AS due_num,
        CASE
            WHEN $kind <> 'frequency' THEN coalesce(l.den, $den)
            WHEN r.place <= r.total // 10 THEN 1
            ELSE 5
        END AS due_den
    FROM ranked AS r
    LEFT JOIN listed AS l ON r.term = l.term
)

SELECT
    count(*) FILTER (
        WHERE
        d.is_raised
        OR d.num::HUGEINT * d.due_den > d.due_num::HUGEINT * d.den
        OR (
            $kind <> 'frequency' AND NOT $spelled
            AND d.num::HUGEINT * d.due_den <> d.due_num::HUGEINT * d.den
        )
    ) AS violating,
    count(*) AS total
FROM due AS d;

-- name: least_group
-- The smallest group that can hold each value that is released at all: k theta >= 1.
SELECT max((t.theta_den + t.theta_num - 1) // t.theta_num)
FROM srsql.threshold AS t
WHERE t.release_id = $release AND t.released AND t.theta_num > 0;

-- name: least_told
-- The same by the thresholds of the policy, whatever patients ask for of their own.
SELECT
    max(
        (coalesce(a.theta_den, t.theta_den) + coalesce(a.theta_num, t.theta_num) - 1)
        // coalesce(a.theta_num, t.theta_num)
    )
FROM srsql.threshold AS t
LEFT JOIN srsql.asked_threshold AS a ON t.release_id = a.release_id AND t.term = a.term
WHERE t.release_id = $release AND t.released AND coalesce(a.theta_num, t.theta_num) > 0;

-- name: alpha
-- The share of cases with substantially many symptoms that a release bounds: alpha_num, alpha_den.
SELECT d.alpha_num, d.alpha_den FROM srsql.defended_attack AS d WHERE d.release_id = $release;

-- name: suppressed
-- Of the cases of a release: how many there are, how many lost a value, and how many lost the one
-- that most of them lost.
WITH
members AS (
    SELECT m.case_no, m.case_id FROM srsql.member AS m WHERE m.release_id = $release
),

lost AS (
    SELECT s.term_no, count(DISTINCT m.case_id) AS cases
    FROM srsql.suppressed AS s
    INNER JOIN members AS m ON s.case_no = m.case_no
    WHERE s.release_id = $release
    GROUP BY s.term_no
)

SELECT
    (SELECT count(DISTINCT m.case_id) FROM members AS m) AS cases,
    (
        SELECT count(DISTINCT m.case_id)
        FROM srsql.suppressed AS s
        INNER JOIN members AS m ON s.case_no = m.case_no
        WHERE s.release_id = $release
    ) AS losers,
    coalesce((SELECT max(l.cases) FROM lost AS l), 0) AS most;

-- name: counts
-- What the public manifest has to tell of cases: released, withheld, waiting, late; and of the
-- attacks. Late are those that took a report of an earlier period from a dump that brought it after
-- that period was loaded, and that no earlier period of the series has.
SELECT
    (SELECT count(DISTINCT m.case_id) FROM srsql.member AS m WHERE m.release_id = $release)
        AS released_cases,
    (SELECT count(DISTINCT w.case_id) FROM srsql.withheld AS w WHERE w.release_id = $release)
        AS withheld_cases,
    (SELECT count(DISTINCT w.case_id) FROM srsql.waiting AS w WHERE w.release_id = $release)
        AS waiting_cases,
    (
        SELECT count(DISTINCT m.case_id)
        FROM srsql.member AS m
        INNER JOIN srsql.release AS r ON m.release_id = r.release_id
        INNER JOIN srsql.taken_case AS t
            ON m.release_id = t.release_id AND m.case_id = t.case_id AND r.quarter > t.quarter
        INNER JOIN srsql.dump_period AS d
            ON
                r.dataset = d.dataset
                AND t.quarter = d.quarter
                AND t.ingestion_id = d.ingestion_id
                AND d.label IS NOT NULL
        WHERE
            m.release_id = $release
            AND m.case_id NOT IN (
                SELECT b.case_id
                FROM srsql.member AS b
                INNER JOIN srsql.exposed_before($release) AS e ON b.release_id = e.release_id
            )
    ) AS late_cases,
    coalesce(
        (
            SELECT nullif(array_to_string(any_value(d.attacks), ','), '')
            FROM srsql.defended_attack AS d
            WHERE d.release_id = $release
        ),
        'none'
    ) AS attacks;

-- name: knowledge
-- The pairs of drug and disease that a release keeps as external knowledge.
SELECT e.drug, e.disease FROM srsql.external_knowledge AS e WHERE e.release_id = $release;

-- name: charged
-- What a release charges its cases, each amount once, and what it says that it spends on a value.
SELECT DISTINCT s.mechanism, s.calibration, s.epsilon_num, s.epsilon_den, NULL AS noise
FROM srsql.budget_ledger AS s
WHERE s.release_id = $release
UNION ALL
SELECT p.mechanism, p.calibration, p.epsilon_num, p.epsilon_den, p.noise
FROM srsql.perturbation AS p
WHERE p.release_id = $release;
