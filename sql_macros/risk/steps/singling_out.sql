-- Step: what known items leave of every case of a release, and which terms follow from them.
-- Parameters: $release_id; $seed: of the sets of three items that are drawn.
-- Reads: known_item(case_no, attribute, term, sensitive), srsql.member, srsql.region, srsql.case_qid
-- Writes: case_exposure(case_no, known, items, sets, fewest, below_k, alone, certain, likely)
-- Source: SPEC section 18.

CREATE OR REPLACE TEMP TABLE srsql_case_exposure AS
SELECT e.* FROM srsql.exposure($release_id::INTEGER, 'temp.main.srsql_known_item', $seed) AS e;
