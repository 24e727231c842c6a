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
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from srsql.engine.catalog.datasets import registered_dataset
from srsql.engine.catalog.releases import find_ingestion, staleness
from srsql.engine.catalog.series import (
    Remembered,
    Series,
    SeriesParameter,
    store_parameters,
    stored_parameters,
)
from srsql.engine.errors import ReleaseError, SrsqlError
from srsql.engine.models import MODELS, make_model
from srsql.engine.models.base import GroupingModel
from srsql.engine.parameters import (
    MAIN,
    Parameter,
    declared,
    option_name,
    protects_less,
)
from srsql.engine.parameters.takes import Flag, Parsed, Whole
from srsql.engine.release.audiences import audience_options
from srsql.engine.release.features.as_printed import AS_PRINTED, printed_options
from srsql.engine.release.manifest import released_rows
from srsql.engine.release.request import (
    MODEL,
    TERMS,
    Released,
    Request,
    make_request,
    read_value,
    release_options,
)
from srsql.engine.store.statements import query
from srsql.engine.store.warehouse import Warehouse
from srsql.engine.terms.count_tables import TABLES, TableParameters
from srsql.engine.terms.noisy_tables import NOISY_TABLES
from srsql.engine.terms.parameters import DISASSOCIATE, DisassociationParameters
from srsql.schemas import Dataset
from srsql.schemas.outside import json_of

_FILE = re.compile(
    r"(?!(level|sim):\d+\Z)(?P<way>levels:|level:[^:]+:|sim:\d+:)?(?P<path>.+)", re.DOTALL
)
"""A path, and what may stand before it; ``level:1`` alone names what ships, wherever that is."""
UNTOLD = (
    "series {series!r} was made with {option} by a version that did not keep its value: give "
    "{option} once, or take it away with 'srsql series set {series} --unset {keyword}'"
)


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
    name = read_value(known["series"].first, given.get("series", MAIN))
    stored = {each.keyword: each for each in stored_parameters(warehouse, dataset.name, name)}
    if given.get("audience"):
        read_value(known["audience"].first, given["audience"])
        given |= audience_options(warehouse, dataset, quarter, name, given)
    if given.get(AS_PRINTED):
        read_value(known[AS_PRINTED].first, given[AS_PRINTED])
        given |= printed_options(given, stored["model"].value if "model" in stored else None)
    merged = inherited(stored, given) | given
    for keyword, each in stored.items():
        if each.value is None and keyword in known and keyword not in merged:
            raise ReleaseError(
                UNTOLD.format(series=name, option=option_name(keyword), keyword=keyword)
            )
    request = make_request(quarter, merged)
    found = replace(compared(request, merged, stored), seed=given.get("seed"))
    return replace(request, remembered=found, given=frozenset(given))


def compared(
    request: Request, asked: Mapping[str, Any], stored: Mapping[str, SeriesParameter]
) -> Remembered:
    """What the series would remember of a request, and how that differs from what it has."""
    return _compared(request, list(_parameters(request, asked)), stored)


def _compared(
    request: Request,
    parameters: Iterable[SeriesParameter],
    stored: Mapping[str, SeriesParameter],
) -> Remembered:
    found = {each.keyword: each for each in parameters}
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
        if _had_effect(told, stored) and _less(told, was, now):
            weaker.append(changes[-1])
    return Remembered(tuple(found.values()), tuple(changes), tuple(dict.fromkeys(weaker)))


def _had_effect(told: Parameter, stored: Mapping[str, SeriesParameter]) -> bool:
    """Whether the series had what the parameter has an effect with."""
    if told.only_with is None:
        return True
    keyword, value = told.only_with
    return keyword in stored and stored[keyword].value == value


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
        before = None if was is None else read_value(told, recalled(told, was.value))
    except SrsqlError:  # of a file that an earlier version kept the name of
        return bool(told.weaker)
    if _digest(told, before) is not None:
        return bool(told.weaker)
    after = None if now is None else read_value(told, recalled(told, now.value))
    return protects_less(told, after, before)


def _promised_less(was: GroupingModel, now: GroupingModel) -> Iterator[str]:
    """What a model promises less than another one, its parameters aside."""
    lost = [name for name in was.defended_attacks if name not in now.defended_attacks]
    if lost:
        yield f"attacks {','.join(lost)} are not defended"
    for bound in sorted(was.claimed_bounds.guaranteed - now.claimed_bounds.guaranteed):
        yield f"{bound} is not kept"
    for claim in sorted(was.claims.keys() - now.claims.keys()):
        yield f"{claim} is not claimed"
    if was.symptoms_limit is not None and now.symptoms_limit is None:
        yield "alpha is not bounded"
    yield from now.shape.instead_of(was.shape)


def _model_of(stored: Mapping[str, SeriesParameter]) -> GroupingModel:
    """The model that a series was made with, and its parameters."""
    name = str(stored["model"].value) if "model" in stored else MODEL.default
    known = declared(MODELS[name])
    given = {k: recalled(told, stored[k].value) for k, told in known.items() if k in stored}
    return make_model(name, **given)


def _declarations(request: Request) -> dict[str, Parameter]:
    """What a series remembers of such a request: declarations by keyword."""
    found = {"model": MODEL, "terms": TERMS, **declared(type(request.model)), **declared(Request)}
    for of in (request.terms, request.tables, request.noisy):
        found |= declared(type(of)) if of is not None else {}
    return {keyword: told for keyword, told in found.items() if not told.of_run}


def _parameters(request: Request, asked: Mapping[str, Any]) -> Iterator[SeriesParameter]:
    """What a series remembers of a request; ``asked``: as given, where files have their paths."""
    for keyword, told in _declarations(request).items():
        if keyword == "model":
            yield SeriesParameter(keyword, request.model.name)
        elif keyword == "terms":
            if request.terms is not None:
                asked_for = SeriesParameter(keyword, DISASSOCIATE)
                yield from request.model.shape.of_cases([asked_for], [])
            elif request.tables is not None:
                yield from request.model.shape.of_cases([SeriesParameter(keyword, TABLES)], [])
            elif request.noisy is not None:
                yield SeriesParameter(keyword, NOISY_TABLES)
        else:
            owners = (request.terms, request.tables, request.noisy, request, request.model)
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
        return _shown(told, read_value(told, recalled(told, text)))
    except ReleaseError:
        return text


def recalled(told: Parameter, text: str | None) -> Any:
    """A stored text as a caller gives it."""
    if text is None:
        return None
    if isinstance(told.takes, Whole):
        return int(text)
    return text == str(True) if isinstance(told.takes, Flag) else text


def inherited(stored: Mapping[str, SeriesParameter], given: Mapping[str, Any]) -> dict[str, Any]:
    """What of a series' parameters goes with what is given."""
    if not stored:
        return {}
    named = given.get("model", stored["model"].value if "model" in stored else MODEL.default)
    model = MODELS.get(str(named))
    if model is None:  # which is refused when the request is made
        return {}
    known = {"model": MODEL, **declared(model), **declared(Request)}
    known |= model.shape.of_cases({"terms": TERMS}, {})
    terms = given.get("terms", stored["terms"].value if "terms" in stored else None)
    if model.shape.tells_terms(asked=terms is not None):
        known |= declared(DisassociationParameters)
        if "sensitive_terms" not in {**stored, **given}:
            known.pop("l")  # it is of sensitive terms
    if terms == TABLES or model.shape.counts_items:
        known |= declared(TableParameters)
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


def standing_release(
    warehouse: Warehouse, dataset: Dataset, request: Request, ingestion_id: int
) -> Released | None:
    """The release that there is already, just as it is asked for; None: it is still to be made.

    For ``--if-needed``, which passes over nothing that differs: all that a series remembers of a
    release, the seed and ids that are asked for, the data, and who has left it since. Where a draft
    is asked for, one that can still be exposed is as good as the release.

    Args:
        warehouse: with the data of the quarter.
        dataset: of the quarter.
        request: what is asked for.
        ingestion_id: the data that there are now.

    Raises:
        ReleaseError: the quarter is out otherwise than asked, and is not to be superseded.
    """
    rows = warehouse.rows(
        query("release/series", "made"),
        {
            "dataset": dataset.name,
            "series": request.series,
            "quarter": request.quarter,
            "draft": request.draft,
        },
    )
    if not rows:
        return None
    release_id, status, schema, text, made_of, ids = rows[0]
    manifest = json_of(text)
    differs = [
        *_asked_otherwise(request, manifest, ids),
        *_gone_on(warehouse, dataset, release_id),
    ]
    if made_of != ingestion_id:
        differs.append("other data of the quarter are loaded since")
    if status == "draft":
        later = {
            "dataset": dataset.name,
            "series": request.series,
            "known_then": manifest.get("made_after", []),
        }
        if warehouse.value(query("release/draft", "released_since"), later) is not None:
            differs.append("another quarter was released since")
        if memory := manifest.get("remembered"):
            now = stored_parameters(warehouse, dataset.name, request.series)
            if [asdict(each) for each in now] != memory["before"]:  # see remember_draft
                differs.append("the parameters of the series changed since")
    if not differs:
        return _unchanged(warehouse, release_id, request.quarter, request.series, schema, manifest)
    if status == "draft" or request.supersede:
        return None
    raise ReleaseError(
        f"{request.quarter} is out in series {request.series!r}, but not as asked "
        f"({'; '.join(differs)}), and released quarters are immutable: ask for it as it is, use "
        "another --series, or 'srsql correct' to take withdrawn cases out"
    )


def need_as_asked(warehouse: Warehouse, dataset: Dataset, request: Request) -> None:
    """Refuse to pass over a quarter that is out otherwise than it is asked for: whatever was given
    has to be what it was made with.

    Raises:
        ReleaseError: it is not; the text says what differs.
    """
    names = {"dataset": dataset.name, "series": request.series, "quarter": request.quarter}
    rows = warehouse.rows(query("release/series", "made"), {**names, "draft": False})
    if not rows or request.remembered is None:
        return
    _, _, _, text, _, ids = rows[0]
    differs = [
        told
        for told in _asked_otherwise(request, json_of(text), ids)
        if told.partition(" ")[0].strip(",") in request.given
    ]
    if differs:
        raise ReleaseError(
            f"{request.quarter} is out in series {request.series!r}, but not as asked "
            f"({'; '.join(differs)}), and released quarters are immutable: leave out what "
            "differs, or use another --series"
        )


def exposed_release(
    warehouse: Warehouse, dataset: Dataset, quarter: str, series: Series | None
) -> Released | None:
    """The release of a quarter that is out, of the data that there are; None: there is none such,
    or somebody has left it."""
    names = {"dataset": dataset.name, "series": series and series.name, "quarter": quarter}
    rows = warehouse.rows(query("release/series", "made"), {**names, "draft": False})
    if series is None or not rows:
        return None
    release_id, _, schema, text, made_of, _ = rows[0]
    if made_of != find_ingestion(warehouse, dataset, quarter) or staleness(
        warehouse, release_id=release_id
    ):
        return None
    return _unchanged(warehouse, release_id, quarter, series.name, schema, json_of(text))


def _unchanged(
    warehouse: Warehouse,
    release_id: int,
    quarter: str,
    series: str,
    schema: str,
    manifest: dict[str, Any],
) -> Released:
    """What there is already, as the making of it would tell it."""
    asked = {"release_id": release_id, "schema": schema}
    stores = dict(warehouse.rows(query("release/draft", "viewed_stores"), asked))
    rows = released_rows(warehouse, stores)
    return Released(release_id, quarter, series, schema, "unchanged", manifest, rows)


def _asked_otherwise(request: Request, manifest: Mapping[str, Any], ids: str) -> Iterator[str]:
    """What was asked otherwise than a release was made."""
    asked = request.remembered
    told = manifest.get("parameters")
    if asked is None or not told:
        yield "the version that made it did not keep what it was made with"
        return
    made = {each["keyword"]: SeriesParameter(**each) for each in told}
    found = _compared(request, asked.parameters, made)
    yield from found.changes or found.weaker
    if asked.seed is not None and asked.seed != manifest["seed"]:
        yield f"seed {asked.seed}, was {manifest['seed']}"
    if request.ids is not None and request.ids != ids.removesuffix("-60"):
        yield f"ids {request.ids}, was {ids}"


def _gone_on(warehouse: Warehouse, dataset: Dataset, release_id: int) -> Iterator[str]:
    """What changed since a release was made: who has left it, how its dataset is declared.

    ``dataset``: as it is declared, with all of its tables.
    """
    for each in staleness(warehouse, release_id=release_id):
        yield f"cases have left it since: {each.text}"
    known = registered_dataset(warehouse, dataset.name)
    if known.fingerprint != dataset.fingerprint and not known.reads_as(dataset):
        yield "the dataset is declared otherwise"


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
