"""The documents for catalogues as the formats' own libraries read them.

Each library is in an environment of its own (`.ci/integrations`) and skipped where it is not
installed. ``SRSQL_DCAT_SHAPES`` names a folder of SHACL files (``*.ttl``) of DCAT-AP and
HealthDCAT-AP as their publishers have them, which the package index does not; without it the
shapes below are what is asked for.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from artifact.conftest import Warehouses
from extras.catalogues.test_catalogues import STATED
from support.artifacts import make, manifest_of, read_csv, tables_of

pytestmark = pytest.mark.filterwarnings("ignore")  # those of the libraries


def needs(reason: str, *modules: str) -> pytest.MarkDecorator:
    """Skipped before anything is published where a library is not there."""
    return pytest.mark.skipif(any(find_spec(name) is None for name in modules), reason=reason)


FRICTIONLESS = needs(
    "frictionless, which validates data packages, is not installed", "frictionless"
)
CROISSANT = needs("mlcroissant, which validates Croissant, is not installed", "mlcroissant")
RDF = needs(
    "rdflib and pyshacl, which validate DCAT and PROV, are not installed", "rdflib", "pyshacl"
)
SHAPES = """
@prefix csvw: <http://www.w3.org/ns/csvw#> .
@prefix cv: <http://data.europa.eu/m8g/> .
@prefix dcat: <http://www.w3.org/ns/dcat#> .
@prefix dcatap: <http://data.europa.eu/r5r/> .
@prefix dct: <http://purl.org/dc/terms/> .
@prefix foaf: <http://xmlns.com/foaf/0.1/> .
@prefix health: <http://healthdataportal.eu/ns/health#> .
@prefix prov: <http://www.w3.org/ns/prov#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix spdx: <http://spdx.org/rdf/terms#> .
@prefix vcard: <http://www.w3.org/2006/vcard/ns#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix : <urn:shapes#> .

:Dataset a sh:NodeShape ; sh:targetClass dcat:Dataset ;
    sh:property [ sh:path dct:title ; sh:minCount 1 ; sh:nodeKind sh:Literal ],
        [ sh:path dct:description ; sh:minCount 1 ; sh:nodeKind sh:Literal ],
        [ sh:path dct:identifier ; sh:minCount 1 ; sh:nodeKind sh:Literal ],
        [ sh:path dct:issued ; sh:maxCount 1 ; sh:datatype xsd:date ],
        [ sh:path dcat:keyword ; sh:minCount 1 ; sh:nodeKind sh:Literal ],
        [ sh:path dcat:theme ; sh:minCount 1 ; sh:node :Concept ],
        [ sh:path dct:type ; sh:minCount 1 ; sh:node :Concept ],
        [ sh:path dct:provenance ; sh:minCount 1 ; sh:class dct:ProvenanceStatement ],
        [ sh:path dct:publisher ; sh:minCount 1 ; sh:maxCount 1 ; sh:node :Agent ],
        [ sh:path dcat:contactPoint ; sh:minCount 1 ; sh:class vcard:Kind ],
        [ sh:path dct:accessRights ; sh:minCount 1 ; sh:maxCount 1 ; sh:node :Concept ],
        [ sh:path dcatap:applicableLegislation ; sh:minCount 1 ; sh:nodeKind sh:IRI ],
        [ sh:path health:healthCategory ; sh:minCount 1 ; sh:node :Concept ],
        [ sh:path health:hdab ; sh:minCount 1 ; sh:maxCount 1 ; sh:node :Agent ],
        [ sh:path health:hasStructuredData ; sh:minCount 1 ; sh:datatype xsd:boolean ],
        [ sh:path health:numberOfRecords ; sh:maxCount 1 ; sh:minCount 1 ;
          sh:datatype xsd:nonNegativeInteger ],
        [ sh:path health:numberOfUniqueIndividuals ; sh:maxCount 1 ;
          sh:datatype xsd:nonNegativeInteger ],
        [ sh:path health:hasVariables ; sh:minCount 1 ; sh:class csvw:TableGroup ],
        [ sh:path health:hasCodingSystem ; sh:class dct:Standard ],
        [ sh:path dcat:distribution ; sh:minCount 1 ; sh:class dcat:Distribution ] .
:Concept a sh:NodeShape ;
    sh:property [ sh:path skos:prefLabel ; sh:minCount 1 ],
        [ sh:path skos:inScheme ; sh:minCount 1 ; sh:class skos:ConceptScheme ] .
:Agent a sh:NodeShape ;
    sh:property [ sh:path foaf:name ; sh:minCount 1 ],
        [ sh:path cv:contactPoint ; sh:minCount 1 ; sh:maxCount 1 ; sh:class cv:ContactPoint ] .
:Distribution a sh:NodeShape ; sh:targetClass dcat:Distribution ;
    sh:property [ sh:path dcat:accessURL ; sh:minCount 1 ; sh:nodeKind sh:IRI ],
        [ sh:path dcatap:applicableLegislation ; sh:minCount 1 ; sh:nodeKind sh:IRI ],
        [ sh:path dct:license ; sh:maxCount 1 ; sh:class dct:LicenseDocument ],
        [ sh:path dcat:byteSize ; sh:datatype xsd:nonNegativeInteger ],
        [ sh:path spdx:checksum ; sh:minCount 1 ; sh:maxCount 1 ; sh:node :Checksum ] .
:Checksum a sh:NodeShape ;
    sh:property [ sh:path spdx:checksumValue ; sh:minCount 1 ; sh:datatype xsd:hexBinary ],
        [ sh:path spdx:algorithm ; sh:minCount 1 ; sh:class spdx:ChecksumAlgorithm ] .
:Column a sh:NodeShape ; sh:targetClass csvw:Column ;
    sh:property [ sh:path csvw:name ; sh:minCount 1 ; sh:maxCount 1 ],
        [ sh:path csvw:title ; sh:minCount 1 ], [ sh:path dct:description ; sh:minCount 1 ],
        [ sh:path csvw:datatype ; sh:minCount 1 ; sh:maxCount 1 ] .
:Activity a sh:NodeShape ; sh:targetClass prov:Activity ;
    sh:property [ sh:path rdfs:label ; sh:minCount 1 ],
        [ sh:path prov:used ; sh:minCount 1 ; sh:class prov:Entity ],
        [ sh:path [ sh:alternativePath ( prov:wasAssociatedWith prov:qualifiedAssociation ) ] ;
          sh:minCount 1 ] .
:Entity a sh:NodeShape ; sh:targetClass prov:Entity ;
    sh:property [ sh:path rdfs:label ; sh:minCount 1 ],
        [ sh:path prov:wasGeneratedBy ; sh:maxCount 1 ; sh:class prov:Activity ],
        [ sh:path prov:wasDerivedFrom ; sh:class prov:Entity ],
        [ sh:path prov:wasRevisionOf ; sh:maxCount 1 ; sh:class prov:Entity ] .
"""
"""What HealthDCAT-AP asks of open data, and what PROV-O says of its terms, in our words."""


@pytest.fixture(scope="module", params=["csv", "parquet", "duckdb", "range"])
def published(
    request: pytest.FixtureRequest, warehouses: Warehouses,
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:  # fmt: skip
    """An artifact in each form, and one of several quarters, with all that can be stated."""
    to, several = tmp_path_factory.mktemp("published") / "out", request.param == "range"
    quarter = "2011Q3:2011Q4" if several else "2011Q3"
    form = "csv" if several else request.param
    return make(warehouses["ppms++"], to, quarter, format=form, **STATED)


@FRICTIONLESS
def test_frictionless_finds_nothing_wrong_in_types_keys_and_hashes(published: Path) -> None:
    import frictionless

    package = frictionless.Package(str(published / "datapackage.json"))
    report = package.validate()
    assert report.valid, report.flatten(["resourceName", "type", "message"])[:5]
    assert report.stats["tasks"] == len(package.resources) >= 4


@FRICTIONLESS
def test_frictionless_finds_a_child_row_without_its_report(
    warehouses: Warehouses, tmp_path: Path
) -> None:
    """What it reads in the document is what it checks."""
    import frictionless

    folder = make(warehouses["ppms++"], tmp_path / "out", "2011Q3", format="csv")
    with (folder / "reac.csv").open("a", encoding="utf-8") as file:
        file.write("1,1,Nobody's reaction\n")
    found = frictionless.Package(str(folder / "datapackage.json")).validate()
    kinds = {kind for (kind,) in found.flatten(["type"])}
    assert {"foreign-key", "hash-count", "byte-count"} <= kinds


@CROISSANT
def test_mlcroissant_finds_nothing_wrong_and_reads_every_row(published: Path) -> None:
    import mlcroissant

    dataset = mlcroissant.Dataset(jsonld=str(published / "croissant.json"))
    issues = dataset.metadata.ctx.issues
    assert not issues.errors
    assert not issues.warnings
    form = manifest_of(published)["format"]
    assert len(dataset.metadata.record_sets) == (0 if form == "duckdb" else 5)
    for table in ("demo", "reac") if form != "duckdb" else ():
        found = list(dataset.records(record_set=table))
        ids = [str(record[f"{table}/primaryid"]) for record in found]
        if form == "csv":
            assert ids == [row["primaryid"] for row in read_csv(published, table)]
        else:
            assert len(ids) == len(tables_of(published)[table])


def graphs(folder: Path) -> Iterator[tuple[str, Any]]:
    import rdflib

    for name in ("dcat.jsonld", "prov.jsonld"):
        yield name, rdflib.Graph().parse(str(folder / name), format="json-ld")


@RDF
def test_dcat_and_prov_have_the_shapes_of_their_profiles(published: Path) -> None:
    import pyshacl
    import rdflib

    shapes = rdflib.Graph().parse(data=SHAPES, format="turtle")
    for file in sorted(Path(os.environ.get("SRSQL_DCAT_SHAPES", ".")).glob("*.ttl")):
        shapes.parse(str(file), format="turtle")
    for name, graph in graphs(published):
        conforms, _, text = pyshacl.validate(graph, shacl_graph=shapes, allow_warnings=True)
        assert conforms, f"{name}: {text}"


@RDF
def test_shapes_refuse_what_lacks_a_publisher(warehouses: Warehouses, tmp_path: Path) -> None:
    """The shapes see the document: without what only its publisher knows, it does not conform."""
    import pyshacl
    import rdflib

    folder = make(warehouses["ppms++"], tmp_path / "out", "2011Q3", format="csv")
    shapes = rdflib.Graph().parse(data=SHAPES, format="turtle")
    for name, graph in graphs(folder):
        conforms, _, text = pyshacl.validate(graph, shacl_graph=shapes)
        assert conforms == (name == "prov.jsonld")
        assert ("publisher" in text) == (name == "dcat.jsonld")


@RDF
def test_sparql_follows_the_artifact_back_to_its_sources(published: Path) -> None:
    (_, _), (_, graph) = graphs(published)
    rows = graph.query(
        "PREFIX prov: <http://www.w3.org/ns/prov#> "
        "PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> "
        "SELECT DISTINCT ?label WHERE { ?artifact prov:wasDerivedFrom+ ?source . "
        "?source rdfs:label ?label . FILTER(CONTAINS(STR(?artifact), '-artifact-')) "
        "FILTER(CONTAINS(STR(?source), '-source-')) }"
    )
    told = manifest_of(published)
    quarters = [part["quarter"] for part in told.get("quarters", [told])]
    sources = sorted(str(row.label) for row in rows)
    title = "FDA Adverse Event Reporting System, quarterly ASCII files"
    assert sources == [f"{title}, {quarter}, as it was received" for quarter in quarters]
