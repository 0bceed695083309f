"""The commands on the page about live clusters work as they stand there."""

from __future__ import annotations

import re
import shlex
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from support.api_server import api_server
from support.repositories import Repository, environment, job, runtime
from trainform.cluster.connection import INSTALL
from trainform.k8s.fact_kinds import FACT_VERSIONS
from trainform.k8s.pulled.access import list_rules, plural
from trainform.review.live.drift import Drift
from trainform.review.live.dry_run import DryRunObject, LiveDiff, render_live_diff
from trainform.review.live.judge import ORPHANED
from trainform.review.live.model import FailedPod, LiveJob, LiveStatus
from trainform.review.live.text import render_changes, render_status

PAGE = Path(__file__).parents[3] / "docs" / "live.md"
LINES = re.findall(r"^    trainform (.+?)(?: +# .*)?$", PAGE.read_text(), re.MULTILINE)


BLOCKS = re.findall(r"^~~~ text\n(.*?)^~~~$", PAGE.read_text(), re.MULTILINE | re.DOTALL)


def test_the_client_package_is_installed_as_the_error_says():
    assert f"    {INSTALL}\n" in PAGE.read_text()


def test_the_rule_that_is_shown_is_one_that_is_needed():
    assert f"\n  - {list_rules('Node')[0]}\n" in BLOCKS[0]


def test_the_table_of_jobs_is_what_is_printed():
    quota = "couldn't assign flavors to pod set node: insufficient unused quota for nvidia.com/gpu"
    change = Drift("spec.replicatedJobs[node].template.spec.parallelism", 4, 2)
    pod = FailedPod("segment-node-0-1-x7k2p", "node", 137, "OOMKilled", ("step 1200, loss 0.41",))
    jobs = [
        LiveJob("ml", "old", "old", "orphaned", ORPHANED),
        LiveJob("nlp", "llama-lora", "llama-lora", "queued", quota),
        LiveJob("nlp", "llama-sft", "llama-sft", "running", "Jobs: 1 ready, 1 active", (change,)),
        LiveJob("vision", "segment", "segment", "failed", "jobset failed due to one or more job failures", (), pod),
    ]
    assert render_status(LiveStatus("prod", jobs), colour=False) == BLOCKS[1]


def test_the_dry_run_is_what_is_printed():
    denied = 'admission webhook "vjobset.kb.io" denied the request: '
    denied += "spec.replicatedJobs: Invalid value: field is immutable"
    objects = [
        DryRunObject("rendered/prod/nlp/llama-sft/jobset-llama-sft.yaml", "JobSet", "nlp", "llama-sft", "create"),
        *[DryRunObject("", "JobSet", "ml", str(number), "none") for number in range(10)],
        DryRunObject("rendered/prod/vision/vit/jobset-vit.yaml", "JobSet", "vision", "vit", "refused", denied),
    ]
    assert render_live_diff(LiveDiff("prod", objects), colour=False) == BLOCKS[3]


def test_the_changes_of_a_watch_are_what_is_printed():
    job = LiveJob("nlp", "llama-lora", "llama-lora", "queued", "insufficient unused quota")
    pod = FailedPod("llama-lora-node-0-0-k4d2z", "node", 1, "Error", ("RuntimeError: no checkpoint in /data",))
    failed = job._replace(state="failed", reason="jobset failed due to one or more job failures", pod=pod)
    states = [job, job._replace(state="running", reason="Jobs: 1 ready, 1 active"), failed]
    statuses = [LiveStatus("prod", [each]) for each in states]
    told = [render_changes(before, after, colour=False) for before, after in pairwise(statuses)]
    assert "".join(told) == BLOCKS[2]


def test_kubectl_is_asked_for_kinds_that_are_facts():
    asked = re.findall(r"^    kubectl get ([a-z,]+) ", PAGE.read_text(), re.MULTILINE)
    assert {name for names in asked for name in names.split(",")} < {plural(kind) for kind in FACT_VERSIONS}


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
        server.put({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "nlp"}})
        server.put({**live, "status": {"conditions": [{"type": "Completed", "status": "True"}]}})
        for line in LINES:
            command, _, output = re.split(r" \| | && ", line)[0].partition(" >")
            ran = trainform(*shlex.split(command))
            assert (ran.code, ran.err) == (0, ""), line
            if output:
                repository.write(output.strip(), ran.out)
    assert [path.name for path in (root / "environments/prod/cluster").iterdir()] == ["namespaces.yaml"]
    assert "finished" in (root / "report.html").read_text()


@pytest.mark.parametrize("command", ["facts pull", "status", "diff"])
def test_each_option_on_the_page_exists(trainform, command):
    told = trainform(*command.split(), "--help").out
    named = {
        option
        for line in re.findall(r"`?trainform " + command + r"[^`\n]*", PAGE.read_text())
        for option in re.findall(r"--[a-z-]+", line.partition("|")[0])
    }
    assert [option for option in named if option not in told] == []
