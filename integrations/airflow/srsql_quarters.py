"""A quarter as a DAG of Airflow: ingested, released, audited, published, verified.

Tasks are commands of srsql, which is in an environment of its own: SRSQL_COMMAND names it.
Where things are is told by SRSQL_DB, SRSQL_SOURCES (the regulator's files) and SRSQL_PUBLISHED.
"""

import json
import os
import shlex
import subprocess
from datetime import datetime

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG, Param, chain, task

SRSQL = os.environ.get("SRSQL_COMMAND", "srsql")
SOURCES = os.environ.get("SRSQL_SOURCES", "/srv/faers")
PUBLISHED = os.environ.get("SRSQL_PUBLISHED", "/srv/published")
CHOSEN = "(params.quarter or quarter_before(dag_run.run_after))"
QUARTER = f"{{{{ {CHOSEN} }}}}"
FILES = f"*_{{{{ {CHOSEN} | replace('Q', '[Qq]') }}}}.zip"


def quarter_before(day: datetime) -> str:
    """The last quarter that ended before the day, such as 2022Q4 in February 2023."""
    year, quarter = (day.year, (day.month - 1) // 3) if day.month > 3 else (day.year - 1, 4)
    return f"{year}Q{quarter}"


@task(retries=0)
def need_no_gap(quarter: str) -> None:
    """Fail where the quarter before is not released: afterwards srsql would refuse it."""
    status = [*shlex.split(SRSQL), "status", "--json", "--wait", "3600"]
    told = json.loads(subprocess.run(status, check=True, stdout=subprocess.PIPE).stdout)
    rows = told["releases"]
    out = [row["quarter"] for row in rows if (row["series"], row["status"]) == ("main", "released")]
    before = quarter_before(datetime(int(quarter[:4]), 3 * int(quarter[5]), 1))
    if out and max(out) < before:
        raise ValueError(f"the series ends with {max(out)}: release {before} before {quarter}")


COMMANDS = {
    "ingest": f"ingest --if-needed '{SOURCES}'/{FILES}",
    "release": f"release --if-needed --quarter {QUARTER} --k {{{{ params.k }}}}",
    "audit": "audit {{ '--k ' ~ params.audit_k if params.audit_k else '' }}",
    "publish": f"publish --if-needed --quarter {QUARTER} --to '{PUBLISHED}/{QUARTER}'",
    "verify": f"verify '{PUBLISHED}/{QUARTER}'",
}
"""``--if-needed``: a task that is cleared and run again finds its work done."""
WITHOUT_A_WAREHOUSE = {"verify"}

with DAG(
    "srsql_quarter",
    schedule="0 2 15 2,5,8,11 *",  # six weeks after a quarter ended
    start_date=datetime(2022, 1, 1),
    catchup=False,
    max_active_runs=1,  # the quarters of a series are released in their order
    params={
        "quarter": Param(
            "",
            type="string",
            pattern=r"^(\d{4}Q[1-4])?$",  # it becomes a word of a command
            description="such as 2022Q4; empty: the last that ended",
        ),
        "k": Param(5, type="integer", minimum=2),
        "audit_k": Param(None, type=["null", "integer"], description="empty: what was promised"),
    },
    user_defined_macros={"quarter_before": quarter_before},
    doc_md=__doc__,
) as dag:
    ingest, *others = (
        BashOperator(
            task_id=name,
            # a task ends with the exit code of srsql; --wait stands for retries, since what is
            # refused, infeasible or unsafe is so the next time as well
            bash_command=f"{SRSQL} {words}"
            + ("" if name in WITHOUT_A_WAREHOUSE else " --wait 3600"),
            append_env=True,
            retries=0,
        )
        for name, words in COMMANDS.items()
    )
    chain(ingest, need_no_gap(QUARTER), *others)

if __name__ == "__main__":
    dag.test()
