-- Step: keeps what is to be grouped by several sets of quasi-identifiers, before any of them is.
-- Reads: profile(case_no, pattern, known, carrier, kind), bounded(case_no, position, low, high),
--   withheld(case_no, reason)
-- Writes: set_profile(case_no, pattern, known, carrier, kind), set_bounded(case_no, position, low,
--   high), set_withheld(case_no, reason), set_grouped(set_no, case_no, group_no, pattern)
-- Source: docs/models.md (several sets of quasi-identifiers).

CREATE OR REPLACE TEMP TABLE srsql_set_profile AS
SELECT p.case_no, p.pattern, p.known, p.carrier, p.kind
FROM temp.main.srsql_profile AS p;

CREATE OR REPLACE TEMP TABLE srsql_set_bounded AS
SELECT b.* FROM temp.main.srsql_bounded AS b;

CREATE OR REPLACE TEMP TABLE srsql_set_withheld AS
SELECT w.case_no, w.reason FROM temp.main.srsql_withheld AS w;

-- Set 0 has the blocks; the others are numbered from 1 on.
CREATE OR REPLACE TEMP TABLE srsql_set_grouped (
    set_no INTEGER NOT NULL,
    case_no INTEGER NOT NULL,
    group_no INTEGER NOT NULL,
    pattern INTEGER NOT NULL
);
