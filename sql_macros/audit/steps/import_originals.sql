-- Step of an import: the raw quasi-identifiers behind somebody else's release. Reads
-- srsql_original_row(line, case_id), srsql_original_box(line, position, low, high) and the tables
-- of audit/steps/import_rows.sql; srsql_import(release_id).

CREATE OR REPLACE TEMP TABLE srsql_original_known AS
SELECT c.case_no, b.position, b.low, b.high
FROM temp.main.srsql_original_box AS b
INNER JOIN temp.main.srsql_original_row AS r ON b.line = r.line
INNER JOIN temp.main.srsql_foreign_case AS c ON r.case_id = c.case_id;

CREATE OR REPLACE TEMP TABLE srsql_original_hull AS
SELECT s.* FROM srsql.super_record('temp.main.srsql_original_known') AS s;

-- Released cases that have no raw record.
CREATE OR REPLACE TEMP TABLE srsql_original_fault AS
SELECT c.line, concat('case ', c.case_id, ' is not among the originals') AS fault
FROM temp.main.srsql_foreign_case AS c
ANTI JOIN temp.main.srsql_original_row AS r ON c.case_id = r.case_id;

INSERT INTO srsql.case_qid
SELECT
    u.release_id,
    e.case_no,
    e.position,
    e.low,
    e.high,
    e.low IS NOT NULL AND g.low IS NULL
FROM srsql.enclosing_node(
    'temp.main.srsql_original_hull', 'temp.main.srsql_node'
) AS e
INNER JOIN srsql.member AS m ON e.case_no = m.case_no
INNER JOIN temp.main.srsql_import AS u ON m.release_id = u.release_id
INNER JOIN srsql.region AS g
    ON m.release_id = g.release_id AND m.group_id = g.group_id AND e.position = g.position
ORDER BY e.case_no, e.position;
