-- Step: which rows of one release (side 1) link one to one to rows of another (side 2), by the
--   items that both publish and by regions that overlap.
-- Reads: link_item(side, case_no, attribute, term), link_case(side, case_no, case_id, box)
-- Writes: link_pair(case_no, counterpart)
-- Source: SPEC section 18 (linkability).
CREATE OR REPLACE TEMP TABLE srsql_link_pair AS
WITH
sets AS MATERIALIZED (
    SELECT s.* FROM srsql.item_sets('temp.main.srsql_link_item', 'temp.main.srsql_link_case') AS s
),

first_cases AS (SELECT s.case_no, s.set_no, s.box FROM sets AS s WHERE s.side = 1),

second_cases AS (SELECT s.case_no, s.set_no, s.box FROM sets AS s WHERE s.side = 2)

SELECT p.case_no, p.counterpart
FROM srsql.linked_pairs('first_cases', 'second_cases') AS p;
