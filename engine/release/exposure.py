"""Before a release is exposed: what it links to, and what it promises less than the one before.

Whoever gets two releases of one quarter joins them by what is published verbatim. How many rows
that concerns is told, and above a limit somebody has to say that it is meant (SPEC section 5).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from srsql.engine.catalog.layout import store_of
from srsql.engine.errors import LinkableError, ReleaseError
from srsql.engine.measures import MeasureRow
from srsql.engine.models import MODELS
from srsql.engine.models.perturbing import NOT_FOR_PUBLICATION
from srsql.engine.parameters import MAX_LINKABLE
from srsql.engine.release.request import release_options
from srsql.engine.risk.linkability import link, other_releases
from srsql.engine.shapes import catalog_shape
from srsql.engine.store.statements import STORE, dotted, query
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset
from srsql.schemas.outside import json_of

TOPIC = "release/exposure"
PARAMETERS = {"values": "l", "reports": "k"}
"""Claims of a comparator that a parameter of another name decides."""
SHOWN = 3
"""Values of which a threshold is higher that a message names."""


@dataclass(frozen=True)
class Consent:
    """What somebody says yes to when a release is exposed."""

    max_linkable: Fraction = MAX_LINKABLE
    """Share of rows that may link to other series or versions of the quarter."""
    allow_linkable: bool = False
    weaker: bool = False
    """To one that promises less than its series, or than the version that it replaces."""
    change: bool = False
    """To other parameters than the series has."""


@dataclass(frozen=True)
class Exposure:
    """What there is to know before a release is exposed."""

    links: list[MeasureRow]
    """Rows that link to each other release of the quarter."""
    to_any: MeasureRow | None
    """Rows that link to some of those that need a yes."""
    corrects: bool
    """It only takes whole groups out of the version that it replaces."""
    weaker: list[str]
    """What it promises less than that version."""


def unpublishable(warehouse: Warehouse, release_id: int) -> str:
    """Why no artifact, export or public file may have a release, as the end of a sentence that
    begins with its quarter; empty: they may.

    Some models are made to be compared with alone, and the noise of an experiment can be taken off
    with its seed, or leaves some values as they are.
    """
    ((model, publishable),) = warehouse.rows(
        query(TOPIC, "publishable"), {"release_id": release_id}
    )
    if refused := MODELS[model].claimed_bounds.unpublishable if model in MODELS else "":
        return f"was released by {model}, {refused}"
    if not publishable:
        return (
            f"is marked {NOT_FOR_PUBLICATION}: its noise is that of an experiment; release it with "
            "--noise secure, and --calibration sound or paper"
        )
    return ""


def unshared(warehouse: Warehouse, release_id: int) -> str:
    """Why neither a public file nor an export may have a release, as ``unpublishable`` says it;
    artifacts may hold what they do not know."""
    if refused := unpublishable(warehouse, release_id):
        return refused
    refused = catalog_shape(warehouse, release_id).unsplit
    return f"has {refused}" if refused else ""


def look_at(warehouse: Warehouse, dataset: Dataset, release_id: int) -> Exposure:
    """Compare a release with the others of its quarter, and with the version before it.

    Args:
        warehouse: with its rows, its catalog rows and its private manifest.
        dataset: of the release.
        release_id: a release that is out, or about to be.
    """
    before = warehouse.value(query(TOPIC, "version_before"), {"release_id": release_id})
    corrects = before is not None and is_correction(warehouse, release_id, before)
    others = other_releases(warehouse, release_id)
    counted = {o.release_id for o in others if not (corrects and o.kind == "earlier version")}
    found = link(warehouse, dataset, release_id, others, counted)
    return Exposure(
        [row for _, row in found.to_each],
        found.to_any,
        corrects,
        [] if before is None else weaker_terms(warehouse, release_id, before),
    )


def need_consent(where: str, found: Exposure, consent: Consent) -> None:
    """Refuse to expose what was not said yes to.

    Args:
        where: quarter and series, for the message.
        found: what there is to know.
        consent: what was said yes to.

    Raises:
        ReleaseError: it promises less than the version before.
        LinkableError: too many rows link to other releases of the quarter.
    """
    if found.weaker and not consent.weaker:
        raise ReleaseError(
            f"{where} would be replaced by a version that promises less "
            f"({'; '.join(found.weaker)}): give the terms of the version before, or --weaker"
        )
    row = found.to_any
    if row is None or not row.total or consent.allow_linkable:
        return
    linked, total = int(row.violating or 0), int(row.total)
    if Fraction(linked, total) <= consent.max_linkable:
        return
    raise LinkableError(
        f"{where}: {linked:,} of {total:,} rows ({linked / total:.1%}) link one to one to another "
        f"release of the quarter ({links_text(found.links)}), more than --max-linkable "
        f"{float(consent.max_linkable):.4g}: whoever has both joins them by what is published "
        "verbatim, give --allow-linkable if both are to be out"
    )


def links_handed_on(
    warehouse: Warehouse, dataset: Dataset, release_id: int, where: str, consent: Consent
) -> list[MeasureRow]:
    """What the rows of a release link to; above a limit handing them on needs a yes.

    Args:
        warehouse: where it is out; may be read-only.
        dataset: of the release.
        release_id: of the release.
        where: quarter and series, for the message.
        consent: what was said yes to; that it promises less was, when it was released.

    Raises:
        LinkableError: too many rows link to other releases of the quarter.
    """
    found = look_at(warehouse, dataset, release_id)
    need_consent(where, found, replace(consent, weaker=True))
    return found.links


def links_text(links: Sequence[MeasureRow]) -> str:
    """How many rows link to which release."""
    return "; ".join(f"{row.scope}: {int(row.violating or 0):,}" for row in links)


def is_correction(warehouse: Warehouse, release_id: int, before: int) -> bool:
    """Whether a version only takes whole groups out of the one before it (SPEC section 5).

    Every released row stands in the version before, under the same ids and with the same region,
    and no group lost some of its cases, unless what was left of it was kept on purpose.
    """
    own, old = (_stores(warehouse, one) for one in (release_id, before))
    if own.keys() != old.keys():
        return False
    for name, columns in own.items():
        if columns != old[name]:
            return False
        new_rows, old_rows = (
            f"SELECT * FROM {dotted(STORE, store_of(one, name))}" for one in (release_id, before)
        )
        if warehouse.rows(f"({new_rows} EXCEPT ALL {old_rows}) LIMIT 1"):
            return False
    on_purpose = query(TOPIC, "keeps_remainder")
    if warehouse.rows(on_purpose, {"release_id": release_id, "before": before}):
        return True
    return not warehouse.rows(
        "SELECT b.group_id FROM srsql.broken_groups(?, ?) AS b LIMIT 1", [release_id, before]
    )


def _stores(warehouse: Warehouse, release_id: int) -> dict[str, list[str]]:
    """Released table -> its columns; the manifest aside."""
    prefix = store_of(release_id, "")
    found = {}
    for (store,) in warehouse.rows(
        query("release/series", "stores"), {"store": STORE, "prefix": prefix}
    ):
        found[store.removeprefix(prefix)] = warehouse.columns(STORE, store)
    found.pop("manifest", None)
    return found


def weaker_terms(warehouse: Warehouse, release_id: int, before: int) -> list[str]:
    """What a version promises less than the one that it replaces, each in a few words."""
    rows = warehouse.rows(
        "SELECT w.* FROM srsql.weaker_terms(?, ?) AS w ORDER BY w.name, w.of_what",
        [release_id, before],
    )
    values = [row for row in rows if row[0] == "theta" and row[1]]
    found = [_words(*row) for row in rows if row not in values]
    found += [_words(*row) for row in values[:SHOWN]]
    if len(values) > SHOWN:
        found.append(f"and theta of {len(values) - SHOWN:,} more values")
    told = {PARAMETERS.get(row[0], row[0]) for row in rows}
    return found + _weaker_parameters(warehouse, release_id, before, told)


def _words(name: str, of_what: str, was: str, is_now: str) -> str:
    of = f" of {of_what}" if of_what else ""
    return f"{name}{of} {is_now}, was {was}"


def _weaker_parameters(
    warehouse: Warehouse, release_id: int, before: int, told: set[str]
) -> list[str]:
    """Parameters that the catalog has no table for, by what their declarations call weaker."""
    new, old = (
        json_of(warehouse.value(query(TOPIC, "manifest"), {"release_id": one}))
        for one in (release_id, before)
    )
    found = []
    for keyword, option in release_options().items():
        side = next((d.parameter.weaker for d in option.declarations if d.parameter.weaker), "")
        if not side or keyword in told or keyword in ("k", "theta"):
            continue
        was, now = (manifest.get(keyword) for manifest in (old, new))
        if side not in ("lower", "higher"):
            if now == side and was not in (None, now):
                found.append(f"{keyword} {now}, was {was}")
            continue
        was, now = _amount(was), _amount(now)
        if was is not None and now is not None and (now < was if side == "lower" else now > was):
            found.append(f"{keyword} {now}, was {was}")
    return found


def _amount(value: Any) -> Fraction | None:
    """A number or fraction of a manifest; None: it tells something else, or nothing."""
    try:
        return Fraction(str(value))
    except ValueError:
        return None
