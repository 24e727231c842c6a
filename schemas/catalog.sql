-- The catalog: what the warehouse knows about datasets, ingested files, series and releases.
-- Private to the steward: nothing in schema srsql is published.

CREATE SCHEMA IF NOT EXISTS srsql;
CREATE SCHEMA IF NOT EXISTS srsql_data;  -- the released rows, read through views

-- One row: the layout of the file, the version of srsql that wrote it last, and a digest of the
-- statements that made its catalog and macros.
CREATE TABLE IF NOT EXISTS srsql.warehouse (
    layout INTEGER NOT NULL,
    software VARCHAR NOT NULL,
    definitions VARCHAR NOT NULL
);

-- One row per command that opened the warehouse to write it (UTC): made when it begins, completed
-- when it ends. ended NULL: it was killed, or still runs. parameters: what was asked, as text by
-- keyword; of commands that are given case ids or reasons only their flags, so that nobody who is
-- forgotten stands here.
CREATE TABLE IF NOT EXISTS srsql.run (
    run_id INTEGER NOT NULL,
    command VARCHAR NOT NULL,
    parameters JSON NOT NULL,
    started TIMESTAMP NOT NULL,
    ended TIMESTAMP,
    exit_code INTEGER,
    software VARCHAR NOT NULL,
    host VARCHAR NOT NULL,
    pid BIGINT NOT NULL
);

CREATE SEQUENCE IF NOT EXISTS srsql.ingestion_ids;
CREATE SEQUENCE IF NOT EXISTS srsql.release_ids;

-- One row per dataset schema in use; toml and hierarchies as they were first registered.
CREATE TABLE IF NOT EXISTS srsql.dataset (
    dataset VARCHAR PRIMARY KEY,
    version INTEGER NOT NULL,
    fingerprint VARCHAR NOT NULL,
    origin VARCHAR NOT NULL,
    toml VARCHAR NOT NULL
);

-- The version of the key of terms (SPEC section 2) that the raw tables of a dataset hold; without a
-- row it is 0.
CREATE TABLE IF NOT EXISTS srsql.dataset_key (
    dataset VARCHAR PRIMARY KEY,
    version INTEGER NOT NULL
);

-- Nodes of every hierarchy in preorder: the subtree of a node is [pre, last].
CREATE TABLE IF NOT EXISTS srsql.node (
    dataset VARCHAR NOT NULL,
    attribute VARCHAR NOT NULL,
    node VARCHAR NOT NULL,
    parent VARCHAR,
    pre BIGINT NOT NULL,
    last BIGINT NOT NULL,
    depth INTEGER NOT NULL,
    height INTEGER NOT NULL,
    leaf_count INTEGER NOT NULL,
    low DECIMAL(18, 6),
    high DECIMAL(18, 6)
);

-- Closure: every (node, ancestor) pair, the node itself and the root included.
CREATE TABLE IF NOT EXISTS srsql.hierarchy (
    dataset VARCHAR NOT NULL,
    attribute VARCHAR NOT NULL,
    node VARCHAR NOT NULL,
    ancestor VARCHAR NOT NULL,
    depth INTEGER NOT NULL,
    height INTEGER NOT NULL,
    leaf_count INTEGER NOT NULL
);

-- One row per ingested period; a replaced one keeps its row with replaced = true.
CREATE TABLE IF NOT EXISTS srsql.ingestion (
    ingestion_id INTEGER PRIMARY KEY,
    dataset VARCHAR NOT NULL,
    quarter VARCHAR NOT NULL,
    source VARCHAR NOT NULL,
    sha256 VARCHAR NOT NULL,
    software VARCHAR NOT NULL,
    replaced BOOLEAN NOT NULL DEFAULT false
);

-- One row per source file: records = loaded + rejected, always.
CREATE TABLE IF NOT EXISTS srsql.ingested_file (
    ingestion_id INTEGER NOT NULL,
    table_name VARCHAR NOT NULL,
    file VARCHAR NOT NULL,
    sha256 VARCHAR NOT NULL,
    records BIGINT NOT NULL,
    loaded BIGINT NOT NULL,
    rejected BIGINT NOT NULL,
    values_rejected BIGINT NOT NULL,
    repaired BIGINT NOT NULL,
    orphans BIGINT NOT NULL
);

-- What was not taken as it stood. kind 'row': the record is not in the raw table;
-- kind 'value': the record is, but this value of it counts as missing.
CREATE TABLE IF NOT EXISTS srsql.reject (
    ingestion_id INTEGER NOT NULL,
    dataset VARCHAR NOT NULL,
    quarter VARCHAR NOT NULL,
    file VARCHAR NOT NULL,
    line BIGINT NOT NULL,
    kind VARCHAR NOT NULL,
    column_name VARCHAR,
    value VARCHAR,
    reason VARCHAR NOT NULL,
    record VARCHAR
);

-- Cases the regulator withdrew; they are left out of every release made afterwards.
CREATE TABLE IF NOT EXISTS srsql.deleted_case (
    dataset VARCHAR NOT NULL,
    case_id VARCHAR NOT NULL,
    ingestion_id INTEGER NOT NULL
);

-- Cases that are forgotten (erased): of one stays its token, "forgotten:" and a keyed hash of its
-- id, in the place of the id in every other table, so that audits of earlier releases still count
-- the case, and files that have it are recognized. Nothing else tells who it was.
CREATE TABLE IF NOT EXISTS srsql.forgotten_case (
    dataset VARCHAR NOT NULL,
    token VARCHAR NOT NULL,
    reason VARCHAR NOT NULL,
    forgotten_on DATE NOT NULL,
    PRIMARY KEY (dataset, token)
);

-- The key of the tokens, made with the first of a dataset.
CREATE TABLE IF NOT EXISTS srsql.forgotten_key (
    dataset VARCHAR PRIMARY KEY,
    key BLOB NOT NULL
);

-- Cases that a period no longer has, or has with other values, since it was ingested anew with this
-- ingestion_id. change: absent or changed.
CREATE TABLE IF NOT EXISTS srsql.replaced_case (
    dataset VARCHAR NOT NULL,
    quarter VARCHAR NOT NULL,
    case_id VARCHAR NOT NULL,
    change VARCHAR NOT NULL,
    ingestion_id INTEGER NOT NULL
);

-- Ingestions that replaced an earlier one and were compared with it: srsql.replaced_case has all
-- that differs. Versions before layout 4 compared nothing.
CREATE TABLE IF NOT EXISTS srsql.compared_ingestion (
    ingestion_id INTEGER PRIMARY KEY
);

-- External knowledge E that a release took into account: drug -> disease, as the file spells them,
-- and their keys.
CREATE TABLE IF NOT EXISTS srsql.external_knowledge (
    release_id INTEGER NOT NULL,
    drug VARCHAR NOT NULL,
    disease VARCHAR NOT NULL,
    drug_key VARCHAR NOT NULL,
    disease_key VARCHAR NOT NULL
);

-- A series is the sequence of releases for one audience; cumulative_schema holds all its quarters
-- together. ids, fixed when it is made: pseudonym, per-quarter (a case has another pseudonym in
-- every quarter), original, or pseudonym-60 (made before layout 3: 60 bits, computed and not
-- stored). The key makes its pseudonyms (NULL: ids are published as they are).
CREATE TABLE IF NOT EXISTS srsql.series (
    dataset VARCHAR NOT NULL,
    series VARCHAR NOT NULL,
    family VARCHAR NOT NULL,
    cumulative_schema VARCHAR NOT NULL,
    pseudonym_key BLOB,
    ids VARCHAR NOT NULL,
    PRIMARY KEY (dataset, series)
);

-- status: draft, released or superseded. A series is ordered by quarter, then release_id. An
-- imported release has the model 'imported' and, where nobody told, k = 0 and thresholds of 0 / 0.
CREATE TABLE IF NOT EXISTS srsql.release (
    release_id INTEGER PRIMARY KEY,
    dataset VARCHAR NOT NULL,
    series VARCHAR NOT NULL,
    quarter VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    status VARCHAR NOT NULL,
    k INTEGER NOT NULL,
    k_effective INTEGER NOT NULL,
    weight_scale BIGINT NOT NULL,
    schema_name VARCHAR NOT NULL,
    ingestion_id INTEGER,
    private_manifest JSON NOT NULL
);

-- The version of the key by which a release compares terms; without a row it is 0.
CREATE TABLE IF NOT EXISTS srsql.release_key (
    release_id INTEGER PRIMARY KEY,
    version INTEGER NOT NULL
);

-- What a series was made with, by keyword of srsql release; value as text that the keyword takes
-- (NULL: an earlier version did not keep it), sha256 of what a file said (NULL: the text says all).
CREATE TABLE IF NOT EXISTS srsql.series_parameter (
    dataset VARCHAR NOT NULL,
    series VARCHAR NOT NULL,
    keyword VARCHAR NOT NULL,
    value VARCHAR,
    sha256 VARCHAR,
    PRIMARY KEY (dataset, series, keyword)
);

-- A version of a quarter that was made by taking groups out of the one before it (corrects).
-- keep_remainder: what was left of some groups stayed, so the difference tells who left.
CREATE TABLE IF NOT EXISTS srsql.correction (
    release_id INTEGER PRIMARY KEY,
    corrects INTEGER NOT NULL,
    keep_remainder BOOLEAN NOT NULL
);

-- Pairs of cases that may be one person (Fellegi & Sunter 1969), of at least the probability that
-- the search kept; case_id is the lesser text.
CREATE TABLE IF NOT EXISTS srsql.suspected_duplicate (
    dataset VARCHAR NOT NULL,
    case_id VARCHAR NOT NULL,
    other_case_id VARCHAR NOT NULL,
    probability DOUBLE NOT NULL
);

-- The last search for them: the ingestions that it read, how many cases, the least probability of a
-- pair that is kept, and what was compared and estimated (m and u of every level).
CREATE TABLE IF NOT EXISTS srsql.duplicate_search (
    dataset VARCHAR NOT NULL,
    ingestions INTEGER[] NOT NULL,
    cases BIGINT NOT NULL,
    least DOUBLE NOT NULL,
    seed BIGINT NOT NULL,
    library VARCHAR NOT NULL,
    model JSON NOT NULL
);

-- A release that counts persons has a row: the match probability from which on two cases are one.
CREATE TABLE IF NOT EXISTS srsql.person_count (
    release_id INTEGER NOT NULL,
    at_least DOUBLE NOT NULL
);

-- A foreign table of counts: a value for each of its columns of items (NULL: any) and of strata
-- (NULL: all), which the manifest names, and how many cases have them.
CREATE TABLE IF NOT EXISTS srsql.foreign_count (
    release_id INTEGER NOT NULL,
    items VARCHAR[] NOT NULL,
    strata VARCHAR[] NOT NULL,
    cases BIGINT NOT NULL
);

-- Which cases it took for one person, those of other periods included; other cases are a person
-- each.
CREATE TABLE IF NOT EXISTS srsql.counted_person (
    release_id INTEGER NOT NULL,
    case_id VARCHAR NOT NULL,
    person INTEGER NOT NULL
);

-- What an attacker has: every release that was ever out, superseded ones included; no draft.
CREATE OR REPLACE VIEW srsql.exposed_release AS
SELECT r.* FROM srsql.release AS r WHERE r.status <> 'draft';

-- The super-records of the quarter as the release saw them, one row per case and QID; low and
-- high are granules (numeric) or preorder numbers (categorical), NULL where missing.
-- given_up: known, but released as NULL because its pattern was too small. case_no numbers the
-- cases of one release, position its QIDs, term_no its values (srsql.member and srsql.withheld,
-- srsql.attribute, srsql.threshold say which is which).
CREATE TABLE IF NOT EXISTS srsql.case_qid (
    release_id INTEGER NOT NULL,
    case_no INTEGER NOT NULL,
    position INTEGER NOT NULL,
    low BIGINT,
    high BIGINT,
    given_up BOOLEAN NOT NULL
);

-- Sensitive values of the super-records: weight is p(r, s) in units of 1 / weight_scale of the
-- release; direct marks a value the case itself has (not only by external knowledge). A suppressed
-- value counts as if the case did not have it.
CREATE TABLE IF NOT EXISTS srsql.case_term (
    release_id INTEGER NOT NULL,
    case_no INTEGER NOT NULL,
    term_no INTEGER NOT NULL,
    weight BIGINT NOT NULL,
    direct BOOLEAN NOT NULL
);

-- Sensitive values that released cases have and no row of the release shows, since too many of a
-- group have them. No release of the series made afterwards shows them of these cases.
CREATE TABLE IF NOT EXISTS srsql.suppressed (
    release_id INTEGER NOT NULL,
    case_no INTEGER NOT NULL,
    term_no INTEGER NOT NULL
);

-- The cases of a release and their groups. A comparator that groups reports has a row for each
-- group that reports of the case are in, with a number of its own and that part of its reports.
CREATE TABLE IF NOT EXISTS srsql.member (
    release_id INTEGER NOT NULL,
    case_no INTEGER NOT NULL,
    case_id VARCHAR NOT NULL,
    group_id INTEGER NOT NULL,
    reports INTEGER NOT NULL,
    is_new BOOLEAN NOT NULL
);

-- Cases that a release or draft has and that have left since: forgotten, deleted by the regulator,
-- or, in data that replaced its own, absent or changed; of a case that waited, in any of the
-- periods whose reports it brought. A release with such a case is stale.
CREATE OR REPLACE VIEW srsql.withdrawn_member AS
WITH left_since AS (
    SELECT
        r.release_id,
        f.token AS case_id,
        'forgotten' AS reason
    FROM srsql.release AS r
    INNER JOIN srsql.forgotten_case AS f ON r.dataset = f.dataset
    UNION ALL
    SELECT
        r.release_id,
        d.case_id,
        'deleted' AS reason
    FROM srsql.release AS r
    INNER JOIN srsql.deleted_case AS d ON r.dataset = d.dataset
    UNION ALL
    SELECT
        r.release_id,
        c.case_id,
        c.change AS reason
    FROM srsql.release AS r
    INNER JOIN srsql.replaced_case AS c
        ON r.dataset = c.dataset AND r.quarter = c.quarter AND r.ingestion_id < c.ingestion_id
    UNION ALL
    SELECT
        r.release_id,
        c.case_id,
        c.change AS reason
    FROM srsql.taken_case AS t
    INNER JOIN srsql.release AS r ON t.release_id = r.release_id
    INNER JOIN srsql.replaced_case AS c
        ON
            r.dataset = c.dataset
            AND t.case_id = c.case_id
            AND t.quarter = c.quarter
            AND t.ingestion_id < c.ingestion_id
)

SELECT
    m.release_id,
    m.case_no,
    m.case_id,
    system.main.min(l.reason) AS reason
FROM srsql.member AS m
INNER JOIN left_since AS l ON m.release_id = l.release_id AND m.case_id = l.case_id
GROUP BY m.release_id, m.case_no, m.case_id;

-- Releases that are out, and drafts, of which cases have left since, by reason as above; reason
-- replaced, cases NULL: their data were replaced by a version that compared nothing. A view finds
-- functions where it is: a macro of the caller's could stand before those not named in full.
CREATE OR REPLACE VIEW srsql.stale_release AS
SELECT
    w.release_id,
    w.reason,
    system.main.count(DISTINCT w.case_id) AS cases
FROM srsql.withdrawn_member AS w
INNER JOIN srsql.release AS r ON w.release_id = r.release_id
WHERE r.status <> 'superseded'
GROUP BY w.release_id, w.reason
UNION ALL
SELECT
    r.release_id,
    'replaced' AS reason,
    NULL AS cases
FROM srsql.release AS r
WHERE
    r.status <> 'superseded'
    AND EXISTS (
        SELECT 1
        FROM srsql.ingestion AS i
        WHERE
            i.dataset = r.dataset
            AND i.quarter = r.quarter
            AND i.ingestion_id > r.ingestion_id
            AND NOT EXISTS (
                SELECT 1 FROM srsql.compared_ingestion AS c WHERE c.ingestion_id = i.ingestion_id
            )
    );

-- The generalized QID of each group, coded as in case_qid; NULL where the QID is missing.
CREATE TABLE IF NOT EXISTS srsql.region (
    release_id INTEGER NOT NULL,
    group_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    low BIGINT,
    high BIGINT
);

-- theta of every value that occurs, as an exact fraction; cases counts those of the quarter;
-- released: a published column of a released case shows it.
CREATE TABLE IF NOT EXISTS srsql.threshold (
    release_id INTEGER NOT NULL,
    term_no INTEGER NOT NULL,
    term VARCHAR NOT NULL,
    theta_num BIGINT NOT NULL,
    theta_den BIGINT NOT NULL,
    cases BIGINT NOT NULL,
    released BOOLEAN NOT NULL
);

-- theta by the policy, of the values that patients lowered the threshold of: the public is told
-- this one alone, or else a value of a patient who asked for more would be known to be theirs.
CREATE TABLE IF NOT EXISTS srsql.asked_threshold (
    release_id INTEGER NOT NULL,
    term VARCHAR NOT NULL,
    theta_num BIGINT NOT NULL,
    theta_den BIGINT NOT NULL
);

-- Cases of the quarter that were not released, and why; a deleted case has no number.
CREATE TABLE IF NOT EXISTS srsql.withheld (
    release_id INTEGER NOT NULL,
    case_no INTEGER,
    case_id VARCHAR NOT NULL,
    reports INTEGER NOT NULL,
    reason VARCHAR NOT NULL
);

-- What a release withstands when it is joined with the others of its series: the attacks of SPEC
-- section 9 that its model defends against, and alpha as an exact fraction (NULL: no alpha).
CREATE TABLE IF NOT EXISTS srsql.defended_attack (
    release_id INTEGER NOT NULL,
    attacks VARCHAR[] NOT NULL,
    alpha_num BIGINT,
    alpha_den BIGINT
);

-- What every published region of a comparator keeps, in the place of k and theta, which its release
-- is measured by: k (distinct cases), reports, alpha (share of reports), values (distinct ones of
-- each sensitive attribute). A release without rows keeps k and theta.
CREATE TABLE IF NOT EXISTS srsql.claim (
    release_id INTEGER NOT NULL,
    claim VARCHAR NOT NULL,
    num BIGINT NOT NULL,
    den BIGINT NOT NULL
);

-- What else decides the bounds of a released case. carrier: it counted towards k and theta;
-- is_ss: it has substantially many symptoms; is_md: it was counted as absent from the next quarter
-- (NULL: the model took no account of that).
CREATE TABLE IF NOT EXISTS srsql.case_flag (
    release_id INTEGER NOT NULL,
    case_no INTEGER NOT NULL,
    carrier BOOLEAN NOT NULL,
    is_ss BOOLEAN NOT NULL,
    is_md BOOLEAN
);

-- The rule for substantial symptoms per sensitive attribute: mean and standard deviation of the
-- number of values over the quarter's super-records, and the number from which a case counts
-- (NULL: the attribute defines none). by_spelling: values are counted by their spellings, where
-- that makes a difference; a case counts by either.
CREATE TABLE IF NOT EXISTS srsql.ss_rule (
    release_id INTEGER NOT NULL,
    attribute VARCHAR NOT NULL,
    mean DOUBLE,
    sd DOUBLE,
    cutoff BIGINT,
    by_spelling BOOLEAN NOT NULL DEFAULT false
);

-- One row per QID of each release: what losses are measured against.
CREATE TABLE IF NOT EXISTS srsql.attribute (
    release_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    attribute VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,
    span BIGINT NOT NULL
);

-- Every check and metric of a release, in the uniform shape.
CREATE TABLE IF NOT EXISTS srsql.measure (
    release_id INTEGER NOT NULL,
    stage VARCHAR NOT NULL,
    measure VARCHAR NOT NULL,
    scope VARCHAR NOT NULL,
    violating DOUBLE,
    total DOUBLE,
    ratio DOUBLE,
    threshold DOUBLE,
    passed BOOLEAN
);

-- What a release perturbed, and how; a release without a row perturbed nothing. Its epsilon is that
-- of one value. noise: 'secure', or 'seeded' (an experiment, not for publication).
CREATE TABLE IF NOT EXISTS srsql.perturbation (
    release_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    mechanism VARCHAR NOT NULL,
    calibration VARCHAR NOT NULL,
    noise VARCHAR NOT NULL,
    epsilon_num BIGINT NOT NULL,
    epsilon_den BIGINT NOT NULL
);

-- The perturbed values, one row for each perturbed QID of each released case, coded as in case_qid:
-- a number has low = high, a node is its preorder interval; NULL where the value was released as
-- missing (nothing was drawn). srsql.region is NULL at these positions.
CREATE TABLE IF NOT EXISTS srsql.perturbed (
    release_id INTEGER NOT NULL,
    case_no INTEGER NOT NULL,
    position INTEGER NOT NULL,
    low BIGINT,
    high BIGINT
);

-- The budget ledger: what a release or draft charges to the cases that it was computed from. It
-- names quarter and case itself: a draft that is removed leaves its charges, as the steward saw it.
-- attribute: what was drawn; NULL: all that is drawn from the case (rows over a lattice). Under the
-- calibrations 'paper', 'printed' and 'nominal' (ipa) no privacy loss is bounded by epsilon.
CREATE TABLE IF NOT EXISTS srsql.budget_ledger (
    release_id INTEGER NOT NULL,
    dataset VARCHAR NOT NULL,
    series VARCHAR NOT NULL,
    quarter VARCHAR NOT NULL,
    case_id VARCHAR NOT NULL,
    attribute VARCHAR,
    mechanism VARCHAR NOT NULL,
    calibration VARCHAR NOT NULL,
    epsilon_num BIGINT NOT NULL,
    epsilon_den BIGINT NOT NULL
);

-- Attributes of which the terms of a release are disassociated (Loukides 2014), against attackers
-- who know m of them; repeated: a term told n times of a case is n terms. with_rows: the other
-- columns are released under ids beside them, and
-- clusters lie inside QID-groups. term_format: chunks (disassociated) or nodes (generalized, CBA).
CREATE TABLE IF NOT EXISTS srsql.disassociated (
    release_id INTEGER NOT NULL,
    place INTEGER NOT NULL,
    attribute VARCHAR NOT NULL,
    m INTEGER NOT NULL,
    diversity INTEGER NOT NULL,
    repeated BOOLEAN NOT NULL,
    with_rows BOOLEAN NOT NULL,
    term_format VARCHAR NOT NULL
);

-- The utility policy a release followed: terms that were to stay together.
CREATE TABLE IF NOT EXISTS srsql.utility_constraint (
    release_id INTEGER NOT NULL,
    name VARCHAR NOT NULL,
    term VARCHAR NOT NULL
);

-- A release over the generalization lattice (Lee 2020): its dimensions, the level of each that was
-- taken, whose values are shown as they are, and how many rows every class claims to have.
CREATE TABLE IF NOT EXISTS srsql.lattice (
    release_id INTEGER NOT NULL,
    dimensions VARCHAR[] NOT NULL,
    levels INTEGER[] NOT NULL,
    informative VARCHAR NOT NULL,
    least INTEGER NOT NULL
);

-- What each node of the lattice that was looked at would lose; private, since it tells the number
-- of counterfeits. ncp is divided by the number of dimensions. emd is over all records, emd_classes
-- the mean over the classes (NULL: made before layout 9); probability: with which the node is taken
-- (NULL: it cannot be told).
CREATE TABLE IF NOT EXISTS srsql.lattice_node (
    release_id INTEGER NOT NULL,
    levels INTEGER[] NOT NULL,
    chosen BOOLEAN NOT NULL,
    classes BIGINT NOT NULL,
    records BIGINT NOT NULL,
    suppressed BIGINT NOT NULL,
    counterfeits BIGINT NOT NULL,
    ncp DOUBLE NOT NULL,
    emd DOUBLE NOT NULL,
    rate DOUBLE NOT NULL,
    emd_classes DOUBLE,
    probability DOUBLE
);
