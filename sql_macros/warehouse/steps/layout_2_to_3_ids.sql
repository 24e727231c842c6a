-- Step: the catalog of layout 2 becomes that of layout 3: a series says which ids it has. What is
--   there keeps its own: original ids where there is no key, else the 60 bits that the key makes.
-- Reads: nothing
-- Writes: srsql.series
-- Source: SPEC section 5; schemas/catalog.sql, schemas/pseudonyms.sql.

ALTER TABLE srsql.series ADD COLUMN ids VARCHAR;
UPDATE srsql.series AS s
SET ids = CASE
    WHEN s.pseudonym_key IS NULL OR s.family = 'imported' THEN 'original' ELSE 'pseudonym-60'
END;
ALTER TABLE srsql.series ALTER COLUMN ids SET NOT NULL;
