"""`trainform job new`: a TrainJob that validates at once and says what each part does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from trainform.workspace.new_job.function import CannotCarry, script_of

SOURCE = '''\
import numpy as np


def train(steps=10):
    """Trains."""
    import os

    text = "$HOME `date` \\\\n"  # kept
    for _ in range(steps):
        print(text, os.environ.get("PET_NNODES"))


def outer():
    return np.zeros(3)


def needs(path, *, key):
    return path, key


@staticmethod
def decorated():
    pass


async def later():
    pass


class Thing:
    pass


def scaled(rate: float = RATE) -> torch.Tensor:
    pass
'''


def written(root: Path, name: str = "new") -> dict[str, Any]:
    tree: dict[str, Any]
    (tree, *_) = yaml.safe_load_all((root / f"jobs/{name}.yaml").read_text())
    return tree


def test_a_job_from_options(root, trainform):
    ran = trainform(
        "job", "new", "new", "--namespace", "ml", "--image", "registry.example.com/new:1", "--nodes", "4",
        "--gpus", "8",
        "--command", "torchrun train.py --name 'a b'", "--variable", "NCCL_DEBUG=INFO", "--variable", "EMPTY=",
    )  # fmt: skip
    assert (ran.code, ran.err.count("error")) == (0, 0), ran.err
    assert ran.out.startswith("wrote jobs/new.yaml\n\nnext:\n  trainform explain new\n")
    tree = written(root)
    assert tree["metadata"] == {"name": "new", "namespace": "ml"}
    assert tree["spec"]["runtimeRef"] == {"name": "torch-distributed"}
    assert tree["spec"]["trainer"] == {
        "image": "registry.example.com/new:1",
        "command": ["torchrun", "train.py", "--name", "a b"],
        "numNodes": 4,
        "resourcesPerNode": {
            "requests": {"cpu": 4, "memory": "16Gi"},
            "limits": {"memory": "16Gi", "nvidia.com/gpu": 8},
        },
        "env": [{"name": "NCCL_DEBUG", "value": "INFO"}, {"name": "EMPTY", "value": ""}],
    }


def test_a_job_in_a_queue_of_its_own(root, trainform):
    assert trainform("job", "new", "new", "--queue", "team.b", "--command", "torchrun train.py").code == 0
    assert written(root)["metadata"]["labels"] == {"kueue.x-k8s.io/queue-name": "team.b"}


@pytest.mark.parametrize(
    "runtime", ["torch-distributed", "deepspeed-distributed", "jax-distributed", "xgboost-distributed"]
)
def test_it_renders_with_each_runtime(root, trainform, runtime):
    assert trainform("job", "new", "new", "--runtime", runtime, "--command", "python train.py").code == 0
    assert trainform("render").code == 0
    assert (root / "rendered/default/default/new/jobset-new.yaml").is_file()


def test_a_runtime_of_a_namespace_is_named_with_its_kind(root, trainform):
    (root / "runtimes").mkdir()
    text = trainform("runtimes", "show", "torch-distributed").out
    text = text.replace("kind: ClusterTrainingRuntime", "kind: TrainingRuntime").replace(
        "name: torch-distributed", "name: own\n  namespace: ml"
    )
    (root / "runtimes/own.yaml").write_text(text)
    options = ("--runtime", "own", "--namespace", "ml", "--command", "torchrun train.py")
    assert trainform("job", "new", "new", *options).code == 0
    assert written(root)["spec"]["runtimeRef"] == {"name": "own", "kind": "TrainingRuntime"}


@pytest.mark.parametrize("word", ["yes", "8", "1e3", "a: b", "#", "- x", "ü", "", "$(date)", "null", "'"])
def test_words_of_the_command_stay_strings(root, trainform, word):
    quoted = "'" + word.replace("'", "'\"'\"'") + "'"
    assert trainform("job", "new", "new", "--command", f"python {quoted}").code in (0, 2)
    assert written(root)["spec"]["trainer"]["command"] == ["python", word]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["New", "--command", "x"], "lowercase letters"),
        (["new"], "say what runs"),
        (["new", "--command", "a 'b"], "No closing quotation"),
        (["new", "--command", "x", "--memory", "16GB"], "--memory"),
        (["new", "--command", "x", "--variable", "A"], "write NAME=VALUE"),
        (["new", "--command", "x", "--runtime", "torch-distribute"], 'did you mean "torch-distributed"'),
        (["new", "--command", "x", "--file", "../new.yaml"], "write a path such as jobs/new.yaml"),
        (["new", "--command", "x", "--file", "jobs/../../new.yaml"], "write a path such as jobs/new.yaml"),
        (["llm", "--namespace", "ml", "--command", "x"], "jobs/llm.yaml has a job ml/llm already"),
        ([], "name the job"),
        (["new", "--from-function", "train.py"], "write FILE:FUNCTION"),
        (["new", "--from-function", "none.py:train"], "none.py"),
        (["new", "--from-function", "train.py:nobody"], "train.py has no function nobody; it has train, outer"),
    ],
)
def test_what_cannot_be(root, trainform, arguments, told):
    (root / "train.py").write_text(SOURCE)
    before = sorted(root.rglob("*"))
    ran = trainform("job", "new", *arguments)
    assert ran.code == 2
    assert told in ran.err
    assert sorted(root.rglob("*")) == before


def test_a_file_in_the_way_stays(root, trainform):
    (root / "jobs/new.yaml").write_text("mine\n")
    ran = trainform("job", "new", "new", "--command", "x")
    assert ran.code == 2
    assert (root / "jobs/new.yaml").read_text() == "mine\n"


def test_questions_are_asked_on_a_terminal(root, trainform, monkeypatch):
    monkeypatch.setattr("trainform.cli.streams.is_terminal", lambda _stream: True)
    ran = trainform("job", "new", stdin="new\n\n\npython train.py\n2\n1\n")
    assert ran.code == 0, ran.err
    trainer = written(root)["spec"]["trainer"]
    assert (trainer["command"], trainer["numNodes"]) == (["python", "train.py"], 2)


def test_a_function_becomes_a_script_with_every_character():
    script = script_of(SOURCE, "train", "train.py")
    assert script == SOURCE[SOURCE.index("def train") : SOURCE.index("\n\ndef outer")] + (
        '\n\nif __name__ == "__main__":\n    train()\n'
    )


@pytest.mark.parametrize(
    ("runtime", "pods", "command"),
    [
        ("torch-distributed", 1, ["torchrun", "/opt/trainform/script.py"]),
        ("jax-distributed", 1, ["python", "/opt/trainform/script.py"]),
        ("deepspeed-distributed", 2, ["mpirun", "python", "/opt/trainform/script.py"]),
    ],
)
def test_the_script_is_where_the_command_expects_it(root, trainform, runtime, pods, command):
    (root / "train.py").write_text(SOURCE)
    ran = trainform("job", "new", "new-job", "--runtime", runtime, "--from-function", "train.py:train")
    assert ran.code == 0, ran.err
    assert trainform("render").code == 0
    folder = root / "rendered/default/default/new-job"
    (carried,) = (yaml.safe_load(file.read_text()) for file in folder.glob("configmap-new-job-script-*.yaml"))
    assert carried["data"] == {"script.py": (root / "jobs/new_job.py").read_text()}
    text = (folder / "jobset-new-job.yaml").read_text()
    assert text.count("mountPath: /opt/trainform") == pods
    assert text.count(f"name: {carried['metadata']['name']}") == pods
    assert written(root, "new-job")["spec"]["trainer"]["command"] == command


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("outer", "outer uses np from outside: import or define that inside of the function"),
        ("needs", "needs needs path, key: give every parameter a default"),
        ("decorated", "decorated has a decorator"),
        ("later", "later in train.py is no plain function"),
        ("Thing", "Thing in train.py is no plain function"),
        ("scaled", "scaled uses RATE, torch from outside"),
    ],
)
def test_a_function_that_needs_more_than_itself(name, told):
    with pytest.raises(CannotCarry, match=told):
        script_of(SOURCE, name, "train.py")


@pytest.mark.parametrize("before", ["\f\n", "x = '\u2028'\n", "# \x1c\n", "x = 1\r\n"])
def test_a_function_is_found_behind_what_only_other_readers_take_for_a_line_end(before):
    text = 'def train():\n    """Blanks stay:\n        \n    """'
    assert script_of(f"{before}{text}\n\n\ny = 2\n", "train", "train.py").startswith(f"{text}\n\n\nif __name__")


def test_a_file_that_is_not_python():
    with pytest.raises(CannotCarry, match="is not Python"):
        script_of("def (", "train", "train.py")


@pytest.mark.parametrize("as_written", [SOURCE.replace("\n", "\r\n"), f"\ufeff{SOURCE}"])
def test_a_source_of_another_system_becomes_the_same_script(root, trainform, as_written):
    (root / "train.py").write_bytes(as_written.encode())
    ran = trainform("job", "new", "new", "--from-function", "train.py:train", "--root", str(root))
    assert ran.code == 0, ran.err
    assert (root / "jobs/new.py").read_bytes().decode() == script_of(SOURCE, "train", "train.py")


def test_nothing_of_the_file_runs(root, trainform):
    (root / "train.py").write_text(f"open({str(root / 'ran')!r}, 'w')\n{SOURCE}")
    trainform("job", "new", "new", "--from-function", "train.py:train")
    assert not (root / "ran").exists()
