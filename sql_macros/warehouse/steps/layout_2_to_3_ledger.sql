-- Step: the budget ledger of layout 2 becomes that of layout 3: a charge names dataset, series,
--   quarter, case and attribute itself, and rows over a lattice are charged to every case of their
--   quarter. What drafts cost that were removed before is not known.
-- Reads: srsql.budget_ledger, srsql.release, srsql.member, srsql.attribute, srsql.withheld,
--   budget_ledger
-- Writes: srsql.whole_ledger, srsql.budget_ledger
-- Source: schemas/catalog.sql, of layout 2 and of this one; SPEC section 10.

CREATE TABLE srsql.whole_ledger (
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
INSERT INTO srsql.whole_ledger
SELECT
    r.release_id,
    r.dataset,
    r.series,
    r.quarter,
    m.case_id,
    a.attribute,
    s.mechanism,
    s.calibration,
    s.epsilon_num,
    s.epsilon_den
FROM srsql.budget_ledger AS s
INNER JOIN srsql.release AS r ON s.release_id = r.release_id
INNER JOIN srsql.member AS m ON s.release_id = m.release_id AND s.case_no = m.case_no
INNER JOIN srsql.attribute AS a ON s.release_id = a.release_id AND s.position = a.position
ORDER BY s.release_id, s.case_no, s.position;
INSERT INTO srsql.whole_ledger
WITH cases AS (
    SELECT m.release_id, m.case_no, m.case_id FROM srsql.member AS m
    UNION ALL
    SELECT w.release_id, w.case_no, w.case_id FROM srsql.withheld AS w WHERE w.case_no IS NOT NULL
)

SELECT
    r.release_id,
    r.dataset,
    r.series,
    r.quarter,
    c.case_id,
    NULL,
    CASE r.model WHEN 'ipa' THEN 'ipa' ELSE 'laplace on counts' END,
    CASE r.model WHEN 'ipa' THEN 'nominal' ELSE 'sound' END,
    string_split(r.private_manifest ->> '$.epsilon', '/')[1]::BIGINT,
    coalesce(string_split(r.private_manifest ->> '$.epsilon', '/')[2]::BIGINT, 1)
FROM srsql.release AS r
INNER JOIN cases AS c ON r.release_id = c.release_id
WHERE r.model IN ('ipa', 'dp-histogram')
ORDER BY r.release_id, c.case_no;
DROP TABLE srsql.budget_ledger;
ALTER TABLE srsql.whole_ledger RENAME TO budget_ledger;
