"""What a terminal shows of the upkeep of a warehouse: `migrate`, `forget`, `backup`, `restore`,
`lake`, `split`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from srsql.engine.console import Parts, Table
from srsql.engine.console.session import current_session
from srsql.engine.errors import printable

if TYPE_CHECKING:
    from srsql.engine.catalog.releases import Stale
    from srsql.engine.errors import ForgetError
    from srsql.engine.lake.lake import LakeInfo
    from srsql.engine.steward.backup import Backup
    from srsql.engine.steward.copies import Copy
    from srsql.engine.steward.forget import Receipt
    from srsql.engine.steward.migrate import Migration
    from srsql.engine.steward.public_file import PublicFile
    from srsql.engine.steward.restore import Restored

NAMES_SHOWN = 10
"""Ids that are named."""


def migrated_line(made: Migration) -> str:
    """What became of a warehouse of an earlier layout."""
    if made.kept is None:
        return f"{made.path} has layout {made.to_layout} already: nothing to do"
    return (
        f"{made.path} was brought from layout {made.from_layout} to {made.to_layout}: "
        f"{made.tables:,} tables and views with {made.rows:,} rows as before; the file as it was "
        f"is {made.kept}: delete it when you need it no more, it holds raw rows"
    )


def need_forget(
    cases: Sequence[str],
    file: Path | None,
    reason: str | None,
    receipt: Path | None,
    dry_run: bool,
    *,
    rebuild: bool,
) -> None:
    """Refuse options that contradict each other, before anything is erased.

    Raises:
        ForgetError: ``--rebuild`` is not alone, or the receipt would overwrite a file.
    """
    from srsql.engine.errors import ForgetError

    if rebuild and (cases or file or reason or receipt or dry_run):
        raise ForgetError("--rebuild forgets nobody: give it alone, or leave it out")
    if receipt and receipt.exists():
        raise ForgetError(f"{receipt} is there already: give --receipt the name of a new file")


def listed_ids(file: Path) -> list[str]:
    """The ids of a file, one a line; blank lines are left out.

    Raises:
        ForgetError: the file cannot be read.
    """
    from srsql.engine.errors import ForgetError
    from srsql.schemas.outside import read_text

    try:
        lines = read_text(file).splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ForgetError(f"{file} cannot be read: {error}") from None
    return [line.strip() for line in lines if line.strip()]


@contextmanager
def kept_receipt(file: Path | None) -> Iterator[Callable[[Receipt], None]]:
    """What writes a receipt as JSON, whose file is begun before anything is erased and has its name
    at the end; it names no case but by its token.

    Args:
        file: of the receipt; None: it is not kept.

    Raises:
        ForgetError: there is a file already, or it cannot be written; the text says what happened
            to the cases.
    """
    from srsql.engine.store.scratch import put_beside

    if file is None:
        yield lambda _: None
        return
    made: list[Receipt] = []
    with ExitStack() as stack:
        try:
            beside = stack.enter_context(put_beside(file, over=False))
        except OSError as error:
            raise _unwritten(file, error, "nobody was forgotten") from None
        yield made.append
        try:
            for receipt in made:
                beside.write_text(_document(receipt), encoding="utf-8")
            stack.close()
        except OSError as error:
            done = "the cases are forgotten, run it again with another --receipt"
            dry = any(receipt.dry_run for receipt in made)
            raise _unwritten(file, error, "nobody was forgotten" if dry else done) from None


def _document(receipt: Receipt) -> str:
    counted = {name: len(getattr(receipt, name)) for name in ("not_found", "duplicates")}
    return json.dumps({**asdict(receipt), **counted}, ensure_ascii=False, indent=1)


def _unwritten(file: Path, error: OSError, done: str) -> ForgetError:
    from srsql.engine.errors import ForgetError

    return ForgetError(f"the receipt {file} cannot be written ({error.strerror}): {done}")


def _first_of(names: Sequence[str]) -> str:
    """The first names of a list, and how many there are more."""
    more = len(names) - NAMES_SHOWN
    listed = ", ".join(map(printable, names[:NAMES_SHOWN]))
    return f"{listed} and {more:,} more" if more > 0 else listed


def receipt_parts(made: Receipt) -> Parts:
    """What was erased where, what stays and why, and what is to be done."""
    done = "would be erased" if made.dry_run else "erased"
    known = len(made.tokens) - len(made.not_found)
    yield (
        f"{made.dataset}: {known:,} of {len(made.tokens):,} cases "
        f"{'would be forgotten' if made.dry_run else 'forgotten'} ({printable(made.reason)})"
    )
    copies = [_copy_line(each, len(made.tokens)) for each in made.copies]
    if not made.dry_run:
        yield from _left_to_do(made, copies)
    yield from _erased(made, done)
    if made.dry_run:
        yield from copies


def _left_to_do(made: Receipt, copies: Sequence[str]) -> Iterator[str]:
    """What the file still holds, and what is to be done, which no screen may hide."""
    kept = [each.line for each in made.stale if each.counted]
    unfinished = bool(copies or made.commands or kept)
    if not made.rebuilt:
        yield "the file still holds what was erased, until it is written anew"
    elif unfinished:
        yield "the file was written anew; releases or copies still tell of the cases"
    else:
        yield "the file was written anew: nothing that was erased is left in it"
    if unfinished:
        yield "to do, in this order:"
        yield from (f"  {text}" for text in (*kept, *copies, *made.commands))


def _erased(made: Receipt, done: str) -> Parts:
    """What was erased where, and what stays and why."""
    if made.forgotten_before:
        yield f"forgotten before: {made.forgotten_before:,}, of which nothing was left to erase"
    if made.not_found:
        yield (
            f"not found: {_first_of(made.not_found)}: a file that brings them is recognized all "
            "the same"
        )
    for title, rows in ((f"rows {done}", made.erased), ("rows under a token", made.renamed)):
        if rows:
            yield Table(title, ["table", "rows"], [[name, f"{n:,}"] for name, n in rows.items()])
    for draft in made.drafts:
        yield f"draft removed: {draft}"
    if made.duplicates:
        yield (
            f"may be the same person, and stay: {_first_of(made.duplicates)}: forget them as well, "
            "if they are"
        )
    yield "what stays:"
    yield from (f"  {text}" for text in made.stays)
    if made.exposed:
        yield "what left the house before, if it was published:"
        yield from (
            f"  {one['quarter']} in series {one['series']} (release {one['release_id']}, "
            f"{one['status']})"
            for one in made.exposed
        )
    for one in made.together:
        if one["below_k"]:
            yield (
                f"series {printable(one['series'])}: {one['below_k']:,} of {one['cases']:,} "
                "forgotten cases in several quarters are left with fewer than k candidates, as "
                f"few as {one['fewest']:,} (k = {one['k']:,}), to one who keeps the releases that "
                "are out and joins them with those that take their place: no model bounds this "
                "(srsql audit: G)"
            )
    yield "what nothing here reaches:"
    yield from (f"  {text}" for text in made.elsewhere)
    for each in made.stale:
        if each.command:
            yield each.line


def _copy_line(copy: Copy, cases: int) -> str:
    """What is to become of a copy that holds forgotten cases."""
    held = f"holds {copy.cases:,} of the" if copy.cases else "may hold the"
    otherwise = "" if copy.kept else ", or forget them in it as well"
    return f"delete {printable(copy.path)}{otherwise}: it {held} {cases:,} cases"


def lake_parts(found: LakeInfo, *, check: bool, moved: bool) -> Parts:
    """What lies in a lake, and what was found out about it."""
    yield lake_line(asdict(found))
    if moved:
        yield "that is where the warehouse looks for it from now on"
    if check or moved:
        yield "every file has the bytes that were written"


def lake_line(lake: dict[str, Any]) -> str:
    """Where a lake is, and how large."""
    cut = ", ".join(f"{name} in {n:,} buckets a period" for name, n in lake["buckets"].items())
    return (
        f"lake {printable(lake['folder'])}: {lake['files']:,} files, "
        f"{lake['bytes_on_disk'] / 2**20:,.1f} MiB; {cut or 'nothing lies there yet'}"
    )


def backup_line(made: Backup) -> str:
    """What became of a backup."""
    if made.there:
        return f"{made.path} is there already, a copy of the warehouse as it is now: nothing to do"
    lake = f"; the lake is in {made.lake}, keep the two together" if made.lake else ""
    return (
        f"{made.path}: {made.tables:,} tables and views with {made.rows:,} rows, as in the "
        f"warehouse ({made.bytes_on_disk / 2**20:,.1f} MiB); it holds raw rows, and whoever is "
        f"forgotten later{lake}"
    )


def public_parts(found: Sequence[PublicFile]) -> Parts:
    """Which public files there are, and what they hold."""
    for each in found:
        series, path = f"{each.dataset}, series {each.series}", printable(each.path)
        if not each.kept:
            yield f"{series}: {path} is not kept up to date any more: delete it"
            continue
        held = f"{each.quarters[0]} to {each.quarters[-1]}" if each.quarters else "no release yet"
        anew = "written now" if each.made else "up to date"
        yield f"{series}: {path}, {each.bytes_on_disk / 2**20:,.1f} MiB, {held}; {anew}"
        if each.held:
            yield (
                f"{each.held:,} releases are not in it, since they show a case that was forgotten: "
                "run 'srsql correct' on them"
            )
    if not found:
        yield "no series has a public file: give --to FILE"


def restored_parts(made: Restored) -> Parts:
    """What became of a restored warehouse."""
    yield (
        f"{made.path} is {made.backup}: {made.tables:,} tables and views with {made.rows:,} rows "
        "in the backup"
    )
    for name, cases in made.forgotten.items():
        yield f"{cases:,} cases of {name} that were forgotten since were forgotten anew"
    if made.kept:
        yield f"the file as it was is {made.kept}: delete it when you need it no more"
    if made.lake:
        yield f"its lake is {made.lake}"
    if made.kept_lake:
        yield f"the lake as it was is {made.kept_lake}: delete it when you need it no more"
    if not made.carried:
        yield (
            "nobody could tell who was forgotten since the backup was made: forget them again "
            "('srsql forget')"
        )


def warn_of_stale(stale: Sequence[Stale]) -> None:
    """Say in one line each on stderr which releases cases have left, and what to do."""
    for each in stale:
        if each.status == "released":
            current_session().note(f"warning: {printable(each.line)}")
