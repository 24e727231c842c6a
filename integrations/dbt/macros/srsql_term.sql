{#
  The normal form of a term: two spellings of it are one value (SPEC section 2). On DuckDB it is that
  of srsql: composed (NFC), without characters that nobody can see, trimmed, in upper case; elsewhere
  trimmed and in upper case.
#}
{% macro srsql_term(term) %}{{ return(adapter.dispatch('srsql_term', 'srsql')(term)) }}{% endmacro %}

{% macro default__srsql_term(term) %}upper(trim({{ term }})){% endmacro %}

{% macro duckdb__srsql_term(term) -%}
upper(nfc_normalize(regexp_replace(regexp_replace(
    {{ term }},
    '[\x{ad}\x{34f}\x{61c}\x{115f}\x{1160}\x{17b4}\x{17b5}\x{180b}-\x{180f}\x{200b}-\x{200f}'
    || '\x{202a}-\x{202e}\x{2060}-\x{206f}\x{3164}\x{fe00}-\x{fe0f}\x{feff}\x{ffa0}'
    || '\x{fff0}-\x{fff8}\x{1bca0}-\x{1bca3}\x{1d173}-\x{1d17a}\x{e0000}-\x{e0fff}]', '', 'g'
), '^[\s\p{Z}\x{b}\x{85}]+|[\s\p{Z}\x{b}\x{85}]+$', '', 'g')))
{%- endmacro %}

{#
  By what the terms of a column are compared: the key that stands beside them, where the relation has
  the column `<column>_key`, as releases have it since terms have keys (SPEC section 2); else, and in
  rows without a key, the normal form.

  relation: that has the column; alias: of its rows; column: of terms; key: the name of the column with
  their keys, where it is another one.
#}
{% macro srsql_value(relation, alias, column, key=none) %}
    {% set term = srsql.srsql_term(alias ~ '.' ~ column) %}
    {% set name = key if key is not none else column ~ '_key' %}
    {% set known = adapter.get_columns_in_relation(relation) if execute and key is none else [] %}
    {% if key is not none or name | lower in known | map(attribute='name') | map('lower') | list %}
        {{ return('coalesce(' ~ alias ~ '.' ~ name ~ ', ' ~ term ~ ')') }}
    {% endif %}
    {{ return(term) }}
{% endmacro %}
