"""The documents of an artifact that catalogues read: Data Package, Croissant, DCAT, PROV.

They follow from the manifest, the hashes in it, and the sizes of the files, and tell nothing else:
released counts, declared domains, no value of a case. `publish` writes them; `verify` writes them
again and compares, and holds what they claim of files and rows against these by code of its own.

* ``datapackage.json``: Data Package (Frictionless), with types, primary and foreign keys.
* ``croissant.json``: Croissant 1.1 (MLCommons). Nobody reads a DuckDB file by it, so that of such
  an artifact it lists the file and no record sets.
* ``dcat.jsonld``: DCAT 3 and DCAT-AP 3, with the properties of HealthDCAT-AP (release 8).
* ``prov.jsonld``: PROV-O, from the source over ingestion and release to the artifact, with the
  releases before it and those that it supersedes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from srsql.engine.artifact.described import column_meaning, described_files, table_meaning
from srsql.engine.artifact.format import (
    CLUSTERS,
    CROISSANT,
    DATA_PACKAGE,
    DCAT,
    DICTIONARY,
    DUCKDB_FILE,
    HIERARCHIES,
    METHODS,
    PROV,
    QUARTER,
    THRESHOLDS,
    AnyManifest,
    Column,
    Manifest,
    QuarterManifest,
    Table,
    stored_columns,
)
from srsql.engine.extras.catalogues.about import KEYWORDS, About, Json, asked_columns, present
from srsql.engine.extras.catalogues.linked_data import MEDIA, dcat, provenance
from srsql.engine.extras.catalogues.methods import methods

KINDS = {"BIGINT": "integer", "VARCHAR": "string"}
"""Type of a column -> type of Frictionless; a decimal number is a ``number``."""
CROISSANT_CONTEXT: Json = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "description": {"@container": "@language"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "name": {"@container": "@language"},
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    **{
        name: f"cr:{name}"
        for name in (
            "arrayShape", "citeAs", "column", "containedIn", "equivalentProperty", "extract",
            "field", "fileProperty", "fileObject", "fileSet", "format", "includes", "isArray",
            "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet",
            "references", "regex", "repeated", "replace", "samplingRate", "separator", "source",
            "subField", "transform",
        )
    },
}  # fmt: skip


def catalogues(manifest: AnyManifest, sizes: Mapping[str, int]) -> dict[str, bytes]:
    """Every document for catalogues, by its name.

    Args:
        manifest: of the artifact, with the hashes of the files that are described.
        sizes: of these files, in bytes.
    """
    about = About(manifest, sizes)
    return {
        DATA_PACKAGE: _written(data_package(about)),
        CROISSANT: _written(croissant(about)),
        DCAT: _written(dcat(about)),
        PROV: _written(provenance(about)),
        METHODS: methods(manifest),
    }


def _written(document: Json) -> bytes:
    return (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode()


# --- Data Package ---------------------------------------------------------------------------------


def data_package(about: About) -> Json:
    """``datapackage.json`` (Data Package, https://datapackage.org)."""
    words = [about.manifest.dataset, about.manifest.series, *about.ends]
    stated, license = about.stated, about.stated.license
    contact = {"email" if "@" in (stated.contact or "") else "path": stated.contact}
    holder = present({"title": stated.publisher or stated.contact, "role": "publisher", **contact})
    return present(
        {
            "name": re.sub(r"[^a-z0-9._-]", "-", "-".join(words).lower()),
            "id": about.iri,
            "title": about.title,
            "description": about.text,
            "homepage": stated.landing_page,
            "version": about.version,
            "created": f"{about.issued}T00:00:00Z" if about.issued else None,
            "keywords": list(KEYWORDS),
            "licenses": [{"path": about.license, **({} if license == about.license else
                                                    {"name": license})}] if license else None,
            "contributors": [holder] if "title" in holder else None,
            "resources": [*_row_resources(about), *_small_resources(about)],
        }
    )  # fmt: skip


def _resource(about: About, name: str, file: str) -> Json:
    form = file.rpartition(".")[2]
    return {
        "name": name,
        "path": file,
        "format": form,
        "mediatype": MEDIA[form],
        # the library counts no bytes of Parquet files that it reads, and misses those that are told
        **({} if form == "parquet" else {"bytes": about.sizes[file]}),
        "hash": f"sha256:{about.first.files[file]}",
    }


def _row_resources(about: About) -> Iterator[Json]:
    tables = about.first.tables
    if about.form == "duckdb":
        schemas = [{"name": item.name, "schema": _schema(about, item)} for item in tables]
        yield {**_resource(about, "release", DUCKDB_FILE), "tables": schemas}
        return
    for item in tables:
        yield {
            **_resource(about, item.name, item.file),
            "type": "table",
            **({"encoding": "utf-8"} if about.form == "csv" else {}),
            "description": table_meaning(about.first, item.name),
            "schema": _schema(about, item),
        }


def _schema(about: About, item: Table) -> Json:
    columns = asked_columns(about.first, item)
    primary, foreign = keys_of(about.first, item)
    return present(
        {
            "fields": [_field(about.first, shown) for shown in columns],
            "missingValues": [""],
            "primaryKey": list(primary),
            "foreignKeys": [
                {"fields": list(names), "reference": {"resource": table, "fields": list(names)}}
                for table, names in foreign
            ],
        }
    )


def keys_of(
    manifest: Manifest, item: Table
) -> tuple[tuple[str, ...], list[tuple[str, tuple[str, ...]]]]:
    """What rows of a table are told apart by, and which tables its ids lead to.

    Returns:
        The columns of the primary key (none: rows may be alike), and table -> columns that both
        have. Of several quarters, keys have the quarter as well.
    """
    period = (QUARTER,) if isinstance(manifest, QuarterManifest) else ()
    ids = tuple(c.name for c in item.columns if c.role in ("report id", "case id"))
    report = tuple(c.name for c in item.columns if c.role == "report id")
    if ids and item.name == manifest.report_table:
        return (*period, *report), []
    if ids and manifest.report_table is not None:
        return (), [(manifest.report_table, (*period, *ids))]
    if item.name == CLUSTERS:
        return (*period, "cluster"), []
    if any(shown.name == "cluster" for shown in item.columns):
        return (), [(CLUSTERS, (*period, "cluster"))]
    return (), []


def _field(manifest: Manifest, shown: Column) -> Json:
    known = {attribute.name: attribute for attribute in manifest.attributes}
    domain = known.get(shown.attribute or "")
    bounds: Json = {}
    if domain is not None and domain.low is not None and domain.high is not None:
        number = int if shown.type == "BIGINT" else float
        bounds = {"minimum": number(domain.low), "maximum": number(domain.high)}
    if shown.role in ("report id", "case id", "period"):
        bounds = {"required": True}
    return present(
        {
            "name": shown.name,
            "type": KINDS.get(shown.type, "number"),
            "description": column_meaning(manifest, shown),
            "constraints": bounds,
        }
    )


def _small_resources(about: About) -> Iterator[Json]:
    period = [QUARTER] if about.several else []
    numbers = ("theta_num", "theta_den")
    told = ("table", "column", "type", "role", "meaning", "unit", "domain", "granularity")
    for file, fields, key in (
        (DICTIONARY, list(told), ["table", "column"]),
        (THRESHOLDS, [*period, "value", *numbers], [*period, "value"]),
        (HIERARCHIES, ["attribute", "node", "parent"], ["attribute", "node"]),
    ):
        schema = {
            "fields": [
                {"name": name, "type": "integer" if name in numbers else "string"}
                for name in fields
            ],
            "missingValues": [""],
            "primaryKey": key,
        }
        resource = _resource(about, file.removesuffix(".csv"), file)
        yield {**resource, "type": "table", "encoding": "utf-8", "schema": schema}


# --- Croissant ------------------------------------------------------------------------------------


def croissant(about: About) -> Json:
    """``croissant.json`` (https://docs.mlcommons.org/croissant/docs/croissant-spec-1.1.html)."""
    stated, holder = about.stated, about.stated.publisher
    organization = [present({"@type": "sc:Organization", "name": holder,
                           "url": stated.landing_page})] if holder else None  # fmt: skip
    return present(
        {
            "@context": CROISSANT_CONTEXT,
            "@type": "sc:Dataset",
            "@id": about.iri,
            "name": about.title,
            "description": about.text,
            "conformsTo": "http://mlcommons.org/croissant/1.1",
            "url": stated.landing_page or about.iri,
            "license": about.license,
            "creator": organization,
            "publisher": organization,
            "citeAs": stated.cite_as,
            "datePublished": about.issued,
            "version": about.version,
            "keywords": list(KEYWORDS),
            "inLanguage": "en",
            "isLiveDataset": False,
            "rai:dataCollection": "Spontaneous reports of suspected adverse drug reactions.",
            "rai:dataPreprocessingProtocol": about.text,
            "rai:personalSensitiveInformation": "Health data, generalized: "
            + str(about.last.parameters.get("protected", "see the README")),
            "distribution": [
                {
                    "@type": "cr:FileObject",
                    "@id": file,
                    "name": file,
                    "contentUrl": file,
                    "contentSize": f"{about.sizes[file]} B",
                    "encodingFormat": MEDIA[file.rpartition(".")[2]].replace(
                        "vnd.apache.parquet", "x-parquet"
                    ),
                    "sha256": about.first.files[file],
                }
                for file in described_files(about.manifest)
            ],
            "recordSet": [] if about.form == "duckdb" else
            [_record_set(about, item) for item in about.first.tables],
        }
    )  # fmt: skip


def _record_set(about: About, item: Table) -> Json:
    primary, foreign = keys_of(about.first, item)
    # a field refers by itself, and whoever reads it joins on it alone: rows of a report, not of a
    # case or of a quarter, of which there can be several on either side
    alone = [(table, names[0]) for table, names in foreign if not about.several]
    referred = {name: table for table, name in alone}
    return present(
        {
            "@type": "cr:RecordSet",
            "@id": item.name,
            "name": item.name,
            "description": table_meaning(about.first, item.name),
            "key": [{"@id": f"{item.name}/{name}"} for name in primary],
            "field": [
                present(
                    {
                        "@type": "cr:Field",
                        "@id": f"{item.name}/{shown.name}",
                        "name": shown.name,
                        "description": column_meaning(about.first, shown),
                        "dataType": {"BIGINT": "sc:Integer", "VARCHAR": "sc:Text"}.get(
                            shown.type, "sc:Float"
                        ),
                        "source": {
                            "fileObject": {"@id": item.file},
                            "extract": {"column": shown.name},
                        },
                        "references": {"field": {"@id": f"{referred[shown.name]}/{shown.name}"}}
                        if shown.name in referred
                        else None,
                    }
                )
                for shown in stored_columns(about.first, item)
            ],
        }
    )
