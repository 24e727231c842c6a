-- Step: the rows of the catalog of a new version ($release_id) of a quarter, copied from the one
--   before it ($before) under the same numbers: everything of the cases that are kept, nothing
--   drawn or grouped anew. What the quarter holds besides is withheld: for the reason it was,
--   deleted, withdrawn (it has left), group_corrected (somebody of its group has), or
--   not_in_first_version. A case that left the data as well is no case of the quarter any more.
-- Reads: raw_case(case_id, reports), corrected_case(case_no, case_id, group_id, reason, kept),
--   srsql.release, srsql.deleted_case, srsql.member, srsql.case_flag,
--   srsql.region, srsql.attribute, srsql.case_qid, srsql.case_term, srsql.suppressed,
--   srsql.withheld, srsql.defended_attack, srsql.claim, srsql.ss_rule, srsql.external_knowledge,
--   srsql.perturbation, srsql.perturbed, srsql.person_count, srsql.counted_person
-- Writes: srsql.member, srsql.case_flag, srsql.region, srsql.attribute, srsql.withheld,
--   srsql.case_qid, srsql.case_term, srsql.suppressed, srsql.defended_attack, srsql.claim,
--   srsql.ss_rule, srsql.external_knowledge, srsql.perturbation, srsql.perturbed,
--   srsql.person_count, srsql.counted_person
-- Source: SPEC section 5 (correction).

INSERT INTO srsql.member
SELECT m.* REPLACE ($release_id::INTEGER AS release_id)
FROM srsql.member AS m
SEMI JOIN temp.main.srsql_corrected_case AS s ON m.case_no = s.case_no AND s.kept
WHERE m.release_id = $before::INTEGER
ORDER BY m.case_no;

INSERT INTO srsql.case_flag
SELECT f.* REPLACE ($release_id::INTEGER AS release_id)
FROM srsql.case_flag AS f
SEMI JOIN temp.main.srsql_corrected_case AS s ON f.case_no = s.case_no AND s.kept
WHERE f.release_id = $before::INTEGER
ORDER BY f.case_no;

INSERT INTO srsql.region
SELECT r.* REPLACE ($release_id::INTEGER AS release_id)
FROM srsql.region AS r
SEMI JOIN temp.main.srsql_corrected_case AS s ON r.group_id = s.group_id AND s.kept
WHERE r.release_id = $before::INTEGER
ORDER BY r.group_id, r.position;

INSERT INTO srsql.attribute
SELECT a.* REPLACE ($release_id::INTEGER AS release_id)
FROM srsql.attribute AS a WHERE a.release_id = $before::INTEGER;

INSERT INTO srsql.withheld
WITH
deleted AS (
    SELECT DISTINCT d.case_id
    FROM srsql.deleted_case AS d
    INNER JOIN srsql.release AS r ON r.release_id = $before::INTEGER AND d.dataset = r.dataset
),

known AS (
    SELECT w.case_no, w.case_id, w.reason
    FROM srsql.withheld AS w
    WHERE w.release_id = $before::INTEGER
    UNION ALL
    SELECT
        l.case_no,
        l.case_id,
        CASE WHEN l.reason IS NULL THEN 'group_corrected' ELSE 'withdrawn' END AS reason
    FROM temp.main.srsql_corrected_case AS l
)

SELECT
    $release_id::INTEGER,
    CASE WHEN d.case_id IS NULL THEN w.case_no END,
    r.case_id,
    r.reports,
    CASE
        WHEN d.case_id IS NULL THEN coalesce(w.reason, 'not_in_first_version')
        ELSE 'deleted'
    END
FROM temp.main.srsql_raw_case AS r
ANTI JOIN temp.main.srsql_corrected_case AS s ON r.case_id = s.case_id AND s.kept
LEFT JOIN known AS w ON r.case_id = w.case_id
LEFT JOIN deleted AS d ON r.case_id = d.case_id
ORDER BY r.case_id;

INSERT INTO srsql.case_qid
WITH in_version AS (
    SELECT s.case_no FROM temp.main.srsql_corrected_case AS s WHERE s.kept
    UNION ALL
    SELECT w.case_no FROM srsql.withheld AS w WHERE w.release_id = $release_id::INTEGER
)

SELECT q.* REPLACE ($release_id::INTEGER AS release_id)
FROM srsql.case_qid AS q
SEMI JOIN in_version AS v ON q.case_no = v.case_no
WHERE q.release_id = $before::INTEGER
ORDER BY q.case_no, q.position;

INSERT INTO srsql.case_term
WITH in_version AS (
    SELECT s.case_no FROM temp.main.srsql_corrected_case AS s WHERE s.kept
    UNION ALL
    SELECT w.case_no FROM srsql.withheld AS w WHERE w.release_id = $release_id::INTEGER
)

SELECT c.* REPLACE ($release_id::INTEGER AS release_id)
FROM srsql.case_term AS c
SEMI JOIN in_version AS v ON c.case_no = v.case_no
WHERE c.release_id = $before::INTEGER
ORDER BY c.case_no, c.term_no;

INSERT INTO srsql.suppressed
SELECT s.* REPLACE ($release_id::INTEGER AS release_id)
FROM srsql.suppressed AS s
SEMI JOIN temp.main.srsql_corrected_case AS k ON s.case_no = k.case_no AND k.kept
WHERE s.release_id = $before::INTEGER
ORDER BY s.case_no, s.term_no;

INSERT INTO srsql.defended_attack
SELECT d.* REPLACE ($release_id::INTEGER AS release_id)
FROM srsql.defended_attack AS d WHERE d.release_id = $before::INTEGER;

INSERT INTO srsql.claim
SELECT c.* REPLACE ($release_id::INTEGER AS release_id)
FROM srsql.claim AS c WHERE c.release_id = $before::INTEGER;

INSERT INTO srsql.ss_rule
SELECT s.* REPLACE ($release_id::INTEGER AS release_id)
FROM srsql.ss_rule AS s WHERE s.release_id = $before::INTEGER;

INSERT INTO srsql.external_knowledge
SELECT e.* REPLACE ($release_id::INTEGER AS release_id)
FROM srsql.external_knowledge AS e WHERE e.release_id = $before::INTEGER;

INSERT INTO srsql.perturbation
SELECT p.* REPLACE ($release_id::INTEGER AS release_id)
FROM srsql.perturbation AS p WHERE p.release_id = $before::INTEGER;

INSERT INTO srsql.perturbed
SELECT p.* REPLACE ($release_id::INTEGER AS release_id)
FROM srsql.perturbed AS p
SEMI JOIN temp.main.srsql_corrected_case AS s ON p.case_no = s.case_no AND s.kept
WHERE p.release_id = $before::INTEGER
ORDER BY p.case_no, p.position;

INSERT INTO srsql.person_count
SELECT c.* REPLACE ($release_id::INTEGER AS release_id)
FROM srsql.person_count AS c WHERE c.release_id = $before::INTEGER;

INSERT INTO srsql.counted_person
SELECT c.* REPLACE ($release_id::INTEGER AS release_id)
FROM srsql.counted_person AS c
WHERE c.release_id = $before::INTEGER
ORDER BY c.case_id;
