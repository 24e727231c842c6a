{#
  At least k distinct cases share every region (Lin 2016, Definition 3; SPEC section 16).

  A region is what a row shows of all quasi-identifiers together. Returns every region that fewer
  cases share. within: columns that part the rows, such as the period, so that k holds in each.
#}
{% test srsql_k(model, case_id, quasi_identifiers, k=5, within=[]) %}
{{ srsql.srsql_need('srsql_k', quasi_identifiers) }}
{% if k is not number or k < 2 %}
    {{ exceptions.raise_compiler_error("srsql_k: k is a whole number from 2 on") }}
{% endif %}
select
    {{ (within + quasi_identifiers) | join(', ') }},
    count(distinct {{ case_id }}) as cases
from {{ model }}
group by {{ (within + quasi_identifiers) | join(', ') }}
having count(distinct {{ case_id }}) < {{ k }}
{% endtest %}
