-- Utility policies, as the kernels take them.

-- name: policy
-- The constraints as they were given, numbered from 0: constraint_no, term.
SELECT
    unnest($constraints::INTEGER[]) AS constraint_no,
    unnest($members::VARCHAR[]) AS term;
