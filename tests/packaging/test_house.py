"""The measures of the house are what they say, and a newcomer finds things where they should be."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
QUESTIONS = {
    "Where is L computed?": {"sql_macros/audit/exclusion.sql": r"MACRO srsql\.exclusion_l\("},
    "Where is the argmin of ΔIL′?": {
        "udfs/grouping/least_loss_search.py": r"^def least_loss_case\("
    },
    "What happens in a release, in order?": {"engine/release/stages/registry.py": r"^STAGES: "},
    "What goes with what, and what does a feature touch?": {
        "engine/release/features/table.py": r"^FEATURES: "
    },
    "How do I add a model with one parameter?": {
        "engine/models/comparators.py": r"^class AlphaK\(",
        "engine/models/__init__.py": r"^MODELS: ",
    },
    "Which checks run, what does each prove?": {"engine/checks/registry.py": r"^CHECKS: "},
    "Where is k verified?": {
        "sql_macros/checks/released_rows.sql": r"MACRO srsql\.check_k\(",
        "sql_macros/artifact/queries/row_checks.sql": r"^-- name: k$",
    },
    "Where is a released count bounded when a region straddles a limit?": {
        "engine/query/count_bounds.py": r"^def compose_count_bounds\(",
    },
    "Where does a case that waited enter the next period?": {
        "engine/catalog/waiting.py": r"^def with_waiting\(",
        "engine/release/stages/opening.py": r"^def open_release\(",
    },
    "Where is an unclosed quote rejected?": {
        "sql_macros/ingest/steps/quoted_lines.sql": r"TEMP TABLE srsql_quoted_line ",
    },
    "Which stage decides what is withheld?": {
        "engine/grouping/patterns.py": r"^FOR_WANT_OF_A_GROUP = ",
        "engine/grouping/feasibility.py": r"^def drop_withheld\(",
    },
    "What is a published column of a whole-row release?": {
        "engine/release/views.py": r"^def _cluster_rows\(",
        "engine/catalog/layout.py": r"^COLUMNS = \{\n    CLUSTERS:",
    },
    "What may not be combined with --max-delay?": {
        "engine/release/features/hold_back.py": r"^HOLD_BACK = ",
    },
    "Where is the ledger charged?": {
        "engine/grouping/perturbation.py": r"^def charge_quarter\(",
    },
    "Which file says that ppms-stay withstands P?": {
        "engine/models/bounding.py": r"^class PpmsStay\(",
    },
    "How does forget know the tables that hold a case?": {
        "engine/catalog/layout.py": r"^NAMES_CASES: ",
        "engine/steward/forget.py": r"^ERASURES = ",
    },
    "Where does the page get its bounds of models?": {
        "engine/models/base.py": r"^class ClaimedBounds:",
    },
}
"""Question -> file -> the definition that answers it, which stands in that file alone."""
GUIDES = ("docs/architecture.md", "CONTRIBUTING.md")


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_newcomers_question_is_answered_in_two_files_at_most_that_the_guides_name(
    question: str,
) -> None:
    guides = " ".join((ROOT / guide).read_text("utf-8") for guide in GUIDES)
    answers = QUESTIONS[question]
    assert len(answers) <= 2
    for file, definition in answers.items():
        suffix = Path(file).suffix
        folder = ROOT / Path(file).parts[0]
        found = [
            path.relative_to(ROOT).as_posix()
            for path in folder.rglob(f"*{suffix}")
            if re.search(definition, path.read_text("utf-8"), re.MULTILINE)
        ]
        assert found == [file]
        assert file in guides or Path(file).name in guides


@pytest.mark.parametrize("guide", GUIDES)
def test_every_file_that_a_guide_names_is_there(guide: str) -> None:
    text = (ROOT / guide).read_text("utf-8")
    named = set(re.findall(r"`((?:[\w.-]+/)+[\w-]+[.](?:py|sql|js|toml|md))`", text))
    tops = (ROOT, ROOT / "engine", ROOT / "engine/release/stages")
    missing = {name for name in named if not any((top / name).is_file() for top in tops)}
    assert len(named) > 10
    assert not missing


def made(root: Path, **files: str) -> None:
    """A checkout of a few files; a double underscore of a name is a folder."""
    for name, text in files.items():
        path = root / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        for folder in path.relative_to(root).parents:
            if folder != Path("."):
                (root / folder / "__init__.py").touch()


HOUSE = """
import ast, sys
sys.path.insert(0, sys.argv[1])
import house
from pathlib import Path
root = Path(sys.argv[2])
files = {house.module_name(root, path): path for path in house.python_files(root)}
trees = {name: ast.parse(path.read_text()) for name, path in files.items()}
modules = {n: house.imported(n, files[n], t, files.keys()) for n, t in trees.items()}
texts = {p.relative_to(root).as_posix(): p.read_text()
         for p in [*files.values(), *house.sql_files(root)]}
told = [
    *house.amounts(texts, trees, {n: p for n, p in files.items() if n != "srsql"}),
    *house._way(trees, modules, files),
    house._conditions("kinds", trees, files, root), *house._features(texts),
]
print({measure.name: measure.value for measure in told})
"""


def test_measures_of_a_small_house_are_those_counted_by_hand(tmp_path: Path) -> None:
    made(
        tmp_path,
        engine__errors="class Wrong(Exception):\n    '''Text.\n\n    More.\n    '''\n",
        engine__low__tools=(
            "from srsql.engine.errors import Wrong\n\n\ndef low(asked):\n"
            "    # a person, said in a comment\n    return asked.sets if asked.whole_rows else 1\n"
        ),
        engine__release__stages__kept=(
            "def run(a):\n    if a.whole_rows:\n        return 2\n\n\nKEPT = Stage('kept', run)\n"
        ),
        engine__release__stages__registry=(
            "from srsql.engine.release.stages.kept import KEPT\n\nSTAGES = (KEPT,)\n"
        ),
        engine__release__release=(
            "from srsql.engine.low.tools import low\n"
            "from srsql.engine.release.stages.registry import STAGES\n\n\n"
            "def release(warehouse, request):\n    wanted = request.part\n    low(warehouse)\n"
            "    low(wanted)\n    for stage in STAGES:\n        stage.run(wanted)\n"
            "    return [1 for _ in () if request.clustered]\n"
        ),
    )
    (tmp_path / "sql_macros").mkdir()
    (tmp_path / "sql_macros" / "one.sql").write_text("-- What: none\nSELECT 1; -- one\n\n")
    for folder in ("schemas", "udfs"):
        (tmp_path / folder).mkdir()
    done = subprocess.run(
        [sys.executable, "-c", HOUSE, str(ROOT / ".ci"), str(tmp_path)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert ast.literal_eval(done.stdout) == {
        "extras-lines": 0, "python-lines": 31, "python-code": 19, "sql-lines": 3, "sql-code": 1,
        # release, low, release, and with the stage that the loop runs: run, release; the warehouse
        # is not followed
        "request-stops": 3, "request-rooms": 2, "request-climbs": 0,
        "stages-stops": 5, "stages-rooms": 3, "stages-climbs": 0,
        "kinds": 2, "files-of-persons": 1, "files-of-qid-sets": 0, "files-of-whole-rows": 2,
        "files-of-suppression": 0,
    }  # fmt: skip


@pytest.mark.thorough
def test_a_figure_above_its_budget_and_a_changed_formatter_are_told(tmp_path: Path) -> None:
    folder = tmp_path / ".ci"
    folder.mkdir()
    for name in ("house.py", "route.py"):
        (folder / name).write_bytes((ROOT / ".ci" / name).read_bytes())
    budgets = (ROOT / ".ci" / "budgets.toml").read_text()
    lowered = re.sub(r"(?m)^modules = \d+", "modules = 1", budgets)
    (folder / "budgets.toml").write_text(lowered.replace("line-length = 100", "line-length = 120"))
    done = subprocess.run(
        [sys.executable, str(folder / "house.py"), "--root", str(ROOT)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stdout.splitlines()[-2:] == [
        "above its budget: modules",
        "the formatter's settings are not those of budgets.toml",
    ]
