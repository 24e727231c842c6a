"""The signature of an artifact: Ed25519 (RFC 8032) over ``SHA256SUMS``, and so over every file.

Keys are PEM files as OpenSSL writes them (``openssl genpkey -algorithm ed25519``, ``openssl pkey
-pubout``), and the signature is as OpenSSL reads it: anybody can check it without srsql. The
library is an extra (``srsql[sign]``); nothing else needs it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from srsql.engine.artifact.format import SIGNATURE, SUMS
from srsql.engine.errors import PublishError, VerifyError, one_line

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

NO_LIBRARY = (
    "{option} needs the package cryptography, which is not installed: pip install 'srsql[sign]'"
)


def private_key(path: Path) -> Ed25519PrivateKey:
    """The key that an artifact is signed with.

    Raises:
        PublishError: the library is not there, or the file holds no such key, or a locked one.
    """
    try:
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
    except ImportError:
        raise PublishError(NO_LIBRARY.format(option="--sign")) from None
    try:
        key = load_pem_private_key(path.read_bytes(), password=None)
    except (OSError, ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise PublishError(f"--sign {path}: cannot be read as a key: {one_line(error)}") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise PublishError(
            f"--sign {path} is no Ed25519 private key: make one with 'openssl genpkey -algorithm "
            "ed25519 -out KEY.pem'"
        )
    return key


def sign(folder: Path, key: Ed25519PrivateKey) -> None:
    """Write the signature of the folder's hashes beside them."""
    (folder / SIGNATURE).write_bytes(key.sign((folder / SUMS).read_bytes()))


def signature_faults(folder: Path, public_key: Path) -> list[str]:
    """What is wrong with the signature of a folder under a public key.

    Raises:
        VerifyError: the library is not there, or the file holds no such key.
    """
    try:
        from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
        from cryptography.hazmat.primitives.serialization import load_pem_public_key
    except ImportError:
        raise VerifyError(NO_LIBRARY.format(option="--public-key")) from None
    try:
        key = load_pem_public_key(public_key.read_bytes())
    except (OSError, ValueError, UnsupportedAlgorithm) as error:
        raise VerifyError(
            f"--public-key {public_key}: cannot be read as a key: {one_line(error)}"
        ) from None
    if not isinstance(key, Ed25519PublicKey):
        raise VerifyError(
            f"--public-key {public_key} is no Ed25519 public key: 'openssl pkey -in KEY.pem "
            "-pubout' prints the one of a private key"
        )
    sums, signature = folder / SUMS, folder / SIGNATURE
    if signature.is_symlink() or not signature.is_file() or not sums.is_file():
        return [f"{SIGNATURE} is missing: nobody signed {SUMS}"]
    try:
        key.verify(signature.read_bytes(), sums.read_bytes())
    except InvalidSignature:
        return [f"{SIGNATURE} is not a signature of {SUMS} by the key of {public_key}"]
    except OSError as error:
        raise VerifyError(f"{folder} cannot be read: {one_line(error)}") from None
    return []
