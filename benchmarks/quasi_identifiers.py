"""What more quasi-identifiers cost: loss, withheld cases and seconds on one real quarter.

Three are those of the dataset faers, eight those of faers_wide; further ones are columns of the
same files, some of them derived. Every setting is a series of its own.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

from srsql import Engine
from srsql.engine.extras.study.row_settings import CRITERIA, kept_pairs

FLAT = {
    "kinds": ("I", "F"),
    "answers": ("Y", "N"),
    "age_codes": ("N", "I", "C", "T", "A", "E"),
    "serious": ("serious", "not serious"),
    "drugs": ("0-1", "2-4", "5-9", "10 or more"),
    "onset": ("before the start", "0-6 days", "7-29 days", "30-89 days", "90-364 days",
              "365 days or more"),
}  # fmt: skip
"""Hierarchies of one level, by file."""
DERIVED = (
    ("event_quarter", "event_dt", "quarter"),
    ("reported_quarter", "rept_dt", "quarter"),
    ("made_year", "mfr_dt", "year"),
)
"""Name, date and step of periods that faers_wide has not."""
NODE, NUMBER = "categorical", "numeric"
FURTHER = (
    ("version_kind", "i_f_code", NODE, "kinds.csv"),
    ("age_group", "age_grp", NODE, "age_codes.csv"),
    ("electronic", "e_sub", NODE, "answers.csv"),
    ("to_maker", "to_mfr", NODE, "answers.csv"),
    ("reporter", "reporter_country", NODE, "hierarchies/countries.csv"),
    ("since", "onset", NODE, "onset.csv"),
    ("grave", "serious", NODE, "serious.csv"),
    ("many", "drugs", NODE, "drugs.csv"),
    ("event_season", "event_quarter", NODE, "hierarchies/quarters.csv"),
    ("told", "reported_quarter", NODE, "hierarchies/quarters.csv"),
    ("made", "made_year", NUMBER, "[1970, 2039]"),
    ("edition", "caseversion", NUMBER, "[0, 200]"),
)
"""Name, column, kind, and hierarchy or domain of the quasi-identifiers from the ninth on."""
SERIES = "k{k}"
SETS = {
    "clinic": ("age", "sex", "wt"),
    "work": ("country", "occupation", "age", "report_type", "event", "received"),
}
"""Sets of the eight quasi-identifiers of faers_wide, each of which an attacker knows."""
MODEL_OF_SETS = "ms"


def dataset_of(folder: Path, count: int) -> str:
    """The dataset with so many quasi-identifiers: its name, or the file that is written."""
    if count in (3, 8):
        return {3: "faers", 8: "faers_wide"}[count]
    if not 8 < count <= 8 + len(FURTHER):
        raise SystemExit(f"--qids {count}: give 3, 8, or up to {8 + len(FURTHER)}")
    text = (resources.files("srsql.schemas") / "faers_wide.toml").read_text(encoding="utf-8")
    for name, labels in FLAT.items():
        rows = "".join(f"{label},Any\n" for label in labels)
        (folder / f"{name}.csv").write_text(f"node,parent\nAny,\n{rows}", encoding="utf-8")
    derived = "".join(
        f'[[derived]]\nname = "{name}"\nrule = "period"\nsource = "demo.{date}"\n'
        f'step = "{step}"\nclaim = "sources withheld"\n\n'
        for name, date, step in DERIVED
    )
    qids = "".join(
        f'[[qid]]\nname = "{name}"\nkind = "{kind}"\ncolumn = "{column}"\n'
        + (f'hierarchy = "{shape}"\n\n' if kind == NODE else f"domain = {shape}\n\n")
        for name, column, kind, shape in FURTHER[: count - 8]
    )
    text = text.replace('name = "faers_wide"', f'name = "faers_{count}"', 1)
    text = text.replace('[[qid]]\nname = "age"', derived + '[[qid]]\nname = "age"', 1)
    text = text.replace("[[sensitive]]", qids + "[[sensitive]]", 1)
    (folder / f"faers_{count}.toml").write_text(text, encoding="utf-8")
    return str(folder / f"faers_{count}.toml")


def dataset_of_sets(folder: Path) -> str:
    """The file with the eight quasi-identifiers of faers_wide in sets."""
    schemas = resources.files("srsql.schemas")
    text = (schemas / "faers_wide.toml").read_text(encoding="utf-8")
    sets = "".join(
        f'[[qid_set]]\nname = "{name}"\nqids = {list(qids)}\n\n' for name, qids in SETS.items()
    )
    text = text.replace('name = "faers_wide"', 'name = "faers_sets"', 1)
    (folder / "faers_sets.toml").write_text(
        text.replace("[[sensitive]]", f"{sets}[[sensitive]]", 1), encoding="utf-8"
    )
    return str(folder / "faers_sets.toml")


def compare_sets(source: Path, quarter: str, all_k: Sequence[int]) -> None:
    """Print what the sets cost, beside all eight quasi-identifiers at once, by the same model."""
    print(
        "| quasi-identifiers | k | NIL | withheld | given up | regions | below k by all | alone by "
        "all | s of processor |"
    )
    print("| ---: " * 9 + "|")
    with TemporaryDirectory() as name, Engine(Path(name) / "w.duckdb") as engine:
        for kind, dataset in (("at once", "faers_wide"), ("by set", dataset_of_sets(Path(name)))):
            engine.ingest([source], dataset=dataset)
            for k in all_k:
                start = process_time()
                told = engine.release.make(
                    quarter, k=k, seed=1, model=MODEL_OF_SETS, series=SERIES.format(k=k),
                    dataset=Path(dataset).stem, allow_linkable=True,
                ).manifest  # fmt: skip
                spent = process_time() - start
                metrics = told["metrics"]
                below, alone = (
                    f"{metrics[name]:.1%}" if name in metrics else ""
                    for name in ("union_below_k (region of all sets)",
                                 "union_one_candidate (region of all sets)")
                )  # fmt: skip
                cells = (
                    kind, k, f"{metrics['nil (release)']:.4f}", told["cases"]["withheld"],
                    sum(told["values_given_up"].values()), f"{told['groups']:,}", below, alone,
                    f"{spent:.1f}",
                )  # fmt: skip
                print(f"| {' | '.join(map(str, cells))} |", flush=True)


def kept_signals(engine: Engine, quarter: str, series: str) -> str:
    """Of the pairs that meet each criterion on originals, those that do on released cases: of all
    cases, and of those of women from 65 years on."""
    cells = []
    for condition in ({}, {"sex": "F", "min_age": 65}):
        found = engine.signals.find(
            every_pair=True, quarter=quarter, series=series, roles=["all"], **condition
        ).signals
        for criterion in CRITERIA:
            each = kept_pairs(found, criterion)
            cells.append(f"{each.kept:,} of {each.before:,}, {each.others:,} others")
    return " | ".join(cells)


def measure(engine: Engine, quarter: str, count: int, k: int, *, signals: bool) -> str:
    """Release the quarter, audit the series, measure it, ask a question: one row of the table."""
    series = SERIES.format(k=k)
    made = engine.release.make(quarter, k=k, seed=1, series=series, allow_linkable=True)
    taken = []
    for call in (
        lambda: engine.audit.run(series=series),
        lambda: engine.audit.metrics(quarter, series=series),
        lambda: engine.query.ask(
            "SELECT count(DISTINCT caseid) FROM demo WHERE age > 60 AND sex = 'F'",
            quarter=quarter, series=series,
        ),
    ):  # fmt: skip
        start = perf_counter()
        call()
        taken.append(perf_counter() - start)
    told, spent = made.manifest, made.seconds
    loss = next(value for name, value in told["metrics"].items() if name.startswith("nil"))
    given_up = sum(told["values_given_up"].values())
    seconds = (sum(spent.values()), spent["grouping"], spent["checks"], spent["audit"], *taken)
    cells = " | ".join(f"{each:.1f}" for each in seconds)
    return (
        f"| {count} | {k} | {loss:.4f} | {told['cases']['withheld']} | {given_up} | "
        f"{told['groups']:,} | {cells} |"
        + (f" {kept_signals(engine, quarter, series)} |" if signals else "")
    )


def command(arguments: Sequence[str]) -> None:
    """Print the table; see ``--help``."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks quasi_identifiers", description=__doc__
    )
    parser.add_argument("--source", required=True, type=Path, help="zip of a quarter of FAERS")
    parser.add_argument("--quarter", required=True)
    parser.add_argument("--qids", default="3,8,12,20")
    parser.add_argument("--k", default="5,10")
    parser.add_argument(
        "--sets", action="store_true", help="eight quasi-identifiers by set, and at once"
    )
    parser.add_argument(
        "--signals", action="store_true", help="the signals that are kept, by MHRA and EB05"
    )
    asked = parser.parse_args(arguments)
    if asked.sets:
        compare_sets(asked.source, asked.quarter, list(map(int, asked.k.split(","))))
        return
    kept = "MHRA kept | EB05 kept | MHRA, women from 65 | EB05, women from 65 |"
    more = f" {kept}" if asked.signals else ""
    print(
        "| qids | k | NIL | withheld | given up | groups | release (s) | grouping | checks | "
        f"audit in it | audit in full | metrics | query |{more}"
    )
    print("| ---: " * (17 if asked.signals else 13) + "|")
    for count in map(int, asked.qids.split(",")):
        with TemporaryDirectory() as name:
            dataset = dataset_of(Path(name), count)
            with Engine(Path(name) / "w.duckdb") as engine:
                engine.ingest([asked.source], dataset=dataset, allow_incomplete=True)
                for k in map(int, asked.k.split(",")):
                    told = measure(engine, asked.quarter, count, k, signals=asked.signals)
                    print(told, flush=True)
