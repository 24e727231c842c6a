"""How a command ends: its exit code, the one line on stderr, the document under --json."""

from __future__ import annotations

import errno
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import duckdb
import pytest

from srsql.cli import cli
from srsql.engine import errors
from srsql.engine.console import session
from srsql.engine.console.session import each_command, explain_error, kind_of
from srsql.engine.errors import EXIT_CODES, SrsqlError, exit_code_of, storage_fault, text_for_log
from srsql.engine.extras.synth import SynthError

pytestmark = pytest.mark.slow

Run = Callable[..., subprocess.CompletedProcess[str]]
CODES = {
    "CheckFailedError": 1,
    "PublishedIdError": 1,
    "UnsafeArtifactError": 1,
    "InfeasibleError": 3,
    "NothingToReleaseError": 3,
    "NoGroupError": 3,
    "BusyError": 4,
    "DamagedError": 5,
}
"""All others are refused: 2."""
SECRET = "HIV infection of case 8123456"


def subclasses(of: type[SrsqlError]) -> Iterator[type[SrsqlError]]:
    for each in of.__subclasses__():
        yield each
        yield from subclasses(each)


def test_every_class_of_error_has_the_exit_code_that_is_told_of_it() -> None:
    found = {each.__name__: each.exit_code for each in subclasses(SrsqlError)}
    assert SynthError.__name__ in found
    assert found == {name: CODES.get(name, 2) for name in found}
    assert CODES.keys() <= found.keys()
    assert set(found.values()) | {0} == set(EXIT_CODES)


def test_the_kind_of_an_error_is_one_word_of_its_own() -> None:
    kinds = {each.__name__: each("x").kind for each in subclasses(SrsqlError)}
    assert len(set(kinds.values())) == len(kinds)
    assert kinds["NothingToReleaseError"] == "nothing_to_release"
    assert kinds["BusyError"] == "busy"


@pytest.mark.parametrize(
    ("cause", "fault"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "no_room"),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), "no_room"),
        (MemoryError(), "no_room"),
        (duckdb.OutOfMemoryException("Out of Memory Error: failed to allocate"), "no_room"),
        (duckdb.IOException('IO Error: Could not write file "w": File too large'), "no_room"),
        (OSError(errno.EIO, "Input/output error"), "damaged"),
        (duckdb.Error("Corrupt database file: computed checksum 1 does not match"), "damaged"),
        (duckdb.IOException('IO Error: The file "w" exists, but it is not a valid DuckDB database'
                            " file!"), "damaged"),
        (zipfile.BadZipFile("File is not a zip file"), "damaged"),
        (OSError(errno.EACCES, "Permission denied"), None),
        (duckdb.IOException('IO Error: Could not set lock on file "block.duckdb"'), None),
        (duckdb.ConversionException("Could not convert string 'x' to INT32"), None),
    ],
)  # fmt: skip
def test_a_fault_of_the_storage_shows_through_what_was_made_of_it(
    cause: Exception, fault: str | None
) -> None:
    for made_of_it in (errors.IngestError, errors.ReleaseError, errors.PublishError):
        error = made_of_it("nothing was changed")
        error.__context__ = cause  # raised from None, as all are
        assert storage_fault(error) == fault
        assert exit_code_of(error) == (5 if fault else 2)
        assert kind_of(error) == (fault or error.kind)
    line, code = explain_error(cause)
    assert code == (5 if fault else 2)
    assert "\n" not in line


def test_a_damaged_artifact_of_others_is_refused_and_a_full_disk_is_not() -> None:
    for cause, code in ((OSError(errno.EIO, "I/O"), 2), (OSError(errno.ENOSPC, "full"), 5)):
        error = errors.VerifyError("no artifact")
        error.__context__ = cause
        assert exit_code_of(error) == code


def test_a_log_has_the_text_of_no_error_that_can_tell_values_of_reports() -> None:
    for each in (errors.QueryError, errors.AttackError, errors.IngestError, errors.LookUpError,
                 errors.ForgetError, errors.InfeasibleError, errors.SignalError):  # fmt: skip
        assert SECRET not in text_for_log(each(SECRET))
    foreign = errors.ReleaseError(f"not released: {SECRET}")
    foreign.__cause__ = duckdb.ConversionException(SECRET)
    for error in (foreign, duckdb.ConversionException(SECRET), click.UsageError(SECRET)):
        assert SECRET not in text_for_log(error)
    assert "is already released" in text_for_log(errors.ReleaseError("2011Q4 is already released"))


@pytest.mark.parametrize(
    ("arguments", "kind", "code"),
    [
        (["release", "--quarter", "2031Q1"], "release", 2),
        (["release", "--quarter", "2011Q4", "--theta", "0"], "infeasible", 3),
        (["release", "--quarter", "2011Q4", "--colour", "red"], "usage", 2),
        (["release"], "usage", 2),
        (["frobnicate"], "usage", 2),
        (["query", "SELEC 1", "--quarter", "2011Q4"], "query", 2),
        (["status", "--db", "letter.duckdb"], "damaged", 5),
        (["status", "--db", "absent.duckdb"], "warehouse", 2),
        (["ingest", "cut.zip"], "damaged", 5),
    ],
)
def test_an_error_under_json_is_one_document_with_its_kind_and_exit_code(
    inside: Run, db: Path, tmp_path: Path, arguments: list[str], kind: str, code: int
) -> None:
    (tmp_path / "letter.duckdb").write_text("Dear steward,\n" * 1000)
    (tmp_path / "cut.zip").write_bytes(b"PK\x03\x04 and no more")
    done = inside(*arguments, "--json")
    assert done.returncode == code
    (line,) = done.stderr.splitlines()
    told = json.loads(done.stdout)
    assert told == {"error": {"kind": kind, "message": line.removeprefix("srsql: "),
                              "exit_code": code}}  # fmt: skip


def test_the_help_of_the_group_tells_every_exit_code(inside: Run) -> None:
    text = " ".join(inside("--help").stdout.split())
    for code, meaning in EXIT_CODES.items():
        assert f"{code} {meaning}" in text


def test_every_command_takes_the_common_options_and_those_with_a_warehouse_wait() -> None:
    for name, command in each_command(cli):
        found = {option for param in command.params for option in param.opts}
        assert found >= {"--quiet", "--verbose", "--log"}, name
        assert ("--db" in found or name == "demo") == ("--wait" in found), name


def test_an_error_that_nobody_foresaw_is_no_verdict(
    inside: Run, db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ValueError("a defect")

    monkeypatch.setattr("srsql.engine.api.engine.Engine.status", broken)
    done = inside("status", "--json")
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"]["kind"] == "unexpected"
    assert session.ENDINGS


def test_a_reader_that_goes_away_is_no_unsafe_answer(tmp_path: Path) -> None:
    """Exit 1 says that a release is unsafe, which nobody has looked at."""
    child = subprocess.Popen(
        [sys.executable, "-m", "srsql", "config"], cwd=tmp_path,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert child.stdout is not None
    child.stdout.close()
    assert child.stderr is not None
    with child.stderr as stderr:
        told = stderr.read()
    assert (child.wait(60), told) == (141, "srsql: the reader of the output went away\n")
