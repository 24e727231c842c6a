"""Which release is published, and what stands beside its rows: the manifest and its files."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError
from sqlglot import exp

from srsql.engine.artifact.described import described_files
from srsql.engine.artifact.documents import (
    counts_sql,
    csv_bytes,
    dictionary_csv,
    range_readme,
    readme,
)
from srsql.engine.artifact.format import (
    CATALOGUED,
    COUNTS,
    DICTIONARY,
    HIERARCHIES,
    KEYED,
    MANIFEST,
    NOT_IDS,
    README,
    SUMS,
    THRESHOLDS,
    AnyManifest,
    Attribute,
    Counts,
    CountsClaim,
    CutClaim,
    Manifest,
    NoisyClaim,
    QidSetClaim,
    QuarterManifest,
    RangeManifest,
    ShownCases,
    Stated,
    Table,
    TermsClaim,
    Thesaurus,
    Unprotected,
    derived_claims,
    file_digest,
    sums_text,
)
from srsql.engine.catalog.releases import Release, ReleasedTerms, not_released, released_terms
from srsql.engine.catalog.series import IMPORTED, ORIGINAL, PSEUDONYM
from srsql.engine.errors import PublishError, printable
from srsql.engine.models import MODELS
from srsql.engine.parameters import Format
from srsql.engine.shapes import shape_of
from srsql.engine.shapes.strata import NOISY_CUTS, published_cuts
from srsql.engine.store import doors
from srsql.engine.store.statements import query, table
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset
from srsql.schemas.outside import json_of

ELSEWHERE = ("thresholds", "quarter", "dataset")
"""Columns of the public manifest that the artifact tells in other places."""
STATED_EXAMPLES = {
    "publisher": "a name of one line",
    "contact": "an e-mail address or a page, such as releases@example.org",
    "license": "an identifier of SPDX or a page, such as CC-BY-4.0",
    "cite_as": "a text of one line",
    "landing_page": "a page without a fragment, such as https://example.org/releases",
    "access": "public, restricted or non-public",
    "access_body": "a name of one line",
    "legislation": "pages, such as http://data.europa.eu/eli/reg/2025/327/oj",
}
"""What can be stated of an artifact, and in which form."""


@dataclass(frozen=True)
class PublishableRelease:
    """One release that is out and our own, and its place in the series."""

    release_id: int
    series: str
    quarter: str
    schema: str
    """Of its views."""
    keyed: bool
    """Whether the series releases pseudonyms."""
    earlier: tuple[str, ...]
    """Periods of the releases before it, superseded ones included."""


def find_release(
    warehouse: Warehouse, dataset: Dataset, series: str, quarter: str
) -> PublishableRelease:
    """The release of a quarter that is out.

    Args:
        warehouse: whose catalog is asked.
        dataset: whose quarter.
        series: of the release.
        quarter: that was released.

    Raises:
        PublishError: it is a draft, was never made, or is foreign.
    """
    rows = warehouse.rows(query("artifact/publish", "releases_of_series"), [dataset.name, series])
    own = [row for row in rows if row[1] == quarter]
    if any(row[3] == IMPORTED for row in own):
        raise PublishError(
            f"{quarter} of series {series!r} is somebody else's release: only your own is published"
        )
    out = next((row for row in own if row[2] == "released"), None)
    if out is None:
        raise PublishError(_why_not(warehouse, dataset, series, quarter, {row[2] for row in own}))
    release_id, _, _, _, schema, keyed = out
    earlier = tuple(
        row[1] for row in rows if row[2] != "draft" and (row[1], row[0]) < (quarter, release_id)
    )
    return PublishableRelease(release_id, series, quarter, schema, keyed, earlier)


def find_range(
    warehouse: Warehouse, dataset: Dataset, series: str, first: str, last: str
) -> list[PublishableRelease]:
    """The releases of all quarters from ``first`` to ``last`` that are out, oldest first.

    Raises:
        PublishError: there are fewer than two, the ends are not among them, or one between is a
            draft or foreign.
    """
    rows = warehouse.rows(query("artifact/publish", "releases_of_series"), [dataset.name, series])
    quarters = sorted({row[1] for row in rows if first <= row[1] <= last} | {first, last})
    if len(quarters) < 2:
        raise PublishError(f"--quarter {first}:{last} is one quarter: give --quarter {first}")
    return [find_release(warehouse, dataset, series, quarter) for quarter in quarters]


def _why_not(
    warehouse: Warehouse, dataset: Dataset, series: str, quarter: str, statuses: set[str]
) -> str:
    if "draft" in statuses:
        return (
            f"{quarter} of series {series!r} is a draft: expose it with "
            f"'srsql release --quarter {quarter} --confirm' first"
        )
    return not_released(warehouse, dataset.name, series, quarter)


def public_facts(warehouse: Warehouse, release: PublishableRelease) -> dict[str, Any]:
    """The public manifest of the release, without what the artifact tells elsewhere."""
    statement = exp.select(exp.Star(except_=[exp.column(name) for name in ELSEWHERE])).from_(
        table(release.schema, "manifest")
    )
    (facts,) = warehouse.records(statement.sql(dialect="duckdb"))
    return {name: value for name, value in facts.items() if not name.endswith("_rows")}


def release_facts(
    warehouse: Warehouse, dataset: Dataset, release: PublishableRelease
) -> tuple[Release, dict[str, Any]]:
    """A release as checks take it, and its private manifest."""
    ((k, text),) = warehouse.rows(query("artifact/publish", "release_facts"), [release.release_id])
    series, quarter, schema = release.series, release.quarter, release.schema
    taken = Release(warehouse, dataset, dataset, release.release_id, series, quarter, schema, k)
    return taken, json_of(text)


@dataclass(frozen=True)
class Made:
    """The rows of one release, as they were staged."""

    release: PublishableRelease
    dataset: Dataset
    """As it was released: it says by which version of their key terms are compared."""
    tables: list[Table]
    shown: tuple[ShownCases, ...] = ()
    """How exactly its rows show each quasi-identifier."""
    unprotected: Unprotected | None = None
    """How much of them a threshold of 1 leaves unbounded."""
    not_ids: Sequence[str] = ()
    """Words of its texts that are ids of the source as well, and were said to be none there."""


def read_stated(dataset: Dataset, told: Mapping[str, Any]) -> Stated:
    """What the publisher says of the artifact.

    Args:
        dataset: that was released.
        told: by the names of the options; ``thesaurus``: texts ``table.column=name``.

    Raises:
        PublishError: one of it has another form, or names a column that is not published.
    """
    thesauri: dict[str, list[str]] = {}
    published = {f"{table.name}.{name}" for table in dataset.tables for name in table.publish}
    published |= {f"{a.table}.{a.column}" for a in (*dataset.sensitive, *dataset.quasi_sensitive)}
    for text in told.get("thesaurus") or ():
        column, _, name = (part.strip() for part in str(text).partition("="))
        if column not in published or not name:
            raise PublishError(
                f"--thesaurus {text!r}: give a published column and what it is coded with, such as "
                f"{min(published, default='table.column')}=MedDRA 25.1"
            )
        thesauri.setdefault(name, []).append(column)
    values = {n: v for n, v in told.items() if n in STATED_EXAMPLES and v not in (None, ())}
    try:
        return Stated(
            source=printable(" ".join(dataset.title.split()))[:500] or None,
            thesauri=tuple(Thesaurus(columns=tuple(c), name=n) for n, c in thesauri.items()),
            **values,
        )
    except ValidationError as error:
        name = str(error.errors()[0]["loc"][0])
        option = "thesaurus" if name == "thesauri" else name.replace("_", "-")
        example = STATED_EXAMPLES.get(name, "text of one line")
        raise PublishError(f"--{option} {told.get(name)!r}: give {example}") from None


def claims(
    warehouse: Warehouse,
    made: Sequence[Made],
    key: bytes | None,
    form: Format,
    stated: Stated,
    *,
    csv_safe: bool = False,
) -> list[Manifest]:
    """What is claimed of each quarter, before there are files that it could vouch for.

    Args:
        warehouse: where the releases are.
        made: the releases that are published, with their tables.
        key: of the pseudonyms; None: ids are as they were released.
        form: of the tables.
        stated: what the publisher says.
        csv_safe: no cell of a CSV file is a formula.

    Raises:
        PublishError: a release is marked as one that must not be published, or they do not go
            together.
    """
    told = {"csv_safe": csv_safe, "stated": stated}
    parts = [
        _told_words(
            _claims(warehouse, each.dataset, each.release, key, each.tables, form), each
        ).model_copy(update={**told, "shown": each.shown, "unprotected": each.unprotected})
        for each in made
    ]
    if len(parts) == 1:
        return parts
    several: list[Manifest] = [QuarterManifest(**dict(part)) for part in parts]
    for part in several[1:]:
        for what in ("software_version", "attributes", "report_table", "term_key"):
            if getattr(part, what) != getattr(parts[0], what):
                raise PublishError(
                    f"{part.quarter} has another {what.replace('_', ' ')} than {parts[0].quarter}: "
                    "publish them apart"
                )
    return several


def _told_words(claimed: Manifest, made: Made) -> Manifest:
    """With the words that are no ids, where ids are published as the source has them: of others an
    artifact must not say that they are ids of the source."""
    original = claimed.case_ids == "as released" and claimed.parameters.get("ids") == ORIGINAL
    if not (original and made.not_ids):
        return claimed
    told = {**claimed.parameters, NOT_IDS: ",".join(made.not_ids)}
    return claimed.model_copy(update={"parameters": told})


def describe(
    warehouse: Warehouse,
    dataset: Dataset,
    parts: list[Manifest],
    release_ids: Sequence[int],
    folder: Path,
    released_cases: int | None = None,
) -> AnyManifest:
    """Write what stands beside the rows, then the manifest over it, then the hashes over all.

    Args:
        warehouse: where the releases are.
        dataset: that was released.
        parts: what is claimed of each quarter, whose tables are in the folder already.
        release_ids: of the same.
        folder: of the artifact.
        released_cases: of all quarters together; None: of one, or of ids that do not follow them.
    """
    documents: dict[str, bytes] = {}
    if dataset.rows:
        from srsql.engine.report.page import written_by
        from srsql.engine.report.report import report  # brings matplotlib, which nothing else needs

        for number, part in enumerate(parts):
            keyed = part.key_id is not None and "ids" in part.parameters
            ids = str(part.parameters["ids"]) if keyed else None
            page = report(warehouse, dataset, part.series, part.quarter, public=True, ids=ids)
            documents[part.report_file] = page.html.encode()
            parts[number] = part.model_copy(update={"report_written_by": written_by()})
    manifest = _whole(parts, released_cases)
    text = readme(manifest) if isinstance(manifest, Manifest) else range_readme(manifest)
    documents |= {
        README: text,
        DICTIONARY: dictionary_csv(parts[0]),
        THRESHOLDS: _thresholds_csv(warehouse, dict(zip(release_ids, parts, strict=True))),
        HIERARCHIES: _hierarchies_csv(dataset, safe=parts[0].csv_safe),
    }
    if any(part.terms for part in parts):
        documents[COUNTS] = counts_sql()
    for name, content in documents.items():
        (folder / name).write_bytes(content)
    digests = {path.name: file_digest(path) for path in sorted(folder.iterdir())}
    manifest = type(manifest)(**{**dict(manifest), "files": digests})
    sizes = {name: (folder / name).stat().st_size for name in described_files(manifest)}
    for name, content in doors.opened("catalogues")(manifest, sizes).items():
        (folder / name).write_bytes(content)
        digests[name] = file_digest(folder / name)
    digests = dict(sorted(digests.items()))
    manifest = type(manifest)(**{**dict(manifest), "files": digests})
    told = json.dumps(manifest.model_dump(mode="json"), indent=1, ensure_ascii=False) + "\n"
    (folder / MANIFEST).write_text(told, encoding="utf-8")
    digests[MANIFEST] = file_digest(folder / MANIFEST)
    (folder / SUMS).write_text(sums_text(digests), encoding="utf-8")
    return manifest


def _whole(parts: list[Manifest], released_cases: int | None) -> AnyManifest:
    """The manifest of one quarter, or of several, without its files."""
    if len(parts) == 1:
        return parts[0]
    first = parts[0]
    return RangeManifest(
        artifact_version=first.artifact_version,
        software_version=first.software_version,
        dataset=first.dataset,
        series=first.series,
        format=first.format,
        quarters=tuple(QuarterManifest(**dict(part)) for part in parts),
        released_cases=released_cases,
        files={},
    )


def _claims(
    warehouse: Warehouse,
    dataset: Dataset,
    release: PublishableRelease,
    key: bytes | None,
    tables: list[Table],
    form: Format,
) -> Manifest:
    """The manifest before there are files that it could vouch for."""
    facts = public_facts(warehouse, release)
    counts = Counts(**{n: facts.pop(n) for n in Counts.model_fields if n in facts})
    terms = released_terms(warehouse, release.release_id)
    case_ids: Literal["pseudonym", "as released"] = "pseudonym" if key else "as released"
    if key and facts.get("ids") == ORIGINAL:
        facts["ids"] = PSEUDONYM
    attacks = str(facts.pop("attacks"))
    model = str(facts.pop("model"))
    return Manifest(
        artifact_version=KEYED if dataset.term_key else CATALOGUED,
        software_version=facts.pop("software_version"),
        dataset=dataset.name,
        dataset_version=facts.pop("dataset_version"),
        dataset_fingerprint=facts.pop("dataset_fingerprint"),
        series=release.series,
        quarter=release.quarter,
        earlier_releases=release.earlier,
        format=form,
        case_ids=case_ids,
        key_id=key_id(key) if key else None,
        model=model,
        guarantee=str(facts.pop("guarantee")),
        perturbed=MODELS[model].claimed_bounds.drawn,
        k=facts.pop("k"),
        attacks=() if attacks == "none" else tuple(attacks.split(",")),
        parameters=facts,
        counts=counts,
        report_table=dataset.report_table if dataset.rows else None,
        terms=_terms_claim(dataset, terms) if terms else None,
        every_term_published=all(
            a.column in dataset.table(a.table).publish for a in dataset.sensitive
        ),
        attributes=_attributes(dataset) if dataset.regions else (),
        tables=tuple(tables),
        derived=derived_claims(dataset) or None,
        qid_sets=tuple(QidSetClaim(name=s.name, attributes=s.qids) for s in dataset.qid_set)
        or None,
        counted=_counts_claim(warehouse, dataset, release, facts)
        if dataset.counted and not dataset.noisy
        else None,
        noisy=_noisy_claim(warehouse, dataset, release, facts) if dataset.noisy else None,
        files={},
    )


def _counts_claim(
    warehouse: Warehouse,
    dataset: Dataset,
    release: PublishableRelease,
    facts: Mapping[str, Any],
) -> CountsClaim:
    """What is claimed of counts, from the facts of the release and its strata."""
    attributes = tuple(str(facts["table_items"]).split(", "))
    pairs = [pair.split(" x ") for pair in str(facts["table_pairs"]).split(", ") if pair]
    return CountsClaim(
        k=facts["table_k"],
        attributes=attributes,
        sensitive=tuple(a.column for a in dataset.sensitive if a.column in attributes),
        pairs=tuple((one, other) for one, other in pairs),
        cuts=tuple(
            CutClaim(attribute=cut.qid, value=cut.value, low=cut.low, below=cut.below)
            for cut in published_cuts(warehouse, release.schema)
        ),
    )


def _noisy_claim(
    warehouse: Warehouse,
    dataset: Dataset,
    release: PublishableRelease,
    facts: Mapping[str, Any],
) -> NoisyClaim:
    """What is claimed of counts with noise, from the facts of the release and its strata."""
    pairs = [pair.split(" x ") for pair in str(facts["noisy_pairs"]).split(", ") if pair]
    _, private = release_facts(warehouse, dataset, release)
    return NoisyClaim(
        epsilon=facts["noisy_epsilon"],
        delta=facts["noisy_delta"],
        case_items=facts["noisy_case_items"],
        case_pairs=facts["noisy_case_pairs"],
        attributes=tuple(str(facts["noisy_items"]).split(", ")),
        pairs=tuple((one, other) for one, other in pairs),
        cuts=tuple(
            CutClaim(attribute=qid, value=value, low=low, below=below)
            for qid, value, low, below in private[NOISY_CUTS]
        ),
    )


def _terms_claim(dataset: Dataset, terms: ReleasedTerms) -> TermsClaim:
    """What is claimed of terms; where whole rows are taken apart, also how items are read."""
    whole = shape_of(dataset).claimed(dataset, terms)
    return TermsClaim(attributes=terms.attributes, m=terms.m, diversity=terms.diversity, **whole)


def _attributes(dataset: Dataset) -> tuple[Attribute, ...]:
    """The quasi-identifiers, without the columns they are read from."""
    attributes = []
    for qid in dataset.qid:
        if qid.kind == "categorical":
            attributes.append(Attribute(name=qid.name, kind="categorical"))
            continue
        low, high = qid.domain if isinstance(qid.domain, tuple) else (None, None)
        attributes.append(
            Attribute(
                name=qid.name,
                kind="numeric",
                unit=qid.unit,
                granularity=qid.granularity,
                low=low,
                high=high,
            )
        )
    return tuple(attributes)


def thresholds_of(warehouse: Warehouse, release_id: int, model: str) -> list[tuple[Any, ...]]:
    """Value, numerator and denominator of theta of every value that a row of a release shows.

    Args:
        warehouse: where the release is.
        release_id: of the release.
        model: of the release; none has a threshold where it bounds none.
    """
    bounded = "theta" in MODELS[model].claimed_bounds.guaranteed
    return warehouse.rows(query("artifact/publish", "released_thresholds"), [release_id, bounded])


def _thresholds_csv(warehouse: Warehouse, parts: dict[int, Manifest]) -> bytes:
    """theta of every value that a released row shows, as an exact fraction.

    No value has one where the model bounds none. Of several quarters, each row tells its own.

    Args:
        warehouse: where the releases are.
        parts: id of a release -> what is claimed of it.
    """
    rows: list[tuple[object, ...]] = []
    for release_id, part in parts.items():
        before = (part.quarter,) if len(parts) > 1 else ()
        rows += [(*before, *row) for row in thresholds_of(warehouse, release_id, part.model)]
    header = ["quarter"] if len(parts) > 1 else []
    safe = any(part.csv_safe for part in parts.values())
    return csv_bytes([*header, "value", "theta_num", "theta_den"], rows, safe=safe)


def _hierarchies_csv(dataset: Dataset, *, safe: bool) -> bytes:
    """Every node of the hierarchies of published columns, with its parent; preorder."""
    trees = {
        qid.name: dataset.hierarchies[qid.name] for qid in dataset.qid if qid.kind == "categorical"
    }
    rows = [
        [name, label, tree.labels[above] if above >= 0 else ""]
        for name, tree in trees.items()
        for label, above in zip(tree.labels, tree.parent, strict=True)
    ]
    return csv_bytes(["attribute", "node", "parent"], rows, safe=safe)


def key_id(key: bytes) -> str:
    """What may be told of a key: equal for equal keys, and nothing else."""
    return hmac.new(key, b"srsql key id", hashlib.sha256).hexdigest()
