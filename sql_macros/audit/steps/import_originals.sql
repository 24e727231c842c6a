-- Step: stores the raw quasi-identifiers behind somebody else's release ($release_id), merged to
--   one super-record for each released case; given_up says that a known value was released as NULL.
-- Reads: original_row(line, case_id), original_box(line, position, low, high), foreign_place(line,
--   case_no, case_id, case_line), node(position, node, pre, last), srsql.member, srsql.region
-- Writes: srsql.case_qid
-- Source: SPEC section 2 (super-record), section 9 (an audit without original QIDs).

INSERT INTO srsql.case_qid
WITH
original_known AS (
    SELECT
        p.case_no,
        b.position,
        b.low,
        b.high
    FROM temp.main.srsql_original_box AS b
    INNER JOIN temp.main.srsql_original_row AS r ON b.line = r.line
    INNER JOIN temp.main.srsql_foreign_place AS p
        ON r.case_id = p.case_id AND p.line = p.case_line
),

original_hull AS MATERIALIZED (
    SELECT s.* FROM srsql.super_record('original_known') AS s
)

SELECT
    $release_id AS release_id,
    e.case_no,
    e.position,
    e.low,
    e.high,
    e.low IS NOT NULL AND g.low IS NULL AS given_up
FROM srsql.enclosing_node('original_hull', 'temp.main.srsql_node') AS e
INNER JOIN srsql.member AS m ON e.case_no = m.case_no
INNER JOIN srsql.region AS g
    ON m.release_id = g.release_id AND m.group_id = g.group_id AND e.position = g.position
WHERE m.release_id = $release_id
ORDER BY e.case_no, e.position;
