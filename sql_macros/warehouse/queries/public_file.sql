-- The public files of a warehouse that is split: which there are, what they are to hold, and the
-- few facts of the catalog that they get beside the released rows.
-- Source: docs/public-file.md.

-- name: files
-- The series that have a public file.
SELECT f.dataset, f.series, f.path, f.home, f.token, f.epoch
FROM srsql.public_file AS f
ORDER BY f.dataset, f.series;

-- name: keep
-- Say that a series has a public file from now on.
INSERT INTO srsql.public_file VALUES ($dataset, $series, $path, $home, $token, $epoch);

-- name: stop
-- Say that it has none any more.
DELETE FROM srsql.public_file WHERE dataset = $dataset AND series = $series;

-- name: move
-- Say where the warehouse is now that has a public file.
UPDATE srsql.public_file SET home = $home WHERE dataset = $dataset AND series = $series;

-- name: home
-- Where the file of a database is; empty: it has none.
SELECT coalesce(d.path, '') AS path
FROM system.main.duckdb_databases() AS d
WHERE d.database_name = $database;

-- name: renew
-- Have every public file made anew: the warehouse is another one now.
UPDATE srsql.public_file SET epoch = $epoch;

-- name: origin
-- Which public file a database is, and what was out when it was made; no row: it is none.
SELECT o.token, o.state FROM srsql.public_origin AS o;

-- name: shown
-- The releases of a series that its public file holds, in order: those that are out, without any
-- that still shows a case that was forgotten, which comes back once it is corrected.
SELECT r.release_id, r.quarter, r.model, r.schema_name
FROM srsql.release AS r
WHERE
    r.dataset = $dataset
    AND r.series = $series
    AND r.status = 'released'
    AND r.release_id NOT IN (
        SELECT s.release_id FROM srsql.stale_release AS s WHERE s.reason = 'forgotten'
    )
ORDER BY r.quarter, r.release_id;

-- name: held
-- How many releases of a series are out and held back, since they show a case that was forgotten.
SELECT count(DISTINCT r.release_id)
FROM srsql.release AS r
INNER JOIN srsql.stale_release AS s ON r.release_id = s.release_id
WHERE
    r.dataset = $dataset
    AND r.series = $series
    AND r.status = 'released'
    AND s.reason = 'forgotten';

-- name: state
-- A digest of what a public file is to hold. The key of the series is in it, which nobody guesses,
-- so that it tells nothing of the manifests.
SELECT
    sha256(
        concat_ws(
            chr(10),
            $software,
            $epoch,
            hex(s.pseudonym_key),
            s.cumulative_schema,
            (
                SELECT
                    string_agg(
                        concat_ws(' ', r.release_id, r.quarter, r.schema_name, r.private_manifest),
                        chr(10) ORDER BY r.release_id
                    )
                FROM srsql.release AS r
                WHERE list_contains($releases::INTEGER[], r.release_id)
            )
        )
    ) AS state
FROM srsql.series AS s
WHERE s.dataset = $dataset AND s.series = $series;

-- name: views
-- The views of a release.
SELECT v.view_name
FROM system.main.duckdb_views() AS v
WHERE v.database_name = $database AND v.schema_name = $schema AND NOT v.internal
ORDER BY v.view_name;

-- name: mark
-- Say in a public file which it is and what it holds.
INSERT INTO srsql.public_origin VALUES ($token, $state);

-- name: describe
-- What a release in a public file says of itself: its public manifest.
UPDATE srsql.release
SET
    k = ($facts::JSON ->> '$.k')::INTEGER,
    k_effective = ($facts::JSON ->> '$.k_effective')::INTEGER,
    private_manifest = $facts::JSON
WHERE release_id = $number;

-- name: add_reason
-- Why the rows of a release alone cannot be audited.
UPDATE srsql.release
SET private_manifest = json_merge_patch(private_manifest, json_object('not_audited', $why::VARCHAR))
WHERE release_id = $number;

-- name: defended_attack
-- What a release promises to withstand; so do the next ones tell a parameter each that its public
-- manifest tells, too.
SELECT $number AS release_id, d.attacks, d.alpha_num, d.alpha_den
FROM srsql.defended_attack AS d
WHERE d.release_id = $release_id;

-- name: claim
-- What every published region of a comparator keeps.
SELECT $number AS release_id, c.claim, c.num, c.den
FROM srsql.claim AS c
WHERE c.release_id = $release_id;

-- name: perturbation
-- Which columns are drawn, and how.
SELECT $number AS release_id, p.position, p.mechanism, p.calibration, p.noise, p.epsilon_num,
    p.epsilon_den
FROM srsql.perturbation AS p
WHERE p.release_id = $release_id;

-- name: disassociated
-- Which terms are told apart from rows.
SELECT $number AS release_id, d.place, d.attribute, d.m, d.diversity, d.repeated, d.with_rows,
    d.term_format
FROM srsql.disassociated AS d
WHERE d.release_id = $release_id;

-- name: released_threshold
-- Thresholds of values that rows show.
SELECT t.term, t.theta_num, t.theta_den
FROM srsql.told_thresholds($release_id) AS t;

-- name: set_thresholds
-- The thresholds of the values of a release, as listed in srsql_incoming.
UPDATE srsql.threshold AS t
SET theta_num = i.theta_num, theta_den = i.theta_den
FROM srsql_incoming AS i
WHERE t.release_id = $number AND t.term = i.term;

-- name: set_attacks
-- What a release promises, in the place of what is known of a foreign one.
DELETE FROM srsql.defended_attack WHERE release_id = $number;

-- name: add_attributes
-- The quasi-identifiers of a release whose rows are not audited.
INSERT INTO srsql.attribute
SELECT $number AS release_id, a.position, a.name, a.kind, greatest(1, a.span) AS span
FROM temp.main.srsql_attribute AS a
ORDER BY a.position;

-- name: add_measures
-- The figure that the rows of a public file give by themselves. Without any, metrics would show
-- those of cases that are not here, such as how many were withheld; and of a value that is shown as
-- any, no row tells whether it was missing, on which the loss depends.
INSERT INTO srsql.measure
SELECT m.release, 'metric', m.measure, m.scope, m.violating, m.total, m.ratio, m.threshold, m.passed
FROM srsql.group_sizes($number) AS m;

-- name: not_audited
-- The first release of a series whose published rows alone cannot be audited, and why.
SELECT r.quarter, r.private_manifest ->> '$.not_audited' AS why
FROM srsql.release AS r
WHERE
    r.dataset = $dataset
    AND r.series = $series
    AND (r.private_manifest ->> '$.not_audited') IS NOT NULL
    AND coalesce(r.quarter = $quarter, true)
ORDER BY r.quarter
LIMIT 1;
