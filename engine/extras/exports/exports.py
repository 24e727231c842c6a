"""What is released, in the forms that pvda, openEBGM and TreeScan open; never the originals.

* pvda (R): ``pvda.csv`` with report_id, drug, event, a row for each drug and reaction of a case.
* openEBGM (R): ``openebgm.csv`` with id, var1 (drug), var2 (reaction), for ``processRaw``.
* TreeScan: ``counts.cas`` (node, cases, expected; the Poisson model) and ``tree.tre`` (node,
  parent; the root alone) of one drug, without headers, as TreeScan has them.

A case counts that surely meets the condition and, where strata are asked for, surely lies in one:
openEBGM takes a column for each (``strat_sex``, ``strat_age``, ``strat_period``), pvda one
(``group``, for ``df_colnames``), TreeScan none. It has a number of the file alone, in the order of
what it tells and not of its id, so that files cannot be joined by cases, and no id leaves the house
that an artifact may have replaced. Names are keys of terms: one text for all spellings of one.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tomllib import TOMLDecodeError
from typing import Any

from sqlglot import exp

from srsql.engine.catalog.datasets import term_keys
from srsql.engine.catalog.releases import staleness
from srsql.engine.errors import SignalError
from srsql.engine.parameters import Form
from srsql.engine.release.exposure import Consent, links_handed_on, unshared
from srsql.engine.signals.asked import Asked, ask
from srsql.engine.signals.cases import RELEASED, Scope, load_wanted, side_table
from srsql.engine.signals.counted import Exported, ExportedFile, counted
from srsql.engine.signals.rules import USUAL, Condition, Counting, Rule
from srsql.engine.signals.run import Run, weighed
from srsql.engine.signals.strata import STRATA_NAMES
from srsql.engine.store.scratch import put_folder
from srsql.engine.store.statements import column, temporary, with_rows
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset
from srsql.schemas.hierarchy import Hierarchy, HierarchyError, load_hierarchy

COLUMNS = {"pvda": ("report_id", "drug", "event"), "openebgm": ("id", "var1", "var2")}
STRATUM = "strat_"
"""What openEBGM knows a column of strata by."""
GROUP = "group"
"""The column of strata of pvda, which its manual calls so."""
Part = tuple[str, Sequence[str], Iterable[Sequence[Any]]]
"""Name of a file, header and rows."""
ROOT = "ANY REACTION"
"""The root of a tree that has no other node beside the reactions."""


@dataclass(frozen=True)
class Writing:
    """What is written, and where to."""

    form: Form
    folder: Path
    """Empty or absent."""
    tree: Path | None = None
    """Of reactions, for TreeScan."""
    consent: Consent = field(default_factory=Consent)
    """What was said yes to."""

    def export(
        self,
        warehouse: Warehouse,
        dataset: Dataset,
        series: str,
        rule: Rule,
        *,
        quarter: str | None = None,
        counting: Counting = USUAL,
    ) -> Exported:
        """Write what is released for another tool.

        Args:
            warehouse: may be read-only.
            dataset: says which columns are drug, reaction and role.
            series: whose releases.
            rule: the condition that cases meet, and of TreeScan the drug; its reaction is empty.
            quarter: only this one; None: all that are released, each case as its latest has it.
            counting: how cases are counted, and what they are parted by.

        Raises:
            SignalError: see ``signals``; the folder is not empty or cannot be written; TreeScan has
                no drug, or strata; there is no such tree; a release must not leave the house; or
                clusters tell drugs and reactions.
            LinkableError: too many rows of cases link to other releases of their quarter, as
                ``publish`` says it.
        """
        form, folder, tree_file = self.form, self.folder, self.tree
        if (form == "treescan") != bool(rule.drug):
            need = (
                "counts of one drug: give --drug"
                if form == "treescan"
                else "every pair: give --all"
            )
            raise SignalError(f"--export {form} has {need}")
        if tree_file is not None and form != "treescan":
            raise SignalError("--tree is of --export treescan: leave it out")
        if form == "treescan" and counting.strata:
            raise SignalError("--export treescan has counts without strata: leave --strata out")
        tree = None if tree_file is None else _tree(tree_file)
        asked = ask(warehouse, dataset, series, [rule] if rule.drug else [], quarter=quarter,
                    released_only=True, counting=counting)  # fmt: skip
        asked.scope.told.need_rows("--export")
        _need_publishable(warehouse, asked.scope)
        links = [] if form == "treescan" else [
            row
            for label, release_id in asked.scope.releases.items()
            for row in links_handed_on(warehouse, dataset, release_id,
                                       f"{label} in series {series!r}", self.consent)
        ]  # fmt: skip
        named = _nodes(warehouse, asked.scope, tree)
        with _put(folder) as made:
            parts = _parts(warehouse, asked, rule, form, counting, (tree, named))
            files = [_write(made, folder, *part) for part in parts]
        about = counted(warehouse, series, asked, rule.condition, counting)
        stale = [
            found.line
            for release_id in asked.scope.releases.values()
            for found in staleness(warehouse, release_id=release_id)
        ]
        return Exported(
            form, rule.drug or None, tuple(files), links, tuple(stale), about, counting.strata
        )


def _parts(
    warehouse: Warehouse,
    asked: Asked,
    rule: Rule,
    form: Form,
    counting: Counting,
    tree: tuple[Hierarchy | None, Mapping[str, str]],
) -> Iterator[Part]:
    """What is written: the name of each file, its header and its rows."""
    with weighed(warehouse, asked, rule.condition, counting) as run:
        if form == "treescan":
            load_wanted(warehouse, asked.scope, [0], [(rule.drug, "")])
            statement = run.of_side("tree_counts", RELEASED, "weight", "drug", "reaction")
            rows, (nodes, named) = warehouse.rows(statement), tree
            yield "counts.cas", (), [(named.get(name, name), *numbers) for name, *numbers in rows]
            yield "tree.tre", (), tree_rows(nodes, named, [row[0] for row in rows])
            return
        names, parts = _strata(run, form, rule.condition, counting)
        statement = run.of_side("reported_pairs", RELEASED, "drug", "reaction")
        statement = with_rows(statement, counted_case=_cases(parted=bool(names))).sql("duckdb")
        pairs = (
            (*row, *parts[stratum])
            for some in warehouse.batches(statement)
            for *row, stratum in some
        )
        yield f"{form}.csv", (*COLUMNS[form], *names), pairs


def _strata(
    run: Run, form: str, condition: Condition, counting: Counting
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The columns of strata, and what they have of each stratum; where cases are not parted no
    column, and all cases in the stratum 0."""
    if not counting.strata:
        return (), [()]
    labels = [stratum.labels for stratum in run.part(condition, counting.missing)]
    if form == "pvda":
        return (GROUP,), [(", ".join(each),) for each in labels]
    return tuple(f"{STRATUM}{name}" for name in STRATA_NAMES if name in counting.strata), labels


def _cases(*, parted: bool) -> exp.Select:
    """Who surely meets the condition, and surely is in which stratum."""
    name = side_table(RELEASED, "stratum_weight" if parted else "weight")
    stratum = column("stratum", "w") if parted else exp.Literal.number(0).as_("stratum")
    found = exp.select(column("case_id", "w"), stratum).from_(temporary(name, alias="w"))
    found = found.where(exp.GT(this=column("lower", "w"), expression=exp.Literal.number(0)))
    if parted:  # the first is all strata together
        found = found.where(exp.GT(this=stratum.copy(), expression=exp.Literal.number(0)))
    return found


def tree_rows(
    tree: Hierarchy | None, named: Mapping[str, str], reactions: Iterable[str]
) -> Iterator[tuple[str, ...]]:
    """The lines of a tree: its root alone, each node with its parent, then the reactions that it
    lacks under its root.

    Args:
        tree: None: a root, ``ROOT``, and the reactions.
        named: key of the label of each node -> label.
        reactions: their keys.
    """
    root = ROOT if tree is None else tree.labels[0]
    yield (root,)
    if tree is not None:
        parents = (tree.labels[node] for node in tree.parent[1:])
        yield from zip(tree.labels[1:], parents, strict=True)
    yield from ((name, root) for name in reactions if name not in named)


def _nodes(warehouse: Warehouse, scope: Scope, tree: Hierarchy | None) -> dict[str, str]:
    """Key of a label -> label, the root included, like which a reaction may be named.

    Raises:
        SignalError: two labels are one reaction.
    """
    labels = (ROOT,) if tree is None else tree.labels
    found: dict[str, str] = {}
    for label, name in zip(
        labels, term_keys(warehouse, labels, scope.dataset.term_key), strict=True
    ):
        key = name or label
        if key in found:
            raise SignalError(
                f"--tree: nodes {found[key]!r} and {label!r} are one reaction: keep one of them"
            )
        found[key] = label
    return found


def _tree(file: Path) -> Hierarchy:
    try:
        return load_hierarchy(file)
    except (HierarchyError, OSError, UnicodeDecodeError, csv.Error, TOMLDecodeError) as error:
        raise SignalError(f"{file}: {error}: give --tree a hierarchy (node, parent)") from None


def _need_publishable(warehouse: Warehouse, scope: Scope) -> None:
    """Refuse what must not leave the house.

    Raises:
        SignalError: a release is an experiment, or there to be compared with.
    """
    for quarter, release_id in scope.releases.items():
        if refused := unshared(warehouse, release_id):
            raise SignalError(
                f"{quarter} must not leave the house, and exports are made to be handed on: it "
                f"{refused}"
            )


@contextmanager
def _put(folder: Path) -> Iterator[Path]:
    """A folder beside ``folder``, whose name it gets with all that was written there."""
    try:
        with put_folder(folder) as (made, _):
            yield made
    except FileExistsError:
        raise SignalError(
            f"{folder} is not empty: give --to an empty folder, or none yet"
        ) from None
    except OSError as error:
        why = error.strerror or str(error)
        raise SignalError(f"{folder} cannot be written ({why}): give another --to") from None


def _write(
    made: Path, folder: Path, name: str, header: Sequence[str], rows: Iterable[Sequence[Any]]
) -> ExportedFile:
    """Write a file of the folder that is being made; it is told by the name that it is to have."""
    count = 0
    with (made / name).open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        if header:
            writer.writerow(header)
        for row in rows:
            writer.writerow(row)
            count += 1
    return ExportedFile(str(folder / name), count)
