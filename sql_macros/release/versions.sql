-- A released quarter and the version that is to take its place (SPEC section 5).

-- What:    what every region of a release keeps: what it claims, else k and theta.
-- Inputs:  of_release: a release id.
-- Outputs: claim, num, den (of theta 1 / 1: its thresholds stand in the catalog).
CREATE OR REPLACE MACRO srsql.kept_bounds(of_release) AS TABLE
WITH claimed AS (
    SELECT c.claim, c.num, c.den FROM srsql.claim AS c WHERE c.release_id = of_release
)

SELECT c.claim, c.num, c.den FROM claimed AS c
UNION ALL
SELECT b.claim, b.num, 1 AS den
FROM (
    SELECT 'k' AS claim, r.k::BIGINT AS num FROM srsql.release AS r WHERE r.release_id = of_release
    UNION ALL
    SELECT 'theta' AS claim, 1 AS num
) AS b
WHERE (SELECT count(c.claim) FROM claimed AS c) = 0;

-- What:    an exact fraction as text, whole numbers without a denominator.
CREATE OR REPLACE MACRO srsql.fraction_text(num, den) AS
CASE
    WHEN num % den = 0 THEN (num // den)::VARCHAR
    ELSE (num // greatest_common_divisor(num, den))::VARCHAR
        || '/'
        || (den // greatest_common_divisor(num, den))::VARCHAR
END;

-- What:    what a new version of a quarter promises less than the one that it replaces.
-- Inputs:  new_release, old_release: release ids.
-- Outputs: name (k, theta, alpha, epsilon, a claim ...), of_what (the value, attribute or attack;
--          empty: the release), was, is_now (as text; 'none': it is gone). Values that only one of
--          them has are not compared.
-- Source:  SPEC section 5 (a release that weakens k, theta, alpha or epsilon).
CREATE OR REPLACE MACRO srsql.weaker_terms(new_release, old_release) AS TABLE
WITH
both_bounds AS (
    SELECT o.claim, o.num, o.den, n.num AS new_num, n.den AS new_den
    FROM srsql.kept_bounds(old_release) AS o
    LEFT JOIN srsql.kept_bounds(new_release) AS n ON o.claim = n.claim
),

both_attacks AS (
    SELECT
        o.attacks,
        coalesce(n.attacks, []) AS new_attacks,
        o.alpha_num,
        o.alpha_den,
        n.alpha_num AS new_num,
        n.alpha_den AS new_den
    FROM srsql.defended_attack AS o
    LEFT JOIN srsql.defended_attack AS n ON n.release_id = new_release
    WHERE o.release_id = old_release
),

both_noises AS (
    SELECT
        a.attribute,
        o.epsilon_num,
        o.epsilon_den,
        n.epsilon_num AS new_num,
        n.epsilon_den AS new_den,
        o.calibration || ', ' || o.noise AS was,
        n.calibration || ', ' || n.noise AS is_now,
        (o.calibration = 'sound' AND n.calibration <> 'sound')
        OR (o.noise = 'secure' AND n.noise <> 'secure') AS is_worse
    FROM srsql.perturbation AS o
    INNER JOIN srsql.attribute AS a ON o.release_id = a.release_id AND o.position = a.position
    LEFT JOIN srsql.perturbation AS n ON n.release_id = new_release AND o.position = n.position
    WHERE o.release_id = old_release
),

both_terms AS (
    SELECT o.attribute, o.m, o.diversity, o.repeated, n.attribute AS new_attribute, n.m AS new_m,
        n.diversity AS new_diversity, n.repeated AS new_repeated
    FROM srsql.disassociated AS o
    LEFT JOIN srsql.disassociated AS n
        ON n.release_id = new_release AND o.attribute = n.attribute
    WHERE o.release_id = old_release
)

SELECT
    b.claim AS name,
    '' AS of_what,
    CASE WHEN b.claim = 'theta' THEN 'kept' ELSE srsql.fraction_text(b.num, b.den) END AS was,
    coalesce(srsql.fraction_text(b.new_num, b.new_den), 'none') AS is_now
FROM both_bounds AS b
WHERE
    b.new_num IS NULL
    OR CASE
        WHEN b.claim = 'alpha' THEN b.new_num * b.den > b.num * b.new_den
        ELSE b.new_num * b.den < b.num * b.new_den
    END
UNION ALL
SELECT
    'theta' AS name,
    o.term AS of_what,
    srsql.fraction_text(o.theta_num, o.theta_den) AS was,
    srsql.fraction_text(n.theta_num, n.theta_den) AS is_now
FROM srsql.threshold AS o
INNER JOIN srsql.threshold AS n ON n.release_id = new_release AND o.term = n.term
WHERE
    o.release_id = old_release
    AND o.theta_den > 0
    AND n.theta_num::HUGEINT * o.theta_den > o.theta_num::HUGEINT * n.theta_den
    AND EXISTS (SELECT 1 FROM srsql.kept_bounds(old_release) AS k WHERE k.claim = 'theta')
UNION ALL
SELECT 'attack' AS name, a.attack AS of_what, 'withstood' AS was, 'none' AS is_now
FROM (SELECT unnest(b.attacks) AS attack, b.new_attacks FROM both_attacks AS b) AS a
WHERE NOT list_contains(a.new_attacks, a.attack)
UNION ALL
SELECT
    'alpha' AS name,
    '' AS of_what,
    srsql.fraction_text(b.alpha_num, b.alpha_den) AS was,
    coalesce(srsql.fraction_text(b.new_num, b.new_den), 'none') AS is_now
FROM both_attacks AS b
WHERE
    b.alpha_den IS NOT NULL
    AND (b.new_den IS NULL OR b.new_num * b.alpha_den > b.alpha_num * b.new_den)
UNION ALL
SELECT
    'epsilon' AS name,
    b.attribute AS of_what,
    srsql.fraction_text(b.epsilon_num, b.epsilon_den) AS was,
    coalesce(srsql.fraction_text(b.new_num, b.new_den), 'none') AS is_now
FROM both_noises AS b
WHERE
    b.new_num IS NULL
    OR b.new_num::HUGEINT * b.epsilon_den > b.epsilon_num::HUGEINT * b.new_den
UNION ALL
SELECT 'noise' AS name, b.attribute AS of_what, b.was, b.is_now
FROM both_noises AS b
WHERE b.is_worse
UNION ALL
SELECT 'knowledge' AS name, '' AS of_what, k.pairs::VARCHAR || ' pairs' AS was, 'none' AS is_now
FROM (
    SELECT count(*) AS pairs
    FROM srsql.external_knowledge AS o
    ANTI JOIN (
        SELECT e.drug_key, e.disease_key
        FROM srsql.external_knowledge AS e
        WHERE e.release_id = new_release
    ) AS n
        ON o.drug_key = n.drug_key AND o.disease_key = n.disease_key
    WHERE o.release_id = old_release
) AS k
WHERE k.pairs > 0
UNION ALL
SELECT 'terms' AS name, t.attribute AS of_what, 'apart from records' AS was, 'none' AS is_now
FROM both_terms AS t
WHERE t.new_attribute IS NULL
UNION ALL
SELECT 'm' AS name, t.attribute AS of_what, t.m::VARCHAR AS was, t.new_m::VARCHAR AS is_now
FROM both_terms AS t
WHERE t.new_m < t.m
UNION ALL
SELECT
    'l' AS name,
    t.attribute AS of_what,
    t.diversity::VARCHAR AS was,
    t.new_diversity::VARCHAR AS is_now
FROM both_terms AS t
WHERE t.new_diversity < t.diversity
UNION ALL
SELECT 'repeated terms' AS name, t.attribute AS of_what, 'counted' AS was, 'none' AS is_now
FROM both_terms AS t
WHERE t.repeated AND NOT t.new_repeated;

-- What:    groups of a release of which a later version of the quarter has some cases, not all.
-- Inputs:  new_release, old_release: release ids.
-- Outputs: group_id, cases, kept.
-- Source:  SPEC section 5 (a correction takes whole groups out).
CREATE OR REPLACE MACRO srsql.broken_groups(new_release, old_release) AS TABLE
WITH
remaining AS (
    SELECT DISTINCT m.case_id FROM srsql.member AS m WHERE m.release_id = new_release
)

SELECT o.group_id, count(*) AS cases, count(n.case_id) AS kept
FROM srsql.member AS o
LEFT JOIN remaining AS n ON o.case_id = n.case_id
WHERE o.release_id = old_release
GROUP BY o.group_id
HAVING count(n.case_id) NOT IN (0, count(*));
