"""Who published an artifact: signed with a key, checked with its public half, by us and OpenSSL."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from artifact.conftest import Warehouses
from support.artifacts import manifest_of, rehash

from srsql import verify
from srsql.engine.api.engine import Engine
from srsql.engine.artifact.format import SIGNATURE
from srsql.engine.errors import PublishError, VerifyError

pytestmark = pytest.mark.thorough

pytest.importorskip("cryptography", reason="the extra srsql[sign] is not installed")

MISSING = f"{SIGNATURE} is missing: nobody signed SHA256SUMS"
UNCHECKED = "who made it: authenticity was not checked"


def write_keys(folder: Path, name: str, kind: Any = None) -> tuple[Path, Path]:
    """A private key and its public half, as PEM files."""
    from cryptography.hazmat.primitives import serialization as forms
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = (kind or Ed25519PrivateKey).generate()
    private, public = folder / f"{name}.pem", folder / f"{name}.pub"
    private.write_bytes(
        key.private_bytes(forms.Encoding.PEM, forms.PrivateFormat.PKCS8, forms.NoEncryption())
    )
    public.write_bytes(
        key.public_key().public_bytes(forms.Encoding.PEM, forms.PublicFormat.SubjectPublicKeyInfo)
    )
    return private, public


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return write_keys(tmp_path_factory.mktemp("keys"), "house")


@pytest.fixture(scope="module")
def signed(
    warehouses: Warehouses, keys: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The artifact of 2011Q3; not to be changed."""
    to = tmp_path_factory.mktemp("signed") / "out"
    with Engine(warehouses["ms"], read_only=True) as engine:
        engine.publish("2011Q3", to, format="csv", sign=keys[0])
    return to


def signature_faults(folder: Path, public: Path) -> list[str]:
    found = verify(folder, public_key=public)
    assert not [text for text in found.cannot_show if text.startswith("who made it")]
    (check,) = [check for check in found.checks if check.name == "signature"]
    return list(check.faults)


def test_a_signature_is_checked_where_the_key_is_given_and_else_said_not_to_be(
    signed: Path, keys: tuple[Path, Path]
) -> None:
    assert verify(signed, public_key=keys[1]).passed
    assert signature_faults(signed, keys[1]) == []
    found = verify(signed)
    assert found.passed
    assert found.cannot_show[0].startswith(UNCHECKED)
    assert "signature" not in {check.name for check in found.checks}


def test_openssl_checks_the_same_signature(signed: Path, keys: tuple[Path, Path]) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    done = subprocess.run(
        ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", keys[1], "-rawin",
         "-in", signed / "SHA256SUMS", "-sigfile", signed / SIGNATURE],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_a_missing_and_another_signature_are_refused(
    signed: Path, keys: tuple[Path, Path], tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(signed, tmp_path / "out"))
    _, other = write_keys(tmp_path, "other")
    assert "is not a signature of SHA256SUMS by the key" in signature_faults(folder, other)[0]
    (folder / SIGNATURE).unlink()
    assert signature_faults(folder, keys[1]) == [MISSING]
    (folder / SIGNATURE).symlink_to(signed / SIGNATURE)
    assert signature_faults(folder, keys[1]) == [MISSING]
    assert not verify(folder).passed


def test_whatever_is_forged_and_hashed_anew_is_not_what_was_signed(
    signed: Path, keys: tuple[Path, Path], tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(signed, tmp_path / "out"))
    rehash(folder, earlier_releases=["2011Q1"])
    assert verify(folder).passed
    assert manifest_of(folder)["earlier_releases"] == ["2011Q1"]
    assert "is not a signature of SHA256SUMS" in signature_faults(folder, keys[1])[0]


def test_a_signature_file_hides_nothing(signed: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(signed, tmp_path / "out"))
    with (folder / SIGNATURE).open("ab") as file:
        file.write(b"raw rows")
    assert verify(folder).failures == [f"files: {SIGNATURE} is no signature, which has 64 bytes"]


def test_what_is_no_key_is_named(
    signed: Path, warehouses: Warehouses, keys: tuple[Path, Path], tmp_path: Path
) -> None:
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

    private, public = write_keys(tmp_path, "exchange", X25519PrivateKey)
    (tmp_path / "text").write_text("no key")
    for file, said in (
        (tmp_path / "text", "cannot be read as a key"),
        (tmp_path / "absent", "cannot be read as a key"),
        (public, "is no Ed25519 public key: 'openssl pkey -in KEY.pem -pubout'"),
        (keys[0], "cannot be read as a key"),
    ):
        with pytest.raises(VerifyError, match=said):
            verify(signed, public_key=file)
    with Engine(warehouses["ms"], read_only=True) as engine:
        for file, said in (
            (tmp_path / "text", "cannot be read as a key"),
            (private, "is no Ed25519 private key: make one with 'openssl genpkey"),
            (keys[1], "cannot be read as a key"),
        ):
            with pytest.raises(PublishError, match=said):
                engine.publish("2011Q3", tmp_path / "to", sign=file)
        assert not (tmp_path / "to").exists()
        (tmp_path / "to").mkdir()
        inside = Path(shutil.copy(keys[0], tmp_path / "to" / "key.pem"))
        with pytest.raises(PublishError, match="would lie in the artifact: keep it elsewhere"):
            engine.publish("2011Q3", tmp_path / "to", sign=inside)


def test_without_the_library_both_options_are_an_error_of_one_line(
    signed: Path,
    warehouses: Warehouses,
    keys: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "cryptography", None)
    said = r"needs the package cryptography, which is not installed: pip install 'srsql\[sign\]'"
    with pytest.raises(VerifyError, match=f"--public-key {said}"):
        verify(signed, public_key=keys[1])
    with (
        Engine(warehouses["ms"], read_only=True) as engine,
        pytest.raises(PublishError, match=f"--sign {said}"),
    ):
        engine.publish("2011Q3", tmp_path / "to", sign=keys[0])
