{#
  No sensitive value is held by a larger share of the cases of a region than its threshold (Lin 2016,
  Definition 3; SPEC sections 5 and 16).

  sensitive: a list of {relation, column}; the same term in two columns is one value, and so are all
  spellings of a term that have the same key (`<column>_key` beside them). theta: one
  threshold for all, as a share or a fraction such as '2/5'; or thresholds: a relation (value,
  theta_num, theta_den), as value-thresholds.csv of an artifact has it, in which a value without a
  threshold fails. Compared in whole numbers, never in fractions.
#}
{% test srsql_theta(
    model, case_id, quasi_identifiers, sensitive, theta=none, thresholds=none, within=[]
) %}
{{ srsql.srsql_need('srsql_theta', quasi_identifiers, sensitive) }}
{% if (theta is none) == (thresholds is none) %}
    {{ exceptions.raise_compiler_error("srsql_theta: give theta or thresholds") }}
{% endif %}
{% set parts = srsql.srsql_fraction('srsql_theta', theta) if theta is not none else none %}
with cases as ({{ srsql.srsql_cases(model, case_id, quasi_identifiers, within) }}),

held as ({{ srsql.srsql_items(case_id, sensitive, within) }}),

sizes as (
    select c.region, count(distinct c.case_id) as cases
    from cases as c
    group by c.region
),

shares as (
    select c.region, h.item as value, count(distinct c.case_id) as holders
    from cases as c
    inner join held as h on {{ srsql.srsql_same('c', 'h', within) }}
    group by c.region, h.item
)

select s.region, s.value, s.holders, z.cases
from shares as s
inner join sizes as z on s.region = z.region
{% if thresholds is not none %}
left join {{ thresholds }} as t on s.value = t.value
{% for name in within %}
    and exists (
        select 1 from cases as w
        where w.region = s.region and w.within_{{ loop.index }} is not distinct from t.{{ name }}
    )
{% endfor %}
where t.value is null or s.holders * t.theta_den > z.cases * t.theta_num
{% else %}
where s.holders * {{ parts[1] }} > z.cases * {{ parts[0] }}
{% endif %}
{% endtest %}
