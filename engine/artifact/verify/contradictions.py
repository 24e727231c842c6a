"""Does an artifact contradict itself: tables, claims, documents, hierarchies, thresholds?"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

from srsql.engine.artifact.described import described_files
from srsql.engine.artifact.documents import counts_sql, dictionary_csv, range_readme, readme
from srsql.engine.artifact.format import (
    CATALOGUED,
    COUNTS,
    DICTIONARY,
    DUCKDB_FILE,
    KEY_VERSIONS,
    KEYED,
    MANIFEST,
    OF_KEY,
    OF_REGION,
    README,
    REGION_CELLS,
    TERM_TABLES,
    AnyManifest,
    Manifest,
    RangeManifest,
    Table,
    quarters_of,
)
from srsql.engine.artifact.verify.published_rows import published_rows
from srsql.engine.catalog.series import IDS
from srsql.engine.errors import ReleaseError
from srsql.engine.models import MODELS
from srsql.engine.models.base import (
    BY_SETS,
    SUPPRESSES,
    GroupingModel,
    promise_by,
    promise_by_counts,
    promise_by_noise,
)
from srsql.engine.store import doors
from srsql.engine.terms.parameters import DisassociationParameters
from srsql.schemas.outside import OutsideError, read_bytes
from srsql.version import __version__

NOT_KNOWN = (
    "{quarter}: what its model promises, since this version of srsql knows no model {model!r}"
)
OWN_THRESHOLDS = (
    "{quarter}: thresholds that patients asked for of their own, in {column}: neither the column "
    "nor a value that they lowered the threshold of is published, or it would tell whose it is; "
    "what is judged is the policy"
)
OTHER_VERSION = (
    "{quarter}: that its README, its data dictionary, the wording of its documents for catalogues "
    "and of its guarantee say what the manifest says, since srsql {version} wrote them"
)
UNCLAIMED = "{quarter}: {what}, since its model, {model}, does not keep them"
NOT_KEPT = "not kept"
POLICIES = ("frequency", "levels", NOT_KEPT)
"""What the parameter theta can be beside a threshold for all values."""
UNTOLD: dict[str, Any] = {"refine": "off"}
"""What versions did that had no such parameter, and could not tell."""
PERSONS_AT = {0.9: "k_by_persons_90_percent", 0.99: "k_by_persons_99_percent"}
"""Match probability -> the parameter that tells how many persons every region has, up to k."""
LEAST_MATCH = 0.5
"""Pairs below are not kept, so that persons below are not counted."""
OF_REGIONS = {"lower bound", "upper bound", "node"}
"""Roles of the columns of regions."""
OF_COUNTED_ROWS = {"report id", "case id", "period", *OF_REGIONS}
"""Roles of the columns that rows of cases have where counts tell their items."""
_FRACTION = re.compile(r"[0-9]{1,18}(/[0-9]{0,17}[1-9][0-9]{0,17})?")
Trees = dict[str, list[tuple[str, str]]]
"""Attribute -> its rows (node, parent), as they stand in the file."""


def shape_faults(manifest: Manifest) -> list[str]:
    """What a manifest must not say of its tables, so that their rows can be read and checked."""
    names = [table.name for table in manifest.tables]
    of_terms = set(TERM_TABLES) if manifest.terms else set()
    reports = manifest.report_table
    alone = manifest.counts_alone or (of_terms and of_terms == set(names))
    if reports is None and not alone:
        return [f"{MANIFEST}: there is no report table, nor the tables of terms or counts alone"]
    due = {reports or REGION_CELLS, *manifest.cells}
    if manifest.cells and (manifest.terms or set(names) != due):
        return [f"{MANIFEST}: the tables are not those of cases and counts alone"]
    if len(set(names)) < len(names) or (reports is not None and reports not in names):
        return [f"{MANIFEST}: the tables are not each there once, the report table among them"]
    faults = [fault for table in manifest.tables for fault in _table_faults(manifest, table)]
    if reports is None and not manifest.counts_alone:
        return faults
    periods = [c.role for c in manifest.regions.columns].count("period")
    if periods != int(reports is not None):
        faults.append(f"{MANIFEST}: rows of cases have not one period, or counts of regions one")
    attributes = {attribute.name for attribute in manifest.attributes}
    if not attributes or len(attributes) < len(manifest.attributes):
        faults.append(f"{MANIFEST}: the quasi-identifiers are none, or not each there once")
    return faults


def _table_faults(manifest: Manifest, table: Table) -> Iterator[str]:
    expected = DUCKDB_FILE if manifest.format == "duckdb" else f"{table.name}.{manifest.format}"
    if table.file != expected or table.file not in manifest.files:
        yield f"{MANIFEST}: table {table.name} is not in {expected}"
    columns = tuple(column.name for column in table.columns)
    if len(set(columns)) < len(columns):
        yield f"{MANIFEST}: table {table.name} has a column twice"
    roles = [column.role for column in table.columns]
    ids = (roles.count("report id"), roles.count("case id"))
    if manifest.terms and table.name in TERM_TABLES:
        first = TERM_TABLES[table.name]
        if columns[: len(first)] != first or any(ids):
            yield f"{MANIFEST}: table {table.name} has not the columns of terms"
    elif table.name in manifest.cells:
        declared = [(c.name, (c.type, c.role)) for c in table.columns]
        if declared != list(manifest.cells[table.name].items()):
            yield f"{MANIFEST}: table {table.name} has not the columns of counts"
    elif manifest.counts_alone and table.name == REGION_CELLS:
        last = table.columns[-1]
        counted = (last.name, last.type, last.role) == OF_REGION and last.attribute is None
        if not counted or set(roles[:-1]) - OF_REGIONS:
            yield f"{MANIFEST}: table {table.name} has more than regions and their cases"
    elif ids[0] != 1 or ids[1] > 1:
        yield f"{MANIFEST}: table {table.name} has not one report id"
    rows = published_rows(manifest)
    of_cases = bool(manifest.cells) and table.name == manifest.report_table
    if of_cases and set(roles) - OF_COUNTED_ROWS:
        yield f"{MANIFEST}: table {table.name} has more than ids, a period and regions"
    due = rows.cluster_columns if table.name == manifest.report_table else 0
    if due and roles.count("cluster") != due:
        yield f"{MANIFEST}: table {table.name} has not one cluster"
    region = {attribute.name for attribute in manifest.attributes}
    shown = {c.attribute for c in table.columns if c.attribute}
    if shown != (region if table.name in rows.with_region else set()):
        yield f"{MANIFEST}: table {table.name} does not have the region's columns"


def range_faults(manifest: RangeManifest) -> list[str]:
    """What the quarters of an artifact must not differ in, and which of them must be there."""
    parts, faults = manifest.quarters, list[str]()
    names = [part.quarter for part in parts]
    if names != sorted(set(names)):
        faults.append(f"the quarters are not each there once, oldest first: {', '.join(names)}")
    for part in parts:
        for what in ("artifact_version", "software_version", "dataset", "series", "format"):
            if getattr(part, what) != getattr(manifest, what):
                faults.append(f"{part.quarter} has another {what} than the artifact")
        if part.files:
            faults.append(f"{part.quarter} lists files of its own")
        if part.csv_safe != parts[0].csv_safe:
            faults.append(f"{part.quarter} says otherwise than {names[0]} whether it is csv_safe")
        if _shape(part) != _shape(parts[0]):
            faults.append(f"{part.quarter} has other tables or columns than {names[0]}")
        faults += [
            f"{missing}, a release before {part.quarter}, is not in the artifact of "
            f"{names[0]} to {names[-1]}"
            for missing in sorted(set(part.earlier_releases) - set(names))
            if missing > names[0]
        ]
    if len({part.report_file for part in parts}) < len(parts):
        faults.append("two quarters have one report")
    return [f"{MANIFEST}: {text}" for text in faults]


def _shape(part: Manifest) -> tuple[object, ...]:
    tables = [(item.name, item.file, item.columns) for item in part.tables]
    apart = part.terms is None, part.counted, part.noisy
    return tables, part.report_table, apart, part.attributes, part.case_ids


def claim_faults(manifest: Manifest) -> list[str]:
    """What the manifest says of the release and cannot be true at once."""
    faults = [*_order_faults(manifest), *_number_faults(manifest), *_promise_faults(manifest)]
    faults += _term_faults(manifest)
    faults += _key_faults(manifest)
    if (manifest.case_ids == "pseudonym") != (manifest.key_id is not None):
        faults.append(f"case_ids is {manifest.case_ids!r}, key_id is {manifest.key_id!r}")
    told = manifest.parameters.get("ids")
    if told is not None and told not in IDS:
        faults.append(f"parameter ids is {told!r}, none of {', '.join(IDS)}")
    if manifest.artifact_version < CATALOGUED and (manifest.stated or manifest.shown):
        faults.append(f"stated and shown are there, in version {manifest.artifact_version}")
    day = manifest.parameters.get("release_date")
    if day is not None and not _is_day(day):
        faults.append(f"parameter release_date is {day!r}, not a day as YYYY-MM-DD")
    return [f"{MANIFEST}: {text}" for text in faults]


def _is_day(text: int | str) -> bool:
    try:
        return date.fromisoformat(str(text)).isoformat() == text
    except ValueError:
        return False


def claims_not_shown(manifest: Manifest) -> list[str]:
    """The claims that this version of the software cannot judge."""
    about = {"quarter": manifest.quarter, "model": manifest.model}
    texts = [] if manifest.model in MODELS else [NOT_KNOWN.format(**about)]
    unclaimed = [] if manifest.model not in MODELS else _unclaimed(MODELS[manifest.model])
    if unclaimed:
        texts.append(UNCLAIMED.format(**about, what=" and ".join(unclaimed)))
    if column := manifest.parameters.get("own_theta"):
        texts.append(OWN_THRESHOLDS.format(**about, column=column))
    if not written_here(manifest):
        texts.append(OTHER_VERSION.format(**about, version=manifest.software_version))
    return texts


def written_here(manifest: Manifest) -> bool:
    """Whether this very version of the software says that it wrote the artifact."""
    version = KEYED if manifest.term_key else CATALOGUED
    return manifest.software_version == __version__ and manifest.artifact_version == version


def _unclaimed(kind: type[GroupingModel]) -> list[str]:
    """Bounds of Lin 2016 that regions of the model do not keep, in words."""
    if kind.claimed_bounds.drawn:
        return []
    words = {"k": "k distinct cases for every region", "theta": "thresholds of values"}
    return [words[name] for name in sorted(words.keys() - kind.claimed_bounds.guaranteed)]


def _order_faults(manifest: Manifest) -> list[str]:
    earlier = list(manifest.earlier_releases)
    if earlier != sorted(earlier):
        return [f"earlier_releases are not in order: {', '.join(earlier)}"]
    # the quarter's own: a release that this one supersedes
    return [
        f"earlier_releases names {quarter}, which is after {manifest.quarter}"
        for quarter in earlier
        if quarter > manifest.quarter
    ]


def _number_faults(manifest: Manifest) -> list[str]:
    faults = []
    grown = manifest.parameters.get("k_effective")
    if not isinstance(grown, int) or grown < manifest.k:
        faults.append(f"k_effective is {grown!r}, k is {manifest.k}")
    if not re.search(rf"(?<![\w.,/]){manifest.k}(?![\w/]|[.,]\d)", manifest.guarantee):
        faults.append(f"the guarantee does not tell k, which is {manifest.k}")
    return faults


def _promise_faults(manifest: Manifest) -> list[str]:
    """What differs from what the model of that name promises under these parameters."""
    if manifest.model not in MODELS:
        return []
    kind = MODELS[manifest.model]
    faults = []
    if manifest.perturbed != kind.claimed_bounds.drawn:
        faults.append(f"perturbed is {manifest.perturbed}, of {manifest.model} it is not")
    if not kind.claimed_bounds.drawn and None in manifest.counts.model_dump().values():
        faults.append(f"withheld_cases is not told, and {manifest.model} adds no noise")
    faults += [
        f"{bound} is {NOT_KEPT}, and {manifest.model} keeps it"
        for bound in sorted(kind.claimed_bounds.guaranteed)
        if manifest.parameters.get(bound) == NOT_KEPT
    ]
    model = model_of(manifest)
    if isinstance(model, str):
        return [*faults, f"the parameters are none of {manifest.model}: {model}"]
    if manifest.attacks != model.defended_attacks:
        claimed, due = (
            ",".join(names) or "none" for names in (manifest.attacks, model.defended_attacks)
        )
        faults.append(f"attacks are {claimed}, {manifest.model} promises {due}")
    faults += [
        f"parameter {name} is {manifest.parameters.get(name)!r}, not {value!r}"
        for name, value in model.public_facts.items()
        if manifest.parameters.get(name, UNTOLD.get(name)) != value
    ]
    guarantee = model.guarantee
    for extended, possible, fault in _extensions(manifest, model):
        guarantee = extended(guarantee)
        faults += [] if possible else [fault]
    faults += _person_faults(manifest)
    faults += _pool_faults(manifest) + _late_faults(manifest)
    if written_here(manifest) and manifest.guarantee != guarantee:
        faults.append(f"the guarantee is not that of {manifest.model} with these parameters")
    return faults


def _extensions(
    manifest: Manifest, model: GroupingModel
) -> Iterator[tuple[Callable[[str], str], bool, str]]:
    """What is claimed beyond the model: the guarantee with it in words, from that without;
    whether the model can be released so; and the fault where it cannot."""
    known = (
        (
            "theta_bounds" in manifest.parameters,
            lambda told: f"{told} {SUPPRESSES}",
            model.shows_bounded_values(),
            f"values are suppressed, and {model.name} bounds none in rows",
        ),
        (
            manifest.parameters.get("counted") == "persons",
            lambda told: promise_by("person", told),
            "persons" in model.claimed_bounds.extensions,
            f"persons are counted, and {model.name} counts cases",
        ),
        (
            bool(manifest.qid_sets),
            lambda told: BY_SETS.format(sets=sets_text(manifest), guarantee=told),
            "qid sets" in model.claimed_bounds.extensions,
            f"several sets are protected, and {model.name} keeps none by itself",
        ),
        (
            manifest.counted is not None,
            lambda _: promise_by_counts(model),
            model.claimed_bounds.guaranteed == {"k", "theta"} and model.symptoms_limit is None,
            f"counts tell items, and the rows of {model.name} do not keep k by regions alone",
        ),
        (
            manifest.noisy is not None,
            lambda _: promise_by_noise(
                model,
                manifest.noisy.epsilon if manifest.noisy else "",
                manifest.noisy.delta if manifest.noisy else "",
                seeded=False,
            ),
            model.claimed_bounds.guaranteed == {"k", "theta"} and model.symptoms_limit is None,
            f"counts tell items, and the rows of {model.name} do not keep k by regions alone",
        ),
    )
    return ((told, possible, fault) for claimed, told, possible, fault in known if claimed)


def model_of(manifest: Manifest) -> GroupingModel | str:
    """The model with the parameters that the manifest tells; or why there is none."""
    if manifest.model not in MODELS:
        return f"this version of srsql knows no model {manifest.model!r}"
    kind = MODELS[manifest.model]
    try:
        return kind(**_given(kind, manifest))
    except (ReleaseError, ValueError, TypeError) as error:
        return str(error)


def sets_text(manifest: Manifest) -> str:
    """The sets of quasi-identifiers in words, as the parameter ``qid_sets`` has them."""
    sets = manifest.qid_sets or ()
    return "; ".join(f"{each.name}: {', '.join(each.attributes)}" for each in sets)


def _person_faults(manifest: Manifest) -> list[str]:
    """What is claimed of persons and cannot be true at once.

    At a higher match probability there are no fewer persons. A release that counts persons at one
    has k of them there; a correction is measured by what is suspected by then, which may be more.
    """
    told, faults = manifest.parameters, list[str]()
    least = {at: told[name] for at, name in PERSONS_AT.items() if name in told}
    for at, count in least.items():
        if not isinstance(count, int) or not 0 <= count <= manifest.k:
            return [f"parameter {PERSONS_AT[at]} is {count!r}, and k is {manifest.k}"]
    if [*least.values()] != sorted(least.values()):
        faults.append("fewer persons are told at a higher match probability")
    counted, match = told.get("counted"), told.get("match_probability")
    if (counted, match) == (None, None):
        return faults
    known = re.fullmatch(r"0\.[0-9]{1,9}|1", str(match)) and float(str(match)) >= LEAST_MATCH
    if counted != "persons" or not known:
        return [*faults, f"counted is {counted!r}, at a match probability of {match!r}"]
    if "correction" in told:
        return faults
    return faults + [
        f"parameter {PERSONS_AT[at]} is {count}, and k persons are counted at {match}"
        for at, count in least.items()
        if at >= float(str(match)) and count != manifest.k
    ]


def _late_faults(manifest: Manifest) -> list[str]:
    """What is claimed of cases that came late and cannot be true."""
    told = manifest.parameters.get("late_cases")
    if told is None or told == f"fewer than {manifest.k}":
        return []
    text = str(told)
    released = manifest.counts.released_cases
    if text.isdecimal() and manifest.k <= int(text) <= released:
        return []
    return [f"late_cases is {told!r}, of {released} cases that are released by k = {manifest.k}"]


def _pool_faults(manifest: Manifest) -> list[str]:
    """What is claimed of cases that wait and cannot be true: they are among those withheld."""
    told = manifest.parameters
    names = ("max_delay", "waiting_cases", "waiting_reports")
    there = [told[name] for name in names if name in told]
    if not there:
        return []
    counts = [count for count in there if isinstance(count, int) and not isinstance(count, bool)]
    if len(counts) < len(names) or min(counts) < 0 or counts[0] == 0:
        return [f"of cases that wait it tells {there!r}, not {', '.join(names)}"]
    withheld = (manifest.counts.withheld_cases, manifest.counts.withheld_reports)
    faults = [
        f"{waiting} {what} wait, and {held} are withheld"
        for waiting, held, what in zip(counts[1:], withheld, ("cases", "reports"), strict=True)
        if held is None or waiting > held
    ]
    if counts[1] > counts[2]:
        faults.append(f"{counts[1]} cases wait, of {counts[2]} reports")
    return faults


def _term_faults(manifest: Manifest) -> list[str]:
    """What is claimed of disassociated terms in one place, and otherwise in another."""
    claim, parameters = manifest.terms, manifest.parameters
    if claim is None:
        names = sorted({"terms", "m", "terms_guarantee"} & parameters.keys())
        return [f"parameter {name} is there, and terms are not" for name in names]
    try:
        facts = DisassociationParameters(
            claim.attributes,
            claim.m,
            claim.diversity,
            term_k=claim.k,
            term_cases=claim.cases,
            link_quarters=parameters.get("linked_quarters") == "yes",
            item_cases=told_item_cases(manifest),
        ).facts(manifest.k, "chunks")
    except ReleaseError as error:
        return [f"the terms are none: {error}"]
    due: dict[str, str | int] = {
        name: facts[name]
        for name in ("terms", "m", "l", "term_k", "term_cases", "item_cases")
        if name in facts
    }
    if written_here(manifest):
        due["terms_guarantee"] = facts["terms_guarantee"]
    faults = [
        f"parameter {name} is {parameters.get(name)!r}, not {value!r}"
        for name, value in due.items()
        if parameters.get(name) != value
    ]
    return faults + [
        f"{table.name} shows {column.name}, the terms of which are told apart from records"
        for table in manifest.tables
        for column in table.columns
        if table.name not in TERM_TABLES
        and column.name in {name.partition("/")[0] for name in claim.attributes}
    ]


def told_item_cases(manifest: Manifest) -> int | None:
    """Cases of its cluster that hold an item without a count, at most; None: early artifacts, and
    those whose whole rows are not taken apart, tell nothing of it."""
    told = manifest.parameters.get("item_cases")
    told = published_rows(manifest).of_clusters(lambda: None, lambda: told)
    return told if isinstance(told, int) and not isinstance(told, bool) else None


def _key_faults(manifest: Manifest) -> Iterator[str]:
    """Where the manifest contradicts itself about keys of terms."""
    told = manifest.parameters.get("term_key", 0)
    if told not in KEY_VERSIONS:
        known = " and ".join(map(str, KEY_VERSIONS))
        yield f"parameter term_key is {told!r}, this srsql knows {known}"
    if (manifest.artifact_version >= KEYED) != (manifest.term_key > 0):
        yield f"term_key is {told!r}, in version {manifest.artifact_version}"
    for item in manifest.tables:
        terms = [c.name for c in item.columns if c.role in ("sensitive", "quasi-sensitive")]
        due = {f"{name}_key" for name in terms} if manifest.term_key else set()
        found = {c.name for c in item.columns if c.role == OF_KEY}
        for name in sorted(due - found):
            yield f"{item.name} has no column {name} with the keys of terms"
        for name in sorted(found - due):
            yield f"{item.name}.{name} is told to have keys, and is beside no column of terms"


def _given(kind: type[GroupingModel], manifest: Manifest) -> dict[str, Any]:
    """The model's own parameters, as the manifest tells them."""
    parameters = UNTOLD | manifest.parameters
    given: dict[str, Any] = {"k": manifest.k}
    for field in fields(kind):
        if field.name != "k" and field.name in parameters:
            value = parameters[field.name]
            given[field.name] = _fraction(value) if isinstance(field.default, Fraction) else value
    return given


def document_faults(folder: Path, manifest: AnyManifest, *, unchanged: bool) -> list[str]:
    """The documents say what the manifest says; other versions may word it otherwise.

    Args:
        folder: of the artifact.
        manifest: that they follow from.
        unchanged: the files are as they were hashed, so that sizes of theirs can be told.
    """
    parts = quarters_of(manifest)
    if not written_here(parts[0]):
        return []
    text = readme(manifest) if isinstance(manifest, Manifest) else range_readme(manifest)
    due = {README: text, DICTIONARY: dictionary_csv(parts[0])}
    if any(part.terms for part in parts):
        due[COUNTS] = counts_sql()
    described = [folder / name for name in described_files(manifest)]
    if unchanged:
        sizes = {path.name: path.stat().st_size for path in described}
        due |= doors.opened("catalogues")(manifest, sizes)
    paths = {name: folder / name for name in due}
    return [
        f"{name} does not say what {MANIFEST} says"
        for name, path in paths.items()
        if path.is_file() and not path.is_symlink() and not same_bytes(path, due[name])
    ]


def same_bytes(path: Path, due: bytes) -> bool:
    """Whether a file has just these bytes; no more of it is read."""
    try:
        return read_bytes(path, len(due), links=False) == due
    except OutsideError:
        return False


def hierarchy_faults(trees: Trees, manifest: Manifest) -> list[str]:
    """What keeps the hierarchies from being one tree for each categorical quasi-identifier."""
    declared = {a.name for a in manifest.attributes if a.kind == "categorical"}
    faults = [f"{name} has no hierarchy" for name in sorted(declared - trees.keys())]
    for name, rows in trees.items():
        if name not in declared:
            faults.append(f"hierarchy of {name!r}, which is no categorical quasi-identifier")
        faults += [f"hierarchy of {name}: {text}" for text in _tree_faults(rows)]
    return faults


def _tree_faults(rows: Sequence[tuple[str, str]]) -> list[str]:
    parents = dict(rows)
    faults = []
    if len(parents) < len(rows) or "" in parents:
        faults.append("a node stands there twice, or has no name")
    roots = [node for node, parent in rows if not parent]
    if len(roots) != 1:
        faults.append(f"it has {len(roots)} roots, not one")
    faults += [
        f"the parent of {node!r}, {parent!r}, is no node of it"
        for node, parent in rows
        if parent and parent not in parents
    ]
    ends: set[str] = set()
    """Nodes from which the way up is known to end."""
    for node in parents:
        way: dict[str, None] = {}
        above = node
        while above in parents and above not in ends and above not in way:
            way[above] = None
            above = parents[above]
        if above in way:
            faults.append(f"{above!r} lies below itself")
        ends.update(way)
    return faults


def uniform_faults(
    values: Sequence[str], nums: Sequence[int], dens: Sequence[int], parameter: object
) -> list[str]:
    """Thresholds that differ from the one that the parameters give for all.

    Args:
        values: side by side with their thresholds.
        nums: numerators.
        dens: denominators.
        parameter: theta as the manifest has it.
    """
    try:
        theta = _fraction(parameter)
    except ValueError:
        known = parameter in POLICIES
        return [] if known else [f"the parameter theta is {parameter!r}, which is no policy"]
    return [
        f"{value} has the threshold {num}/{den}, the parameter theta is {theta}"
        for value, num, den in zip(values, nums, dens, strict=True)
        if den <= 0 or num * theta.denominator != den * theta.numerator
    ]


def _fraction(value: object) -> Fraction:
    """As manifests write it; a power of ten could be too long to compute.

    Raises:
        ValueError: it is not.
    """
    text = str(value)
    if not _FRACTION.fullmatch(text):
        raise ValueError(f"{text[:40]!r} is no fraction")
    return Fraction(text)
