"""The form that a reviewer signs: what anonymization reports ask for, from manifest and metrics.

The sections are those that three guides ask for in their own order: EMA's external guidance on
Policy 0070 and Health Canada's guidance on the Public Release of Clinical Information (PRCI), which
share a template of anonymization reports, and NIST SP 800-188 for government data sets. What no
file tells is marked. Figures are the steward's: the form is made with the originals.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import metadata, resources
from pathlib import Path
from typing import Any

from srsql.engine.measures import MeasureRow
from srsql.engine.models import MODELS
from srsql.engine.release.audiences import AUDIENCES
from srsql.engine.report.glossary import beside_region, measure_meaning, undefended
from srsql.engine.report.internal_quarter import (
    Subject,
    attacked,
    loss_table,
    measured,
    stored_checks,
)
from srsql.engine.report.page import Page, Table, Value, cell, render
from srsql.engine.report.shapes import Shapes, bounds_of_regions, catalog_shapes, missingness
from srsql.engine.report.signal_figures import comparisons
from srsql.engine.store.statements import query
from srsql.schemas.glossary import term, terms

EMA, CANADA, NIST = "EMA Policy 0070", "Health Canada PRCI", "NIST SP 800-188"
TEMPLATE = Path(str(resources.files(__package__) / "form.html.j2"))
TO_FILL = "To be completed by hand"
_ATTACKS = ("b", "f", "l", "md", "ss", "p", "u", "g")
_VERSIONS = ("duckdb", "numba", "numpy", "pandas")


@dataclass(frozen=True)
class Section:
    """One section of the form."""

    key: str
    title: str
    asked_by: tuple[str, ...]
    """The guides that ask for it."""
    said: list[str] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    to_fill: list[str] = field(default_factory=list)
    """What has to be added by hand."""


@dataclass(frozen=True)
class Form:
    """The form of one release."""

    page: Page
    markdown: str


def review_form(subject: Subject) -> Form:
    """The form of a release or a draft; nothing but temporary tables is written.

    Args:
        subject: the release.
    """
    release = subject.release
    rows = [*measured(release), *stored_checks(release)]
    shapes = catalog_shapes(release)
    sections = [
        _what(subject),
        _context(subject),
        _treatment(subject, rows),
        _attackers(subject),
        _risk(subject, rows, shapes),
        _residual(subject),
        _utility(subject, rows),
        _checks(rows),
        _conclusion(),
    ]
    page = render(
        TEMPLATE,
        dataset=release.visible_dataset,
        series=release.series,
        quarter=release.quarter,
        draft=subject.status != "released",
        date=subject.manifest.get("release_date"),
        sections=sections,
        to_fill=TO_FILL,
        open_points=sum(len(each.to_fill) for each in sections),
    )
    return Form(page, _markdown(subject, sections))


def _what(subject: Subject) -> Section:
    manifest, release = subject.manifest, subject.release
    source = manifest["source"]
    rows: list[tuple[Value, ...]] = [
        ("data", f"{release.visible_dataset.title or release.dataset.name}, {release.quarter}"),
        ("series", release.series),
        ("released on", manifest.get("release_date")),
        ("state", "out" if subject.status == "released" else "draft"),
        ("source", f"{source['name']}, SHA-256 {source['sha256']}"),
        ("dataset declaration", f"version {manifest['dataset_version']}, SHA-256 "
                                f"{manifest['dataset_fingerprint']}"),
        ("cases released, withheld", f"{manifest['cases']['released']:,}, "
                                     f"{manifest['cases']['withheld']:,}"),
        ("reports released, withheld", f"{manifest['reports']['released']:,}, "
                                       f"{manifest['reports']['withheld']:,}"),
        ("method", f"{manifest['model']} of srsql {manifest['software_version']}"),
        ("versions here", ", ".join(f"{name} {metadata.version(name)}" for name in _VERSIONS)),
    ]  # fmt: skip
    return Section(
        "what",
        "What is released, and by which method",
        (EMA, CANADA, NIST),
        [manifest["guarantee"]],
        [Table("release", "The release", ("item", "value"), rows)],
        ["who is responsible for the release, with an address for questions",
         "the procedure or submission that it belongs to"],
    )  # fmt: skip


def _context(subject: Subject) -> Section:
    audience = subject.manifest.get("audience")
    said = [f"The release was made for the audience {audience!r}."] if audience else []
    return Section(
        "context",
        "Recipients and context of the release",
        (EMA, CANADA, NIST),
        said,
        [],
        ["who gets the data: anybody, named recipients under a contract, or users of an enclave",
         "controls on recipients: terms of use, contracts, access, and what follows a breach",
         "why these data are released, and the harm to a patient if a record is identified",
         "the population that the reports come from, and what is public about it",
         "the sharing model, and the board that decided on it"],
    )  # fmt: skip


def _treatment(subject: Subject, rows: list[MeasureRow]) -> Section:
    dataset, manifest = subject.release.visible_dataset, subject.manifest
    lost = {str(row[0]): row[3] for row in loss_table(subject, rows).rows}
    given_up = {each.name: each for each in missingness(subject.release)}
    model = MODELS.get(manifest["model"])
    keeps_theta = model is not None and "theta" in model.claimed_bounds.guaranteed
    drawn = model is not None and model.claimed_bounds.drawn
    ids = {"original": "kept as the source has them"}.get(
        str(manifest.get("ids")), "replaced by pseudonyms under a secret key"
    )
    shown: list[tuple[Value, ...]] = [
        (f"{dataset.case_id}, {dataset.report_id}", "direct identifier", ids, None, None)
    ]
    for qid in dataset.qid:
        of = given_up.get(qid.name)
        what = (
            "drawn at random, or generalized" if drawn else "generalized to a region of its group"
        )
        shown.append((qid.name, "quasi-identifier", what, lost.get(qid.name),
                      of.given_up if of else None))  # fmt: skip
    beside = beside_region(dataset, manifest)
    sensitive = {f"{each.table}.{each.column}" for each in dataset.sensitive}
    for name in sorted(sensitive - set(beside["verbatim"])):
        shown.append((name, "sensitive", "told apart from rows, or not shown", None, None))
    for name in beside["verbatim"]:
        kind = "sensitive" if name in sensitive else "other"
        within = "; thresholds bound its values" if keeps_theta and name in sensitive else ""
        shown.append((name, kind, f"as reported{within}", None, None))
    table = Table(
        "treatment",
        "Treatment by variable; columns that are not listed are not released",
        ("variable", "kind", "treatment", "mean loss (0 to 1)", "values given up"),
        shown,
    )
    return Section(
        "treatment",
        "Variables and their treatment",
        (EMA, CANADA, NIST),
        [f"Derived columns: {beside['derived']}."] if beside["derived"] else [],
        [table],
        ["whether a column that is published as reported can identify a patient of yours"],
    )


def _attackers(subject: Subject) -> Section:
    withstood = str(subject.manifest.get("attacks") or "").split(",")
    rows: list[tuple[Value, ...]] = [
        (term(key).term, key in withstood, term(key).text) for key in _ATTACKS
    ]
    return Section(
        "attackers",
        "Attackers and plausible attacks",
        (EMA, NIST),
        ["Every attacker knows the quasi-identifiers of the target, who is in the release."],
        [Table("attacks", "Attacks on a series", ("attack", "withstood", "what it is"), rows)],
        ["which of these attackers are plausible for these recipients, and why"],
    )


def _risk(subject: Subject, rows: list[MeasureRow], shapes: Shapes) -> Section:
    release, by_name = subject.release, {row.measure: row for row in rows}
    promised = "k" in bounds_of_regions(subject.manifest["model"])
    found: list[tuple[Value, ...]] = []
    ((rarest, alone, classes, cases),) = release.warehouse.rows(
        query("report/release", "original_classes"), {"release": release.release_id}
    )
    if cases:
        found.append(("before: largest risk, originals", 1 / rarest,
                      f"{alone:,} of {cases:,} cases are alone with their values"))  # fmt: skip
        found.append(("before: mean risk, originals", classes / cases,
                      f"{classes:,} combinations of values"))  # fmt: skip
    if promised and shapes.sizes:
        least = min(shapes.sizes)
        found.append(("largest risk, one release", 1 / least, f"1 / {least} cases of a region"))
        found.append(("mean risk, one release", shapes.groups / shapes.cases,
                      f"{shapes.groups:,} groups of {shapes.cases:,} cases"))  # fmt: skip
    worst = attacked(subject).worst if promised else None
    if worst is not None:
        risk = 1 / worst.remaining if worst.remaining else 1.0
        found.append(("largest risk, releases joined", risk,
                      f"{worst.remaining:,} candidates remain of the worst group"))  # fmt: skip
    found += [
        (name, by_name[measure].ratio, measure_meaning(measure))
        for name, measure in (("mean linkage by nearness (RR)", "rr"),
                              ("mean inference by nearness (AR)", "ar_rev"))
        if measure in by_name
    ]  # fmt: skip
    said = [
        "Risks are chances to pick the record of a patient whose quasi-identifiers are known.",
        "The model claims no least number of cases for published regions: RR tells the risk."
        if not promised
        else f"The threshold that the model keeps is 1 / {release.k} ({1 / release.k:.2g}).",
    ]
    least = min(shapes.sizes, default=0) if promised else 0
    kept = [
        (name, each.whom, each.rounded, bool(least) and least >= each.k)
        for name, each in AUDIENCES.items()
    ]
    tables = [Table("risk", "Measured risk", ("measure", "value", "how"), found)]
    if promised:
        columns = ("audience", "recipients", "threshold of the field", "kept by regions")
        tables.append(Table("thresholds", "Thresholds", columns, kept))
    return Section(
        "risk",
        "Risk of re-identification: threshold, largest and mean risk",
        (EMA, CANADA, NIST),
        said,
        tables,
        ["the threshold that applies to these recipients, and why"],
    )


def _residual(subject: Subject) -> Section:
    beside = beside_region(subject.release.visible_dataset, subject.manifest)
    shares = beside["shares"]
    named = [
        ("1 known item: one candidate is left", "one_candidate_percent_1_item"),
        ("2 known items: one candidate is left", "one_candidate_percent_2_items"),
        ("all items known: one candidate is left", "one_candidate_percent_all_items"),
        ("1 known item: fewer than k candidates", "below_k_percent_1_item"),
        ("2 known items: fewer than k candidates", "below_k_percent_2_items"),
        ("1 known item tells another with certainty", "certain_term_percent_1_item"),
        ("2 known items tell another with certainty", "certain_term_percent_2_items"),
        ("the region tells exact values of every row", "exact_values_percent_every_row"),
    ]
    rows = [(what, f"{shares[key]} %") for what, key in named if key in shares]
    return Section(
        "residual",
        "Residual risk",
        (EMA, CANADA, NIST),
        [f"An item is one of the {beside['items']} of a patient. Shares are of the cases."],
        [
            Table("singled-out", "What known items tell", ("attacker knows", "cases"), rows),
            Table("undefended", "Not defended", ("attacker",),
                  [(line,) for line in undefended(subject.manifest)]),
        ],
        ["why the residual risk is acceptable for these recipients, or what else reduces it"],
    )  # fmt: skip


def _utility(subject: Subject, rows: list[MeasureRow]) -> Section:
    manifest, release = subject.manifest, subject.release
    found: list[tuple[Value, ...]] = [
        (f"{row.measure}, {row.scope}", row.ratio, measure_meaning(row.measure))
        for row in rows
        if row.measure in ("nil", "nil_star") or _tells_of_data(row.measure)
    ]
    tables = [Table("utility", "What the release loses", ("measure", "share", "meaning"), found)]
    out, pairs = subject.status == "released", []
    if out and release.visible_dataset.signal_rows and manifest["cases"]["released"]:
        pairs = [
            (each.title, name, agreement.kept, agreement.undecided, agreement.lost)
            for each in comparisons(release)
            for name, agreement in each.criteria
        ]
    if pairs:
        columns = ("cases", "criterion", "kept", "undecided", "lost")
        tables.append(Table("signals", "Signals of the originals", columns, pairs))
    return Section(
        "utility",
        "Data utility",
        (EMA, CANADA, NIST),
        [],
        tables,
        ["what the recipients want to do with the data, and whether that is still possible"],
    )


def _tells_of_data(measure: str) -> bool:
    """Whether a measure says how much of the data is not there."""
    entry = terms().get(measure)
    return entry is not None and entry.topic == term("withheld").topic


def _checks(rows: list[MeasureRow]) -> Section:
    judged = [row for row in rows if row.passed is not None]
    broken = [row for row in judged if not row.passed]
    said = [
        f"{len(judged):,} bounds were recomputed from what is released; {len(broken):,} are broken."
    ]
    listed = [(row.measure, row.scope, row.violating) for row in broken]
    columns = ("bound", "scope", "violations")
    return Section(
        "checks",
        "Checks",
        (NIST,),
        said,
        [Table("broken", "Broken bounds", columns, listed)] if listed else [],
        ["whether somebody other than the maker ran 'srsql verify' on the artifact, and when"],
    )


def _conclusion() -> Section:
    return Section(
        "conclusion",
        "Conclusion, monitoring and signatures",
        (EMA, CANADA, NIST),
        [],
        [],
        ["the decision: release, release under conditions, or no release",
         "when the risk is assessed again, and who watches for corrections and new sources",
         "name, role, date and signature of the one who made the release",
         "name, role, date and signature of the reviewer"],
    )  # fmt: skip


def _markdown(subject: Subject, sections: list[Section]) -> str:
    release = subject.release
    parts = [
        f"# Anonymization report: {_line(release.dataset.name)}, {_line(release.quarter)}\n",
        "Made with the originals: for the reviewer, not for publication.\n",
    ]
    for number, section in enumerate(sections, 1):
        parts.append(f"## {number}. {section.title}\n")
        parts.append(f"Asked for by: {', '.join(section.asked_by)}.\n")
        parts += [f"{_line(text)}\n" for text in section.said]
        for table in section.tables:
            parts.append("\n".join(_rows(table)) + "\n")
        parts += [f"* [ ] **{TO_FILL}:** {text}" for text in section.to_fill]
        parts.append("")
    return "\n".join(parts)


def _rows(table: Table) -> Iterator[str]:
    yield f"**{_line(table.caption)}**\n"
    yield "| " + " | ".join(map(_line, table.columns)) + " |"
    yield "| " + " | ".join("---:" if number else "---" for number in table.numeric) + " |"
    for row in table.rows:
        yield "| " + " | ".join(_line(cell(value)) for value in row) + " |"


def _line(text: Any) -> str:
    """Text of others in one cell: no markup, no line ends."""
    plain = " ".join(str(text).split())
    for sign in ("\\", "|", "`", "*", "_", "[", "]", "<", ">", "#"):
        plain = plain.replace(sign, f"\\{sign}")
    return plain
