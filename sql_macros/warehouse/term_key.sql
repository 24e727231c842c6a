-- The key of a term: one text for all of its spellings (SPEC section 2).

-- What:    the key of a term (see udfs/term_key.py, which has the rules). Most texts are plain
--          ASCII and need lower case alone, most others blanks and final dots in order: these two
--          kinds take the same rules from here, so that a row costs no call.
-- Inputs:  spelling: text or NULL.
-- Outputs: the key; NULL where there is white space alone.
-- Source:  SPEC section 2 (term, key).
CREATE OR REPLACE MACRO srsql.term_key(spelling) AS (
    CASE
        WHEN NOT regexp_matches(spelling, '[^ -\]_a-~]|^ |[ .]$|  | [-/]|[-/] ')
            THEN nullif(lower(spelling), '')
        WHEN regexp_full_match(spelling, '[ -\]_a-~]*[!-\-\/-\]_a-~][ -\]_a-~]*')
            THEN
                lower(
                    regexp_replace(
                        regexp_replace(
                            regexp_replace(spelling, ' *([-/]) *', '\1', 'g'), ' +', ' ', 'g'
                        ),
                        '^ +|[ .]+$', '', 'g'
                    )
                )
        ELSE srsql_term_key(spelling)
    END
);
