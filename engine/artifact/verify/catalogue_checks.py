"""What an artifact tells catalogues, held against its files, its manifest and its rows.

Written without the code that writes these documents: what the formats ask for is written down here
a second time, on purpose. Where the same version of the software wrote the artifact,
``contradictions`` compares them byte by byte as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import duckdb
from sqlglot import exp

from srsql.engine.artifact.format import (
    CATALOGUED,
    CROISSANT,
    DATA_PACKAGE,
    DCAT,
    DICTIONARY,
    HIERARCHIES,
    MANIFEST,
    METHODS,
    PROV,
    THRESHOLDS,
    AnyManifest,
    Attribute,
    Column,
    Manifest,
    QuarterManifest,
    RangeManifest,
    Stated,
    quarters_of,
    stored_columns,
)
from srsql.engine.artifact.verify.contradictions import Trees
from srsql.engine.artifact.verify.reading import count, loaded
from srsql.engine.artifact.verify.verdict import Check
from srsql.engine.store.statements import column, temporary
from srsql.engine.store.statements import query as named_query
from srsql.schemas.outside import OutsideError, json_of, read_bytes

MOST_BYTES = 2**26
SMALL = (DICTIONARY, THRESHOLDS, HIERARCHIES)
OF_QUARTER = Column(name="quarter", type="VARCHAR", role="period")
_FRICTIONLESS = {"BIGINT": "integer", "VARCHAR": "string"}
_CROISSANT = {"BIGINT": "sc:Integer", "VARCHAR": "sc:Text"}
HOW = ("single", "several", "any")
"""How exactly a case shows a quasi-identifier."""
Node = Mapping[str, Any]


class _WrongError(Exception):
    """A document is not what its format asks for."""


def catalogue_check(folder: Path, manifest: AnyManifest) -> Check | None:
    """The check of the documents for catalogues; None: the artifact is of a version without them.

    Args:
        folder: of the artifact.
        manifest: whose files are there.
    """
    if manifest.artifact_version < CATALOGUED:
        return None
    faults: list[str] = []
    for name, judged in (
        (DATA_PACKAGE, _package_faults),
        (CROISSANT, _croissant_faults),
        (DCAT, _dcat_faults),
        (PROV, _provenance_faults),
    ):
        try:
            found = list(judged(read_document(folder / name), folder, manifest))
        except _WrongError as error:
            found = [str(error)]
        except (KeyError, TypeError, AttributeError, ValueError, IndexError):
            found = ["it has not the form that it is to have"]
        faults += [f"{name}: {text}" for text in found]
    try:
        read_bytes(folder / METHODS, links=False).decode()
    except (OSError, UnicodeDecodeError):
        faults.append(f"{METHODS}: it is no text")
    return Check("catalogues", faults, 5)


def read_document(path: Path) -> dict[str, Any]:
    """A JSON document with one object, each of its names there once.

    Raises:
        _WrongError: it is none.
    """
    try:
        found = json_of(read_bytes(path, MOST_BYTES, links=False).decode(), _once)
    except OutsideError:
        raise _WrongError("it is too large, or no plain file") from None
    except (OSError, UnicodeDecodeError, ValueError):
        raise _WrongError("it is no JSON document") from None
    if not isinstance(found, dict):
        raise _WrongError("it is no JSON object")
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) < len(pairs):
        raise _WrongError("it says something twice")
    return dict(pairs)


def _listed(value: Any) -> list[Any]:
    """JSON-LD writes one value without a list around it."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _described(manifest: AnyManifest) -> set[str]:
    return {t.file for part in quarters_of(manifest) for t in part.tables} | set(SMALL)


def _file_faults(
    told: Sequence[tuple[str, str, str | int | None]], folder: Path, manifest: AnyManifest
) -> Iterator[str]:
    """What is said of files, as (name, SHA-256, bytes), and is not so."""
    names = [name for name, _, _ in told]
    if sorted(names) != sorted(_described(manifest)):
        yield f"it lists {', '.join(sorted(map(str, names)))}, not each file of rows once"
        return
    for name, digest, size in told:
        if digest != manifest.files[name]:
            yield f"{name} has another hash than in {MANIFEST}"
        if size is not None and str(size) != str((folder / name).stat().st_size):
            yield f"{name} does not have {size} bytes"


# --- Data Package ---------------------------------------------------------------------------------


def _package_faults(document: Node, folder: Path, manifest: AnyManifest) -> Iterator[str]:
    first = quarters_of(manifest)[0]
    resources = document["resources"]
    told = [(r["path"], r["hash"].removeprefix("sha256:"), r.get("bytes")) for r in resources]
    yield from _file_faults(told, folder, manifest)
    schemas = _schemas(document, first)
    if sorted(schemas) != sorted(item.name for item in first.tables):
        yield f"it has schemas of {', '.join(sorted(schemas))}, not of each table"
        return
    for item in first.tables:
        found = [(each["name"], each["type"]) for each in schemas[item.name]["fields"]]
        due = [(c.name, _FRICTIONLESS.get(c.type, "number")) for c in _asked(first, item.name)]
        if found != due:
            yield f"{item.name} has other fields or types than in {MANIFEST}"
    yield from _field_bounds(first, schemas)
    stated = first.stated or Stated()
    licences = [each.get("name", each.get("path")) for each in document.get("licenses", [])]
    if licences != ([stated.license] if stated.license else []):
        yield f"it has another licence than {MANIFEST}"


def _schemas(document: Node, manifest: Manifest) -> dict[str, Node]:
    """Table -> its schema."""
    resources = document["resources"]
    if manifest.format == "duckdb":
        return {t["name"]: t["schema"] for r in resources for t in r.get("tables", [])}
    rows = [r for r in resources if r["path"] not in SMALL]
    return {r["name"]: r["schema"] for r in rows}


def _asked(manifest: Manifest, name: str) -> tuple[Column, ...]:
    """The columns that a table has in SQL; of several quarters each row tells its."""
    columns = manifest.table(name).columns
    several = isinstance(manifest, QuarterManifest) and all(c.role != "period" for c in columns)
    return (OF_QUARTER, *columns) if several else columns


def _field_bounds(manifest: Manifest, schemas: Mapping[str, Node]) -> Iterator[str]:
    """Least and greatest values are those that are declared, or a cell would tell of the rows."""
    domains = {attribute.name: attribute for attribute in manifest.attributes}
    for item in manifest.tables:
        for field, shown in zip(
            schemas[item.name]["fields"], _asked(manifest, item.name), strict=False
        ):
            told = field.get("constraints", {})
            domain = domains.get(shown.attribute or "")
            due = {} if domain is None else _domain(domain)
            found = {n: float(v) for n, v in told.items() if n in ("minimum", "maximum")}
            if found != due or set(told) - {"minimum", "maximum", "required"}:
                yield f"{item.name}.{shown.name} is bounded otherwise than in {MANIFEST}"


def _domain(attribute: Attribute) -> dict[str, float]:
    if attribute.low is None or attribute.high is None:
        return {}
    return {"minimum": float(attribute.low), "maximum": float(attribute.high)}


# --- Croissant ------------------------------------------------------------------------------------


def _croissant_faults(document: Node, folder: Path, manifest: AnyManifest) -> Iterator[str]:
    first = quarters_of(manifest)[0]
    told = [
        (f["contentUrl"], f["sha256"], f["contentSize"].removesuffix(" B"))
        for f in document["distribution"]
    ]
    yield from _file_faults(told, folder, manifest)
    record_sets = {each["name"]: each for each in document.get("recordSet", [])}
    due = [] if first.format == "duckdb" else sorted(item.name for item in first.tables)
    if sorted(record_sets) != due:
        named = ", ".join(sorted(record_sets))
        yield f"it has record sets {named}, not {', '.join(due) or 'none'}"
        return
    for name, each in record_sets.items():
        item = first.table(name)
        shown = [
            (
                f["name"],
                f["dataType"],
                f["source"]["fileObject"]["@id"],
                f["source"]["extract"]["column"],
            )
            for f in each["field"]
        ]
        expected = [
            (c.name, _CROISSANT.get(c.type, "sc:Float"), item.file, c.name)
            for c in stored_columns(first, item)
        ]
        if shown != expected:
            yield f"{name} has other fields, types or sources than in {MANIFEST}"
    stated = first.stated or Stated()
    if not str(document.get("license", "")).endswith(stated.license or ""):
        yield f"it has another licence than {MANIFEST}"
    if document.get("citeAs") != stated.cite_as:
        yield f"it has another citation than {MANIFEST}"


# --- DCAT -----------------------------------------------------------------------------------------


def _dcat_faults(document: Node, folder: Path, manifest: AnyManifest) -> Iterator[str]:
    parts = quarters_of(manifest)
    stated = parts[-1].stated or Stated()
    files = document["dcat:distribution"]
    told = [
        (
            f["dct:title"]["@value"],
            f["spdx:checksum"]["spdx:checksumValue"]["@value"],
            f["dcat:byteSize"]["@value"],
        )
        for f in files
    ]
    yield from _file_faults(told, folder, manifest)
    of_all = (
        manifest.released_cases
        if isinstance(manifest, RangeManifest)
        else manifest.counts.released_cases
    )
    cases = None if of_all is None else str(of_all)
    days = [str(p.parameters["release_date"]) for p in parts if "release_date" in p.parameters]
    licences = {f.get("dct:license", {}).get("@id") for f in files}
    contact = document.get("dcat:contactPoint", {})
    way = contact.get("vcard:hasEmail", contact.get("vcard:hasURL", {})).get("@id")
    for what, found, due in (
        (
            "number of records",
            _value(document, "healthdcatap:numberOfRecords"),
            str(sum(part.counts.released_reports for part in parts)),
        ),
        ("number of cases", _value(document, "healthdcatap:numberOfUniqueIndividuals"), cases),
        ("day", _value(document, "dct:issued"), max(days, default=None)),
        ("publisher", document.get("dct:publisher", {}).get("foaf:name"), stated.publisher),
        ("contact", way and way.removeprefix("mailto:"), stated.contact),
        ("citation", document.get("dct:bibliographicCitation"), stated.cite_as),
        (
            "licence",
            {str(each or "").rpartition("/")[2] for each in licences},
            {(stated.license or "").rpartition("/")[2]},
        ),
        (
            "body of access",
            document.get("healthdcatap:hdab", {}).get("foaf:name"),
            stated.access_body,
        ),
    ):
        if found != due:
            yield f"it has another {what} than {MANIFEST}: {found}, not {due}"


def _value(node: Node, name: str) -> str | None:
    return node[name]["@value"] if name in node else None


# --- PROV -----------------------------------------------------------------------------------------


def _provenance_faults(document: Node, _: Path, manifest: AnyManifest) -> Iterator[str]:
    """The chain has the releases that the manifests name, each after the ones before it."""
    nodes = {node["@id"]: node for node in document["@graph"]}
    if len(nodes) < len(document["@graph"]):
        yield "it tells of something twice"
    parts = quarters_of(manifest)
    (page,) = {name.rpartition("#")[0] for name in nodes}
    base = f"{page}#{'-'.join(quote(t, safe='') for t in (manifest.dataset, manifest.series))}"
    most: Counter[str] = Counter()
    chain: dict[str, list[str]] = {}
    for part in parts:
        told = Counter(part.earlier_releases)
        for quarter, number in (told + Counter([part.quarter])).items():
            most[quarter] = max(most[quarter], number)
        own = _release(base, part.quarter, 1 + told[part.quarter])
        chain[own] = [_release(base, q, v) for q, n in told.items() for v in range(1, n + 1)]
    due = {_release(base, q, v): (q, v) for q, n in most.items() for v in range(1, n + 1)}
    found = {name for name in nodes if name.startswith(f"{base}-release-")}
    if found != due.keys():
        yield f"it tells of other releases than {MANIFEST}"
        return
    for name, (quarter, version) in due.items():
        before = [_release(base, quarter, version - 1)] if version > 1 else []
        if _links(nodes[name], "prov:wasRevisionOf") != before:
            yield f"{quarter}, version {version}, does not supersede what it supersedes"
    for part, (name, earlier) in zip(parts, chain.items(), strict=True):
        rows, made, read = (
            f"{base}-{what}{name.removeprefix(f'{base}-release')}"
            for what in ("reports", "releasing", "ingestion")
        )
        steps = (
            (name, "prov:wasGeneratedBy", [made]),
            (name, "prov:wasDerivedFrom", [rows]),
            (made, "prov:used", [rows, *earlier]),
            (rows, "prov:wasGeneratedBy", [read]),
        )
        for step, link, ends in steps:
            if sorted(_links(nodes[step], link)) != sorted(ends):
                yield f"{part.quarter}: its release does not follow from what it was made of"
    yield from _stray_nodes(nodes.keys(), base, chain, parts)
    last = [node for name, node in nodes.items() if name.startswith(f"{base}-artifact-")]
    if [sorted(_links(node, "prov:wasDerivedFrom")) for node in last] != [sorted(chain)]:
        yield f"the artifact does not follow from the releases that {MANIFEST} names"


def _stray_nodes(
    names: Collection[str], base: str, own: Collection[str], parts: Sequence[Manifest]
) -> Iterator[str]:
    """Things that the chain does not have, beside the releases: one artifact, one software."""
    steps = {
        f"{base}-{step}{name.removeprefix(f'{base}-release')}"
        for name in own
        for step in ("reports", "ingestion", "releasing", "plan")
    }
    steps |= {f"{base}-source-{quote(part.quarter, safe='')}" for part in parts}
    steps |= {f"{base}-publishing", f"{base}-publisher"}
    rest = [n for n in names if n not in steps and not n.startswith(f"{base}-release-")]
    kinds = sorted(name.removeprefix(f"{base}-").partition("-")[0] for name in rest)
    if kinds != ["artifact", "software"]:
        yield f"it tells of {', '.join(sorted(rest))}, which are no steps of a release"


def _release(base: str, quarter: str, version: int) -> str:
    return f"{base}-release-{quote(quarter, safe='')}-v{version}"


def _links(node: Node, name: str) -> list[str]:
    return [each["@id"] for each in _listed(node.get(name))]


# --- rows -----------------------------------------------------------------------------------------


def key_check(con: duckdb.DuckDBPyConnection, folder: Path, manifest: Manifest) -> Check | None:
    """Whether the keys of the data package hold in the rows of a quarter; None: it has none.

    Args:
        con: into which the tables were loaded.
        folder: of the artifact.
        manifest: of the quarter.
    """
    if manifest.artifact_version < CATALOGUED:
        return None
    try:
        schemas = _schemas(read_document(folder / DATA_PACKAGE), manifest)
        found = list(_key_faults(con, manifest, schemas))
    except (_WrongError, KeyError, TypeError, AttributeError, ValueError) as error:
        found = [f"{DATA_PACKAGE}: its keys cannot be read: {error}"]
    return Check("keys", found, sum(item.rows for item in manifest.tables))


def _key_faults(
    con: duckdb.DuckDBPyConnection, manifest: Manifest, schemas: Mapping[str, Node]
) -> Iterator[str]:
    named = {item.name: {c.name for c in item.columns} for item in manifest.tables}
    for table in named:
        primary = _without_quarter(manifest, schemas[table].get("primaryKey", []))
        if table == manifest.report_table and not primary:
            yield f"{DATA_PACKAGE}: {table} has no primary key"
        if not set(primary) <= named[table]:
            yield f"{DATA_PACKAGE}: {table} has not the columns of its key"
        elif primary and (rows := count(con, _twice(table, primary).subquery("k"))):
            yield f"{DATA_PACKAGE}: {rows} key(s) of {table} are missing or not there once"
        for key in schemas[table].get("foreignKeys", []):
            names = _without_quarter(manifest, key["fields"])
            other = key["reference"]["resource"]
            if key["reference"]["fields"] != key["fields"] or not (
                set(names) <= named[table] & named.get(other, set())
            ):
                yield f"{DATA_PACKAGE}: {table} leads to columns that {other} does not have"
            elif rows := count(con, _orphans(table, other, names).subquery("o")):
                yield f"{DATA_PACKAGE}: {rows} row(s) of {table} lead to none of {other}"


def _without_quarter(manifest: Manifest, names: Any) -> list[str]:
    """Rows are loaded quarter by quarter, so that it holds by itself."""
    listed = [str(name) for name in _listed(names)]
    return listed[1:] if isinstance(manifest, QuarterManifest) else listed


def _twice(table: str, names: Sequence[str]) -> exp.Select:
    cells = [column(name, "t") for name in names]
    missing = [cell.copy().is_(exp.null()) for cell in cells]
    several = exp.GT(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(1))
    query = exp.select(*cells).from_(temporary(loaded(table), alias="t"))
    return query.group_by(*[c.copy() for c in cells]).having(exp.or_(several, *missing))


def _orphans(table: str, other: str, names: Sequence[str]) -> exp.Select:
    same = exp.and_(*[column(name, "t").eq(column(name, "p")) for name in names])
    parent = exp.select("1").from_(temporary(loaded(other), alias="p")).where(same)
    query = exp.select("1").from_(temporary(loaded(table), alias="t"))
    return query.where(exp.Not(this=exp.Exists(this=parent)))


def shown_faults(con: duckdb.DuckDBPyConnection, manifest: Manifest, trees: Trees) -> Iterator[str]:
    """Where the manifest counts otherwise than the rows how exactly cases show their values.

    Args:
        con: into which the tables were loaded.
        manifest: of the quarter.
        trees: hierarchies of the artifact.
    """
    if manifest.artifact_version < CATALOGUED:
        return
    told = {each.attribute: each for each in manifest.shown or ()}
    if sorted(told) != sorted(a.name for a in manifest.attributes) or manifest.stated is None:
        yield f"{MANIFEST}: shown and stated are not there, or not of each quasi-identifier"
        return
    for attribute in manifest.attributes:
        found = _counted(con, manifest, attribute, trees)
        claimed = {how: getattr(told[attribute.name], how) for how in HOW}
        if found != claimed:
            yield f"{attribute.name} is shown by {claimed} cases, as told; by {found} in the rows"


def unprotected_faults(con: duckdb.DuckDBPyConnection, manifest: Manifest) -> Iterator[str]:
    """Where the manifest counts otherwise than the rows what a threshold of 1 leaves unbounded.

    Args:
        con: into which rows and thresholds were read, as artifact 0.
        manifest: of the quarter; one that does not tell it claims nothing.
    """
    if manifest.unprotected is None:
        return
    row = con.execute(named_query("artifact/reading", "unprotected")).fetchone() or (0, 0, 0, 0)
    names = ("values", "all_values", "held_unprotected", "held")
    shows = any(c.role == "sensitive" for table in manifest.tables for c in table.columns)
    due = dict(zip(names, row, strict=True)) if shows and row[1] else None
    told = manifest.unprotected.model_dump()
    if told != due:
        yield f"{MANIFEST}: unprotected is told as {told}; by the rows it is {due}"


def _counted(
    con: duckdb.DuckDBPyConnection, manifest: Manifest, attribute: Attribute, trees: Trees
) -> dict[str, int]:
    reports = manifest.reports
    named = {c.role: c.name for c in reports.columns}
    case = column(named.get("case id", named["report id"]), "t")
    ends = [column(c.name, "t") for c in reports.columns if c.attribute == attribute.name]
    conditions: list[exp.Expr]
    if attribute.kind == "numeric":
        low, high = ends
        conditions = [low.eq(high), low.copy().neq(high.copy()), low.copy().is_(exp.null())]
    else:
        rows = trees.get(attribute.name, [])
        inner = {parent for _, parent in rows}
        whole = [node for node, parent in rows if not parent]
        leaves = [node for node, _ in rows if node not in inner and node not in whole]
        (node,) = ends
        conditions = [
            _one_of(node, leaves),
            _one_of(node, [n for n, _ in rows if n in inner and n not in whole]),
            _one_of(node, whole),
        ]
    counts = [
        exp.Filter(
            this=exp.Count(this=exp.Distinct(expressions=[case.copy()])),
            expression=exp.Where(this=condition),
        )
        for condition in conditions
    ]
    query = exp.select(*counts).from_(temporary(loaded(reports.name), alias="t"))
    ((single, several, whole_cases),) = con.execute(query.sql("duckdb")).fetchall()
    return dict(zip(HOW, (single, several, whole_cases), strict=True))


def _one_of(node: exp.Expr, values: Sequence[str]) -> exp.Expr:
    return node.copy().isin(*values) if values else exp.false()
