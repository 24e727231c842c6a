"""The scenarios: which data, which release, and the questions that are then asked of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

WAREHOUSE = "warehouse.duckdb"
LEVELS = "value,theta\nAmyotrophic lateral sclerosis,1\n*,0.5\n"
"""Every case of the cohort has its indication, so that any other threshold is infeasible."""
FIRST, LAST = "2014Q1", "2018Q1"
PERIODICAL = ("ms", "ppms", "ppms-ear", "ppms++", "ppms-alpha")
QUESTIONS = (
    "SELECT COUNT(DISTINCT caseid) FROM demo WHERE age BETWEEN 40 AND 60",
    "SELECT sex, COUNT(DISTINCT caseid) FROM demo WHERE wt > 70 GROUP BY sex",
    "SELECT pt, COUNT(DISTINCT demo.caseid) FROM demo JOIN reac USING (primaryid)"
    " WHERE age < 50 GROUP BY pt",
)


@dataclass(frozen=True)
class Draws:
    """What a model draws from the secure generator, whatever the seed."""

    reason: str
    tables: tuple[str, ...]
    """Released tables whose order, or whose drawn numbers, no two runs have in common."""
    read: tuple[str, ...] = ()
    """Other tables that are needed to compare these."""
    clusters: bool = False
    """Whether the numbers of the clusters are drawn as well."""


SUBRECORDS = Draws(
    "the order of subrecords is drawn securely, and the reconstructed records follow it: chunks are"
    " compared as multisets of subrecords, reconstructed records as multisets of the terms of a"
    " cluster, or of its joint cluster",
    ("record_chunk", "shared_chunk", "reconstructed"),
    read=("joint_clusters",),
)
CLUSTERS = Draws(
    "the numbers of clusters and the order of subrecords are drawn securely: clusters are compared"
    " by their contents, chunks as multisets of subrecords, reconstructed records as multisets of"
    " terms of a cluster",
    ("clusters", "item_chunk", "record_chunk", "shared_chunk", "joint_clusters", "reconstructed"),
    clusters=True,
)
ROWS = Draws(
    "the one symptom of a report that its row tells, and the order of the rows, are drawn securely:"
    " rows are compared as a multiset without it",
    ("released_rows",),
)


@dataclass(frozen=True)
class Scenario:
    """One series of releases, made from files by commands."""

    name: str
    commands: tuple[tuple[str, ...], ...]
    """Arguments of srsql, run in a folder of their own, after the files were loaded."""
    source: str = ""
    """File or folder of the real data; empty: the scenario makes its own."""
    dataset: str = "faers"
    files: dict[str, str] = field(default_factory=dict)
    """Small files that the commands read."""
    draws: Draws | None = None
    warehouse: str = WAREHOUSE

    @property
    def artifacts(self) -> list[str]:
        """Folders that the commands publish to."""
        return [c[c.index("--to") + 1] for c in self.commands if "--to" in c]

    def sources(self, real_data: Path) -> Path:
        """Where its files are."""
        return real_data / self.source


def _asked(quarters: tuple[str, ...], dataset: str = "faers", formats: str = "csv") -> list[str]:
    """Command lines, as text with | between arguments, of everything that is asked of a series."""
    ends = f"|--dataset|{dataset}|--db|{WAREHOUSE}|--json"
    lines = [f"metrics|--quarter|{quarter}{ends}" for quarter in quarters]
    lines += [f"audit{ends}", f"signals|--all{ends}"]
    lines += [f"query|{question}{ends}" for question in QUESTIONS]
    lines.append(f"status|--db|{WAREHOUSE}|--json")
    for form in formats.split(","):
        to = f"artifact-{form}"
        lines.append(f"publish|--quarter|{quarters[-1]}|--format|{form}|--to|{to}{ends}")
        lines.append(f"verify|{to}|--json")
    return lines


def _split(lines: list[str]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(line.split("|")) for line in lines)


def _quarter(name: str, options: str, draws: Draws | None = None) -> Scenario:
    """The real quarter 2022Q4."""
    release = f"release|--quarter|2022Q4|--seed|1|{options}|--db|{WAREHOUSE}|--json"
    asked = _asked(("2022Q4",), formats="parquet,csv")
    source = "faers/faers_ascii_2022Q4.zip"
    return Scenario(f"2022q4-{name}", _split([release, *asked]), source, draws=draws)


def _als(model: str) -> Scenario:
    """The real cohort over seventeen quarters; the quarters around them are loaded as well."""
    release = (
        f"release|--quarter|{FIRST}:{LAST}|--model|{model}|--k|3|--theta|levels:levels.csv"
        f"|--on-infeasible|withhold|--seed|1|--db|{WAREHOUSE}|--json"
    )
    asked = _asked((FIRST, "2016Q2", LAST))
    return Scenario(
        f"als-{model}", _split([release, *asked]), "faers_als", files={"levels.csv": LEVELS}
    )


def _vaers(name: str, options: str, draws: Draws | None = None) -> Scenario:
    release = f"release|--dataset|vaers|--quarter|2004|--seed|1|{options}|--db|{WAREHOUSE}|--json"
    source = "vaers/2004VAERSData.zip"
    asked = _asked(("2004",), "vaers")
    return Scenario(f"vaers-{name}", _split([release, *asked]), source, "vaers", draws=draws)


def _demo() -> Scenario:
    quarters = tuple(f"2011Q{i}" for i in range(1, 5))
    place = "demo/demo.duckdb"
    asked = [line.replace(f"|{WAREHOUSE}", f"|{place}") for line in _asked(quarters)]
    return Scenario("demo", _split(["demo|demo|--json", *asked]), warehouse=place)


SCENARIOS = {
    scenario.name: scenario
    for scenario in (
        _demo(),
        _quarter("ms", "--model|ms"),
        _quarter("ppms++", "--model|ppms++"),
        _quarter("msdp-all", "--model|msdp-all|--noise|seeded"),
        _quarter("disassociation", "--model|disassociation", SUBRECORDS),
        _quarter("terms", "--model|ppms++|--terms|disassociate", CLUSTERS),
        *(_als(model) for model in PERIODICAL),
        _vaers("ipa", "--model|ipa|--noise|seeded"),
        _vaers("full-domain", "--model|full-domain", ROWS),
    )
}
