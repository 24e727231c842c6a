-- The verdicts that releases keep of their audits; engine/audit/verdicts.py says when they hold.

-- What the audit of a release found at a scope ('group', 'match') when the attacker had the
-- releases of that list, this one among them: it is the verdict of today as long as these are the
-- releases that are or were out. attacks: those evaluated; the other figures are as srsql audit
-- shows them.
CREATE TABLE IF NOT EXISTS srsql.verdict (
    release_id INTEGER NOT NULL,
    scope VARCHAR NOT NULL,
    attacker INTEGER[] NOT NULL,
    attacks VARCHAR[] NOT NULL,
    groups BIGINT NOT NULL,
    outside BIGINT,
    qid_bounding BIGINT NOT NULL,
    qid_bounding_earliest BIGINT NOT NULL,
    internal BIGINT,
    erasure BIGINT,
    erasure_series BIGINT
);

-- The groups that it found in danger, and in rows of their own the uncertain ones: they do not keep
-- k and every threshold by themselves, whatever the target is, so that what others keep at 'match'
-- may hang on them.
CREATE TABLE IF NOT EXISTS srsql.verdict_group (
    release_id INTEGER NOT NULL,
    scope VARCHAR NOT NULL,
    group_id INTEGER NOT NULL,
    dig BOOLEAN NOT NULL,
    dsg BOOLEAN NOT NULL,
    ssg BOOLEAN NOT NULL,
    persistent BOOLEAN NOT NULL,
    uncertain BOOLEAN NOT NULL
);
