-- Cases of each drug, for a page that shows nothing of single cases.
select
    r.quarter,
    {{ srsql.srsql_term('r.drugname') }} as drug,
    count(distinct r.caseid) as cases
from {{ source('artifact', 'drug') }} as r
group by r.quarter, {{ srsql.srsql_term('r.drugname') }}
having count(distinct r.caseid) >= {{ var('k', 5) }}
