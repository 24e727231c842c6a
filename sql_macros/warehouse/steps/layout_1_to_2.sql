-- Step: the catalog of layout 1 (version 0.1) becomes that of layout 2: tables are called what they
--   hold, one quantity has one name, and the format of released terms is stored with the release.
-- Reads: budget_ledger, case_flag, defended_attack
-- Writes: srsql.release, srsql.disassociated, srsql.promise, srsql.spent, srsql.trait
-- Source: schemas/catalog.sql, of version 0.1 and of this one.

ALTER TABLE srsql.trait RENAME TO case_flag;
ALTER TABLE srsql.promise RENAME TO defended_attack;
ALTER TABLE srsql.spent RENAME TO budget_ledger;
ALTER TABLE srsql.release RENAME COLUMN weight_one TO weight_scale;
ALTER TABLE srsql.disassociated ADD COLUMN term_format VARCHAR;
UPDATE srsql.disassociated AS d
SET term_format = CASE WHEN r.model = 'cba' THEN 'nodes' ELSE 'chunks' END
FROM srsql.release AS r WHERE d.release_id = r.release_id;
ALTER TABLE srsql.disassociated ALTER COLUMN term_format SET NOT NULL;
