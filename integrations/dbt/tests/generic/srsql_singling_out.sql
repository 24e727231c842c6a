{#
  At most max_share of the cases can be singled out by whoever knows a patient's region and one or two
  of the items that are published beside it (SPEC section 18): of such a case, some item (or pair of
  items) leaves fewer than `candidates` cases of its region. Regions of the release stand for what is
  known of the patient, so that no case is missed: who knows less has more candidates.

  items: a list of {relation, column, attribute}, compared by their keys where there are any; known: 0 (the region alone), 1 or 2; candidates: 2
  finds cases that are left alone. Returns one row where the share is larger.
#}
{% test srsql_singling_out(
    model, case_id, quasi_identifiers, items=none, known=1, candidates=2, max_share=0, within=[]
) %}
{{ srsql.srsql_need('srsql_singling_out', quasi_identifiers, items if known != 0 else none) }}
{% if known not in [0, 1, 2] or (known != 0 and items is none) %}
    {{ exceptions.raise_compiler_error(
        "srsql_singling_out: known is 0, 1 or 2; of 1 and 2 give items") }}
{% endif %}
{% set parts = srsql.srsql_fraction('srsql_singling_out', max_share) %}
with cases as ({{ srsql.srsql_cases(model, case_id, quasi_identifiers, within) }}),

{% if known != 0 %}
items as ({{ srsql.srsql_items(case_id, items, within) }}),

placed as (
    select distinct
        c.region, c.case_id, dense_rank() over (order by i.attribute, i.item) as item
    from cases as c
    inner join items as i on {{ srsql.srsql_same('c', 'i', within) }}
),
{% endif %}

known as (
    {% if known == 0 %}
    select c.region, c.case_id, 0 as one, 0 as two from cases as c
    {% elif known == 1 %}
    select p.region, p.case_id, p.item as one, 0 as two from placed as p
    {% else %}
    select p.region, p.case_id, p.item as one, q.item as two
    from placed as p
    inner join placed as q on p.region = q.region and p.case_id = q.case_id and p.item <= q.item
    {% endif %}
),

left_over as (
    select k.region, k.one, k.two, count(distinct k.case_id) as candidates
    from known as k
    group by k.region, k.one, k.two
),

alone as (
    select count(distinct k.region || '-' || k.case_id) as cases
    from known as k
    inner join left_over as l on k.region = l.region and k.one = l.one and k.two = l.two
    where l.candidates < {{ candidates }}
),

looked_at as (select count(distinct k.region || '-' || k.case_id) as cases from known as k)

select a.cases as singled_out, t.cases as looked_at
from alone as a
cross join looked_at as t
where a.cases * {{ parts[1] }} > t.cases * {{ parts[0] }}
{% endtest %}
