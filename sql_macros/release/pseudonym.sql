-- Pseudonyms of case and report ids, one key per series.

-- What:    HMAC-SHA-256 of an id under a key, as 60 bits (15 hexadecimal digits).
-- Inputs:  inner_pad, outer_pad: the 64-byte key xor 0x36 / 0x5c (BLOB); kind: 'case' or 'report';
--          id: text.
-- Outputs: BIGINT.
-- Source:  RFC 2104.
CREATE OR REPLACE MACRO srsql.pseudonym(inner_pad, outer_pad, kind, id) AS
('0x' || system.main.substr(
    system.main.sha256(
        outer_pad
        || system.main.unhex(
            system.main.sha256(inner_pad || system.main.encode(kind || ':' || id))
        )
    ),
    1,
    15
))::BIGINT;
