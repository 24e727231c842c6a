"""What can go wrong, each in one line that says what is wrong and what to do, and how it ends.

Here alone stands with which exit code a command ends; ``srsql --help`` and docs/operations.md say
the same in words.
"""

from __future__ import annotations

import errno
import json
import re
import sys
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator
from typing import Literal

DONE, UNSAFE, REFUSED, INFEASIBLE, BUSY, DAMAGED = range(6)
EXIT_CODES = {
    DONE: "done",
    UNSAFE: "unsafe: what was looked at, or was to be made, does not hold what it promises",
    REFUSED: "refused or misused: nothing was done, the line on stderr says what to do",
    INFEASIBLE: "infeasible: no grouping and no setting keeps what is asked",
    BUSY: "busy: another process has the warehouse open (--wait SECONDS waits for it)",
    DAMAGED: "damaged or no room: a file cannot be read, or nothing more can be written",
}
"""How a command ends; beyond them 128 and the number of the signal that ended it."""
INTERRUPTED = 130
_UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
Fault = Literal["damaged", "no_room"]
_NO_ROOM = re.compile(
    r"No space left|Disk quota exceeded|File too large|Could not (write|fsync|truncate)|"
    r"failed to offload|Out of Memory Error|[Mm]aximum swap space|max_temp_directory_size",
)
_DAMAGED = re.compile(
    r"Corrupt|[Nn]ot a valid DuckDB database|Could not read (enough|all) |Input/output error|"
    r"database has been invalidated|[Ff]ailure while replaying WAL|[Ff]ailed to deserialize|"
    r"[Ss]tored checksum|corrupt database file|"
    r"sqlite_scanner.duckdb_extension",  # which the first bytes of a file of SQLite ask for
)


class SrsqlError(Exception):
    """Base of every error a user can cause or mend; its text is one line."""

    exit_code = REFUSED
    tells_values = False
    """Its text can have values or ids of reports; a log then has the first line of what is written
    here of the class, and not the text."""
    of_others = False
    """It is about files of others: damage to them is told of them, and is none of the storage."""

    @property
    def kind(self) -> str:
        """The name of the class as programs read it: ``busy``, ``check_failed``, ``release``."""
        name = type(self).__name__.removesuffix("Error")
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()

    def __str__(self) -> str:
        """The text, in which what others wrote breaks no line."""
        return printable(super().__str__())


class DatasetError(SrsqlError):
    """A dataset schema or hierarchy is wrong; the text names the key."""

    tells_values = True  # a code or a node of a hierarchy, as rows have it


class WarehouseError(SrsqlError):
    """The warehouse cannot be opened, written or understood."""


class BusyError(WarehouseError):
    """Another process has the warehouse open."""

    exit_code = BUSY

    def __init__(self, text: str, pid: int | None = None) -> None:
        super().__init__(text)
        self.pid = pid
        """Of the process that has it; None: nobody can tell."""


class DamagedError(WarehouseError):
    """The file of a warehouse is damaged, or its disk is full; the text says what to do."""

    exit_code = DAMAGED


class ConfigError(SrsqlError):
    """`srsql.toml` is wrong, or a file that was asked for beside the answer cannot be written."""


class OutdatedError(WarehouseError):
    """The warehouse has the macros of another version, and was opened for reading only."""


class IngestError(SrsqlError):
    """A source cannot be ingested; nothing was changed."""

    tells_values = True


class ReleaseError(SrsqlError):
    """A release is refused or was rolled back; nothing was changed."""


class InfeasibleError(ReleaseError):
    """Some thresholds cannot be met by any grouping of the quarter."""

    exit_code = INFEASIBLE
    tells_values = True


class LinkableError(ReleaseError):
    """More rows link to another release of the quarter than may; nothing was changed."""


class NothingToReleaseError(ReleaseError):
    """No case of the quarter can be released; in a range it becomes an empty release."""

    exit_code = INFEASIBLE


class NoGroupError(ReleaseError):
    """Cases fit no group and were not to be left out, or are too few; nothing was changed."""

    exit_code = INFEASIBLE


class CheckFailedError(ReleaseError):
    """A release failed its own check and was rolled back."""

    exit_code = UNSAFE


class PublishedIdError(CheckFailedError):
    """A text of a release holds the id of another report or case; the release was rolled back."""

    tells_values = True


class ImportReleaseError(SrsqlError):
    """Somebody else's table cannot be registered; nothing was changed."""

    tells_values = True


class AttackError(SrsqlError):
    """An attack cannot be played: an unknown period, quasi-identifier or value."""

    tells_values = True


class AuditError(SrsqlError):
    """A series cannot be audited; the text says what to give."""

    tells_values = True


class SignalError(SrsqlError):
    """Signals cannot be computed: a rule, a condition or a release is wrong or missing."""

    tells_values = True


class LevelError(SrsqlError):
    """Values cannot be counted on a level: there is no such column, level or dictionary."""

    tells_values = True
    of_others = True


class QueryError(SrsqlError):
    """A question cannot be answered from the released views; the text says why."""

    tells_values = True


class ReportError(SrsqlError):
    """A report cannot be made or written; the text says what to give."""


class PolicyError(SrsqlError):
    """A utility policy cannot be read or made; the text names the constraint or the term."""

    tells_values = True


class CompareError(SrsqlError):
    """A comparison cannot be run or written; the text says what to give."""

    tells_values = True


class AdviseError(SrsqlError):
    """No advice can be given or written; the text says what to give."""

    tells_values = True


class DuplicatesError(SrsqlError):
    """Suspected duplicates cannot be searched for; the text says what is missing."""

    tells_values = True


class LookUpError(SrsqlError):
    """Ids cannot be looked up: there is no such series, or its ids are the source's own."""

    tells_values = True


class ForgetError(SrsqlError):
    """Cases cannot be forgotten, or a backup not restored; nothing was changed."""

    tells_values = True


class FrameError(SrsqlError):
    """A result cannot be given in the form that was asked for."""


class PublishError(SrsqlError):
    """A release cannot be published; nothing is at the place it was to go to."""


class UnsafeArtifactError(PublishError):
    """An artifact failed its own check and was not put in place."""

    exit_code = UNSAFE


class VerifyError(SrsqlError):
    """A folder is not an artifact, so there is nothing to verify."""

    of_others = True


class ArtifactError(SrsqlError):
    """Artifacts cannot be asked: they are not whole, or do not go together."""

    of_others = True


def exit_code_of(error: BaseException) -> int:
    """The exit code of a command that ends with this error.

    A fault of the storage shows through whatever was made of it: an ingestion that stops since the
    disk is full ends with 5, and not as one that was refused.
    """
    if isinstance(error, SrsqlError) and error.exit_code != REFUSED:
        return error.exit_code
    fault = storage_fault(error)
    if fault == "no_room" or (fault and not getattr(error, "of_others", False)):
        return DAMAGED
    if isinstance(error, KeyboardInterrupt) or type(error).__name__ == "Abort":  # click's
        return INTERRUPTED
    if hasattr(error, "format_message"):  # what click refuses to parse
        return REFUSED
    code = getattr(error, "exit_code", getattr(error, "code", None))  # of click, of sys.exit
    return code if isinstance(code, int) and not isinstance(code, bool) else REFUSED


def of_duckdb(error: BaseException, kind: str = "Error") -> bool:
    """Whether DuckDB raised an error of that kind; where nobody has loaded it, it did not."""
    module = sys.modules.get("duckdb")
    return module is not None and isinstance(error, getattr(module, kind))


def storage_fault(error: BaseException) -> Fault | None:
    """Whether an error, or one that it was made of, says that there is no room or that a file is
    damaged."""
    found: Fault | None = None
    for each in _chain(error):
        text = str(each) if (isinstance(each, OSError) or of_duckdb(each)) else ""
        number = each.errno if isinstance(each, OSError) else None
        if (
            isinstance(each, MemoryError)
            or of_duckdb(each, "OutOfMemoryException")
            or number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
            or _NO_ROOM.search(text)
        ):
            return "no_room"  # whatever else it led to
        if (
            isinstance(each, zipfile.BadZipFile | zlib.error | EOFError | DamagedError)
            or number == errno.EIO
            or _DAMAGED.search(text)
        ):
            found = "damaged"
    return found


def text_for_log(error: BaseException) -> str:
    """What a log may have of an error: its text where that is ours alone and names no value or id
    of a report, else what is written of its class."""
    told = (type(error).__doc__ or "").partition("\n")[0].strip()
    if not isinstance(error, SrsqlError):
        return type(error).__name__
    ours = all(isinstance(each, SrsqlError) for each in _chain(error))
    if error.tells_values or not (ours or isinstance(error, BusyError | DamagedError)):
        return told
    text = " ".join(str(error).split())  # of damage without what DuckDB says of it
    return printable(text.partition(" (")[0] if isinstance(error, DamagedError) else text)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def one_line(error: BaseException) -> str:
    """The text of an error of somebody else's, folded into one line of at most 300 characters.

    Of an error of DuckDB's without the statement, which is ours and helps nobody.
    """
    return printable(" ".join(str(error).partition("\n\nLINE ")[0].split())[:300])


def printable(text: str) -> str:
    """The text with what steers a terminal, turns its direction or breaks its line written out.

    Such as ``\\x1b`` for ESC; letters of any script stay. Whatever a terminal shows of texts of
    others has gone through here, once or more often: what is written out already stays as it is.
    """
    if text.isprintable():
        return text
    return "".join(
        char.encode("unicode_escape").decode("ascii")
        if unicodedata.category(char) in _UNSEEN
        else char
        for char in text
    )


def json_text(document: object) -> str:
    """One JSON document on one line, in which nothing steers a terminal either.

    The encoder writes out control characters; what else ``printable`` writes out stands here as
    JSON has it, such as ``\\u202e``.
    """
    text = json.dumps(document, default=str, ensure_ascii=False)
    if text.isprintable():
        return text
    return "".join(
        json.dumps(char)[1:-1] if unicodedata.category(char) in _UNSEEN else char for char in text
    )
