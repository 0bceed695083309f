"""What trainform promises of one command line, whatever the input."""

from __future__ import annotations

import json
import re
import unicodedata
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import yaml

from fuzz.case import Step
from fuzz.place import SECRET
from fuzz.process import CPU_LIMIT, MEMORY_LIMIT, Ran


class Failure(NamedTuple):
    """A broken promise. `what` and `where` (a command, or a place in the code) tell one fault from another; `detail` is
    for people."""

    what: str
    where: str
    detail: str = ""

    @property
    def fault(self) -> tuple[str, str]:
        return self.what, self.where


EXIT_CODES = {
    **dict.fromkeys(("render", "explain", "report", "upgrade", "rerun", "keys", "init", "krm", "cmp"), (0, 2)),
    **dict.fromkeys(("check", "diff", "capacity", "validate"), (0, 1, 2)),
    **dict.fromkeys(("runtimes", "plugins", "completion", "migrate", "schema"), (0, 2)),
}

READS_ONLY = ("validate", "check", "diff", "explain", "capacity", "report", "krm", "cmp", "runtimes", "plugins")

_MISLEADING = set("\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Line breaks and changes of direction beyond ASCII."""

_WORKFLOW_COMMAND = re.compile(r"^\s*::[\w-]+.*::|##\[", re.MULTILINE)
_FRAME = re.compile(r'File ".*?(trainform\w*/[\w/]+\.py)", line \d+, in (\w+)')


def broken(step: Step, ran: Ran) -> Iterator[Failure]:
    """The promises that one run broke."""
    if ran.hung:
        yield Failure("hangs", step.command)
        return
    yield from _ending(step, ran)
    if ran.seconds > CPU_LIMIT:
        yield Failure("slow", step.command, f"{ran.seconds:.1f} s of CPU time, as on the reference machine")
    if ran.memory > MEMORY_LIMIT:
        yield Failure("memory", step.command, f"{ran.memory >> 20} MB")
    if SECRET.encode() in ran.out + ran.err:
        yield Failure("prints a file outside of the repository", step.command)
    yield from _text(step, ran)
    yield from _document(step, ran)


def _ending(step: Step, ran: Ran) -> Iterator[Failure]:
    errors = ran.err.decode(errors="replace")
    if ran.code == 70 or "Traceback (most recent call last)" in errors:
        frames = _FRAME.findall(errors)
        where = ":".join(frames[-1]) if frames else "?"
        said = re.findall(r"^(\w[\w.]*(?:Error|Exception|Exit)\b.*)", errors, re.MULTILINE)
        kind = said[-1].partition(":")[0] if said else "?"
        yield Failure("internal error", f"{kind} in {where}", errors)
    elif ran.code not in EXIT_CODES.get(step.command, (0, 2)):
        yield Failure(f"exit code {ran.code}", step.command, errors)


def _text(step: Step, ran: Ran) -> Iterator[Failure]:
    """No terminal command, no second line, no instruction to a CI system."""
    github = step.option("--format") == "github"
    for stream, data in (("stdout", ran.out), ("stderr", ran.err)):
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            yield Failure("not UTF-8", f"{step.command} {stream}", str(error))
            continue
        exact = stream == "stdout" and (step.command == "krm" or step.option("--format") in ("json", "sarif"))
        bad = {character for character in set(text) if _is_control(character, exact=exact)}
        if bad and ran.code != 70:
            shown = ", ".join(f"U+{ord(character):04X}" for character in sorted(bad))
            yield Failure("control character", f"{step.command} {stream}", shown)
        human = stream == "stderr" or step.option("--format") in ("", "text", "markdown")
        if human and not github and ran.code != 70 and not _prints_manifests(step):
            found = _WORKFLOW_COMMAND.search(text)
            if found:
                yield Failure("workflow command", f"{step.command} {stream}", found[0])


def _is_control(character: str, *, exact: bool) -> bool:
    """Whether a terminal would obey a character. `exact`: JSON and what krm passes on may hold misleading ones."""
    if character in "\n\t":
        return False
    return unicodedata.category(character) == "Cc" or (not exact and character in _MISLEADING)


def _prints_manifests(step: Step) -> bool:
    return step.command in ("krm", "cmp", "report") or "-" in step.arguments


def _document(step: Step, ran: Ran) -> Iterator[Failure]:
    """The output is what its format says, if the command got as far as printing it."""
    kind = step.option("--format") or {"krm": "yaml"}.get(step.command, "")
    if step.arguments[:2] == ("cmp", "generate") or step.arguments == ("render", "-"):
        kind = kind or "yaml"
    if kind not in READERS or not ran.out or ran.code == 70:
        return
    try:
        READERS[kind](ran.out.decode(errors="replace"))
    except (ValueError, LookupError, TypeError, AssertionError, ElementTree.ParseError, yaml.YAMLError) as error:
        yield Failure(f"invalid {kind}", step.command, f"{error!r}\n{ran.out[:500]!r}")


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _json(text: str) -> None:
    json.loads(text, parse_constant=_no_constant)


def _sarif(text: str) -> None:
    tree = json.loads(text, parse_constant=_no_constant)
    assert tree["version"] == "2.1.0"
    for run in tree["runs"]:
        rules = {rule["id"] for rule in run["tool"]["driver"].get("rules", [])}
        for result in run["results"]:
            assert result["message"]["text"]
            assert result["ruleId"] in rules
            for location in result.get("locations", []):
                region = location["physicalLocation"].get("region", {"startLine": 1})
                assert region["startLine"] >= 1


def _junit(text: str) -> None:
    root = ElementTree.fromstring(text)
    assert root.tag == "testsuites"
    for suite in root:
        assert int(suite.attrib["tests"]) == len(suite.findall("testcase"))


def _yaml(text: str) -> None:
    for _ in yaml.load_all(text, Loader=yaml.CSafeLoader):
        pass


READERS: dict[str, Callable[[str], None]] = {"json": _json, "sarif": _sarif, "junit": _junit, "yaml": _yaml}
