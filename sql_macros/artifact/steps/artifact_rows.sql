-- Step: adds the cases of artifact $artifact, with their regions and sensitive values. It runs on a
--   connection of its own that knows no warehouse, and shares nothing with what makes or checks a
--   release. region is the text of a row's published quasi-identifiers. A value is the normal form
--   of a term: without characters that nobody can see (Unicode's Default_Ignorable_Code_Point), nor
--   white space at its ends, composed (NFC), in upper case; artifacts of version 1 ($version) had
--   it trimmed and in upper case only, and where terms have keys ($term_key is not 0) it is the key
--   of its spelling. The same term in two columns is one.
-- Parameters: artifact, version, term_key
-- Reads: report_row(position, report_id, case_id, period, region), sensitive_cell(case_id,
--   spelling), term_spelling(spelling, key)
-- Writes: case_region(artifact, region, case_id), case_value(artifact, case_id, value)
-- Source: SPEC sections 2 and 16; Lin 2016, Definition 3.

INSERT INTO temp.main.srsql_case_region
SELECT DISTINCT $artifact::INTEGER AS artifact, r.region, r.case_id::VARCHAR AS case_id
FROM temp.main.srsql_report_row AS r;

INSERT INTO temp.main.srsql_case_value
WITH visible AS (
    SELECT
        h.case_id::VARCHAR AS case_id,
        CASE
            WHEN $version::INTEGER = 1 THEN h.spelling
            ELSE regexp_replace(
                h.spelling,
                '[\x{ad}\x{34f}\x{61c}\x{115f}\x{1160}\x{17b4}\x{17b5}\x{180b}-\x{180f}'
                || '\x{200b}-\x{200f}\x{202a}-\x{202e}\x{2060}-\x{206f}\x{3164}'
                || '\x{fe00}-\x{fe0f}\x{feff}\x{ffa0}\x{fff0}-\x{fff8}\x{1bca0}-\x{1bca3}'
                || '\x{1d173}-\x{1d17a}\x{e0000}-\x{e0fff}]',
                '',
                'g'
            )
        END AS spelling
    FROM temp.main.srsql_sensitive_cell AS h
),

normalized AS (
    SELECT
        v.case_id,
        regexp_replace(regexp_replace(
            v.spelling, '^[\s\p{Z}\x{b}\x{85}\x{200b}\x{feff}]+', ''
        ), '[\s\p{Z}\x{b}\x{85}\x{200b}\x{feff}]+$', '') AS value
    FROM visible AS v
)

SELECT DISTINCT
    $artifact::INTEGER AS artifact,
    h.case_id::VARCHAR AS case_id,
    k.key AS value
FROM temp.main.srsql_sensitive_cell AS h
INNER JOIN temp.main.srsql_term_spelling AS k ON h.spelling = k.spelling
WHERE $term_key::INTEGER > 0 AND k.key IS NOT NULL
UNION ALL
SELECT DISTINCT
    $artifact::INTEGER AS artifact,
    n.case_id,
    upper(CASE WHEN $version::INTEGER = 1 THEN n.value ELSE nfc_normalize(n.value) END) AS value
FROM normalized AS n
WHERE $term_key::INTEGER = 0 AND n.value <> '';
