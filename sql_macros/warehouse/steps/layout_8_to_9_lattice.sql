-- Step: the catalog of layout 8 becomes that of layout 9: of the nodes of a lattice it tells EMD as
--   the mean over the classes, and with which probability each is taken. Of releases of before
--   neither is known.
-- Reads: nothing
-- Writes: srsql.lattice_node
-- Source: schemas/catalog.sql.

ALTER TABLE srsql.lattice_node ADD COLUMN IF NOT EXISTS emd_classes DOUBLE;

ALTER TABLE srsql.lattice_node ADD COLUMN IF NOT EXISTS probability DOUBLE;
