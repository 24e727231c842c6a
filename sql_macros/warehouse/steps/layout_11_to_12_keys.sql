-- Step: the catalog of layout 11 becomes that of layout 12: terms have a key beside their spelling.
--   What was made before has version 0 of it (visible text in upper case), and its series go on
--   with that: their latest parameters say so, as if they had been given. Another needs a yes
--   (--change).
-- Reads: srsql.series
-- Writes: srsql.external_knowledge, srsql.ss_rule, srsql.series_parameter
-- Source: SPEC section 2 (term, key); schemas/catalog.sql.

ALTER TABLE srsql.external_knowledge ADD COLUMN IF NOT EXISTS drug_key VARCHAR;

ALTER TABLE srsql.external_knowledge ADD COLUMN IF NOT EXISTS disease_key VARCHAR;

UPDATE srsql.external_knowledge SET drug_key = drug, disease_key = disease;

ALTER TABLE srsql.ss_rule ADD COLUMN IF NOT EXISTS by_spelling BOOLEAN DEFAULT false;

INSERT INTO srsql.series_parameter
SELECT s.dataset, s.series, 'term_key' AS keyword, '0' AS value, NULL AS sha256
FROM srsql.series AS s
WHERE s.family <> 'imported'
ORDER BY ALL;
