"""What a series remembers: the parameters that it was made with, and what may differ from them.

A series has its parameters from `srsql series create`, or else from its first release. A release
takes them for whatever is not given. One that differs needs a yes (``--change``), one that promises
less than the series a second one (``--weaker``): no value that protects less is taken silently
(SPEC section 5).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from srsql.engine.errors import ReleaseError, SrsqlError
from srsql.engine.models import MODELS, make_model
from srsql.engine.models.base import GroupingModel
from srsql.engine.parameters import (
    Parameter,
    declared,
    option_name,
    protects_less,
    unknown_option,
)
from srsql.engine.parameters.takes import Flag, Parsed, RefusedError, Whole
from srsql.engine.release.request import (
    MODEL,
    TERMS,
    Remembered,
    Request,
    make_request,
    release_options,
)
from srsql.engine.release.terms import family_of
from srsql.engine.terms.parameters import DISASSOCIATE, DisassociationParameters
from srsql.engine.warehouse.series import (
    IMPORTED,
    MAIN,
    Series,
    SeriesParameter,
    check_name,
    find_series,
    gaps,
    make_series,
    store_parameters,
    stored_parameters,
    without_calendar,
)
from srsql.engine.warehouse.statements import query
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset

_FILE = re.compile(r"(?P<way>levels:|level:\d+:|sim:\d+:)?(?P<path>.+)", re.DOTALL)
"""A path, and what may stand before it."""
UNTOLD = (
    "series {series!r} was made with {option} by a version that did not keep its value: give "
    "{option} once, or take it away with 'srsql series set {series} --unset {keyword}'"
)


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


def series_request(
    warehouse: Warehouse, dataset: Dataset, quarter: str, options: Mapping[str, Any]
) -> Request:
    """What is asked of a release: as given, and for the rest as the series was made.

    Args:
        warehouse: with the series, if there is one.
        dataset: of the series.
        quarter: the period, or a range of periods.
        options: by keyword, as ``release_options`` lists them.

    Raises:
        ReleaseError: see ``make_request``; or a file that the series refers to cannot be read.
    """
    known = release_options()
    given = {name: value for name, value in options.items() if value is not None}
    name = _read(known["series"].first, given.get("series", MAIN))
    stored = {each.keyword: each for each in stored_parameters(warehouse, dataset.name, name)}
    merged = _inherited(stored, given) | given
    for keyword, each in stored.items():
        if each.value is None and keyword in known and keyword not in merged:
            raise ReleaseError(
                UNTOLD.format(series=name, option=option_name(keyword), keyword=keyword)
            )
    request = make_request(quarter, merged)
    return replace(request, remembered=_compared(request, merged, stored))


def _compared(
    request: Request, asked: Mapping[str, Any], stored: Mapping[str, SeriesParameter]
) -> Remembered:
    """What the series would remember of a request, and how that differs from what it has."""
    found = {each.keyword: each for each in _parameters(request, asked)}
    if not stored:
        return Remembered(tuple(found.values()))
    before = _model_of(stored)
    changes, weaker = [], list(_promised_less(before, request.model))
    other = request.model.name != before.name
    for keyword, told in _declarations(request).items():
        was, now = stored.get(keyword), found.get(keyword)
        if was is None and (other or keyword == "model"):
            continue  # the model before had no such parameter
        if was is not None and now is not None and _same(told, was, now):
            found[keyword] = replace(now, value=was.value or now.value)
            continue
        if was is None and (now is None or now.value == _shown(told, told.default)):
            continue
        if was is not None and now is not None and was.sha256 and was.value == now.value:
            changes.append(f"{keyword} {was.value}, whose content has changed")
        else:
            changes.append(f"{keyword} {_text(now)}, was {_text(was)}")
        if _less(told, was, now):
            weaker.append(changes[-1])
    return Remembered(tuple(found.values()), tuple(changes), tuple(dict.fromkeys(weaker)))


def _text(parameter: SeriesParameter | None) -> str:
    return "none" if parameter is None else str(parameter.value or "(not kept)")


def _same(told: Parameter, was: SeriesParameter, now: SeriesParameter) -> bool:
    """Whether a value is the one before; of a file, what it says. Where an earlier version kept no
    more than the name of the file, a file of that name counts as the same."""
    if now.sha256 and was.sha256:
        return was.sha256 == now.sha256
    if now.sha256:
        return was.value is None or _name(was.value) == _name(str(now.value))
    return was.sha256 is None and was.value is not None and _plain(told, was.value) == now.value


def _name(text: str) -> tuple[str, str]:
    found = _FILE.fullmatch(text)
    return (found["way"] or "", Path(found["path"]).name) if found else ("", "")


def _less(told: Parameter, was: SeriesParameter | None, now: SeriesParameter | None) -> bool:
    """Whether a value may protect less: what a file said that is another one now nobody knows."""
    if was is not None and (was.sha256 or was.value is None):
        return bool(told.weaker)
    try:
        before = None if was is None else _read(told, recalled(told, was.value))
    except SrsqlError:  # of a file that an earlier version kept the name of
        return bool(told.weaker)
    if _digest(told, before) is not None:
        return bool(told.weaker)
    after = None if now is None else _read(told, recalled(told, now.value))
    return protects_less(told, after, before)


def _promised_less(was: GroupingModel, now: GroupingModel) -> Iterator[str]:
    """What a model promises less than another one, its parameters aside."""
    lost = [name for name in was.defended_attacks if name not in now.defended_attacks]
    if lost:
        yield f"attacks {','.join(lost)} are not defended"
    for bound in sorted(was.guaranteed_bounds - now.guaranteed_bounds):
        yield f"{bound} is not kept"
    for claim in sorted(was.claims.keys() - now.claims.keys()):
        yield f"{claim} is not claimed"
    if was.symptoms_limit is not None and now.symptoms_limit is None:
        yield "alpha is not bounded"
    if was.releases_case_rows != now.releases_case_rows:
        yield f"what is released: {now.output}, was {was.output}"


def _model_of(stored: Mapping[str, SeriesParameter]) -> GroupingModel:
    """The model that a series was made with, and its parameters."""
    name = str(stored["model"].value) if "model" in stored else MODEL.default
    known = declared(MODELS[name])
    given = {k: recalled(told, stored[k].value) for k, told in known.items() if k in stored}
    return make_model(name, **given)


def _declarations(request: Request) -> dict[str, Parameter]:
    """What a series remembers of such a request: declarations by keyword."""
    found = {"model": MODEL, "terms": TERMS, **declared(type(request.model)), **declared(Request)}
    if request.terms is not None:
        found |= declared(DisassociationParameters)
    return {keyword: told for keyword, told in found.items() if not told.of_run}


def _parameters(request: Request, asked: Mapping[str, Any]) -> Iterator[SeriesParameter]:
    """What a series remembers of a request; ``asked``: as given, where files have their paths."""
    for keyword, told in _declarations(request).items():
        if keyword == "model":
            yield SeriesParameter(keyword, request.model.name)
        elif keyword == "terms":
            if request.terms is not None and request.model.releases_case_rows:
                yield SeriesParameter(keyword, DISASSOCIATE)
        else:
            owners = (request.terms, request, request.model)
            owner = next(o for o in owners if o is not None and keyword in declared(type(o)))
            value = getattr(owner, told.field)
            digest = _digest(told, value)
            if digest is not None:
                yield SeriesParameter(keyword, _located(told, asked.get(keyword), value), digest)
            elif (shown := _shown(told, value)) is not None:
                yield SeriesParameter(keyword, shown)


def _digest(told: Parameter, value: Any) -> str | None:
    """Of what a file said; None: the text says all."""
    takes = told.takes
    if value is None or not isinstance(takes, Parsed) or takes.content is None:
        return None
    content = takes.content(value)
    if not content:
        return None
    return hashlib.sha256(json.dumps(content, ensure_ascii=False).encode()).hexdigest()


def _located(told: Parameter, given: Any, value: Any) -> str:
    """The text that names a file, with its whole path: the next release may be made elsewhere."""
    if isinstance(given, Path):
        given = str(given)
    found = _FILE.fullmatch(given) if isinstance(given, str) else None
    if found is None:
        return told.takes.show(value)
    return f"{found['way'] or ''}{Path(found['path']).absolute()}"


def _shown(told: Parameter, value: Any) -> str | None:
    if value is None or (isinstance(told.takes, Parsed) and value == frozenset()):
        return None
    return told.takes.show(value)


def _plain(told: Parameter, text: str) -> str | None:
    """A stored text as this version writes it."""
    try:
        return _shown(told, _read(told, recalled(told, text)))
    except ReleaseError:
        return text


def recalled(told: Parameter, text: str | None) -> Any:
    """A stored text as a caller gives it."""
    if text is None:
        return None
    if isinstance(told.takes, Whole):
        return int(text)
    return text == str(True) if isinstance(told.takes, Flag) else text


def _read(told: Parameter, value: Any) -> Any:
    if value is None:
        return None
    try:
        return told.takes.read(value, told.option)
    except RefusedError as why:
        raise ReleaseError(str(why)) from None


def _inherited(stored: Mapping[str, SeriesParameter], given: Mapping[str, Any]) -> dict[str, Any]:
    """What of a series' parameters goes with what is given."""
    if not stored:
        return {}
    named = given.get("model", stored["model"].value if "model" in stored else MODEL.default)
    model = MODELS.get(str(named))
    if model is None:  # which is refused when the request is made
        return {}
    known = {"model": MODEL, **declared(model), **declared(Request)}
    if model.releases_case_rows:
        known["terms"] = TERMS
    terms = given.get("terms", stored["terms"].value if "terms" in stored else None)
    if terms is not None or not (model.releases_case_rows or model.releases_synthetic_rows):
        known |= declared(DisassociationParameters)
        if "sensitive_terms" not in {**stored, **given}:
            known.pop("l")  # it is of sensitive terms
    return {
        keyword: recalled(told, stored[keyword].value)
        for keyword, told in known.items()
        if keyword in stored and stored[keyword].value is not None and keyword not in given
    }


def need_consent_to_change(series: str, request: Remembered, *, change: bool, weaker: bool) -> None:
    """Refuse what differs from what the series was made with, and was not said yes to.

    Raises:
        ReleaseError: the text names each parameter with its values, and what to do.
    """
    if not request.changes and not request.weaker:
        return
    listed = "; ".join(request.changes or request.weaker)
    less = "; ".join(request.weaker)
    if request.weaker and not weaker:
        both = "--weaker" if change else "--change --weaker"
        raise ReleaseError(
            f"this promises less ({less}) than series {series!r} does: leave it out, give {both} "
            "if it is meant, or give another --series"
        )
    if not change:
        raise ReleaseError(
            f"series {series!r} has other parameters ({listed}): leave it out, give --change (the "
            f"series has it from then on), use 'srsql series set {series}', or give another "
            "--series"
        )


def remember(warehouse: Warehouse, series: Series, found: Remembered) -> None:
    """Have a series remember what its release was made with; within its transaction."""
    store_parameters(warehouse, series.dataset, series.name, found.parameters)


def draft_memory(warehouse: Warehouse, series: Series, found: Remembered) -> dict[str, Any]:
    """What a draft has the series remember once it is exposed, for its private manifest."""
    before = stored_parameters(warehouse, series.dataset, series.name)
    return asdict(found) | {"before": [asdict(each) for each in before]}


def remember_draft(
    warehouse: Warehouse,
    series: Series,
    memory: Mapping[str, Any],
    *,
    change: bool,
    weaker: bool,
) -> list[str]:
    """The same of a draft that is exposed; what it is made with otherwise than the series was.

    Raises:
        ReleaseError: it differs from the series, and nobody said yes; or the series was changed
            since.
    """
    before = [asdict(each) for each in stored_parameters(warehouse, series.dataset, series.name)]
    if before != memory["before"]:
        raise ReleaseError(
            f"since this draft was made the parameters of series {series.name!r} changed: make the "
            "draft again"
        )
    found = Remembered(
        tuple(SeriesParameter(**each) for each in memory["parameters"]),
        tuple(memory["changes"]),
        tuple(memory["weaker"]),
    )
    need_consent_to_change(series.name, found, change=change, weaker=weaker)
    remember(warehouse, series, found)
    return list(found.changes)


def create_series(
    warehouse: Warehouse, dataset: Dataset, name: str, options: Mapping[str, Any]
) -> SeriesInfo:
    """Make a series without a release; options as for a release, as far as a series has them.

    Raises:
        ReleaseError: there is one of the name, or an option concerns one release alone.
    """
    _refuse_of_run("create_series", options, but=("ids",))
    check_name(name)
    if find_series(warehouse, dataset, name) is not None:
        raise ReleaseError(
            f"series {name!r} is there already: 'srsql series set {name}' changes its parameters"
        )
    given = {keyword: value for keyword, value in options.items() if value is not None}
    request = make_request("", given | {"series": name})
    family = _family(dataset, request)
    with warehouse.transaction():
        series = make_series(warehouse, dataset, name, family, request.ids)
        remember(warehouse, series, _compared(request, given, {}))
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
        ReleaseError: there is no such series, nothing is given, the model is of another family, or
            it would promise less.
    """
    _refuse_of_run("set_series", options)
    series = find_series(warehouse, dataset, name)
    if series is None or series.family == IMPORTED:
        raise ReleaseError(
            f"no series {name!r} of {dataset.name}: 'srsql series create {name}' makes it"
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
    merged = _inherited(kept, given) | given
    request = make_request("", merged | {"series": name})
    family = _family(dataset, request)
    if family != series.family:
        raise ReleaseError(
            f"series {name!r} holds {series.family} releases and cannot take a {family} model: "
            f"make another one with 'srsql series create'"
        )
    found = _compared(request, merged, stored)
    need_consent_to_change(name, found, change=True, weaker=weaker)
    with warehouse.transaction():
        remember(warehouse, series, found)
    return find_info(warehouse, dataset, name)


def _family(dataset: Dataset, request: Request) -> str:
    prepared = request.model.prepare_dataset(dataset)
    terms = None if request.terms is None else request.terms.of(prepared)
    return family_of(request.model.series_family, terms)


def _refuse_of_run(call: str, options: Mapping[str, Any], but: tuple[str, ...] = ()) -> None:
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
            {p.keyword: p.value for p in stored_parameters(warehouse, dataset, name)},
        )
        for dataset, name, family, ids, quarters in warehouse.rows(
            query("warehouse/series", "every_series")
        )
    ]


def chosen_text(parameters: Mapping[str, str | None]) -> str:
    """Model, k and theta of a series, and what else is not as usual, in one line."""
    usual = {
        name: told.takes.show(told.default)
        for name, option in release_options().items()
        if option.common and (told := option.first).default is not None
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
