"""The series of a warehouse: made, shown and changed without a release."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from srsql.engine.catalog.series import (
    FOREIGN,
    SeriesParameter,
    check_name,
    find_series,
    gaps,
    make_series,
    stored_parameters,
    without_calendar,
)
from srsql.engine.errors import ReleaseError
from srsql.engine.parameters import Parameter, option_name, unknown_option
from srsql.engine.release.features.feature import WithIds
from srsql.engine.release.features.table import refuse
from srsql.engine.release.memory import compared, inherited, need_consent_to_change, remember
from srsql.engine.release.request import Request, ids_parameter, make_request, release_options
from srsql.engine.release.terms import family_of
from srsql.engine.store.statements import query
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset


@dataclass(frozen=True)
class SeriesInfo:
    """What there is to know of a series."""

    dataset: str
    series: str
    family: str
    ids: str
    quarters: list[str]
    """Those that are or were out, in order."""
    gaps: list[str]
    """Where quarters are missing between them, in words."""
    without_calendar: list[str]
    """Quarters whose label no calendar knows: there the order of labels tells which is the next."""
    parameters: dict[str, str | None]
    """By keyword of ``release``; None: an earlier version did not keep the value."""


def create_series(
    warehouse: Warehouse,
    dataset: Dataset,
    name: str,
    options: Mapping[str, Any],
    *,
    if_needed: bool = False,
) -> SeriesInfo:
    """Make a series without a release; options as for a release, as far as a series has them.

    ``if_needed``: one that is there just as asked is left as it is.

    Raises:
        ReleaseError: there is one of the name, an option concerns one release alone, or its ids
            would tell who waits.
    """
    _refuse("create_series", options, but=("ids",))
    check_name(name)
    given = {keyword: value for keyword, value in options.items() if value is not None}
    request = make_request("", given | {"series": name})
    refuse(WithIds(request, name, request.ids))
    if (there := find_series(warehouse, dataset, name)) is not None:
        stored = {each.keyword: each for each in stored_parameters(warehouse, dataset.name, name)}
        differs = list(compared(request, given, stored).changes)
        if request.ids not in (None, there.ids.removesuffix("-60")):
            differs.append(f"ids {request.ids}, was {there.ids.removesuffix('-60')}")
        if if_needed and stored and not differs:
            return find_info(warehouse, dataset, name)
        told = f", but not as asked ({'; '.join(differs)})" if if_needed and differs else " already"
        raise ReleaseError(
            f"series {name!r} is there{told}: 'srsql series set {name} --k 10' changes its "
            "parameters, such as k"
        )
    family = _family(dataset, request)
    with warehouse.transaction():
        series = make_series(warehouse, dataset, name, family, request.ids)
        remember(warehouse, series, compared(request, given, {}))
    return find_info(warehouse, dataset, name)


def set_series(
    warehouse: Warehouse,
    dataset: Dataset,
    name: str,
    options: Mapping[str, Any],
    unset: Iterable[str],
    *,
    weaker: bool,
) -> SeriesInfo:
    """Change what a series remembers, from its next release on.

    Args:
        warehouse: with the series.
        dataset: of the series.
        name: of the series.
        options: as for a release, as far as a series has them.
        unset: keywords that go back to their defaults.
        weaker: it may promise less from then on.

    Raises:
        ReleaseError: there is no such series, nothing is given, the model is of another family, its
            ids would tell who waits, or it would promise less.
    """
    _refuse("set_series", options)
    series = find_series(warehouse, dataset, name)
    if series is None or series.family in FOREIGN:
        known = [one.series for one in every_series(warehouse) if one.dataset == dataset.name]
        raise ReleaseError(
            f"no series {name!r} of {dataset.name} (it has: {', '.join(known) or 'none'}): 'srsql "
            f"series create {name}' makes it"
        )
    given = {keyword: value for keyword, value in options.items() if value is not None}
    gone = set(unset)
    stored = {each.keyword: each for each in stored_parameters(warehouse, dataset.name, name)}
    for keyword in gone:
        if keyword not in stored or keyword in given:
            raise ReleaseError(
                f"--unset {keyword}: series {name!r} has {', '.join(stored) or 'no parameters'}; "
                "name some of them that are not given beside it"
            )
    if not given and not gone:
        raise ReleaseError("nothing to set: give some parameters, such as --k 10")
    kept = {keyword: each for keyword, each in stored.items() if keyword not in gone}
    merged = inherited(kept, given) | given
    request = make_request("", merged | {"series": name})
    refuse(WithIds(request, name, series.ids))
    family = _family(dataset, request)
    if family != series.family:
        raise ReleaseError(
            f"series {name!r} holds {series.family} releases and cannot take a {family} model: "
            f"make another one with 'srsql series create'"
        )
    found = compared(request, merged, stored)
    need_consent_to_change(name, found, change=True, weaker=weaker)
    with warehouse.transaction():
        remember(warehouse, series, found)
    return find_info(warehouse, dataset, name)


def _family(dataset: Dataset, request: Request) -> str:
    prepared = request.model.prepare_dataset(dataset)
    terms = None if request.terms is None else request.terms.of(prepared, request.model.k)
    return family_of(request, terms)


def _refuse(call: str, options: Mapping[str, Any], but: tuple[str, ...] = ()) -> None:
    known = release_options()
    for keyword, value in options.items():
        if keyword not in known:
            raise ReleaseError(unknown_option(call, keyword, (*series_options(), *but)))
        if value is not None and known[keyword].first.of_run and keyword not in but:
            raise ReleaseError(
                f"{option_name(keyword)} concerns one release, and a series does not remember it: "
                "leave it out"
            )


def series_options() -> dict[str, Parameter]:
    """The options of a release that a series remembers, by keyword, without their defaults."""
    return {
        name: replace(option.parameter, default=None, usual="")
        for name, option in release_options().items()
        if not option.first.of_run
    }


def new_series_options() -> dict[str, Parameter]:
    """The same and the ids, which are chosen once, when a series is made."""
    return {**series_options(), **ids_parameter()}


def every_series(warehouse: Warehouse) -> list[SeriesInfo]:
    """What there is to know of each series, in the order of dataset and name."""
    return [
        SeriesInfo(
            dataset,
            name,
            family,
            ids,
            list(quarters),
            gaps(warehouse, quarters),
            without_calendar(warehouse, quarters),
            _in_order(stored_parameters(warehouse, dataset, name)),
        )
        for dataset, name, family, ids, quarters in warehouse.rows(
            query("warehouse/series", "every_series")
        )
    ]


def _in_order(parameters: Iterable[SeriesParameter]) -> dict[str, str | None]:
    """Values by keyword, in the order in which a release has its options."""
    places = {keyword: place for place, keyword in enumerate(release_options())}
    found = {each.keyword: each.value for each in parameters}
    return {name: found[name] for name in sorted(found, key=lambda n: (places.get(n, 99), n))}


def chosen_text(parameters: Mapping[str, str | None]) -> str:
    """Model, k and theta of a series, and what else is not as usual, in one line."""
    usual = {
        name: told.takes.show(told.default)
        for name, option in release_options().items()
        if (told := option.first).default is not None and (option.common or not told.told_default)
    }
    always = [name for name in ("model", "k", "theta") if name in parameters]
    others = [name for name in parameters if name not in always]
    return ", ".join(
        f"{name} {parameters[name] or '(not kept)'}"
        for name in (*always, *others)
        if name in always or parameters[name] not in (usual.get(name), "", str(False))
    )


def find_info(warehouse: Warehouse, dataset: Dataset, name: str) -> SeriesInfo:
    """What there is to know of one series.

    Raises:
        ReleaseError: there is none of the name; the text says which ones there are.
    """
    found = every_series(warehouse)
    for one in found:
        if (one.dataset, one.series) == (dataset.name, name):
            return one
    names = ", ".join(one.series for one in found if one.dataset == dataset.name) or "none"
    raise ReleaseError(f"no series {name!r} of {dataset.name} (it has: {names})")
