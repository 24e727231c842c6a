"""Count tables with noise (``--terms noisy-tables``): what is asked, and what noise that needs.

The mechanism and its proof stand in ``sql_macros/terms/noisy_tables.sql``; whose claim it is, in
``release/features/noisy_tables.py``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

from sqlglot import exp

from srsql.engine.catalog.layout import (
    NOISE,
    NOISY_CASES,
    NOISY_COUNTS,
    NOISY_ITEMS,
    NOISY_PAIRS,
    Built,
    derived,
    in_units,
    raw_table,
    source_of,
    store_of,
)
from srsql.engine.catalog.releases import Release
from srsql.engine.errors import ReleaseError
from srsql.engine.grouping.perturbation import ON_TABLES
from srsql.engine.parameters import NOISE_HELP, Noise, declared, option_name, parameter, read_fields
from srsql.engine.parameters.takes import Amount, Names, OneOf, Parsed, Whole
from srsql.engine.shapes.strata import Cut, check_cuts, cuts_text, leaf_of, parse_cuts, strata
from srsql.engine.store.statements import (
    STORE,
    column,
    create,
    query,
    table,
    temporary,
    union_all,
    with_rows,
)
from srsql.engine.terms.count_tables import TableParameters, kinds, report_items, sources
from srsql.schemas import Dataset
from srsql.udfs.limits import MAX_EPSILON

NOISY_TABLES = "noisy-tables"
"""The value of ``--terms``."""
TOPIC = "terms/noisy_tables"
OF = f"--terms {NOISY_TABLES}"
FINEST = 10_000
"""Largest denominator of epsilon: the ledger adds exact fractions."""
LEAST_DELTA = 10**12
"""Largest denominator of delta."""
MOST_ITEMS = 1_000
CASES, ITEMS, PAIRS = NOISY_CASES, NOISY_ITEMS, NOISY_PAIRS
SHARES = {CASES: Fraction(1, 10), ITEMS: Fraction(9, 20), PAIRS: Fraction(9, 20)}
"""What of epsilon each table takes: a signal needs a pair and both of its items."""
CONFIDENCE = Fraction(95, 100)
"""At which the error of a published count is stated."""
_DIGITS = 60


@dataclass(frozen=True)
class TableNoise:
    """The noise of one table."""

    table: str
    epsilon: Fraction
    delta: Fraction
    """0: its keys are a closed list."""
    counts: int
    """Counts to which a case adds 1, at most."""

    @property
    def scale(self) -> Fraction:
        """Of the discrete Laplace noise: P(Z = z) proportional to exp(-|z| / scale)."""
        return self.counts / self.epsilon

    @property
    def threshold(self) -> int | None:
        """The least count that is published; None: all are.

        A case's own keys have a count of 1: at most so many pass with a chance of p each, and
        p times their number is at most delta. See the proof.
        """
        if not self.delta:
            return None
        with localcontext() as exact:
            exact.prec = _DIGITS
            ratio = self._ratio()
            allowed = min(_decimal(self.delta) / self.counts, 1 - ratio)
            allowed *= 1 - Decimal(10) ** (10 - _DIGITS)  # roundings of 60 digits
            steps = int(
                ((allowed * (1 + ratio)).ln() / ratio.ln()).to_integral_value("ROUND_FLOOR")
            )
            steps = max(steps - 1, 1)
            while ratio**steps / (1 + ratio) > allowed:
                steps += 1
        return steps + 1

    @property
    def mean_error(self) -> float:
        """Expected absolute value of the noise."""
        with localcontext() as exact:
            exact.prec = _DIGITS
            ratio = self._ratio()
            return float(2 * ratio / (1 - ratio * ratio))

    @property
    def margin(self) -> int:
        """The least m for which noise is within -m and m at ``CONFIDENCE``."""
        with localcontext() as exact:
            exact.prec = _DIGITS
            ratio, margin = self._ratio(), 0
            outside = _decimal(1 - CONFIDENCE)
            estimate = (outside * (1 + ratio) / 2).ln() / ratio.ln()
            margin = max(int(estimate) - 2, 0)
            while 2 * ratio ** (margin + 1) / (1 + ratio) > outside:
                margin += 1
        return margin

    def _ratio(self) -> Decimal:
        """exp(-1 / scale), of the double that the sampler is given: no scale below is drawn."""
        from srsql.udfs.mechanisms import conservative_scale

        given = Fraction(conservative_scale(self.scale.numerator, self.scale.denominator))
        return (-1 / _decimal(given)).exp()


def _decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)


@dataclass(frozen=True)
class NoisyParameters:
    """Count tables with noise: SPEC section 19, R8."""

    epsilon: Fraction = parameter(
        Fraction(1),
        takes=Amount(MAX_EPSILON, FINEST),
        help="privacy budget of a case for all counts of its period, a number or fraction",
        of=OF,
        weaker="higher",
    )
    delta: Fraction = parameter(
        Fraction(1, 1_000_000),
        takes=Amount(Fraction(1, 1000), LEAST_DELTA),
        help="chance at most that a name or pair that only one case has is published",
        of=OF,
        weaker="higher",
    )
    noise: Noise = parameter(
        "secure",
        takes=OneOf(("secure", "seeded")),
        help=NOISE_HELP,
        of=OF,
        weaker="seeded",
    )
    case_items: int = parameter(
        3,
        takes=Whole(1, MOST_ITEMS),
        help="values of a counted column that a case adds at most",
        of=OF,
        weaker="different",
    )
    case_pairs: int = parameter(
        4,
        takes=Whole(1, MOST_ITEMS),
        help="pairs of values that a case adds at most",
        of=OF,
        weaker="different",
    )
    cuts: tuple[Cut, ...] = parameter(
        (),
        takes=Parsed(
            tuple,
            parse_cuts,
            "none, or the path of a TOML file of [[cut]]",
            show_with=cuts_text,
            content=lambda cuts: cuts and [cuts_text(cuts)],
        ),
        keyword="strata",
        help=declared(TableParameters)["strata"].help,
        usual="none, since each stratum has noise of its own",
        of=OF,
        weaker="different",
    )
    attributes: tuple[str, ...] = parameter(
        (),
        takes=Names(),
        keyword="table_items",
        help=declared(TableParameters)["table_items"].help,
        usual="drugs and reactions of signals",
        of=OF,
        weaker="different",
    )

    def __post_init__(self) -> None:
        """Refuse parameters that mean nothing."""
        read_fields(self, ReleaseError)
        if len(set(self.attributes)) < len(self.attributes):
            raise ReleaseError("--table-items names a column twice")

    def of(self, dataset: Dataset) -> NoisyParameters:
        """The same with what a dataset has by default.

        Raises:
            ReleaseError: the dataset has none of what is asked for.
        """
        signals = dataset.signals
        usual = (
            (signals.drug, signals.reaction)
            if signals
            else tuple(a.column for a in (*dataset.quasi_sensitive, *dataset.sensitive))
        )
        found = replace(self, attributes=self.attributes or usual)
        check_cuts(dataset, found.cuts)
        ranged = {qid.name for qid in dataset.qid if qid.ranged}
        for cut in found.cuts:
            if cut.qid in ranged:
                raise ReleaseError(
                    f"--strata: {OF} has no strata of {cut.qid}, whose values are groups: "
                    "leave it out"
                )
        sources(dataset, found.attributes)
        return found

    @property
    def publishable(self) -> bool:
        """Whether no seed takes the noise off again."""
        return self.noise == "secure"

    def packages(self) -> Mapping[str, str]:
        """Packages of extras that it works with, and what needs each."""
        return {"opendp": f"{OF} --noise secure"} if self.publishable else {}

    def plan(self) -> tuple[TableNoise, ...]:
        """The noise of each table: epsilon and delta are split, and add up to the whole."""
        counts = {CASES: 1, ITEMS: self.case_items * len(self.attributes), PAIRS: self.case_pairs}
        return tuple(
            TableNoise(
                name,
                self.epsilon * SHARES[name],
                Fraction(0) if name == CASES else self.delta / 2,
                counts[name],
            )
            for name in counts
        )

    def facts(self, dataset: Dataset) -> dict[str, str | int]:
        """What both manifests tell."""
        return {
            "noisy_epsilon": str(self.epsilon),
            "noisy_delta": str(self.delta),
            "noisy_case_items": self.case_items,
            "noisy_case_pairs": self.case_pairs,
            "noisy_items": ", ".join(self.attributes),
            "noisy_pairs": ", ".join(
                f"{one} x {other}" for one, other in kinds(dataset, self.attributes)
            ),
            "noisy_strata": cuts_text(self.cuts),
            "noisy_source": self.noise,
        }


def make_noisy(terms: str | None, given: Mapping[str, Any]) -> NoisyParameters | None:
    """What is asked of count tables with noise; None: none are asked for.

    Args:
        terms: value of ``--terms``.
        given: options by keyword.

    Raises:
        ReleaseError: options that go with nothing.
    """
    known = declared(NoisyParameters)
    asked = {name: value for name, value in given.items() if value is not None and name in known}
    if terms != NOISY_TABLES:
        for name in ("delta", "case_items", "case_pairs"):
            if name in asked:
                raise ReleaseError(
                    f"{option_name(name)} goes with {OF}: give that, or leave it out"
                )
        return None
    return NoisyParameters(**{known[name].field: value for name, value in asked.items()})


def make_noisy_counts(release: Release, asked: NoisyParameters, draw: str) -> None:
    """Fill ``srsql_pub_*`` with counts that have noise, and charge the cases that are counted.

    Args:
        release: with ``srsql_case`` and ``srsql_case_report``.
        asked: with what the dataset has by default.
        draw: what a seeded generator starts from; the secure one takes no notice of it.
    """
    warehouse, dataset = release.warehouse, release.dataset
    tree = list(strata(asked.cuts))
    parents = {each.parent for each in tree}
    leaves = [each.name for each in tree if each.name not in parents]
    own: dict[str, Any] = {"release_id": release.release_id, "mechanism": ON_TABLES}
    items = union_all([report_items(release, each) for each in sources(dataset, asked.attributes)])
    unit = with_rows(query(TOPIC, "unit"), report_stratum=_strata_of_reports(release, asked.cuts))
    held = with_rows(query(TOPIC, "held"), report_item=items)
    pairs = list(kinds(dataset, asked.attributes))
    lists = {
        "noisy_leaf": ("SELECT unnest($leaves::VARCHAR[]) AS stratum", {"leaves": leaves}),
        "noisy_kind": (
            "SELECT unnest($ones::VARCHAR[]) AS attribute, unnest($others::VARCHAR[]) AS other",
            {"ones": [one for one, _ in pairs], "others": [other for _, other in pairs]},
        ),
        "noisy_unit": (unit.sql("duckdb"), {**own, "other": leaves[-1]}),
        "noisy_held": (held.sql("duckdb"), {}),
    }
    for name, (text, given) in lists.items():
        warehouse.run(f"CREATE OR REPLACE TEMP TABLE srsql_{name} AS {text}", given)
    plan = asked.plan()
    noise: dict[str, Any] = {}
    for each, name in zip(plan, ("case", "item", "pair"), strict=True):
        digest = hashlib.sha256(f"{draw}/{each.table}".encode()).digest()
        noise |= {
            f"{name}_num": each.scale.numerator,
            f"{name}_den": each.scale.denominator,
            f"{name}_least": each.threshold,
            f"{name}_seed": None if asked.publishable else int.from_bytes(digest[:7]),
        }
    bounds = {"case_items": asked.case_items, "case_pairs": asked.case_pairs}
    warehouse.run_step(TOPIC, {**bounds, **noise})
    warehouse.run(query(TOPIC, "noise"), _columns(plan))
    warehouse.run(
        query(TOPIC, "charge"),
        {
            **own,
            "tables": [charged_for(each) for each in plan],
            "nums": [each.epsilon.numerator for each in plan],
            "dens": [each.epsilon.denominator for each in plan],
        },
    )


def charged_for(noise: TableNoise) -> str:
    """What the ledger says of a charge: the table, and its delta."""
    return f"{noise.table}, delta {noise.delta}"


def _columns(plan: tuple[TableNoise, ...]) -> dict[str, list[Any]]:
    """The rows of the published table of the noise, by columns."""
    return {
        "counts": [each.table for each in plan],
        "epsilons": [str(each.epsilon) for each in plan],
        "deltas": [str(each.delta) for each in plan],
        "contributions": [each.counts for each in plan],
        "scales": [str(each.scale) for each in plan],
        "thresholds": [each.threshold for each in plan],
        "errors": [round(each.mean_error, 4) for each in plan],
        "margins": [each.margin for each in plan],
    }


def _strata_of_reports(release: Release, cuts: tuple[Cut, ...]) -> exp.Query:
    """(report_id, stratum) by the values as they are reported."""
    dataset = release.dataset
    shown: list[exp.Expr] = [column(dataset.report_id, "t").as_("report_id")]
    for qid in dataset.qid:
        value = column(derived(qid.name), "t")
        if qid.kind == "numeric":
            number = in_units(qid, value)
            shown += [number.copy().as_(f"{qid.name}_low"), number.as_(f"{qid.name}_high")]
        else:
            shown.append(value.as_(qid.name))
    rows = (
        exp.select(*shown)
        .from_(raw_table(dataset, dataset.report_table, alias="t"))
        .where(column("quarter", "t").eq(exp.Literal.string(release.quarter)))
    )
    placed = leaf_of(dataset, cuts, "r").as_("stratum")
    return exp.select(column("report_id", "r"), placed).from_(rows.subquery("r"))


def noisy_queries() -> dict[str, exp.Query]:
    """Table of counts with noise -> what fills it, in the order of keys."""
    found: dict[str, exp.Query] = {}
    for name, columns in NOISY_COUNTS.items():
        rows = exp.select(*[column(shown, "t") for shown in columns])
        rows = rows.from_(temporary(source_of(name), alias="t"))
        keys = columns[:1] if name == NOISE else columns[:-1]
        found[name] = rows.order_by(*[column(shown, "t") for shown in keys])
    return found


def build_noisy_counts(release: Release) -> list[Built]:
    """Fill one table per released view in the schema ``STORE``."""
    built = []
    for name, rows in noisy_queries().items():
        store = store_of(release.release_id, name)
        release.warehouse.run(create(table(STORE, store), rows))
        built.append(Built(name, store, rows))
    return built
