-- What:    a utility policy in the terms of the data: each of its terms as the data spell it, in
--          any case and with white space at its ends; terms that the data have not are left out.
-- Inputs:  policy(constraint_no, term); terms(term): those of the data, distinct.
-- Outputs: set_no (the constraint), term.
CREATE OR REPLACE MACRO srsql.policy_terms(policy, terms) AS TABLE
SELECT DISTINCT p.constraint_no AS set_no, t.term
FROM query_table(policy) AS p
INNER JOIN query_table(terms) AS t ON upper(trim(p.term)) = upper(trim(t.term));
