"""The report as a real browser shows it. Skipped, and told so, where there is no Chromium."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from trainform.core.facts import NO_FACTS
from trainform.review.report import Report, fleet
from unit.review.cluster import step
from unit.review.test_report import DECLARED, EVIL, known, page

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium: apt-get install chromium")

JOBS = 250
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

    def open(self, file: Path, width: int = 1200, fragment: str = "") -> None:
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.call("Page.navigate", url="about:blank")
        self.events.clear()
        self.call("Page.navigate", url=file.as_uri() + fragment)
        while not self.ask("document.readyState == 'complete' && !!document.querySelector('#table.ready')"):
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


@pytest.fixture(scope="module")
def browser(tmp_path_factory) -> Iterator[Browser]:
    browser = Browser(tmp_path_factory.mktemp("profile"))
    try:
        browser.start()
        yield browser
    finally:
        browser.close()


@pytest.fixture(scope="module")
def file(tmp_path_factory) -> Path:
    launcher = step("launcher")
    launcher["dependsOn"] = [{"name": "node", "status": "Ready"}]
    jobs = [known(f"job-{index:03}", step("node", 40, gpu=8), launcher) for index in range(JOBS)]
    jobs += [known("evil", step(gpu=1), framework=EVIL, queue=EVIL, state="behind", notes=(EVIL,))]
    other = fleet("staging", [known("small", step(gpu=1), environment="staging", framework="jax")], NO_FACTS)
    found: Path = tmp_path_factory.mktemp("report") / "fleet.html"
    found.write_text(page(Report((fleet("prod", jobs, DECLARED), other))), encoding="utf-8")
    return found


def shown(browser: Browser) -> list[str]:
    names = "[...document.querySelectorAll('#table tbody tr:not(.detail) th')].map(e => e.textContent)"
    return list(browser.ask(names))


def test_it_opens_without_a_complaint_and_shows_the_first_jobs(browser, file):
    browser.open(file)
    assert len(shown(browser)) == 100
    browser.ask("document.getElementById('more').click()")
    assert len(shown(browser)) == 200
    assert browser.complaints() == []


def test_search_and_filter(browser, file):
    browser.open(file)
    browser.ask("q.value = 'job-01'; q.dispatchEvent(new Event('input', {bubbles: true}))")
    assert shown(browser) == [f"ml/job-01{index}" for index in range(10)]
    browser.ask("q.value = ''; env.value = 'staging'; env.dispatchEvent(new Event('input', {bubbles: true}))")
    assert shown(browser) == ["ml/small"]
    assert browser.ask("location.hash") == "#env=staging"
    assert browser.ask("document.getElementById('count').textContent") == "1 job (of 252)"


def test_a_link_filters(browser, file):
    browser.open(file, fragment="#framework=jax")
    assert shown(browser) == ["ml/small"]


def test_values_do_not_run(browser, file):
    browser.open(file, fragment="#state=behind")
    assert shown(browser) == ["ml/evil"]
    browser.ask("document.querySelector('#table tbody button').click()")
    assert EVIL in browser.ask("document.querySelector('.detail').textContent")
    assert browser.ask("document.title") == "Training fleet: 252 jobs"
    assert browser.complaints() == []


def test_a_job_opens_by_keyboard_and_shows_its_pods(browser, file):
    browser.open(file, fragment="#q=job-000")
    browser.ask("document.querySelector('#table tbody button').focus()")
    browser.key("Enter", 13, "\r")
    browser.ask("new Promise(done => setTimeout(done, 100))")
    assert browser.ask("[...document.querySelectorAll('.step h4')].map(e => e.textContent)") == ["node", "launcher"]
    assert browser.ask("document.querySelectorAll('.pods rect').length") == 24 + 1
    assert browser.ask("document.querySelectorAll('.pods circle').length") == 24 * 8
    assert "and 16 more pods" in browser.ask("document.querySelector('.step').textContent")
    assert browser.ask("document.querySelectorAll('.edges .head').length") == 1
    assert browser.ask("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    browser.key("Enter", 13, "\r")
    assert browser.ask("document.querySelector('.detail')") is None
    assert browser.complaints() == []


@pytest.mark.parametrize("width", [360, 768, 1200])
def test_nothing_sticks_out(browser, file, width):
    browser.open(file, width)
    browser.ask("document.querySelectorAll('#table tbody button')[1].click()")
    wide = f"[...document.querySelectorAll('main *')].filter(e => e.getBoundingClientRect().right > {width}"
    told = browser.ask(f"{wide} && !e.closest('.scroll')).map(e => e.outerHTML.slice(0, 80))")
    assert told == []
    assert browser.ask("document.documentElement.scrollWidth") <= width


def test_sorting(browser, file):
    browser.open(file)
    browser.ask("[...document.querySelectorAll('#table thead button')].find(e => e.textContent == 'GPUs').click()")
    assert shown(browser)[0] == "ml/job-000"
    browser.ask("[...document.querySelectorAll('#table thead button')].find(e => e.textContent == 'GPUs').click()")
    assert set(shown(browser)[:2]) == {"ml/evil", "ml/small"}


def test_dark_and_light(browser, file):
    browser.open(file)
    colour = "getComputedStyle(document.body).backgroundColor"
    seen = []
    for theme in ("dark", "light"):
        browser.ask(f"theme.value = '{theme}'; theme.dispatchEvent(new Event('input'))")
        seen.append(browser.ask(colour))
    assert seen == ["rgb(22, 24, 27)", "rgb(251, 251, 250)"]
    picture = base64.b64decode(browser.call("Page.captureScreenshot")["data"])
    assert picture.startswith(b"\x89PNG")
