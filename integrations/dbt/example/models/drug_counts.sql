-- Cases of each drug, whatever its spelling, for a page that shows nothing of single cases.
{% set drug = srsql.srsql_value(source('artifact', 'drug'), 'r', 'drugname') %}
select
    r.quarter,
    {{ drug }} as drug,
    count(distinct r.caseid) as cases
from {{ source('artifact', 'drug') }} as r
group by r.quarter, {{ drug }}
having count(distinct r.caseid) >= {{ var('k', 5) }}
