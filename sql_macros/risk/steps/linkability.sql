-- Step: which rows of one release (side 1) link one to one to rows of another (side 2), by the
--   items that both publish and by regions that overlap.
-- Reads: link_item(side, case_no, attribute, term), link_case(side, case_no, case_id, box)
-- Writes: link_set(side, case_no, set_no, box), link_first(case_no, set_no, box),
--   link_second(case_no, set_no, box), link_pair(case_no, counterpart)
-- Source: SPEC section 18 (linkability).
CREATE OR REPLACE TEMP TABLE srsql_link_set AS
SELECT s.* FROM srsql.item_sets('temp.main.srsql_link_item', 'temp.main.srsql_link_case') AS s;

CREATE OR REPLACE TEMP TABLE srsql_link_first AS
SELECT s.case_no, s.set_no, s.box FROM temp.main.srsql_link_set AS s WHERE s.side = 1;

CREATE OR REPLACE TEMP TABLE srsql_link_second AS
SELECT s.case_no, s.set_no, s.box FROM temp.main.srsql_link_set AS s WHERE s.side = 2;

CREATE OR REPLACE TEMP TABLE srsql_link_pair AS
SELECT p.case_no, p.counterpart
FROM srsql.linked_pairs('temp.main.srsql_link_first', 'temp.main.srsql_link_second') AS p;
