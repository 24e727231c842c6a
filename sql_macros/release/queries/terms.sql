-- The terms that a release takes apart from its rows.

-- name: never_released
-- The terms of the cases whose threshold is 0.
SELECT DISTINCT t.term
FROM temp.main.srsql_theta AS h
INNER JOIN temp.main.srsql_term AS t ON h.term_no = t.term_no
SEMI JOIN temp.main.srsql_case_item AS i ON t.term = i.term
WHERE h.theta_num = 0
ORDER BY t.term;

-- name: store
-- What the release disassociates, one row for each of $attributes, in their order.
INSERT INTO srsql.disassociated
SELECT
    $release_id,
    a.place,
    a.attribute,
    $m,
    $diversity,
    $repeated,
    $with_rows,
    $term_format
FROM (
    SELECT
        unnest($attributes::VARCHAR[]) AS attribute,
        unnest(range(len($attributes::VARCHAR[]))) AS place
) AS a
ORDER BY a.place;

-- name: release_thresholds
-- Where whole rows are taken apart, the values of which items tell are released.
UPDATE srsql.threshold SET released = true
WHERE
    release_id = $release_id
    AND term_no IN (SELECT b.value_no FROM temp.main.srsql_term_bound AS b);

-- name: grouped_thresholds
-- The thresholds of the sensitive values by which cases were grouped: term, theta_num, theta_den.
SELECT t.term, h.theta_num::BIGINT AS theta_num, h.theta_den::BIGINT AS theta_den
FROM temp.main.srsql_term AS t
INNER JOIN temp.main.srsql_theta AS h ON t.term_no = h.term_no;

-- name: largest_cluster
-- Cases of the largest cluster.
SELECT max(c.records)
FROM temp.main.srsql_pub_clusters AS c;
