"""Claims of the manifest that others know better: the dataset's declaration, the policy of theta.

*Declaration.* Roles, domains and hierarchies say what is protected. Whoever changed them could
publish a sensitive value as it is, or a quasi-identifier exactly, and break no bound that is left.
Those of the datasets that ship with srsql are known here, without the artifact.

*Policy.* Under ``frequency`` (Lin 2016; SPEC section 6) the values of a quarter are ranked by the
number of cases that hold them, ties by their text; the first tenth (rounded down) gets the
threshold 1, the last tenth (rounded up) 1/5, the rest 2/5. An artifact shows the released cases
only. W withheld cases, and those that lost the value, took part as well, so that a value's number
of cases may be up to W higher, and values that only withheld cases hold, each in at most W of them,
stand in the ranking, too: how many, nobody can see. Thresholds are refuted where no such values
could make a ranking that fits; otherwise the least number of them that could is told, and judged by
what W cases can hold. Written
without the code that applies the policy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import duckdb

from srsql.engine.artifact.derived_columns import derived_claims
from srsql.engine.artifact.format import (
    LONGEST,
    MANIFEST,
    TERM_TABLES,
    Attribute,
    Manifest,
    longest,
)
from srsql.engine.artifact.verify import OTHER, OWN, REWORDED, suppressed_cases
from srsql.engine.artifact.verify.contradictions import Trees, written_here
from srsql.engine.artifact.verify.derivations import derived_differences
from srsql.engine.store.statements import query
from srsql.schemas import Dataset, Qid, builtin_names, load_dataset
from srsql.schemas.roles import Table
from srsql.version import __version__

Shape = tuple[str, str, str | None]
"""Type, role and attribute of a column."""
WRONG = (
    MANIFEST + ": not as dataset {dataset!r} declares, which ships with srsql: {fault} (a changed "
    "dataset needs a name of its own)"
)
_PUBLISHED = ("sensitive", "quasi-sensitive", "serial number", "published as it is", "derived")
"""Roles of columns of which a dataset declares how long their texts may be."""
_IDS = {"integer": "BIGINT", "text": "VARCHAR"}
LEVELS = (Fraction(1), Fraction(2, 5), Fraction(1, 5))
"""Thresholds of the first tenth, of the rest, of the last tenth."""
SPARE = 1_000
"""Values that withheld cases may hold alone, however few they are, ..."""
TIMES = 10
"""... and how many times as many as a released case on average each of them may hold beside."""
BY_FILE = "it is in a file that is not published"
NOT_DERIVED = "{quarter}: thresholds against their policy, {theta}: {why}"
WITHIN = (
    "{quarter}: thresholds against their policy, {theta}, exactly: {withheld:,} {what} "
    "took part in the ranking of values; the thresholds fit if at least {hidden:,} values are held "
    "by them alone, beside {values:,} that are released"
)


def shipped_dataset(manifest: Manifest) -> Dataset | None:
    """The dataset of that name and version that ships, with the tables that have rows here.

    Of an earlier version that had no optional columns, it is that of today without them.
    """
    if manifest.dataset not in builtin_names():
        return None
    dataset = with_shown(manifest, load_dataset(manifest.dataset).keyed(manifest.term_key))
    if manifest.dataset_version in dataset.earlier_versions:
        dataset = load_dataset(manifest.dataset).model_copy(
            update={"version": manifest.dataset_version, "term_key": manifest.term_key}
        )
    if dataset.version != manifest.dataset_version:
        return None
    return without_told(manifest, dataset)


def without_told(manifest: Manifest, dataset: Dataset) -> Dataset:
    """The dataset without the rows of what the artifact tells apart from them."""
    if manifest.terms is None:
        return dataset
    rows = manifest.report_table is not None
    apart = None if manifest.terms.whole_rows else manifest.terms.attributes
    return dataset.without_terms(apart, rows=rows)


def with_shown(manifest: Manifest, dataset: Dataset) -> Dataset:
    """The dataset with those of its optional columns published that the artifact has."""
    there = {f"{table.name}.{c.name}" for table in manifest.tables for c in table.columns}
    return dataset.with_columns([name for name in dataset.optional_columns if name in there])


def every_term_published(manifest: Manifest) -> bool:
    """Whether every sensitive column is in the released rows, as far as anybody can know."""
    dataset = shipped_dataset(manifest)
    if dataset is None:
        return bool(manifest.every_term_published)
    return all(a.column in dataset.table(a.table).publish for a in dataset.sensitive)


def same_text(manifest: Manifest, dataset: Dataset) -> bool:
    """Whether the quarter was released with the dataset's declaration to the letter.

    A warehouse keeps the text that it was made with, which an update may have worded otherwise.
    """
    return manifest.dataset_fingerprint == dataset.fingerprint


def declaration_not_shown(manifest: Manifest) -> list[str]:
    """What cannot be said of the declaration, since it is a user's or of another version."""
    dataset = shipped_dataset(manifest)
    if dataset is not None and same_text(manifest, dataset):
        return []
    text = OTHER if manifest.dataset in builtin_names() else OWN
    if dataset is not None:
        text = REWORDED
    return [
        text.format(
            quarter=manifest.quarter,
            dataset=manifest.dataset,
            number=manifest.dataset_version,
            version=manifest.software_version,
        )
    ]


def declaration_faults(manifest: Manifest, trees: Trees) -> list[str]:
    """Where the artifact declares something else than the dataset that ships under its name.

    Args:
        manifest: of the artifact.
        trees: its hierarchies, as its file has them.
    """
    if manifest.dataset not in builtin_names():
        return []
    dataset, number = shipped_dataset(manifest), manifest.dataset_version
    today = load_dataset(manifest.dataset)
    if same_text(manifest, today) and number != today.version:
        return [f"{MANIFEST}: the declaration of this fingerprint is version {today.version}"]
    if dataset is None:  # a warehouse may have an earlier version, of before an update
        later = written_here(manifest) and number > today.version
        text = f"srsql {__version__} ships no version {number} of dataset {manifest.dataset!r}"
        return [f"{MANIFEST}: {text}"] if later else []
    faults = differences(manifest, trees, dataset)
    return [WRONG.format(dataset=manifest.dataset, fault=fault) for fault in faults]


def differences(manifest: Manifest, trees: Trees, dataset: Dataset) -> list[str]:
    """Where an artifact has other columns, domains or hierarchies than a dataset declares.

    Args:
        manifest: of the artifact.
        trees: its hierarchies, as its file has them.
        dataset: with the tables that have rows there.
    """
    faults = [*_table_faults(manifest, dataset), *_attribute_faults(manifest, dataset)]
    told = [(each.name, each.attributes) for each in manifest.qid_sets or ()]
    if told != [(each.name, each.qids) for each in dataset.qid_set]:
        faults.append("other sets of quasi-identifiers are protected, or none")
    faults += derived_differences(manifest, dataset, derived_claims(dataset))
    return faults + (list(_tree_faults(trees, dataset)) if manifest.report_table else [])


def _table_faults(manifest: Manifest, dataset: Dataset) -> Iterator[str]:
    """Tables and columns with other names, types or roles."""
    due = {table.name: expected_columns(dataset, table) for table in dataset.row_tables}
    found = {
        table.name: {c.name: (c.type, c.role, c.attribute) for c in table.columns}
        for table in manifest.tables
        if not (manifest.terms and table.name in TERM_TABLES)
    }
    for name in sorted(due.keys() | found.keys()):
        if name not in due or name not in found:
            yield f"table {name} is {'not' if name in found else 'always'} released"
            continue
        for column in sorted(due[name].keys() | found[name].keys()):
            one, other = (_words(columns[name].get(column)) for columns in (found, due))
            if one != other:
                yield f"{name}.{column} is {one}, not {other}"
    yield from _length_faults(manifest, dataset)


def _length_faults(manifest: Manifest, dataset: Dataset) -> Iterator[str]:
    """Columns whose texts may be longer or shorter than declared."""
    known = {table.name: table for table in dataset.tables}
    for table in manifest.tables:
        for c in table.columns:
            if c.role in _PUBLISHED and table.name in known:
                due = known[table.name].longest(c.name)
            else:
                due = dataset.longest_term if c.role == "term" else LONGEST
            if longest(c) != due:
                most = f"{longest(c):,} characters, not {due:,}"
                yield f"texts of {table.name}.{c.name} may have {most}"


def _words(shape: Shape | None) -> str:
    if shape is None:
        return "absent"
    kind, role, attribute = shape
    return f"{role}{f' of {attribute}' if attribute else ''} ({kind})"


def expected_columns(dataset: Dataset, table: Table) -> dict[str, Shape]:
    """The columns that a table of the dataset is released with."""
    columns: dict[str, Shape] = {
        name: (_IDS[dataset.id_type], "report id" if name == dataset.report_id else "case id", None)
        for name in (dataset.case_id, dataset.report_id)
    }
    if table.name == dataset.report_table:
        columns["quarter"] = ("VARCHAR", "period", None)
        for qid in dataset.qid:
            columns |= _region(qid)
        if dataset.clustered:
            columns["cluster"] = ("BIGINT", "cluster", None)
    for name in table.publish:
        role = "serial number" if name in table.serial else "published as it is"
        if dataset.makes(table.name, name):
            role = "derived"
        for kind, attributes in (
            ("quasi-sensitive", dataset.quasi_sensitive),
            ("sensitive", dataset.sensitive),
        ):
            if any(a.table == table.name and a.column == name for a in attributes):
                role = kind
        columns[name] = ("VARCHAR", role, None)
        if dataset.term_key and role in ("sensitive", "quasi-sensitive"):
            columns[f"{name}_key"] = ("VARCHAR", "term key", None)
    return columns


def _region(qid: Qid) -> dict[str, Shape]:
    if qid.kind == "categorical":
        return {qid.name: ("VARCHAR", "node", qid.name)}
    digits = max(0, -int(qid.granularity.normalize().as_tuple().exponent))
    kind = f"DECIMAL(18, {digits})" if digits else "BIGINT"
    return {
        f"{qid.name}_low": (kind, "lower bound", qid.name),
        f"{qid.name}_high": (kind, "upper bound", qid.name),
    }


def _attribute_faults(manifest: Manifest, dataset: Dataset) -> Iterator[str]:
    """Quasi-identifiers with another unit, domain or granularity, too many or too few."""
    due = {qid.name: _attribute(qid) for qid in dataset.qid} if dataset.rows else {}
    found = {attribute.name: attribute for attribute in manifest.attributes}
    for name in sorted(due.keys() | found.keys()):
        if name not in found:
            yield f"{name} is no quasi-identifier"
        elif name not in due:
            yield f"{name} is a quasi-identifier"
        elif found[name] != due[name]:
            yield f"{name} has another kind, unit, granularity or domain"


def _attribute(qid: Qid) -> Attribute:
    if qid.kind == "categorical":
        return Attribute(name=qid.name, kind="categorical")
    low, high = qid.domain if isinstance(qid.domain, tuple) else (None, None)
    return Attribute(
        name=qid.name,
        kind="numeric",
        unit=qid.unit,
        granularity=qid.granularity,
        low=low,
        high=high,
    )


def _tree_faults(trees: Trees, dataset: Dataset) -> Iterator[str]:
    """Hierarchies with other nodes, or nodes elsewhere."""
    for qid in dataset.qid:
        if qid.kind == "categorical":
            tree = dataset.hierarchies[qid.name]
            above = [tree.labels[at] if at >= 0 else "" for at in tree.parent]
            if dict(trees.get(qid.name, [])) != dict(zip(tree.labels, above, strict=True)):
                yield f"the hierarchy of {qid.name} is another one"


@dataclass(frozen=True)
class RankedValue:
    """A released value, its threshold, and how many released cases hold it."""

    value: str
    theta: Fraction
    cases: int

    @property
    def rank(self) -> tuple[int, bytes]:
        """Where it stands among the released values."""
        return (-self.cases, self.value.encode())


def ranked_values(con: duckdb.DuckDBPyConnection) -> list[RankedValue]:
    """The released values of the artifact that was read, with their thresholds."""
    rows = con.execute(query("artifact/row_checks", "value_cases")).fetchall()
    return [RankedValue(value, Fraction(num, den), cases) for value, num, den, cases in rows]


def policy_verdict(
    manifest: Manifest, values: Sequence[RankedValue]
) -> tuple[list[str], list[str]]:
    """The faults of the thresholds under their policy, and what cannot be shown of them.

    Args:
        manifest: of the artifact.
        values: every released value that has a threshold.
    """
    theta, quarter = str(manifest.parameters.get("theta")), manifest.quarter
    if theta == "levels":
        return [], [NOT_DERIVED.format(quarter=quarter, theta=theta, why=BY_FILE)]
    if theta != "frequency" or not values:
        return [], []
    faults = [
        f"{v.value} has the threshold {v.theta}, the policy frequency knows {_listed(LEVELS)}"
        for v in values
        if v.theta not in LEVELS
    ]
    why = _why_not(manifest)
    if faults or why:
        return faults, [NOT_DERIVED.format(quarter=quarter, theta=theta, why=why)] if why else []
    # of a case whose value is suppressed, as of a withheld one, no row shows that it has the value
    withheld = (manifest.counts.withheld_cases or 0) + suppressed_cases(manifest, "one_value")
    faults = _order_faults(values, withheld)
    hidden = least_hidden(values, withheld)
    if faults or hidden is None:
        return faults or [_no_ranking(values, withheld)], []
    most = SPARE + TIMES * withheld * sum(v.cases for v in values) // max(
        1, manifest.counts.released_cases
    )
    if hidden > most:
        return [
            f"{_shares(values)} fit the policy frequency only if the {withheld:,} withheld cases "
            f"alone hold {hidden:,} values, and no more than {most:,} are plausible"
        ], []
    if withheld == 0:
        return [], []
    suppresses = "theta_bounds" in manifest.parameters
    what = "withheld cases or such as lost a value" if suppresses else "withheld cases"
    text = WITHIN.format(
        quarter=quarter, theta=theta, withheld=withheld, what=what, hidden=hidden,
        values=len(values),
    )  # fmt: skip
    return [], [text]


def _listed(levels: Sequence[Fraction]) -> str:
    return ", ".join(map(str, levels))


def _why_not(manifest: Manifest) -> str:
    """Why the number of cases that hold a value cannot be bounded."""
    if manifest.terms is not None or not every_term_published(manifest):
        return "not every sensitive column is in the released rows, or the artifact does not say so"
    if manifest.parameters.get("external_knowledge") == "yes":
        return "external knowledge added values to cases"
    if manifest.counts.withheld_cases is None:
        return "how many cases are withheld is not told of a model with noise"
    return ""


def _order_faults(values: Sequence[RankedValue], withheld: int) -> list[str]:
    """A value with a lower threshold that is certainly held by more cases than one with a higher.

    The number of cases of each can be up to ``withheld`` higher, so that the last of the one kind
    and the first of the other decide.
    """
    faults = []
    for bound in LEVELS[:2]:
        above = [v for v in values if v.theta >= bound]
        below = [v for v in values if v.theta < bound]
        if not above or not below:
            continue
        last, first = max(above, key=lambda v: v.rank), min(below, key=lambda v: v.rank)
        if first.rank < (last.rank[0] - withheld, last.rank[1]):
            faults.append(
                f"{first.value}, which {first.cases:,} cases hold, has the threshold "
                f"{first.theta}, and {last.value}, which {last.cases:,} hold, has {last.theta}: "
                "under the policy frequency the more frequent value has the higher one"
            )
    return faults


def least_hidden(values: Sequence[RankedValue], withheld: int) -> int | None:
    """The least number of values held by withheld cases alone with which the tenths come out.

    Returns:
        None: with no number of them.
    """
    sizes = [sum(v.theta == level for v in values) for level in LEVELS]
    # a value that is held by no released case ranks above one that is only if enough others hold it
    over = [
        withheld >= max((v.cases for v in values if v.theta < level), default=1) for level in LEVELS
    ]
    n = len(values)
    end = 10 * max(sizes[0], sizes[2]) + 2 * sizes[1] + n + 40
    for total in range(n, n + 1 if withheld == 0 else end):
        first, bottom = total // 10, -(-total // 10)
        room = (first - sizes[0], total - first - bottom - sizes[1], bottom - sizes[2])
        if all(more >= 0 and (more == 0 or may) for more, may in zip(room, over, strict=True)):
            return total - n
    return None


def _no_ranking(values: Sequence[RankedValue], withheld: int) -> str:
    held = f"values that {withheld:,} withheld cases hold" if withheld else "none is withheld"
    return f"{_shares(values)} are the tenths of no ranking by frequency ({held})"


def _shares(values: Sequence[RankedValue]) -> str:
    sizes = [(sum(v.theta == level for v in values), level) for level in LEVELS]
    return ", ".join(f"{size:,} values of threshold {level}" for size, level in sizes)
