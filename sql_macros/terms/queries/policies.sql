-- Utility policies, as the kernels take them.

-- name: policy
-- The constraints as they were given, numbered from 0: constraint_no, term.
SELECT
    unnest($constraints::INTEGER[]) AS constraint_no,
    unnest($members::VARCHAR[]) AS term;

-- name: constraints_left
-- The constraints that have a term in the data, by number.
SELECT DISTINCT p.set_no
FROM temp.main.srsql_policy_term AS p
ORDER BY p.set_no;

-- name: keep_constraints
-- The policy that a release followed, into the catalog.
INSERT INTO srsql.utility_constraint
SELECT $release, unnest($names::VARCHAR[]), unnest($terms::VARCHAR[]);
