{#
  Cases with the number of their region, numbered within `within` (a period, say): rows that agree in
  all quasi-identifiers, a missing value being one like any other, are of one region.

  model: one row or more a case; case_id: a column; quasi_identifiers, within: lists of columns.
#}
{% macro srsql_cases(model, case_id, quasi_identifiers, within) %}
    select distinct
        {{ case_id }} as case_id,
        {% for name in within %}{{ name }} as within_{{ loop.index }},{% endfor %}
        dense_rank() over (order by {{ (within + quasi_identifiers) | join(', ') }}) as region
    from {{ model }}
{% endmacro %}

{#
  (case_id, within_*, attribute, item): the terms that cases hold, each once whatever its spelling.

  items: a list of {relation, column, attribute (what tells equal terms of two columns apart; without
  one the same term in two columns is one value), key (the column with the keys of the terms; without
  it `<column>_key`, where the relation has that)}.
#}
{% macro srsql_items(case_id, items, within) %}
    {% for each in items %}
    {% set value = srsql.srsql_value(each['relation'], 't', each['column'], each.get('key')) %}
    select distinct
        t.{{ each.get('case_id', case_id) }} as case_id,
        {% for name in within %}t.{{ name }} as within_{{ loop.index }},{% endfor %}
        '{{ each.get('attribute', '') }}' as attribute,
        {{ value }} as item
    from {{ each['relation'] }} as t
    where {{ value }} <> ''
    {% if not loop.last %}union{% endif %}
    {% endfor %}
{% endmacro %}

{# `left` and `right`: aliases whose rows are of one case and of one of `within`. #}
{% macro srsql_same(left, right, within, of='case_id') %}
    {{ left }}.{{ of }} = {{ right }}.{{ of }}
    {% for name in within %}
    and {{ left }}.within_{{ loop.index }} is not distinct from {{ right }}.within_{{ loop.index }}
    {% endfor %}
{% endmacro %}

{# Refuse what would prove nothing. #}
{% macro srsql_need(test, quasi_identifiers, items=none) %}
    {% if quasi_identifiers is string or not quasi_identifiers %}
        {{ exceptions.raise_compiler_error(test ~ ": give quasi_identifiers, a list of columns") }}
    {% endif %}
    {% if items is not none and (items is mapping or items is string or not items) %}
        {{ exceptions.raise_compiler_error(
            test ~ ": give a list of {relation: ref('...'), column: ...}") }}
    {% endif %}
{% endmacro %}

{# A share or a fraction as numerator and denominator. #}
{% macro srsql_fraction(test, value) %}
    {% set text = value | string | trim %}
    {% if modules.re.fullmatch('[0-9]{1,9}/[1-9][0-9]{0,8}', text) %}
        {{ return(text.split('/') | map('int') | list) }}
    {% elif modules.re.fullmatch('[0-9]+([.][0-9]{1,9})?', text) %}
        {% set digits = (text.split('.') + [''])[1] %}
        {{ return([(text.replace('.', '')) | int, 10 ** (digits | length)]) }}
    {% else %}
        {{ exceptions.raise_compiler_error(test ~ ": " ~ text ~ " is no share") }}
    {% endif %}
{% endmacro %}
