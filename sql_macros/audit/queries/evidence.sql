-- What an audit shows of the groups in danger, and of the worst target of a release.

-- name: worst_groups
-- The dangerous groups, worst first, each by the target of it of which the fewest remain, and with
-- the value that stands out most. $at_scope_group: groups are known to the attacker, so that the
-- shares of this target's values are known; $with_safe: a safe group is shown where none is
-- dangerous.
WITH
worst_group AS MATERIALIZED (
    SELECT w.*
    FROM srsql.worst_groups(
        'temp.main.srsql_audit_dangerous',
        'temp.main.srsql_audit_sets',
        $at_most::INTEGER,
        $with_safe::BOOLEAN
    ) AS w
),

group_target AS MATERIALIZED (
    SELECT w.target_no, w.group_id, w.remaining
    FROM worst_group AS w
    WHERE $at_scope_group::BOOLEAN
),

group_share AS MATERIALIZED (
    SELECT b.target_no, b.group_id, b.term_no, b.theta_num, b.theta_den, b.whole, b.weight
    FROM temp.main.srsql_audit_breach AS b
    SEMI JOIN worst_group AS w ON b.group_id = w.group_id
    UNION ALL
    SELECT s.target_no, s.group_id, s.term_no, s.theta_num, s.theta_den, s.whole, s.weight
    FROM srsql.remaining_shares(
        'group_target',
        'temp.main.srsql_audit_target',
        'temp.main.srsql_audit_group_term_weight',
        'temp.main.srsql_audit_pair',
        'temp.main.srsql_audit_held',
        'temp.main.srsql_audit_bound',
        $weight_scale::BIGINT
    ) AS s
),

group_value AS (
    SELECT o.*
    FROM srsql.outstanding(
        'group_share',
        'temp.main.srsql_audit_target',
        'temp.main.srsql_audit_member',
        $release_id::INTEGER
    ) AS o
)

SELECT
    w.group_id,
    w.dig,
    w.dsg,
    w.ssg,
    w.persistent,
    m.case_id,
    t.box,
    t.is_new,
    t.stopped,
    w.candidates,
    w.b,
    w.f,
    w.l,
    w.md,
    w.remaining,
    v.term,
    v.confidence,
    v.theta_num,
    v.theta_den,
    v.case_id AS term_case_id,
    v.ss_share
FROM worst_group AS w
INNER JOIN temp.main.srsql_audit_target AS t ON w.target_no = t.target_no
LEFT JOIN temp.main.srsql_audit_member AS m ON t.case_no = m.case_no
LEFT JOIN group_value AS v ON w.group_id = v.group_id
ORDER BY w.place;

-- name: fewest_remaining
-- The fewest candidates that remain for any target in its group.
SELECT f.remaining FROM srsql.fewest_remaining('temp.main.srsql_audit_sets') AS f;

-- name: greatest_share
-- The value of which most is inferred: how many hold it, of how many, and its threshold.
SELECT
    t.term,
    g.weight,
    g.whole,
    g.theta_num / g.theta_den AS theta
FROM srsql.greatest_share(
    'temp.main.srsql_audit_sets',
    'temp.main.srsql_audit_target',
    'temp.main.srsql_audit_group_term_weight',
    'temp.main.srsql_audit_pair',
    'temp.main.srsql_audit_held',
    'temp.main.srsql_audit_bound',
    $weight_scale::BIGINT
) AS g
INNER JOIN srsql.threshold AS t ON g.term_no = t.term_no AND t.release_id = $release_id;
