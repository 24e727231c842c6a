-- Step: works out what the other releases of the series know of the cases of a release
--   ($release_id), and what each case is in it. $cover: which earlier regions an old case covers
--   (none, earliest, all; later: its categories, once groups are made); $carriers: the cases that
--   count towards k and theta (all, new); $stopping: whose medication counts as discontinued (next:
--   the cases absent from the next quarter, all, or NULL: not asked); $stopping_carries: of new
--   cases only those carry the bounds; $symptoms_are_bounded: there is an alpha.
-- Reads: case(case_no, case_id), unit(case_id, unit), box(case_no, position, low, high), node,
--   attribute(position, kind), symptoms(case_id, attribute, symptoms, spellings),
--   next_case(case_id),
--   srsql.exposed_release, srsql.release, srsql.member, srsql.region, srsql.ss_rule,
--   srsql.defended_attack, srsql.case_flag
-- Writes: withheld(case_no, reason), grouped(case_no, group_no, pattern), appearance(case_no,
--   release_id, group_id, earlier, before, turn), bounded(case_no, position, low, high,
--   earlier_low, earlier_high), role(case_no, known, is_new, first_later, is_ss, is_md, carrier,
--   kind), profile(case_no, pattern, known, carrier, kind)
-- Source: Huang 2021, Definition 4 (QID-bounding, NC-bounding), Definitions 6 and 7 (ss case,
--   alpha); Wu 2022, section IV (cover = later); SPEC sections 8 and 10.

-- Everything that was ever out counts, superseded releases too; drafts do not. The order is that of
-- quarter, then release id; before: of an earlier quarter, since a case is in a quarter if any
-- version of it has the case, and is new where no earlier quarter has it.
CREATE OR REPLACE TEMP TABLE srsql_withheld (case_no INTEGER NOT NULL, reason VARCHAR NOT NULL);

CREATE OR REPLACE TEMP TABLE srsql_grouped (
    case_no INTEGER NOT NULL, group_no INTEGER NOT NULL, pattern INTEGER NOT NULL
);

CREATE OR REPLACE TEMP TABLE srsql_appearance AS
WITH others AS (
    SELECT
        r.release_id,
        r.quarter,
        r.quarter < own.quarter
        OR (r.quarter = own.quarter AND r.release_id < own.release_id) AS earlier,
        r.quarter < own.quarter AS before
    FROM srsql.exposed_release AS r
    INNER JOIN srsql.release AS own ON own.release_id = $release_id
    WHERE
        r.dataset = own.dataset
        AND r.series = own.series
        AND r.release_id <> own.release_id
)

SELECT
    c.case_no,
    m.release_id,
    m.group_id,
    o.earlier,
    o.before,
    row_number() OVER (
        PARTITION BY c.case_no, m.case_id ORDER BY o.quarter, o.release_id
    ) AS turn
FROM srsql.member AS m
INNER JOIN others AS o ON m.release_id = o.release_id
LEFT JOIN temp.main.srsql_unit AS p ON m.case_id = p.case_id
INNER JOIN temp.main.srsql_case AS c ON coalesce(p.unit, m.case_id) = c.case_id::VARCHAR;

CREATE OR REPLACE TEMP TABLE srsql_bounded AS
WITH
-- QID-bounding: an old case's box covers its earlier regions (all, or the earliest); missing in one
-- of them is missing, since nothing else covers that. New cases keep their boxes.
covering AS MATERIALIZED (
    SELECT
        b.case_no,
        b.position,
        CASE WHEN b.low IS NOT NULL AND count(g.low) = count(*) THEN least(b.low, min(g.low)) END
            AS low,
        CASE
            WHEN b.low IS NOT NULL AND count(g.low) = count(*) THEN greatest(b.high, max(g.high))
        END
            AS high
    FROM temp.main.srsql_appearance AS a
    INNER JOIN srsql.region AS g ON a.release_id = g.release_id AND a.group_id = g.group_id
    INNER JOIN temp.main.srsql_box AS b ON a.case_no = b.case_no AND g.position = b.position
    WHERE a.earlier AND ($cover = 'all' OR ($cover = 'earliest' AND a.turn = 1))
    GROUP BY b.case_no, b.position, b.low, b.high
),

-- cover = 'later': what the categories of an old case must cover once groups are made (all its
-- earlier regions). What was missing in one of them counts as missing from the start.
earlier AS MATERIALIZED (
    SELECT
        a.case_no,
        g.position,
        CASE WHEN count(g.low) = count(*) THEN min(g.low) END AS low,
        CASE WHEN count(g.low) = count(*) THEN max(g.high) END AS high
    FROM temp.main.srsql_appearance AS a
    INNER JOIN srsql.region AS g ON a.release_id = g.release_id AND a.group_id = g.group_id
    INNER JOIN temp.main.srsql_attribute AS t ON g.position = t.position AND t.kind = 'categorical'
    WHERE a.earlier AND $cover = 'later'
    GROUP BY a.case_no, g.position
),

boxes AS (
    SELECT e.case_no, e.position, e.low, e.high
    FROM srsql.enclosing_node('covering', 'temp.main.srsql_node') AS e
    UNION ALL
    SELECT b.case_no, b.position, b.low, b.high
    FROM temp.main.srsql_box AS b
    ANTI JOIN covering AS c ON b.case_no = c.case_no
)

SELECT
    b.case_no,
    b.position,
    CASE WHEN e.case_no IS NULL OR e.low IS NOT NULL THEN b.low END AS low,
    CASE WHEN e.case_no IS NULL OR e.low IS NOT NULL THEN b.high END AS high,
    e.low AS earlier_low,
    e.high AS earlier_high
FROM boxes AS b
LEFT JOIN earlier AS e ON b.case_no = e.case_no AND b.position = e.position;

-- What a case is in this quarter. known: the QIDs that it may be grouped by; is_md: absent from the
-- next quarter (NULL: not asked). kind as the kernel takes it: 0, or for a case with substantially
-- many symptoms 1 new and stopping, 2 new, 3 stopping, 4 neither; it matters only where alpha is
-- bounded.
CREATE OR REPLACE TEMP TABLE srsql_role AS
WITH
past AS (
    SELECT
        a.case_no,
        bool_or(a.before) AS is_old,
        bool_or(NOT a.earlier) AS is_later
    FROM temp.main.srsql_appearance AS a GROUP BY a.case_no
),

substantial AS (
    SELECT DISTINCT s.case_id
    FROM temp.main.srsql_symptoms AS s
    INNER JOIN srsql.ss_rule AS r
        ON
            s.attribute = r.attribute
            AND CASE WHEN r.by_spelling THEN s.spellings ELSE s.symptoms END >= r.cutoff
    WHERE r.release_id = $release_id
),

facts AS (
    SELECT
        c.case_no,
        b.known,
        NOT coalesce(p.is_old, false) AS is_new,
        coalesce(p.is_later AND NOT p.is_old, false) AS first_later,
        s.case_id IS NOT NULL AS is_ss,
        CASE $stopping::VARCHAR
            WHEN 'next' THEN n.case_id IS NULL
            WHEN 'all' THEN true
        END AS is_md
    FROM temp.main.srsql_case AS c
    LEFT JOIN srsql.known_qids('temp.main.srsql_bounded') AS b ON c.case_no = b.case_no
    LEFT JOIN past AS p ON c.case_no = p.case_no
    LEFT JOIN substantial AS s ON c.case_id = s.case_id
    LEFT JOIN temp.main.srsql_next_case AS n ON c.case_id::VARCHAR = n.case_id
)

SELECT
    f.case_no,
    f.known,
    f.is_new,
    f.first_later,
    f.is_ss,
    f.is_md,
    $carriers = 'all'
    OR (f.is_new AND (NOT $stopping_carries OR coalesce(f.is_md, true))) AS carrier,
    CASE
        WHEN NOT $symptoms_are_bounded OR NOT f.is_ss THEN 0
        ELSE 1 + (NOT f.is_md)::INTEGER + 2 * (NOT f.is_new)::INTEGER
    END AS kind
FROM facts AS f;

-- The cases still to be grouped; pattern starts as the set of QIDs that are known and cover. Who is
-- in no other release covers nothing else.
CREATE OR REPLACE TEMP TABLE srsql_profile AS
WITH own_box AS (
    SELECT b.*
    FROM temp.main.srsql_box AS b
    SEMI JOIN temp.main.srsql_appearance AS a ON b.case_no = a.case_no
)

SELECT r.case_no, r.known AS pattern, coalesce(k.known, r.known) AS known, r.carrier, r.kind
FROM temp.main.srsql_role AS r
LEFT JOIN srsql.known_qids('own_box') AS k ON r.case_no = k.case_no
WHERE r.known IS NOT NULL;

-- A case that was promised absent stays out of this quarter, and one that is first published in a
-- later quarter stays out of it too: there it counted as new.
INSERT INTO temp.main.srsql_withheld
WITH
-- Cases that releases already out promised to be absent from this quarter (they were counted as
-- stopping), in the quarter just before it.
promised_absent AS MATERIALIZED (
    WITH before AS (
        SELECT r.release_id, r.quarter, own.quarter AS own_quarter
        FROM srsql.exposed_release AS r
        INNER JOIN srsql.release AS own ON own.release_id = $release_id
        WHERE
            r.dataset = own.dataset
            AND r.series = own.series
            AND r.quarter < own.quarter
    )

    SELECT DISTINCT c.case_no
    FROM before AS b
    INNER JOIN srsql.defended_attack AS p
        ON b.release_id = p.release_id AND list_contains(p.attacks, 'md')
    INNER JOIN srsql.case_flag AS t ON b.release_id = t.release_id AND t.is_md
    INNER JOIN srsql.member AS m ON t.release_id = m.release_id AND t.case_no = m.case_no
    LEFT JOIN temp.main.srsql_unit AS o ON m.case_id = o.case_id
    INNER JOIN temp.main.srsql_case AS c ON coalesce(o.unit, m.case_id) = c.case_id::VARCHAR
    WHERE
        b.quarter = (SELECT max(l.quarter) FROM before AS l)
        AND srsql.follows_on(b.quarter, b.own_quarter)
)

SELECT
    r.case_no,
    CASE WHEN p.case_no IS NULL THEN 'released_later' ELSE 'promised_absent' END
FROM temp.main.srsql_role AS r
LEFT JOIN promised_absent AS p ON r.case_no = p.case_no
WHERE $carriers = 'new' AND (r.first_later OR p.case_no IS NOT NULL);

DELETE FROM temp.main.srsql_profile AS p
WHERE p.case_no IN (SELECT w.case_no FROM temp.main.srsql_withheld AS w);
