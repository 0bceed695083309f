"""Sweeps: jobs that a template makes in a loop, as the page about them shows."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Ran

PAGE = (Path(__file__).parents[3] / "docs" / "sweeps.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(?:yaml file=(?P<file>\S+)|console)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
LR, SWEEP = "{{ lr | dns }}", "jobs/sweep.yaml.j2"
TEMPLATE = next(block["text"] for block in BLOCK.finditer(PAGE) if block["file"] == SWEEP)

Trainform = Callable[..., Ran]


@pytest.fixture
def repository(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty repository."""
    (root / "jobs" / "llm.yaml").unlink()
    nobody = {f"GIT_{who}_{what}": "somebody" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    for name, value in ({"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull} | nobody).items():
        monkeypatch.setenv(name, value)
    subprocess.run(["git", "init", "--quiet"], check=True)
    return root


def play(text: str, trainform: Trainform) -> None:
    """Runs the commands of a block, and compares what trainform prints; `…` stands for any lines."""
    for command in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        line, _, shown = command.partition("\n")
        if not line.startswith("trainform "):
            subprocess.run(["sh", "-ec", line], check=True)
            continue
        ran = trainform(*line.split()[1:])
        assert ran.code < 2, ran.err
        pattern = re.escape(shown).replace("…\\\n", "(?:.*\\\n)*")
        assert re.fullmatch(pattern, ran.out), ran.out


def test_the_page_is_what_happens(repository, trainform):
    for block in BLOCK.finditer(PAGE):
        if block["file"]:
            path = repository / block["file"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block["text"])
            assert trainform("validate").code == 0
        else:
            play(block["text"], trainform)
    names = {path.name for path in (repository / "rendered/test/ml").glob("*-*")}
    pairs = {f"sweep-lr-{lr}-seed-{seed}" for lr in ("1e-4", "3e-4") for seed in (0, 1)}
    assert names == pairs | {"models-small", "models-large", "rates-1e-3"}


def test_the_table_of_names_is_true(repository, trainform):
    rows = re.findall(r"^\| `([^`]+)` \| `([^`]+)` \| `([^`]+)` \|$", PAGE, re.MULTILINE)
    assert len(rows) > 5
    for value, plain, part in rows[1:] if rows[0][0] == "value" else rows:
        (repository / SWEEP).write_text(TEMPLATE.replace("[1e-4, 3e-4]", f"[{value}]"))
        jobs = json.loads(trainform("diff", "--format", "json").out)["jobs"]
        assert [job["name"] for job in jobs] == [f"sweep-lr-{part}-seed-{seed}" for seed in (0, 1)]
        (command,) = (each["after"] for each in jobs[0]["highlights"] if each["label"] == "command")
        assert command[2] == f"--lr={plain}"


@pytest.mark.parametrize(
    ("wrong", "code", "hint"),
    [
        (TEMPLATE.replace("---\n", ""), "TF005", "write --- between the objects of a loop"),
        (TEMPLATE.replace(f"-lr-{LR}", ""), "TF203", "name: sweep-{{ value | dns }}"),
        (TEMPLATE.replace(LR, "{{ lr }}"), "TF301", "write {{ … | dns }}"),
        (TEMPLATE.replace("[1e-4, 3e-4]", "['***']"), "TF016", "give dns a text or a number"),
        (TEMPLATE.replace("[1e-4, 3e-4]", "[none]"), "TF016", "null cannot be a part of a name"),
        (TEMPLATE.replace("[1e-4, 3e-4]", "[[1]]"), "TF016", "a list cannot be a part of a name"),
    ],
)
def test_what_goes_wrong_first_has_its_cure(repository, trainform, wrong, code, hint):
    (repository / SWEEP).write_text(wrong)
    said = trainform("validate").out
    assert f" error {code}" in said
    assert hint in said


def test_hints_about_templates_are_for_what_a_template_wrote(repository, trainform):
    plain = TEMPLATE.split("---\n")[1].split("{% endfor %}")[0].replace("{{ seed }}", "0").replace("{{ lr }}", "1")
    (repository / "jobs/a.yaml").write_text(plain.replace(LR, "0.1") + "  suspend: true\n  suspend: true\n")
    (repository / "jobs/b.yaml.j2").write_text(plain.replace(LR, "1") + "---\n" + plain.replace(LR, "1"))
    said = trainform("validate").out
    assert re.findall(r"error (TF\d+)", said) == ["TF301", "TF005", "TF203"]
    assert "dns" not in said
    assert "---" not in said
    assert "rename or remove one of them" in said
