-- What a release reads and keeps of the records of its quarter.

-- name: case_count
-- The number of its cases, withdrawn ones aside.
SELECT count(DISTINCT c.case_id) FROM temp.main.srsql_case_report AS c;

-- name: store_knowledge
-- Keeps external knowledge, given by its pairs ($drugs, $diseases) and their keys ($drug_keys,
-- $disease_keys), with the release.
INSERT INTO srsql.external_knowledge
SELECT DISTINCT $release_id, e.drug, e.disease, e.drug_key, e.disease_key
FROM (
    SELECT
        unnest($drugs::VARCHAR[]) AS drug,
        unnest($diseases::VARCHAR[]) AS disease,
        unnest($drug_keys::VARCHAR[]) AS drug_key,
        unnest($disease_keys::VARCHAR[]) AS disease_key
) AS e
WHERE e.drug_key IS NOT NULL AND e.disease_key IS NOT NULL
ORDER BY e.drug, e.disease;

-- name: followed_up
-- Whether some case has several reports.
SELECT count(*) > count(DISTINCT c.case_id) FROM temp.main.srsql_case_report AS c;

-- name: own_units
-- No case is counted together with another one.
CREATE OR REPLACE TEMP TABLE srsql_unit (case_id VARCHAR NOT NULL, unit VARCHAR NOT NULL);
