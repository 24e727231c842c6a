"""A quarter as assets of Dagster: ingested, released, audited, published.

``dagster dev -f srsql_quarters.py`` shows them. Settings are those of ``Srsql``, by default from
the environment. A quarter is a partition, named by the day on which it begins. A release depends on
the release of the quarter before, so that a backfill goes through a series in its order, and a run
of a single quarter fails where that one is missing.
"""

import os
from datetime import date
from pathlib import Path

import dagster as dg

import srsql

QUARTERS = dg.TimeWindowPartitionsDefinition(
    start=os.environ.get("SRSQL_FIRST", "2022-10-01"),
    fmt="%Y-%m-%d",
    cron_schedule="0 0 1 1,4,7,10 *",
)
BEFORE = dg.TimeWindowPartitionMapping(
    start_offset=-1, end_offset=-1, allow_nonexistent_upstream_partitions=True
)


class Srsql(dg.ConfigurableResource):
    """Where things are, and what a release is made with."""

    warehouse: str = os.environ.get("SRSQL_DB", "srsql.duckdb")
    sources: str = os.environ.get("SRSQL_SOURCES", "quarters")
    published: str = os.environ.get("SRSQL_PUBLISHED", "published")
    k: int = 5
    theta: str = "frequency"
    audit_k: int | None = None
    """What the audit judges by; None: what the releases promise."""

    def open(self) -> srsql.Engine:
        """The warehouse, which one process writes: others wait for it."""
        return srsql.Engine(self.warehouse, wait=3600)

    def archive(self, quarter: str) -> Path:
        """The regulator's file of a quarter."""
        ending = f"_ascii_{quarter}.zip".lower()
        found = [p for p in Path(self.sources).iterdir() if p.name.lower().endswith(ending)]
        if len(found) != 1:
            raise dg.Failure(
                f"{self.sources} has {len(found)} files that end with {ending}", allow_retries=False
            )
        return found[0]


def quarter_of(context: dg.AssetExecutionContext) -> str:
    """The partition as srsql calls it, such as 2022Q4."""
    begins = date.fromisoformat(context.partition_key)
    return f"{begins.year}Q{(begins.month + 2) // 3}"


def need_no_gap(engine: srsql.Engine, quarter: str) -> None:
    """Fail where the quarter before is not released: afterwards srsql would refuse it."""
    year, number = int(quarter[:4]), int(quarter[5])
    before = f"{year}Q{number - 1}" if number > 1 else f"{year - 1}Q4"
    rows = engine.status().releases
    out = [row["quarter"] for row in rows if (row["series"], row["status"]) == ("main", "released")]
    if out and max(out) < before:
        raise dg.Failure(
            f"the series ends with {max(out)}: release {before} before {quarter}",
            allow_retries=False,
        )


@dg.asset(partitions_def=QUARTERS, group_name="srsql", kinds={"duckdb"})
def raw_quarter(context: dg.AssetExecutionContext, settings: Srsql) -> dg.MaterializeResult:
    """The quarter's reports in the warehouse, every line of the files accounted for."""
    quarter = quarter_of(context)
    with settings.open() as engine:
        (loaded,) = engine.ingest([settings.archive(quarter)], if_needed=True)
    told = {"quarter": quarter, "status": loaded.status}
    rejected = sum(file.rejected for file in loaded.files)
    return dg.MaterializeResult(metadata=told | {"rejected": rejected})


@dg.asset(
    partitions_def=QUARTERS,
    group_name="srsql",
    kinds={"duckdb"},
    deps=[raw_quarter, dg.AssetDep("release", partition_mapping=BEFORE)],
)
def release(context: dg.AssetExecutionContext, settings: Srsql) -> dg.MaterializeResult:
    """The quarter as views without identities: checked from its own rows, or rolled back."""
    quarter = quarter_of(context)
    with settings.open() as engine:
        need_no_gap(engine, quarter)
        engine.release.make(quarter, k=settings.k, theta=settings.theta, if_needed=True)
        measures = {(row.measure, row.scope): row for row in engine.audit.metrics(quarter)}
    alone = measures["one_candidate", "2 of the drugs or terms, worst"]
    return dg.MaterializeResult(
        metadata={
            "quarter": quarter,
            "information lost (NIL)": measures["nil", "release"].ratio,
            "cases withheld": measures["withheld", "cases"].violating,
            "singled out by the region and two items": alone.ratio,
        }
    )


@dg.asset_check(asset=release, blocking=True)
def audit(settings: Srsql) -> dg.AssetCheckResult:
    """Every case of every release attacked; nothing is published of a series that is not safe."""
    with settings.open() as engine:
        found = engine.audit.run(k=settings.audit_k)
    return dg.AssetCheckResult(passed=found.safe, description=found.verdict)


@dg.asset(partitions_def=QUARTERS, group_name="srsql", deps=[release])
def artifact(context: dg.AssetExecutionContext, settings: Srsql) -> dg.MaterializeResult:
    """The folder that leaves the house, verified as anybody can."""
    quarter = quarter_of(context)
    folder = Path(settings.published, quarter)
    with settings.open() as engine:
        found = engine.audit.run(k=settings.audit_k)  # the check is not run with this asset alone
        if not found.safe:
            raise dg.Failure(found.verdict, allow_retries=False)
        engine.artifact.publish(quarter, folder, if_needed=True)
    verified = srsql.verify(folder)
    if not verified.passed:
        raise dg.Failure("; ".join(verified.failures), allow_retries=False)
    return dg.MaterializeResult(
        metadata={"folder": dg.MetadataValue.path(str(folder)), "checks": len(verified.checks)}
    )


quarterly = dg.define_asset_job("quarterly", [raw_quarter, release, artifact])


@dg.schedule(job=quarterly, cron_schedule="0 2 15 2,5,8,11 *")
def six_weeks_after(context: dg.ScheduleEvaluationContext) -> dg.RunRequest:
    """The last quarter that ended: the regulator has published it by then."""
    day = context.scheduled_execution_time
    year, month = (day.year, day.month - 3) if day.month > 3 else (day.year - 1, day.month + 9)
    return dg.RunRequest(partition_key=f"{year}-{month - (month - 1) % 3:02}-01")


defs = dg.Definitions(
    assets=[raw_quarter, release, artifact],
    asset_checks=[audit],
    jobs=[quarterly],
    schedules=[six_weeks_after],
    resources={"settings": Srsql()},
    executor=dg.in_process_executor,  # one process writes a warehouse
)
