"""A period as a DAG of Airflow: ingested, released, audited, published, verified.

Tasks are commands of srsql, which is in an environment of its own: SRSQL_COMMAND names it.
Where things are is told by SRSQL_DB, SRSQL_SOURCES (the regulator's files) and SRSQL_PUBLISHED;
SRSQL_PERIOD says of what kind the periods are: quarter (the default), month, week or day.
"""

import json
import os
import shlex
import subprocess
from datetime import date, datetime, timedelta

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG, Param, chain, task

SRSQL = os.environ.get("SRSQL_COMMAND", "srsql")
SOURCES = os.environ.get("SRSQL_SOURCES", "/srv/faers")
PUBLISHED = os.environ.get("SRSQL_PUBLISHED", "/srv/published")
KIND = os.environ.get("SRSQL_PERIOD", "quarter")
MONTH = r"\d{4}-(0[1-9]|1[0-2])"
LABEL, SCHEDULE, EXAMPLE = {
    "quarter": (r"\d{4}Q[1-4]", "0 2 15 2,5,8,11 *", "2022Q4"),  # six weeks after it ended
    "month": (MONTH, "0 2 15 * *", "2026-02"),
    "week": (r"\d{4}W(0[1-9]|[1-4]\d|5[0-3])", "0 2 * * 3", "2026W07"),  # a Wednesday
    "day": (MONTH + r"-(0[1-9]|[12]\d|3[01])", "0 2 * * *", "2026-02-13"),
}[KIND]
CHOSEN = "(params.period or period_before(dag_run.run_after))"
PERIOD = f"{{{{ {CHOSEN} }}}}"
FILES = f"*_{{{{ {CHOSEN} | replace('Q', '[Qq]') | replace('W', '[Ww]') }}}}.zip"


def first_day(period: str) -> date:
    """Of a period, by its label."""
    year = int(period[:4])
    if KIND == "day":
        return date.fromisoformat(period)
    if KIND == "week":
        return date.fromisocalendar(year, int(period[5:]), 1)
    return date(year, 3 * int(period[5:]) - 2 if KIND == "quarter" else int(period[5:]), 1)


def period_before(day: date) -> str:
    """The last period that ended before the day, such as 2022Q4 in February 2023."""
    day = date(day.year, day.month, day.day)
    begun = {
        "quarter": date(day.year, day.month - (day.month - 1) % 3, 1),
        "month": day.replace(day=1),
        "week": day - timedelta(days=day.weekday()),
        "day": day,
    }[KIND]
    last = begun - timedelta(days=1)
    if KIND == "quarter":
        return f"{last.year}Q{(last.month + 2) // 3}"
    if KIND == "week":
        year, week, _ = last.isocalendar()
        return f"{year}W{week:02}"
    return last.isoformat()[: len(EXAMPLE)]


@task(retries=0)
def need_no_gap(period: str) -> None:
    """Fail where the period before is not released: afterwards srsql would refuse it."""
    status = [*shlex.split(SRSQL), "status", "--json", "--wait", "3600"]
    told = json.loads(subprocess.run(status, check=True, stdout=subprocess.PIPE).stdout)
    rows = told["releases"]
    out = [row["quarter"] for row in rows if (row["series"], row["status"]) == ("main", "released")]
    before = period_before(first_day(period))
    if out and max(out) < before:
        raise ValueError(f"the series ends with {max(out)}: release {before} before {period}")


COMMANDS = {
    "ingest": f"ingest --if-needed --period {PERIOD} '{SOURCES}'/{FILES}",
    "release": f"release --if-needed --period {PERIOD} --k {{{{ params.k }}}}",
    "audit": "audit {{ '--k ' ~ params.audit_k if params.audit_k else '' }}",
    "publish": f"publish --if-needed --period {PERIOD} --to '{PUBLISHED}/{PERIOD}'",
    "verify": f"verify '{PUBLISHED}/{PERIOD}'",
}
"""``--if-needed``: a task that is cleared and run again finds its work done."""
WITHOUT_A_WAREHOUSE = {"verify"}

with DAG(
    f"srsql_{KIND}",
    schedule=SCHEDULE,
    start_date=datetime(2022, 1, 1),
    catchup=False,
    max_active_runs=1,  # the periods of a series are released in their order
    params={
        "period": Param(
            "",
            type="string",
            pattern=f"^({LABEL})?$",  # it becomes a word of a command
            description=f"such as {EXAMPLE}; empty: the last that ended",
        ),
        "k": Param(5, type="integer", minimum=2),
        "audit_k": Param(None, type=["null", "integer"], description="empty: what was promised"),
    },
    user_defined_macros={"period_before": period_before},
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
    chain(ingest, need_no_gap(PERIOD), *others)

if __name__ == "__main__":
    dag.test()
