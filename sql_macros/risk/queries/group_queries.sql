-- Questions about age groups; see srsql.age_groups.
-- Source: Lee 2020, "Real-world analysis" (Q1 to Q4).

-- name: counts
-- The groups of the rows asked_row(low, high, share, amount), and how many rows are of no group:
-- they meet the conditions, but tell no age. One row without a group where there is none.
SELECT
    h.hidden,
    a.age_group,
    a.lower,
    a.expected,
    a.upper,
    a.mean_amount
FROM (
    SELECT count_if(r.share > 0 AND r.low IS NULL) AS hidden FROM asked_row AS r
) AS h
LEFT JOIN srsql.age_groups(
    'asked_row', $width, $domain_low::BIGINT, $domain_high::BIGINT
) AS a ON true
ORDER BY a.age_group;

-- name: lattice_release
-- The quarter of a release over a lattice, the schema of its views, its dimensions and its
-- informative attribute.
SELECT
    r.quarter,
    r.schema_name,
    l.dimensions,
    l.informative
FROM srsql.release AS r
INNER JOIN srsql.lattice AS l ON r.release_id = l.release_id
WHERE r.release_id = $release_id;
