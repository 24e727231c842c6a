"""The tables as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarks.peers.contest import Contest
    from benchmarks.peers.run import Outcome

LEGEND = """
×: as much as the first row of the block, in this run. Loss: mean over all rows and
quasi-identifiers of the share of the domain that a region spans; "any" for a known value, a missing
value shown as known, and every cell of a row that is not released cost 1. Kept: the same over the
known values of the released rows. NULL rows: rows with a missing quasi-identifier, released of all;
"as known": released with a value for what nobody knows. k, l, α: measured; ! breaks the promise.
Seconds: from the CSV file to the released table in memory, without imports and compilation. MiB:
peak of the process, its imports included. refine off: as the algorithm of the model's paper leaves
it; without, as srsql releases by default.
"""
COLUMNS = (
    ("", 31), ("seconds", 9), ("×", 7), ("MiB", 7), ("×", 6), ("loss", 7), ("×", 6), ("kept", 7),
    ("rows", 9), ("NULL rows", 16), ("as known", 9), ("k", 7), ("l", 6), ("α", 7),
)  # fmt: skip


def _line(cells: Sequence[str], note: str = "") -> None:
    parts = [
        cell.ljust(width) if number == 0 else cell.rjust(width)
        for number, (cell, (_, width)) in enumerate(zip(cells, COLUMNS, strict=False))
    ]
    print(("".join(parts) + ("  " + note if note else "")).rstrip(), flush=True)


def heading(contest: Contest, rows: str) -> None:
    """Name the block and its columns."""
    print(f"\n{rows}, {contest.promise}")
    _line([name for name, _ in COLUMNS])


def outcome(contest: Contest, name: str, found: Outcome, first: Outcome) -> None:
    """One row."""
    if found.cost is None or found.verdict is None:
        _line([name], found.failed)
        return
    _line([name, *_cells(contest, found, first)], _note(found))


def _cells(contest: Contest, found: Outcome, first: Outcome) -> list[str]:
    cost, v = found.cost or {}, found.verdict
    base, b = first.cost or cost, first.verdict or v
    return [
        f"{cost['seconds']:.2f}",
        times(cost["seconds"], base["seconds"]),
        f"{cost['peak_mib']:.0f}",
        times(cost["peak_mib"], base["peak_mib"]),
        f"{v.loss:.4f}",
        times(v.loss, b.loss),
        f"{v.loss_known:.4f}",
        f"{v.released:,}",
        f"{v.with_missing_released:,}/{v.with_missing:,}",
        f"{v.told_as_known:,}",
        f"{v.k:,}" + "!" * (v.k < contest.k),
        f"{v.l:,}" + "!" * (v.l < contest.l),
        f"{v.alpha:.3f}" + "!" * (v.alpha > contest.alpha),
    ]


def times(value: float, base: float) -> str:
    """A ratio with as many digits as say something."""
    if not base:
        return "-"
    ratio = value / base
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:.0f}"


def _note(found: Outcome) -> str:
    notes = []
    if found.complete:
        notes.append(f"given the complete rows; with NULL: {found.complete[:60]}")
    if found.verdict is not None and found.verdict.untrue:
        notes.append(f"{found.verdict.untrue:,} rows outside their own region")
    if found.cost and "parts" in found.cost:
        parts = ", ".join(f"{name} {s:.2f}" for name, s in found.cost["parts"].items())
        notes.append(parts)
    return "; ".join(notes)


def legend() -> None:
    """What the columns mean."""
    print(LEGEND)


@dataclass(frozen=True)
class Check:
    """What pycanon and srsql found in one of our releases."""

    name: str
    rows: str
    theirs: dict[str, Any] | None
    ours: dict[str, Any]
    error: str


CHECKS = (
    ("", 31), ("", 34), ("pycanon s", 11), ("srsql s", 9), ("×", 7), ("k", 6), ("l", 5), ("α", 8),
    ("same", 7), ("seen with NULL", 17),
)  # fmt: skip


def checks(found: Sequence[Check]) -> None:
    """Both checks side by side; without the peers, nothing."""
    if not found:
        return
    print("our releases, checked by pycanon and by srsql")
    _check_line([name for name, _ in CHECKS])
    for check in found:
        if check.theirs is None or not check.ours:
            _check_line([check.name, check.rows, check.error])
            continue
        told, seconds = check.theirs["as_value"], check.theirs["seconds"]
        cells = [check.name, check.rows, f"{seconds:.2f}", f"{check.ours['seconds']:.2f}"]
        cells += [times(seconds, check.ours["seconds"]), str(told["k"]), str(told["l"])]
        cells += [f"{told['alpha']:.3f}", "yes" if check.ours["same"] else "NO"]
        _check_line([*cells, f"{check.theirs['null_seen']:,}"])
    print("k, l, α: as pycanon finds them with NULL as a value; same: our checks pass for them and")
    print(
        "fail for k + 1, l + 1 and any smaller α. Seen with NULL: rows that pycanon looks at where"
    )
    print("NULL is left as it is.")


def _check_line(cells: Sequence[str]) -> None:
    parts = [
        cell.ljust(width) if number < 2 else cell.rjust(width)
        for number, (cell, (_, width)) in enumerate(zip(cells, CHECKS, strict=False))
    ]
    print("".join(parts).rstrip(), flush=True)
