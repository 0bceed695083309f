"""The commands on the page about live clusters work as they stand there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import yaml

from support.api_server import api_server
from support.repositories import Repository, environment, job, runtime

PAGE = Path(__file__).parents[3] / "docs" / "live.md"
LINES = re.findall(r"^    trainform (.+?)(?: +# .*)?$", PAGE.read_text(), re.MULTILINE)


def test_the_page_has_commands():
    assert len(LINES) >= 7


def test_the_commands_run_one_after_the_other(root, trainform, monkeypatch, tmp_path_factory):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    repository = Repository(root)
    repository.start_git()
    repository.write("environments/prod/environment.yaml", environment())
    repository.write("runtimes/torch.yaml", runtime())
    repository.write("jobs/llm.yaml", job("llama-sft", namespace="nlp"))
    trainform("render")
    repository.commit()
    live = yaml.safe_load((root / "rendered/prod/nlp/llama-sft/jobset-llama-sft.yaml").read_text())
    with api_server() as server:
        monkeypatch.setenv("KUBECONFIG", str(server.kubeconfig(tmp_path_factory.mktemp("home") / "config")))
        server.put({**live, "status": {"conditions": [{"type": "Completed", "status": "True"}]}})
        for line in LINES:
            command, _, output = line.partition(" | ")[0].partition(" >")
            ran = trainform(*shlex.split(command))
            assert (ran.code, ran.err) == (0, ""), line
            if output:
                repository.write(output.strip(), ran.out)


@pytest.mark.parametrize("command", ["facts pull", "status", "diff"])
def test_each_option_on_the_page_exists(trainform, command):
    told = trainform(*command.split(), "--help").out
    named = {
        option
        for line in re.findall(r"`?trainform " + command + r"[^`\n]*", PAGE.read_text())
        for option in re.findall(r"--[a-z-]+", line.partition("|")[0])
    }
    assert [option for option in named if option not in told] == []
