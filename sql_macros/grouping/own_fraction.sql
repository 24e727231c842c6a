-- What: a threshold as a report has it, such as 0.2 or 1/5, as a fraction.
-- Inputs: text.
-- Outputs: STRUCT(num, den); NULL: no threshold from 0 to 1.
CREATE OR REPLACE MACRO srsql.own_fraction(text) AS (
    CASE
        WHEN
            regexp_full_match(trim(text), '\d{1,9}/\d{1,9}')
            AND split_part(trim(text), '/', 1)::BIGINT <= split_part(trim(text), '/', 2)::BIGINT
            AND split_part(trim(text), '/', 2)::BIGINT > 0
            THEN struct_pack(
                num := split_part(trim(text), '/', 1)::BIGINT,
                den := split_part(trim(text), '/', 2)::BIGINT
            )
        WHEN
            regexp_full_match(trim(text), '0?\.\d{1,9}|[01](\.0{0,9})?|0\.\d{0,9}')
            THEN struct_pack(
                num := (trim(text)::DECIMAL(28, 9) * 1000000000)::BIGINT,
                den := 1000000000::BIGINT
            )
    END
);
