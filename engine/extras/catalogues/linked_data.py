"""The documents of an artifact in linked data: what it is (DCAT) and how it came about (PROV).

Both are JSON-LD with a context of their own, so that nobody has to fetch one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from srsql.engine.artifact.described import column_meaning, described_files
from srsql.engine.artifact.format import PROV, Manifest, Stated
from srsql.engine.catalog.periods import days_of
from srsql.engine.extras.catalogues.about import KEYWORDS, About, Json, asked_columns, present

EU = "http://publications.europa.eu/resource/authority/"
HEALTH_AUTHORITY = "https://hdeu-dcat.data.health.europa.eu/resource/authority/"
MEDIA = {
    "csv": "text/csv",
    "parquet": "application/vnd.apache.parquet",
    "duckdb": "application/vnd.duckdb.file",
}
REGISTERED = {"csv", "parquet"}
"""Forms whose media type IANA has."""
PREFIXES = {
    "csvw": "http://www.w3.org/ns/csvw#",
    "cv": "http://data.europa.eu/m8g/",
    "dcat": "http://www.w3.org/ns/dcat#",
    "dcatap": "http://data.europa.eu/r5r/",
    "dct": "http://purl.org/dc/terms/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "healthdcatap": "http://healthdataportal.eu/ns/health#",
    "prov": "http://www.w3.org/ns/prov#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "spdx": "http://spdx.org/rdf/terms#",
    "vcard": "http://www.w3.org/2006/vcard/ns#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}


# --- DCAT -----------------------------------------------------------------------------------------


def dcat(about: About) -> Json:
    """``dcat.jsonld`` (DCAT-AP 3.0, HealthDCAT-AP release 8)."""
    stated, counts = about.stated, [part.counts for part in about.parts]
    dataset = present(
        {
            "@id": about.iri,
            "@type": "dcat:Dataset",
            "dct:title": _english(about.title),
            "dct:description": _english(about.text),
            "dct:identifier": about.iri,
            "dct:issued": _typed(about.issued, "xsd:date"),
            "dcat:version": about.version,
            "dct:language": _concept(f"{EU}language", "ENG", "English", "dct:LinguisticSystem"),
            "dcat:keyword": [_english(word) for word in KEYWORDS],
            "dcat:theme": _concept(f"{EU}data-theme", "HEAL", "Health"),
            "dct:type": _concept(f"{EU}dataset-type", "STATISTICAL", "Statistical"),
            "dct:temporal": _temporal(about),
            "dct:publisher": _agent(stated.publisher, stated.contact),
            "dcat:contactPoint": _contact_point(stated.contact),
            "dcat:landingPage": _page(stated.landing_page),
            "dct:accessRights": _access(stated.access),
            "dcatap:applicableLegislation": _legislation(stated),
            "dct:bibliographicCitation": stated.cite_as,
            "dct:provenance": {
                "@type": "dct:ProvenanceStatement",
                "rdfs:label": _english(
                    "Reports were ingested, generalized and released by srsql "
                    f"{about.manifest.software_version}; {PROV} tells the steps."
                ),
            },
            "healthdcatap:healthCategory": _concept(
                f"{HEALTH_AUTHORITY}healthcategories", "RMMD",
                "Data from registries for medicinal products and medical devices",
            ),
            "healthdcatap:hdab": _agent(stated.access_body, stated.contact),
            "healthdcatap:numberOfRecords": _number(sum(c.released_reports for c in counts)),
            "healthdcatap:numberOfUniqueIndividuals": _number(about.distinct_cases),
            "healthdcatap:populationCoverage": _english(
                "Cases of which an adverse event was reported; who reports is not a sample."
            ),
            "healthdcatap:hasCodingSystem": [
                {"@type": "dct:Standard", "dct:title": _english(each.name)}
                for each in {each.name: each for each in stated.thesauri}.values()
            ],
            "healthdcatap:hasStructuredData": _typed("true", "xsd:boolean"),
            "healthdcatap:hasVariables": _variables(about),
            "dcat:distribution": [
                _distribution(about, file) for file in described_files(about.manifest)
            ],
        }
    )  # fmt: skip
    return {"@context": PREFIXES, **dataset}


def _typed(value: object, kind: str) -> Json | None:
    return None if value is None else {"@value": str(value), "@type": kind}


def _number(value: int | None) -> Json | None:
    return _typed(value, "xsd:nonNegativeInteger")


def _english(text: str) -> Json:
    return {"@value": text, "@language": "en"}


def _concept(scheme: str, code: str, label: str, *kinds: str) -> Json:
    """A term of a list of authorities, which says of which: shapes ask for that."""
    return {
        "@id": f"{scheme}/{code}",
        "@type": ["skos:Concept", *kinds],
        "skos:prefLabel": _english(label),
        "skos:inScheme": {
            "@id": scheme,
            "@type": "skos:ConceptScheme",
            "dct:title": _english(scheme.rpartition("/")[2].replace("-", " ")),
        },
    }


def _page(url: str | None) -> Json | None:
    return {"@id": url, "@type": "foaf:Document"} if url else None


def _agent(name: str | None, contact: str | None) -> Json | None:
    if name is None:
        return None
    way = {"cv:email": contact} if "@" in (contact or "") else {"cv:contactPage": _page(contact)}
    point = {"@type": "cv:ContactPoint", **present(way)} if contact else None
    # release 8 asks for the first, earlier ones for the second
    points = {"cv:contactPoint": point, "dcat:contactPoint": _contact_point(contact)}
    return present({"@type": "foaf:Agent", "foaf:name": name, **points})


def _contact_point(contact: str | None) -> Json | None:
    if contact is None:
        return None
    mail = "@" in contact and "://" not in contact
    way = ("vcard:hasEmail", f"mailto:{contact}") if mail else ("vcard:hasURL", contact)
    return {"@type": "vcard:Kind", way[0]: {"@id": way[1]}}


def _access(access: str | None) -> Json | None:
    if access is None:
        return None
    code = access.upper().replace("-", "_")
    return _concept(f"{EU}access-right", code, access, "dct:RightsStatement")


def _legislation(stated: Stated) -> list[Json]:
    kind = "http://data.europa.eu/eli/ontology#LegalResource"
    return [{"@id": url, "@type": kind} for url in stated.legislation]


def _temporal(about: About) -> Json | None:
    """From the first day of the first period to the last one of the last."""
    days = [days_of(part.quarter) for part in (about.first, about.last)]
    if None in days:
        return None
    ends = [day for period in days if period for day in period]
    return {
        "@type": "dct:PeriodOfTime",
        "dcat:startDate": _typed(ends[0], "xsd:date"),
        "dcat:endDate": _typed(ends[-1], "xsd:date"),
    }


def _distribution(about: About, file: str) -> Json:
    form = file.rpartition(".")[2]
    licence = {"@id": about.license, "@type": "dct:LicenseDocument"} if about.license else None
    media = f"https://www.iana.org/assignments/media-types/{MEDIA[form]}"
    return present(
        {
            "@id": about.named("file", *about.ends, file),
            "@type": "dcat:Distribution",
            "dct:title": _english(file),
            "dcat:accessURL": {"@id": about.stated.landing_page or file, "@type": "rdfs:Resource"},
            "dcat:mediaType": {"@id": media, "@type": "dct:MediaType"}
            if form in REGISTERED
            else None,
            "dcat:byteSize": _number(about.sizes[file]),
            "dct:license": licence,
            "dcatap:applicableLegislation": _legislation(about.stated),
            "spdx:checksum": {
                "@type": "spdx:Checksum",
                "spdx:algorithm": {
                    "@id": "spdx:checksumAlgorithm_sha256",
                    "@type": "spdx:ChecksumAlgorithm",
                },
                "spdx:checksumValue": _typed(about.first.files[file], "xsd:hexBinary"),
            },
        }
    )


def _variables(about: About) -> Json:
    """Every column of the rows, as tables of CSV on the Web."""
    return {
        "@type": "csvw:TableGroup",
        "dct:title": _english("Tables of the release"),
        "csvw:table": [
            {
                "@type": "csvw:Table",
                "dct:title": _english(item.name),
                "csvw:column": [
                    {
                        "@type": "csvw:Column",
                        "csvw:name": shown.name,
                        "csvw:title": shown.name,
                        "csvw:titles": shown.name,  # its name before release 8
                        "csvw:datatype": {"BIGINT": "integer", "VARCHAR": "string"}.get(
                            shown.type, "decimal"
                        ),
                        "dct:description": _english(column_meaning(about.first, shown)),
                    }
                    for shown in asked_columns(about.first, item)
                ],
            }
            for item in about.first.tables
        ],
    }


# --- PROV -----------------------------------------------------------------------------------------


def provenance(about: About) -> Json:
    """``prov.jsonld`` (PROV-O, https://www.w3.org/TR/prov-o/)."""
    software: Json = {
        "@id": about.named("software", about.manifest.software_version),
        "@type": "prov:SoftwareAgent",
        "rdfs:label": f"srsql {about.manifest.software_version}",
    }
    graph: list[Json] = [software]
    if about.stated.publisher:
        graph.append(
            {
                "@id": about.named("publisher"),
                "@type": "prov:Agent",
                "rdfs:label": about.stated.publisher,
            }
        )
        software["prov:actedOnBehalfOf"] = {"@id": about.named("publisher")}
    versions = _versions(about.parts)
    published = []
    for part in about.parts:
        version = 1 + part.earlier_releases.count(part.quarter)
        published.append((part.quarter, version))
        graph += _steps(about, part, version)
    graph += [
        _earlier(about, quarter, version)
        for quarter, version in versions
        if (quarter, version) not in published
    ]
    names = [{"@id": about.named("release", q, f"v{v}")} for q, v in published]
    publishing = about.named("publishing")
    graph += [
        {
            "@id": publishing,
            "@type": "prov:Activity",
            "rdfs:label": "the released rows were written, described and verified",
            "prov:used": names,
            "prov:wasAssociatedWith": {"@id": software["@id"]},
        },
        {
            "@id": about.iri,
            "@type": "prov:Entity",
            "rdfs:label": about.title,
            "prov:wasGeneratedBy": {"@id": publishing},
            "prov:wasDerivedFrom": names,
        },
    ]
    return {"@context": PREFIXES, "@graph": graph}


def _versions(parts: Sequence[Manifest]) -> list[tuple[str, int]]:
    """Every release that the manifests name, by quarter and version."""
    most: Counter[str] = Counter()
    for part in parts:
        told = Counter((*part.earlier_releases, part.quarter))
        for quarter, number in told.items():
            most[quarter] = max(most[quarter], number)
    return [(quarter, v) for quarter in sorted(most) for v in range(1, most[quarter] + 1)]


def _steps(about: About, part: Manifest, version: int) -> Iterator[Json]:
    """From the source of a quarter to its release."""
    quarter, software = (
        part.quarter,
        {"@id": about.named("software", about.manifest.software_version)},
    )
    source = about.named("source", quarter)
    rows, ingestion, releasing, plan = (  # a later version can be made of other reports
        about.named(step, quarter, f"v{version}")
        for step in ("reports", "ingestion", "releasing", "plan")
    )
    before = Counter[str]()
    earlier = []
    for each in part.earlier_releases:
        before[each] += 1
        earlier.append({"@id": about.named("release", each, f"v{before[each]}")})
    told = ", ".join(f"{n} {v}" for n, v in sorted({**part.parameters, "k": part.k}.items()))
    yield {
        "@id": source,
        "@type": "prov:Entity",
        "rdfs:label": f"{about.stated.source or part.dataset}, {quarter}, as it was received",
    }
    yield {
        "@id": ingestion,
        "@type": "prov:Activity",
        "rdfs:label": f"ingestion of {quarter}",
        "prov:used": {"@id": source},
        "prov:wasAssociatedWith": software,
    }
    yield {
        "@id": rows,
        "@type": "prov:Entity",
        "rdfs:label": f"the reports of {quarter} as rows; they are not published",
        "prov:wasGeneratedBy": {"@id": ingestion},
        "prov:wasDerivedFrom": {"@id": source},
    }
    yield {
        "@id": plan,
        "@type": ["prov:Plan", "prov:Entity"],
        "rdfs:label": f"model {part.model}",
        "dct:description": _english(f"{told}. {part.guarantee}"),
    }
    yield {
        "@id": releasing,
        "@type": "prov:Activity",
        "rdfs:label": f"release of {quarter}",
        "prov:used": [{"@id": rows}, *earlier],
        "prov:qualifiedAssociation": {
            "@type": "prov:Association",
            "prov:agent": software,
            "prov:hadPlan": {"@id": plan},
        },
    }
    yield present(
        {
            **_earlier(about, quarter, version),
            "dct:issued": _typed(part.parameters.get("release_date"), "xsd:date"),
            "prov:wasGeneratedBy": {"@id": releasing},
            "prov:wasDerivedFrom": {"@id": rows},
        }
    )


def _earlier(about: About, quarter: str, version: int) -> Json:
    """A release, and the one that it supersedes."""
    before = {"@id": about.named("release", quarter, f"v{version - 1}")} if version > 1 else None
    label = f"release of {quarter} in series {about.manifest.series}, version {version}"
    return present(
        {
            "@id": about.named("release", quarter, f"v{version}"),
            "@type": "prov:Entity",
            "rdfs:label": label,
            "prov:wasRevisionOf": before,
        }
    )
