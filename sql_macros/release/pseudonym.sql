-- Pseudonyms of case and report ids, one key per series or key file.

-- What:    HMAC-SHA-256 of a text under a key.
-- Inputs:  inner_pad, outer_pad: the 64-byte key xor 0x36 / 0x5c (BLOB); message: text.
-- Outputs: 64 hexadecimal digits.
-- Source:  RFC 2104.
CREATE OR REPLACE MACRO srsql.hmac_sha256(inner_pad, outer_pad, message) AS
system.main.sha256(
    outer_pad || system.main.unhex(system.main.sha256(inner_pad || system.main.encode(message)))
);

-- What:    the pseudonym of an id on publication under a key file, and in series that were made
--          before layout 3: 60 bits (15 hexadecimal digits).
-- Inputs:  inner_pad, outer_pad: see srsql.hmac_sha256; kind: 'case' or 'report'; id: text.
-- Outputs: BIGINT.
-- Source:  RFC 2104.
CREATE OR REPLACE MACRO srsql.pseudonym(inner_pad, outer_pad, kind, id) AS
('0x' || system.main.substr(
    srsql.hmac_sha256(inner_pad, outer_pad, kind || ':' || id), 1, 15
))::BIGINT;

-- What:    what a series tries as the pseudonym of an id, first with attempt 0, then with 1 and so
--          on until it is unique in the series. The text under the key names the quarter with its
--          length before it, so that no two ids are the same text.
-- Inputs:  inner_pad, outer_pad: see srsql.hmac_sha256; kind: 'case' or 'report'; id: text;
--          quarter: the one that the pseudonym is for, or '' for every quarter of the series;
--          attempt: from 0; bits: of the pseudonym, at most 56.
-- Outputs: BIGINT.
-- Source:  SPEC section 5; RFC 2104.
CREATE OR REPLACE MACRO srsql.pseudonym_attempt(
    inner_pad, outer_pad, kind, id, quarter, attempt, bits
) AS
('0x' || system.main.substr(
    srsql.hmac_sha256(
        inner_pad,
        outer_pad,
        kind || ':' || attempt::VARCHAR || ':' || system.main.strlen(quarter)::VARCHAR || ':'
        || quarter || ':' || id
    ),
    1,
    14
))::BIGINT >> (56 - bits);

-- What:    the token of a forgotten case: it stands for the id, and tells it to nobody without the
--          key of the dataset.
-- Inputs:  inner_pad, outer_pad: see srsql.hmac_sha256; case_id: text.
-- Outputs: 'forgotten:' and 64 hexadecimal digits.
-- Source:  SPEC section 16 (remanence); RFC 2104.
CREATE OR REPLACE MACRO srsql.forgotten_token(inner_pad, outer_pad, case_id) AS
'forgotten:' || srsql.hmac_sha256(inner_pad, outer_pad, case_id);
