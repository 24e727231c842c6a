-- A table that an analyst makes of a release: whoever cuts rows away cuts cases away from regions.
select d.quarter, d.primaryid, d.caseid, d.age_low, d.age_high, d.wt_low, d.wt_high, d.sex
from {{ source('artifact', 'demo') }} as d
where d.sex = 'F'
