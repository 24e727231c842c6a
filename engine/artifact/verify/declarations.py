"""Claims of the manifest that others know better: the dataset's declaration.

*Declaration.* Roles, domains and hierarchies say what is protected. A forger who changed them could
publish a sensitive value as it is, or a quasi-identifier exactly, and break no bound that is left.
Those of the datasets that ship with srsql are known here, without the artifact.
"""

from __future__ import annotations

from collections.abc import Iterator

from srsql.engine.artifact.format import (
    LONGEST,
    MANIFEST,
    OF_REGION,
    REGION_CELLS,
    TERM_TABLES,
    Attribute,
    Manifest,
    derived_claims,
    longest,
)
from srsql.engine.artifact.verify.contradictions import Trees, written_here
from srsql.engine.artifact.verify.derivations import derived_differences
from srsql.engine.artifact.verify.published_rows import published_rows
from srsql.engine.artifact.verify.verdict import DECLARATION_TEXT, FOREIGN_DATASET, UNKNOWN_VERSION
from srsql.engine.catalog.series import ORIGINAL
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
    return published_rows(manifest).shown(dataset)


def with_shown(manifest: Manifest, dataset: Dataset) -> Dataset:
    """The dataset with those of its optional columns published that the artifact has."""
    there = {f"{table.name}.{c.name}" for table in manifest.tables for c in table.columns}
    return dataset.with_columns([name for name in dataset.optional_columns if name in there])


def every_term_published(manifest: Manifest) -> bool:
    """Whether every sensitive column is in the released rows, as far as the artifact shows."""
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
    text = UNKNOWN_VERSION if manifest.dataset in builtin_names() else FOREIGN_DATASET
    if dataset is not None:
        text = DECLARATION_TEXT
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
    return faults + (list(_tree_faults(trees, dataset)) if dataset.regions else [])


def _table_faults(manifest: Manifest, dataset: Dataset) -> Iterator[str]:
    """Tables and columns with other names, types or roles."""
    told = manifest.parameters.get("ids", ORIGINAL)
    original = told == ORIGINAL and manifest.case_ids != "pseudonym"
    ids = _IDS[dataset.id_type if original else "integer"]  # pseudonyms are numbers
    due = {table.name: expected_columns(dataset, table, ids) for table in dataset.row_tables}
    if manifest.counts_alone:
        due[REGION_CELLS] = {k: v for qid in dataset.qid for k, v in _region(qid).items()}
        due[REGION_CELLS][OF_REGION[0]] = (*OF_REGION[1:], None)
    found = {
        table.name: {c.name: (c.type, c.role, c.attribute) for c in table.columns}
        for table in manifest.tables
        if not (manifest.terms and table.name in TERM_TABLES) and table.name not in manifest.cells
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


def expected_columns(dataset: Dataset, table: Table, ids: str | None = None) -> dict[str, Shape]:
    """The columns that a table of the dataset is released with; ``ids``: the type of its ids, None:
    that of the source."""
    columns: dict[str, Shape] = {
        name: (
            ids or _IDS[dataset.id_type],
            "report id" if name == dataset.report_id else "case id",
            None,
        )
        for name in (dataset.case_id, dataset.report_id)
    }
    if table.name == dataset.report_table:
        columns["quarter"] = ("VARCHAR", "period", None)
        for qid in dataset.qid:
            columns |= _region(qid)
        columns |= dict.fromkeys(dataset.cluster_columns, ("BIGINT", "cluster", None))
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
    due = {qid.name: _attribute(qid) for qid in dataset.qid} if dataset.regions else {}
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
