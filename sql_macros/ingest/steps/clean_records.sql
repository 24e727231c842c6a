-- Step: takes control characters and line ends out of the values of records; few have any. For
--   $controls and $ends see srsql.without_controls.
-- Reads: nothing
-- Writes: record(field, cleaned)
-- Source: SPEC section 22 (no value that came from one record holds another).

UPDATE temp.main.srsql_record
SET
    field = srsql.fields_without_controls(field, $controls, $ends),
    cleaned = srsql.fields_with_controls(field, $controls)
WHERE regexp_matches(array_to_string(field, ''), $controls);
