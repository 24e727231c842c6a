"""What can go wrong, each in one line that says what is wrong and what to do."""

from __future__ import annotations

import errno
import unicodedata
from collections.abc import Iterator
from typing import Literal

_UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
StorageFault = Literal["in use", "damaged", "no room"]
_FAULTS: dict[StorageFault, tuple[str, ...]] = {
    "in use": ("could not set lock on file", "unique file handle conflict"),
    "no room": (
        "no space left on device",
        "disk quota exceeded",
        "file too large",
        "max_temp_directory_size",
    ),
    "damaged": (
        "not a valid duckdb database file",
        "corrupt database file",
        "stored checksum",
        "could not read enough bytes from file",
        "failed to deserialize",
        "sqlite_scanner.duckdb_extension",  # which the first bytes of a file of SQLite ask for
    ),
}
"""What DuckDB and the system say, in lower case; DuckDB has no kinds of error for it."""
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class SrsqlError(Exception):
    """Base of every error a user can cause or mend; its text is one line."""

    exit_code = 2


class DatasetError(SrsqlError):
    """A dataset schema or hierarchy is wrong; the text names the key."""


class WarehouseError(SrsqlError):
    """The warehouse cannot be opened, written or understood."""


class DamagedError(WarehouseError):
    """The file of a warehouse is damaged, or its disk is full; the text says what to do."""

    exit_code = 5


class OutdatedError(WarehouseError):
    """The warehouse has the macros of another version, and was opened for reading only."""


class IngestError(SrsqlError):
    """A source cannot be ingested; nothing was changed."""


class InfeasibleError(SrsqlError):
    """Some thresholds cannot be met by any grouping of the quarter."""


class ReleaseError(SrsqlError):
    """A release is refused or was rolled back; nothing was changed."""


class LinkableError(ReleaseError):
    """More rows link to another release of the quarter than may; nothing was changed."""


class NothingToReleaseError(ReleaseError):
    """No case of the quarter can be released; in a range it becomes an empty release."""


class CheckFailedError(ReleaseError):
    """A release failed its own check and was rolled back."""


class ImportReleaseError(SrsqlError):
    """Somebody else's table cannot be registered; nothing was changed."""


class AttackError(SrsqlError):
    """An attack cannot be played: an unknown period, quasi-identifier or value."""


class AuditError(SrsqlError):
    """A series cannot be audited; the text says what to give."""


class SignalError(SrsqlError):
    """Signals cannot be computed: a rule, a condition or a release is wrong or missing."""


class QueryError(SrsqlError):
    """A question cannot be answered from the released views; the text says why."""


class ReportError(SrsqlError):
    """A report cannot be made or written; the text says what to give."""


class PolicyError(SrsqlError):
    """A utility policy cannot be read or made; the text names the constraint or the term."""


class CompareError(SrsqlError):
    """A comparison cannot be run or written; the text says what to give."""


class AdviseError(SrsqlError):
    """No advice can be given or written; the text says what to give."""


class LookUpError(SrsqlError):
    """Ids cannot be looked up: there is no such series, or its ids are the source's own."""


class ForgetError(SrsqlError):
    """Cases cannot be forgotten, or a backup not restored; nothing was changed."""


class FrameError(SrsqlError):
    """A result cannot be given in the form that was asked for."""


class PublishError(SrsqlError):
    """A release cannot be published; nothing is at the place it was to go to."""


class VerifyError(SrsqlError):
    """A folder is not an artifact, so there is nothing to verify."""


class ArtifactError(SrsqlError):
    """Artifacts cannot be asked: they are not whole, or do not go together."""


def storage_fault(error: BaseException) -> StorageFault | None:
    """What is wrong with a file or its disk, if an error, or one that it came of, says so."""
    for each in _chain(error):
        if isinstance(each, OSError) and each.errno in _NO_ROOM:
            return "no room"
        if isinstance(each, SrsqlError):
            continue  # its words are about what somebody gave
        text = str(each).lower()
        for fault, said in _FAULTS.items():
            if any(words in text for words in said):
                return fault
    return None


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """The error, and those that it was raised for or during."""
    seen: list[BaseException] = []
    while error is not None and error not in seen:
        seen.append(error)
        yield error
        error = error.__cause__ or error.__context__


def one_line(error: BaseException) -> str:
    """The text of an error of somebody else's, folded into one line of at most 300 characters.

    Of an error of DuckDB's without the statement, which is ours and helps nobody.
    """
    return " ".join(str(error).partition("\n\nLINE ")[0].split())[:300]


def printable(text: str) -> str:
    """The text with what steers a terminal, turns its direction or breaks its line written out.

    Such as ``\\x1b`` for ESC; letters of any script stay.
    """
    return "".join(
        char.encode("unicode_escape").decode("ascii")
        if unicodedata.category(char) in _UNSEEN
        else char
        for char in text
    )
