-- What disassociation asks of its temporary tables.

-- name: parts_too_small
-- Parts with fewer than $least records: part_no, records.
SELECT p.part_no, p.records
FROM srsql.parts_too_small('temp.main.srsql_part', $least) AS p
ORDER BY p.part_no;

-- name: sensitive_numbers
-- The numbers of the sensitive terms; a prefix or an occurrence number does not make another term.
CREATE OR REPLACE TEMP TABLE srsql_sensitive_number AS
SELECT DISTINCT t.term_no
FROM temp.main.srsql_case_item AS i
INNER JOIN temp.main.srsql_basket_term AS t ON i.item = t.term
SEMI JOIN temp.main.srsql_sensitive_term AS s ON i.term = s.term;

-- name: sensitive_terms_not_held
-- Sensitive terms that no released case holds.
SELECT s.term
FROM temp.main.srsql_sensitive_term AS s
ANTI JOIN temp.main.srsql_case_item AS i ON s.term = i.term
ORDER BY s.term;
