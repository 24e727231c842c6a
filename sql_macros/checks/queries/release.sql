-- What the checks of a release read of the catalog and of the tables that it was made with.

-- name: facts
-- The model, and the fields of ReleaseFacts that the catalog has, of one release.
WITH terms AS (
    SELECT any_value(d.term_format) AS term_format, bool_and(d.with_rows) AS with_rows
    FROM srsql.disassociated AS d
    WHERE d.release_id = $release
)

SELECT
    r.model,
    (SELECT count(*) > 0 FROM srsql.lattice AS l WHERE l.release_id = r.release_id) AS lattice,
    (SELECT count(*) FROM srsql.perturbation AS p WHERE p.release_id = r.release_id) AS drawn,
    (SELECT count(*) FROM srsql.attribute AS a WHERE a.release_id = r.release_id) AS attributes,
    (
        SELECT count(*) > 0 FROM srsql.external_knowledge AS e WHERE e.release_id = r.release_id
    ) AS external_knowledge,
    coalesce(
        (
            SELECT any_value(d.attacks)
            FROM srsql.defended_attack AS d
            WHERE d.release_id = r.release_id
        ),
        []
    ) AS attacks,
    t.term_format,
    coalesce(t.with_rows, true) AND (r.private_manifest ->> '$.rows_of_cases') IS NULL
        AS with_rows,
    CASE
        WHEN t.term_format IS NULL THEN NULL
        WHEN (r.private_manifest ->> '$.term_cases') IS NOT NULL THEN 'rows'
        WHEN t.with_rows THEN 'groups'
        ELSE 'terms'
    END AS clusters,
    (
        SELECT count(*) > 0
        FROM srsql.suppressed AS s
        INNER JOIN srsql.release AS e ON s.release_id = e.release_id
        WHERE
            e.dataset = r.dataset
            AND e.series = r.series
            AND (e.status <> 'draft' OR e.release_id = r.release_id)
    ) AS suppresses,
    (r.private_manifest ->> '$.max_delay')::INTEGER AS max_delay,
    (SELECT count(*) > 0 FROM srsql.taken_in(r.release_id)) AS takes_in,
    (r.private_manifest ->> '$.table_k')::BIGINT AS table_k,
    (r.private_manifest ->> '$.noisy_epsilon') IS NOT NULL AS noisy_tables,
    r.private_manifest ->> '$.own_theta' AS own_theta,
    (SELECT count(*) > 0 FROM srsql.dump_period AS u WHERE u.dataset = r.dataset) AS cumulative,
    coalesce(
        (SELECT k.version FROM srsql.release_key AS k WHERE k.release_id = r.release_id), 0
    ) AS term_key,
    srsql.unit_of(r.release_id) AS unit
FROM srsql.release AS r
CROSS JOIN terms AS t
WHERE r.release_id = $release;

-- name: thresholds
-- The thresholds that the catalog keeps of a release: term, theta_num, theta_den.
SELECT t.term, t.theta_num, t.theta_den
FROM srsql.threshold AS t
WHERE t.release_id = $release;

-- name: own_thresholds
-- Of released cases whose reports (report_text(case_id, text), trimmed) ask for a threshold of
-- their own: case_id (public), own, a double; NULL: a text that is no number.
SELECT
    i.public_case AS case_id,
    CASE
        WHEN contains(r.text, '/')
            THEN try_cast(split_part(r.text, '/', 1) AS DOUBLE)
                / try_cast(split_part(r.text, '/', 2) AS DOUBLE)
        ELSE try_cast(r.text AS DOUBLE)
    END AS own
FROM report_text AS r
INNER JOIN temp.main.srsql_identity AS i ON r.case_id = i.case_id::VARCHAR
WHERE r.text <> '';

-- name: suppressed
-- What a release, or another one of its series that is or was out, suppressed of the cases that
-- srsql_identity has: case_id (public), term, own.
WITH ids AS (
    SELECT DISTINCT d.case_id::VARCHAR AS case_id, d.public_case
    FROM temp.main.srsql_identity AS d
)

SELECT i.public_case AS case_id, h.term, s.release_id = $release AS own
FROM srsql.suppressed AS s
INNER JOIN srsql.release AS r ON s.release_id = r.release_id
INNER JOIN srsql.release AS o
    ON r.dataset = o.dataset AND r.series = o.series AND o.release_id = $release
INNER JOIN srsql.member AS m ON s.release_id = m.release_id AND s.case_no = m.case_no
INNER JOIN srsql.threshold AS h ON s.release_id = h.release_id AND s.term_no = h.term_no
INNER JOIN ids AS i ON m.case_id = i.case_id
WHERE r.status <> 'draft' OR r.release_id = $release;

-- name: withheld_cases
-- The cases that the catalog has as withheld: case_id.
SELECT w.case_id
FROM srsql.withheld AS w
WHERE w.release_id = $release;

-- name: withheld_reports
-- The reports that a comparator withheld which takes every report for a case of its own: case_id.
SELECT c.report_id::VARCHAR AS case_id
FROM temp.main.srsql_withheld AS w
INNER JOIN temp.main.srsql_case_report AS c ON w.case_no = c.case_no
UNION ALL
SELECT d.report_id
FROM temp.main.srsql_deleted AS d;

-- name: guarantee
-- Of the release to be measured: whether it is a draft, the attacks that its model withstands, and
-- the share of cases with substantially many symptoms that it bounds. No row of a release that
-- tells no k to measure against (a foreign one), or shows no cases (rows over a lattice).
SELECT r.status = 'draft', coalesce(p.attacks, []), p.alpha_num, p.alpha_den
FROM srsql.release AS r
LEFT JOIN srsql.defended_attack AS p ON r.release_id = p.release_id
ANTI JOIN srsql.lattice AS l ON r.release_id = l.release_id
WHERE r.release_id = $release AND r.k > 0;

-- name: lattice
-- The node of the lattice that a release took, and the number of rows that each class claims.
SELECT l.dimensions, l.levels, l.informative, l.least
FROM srsql.lattice AS l
WHERE l.release_id = $release;

-- name: releases_before
-- The standing releases of the series of a release that are of earlier quarters: the schema of
-- each, k, and whether it is of the quarter just before and withstands persistence; latest first.
SELECT
    r.schema_name,
    r.k,
    srsql.follows_on(r.quarter, own.quarter) AND list_contains(d.attacks, 'p') AS just_before
FROM srsql.release AS own
INNER JOIN srsql.release AS r
    ON own.dataset = r.dataset AND own.series = r.series AND own.quarter > r.quarter
LEFT JOIN srsql.defended_attack AS d ON r.release_id = d.release_id
WHERE own.release_id = $release AND r.status = 'released'
ORDER BY r.quarter DESC;

-- name: units
-- Who is counted in the place of released cases, by published id, where $unit is not 'case'.
-- carries: everybody, or ($in_series) of whom no case was in an earlier period of the series.
WITH
counted AS MATERIALIZED (
    SELECT u.case_id, u.unit FROM srsql.counted_units($unit, $release) AS u
),

known AS (
    SELECT DISTINCT m.case_id
    FROM srsql.release AS own
    INNER JOIN srsql.exposed_release AS e
        ON own.dataset = e.dataset AND own.series = e.series AND own.quarter > e.quarter
    INNER JOIN srsql.member AS m ON e.release_id = m.release_id
    WHERE own.release_id = $release AND $in_series
),

known_unit AS (
    SELECT DISTINCT c.unit FROM counted AS c SEMI JOIN known AS k ON c.case_id = k.case_id
)

SELECT DISTINCT
    i.public_case AS case_id,
    coalesce(c.unit, 'case ' || i.case_id::VARCHAR) AS unit,
    k.case_id IS NULL AND q.unit IS NULL AS carries
FROM temp.main.srsql_identity AS i
LEFT JOIN counted AS c ON i.case_id::VARCHAR = c.case_id
LEFT JOIN known AS k ON i.case_id::VARCHAR = k.case_id
LEFT JOIN known_unit AS q ON c.unit = q.unit;

-- name: unit_rows
-- The released rows with who is counted in the place of their cases, and whether they carry bounds.
SELECT
    r.region,
    coalesce(u.unit, 'row of ' || r.case_id::VARCHAR) AS case_id,
    coalesce(u.carries, false) AS carries
FROM temp.main.srsql_published_row AS r
LEFT JOIN seen_unit AS u ON r.case_id = u.case_id;

-- name: unit_values
-- The released values of those who are counted: of any of their cases.
SELECT DISTINCT coalesce(u.unit, 'row of ' || v.case_id::VARCHAR) AS case_id, v.term
FROM temp.main.srsql_published_value AS v
LEFT JOIN seen_unit AS u ON v.case_id = u.case_id;

-- name: suspected_pairs
-- The pairs of cases that a release was to count as one.
SELECT p.case_id, p.other_case_id FROM srsql.suspected_pairs($release) AS p;

-- name: counted_units
-- Who was counted in the place of cases.
SELECT u.case_id, u.unit FROM srsql.counted_units($unit, $release) AS u;

-- name: released_cases
-- The cases of the released rows, by the ids of the source.
SELECT DISTINCT i.case_id::VARCHAR AS case_id FROM temp.main.srsql_identity AS i;

-- name: waiting_since
-- The periods since which cases wait in a release.
SELECT DISTINCT w.since FROM srsql.waiting AS w WHERE w.release_id = $release ORDER BY w.since;
