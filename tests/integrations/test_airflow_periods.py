"""The recipe for Airflow takes periods of every kind; Airflow itself is stood in for.

What it runs, Airflow runs in ``test_airflow.py``; here are its words, days and schedules alone.
"""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import jinja2
import pytest

from srsql.engine.catalog.periods import days_of

RECIPE = Path(__file__).parents[2] / "integrations" / "airflow" / "srsql_quarters.py"
LENGTHS = {"quarter": 92, "month": 31, "week": 7, "day": 1}
EXAMPLES = {"quarter": "2022Q4", "month": "2026-02", "week": "2026W07", "day": "2026-02-13"}
WRONG = ("2011Q5", "2026-13", "2026W54", "2026W00", "2026-02-32", "2026-00-01", "2026W7")
HOSTILE = ("{}; touch hurt", "$(touch hurt)", "{0}:{0}", "{}\n", " {}")


class Dag:
    """Keeps what a DAG is made with."""

    def __init__(self, name: str, **told: Any) -> None:
        self.name, self.told = name, told

    def __enter__(self) -> Dag:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class Task:
    """A task of Python: called, it stands in the DAG, and its function is run later."""

    def __init__(self, function: Callable[..., None]) -> None:
        self.function = function

    def __call__(self, *_: object) -> None:
        pass


Loaded = Callable[[str], Any]


@pytest.fixture
def recipe(monkeypatch: pytest.MonkeyPatch) -> Loaded:
    """The recipe for periods of a kind, with operators that keep what they are made with."""
    parts: dict[str, dict[str, Any]] = {
        "airflow": {},
        "airflow.providers.standard.operators.bash": {"BashOperator": SimpleNamespace},
        "airflow.sdk": {
            "DAG": Dag,
            "Param": lambda default, **told: SimpleNamespace(default=default, **told),
            "chain": lambda *tasks: None,
            "task": lambda **_: Task,
        },
    }
    for name, members in parts.items():
        module = ModuleType(name)
        module.__dict__.update(members)
        monkeypatch.setitem(sys.modules, name, module)

    def loaded(kind: str) -> Any:
        monkeypatch.setenv("SRSQL_PERIOD", kind)
        monkeypatch.setenv("SRSQL_COMMAND", "srsql")
        monkeypatch.setattr(sys, "dont_write_bytecode", True)
        spec = importlib.util.spec_from_file_location(f"recipe_{kind}", RECIPE)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return loaded


@pytest.mark.parametrize("kind", LENGTHS)
def test_a_run_takes_the_last_period_that_ended(recipe: Loaded, kind: str) -> None:
    module = recipe(kind)
    for number in range(0, 3000, 1 if kind in ("week", "day") else 7):
        day = date(2019, 12, 20) + timedelta(days=number)
        label = module.period_before(datetime(day.year, day.month, day.day, 2, tzinfo=UTC))
        days = days_of(label)
        assert days is not None, label
        first, last = map(date.fromisoformat, days)
        assert last < day <= last + timedelta(days=LENGTHS[kind])
        assert re.fullmatch(module.LABEL, label)
        assert module.first_day(label) == first


@pytest.mark.parametrize("kind", LENGTHS)
def test_nothing_but_a_period_of_the_kind_becomes_a_word_of_a_command(
    recipe: Loaded, kind: str
) -> None:
    pattern = re.compile(recipe(kind).dag.told["params"]["period"].pattern.replace("$", r"\Z"))
    own = EXAMPLES[kind]
    assert pattern.search(own)
    assert pattern.search("")
    others = [label for name, label in EXAMPLES.items() if name != kind]
    for wrong in (*others, *WRONG, *(text.format(own) for text in HOSTILE)):
        assert not pattern.search(wrong), wrong


@pytest.mark.parametrize("kind", LENGTHS)
def test_commands_name_the_period_and_its_files(recipe: Loaded, kind: str) -> None:
    module, label = recipe(kind), EXAMPLES[kind]
    asked = {
        "params": {"period": label, "k": 5, "audit_k": None},
        "dag_run": SimpleNamespace(run_after=datetime(2026, 3, 1, tzinfo=UTC)),
        "period_before": module.period_before,
    }
    words = {
        name: shlex.split(jinja2.Template(text).render(asked))
        for name, text in module.COMMANDS.items()
    }
    files = f"/srv/faers/*_{label.replace('Q', '[Qq]').replace('W', '[Ww]')}.zip"
    assert words["ingest"] == ["ingest", "--if-needed", "--period", label, files]
    assert words["release"] == ["release", "--if-needed", "--period", label, "--k", "5"]
    assert words["publish"][2:] == ["--period", label, "--to", f"/srv/published/{label}"]
    assert words["verify"] == ["verify", f"/srv/published/{label}"]
    asked["params"]["period"] = ""
    before = module.period_before(date(2026, 3, 1))
    assert before in jinja2.Template(module.COMMANDS["release"]).render(asked).split()


@pytest.mark.parametrize(
    ("kind", "out", "period", "missing"),
    [
        ("week", "2025W52", "2026W02", "2026W01"),
        ("week", "2020W52", "2021W01", "2020W53"),
        ("week", "2026W06", "2026W07", None),
        ("month", "2025-11", "2026-01", "2025-12"),
        ("day", "2026-02-27", "2026-03-01", "2026-02-28"),
        ("quarter", "2022Q4", "2023Q1", None),
        ("quarter", "2022Q3", "2023Q1", "2022Q4"),
    ],
)
def test_a_period_after_a_gap_is_refused(
    recipe: Loaded, monkeypatch: pytest.MonkeyPatch, kind: str, out: str, period: str,
    missing: str | None,
) -> None:  # fmt: skip
    module = recipe(kind)
    rows = [{"series": "main", "status": "released", "quarter": out}]
    told = SimpleNamespace(stdout=json.dumps({"releases": rows}))
    monkeypatch.setattr(module.subprocess, "run", lambda *_, **__: told)
    if missing is None:
        module.need_no_gap.function(period)
        return
    with pytest.raises(ValueError, match=f"ends with {out}: release {missing} before {period}"):
        module.need_no_gap.function(period)


def test_each_kind_has_a_dag_of_its_own_and_another_one_is_no_kind(recipe: Loaded) -> None:
    dags = [recipe(kind).dag for kind in LENGTHS]
    assert [dag.name for dag in dags] == [f"srsql_{kind}" for kind in LENGTHS]
    assert len({dag.told["schedule"] for dag in dags}) == len(LENGTHS)
    with pytest.raises(KeyError, match="fortnight"):
        recipe("fortnight")
