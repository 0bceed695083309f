"""`capacity`, `report` and `explain` tell the same of a job: the TrainJob's name, its pods and what they request."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
import yaml

from support.repositories import Repository, environment, job, runtime
from trainform.k8s.quantity import ZERO, Quantity, parse

ROOT = Path(__file__).parents[3]

LIMITS = """\
apiVersion: v1
kind: LimitRange
metadata: {name: defaults, namespace: ml}
spec: {limits: [{type: Container, defaultRequest: {cpu: 500m, memory: 3Gi}}]}
"""


def told(trainform, root):
    """By command and job: pods, and GPUs and other requests of all of them."""
    capacity = json.loads(trainform("capacity", "--format", "json", "--root", str(root)).out)["environments"]
    jobs = {(env, each["namespace"], each["name"]): each for env, found in capacity.items() for each in found["jobs"]}
    found = {"capacity": {id: (each["pods"], each["resources"]) for id, each in jobs.items()}}
    found["report"] = reported(trainform("report", "--root", str(root)).out)
    explained = {}
    for namespace, name in dict.fromkeys(id[1:] for id in jobs):
        ran = trainform("explain", f"{namespace}/{name}", "--format", "json", "--root", str(root))
        for each in json.loads(ran.out)["jobs"]:
            explained[each["environment"], namespace, each["name"]] = each["pods"], each["resources"]
    return {**found, "explain": explained}


def reported(page):
    """The report has pods, and what each requests, in its data; names in its rows."""
    (text,) = re.findall(r'id="data">(.*?)</script>', page)
    data = json.loads(text)
    rows = re.findall(r'^<tr><th scope="row">(.*?)/(.*?)</th><td>(.*?)</td>', page, re.MULTILINE)
    found = {}
    for (namespace, name, env), (shape, *_) in zip(rows, data["jobs"], strict=True):
        steps = data["steps"][shape]
        if not steps:
            continue  # it has an error
        total: dict[str, Quantity] = {}
        for _, count, _, requests, *_ in steps:
            for resource, number in requests:
                total[resource] = total.get(resource, ZERO) + parse(number) * count
        found[env, namespace, name] = sum(step[1] for step in steps), {key: str(each) for key, each in total.items()}
    return found


def agree(trainform, root):
    found = told(trainform, root)
    quantities = {
        command: {
            id: (pods, {name: parse(amount) for name, amount in asked.items()}) for id, (pods, asked) in jobs.items()
        }
        for command, jobs in found.items()
    }
    assert quantities["capacity"] == quantities["report"] == quantities["explain"]
    return found["capacity"]


@pytest.fixture
def folder(tmp_path):
    """Beside the one of the fixture `trainform`."""
    (tmp_path / "other").mkdir()
    return tmp_path / "other"


@pytest.fixture(params=["stable", "content-hash"])
def repository(request, folder):
    repository = Repository(folder)
    repository.write("trainform.yaml", "")
    repository.write("environments/prod/environment.yaml", environment(request.param))
    repository.write("runtimes/torch.yaml", with_requests("cpu: 4, nvidia.com/gpu: 8"))
    for name, nodes in (("llm", 2), ("sweep", 3)):
        repository.write(f"jobs/{name}.yaml", job(name, nodes))
    return repository


def with_requests(requests):
    """The runtime, whose last line is the image of its container."""
    text = runtime()
    indent = text[: text.rindex("image:")].rpartition("\n")[2]
    return f"{text}{indent}resources: {{requests: {{{requests}}}}}\n"


def test_before_and_after_a_job_is_rendered(trainform, repository):
    expected = {("prod", "ml", "llm"): (2, {"cpu": "8", "nvidia.com/gpu": "16"})}
    expected |= {("prod", "ml", "sweep"): (3, {"cpu": "12", "nvidia.com/gpu": "24"})}
    assert agree(trainform, repository.root) == expected
    assert trainform("render", "--root", str(repository.root)).code == 0
    assert agree(trainform, repository.root) == expected


def test_a_frozen_job_is_told_as_it_was_rendered(trainform, repository):
    trainform("render", "--root", str(repository.root))
    repository.write("runtimes/torch.yaml", with_requests("cpu: 5, nvidia.com/gpu: 1"))
    repository.write("jobs/sweep.yaml", job("sweep", 4))
    assert agree(trainform, repository.root) == {
        ("prod", "ml", "llm"): (2, {"cpu": "8", "nvidia.com/gpu": "16"}),
        ("prod", "ml", "sweep"): (4, {"cpu": "20", "nvidia.com/gpu": "4"}),
    }
    whole = trainform("explain", "llm", "--root", str(repository.root)).out
    assert whole.startswith(
        "ml/llm in environment prod asks for 2 pods, nvidia.com/gpu 16, cpu 8; "
        "as it was rendered, because it is behind: runtime torch changed\n"
    )
    assert 'now  "8"' in trainform("explain", "llm", "requests.nvidia.com/gpu", "--root", str(repository.root)).out


def test_facts_of_today_count_for_all(trainform, repository):
    trainform("render", "--root", str(repository.root))
    repository.write("environments/prod/limits.yaml", LIMITS)
    assert agree(trainform, repository.root)["prod", "ml", "llm"] == (
        2,
        {"cpu": "8", "memory": "6Gi", "nvidia.com/gpu": "16"},
    )


@pytest.mark.parametrize("arguments", [("llm",), ("llm", "parallelism"), ("jobs/llm.yaml", "parallelism")])
def test_a_hashed_name_never_stands_alone(trainform, repository, arguments):
    first, *_ = trainform("explain", *arguments, "--root", str(repository.root)).out.splitlines()
    assert first.startswith(("ml/llm in environment prod", "JobSet/llm "))


@pytest.mark.parametrize("release", sorted(path.name for path in (ROOT / "tests" / "recorded").glob("0*")))
def test_what_earlier_versions_rendered(trainform, folder, release):
    shutil.copytree(ROOT / "tests" / "recorded" / "repository", folder, dirs_exist_ok=True)
    shutil.copytree(ROOT / "tests" / "recorded" / release, folder, dirs_exist_ok=True)
    assert agree(trainform, folder)


@pytest.mark.parametrize("naming", ["stable", "content-hash"])
def test_the_repositorys_own_jobs(trainform, folder, naming):
    for part in ("jobs", "runtimes", "environments"):
        shutil.copytree(ROOT / part, folder / part)
    (folder / "trainform.yaml").write_text("")
    for file in folder.glob("environments/*/environment.yaml"):
        text = file.read_text()
        given = "  gitops:\n" if "  gitops:\n" in text else ""
        file.write_text(
            text.replace(given, "") + f"  gitops:\n    naming: {naming}\n"
            if not given
            else text.replace(given, f"{given}    naming: {naming}\n")
        )
    before = agree(trainform, folder)
    assert len(before) > 5
    assert trainform("render", "--root", str(folder)).code == 0
    assert agree(trainform, folder) == before


@pytest.mark.parametrize(
    "case", sorted(path.parts[-3] for path in (ROOT / "golden" / "environments").glob("[!e]*/input/environment"))
)
def test_the_golden_environments(trainform, folder, case):
    given = ROOT / "golden" / "environments" / case / "input"
    for part in given.iterdir():
        if part.is_dir() and part.name != "environment":
            shutil.copytree(part, folder / part.name)
    tree = yaml.safe_load((given / "environment" / "environment.yaml").read_text())
    tree["spec"].pop("jobs", None)  # each job is meant for it, whatever its file
    name = tree["metadata"]["name"]
    shutil.copytree(given / "environment", folder / "environments" / name)
    (folder / "environments" / name / "environment.yaml").write_text(yaml.safe_dump(tree))
    (folder / "trainform.yaml").write_text("")
    assert agree(trainform, folder)
