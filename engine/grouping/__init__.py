"""From raw tables to grouped super-records: the papers' algorithms as steps."""
