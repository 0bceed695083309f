"""What is printed commands neither a terminal nor a CI system, whatever is in files, their names and arguments."""

from __future__ import annotations

import io
import json
import os
import re
import unicodedata
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from support.repositories import Repository, environment, job, runtime
from trainform.cli.main import run
from trainform.diagnostics.escape import json_text, log, one_line
from trainform.io.streams import EscapedStream

COMMANDS_OF_CI = (
    "\n::error::forged",
    "\r\n  ::set-env name=PATH::x",
    "##[error]forged",
    "x##vso[task.x]y",
    "\n\u2003::stop",
)
CONTROL = ("\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "a\rb", "\x9b2J", "\x7f\x08", "section_start:1:a\r\x1b[0K")
FORMAT = (
    "\u202eabc",
    "\u2066x\u2069",
    "a\u200bb",
    "\ufeff",
    "\u2028x\u2029",
    "\U000e0041",
    "\u00ad",
    "\ud800",
    "\u3164",
)
MARKUP = (
    "</summary></details><h1>x",
    "<script>alert(1)</script>",
    "@somebody",
    "[x](https://evil.test)",
    "`a`|b",
    "www.evil.test",
)
HOSTILE = (*COMMANDS_OF_CI, *CONTROL, *FORMAT, *MARKUP)

HIDDEN = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
_COMMAND = re.compile(r"^\s*::|##[A-Za-z]*\[", re.MULTILINE)


def faults(text: str) -> list[str]:
    """What a terminal or a CI system would obey."""
    hidden = [ascii(each) for each in set(text) if unicodedata.category(each) in HIDDEN and each != "\n"]
    commands = [found[0] for line in text.split("\n") for found in _COMMAND.finditer(line)]
    return sorted(hidden) + commands


def test_the_check_itself_sees():
    assert all(faults(each) for each in (*COMMANDS_OF_CI, *CONTROL, *FORMAT) if each != "\u3164")
    assert faults("a: b\n  error::c # [d] ##\n") == []


texts = st.text(st.sampled_from("ab:#[ \n\t\r\x1b\x85\u2028\u3000\u202e\ud800vso") | st.characters())


@given(texts)
@example("##\x1b[error]")
@example("\n \u3000::x\n::y")
def test_a_log_has_no_commands(text):
    assert faults(log(text)) == []
    assert log(log(text)) == log(text)


@given(texts)
def test_a_line_stays_one(text):
    assert "\n" not in one_line(text)
    assert [each for each in faults(one_line(text)) if each.startswith("'")] == []


@given(st.recursive(texts, lambda inner: st.lists(inner) | st.dictionaries(texts, inner)))
def test_json_says_the_same(tree):
    text = json_text(json.dumps(tree, ensure_ascii=False, indent=1))
    assert json.loads(text) == tree
    assert faults(text) == []
    text.encode()


@given(st.lists(texts))
def test_no_command_gets_through_in_pieces(pieces):
    out = io.StringIO()
    stream = EscapedStream(out)
    for piece in pieces:
        stream.write(piece)
    stream.flush()
    assert faults(out.getvalue()) == []


class Ran(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def trainform(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Ran]:
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str, stdin: bytes = b"") -> Ran:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = run(arguments)
        captured = capfdbinary.readouterr()
        return Ran(code, captured.out.decode(), captured.err.decode())

    return call


def quoted(text: str) -> str:
    """A YAML string."""
    return json.dumps(text)


def in_a_name(repository: Repository, text: str) -> None:
    repository.write("jobs/hostile.yaml", job(quoted(text)))


def in_a_namespace(repository: Repository, text: str) -> None:
    repository.write("jobs/hostile.yaml", job("other", namespace=quoted(text)))


def in_values(repository: Repository, text: str) -> None:
    value = quoted(text)
    more = f"    image: {value}\n    env: [{{name: {value}, value: {value}}}]\n    {value}: {value}\n"
    repository.write("jobs/hostile.yaml", job("other") + more)


def in_labels(repository: Repository, text: str) -> None:
    labels = f"metadata:\n  labels: {{{quoted(text)}: {quoted(text)}, kueue.x-k8s.io/queue-name: {quoted(text)}}}\n"
    repository.write("jobs/hostile.yaml", job("other").replace("metadata:\n", labels))


def in_what_is_rendered(repository: Repository, text: str) -> None:
    """Valid values that a diff shows."""
    repository.write("jobs/llm.yaml", job("llm") + f"    args: [{quoted(text)}]\n    command: [{quoted(text)}]\n")


def in_the_source(repository: Repository, text: str) -> None:
    repository.write("jobs/hostile.yaml", f"kind: TrainJob # {text.encode('utf-8', 'replace').decode()}\nspec: [\n")


def in_a_runtime(repository: Repository, text: str) -> None:
    repository.write("runtimes/hostile.yaml", runtime("x").replace("name: torch\n", f"name: {quoted(text)}\n", 1))
    repository.write("jobs/hostile.yaml", job("other").replace("name: torch\n", f"name: {quoted(text + 'x')}\n"))


def in_an_environment(repository: Repository, text: str) -> None:
    repository.write("environments/hostile/environment.yaml", environment().replace("prod", quoted(text)))


def in_settings_of_an_environment(repository: Repository, text: str) -> None:
    value = quoted(text)
    patches = f"  patches: [{{target: {{name: {value}}}, patch: {value}}}]\n"
    settings = f"  namespace: {value}\n  cluster: {{files: [{value}]}}\n{patches}"
    repository.write("environments/prod/environment.yaml", environment() + settings)


def in_the_projects_settings(repository: Repository, text: str) -> None:
    repository.write("trainform.yaml", f"{quoted(text)}: {quoted(text)}\njobs: {quoted(text)}\n")


def in_a_lock(repository: Repository, text: str) -> None:
    path = next((repository.root / ".trainform" / "locks").rglob("*.lock"))
    value = json.dumps(text)[1:-1].replace("\\", "\\\\")
    path.write_text(re.sub(r'("(?:source|name|compiler)": ")', rf"\g<1>{value}", path.read_text()))


def in_a_manifest(repository: Repository, text: str) -> None:
    path = next((repository.root / "rendered").rglob("jobset-*.yaml"))
    path.write_text(path.read_text() + f"x: {quoted(text)}\nstatus: {{{quoted(text)}: {quoted(text)}}}\n")


def names(text: str) -> Iterator[str]:
    """Names of files that hold the text, which is longer than a name can be."""
    for start in range(0, len(text), 60):
        yield "x" + text[start : start + 60].replace("/", "_").replace("\ud800", "\udcff")


def in_file_names(repository: Repository, text: str) -> None:
    for name in names(text):
        repository.write(f"jobs/{name}/{name}.yaml", job("other", nodes="many"))
        repository.write(f"runtimes/{name}.yaml", "a: [\n")
        repository.write(f"rendered/prod/{name}.yaml", "a: b\n")
        repository.write(f".trainform/locks/prod/ml/{name}.lock", "{")
        repository.write(f".trainform/locks/{name}/{name}/{name}.lock", "{}")


def in_folders_of_environments(repository: Repository, text: str) -> None:
    for name in names(text):
        repository.write(f"environments/{name}/environment.yaml", environment())


PLACES = (
    in_a_name,
    in_a_namespace,
    in_values,
    in_labels,
    in_what_is_rendered,
    in_the_source,
    in_a_runtime,
    in_an_environment,
    in_settings_of_an_environment,
    in_the_projects_settings,
    in_a_lock,
    in_a_manifest,
    in_file_names,
    in_folders_of_environments,
)


@pytest.fixture
def repository(tmp_path: Path, trainform: Callable[..., Ran]) -> Repository:
    """A rendered and committed job."""
    made = Repository(tmp_path)
    made.write("jobs/llm.yaml", job("llm"))
    made.write("runtimes/torch.yaml", runtime("example/train:1"))
    made.write("environments/prod/environment.yaml", environment())
    assert trainform("render").code == 0
    made.start_git()
    made.commit()
    return made


def is_json(text: str) -> None:
    json.loads(text)


def is_xml(text: str) -> None:
    ET.fromstring(text)


def is_annotations(text: str) -> None:
    """Each line is a workflow command of ours, and no other."""
    assert [line for line in text.splitlines() if not re.match("::(error|warning|notice) (file=[^:]*,)?", line)] == []
    assert faults(re.sub("^::(error|warning|notice) ", "", text, flags=re.MULTILINE)) == []


def is_markdown(text: str) -> None:
    """What is not in a code span has no tag but ours, and neither mentions nor links."""
    outside = re.sub(r"(`+) ?.+? ?\1(?!`)", "", text)
    tags = set(re.findall("<[^>]*>", outside))
    assert tags <= {"<b>", "</b>", "<details>", "</details>", "<summary>", "</summary>", "<sub>", "</sub>", "<br>"}
    assert re.findall(r"@\w|://|\bwww\.|\]\(", outside) == []
    assert text.count("<details>") == text.count("</details>") == text.count("<summary>")


def is_page(text: str) -> None:
    """A page whose only script is the one that its policy allows."""
    parser = _Scripts()
    parser.feed(text)
    assert "alert(1)" not in "".join(parser.scripts).replace("\\u003cscript\\u003ealert(1)", "")
    assert parser.handlers == []


class _Scripts(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.scripts: list[str] = []
        self.handlers: list[str] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside = tag == "script"
        self.handlers += [name for name, _ in attrs if name.startswith("on")]

    def handle_endtag(self, tag: str) -> None:
        self._inside = False

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.scripts.append(data)


RUNS: dict[tuple[str, ...], Callable[[str], None] | None] = {
    ("validate",): None,
    ("validate", "--format", "json"): is_json,
    ("validate", "--format", "sarif"): is_json,
    ("validate", "--format", "junit"): is_xml,
    ("validate", "--format", "github"): is_annotations,
    ("check",): None,
    ("check", "--format", "json"): is_json,
    ("diff",): None,
    ("diff", "--format", "json"): is_json,
    ("diff", "--format", "markdown"): is_markdown,
    ("diff", "--format", "html"): is_page,
    ("report",): is_page,
    ("capacity",): None,
    ("capacity", "--format", "json"): is_json,
    ("explain", "llm"): None,
    ("explain", "llm", "--format", "json"): is_json,
    ("runtimes",): None,
    ("runtimes", "--format", "json"): is_json,
    ("upgrade", "--all", "--dry-run"): None,
    ("upgrade", "--all", "--dry-run", "--format", "json"): is_json,
    ("keys",): None,
    ("cmp", "parameters"): is_json,
    ("rerun", "llm", "other"): None,
    ("render", "--keep-going"): None,
    ("render", "--format", "json"): is_json,
}


def complaints(ran: Ran, check: Callable[[str], None] | None) -> Iterator[str]:
    yield from faults(ran.err)
    if check is not is_annotations:
        yield from faults(ran.out)
    if check and ran.out:
        check(ran.out)


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
def test_no_command_prints_what_others_obey(repository, trainform, place):
    """All texts at once: each is between blanks, so that none hides another."""
    place(repository, "x" + "\n".join(HOSTILE))
    found = {command: list(complaints(trainform(*command), check)) for command, check in RUNS.items()}
    assert {command: told for command, told in found.items() if told} == {}


@pytest.mark.parametrize(
    "arguments",
    [
        ("{}",),
        ("--{}",),
        ("validate", "{}"),
        ("validate", "--format", "{}"),
        ("validate", "--env", "{}"),
        ("render", "{}"),
        ("render", "--shard", "{}"),
        ("render", "--workers", "{}"),
        ("--root", "{}", "render"),
        ("explain", "{}"),
        ("explain", "llm", "{}"),
        ("diff", "--base", "{}"),
        ("check", "--base", "{}"),
        ("report", "--base", "{}"),
        ("report", "--output", "missing/{}"),
        ("upgrade", "--runtime", "{}"),
        ("init", "new", "--env", "{}"),
        ("init", "new", "--engine", "{}"),
        ("completion", "{}"),
    ],
)
def test_an_argument_is_echoed_escaped(repository, trainform, arguments):
    text = "\n".join((*COMMANDS_OF_CI, *CONTROL, *FORMAT)).replace("\ud800", "\udcff")
    ran = trainform(*(each.format(text) for each in arguments))
    assert ran.code == 2
    assert list(complaints(ran, None)) == []


@pytest.mark.parametrize("form", ["text", "json", "sarif", "junit", "github"])
def test_a_stream_is_validated_escaped(trainform, form):
    text = quoted("x" + "\n".join(HOSTILE)).encode()
    stream = b"kind: %b\napiVersion: %b\nmetadata: {name: %b, %b: 1}\n---\n%b: [\n" % ((text,) * 5)
    ran = trainform("validate", "-", "--format", form, stdin=stream)
    check = dict(zip(("json", "sarif", "junit", "github"), (is_json, is_json, is_xml, is_annotations), strict=True))
    assert ran.code == 2
    assert list(complaints(ran, check.get(form))) == []


def test_a_terminal_shows_our_colours_and_no_others(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    out = Terminal()
    EscapedStream(out).write("\x1b[31mred\x1b[0m \x1b[8mhidden \x1b[2J\x1b]0;title\x07\n")
    assert out.getvalue() == "\x1b[31mred\x1b[0m \\x1b[8mhidden \\x1b[2J\\x1b]0;title\\x07\n"


def test_bytes_that_are_no_text_are_shown(trainform):
    os.mkdir("jobs")
    Path(os.fsdecode(b"jobs/w\xe9ird.yaml")).write_text("kind: TrainJob\n")
    assert "jobs/w\\udce9ird.yaml" in trainform("validate").out
    assert trainform("validate", "--format", "sarif").out.count("jobs/w%ED%B3%A9ird.yaml") > 0
