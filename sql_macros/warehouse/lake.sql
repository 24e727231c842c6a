-- The part of a lake that the rows of a case lie in.

-- What:    a number from 0 to buckets - 1, the same for a case in every period, whatever else there
--          is, and under every version of DuckDB (its own hash() may change with one): the first
--          eight hexadecimal digits of the MD5 of the id, modulo the number of buckets.
-- Inputs:  case_id: of any type, taken as text (UTF-8); buckets: how many there are.
CREATE OR REPLACE MACRO srsql.case_bucket(case_id, buckets) AS
(('0x' || substr(md5(case_id::VARCHAR), 1, 8))::BIGINT % buckets::BIGINT)::INTEGER;
