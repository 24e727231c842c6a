"""Does an artifact of a dataset that ships with srsql declare what that dataset declares?

Roles, domains and hierarchies say what is protected. Whoever could change them could publish a
sensitive value as it is, or a quasi-identifier exactly, without breaking any bound that is left.
Those of the datasets that ship are known here, without the artifact; a user's own are not.
"""

from __future__ import annotations

from collections.abc import Iterator

from srsql.engine.artifact.format import MANIFEST, TERM_TABLES, Attribute, Manifest
from srsql.engine.artifact.verify.contradictions import Trees
from srsql.schemas import Dataset, Qid, builtin_names, load_dataset
from srsql.schemas.roles import Table
from srsql.version import __version__

Shape = tuple[str, str, str | None]
"""Type, role and attribute of a column."""
OWN = (
    "{quarter}: which columns are sensitive or identify, and the domains of these: dataset "
    "{dataset!r} does not ship with srsql, and nobody else pins what it declares"
)
OTHER = (
    "{quarter}: which columns are sensitive or identify, and the domains of these: srsql {version} "
    "released version {number} of dataset {dataset!r}, which this srsql does not know"
)
WRONG = (
    MANIFEST + ": not as dataset {dataset!r} declares, which ships with srsql: {fault} (a changed "
    "dataset needs a name of its own)"
)
_IDS = {"integer": "BIGINT", "text": "VARCHAR"}


def shipped_dataset(manifest: Manifest) -> Dataset | None:
    """The dataset of that name and version that ships, with the tables that have rows here."""
    if manifest.dataset not in builtin_names():
        return None
    dataset = load_dataset(manifest.dataset)
    if dataset.version != manifest.dataset_version:
        return None
    if manifest.terms is None:
        return dataset
    rows = manifest.report_table is not None
    return dataset.without_terms(manifest.terms.attributes, rows=rows)


def every_term_published(manifest: Manifest) -> bool:
    """Whether every sensitive column is in the released rows, as far as anybody can know."""
    dataset = shipped_dataset(manifest)
    if dataset is None:
        return bool(manifest.every_term_published)
    return all(a.column in dataset.table(a.table).publish for a in dataset.sensitive)


def declaration_not_shown(manifest: Manifest) -> list[str]:
    """What cannot be said of the declaration, since it is a user's or of another version."""
    if shipped_dataset(manifest) is not None:
        return []
    text = OTHER if manifest.dataset in builtin_names() else OWN
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
    dataset, ours = shipped_dataset(manifest), manifest.software_version == __version__
    if dataset is None:
        text = f"version {manifest.dataset_version} of dataset {manifest.dataset!r}"
        return [f"{MANIFEST}: srsql {__version__} ships no {text}"] if ours else []
    faults = [*_table_faults(manifest, dataset), *_attribute_faults(manifest, dataset)]
    if manifest.report_table is not None:
        faults += _tree_faults(trees, dataset)
    if ours and manifest.dataset_fingerprint != dataset.fingerprint:
        faults.append("dataset_fingerprint is not that of the dataset")
    return [WRONG.format(dataset=manifest.dataset, fault=fault) for fault in faults]


def _table_faults(manifest: Manifest, dataset: Dataset) -> Iterator[str]:
    """Tables and columns with other names, types or roles."""
    due = {table.name: _columns(dataset, table) for table in dataset.row_tables}
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


def _words(shape: Shape | None) -> str:
    if shape is None:
        return "absent"
    kind, role, attribute = shape
    return f"{role}{f' of {attribute}' if attribute else ''} ({kind})"


def _columns(dataset: Dataset, table: Table) -> dict[str, Shape]:
    """The columns that a table of the dataset is released with."""
    columns: dict[str, Shape] = {
        name: (_IDS[dataset.id_type], "report id" if name == dataset.report_id else "case id", None)
        for name in (dataset.case_id, dataset.report_id)
    }
    if table.name == dataset.report_table:
        columns["quarter"] = ("VARCHAR", "period", None)
        for qid in dataset.qid:
            columns |= _region(qid)
    for name in table.publish:
        role = "serial number" if name in table.serial else "published as it is"
        for kind, attributes in (
            ("quasi-sensitive", dataset.quasi_sensitive),
            ("sensitive", dataset.sensitive),
        ):
            if any(a.table == table.name and a.column == name for a in attributes):
                role = kind
        columns[name] = ("VARCHAR", role, None)
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
