"""Measures the house, and holds the figures against ``budgets.toml``.

``python .ci/house.py`` prints the figures of this checkout and fails where one is above its budget,
``--verbose`` names everything that is counted, ``--root FOLDER`` measures another checkout. A
figure may fall, and its budget with it; it rises only with a numbered decision that says what was
given up for it. The files alone are read: nothing is imported or installed.

* A *floor* is a step of the longest chain of imports, once with every module as a node and once
  with every folder of ``engine`` as one (``udfs``, ``schemas`` and ``sql_macros`` are one each).
  Imports inside functions and those for type checkers count like any other. The modules of a
  circle stand on one floor.
* A *layer* is a line of the contract "engine" in pyproject.toml.
* *Code* is lines without blanks, comments and docstrings.
* A *condition on the kind* of a release is a test of an if, a while, a conditional expression or a
  comprehension that names one of ``KINDS``, outside ``SHAPES``. ``[reasons]`` of the budgets names
  every file that has one, and why.
* A *switch* is a class variable or property of the base model.
* A file *names a feature* where its pattern of ``FEATURES`` occurs in it, outside the feature's own
  room; Python and SQL count.
* The *way of a request* follows the parameter of ``engine/release/release.py`` (see ``route.py``):
  first as that file alone has it, then with every entry of the registry of stages entered in turn.
* A *temporary table* is a name that starts with ``srsql_`` and is created in SQL or named by a
  string of its own in Python; names of UDFs, schemas and databases are left out.
* A *word* of the docs is what ``words.py`` counts as one.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
import tokenize
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from route import Walker
from words import pages

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "srsql"
FOLDERS = ("engine", "schemas", "sql_macros", "udfs")
COMPILED = {"njit", "leaf", "jit", "vectorize", "guvectorize"}
FREE_OF_LIMITS = ("cli.py", "engine/api/", "engine/extras/study/study.py")
"""Where a function may have as many parameters as a person can give options."""
NO_TABLES = {"srsql_artifact", "srsql_copy", "srsql_data", "srsql_internal", "srsql_warehouse"}
MADE = re.compile(
    r"\bTEMP(?:ORARY)?\s+(?:TABLE|VIEW)\s+(?:IF\s+NOT\s+EXISTS\s+)?(?:temp\.main\.)?(srsql_\w+)",
    re.IGNORECASE,
)
NAME = re.compile(r"srsql_\w+")
SHOWN = 20
"""How much of what is above a limit is named."""

BUDGETS = Path(__file__).with_name("budgets.toml")
KINDS = {
    "bounded",
    "cluster_columns",
    "clustered",
    "counts_persons",
    "extensions",
    "guaranteed",
    "has_rows",
    "imported",
    "is_parted",
    "over_lattice",
    "qid_sets",
    "releases_case_rows",
    "series_over_lattice",
    "sets",
    "suppresses",
    "whole_rows",
}
"""What tells of which kind a release is: how its rows tell the truth, who counts, what is lost."""
EXTRAS = "engine/extras/"
"""What the core does without."""
SHAPES = ("engine/shapes/", "engine/release/stages/")
"""Where such conditions belong."""
FEATURES = {
    "persons": re.compile("person", re.IGNORECASE),
    "qid-sets": re.compile("qid_set|sets? of quasi", re.IGNORECASE),
    "whole-rows": re.compile("whole.row", re.IGNORECASE),
    "suppression": re.compile(
        r"^(?!from contextlib import ).*suppress(?!\()", re.IGNORECASE | re.MULTILINE
    ),
}
"""Python's own ``suppress``, of errors, is no feature."""
FACES = re.compile(r"Engine|Artifact|Demo|\w+Calls")
"""Classes of ``engine/api`` whose methods are public."""

Graph = dict[str, set[str]]


@dataclass
class Measure:
    """One figure, and what it is made of."""

    name: str
    title: str
    value: int
    details: list[str] = field(default_factory=list)


def main(arguments: list[str] | None = None) -> int:
    """Print all figures; 1 if one of them is above its budget, or the formatter was changed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout to measure")
    parser.add_argument("--verbose", action="store_true", help="name everything that is counted")
    options = parser.parse_args(arguments)
    budgets = tomllib.loads(BUDGETS.read_text(encoding="utf-8"))
    above, asking = [], set[str]()
    for measure in measured(options.root):
        if measure.name == "kind-conditions":
            asking = {place.partition(":")[0] for place in measure.details}
        limit = budgets["budget"].pop(measure.name, None)
        over = limit is not None and measure.value > limit
        told = "" if limit is None else f"  (budget {limit}{', ABOVE IT' if over else ''})"
        print(f"{measure.value:>6}  {measure.name}: {measure.title}{told}")
        if over or options.verbose:
            shown = measure.details if options.verbose else measure.details[:SHOWN]
            for detail in shown:
                print(f"          {detail}")
            if len(shown) < len(measure.details):
                print(f"          and {len(measure.details) - len(shown)} more: --verbose")
        above += [measure.name] if over else []
    wrong = [f"above its budget: {name}" for name in above]
    wrong += [f"a budget of no measure: {name}" for name in budgets["budget"]]
    reasons = budgets["reasons"].keys()
    wrong += [f"a condition on the kind without a reason: {path}" for path in asking - reasons]
    wrong += [f"a reason for no condition on the kind: {path}" for path in reasons - asking]
    wrong += formatter_changes(options.root, budgets["formatter"])
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return 1 if wrong else 0


def formatter_changes(root: Path, frozen: dict[str, object]) -> list[str]:
    """Where the formatter's settings are others than those by which lines are counted."""
    tools = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    own = {key: value for key, value in tools["ruff"].items() if key != "lint"}
    return [] if own == frozen else [f"the formatter's settings are not those of {BUDGETS.name}"]


def measured(root: Path) -> list[Measure]:
    """All figures of the checkout at ``root``."""
    files = {module_name(root, path): path for path in python_files(root)}
    trees = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in files.items()}
    modules = {
        name: imported(name, files[name], tree, files.keys()) for name, tree in trees.items()
    }
    folders = by_folder(modules)
    counted = [name for name in files if name.split(".")[1:2] in (["engine"], ["udfs"])]
    flat = sorted(
        name
        for name in counted
        if name.startswith(f"{PACKAGE}.engine.")
        and name.count(".") == 2
        and files[name].name != "__init__.py"
    )
    tallest, highest = longest_chain(modules), longest_chain(folders)
    circles = [*circles_of(modules), *circles_of(folders)]
    texts = {
        path.relative_to(root).as_posix(): path.read_text(encoding="utf-8")
        for path in [*files.values(), *sql_files(root)]
    }
    lines = {path: text.count("\n") for path, text in texts.items()}
    longest = max(lines, key=lambda path: lines[path])
    return [
        Measure("modules", "modules in engine and udfs", len(counted)),
        Measure("flat", "modules that stand in no folder of engine", len(flat), flat),
        Measure("floors", "floors of folders", len(highest), highest),
        Measure("module-floors", "floors of modules", len(tallest), tallest),
        Measure("circles", "circles of imports", len(circles), circles),
        _names("same-names", files, root),
        _parameters("parameters", trees, files, root),
        _tables("tables", trees, files, root),
        *amounts(texts, trees, {name: files[name] for name in counted}),
        _conditions("kind-conditions", trees, files, root),
        _switches("model-switches", trees),
        *_features(texts),
        *_way(trees, modules, files),
        _public_parameters("public-parameters", trees),
        *_words(root),
        Measure(
            "lines",
            f"lines of the longest file, {longest}",
            lines[longest],
            [f"{n} {path}" for path, n in sorted(lines.items(), key=lambda i: -i[1])],
        ),
    ]


def _words(root: Path) -> Iterator[Measure]:
    """Words of the docs, and of the pages that have a limit of their own."""
    counted = pages(root)
    longest = [f"{n} {page}" for page, n in sorted(counted.items(), key=lambda i: -i[1])]
    total = sum(counted.values())
    yield Measure("docs-words", "words of the docs that people write", total, longest)
    for name in ("models", "guide"):
        page = f"docs/{name}.md"
        yield Measure(f"{name}-words", f"words of {page}", counted.get(page, 0))


def amounts(
    texts: dict[str, str], trees: dict[str, ast.Module], files: dict[str, Path]
) -> list[Measure]:
    """Lines of Python in engine and udfs (``files``), and of SQL."""
    sql = [text.splitlines() for path, text in texts.items() if path.endswith(".sql")]
    stripped = [line.strip() for lines in sql for line in lines]
    python = {
        path: text.count("\n")
        for path, text in texts.items()
        if path.endswith(".py") and path.startswith(("engine/", "udfs/"))
    }
    return [
        Measure(
            "python-lines",
            "lines of Python in engine and udfs, without extras",
            sum(lines for path, lines in python.items() if not path.startswith(EXTRAS)),
        ),
        Measure(
            "extras-lines",
            "lines of Python in extras",
            sum(lines for path, lines in python.items() if path.startswith(EXTRAS)),
        ),
        Measure(
            "python-code",
            "lines of code among them",
            sum(code_lines(path, trees[name]) for name, path in files.items()),
        ),
        Measure("sql-lines", "lines of SQL", len(stripped)),
        Measure(
            "sql-code",
            "lines of code among them",
            sum(bool(line) and not line.startswith("--") for line in stripped),
        ),
    ]


def code_lines(path: Path, tree: ast.Module) -> int:
    """Lines that hold more than blanks, comments and docstrings."""
    held: set[int] = set()
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            if token.type not in NO_CODE:
                held.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(tree):
        body = getattr(node, "body", None)  # of a lambda and a conditional expression: one value
        for statement in body if isinstance(body, list) else ():
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                end = statement.end_lineno or statement.lineno
                held.difference_update(range(statement.lineno, end + 1))
    return len(held)


NO_CODE = {
    tokenize.COMMENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
    tokenize.INDENT,
    tokenize.NEWLINE,
    tokenize.NL,
}


def python_files(root: Path) -> Iterator[Path]:
    """The modules of the package: those at the root of the checkout and those in its folders."""
    for name in ("__init__.py", "cli.py", "version.py"):
        if (root / name).is_file():
            yield root / name
    for folder in FOLDERS:
        yield from sorted((root / folder).rglob("*.py"))


def sql_files(root: Path) -> list[Path]:
    """The `.sql` files of the package."""
    return [path for folder in FOLDERS for path in sorted((root / folder).rglob("*.sql"))]


def module_name(root: Path, path: Path) -> str:
    """``engine/audit/plan.py`` is ``srsql.engine.audit.plan``; a package is its folder."""
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join((PACKAGE, *(parts[:-1] if parts[-1] == "__init__" else parts)))


def imported(name: str, path: Path, tree: ast.Module, known: Iterable[str]) -> set[str]:
    """The modules of the package that a module imports, anywhere in it."""
    known = set(known)
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, *([base] if base else [])])
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                found.add(inner if inner in known else base)
    return {module for module in found & known if module != name}


def by_folder(modules: Graph) -> Graph:
    """The same imports between folders; what stands in no folder is its own node."""
    folders: Graph = defaultdict(set)
    for name, targets in modules.items():
        own = folder_of(name)
        folders[own] |= {folder_of(target) for target in targets} - {own}
    return dict(folders)


def folder_of(name: str) -> str:
    """``engine.audit`` for all of it, ``udfs`` for all of those, ``engine.errors`` for itself."""
    parts = name.split(".")
    return ".".join(parts[1 : 3 if parts[1:2] == ["engine"] else 2]) or PACKAGE


def components(graph: Graph) -> list[list[str]]:
    """Strongly connected components, those that import nothing outside first (Tarjan 1972)."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        number[node] = low[node] = len(number)
        stack.append(node)
        for target in sorted(graph.get(node, ())):
            if target not in number:
                visit(target)
                low[node] = min(low[node], low[target])
            elif target in stack:
                low[node] = min(low[node], number[target])
        if low[node] == number[node]:
            found.append(stack[stack.index(node) :])
            del stack[stack.index(node) :]

    for node in sorted(graph):
        if node not in number:
            visit(node)
    return found


def circles_of(graph: Graph) -> list[str]:
    """Every set of nodes that import each other, as text."""
    return [", ".join(sorted(part)) for part in components(graph) if len(part) > 1]


def longest_chain(graph: Graph) -> list[str]:
    """The longest chain of imports, the importer first; a circle is one link of it."""
    parts = components(graph)
    part_of = {node: index for index, part in enumerate(parts) for node in part}
    below: list[list[int]] = []
    for index, part in enumerate(parts):
        targets = {part_of[target] for node in part for target in graph.get(node, ())} - {index}
        best = max((below[target] for target in sorted(targets)), key=len, default=[])
        below.append([index, *best])
    return [" = ".join(sorted(parts[index])) for index in max(below, key=len)]


def layers(root: Path) -> dict[str, int]:
    """The layer of each child of ``engine``, as the contract "engine" has it."""
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    for contract in settings["tool"]["importlinter"]["contracts"]:
        if contract.get("containers") == [f"{PACKAGE}.engine"]:
            return {
                child.strip(" ()"): index
                for index, line in enumerate(contract["layers"])
                for child in re.split(r"[|:]", line)
            }
    raise SystemExit("pyproject.toml has no contract of the layers of engine")


def _names(name: str, files: dict[str, Path], root: Path) -> Measure:
    order = layers(root)
    places: dict[tuple[int | str, str], list[str]] = defaultdict(list)
    for module, path in files.items():
        parts = module.split(".")
        if parts[1:2] == ["engine"] and len(parts) > 3 and path.name != "__init__.py":
            places[order.get(parts[2], parts[2]), parts[-1]].append(module)
    twice = [", ".join(found) for found in places.values() if len(found) > 1]
    return Measure(name, "module names that occur twice in one layer", len(twice), twice)


def _parameters(
    name: str, trees: dict[str, ast.Module], files: dict[str, Path], root: Path
) -> Measure:
    many = []
    for module, tree in trees.items():
        path = files[module].relative_to(root).as_posix()
        if path.startswith(FREE_OF_LIMITS):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.name != "__init__" and not compiled(node):
                count = parameters_of(node)
                if count > 7:
                    many.append(f"{path}:{node.lineno} {node.name} ({count})")
    return Measure(name, "functions with more than seven parameters", len(many), many)


def _conditions(
    name: str, trees: dict[str, ast.Module], files: dict[str, Path], root: Path
) -> Measure:
    found = []
    for module, tree in trees.items():
        path = files[module].relative_to(root).as_posix()
        if not path.startswith("engine/") or path.startswith(SHAPES):
            continue
        for test in tests_of(tree):
            named = {
                node.attr if isinstance(node, ast.Attribute) else node.id
                for node in ast.walk(test)
                if isinstance(node, ast.Attribute | ast.Name)
            }
            if named & KINDS:
                found.append(f"{path}:{test.lineno} {', '.join(sorted(named & KINDS))}")
    rooms = len({place.partition(":")[0] for place in found})
    return Measure(
        name, f"conditions on the kind of a release, in {rooms} files", len(found), found
    )


def tests_of(tree: ast.Module) -> Iterator[ast.expr]:
    """All that a module decides by."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If | ast.IfExp | ast.While):
            yield node.test
        elif isinstance(node, ast.comprehension):
            yield from node.ifs


def _switches(name: str, trees: dict[str, ast.Module]) -> Measure:
    base = next(
        node
        for node in trees[f"{PACKAGE}.engine.models.base"].body
        if isinstance(node, ast.ClassDef) and node.name == "GroupingModel"
    )
    found = []
    for node in base.body:
        if isinstance(node, ast.AnnAssign) and "ClassVar" in ast.unparse(node.annotation):
            found.append(ast.unparse(node.target))
        elif isinstance(node, ast.FunctionDef):
            marks = " ".join(map(ast.unparse, node.decorator_list))
            found += [node.name] if "property" in marks else []
    return Measure(name, "switches on the base model", len(found), found)


def _features(texts: dict[str, str]) -> list[Measure]:
    found = []
    for feature, pattern in FEATURES.items():
        room = feature.replace("-", "_")
        named = [p for p, text in texts.items() if pattern.search(text) and room not in p]
        title = f"files that name {feature.replace('-', ' ')} outside their room"
        found.append(Measure(f"files-of-{feature}", title, len(named), named))
    return found


def _way(trees: dict[str, ast.Module], modules: Graph, files: dict[str, Path]) -> list[Measure]:
    packages = {name for name, path in files.items() if path.name == "__init__.py"}
    walker = Walker(trees, packages)
    start = (f"{PACKAGE}.engine.release.release", "release", "request")
    found = []
    for name, more in (("request", ""), ("stages", ", with every stage entered in turn")):
        route = walker.walk(*start, registries=bool(more))
        climbs = route.climbs(modules)
        stops, rooms = route.with_returns, sorted(set(route.forward))
        found += [
            Measure(f"{name}-stops", f"stops of a release request{more}", route.stops, stops),
            Measure(f"{name}-rooms", "rooms that it enters", route.rooms, rooms),
            Measure(f"{name}-climbs", "climbs back up", len(climbs), climbs),
        ]
    return found


def _public_parameters(name: str, trees: dict[str, ast.Module]) -> Measure:
    counts = {
        f"{each.name}.{node.name}": parameters_of(node)
        for module, tree in trees.items()
        if module.startswith(f"{PACKAGE}.engine.api")
        for each in tree.body
        if isinstance(each, ast.ClassDef) and FACES.fullmatch(each.name)
        for node in each.body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    }
    many = [f"{n} {method}" for method, n in sorted(counts.items(), key=lambda item: -item[1])]
    return Measure(name, "most parameters of a public method", max(counts.values()), many)


def parameters_of(node: ast.FunctionDef) -> int:
    """How many a caller can give."""
    positional = [*node.args.posonlyargs, *node.args.args]
    if positional and positional[0].arg in ("self", "cls"):
        positional = positional[1:]
    return len(positional) + len(node.args.kwonlyargs)


def compiled(node: ast.FunctionDef) -> bool:
    """Whether numba compiles it, or a function around it."""
    for decorator in node.decorator_list:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        last = target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")
        if last in COMPILED:
            return True
    return False


def _tables(name: str, trees: dict[str, ast.Module], files: dict[str, Path], root: Path) -> Measure:
    udfs = {
        text
        for module, tree in trees.items()
        if module.startswith(f"{PACKAGE}.udfs")
        for text in strings(tree)
        if NAME.fullmatch(text)
    }
    found: set[str] = set()
    for path in sql_files(root):
        found.update(MADE.findall(path.read_text(encoding="utf-8")))
    for module, tree in trees.items():
        if module.startswith(f"{PACKAGE}.engine"):
            found.update(MADE.findall(files[module].read_text(encoding="utf-8")))
            found.update(text for text in strings(tree) if NAME.fullmatch(text))
    tables = sorted(found - udfs - NO_TABLES)
    return Measure(name, "named temporary tables", len(tables), tables)


def strings(tree: ast.Module) -> set[str]:
    """The string constants of a module."""
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


if __name__ == "__main__":
    sys.exit(main())
