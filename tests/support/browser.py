"""A headless Chromium that a test drives: over a pipe, by the protocol of its developer tools."""

from __future__ import annotations

import fcntl
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

BROWSER = next(
    (
        path
        for name in ("chromium", "chromium-browser", "google-chrome")
        if (path := shutil.which(name))
    ),
    None,
)
PATIENCE = 300.0
"""Seconds until a test gives up: a busy machine starts a browser slowly."""


class Tab:
    """One page of a browser, with what it asked the network for and complained about."""

    def __init__(self, process: subprocess.Popen[bytes], read: int, write: int) -> None:
        self._process, self._read, self._write = process, read, write
        self._number, self._rest = 0, b""
        self._session: str | None = None
        self.requests: list[str] = []
        self.complaints: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Network", "Log", "DOM"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> Any:
        """The answer to one command; what happens meanwhile is kept."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            for told in self._messages(end):
                if told.get("id") == self._number:
                    assert "error" not in told, (method, told["error"])
                    return told["result"]
        raise TimeoutError(method)

    def _messages(self, end: float) -> list[dict[str, Any]]:
        ready, _, _ = select.select([self._read], [], [], max(0.0, end - time.monotonic()))
        if not ready:
            return []
        piece = os.read(self._read, 1 << 20)
        assert piece, "the browser has ended"
        *whole, self._rest = (self._rest + piece).split(b"\0")
        told = [json.loads(text) for text in whole]
        for each in told:
            self._keep(each.get("method"), each.get("params", {}))
        return told

    def _keep(self, method: str | None, found: dict[str, Any]) -> None:
        if method == "Network.requestWillBeSent":
            self.requests.append(found["request"]["url"])
        elif method == "Log.entryAdded":
            self.complaints.append(found["entry"]["text"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(str(found["exceptionDetails"]))

    def value(self, expression: str) -> Any:
        """What an expression comes to in the page, as JSON tells it; promises are waited for."""
        found = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def open(self, file: Path) -> None:
        """Load a page from its file."""
        self.call("Page.navigate", url=file.as_uri())
        self.wait("document.readyState === 'complete'")

    def wait(self, condition: str) -> None:
        """Until an expression is true."""
        end = time.monotonic() + PATIENCE
        while not self.value(condition):
            assert time.monotonic() < end, condition
            time.sleep(0.05)

    def choose(self, selector: str, *files: Path) -> None:
        """Give files, or a folder, to an input."""
        found = self.call("Runtime.evaluate", expression=f"document.querySelector('{selector}')")
        self.call(
            "DOM.setFileInputFiles",
            files=[str(file) for file in files],
            objectId=found["result"]["objectId"],
        )


@contextmanager
def tab(folder: Path) -> Iterator[Tab]:
    """A page of a browser of its own, which ends with it; ``folder``: where its profile is."""
    assert BROWSER is not None
    ours, theirs = os.pipe(), os.pipe()
    # the browser reads from 3 and writes to 4, whatever numbers the pipes have here
    far = [fcntl.fcntl(end, fcntl.F_DUPFD, 20) for end in (ours[0], theirs[1])]
    command = [
        "bash", "-c", f'exec "$@" 3<&{far[0]} 4>&{far[1]}', "bash", BROWSER, "--headless",
        "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
        "--disable-background-networking", "--disable-component-update", "--hide-scrollbars",
        f"--user-data-dir={folder / 'profile'}", "--remote-debugging-pipe", "about:blank",
    ]  # fmt: skip
    process = subprocess.Popen(
        command, pass_fds=far, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    for end in (*far, ours[0], theirs[1]):
        os.close(end)
    try:
        yield Tab(process, theirs[0], ours[1])
    finally:
        process.kill()
        process.wait()
        os.close(theirs[0])
        os.close(ours[1])
