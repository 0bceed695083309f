"""A real browser, driven through its own protocol."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
OPTIONS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-pipe")
ON_PIPES = """\
import fcntl, os, sys
ends = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3]]
os.dup2(ends[0], 3)
os.dup2(ends[1], 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
"""Chromium listens at file 3 and answers at file 4."""


class Browser:
    """Chromium's protocol on a pair of pipes: JSON messages that end in NUL."""

    def __init__(self, folder: Path) -> None:
        ours, theirs = os.pipe(), os.pipe()
        ends = (str(ours[0]), str(theirs[1]))
        command = [sys.executable, "-c", ON_PIPES, *ends, str(CHROMIUM), *OPTIONS, f"--user-data-dir={folder}"]
        self.process = subprocess.Popen(command, pass_fds=(ours[0], theirs[1]), stderr=subprocess.DEVNULL)
        os.close(ours[0])
        os.close(theirs[1])
        self.to, self.back = os.fdopen(ours[1], "wb", buffering=0), os.fdopen(theirs[0], "rb")
        self.number, self.session = 0, ""
        self.events: list[dict[str, Any]] = []

    def start(self) -> None:
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(20)
        self.to.close()
        self.back.close()

    def _read(self) -> dict[str, Any]:
        text = bytearray()
        while (byte := self.back.read(1)) != b"\0":
            assert byte, "the browser is gone"
            text += byte
        message: dict[str, Any] = json.loads(text)
        return message

    def call(self, method: str, **params: Any) -> Any:
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        message |= {"sessionId": self.session} if self.session else {}
        self.to.write(json.dumps(message).encode() + b"\0")
        while (found := self._read()).get("id") != self.number:
            self.events.append(found)
        assert "error" not in found, found
        return found["result"]

    def open(self, file: Path, width: int = 1200, fragment: str = "", ready: str = "#table.ready") -> None:
        """Shows a page, and waits for the element `ready`."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.call("Page.navigate", url="about:blank")
        self.events.clear()
        self.call("Page.navigate", url=file.as_uri() + fragment)
        while not self.ask(f"document.readyState == 'complete' && !!document.querySelector('{ready}')"):
            pass

    def ask(self, script: str) -> Any:
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def key(self, key: str, code: int, text: str = "") -> None:
        common = {"key": key, "windowsVirtualKeyCode": code}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **common)
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def complaints(self) -> list[str]:
        """Errors in the console, and requests for anything but the page itself."""
        bad = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
        urls = [e["params"]["request"]["url"] for e in self.events if e.get("method") == "Network.requestWillBeSent"]
        return [str(e) for e in self.events if e.get("method") in bad] + [u for u in urls if not u.endswith(".html")]
