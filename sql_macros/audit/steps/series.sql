-- Step of an audit: what an attacker knows of the series as a whole. Reads
-- srsql_audit_release(release_id, seq, quarter_no, reported).

CREATE OR REPLACE TEMP TABLE srsql_audit_axis AS
SELECT
    a.release_id,
    a.position,
    a.kind,
    max(n.pre) AS root_low,
    max(n.last) AS root_high,
    bool_or(p.position IS NOT NULL) AS perturbed
FROM temp.main.srsql_audit_release AS r
INNER JOIN srsql.release AS own ON r.release_id = own.release_id
INNER JOIN srsql.attribute AS a ON r.release_id = a.release_id
LEFT JOIN srsql.node AS n
    ON
        own.dataset = n.dataset
        AND a.attribute = n.attribute
        AND a.kind = 'categorical'
        AND n.parent IS NULL
LEFT JOIN srsql.perturbation AS p ON a.release_id = p.release_id AND a.position = p.position
GROUP BY a.release_id, a.position, a.kind;

CREATE OR REPLACE TEMP TABLE srsql_audit_region AS
WITH groups AS (
    SELECT DISTINCT m.release_id, m.group_id
    FROM srsql.member AS m
    SEMI JOIN temp.main.srsql_audit_release AS r ON m.release_id = r.release_id
)

SELECT
    g.release_id,
    g.group_id,
    flatten(
        list(srsql.box_part(e.low, e.high, a.root_low, a.root_high) ORDER BY a.position)
    ) AS box
FROM groups AS g
INNER JOIN temp.main.srsql_audit_axis AS a ON g.release_id = a.release_id
LEFT JOIN srsql.region AS e
    ON
        g.release_id = e.release_id
        AND g.group_id = e.group_id
        AND a.position = e.position
GROUP BY g.release_id, g.group_id;

CREATE OR REPLACE TEMP TABLE srsql_audit_history AS
SELECT h.*
FROM srsql.case_history('temp.main.srsql_audit_release', 'temp.main.srsql_audit_region') AS h;
