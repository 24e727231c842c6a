-- A released quarter and the version that takes groups out of it (SPEC section 5).

-- name: standing
-- The release of a quarter that is out: number, model, k, ingestion, private manifest, schema.
SELECT
    r.release_id, r.model, r.k, r.ingestion_id, r.private_manifest, r.schema_name
FROM srsql.release AS r
WHERE
    r.dataset = $dataset
    AND r.series = $series
    AND r.quarter = $quarter
    AND r.status = 'released';

-- name: versions
-- How many versions of the quarter of release $release_id are or were out.
SELECT count(*)
FROM srsql.release AS own
INNER JOIN srsql.exposed_release AS e
    ON own.dataset = e.dataset AND own.series = e.series AND own.quarter = e.quarter
WHERE own.release_id = $release_id;

-- name: leavers
-- How many cases have left, by reason.
SELECT l.reason, count(*) AS cases
FROM temp.main.srsql_corrected_case AS l
WHERE l.reason IS NOT NULL
GROUP BY l.reason
ORDER BY l.reason;

-- name: taken_out
-- Groups and cases that a new version does not have, groups that lost somebody and stay in part,
-- and what it keeps.
WITH in_groups AS (
    SELECT s.group_id, count(*) AS cases, count(*) FILTER (WHERE s.kept) AS kept
    FROM temp.main.srsql_corrected_case AS s
    GROUP BY s.group_id
)

SELECT
    count(*) FILTER (WHERE g.kept = 0) AS groups,
    coalesce(sum(g.cases - g.kept), 0)::BIGINT AS cases,
    count(*) FILTER (WHERE g.kept BETWEEN 1 AND g.cases - 1) AS remainders,
    count(*) FILTER (WHERE g.kept > 0) AS kept_groups,
    coalesce(sum(g.kept), 0)::BIGINT AS kept_cases
FROM in_groups AS g;

-- name: compared
-- The data of a release were compared with newer ones, in which nobody has left it.
UPDATE srsql.release SET ingestion_id = $ingestion_id WHERE release_id = $release_id;

-- name: register
-- The row of a new version, like that of the one before it.
INSERT INTO srsql.release
SELECT
    r.* REPLACE (
        $new::INTEGER AS release_id,
        'released' AS status,
        $ingestion_id::INTEGER AS ingestion_id
    )
FROM srsql.release AS r
WHERE r.release_id = $release_id;

-- name: register_key
-- It compares terms by the key of the one before it.
INSERT INTO srsql.release_key
SELECT $new::INTEGER AS release_id, k.version
FROM srsql.release_key AS k
WHERE k.release_id = $release_id;

-- name: record
-- What the new version is a correction of.
INSERT INTO srsql.correction VALUES ($release_id, $corrects, $keep_remainder);

-- name: thresholds
-- The thresholds of the version before; released where a row of the new one shows the value
-- (shown_term).
SELECT
    t.* REPLACE (
        $release_id::INTEGER AS release_id,
        t.term IN (
            SELECT h.term FROM shown_term AS h WHERE h.term IS NOT NULL
        ) AS released
    )
FROM srsql.threshold AS t
WHERE t.release_id = $before
ORDER BY t.term_no;
