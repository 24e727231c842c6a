"""What can go wrong, each in one line that says what is wrong and what to do."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable

_UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
_QUARTER = re.compile(r"(?:20)?(?P<year>[0-9]{2})Q(?P<number>[1-4])")
_QUARTER_FIRST = re.compile(r"Q?(?P<number>[1-4])Q?(?P<year>20[0-9]{2})")


class SrsqlError(Exception):
    """Base of every error a user can cause or mend; its text is one line."""

    exit_code = 2

    def __str__(self) -> str:
        """The text, in which what others wrote breaks no line."""
        return printable(super().__str__())


class DatasetError(SrsqlError):
    """A dataset schema or hierarchy is wrong; the text names the key."""


class WarehouseError(SrsqlError):
    """The warehouse cannot be opened, written or understood."""


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


def meant(label: str, known: Iterable[str]) -> str:
    """Which of the known periods a label stands for that is written otherwise, as a question.

    Such as 22Q4, 2022-q4 or Q4/2022 for 2022Q4. Nothing where no period is meant: one that is only
    like the label is another period.
    """
    found = [name for name in known if name != label and _plain(name) == _plain(label)]
    return f"; did you mean {found[0]}?" if found else ""


def _plain(label: str) -> str:
    """A period without what is only its spelling."""
    text = "".join(char for char in label.upper() if char.isalnum())
    match = _QUARTER.fullmatch(text) or _QUARTER_FIRST.fullmatch(text)
    return f"{match['year'][-2:]}Q{match['number']}" if match else text
