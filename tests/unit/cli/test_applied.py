"""What an engine applies is judged, not only what today's inputs would give."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.repositories import environment, job, runtime

ENVIRONMENT, RUNTIME = "environments/prod/environment.yaml", "runtimes/torch.yaml"
JOBSET = "rendered/prod/ml/llm/jobset-llm.yaml"
TTL = "      ttlSecondsAfterFinished: 60\n"
ALLOWED = environment(engine="argocd").replace("engine: argocd", "engine: argocd, allow: [ttl]")
RESTRICTED = (
    "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: ml\n"
    "  labels: {pod-security.kubernetes.io/enforce: restricted}\n"
)
SAFE = (
    "securityContext: {allowPrivilegeEscalation: false, runAsNonRoot: true, "
    "capabilities: {drop: [ALL]}, seccompProfile: {type: RuntimeDefault}}\n"
)


def with_ttl() -> str:
    return runtime().replace("      replicatedJobs:\n", f"{TTL}      replicatedJobs:\n")


def write(root: Path, file: str, text: str) -> None:
    path = root / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture
def frozen(root: Path, trainform) -> Path:
    """A job that was rendered with a TTL while no engine applied it; since then the runtime lost the TTL."""
    write(root, "jobs/llm.yaml", job("llm"))
    write(root, RUNTIME, with_ttl())
    write(root, ENVIRONMENT, environment())
    assert trainform("render").code == 0
    write(root, RUNTIME, runtime())
    return root


@pytest.mark.parametrize("command", [["validate"], ["check"], ["check", "--no-cache"]])
@pytest.mark.parametrize("engine", ["argocd", "flux"])
def test_a_frozen_job_that_deletes_itself_is_an_error_once_an_engine_applies_it(frozen, trainform, command, engine):
    assert trainform(*command).code == 0
    write(frozen, ENVIRONMENT, environment(engine=engine))
    line = (frozen / JOBSET).read_text().splitlines().index("  ttlSecondsAfterFinished: 60") + 1
    ran = trainform(*command)
    assert ran.code == 2
    assert f"{JOBSET}:{line}:" in ran.out + ran.err
    assert "error TF620 spec.ttlSecondsAfterFinished: the job deletes itself" in ran.out + ran.err
    way_out = "help: the job is frozen: run `trainform upgrade ml/llm` to render it from today's inputs, or change it\n"
    assert way_out in ran.out + ran.err


@pytest.mark.parametrize("way_out", ["upgrade", "change", "allow"])
def test_the_way_out_leads_out(frozen, trainform, way_out):
    write(frozen, ENVIRONMENT, environment(engine="argocd"))
    if way_out == "upgrade":
        assert trainform("upgrade", "ml/llm").code == 0
    elif way_out == "change":
        write(frozen, "jobs/llm.yaml", job("llm", nodes=3))
        assert trainform("render").code == 0
    else:
        write(frozen, ENVIRONMENT, ALLOWED)
    assert trainform("validate").code == 0
    assert trainform("check").code == 0


def test_what_the_inputs_have_too_is_told_there_and_once(frozen, trainform):
    write(frozen, RUNTIME, with_ttl())
    write(frozen, ENVIRONMENT, environment(engine="argocd"))
    ran = trainform("validate")
    assert ran.out.count("TF620") == 1
    assert RUNTIME in ran.out
    assert JOBSET not in ran.out


def test_admission_is_judged_by_the_facts_of_today(frozen, trainform):
    """Pods of the runtime as it is now would be admitted; those that are applied are not."""
    write(frozen, RUNTIME, runtime() + " " * 18 + SAFE)
    write(frozen, "environments/prod/namespace.yaml", RESTRICTED)
    ran = trainform("check")
    assert ran.code == 2
    assert JOBSET in ran.err
    assert "TF56" in ran.err


OBJECTS = "  cluster: {objects: [{kind: Secret, namespace: ml, names: [registry]}]}\n"


@pytest.mark.parametrize("command", [["validate"], ["check"], ["check", "--no-cache"]])
@pytest.mark.parametrize(("name", "is_there"), [("registry", True), ("old-registry", False)])
def test_a_reference_of_a_frozen_job_to_an_object_that_is_no_longer_there(frozen, trainform, command, name, is_there):
    write(frozen, RUNTIME, runtime() + f"                imagePullSecrets: [{{name: {name}}}]\n")
    assert trainform("upgrade", "--all").code == 0
    write(frozen, RUNTIME, runtime())
    write(frozen, ENVIRONMENT, environment() + OBJECTS)
    ran = trainform(*command)
    if is_there:
        assert ran.code == 0
        return
    assert ran.code == 2
    lines = (frozen / JOBSET).read_text().splitlines()
    line = next(number for number, text in enumerate(lines, 1) if text.endswith(f"name: {name}"))
    assert f"{JOBSET}:{line}:" in ran.out + ran.err
    assert "error TF568" in ran.out + ran.err
    assert "run `trainform upgrade ml/llm`" in ran.out + ran.err


@pytest.mark.parametrize("naming", ["stable", "content-hash"])
def test_what_a_frozen_job_brings_or_trainform_provides_is_there(root, trainform, naming):
    """Keys of an MPI job, its hostfile, and claims that JobSet makes."""
    write(root, "jobs/llm.yaml", job("llm").replace("name: torch", "name: deepspeed-distributed"))
    write(root, ENVIRONMENT, environment(naming=naming))
    assert trainform("render").code == 0
    kinds = ("Secret", "ConfigMap", "PersistentVolumeClaim")
    listed = ", ".join(f"{{kind: {kind}, namespace: ml, names: []}}" for kind in kinds)
    write(root, ENVIRONMENT, environment(naming=naming) + f"  cluster: {{objects: [{listed}]}}\n")
    ran = trainform("check")
    assert "TF568" not in ran.err
    assert ran.code == 0


def test_other_shards_and_jobs_that_are_current_are_left_alone(frozen, trainform):
    write(frozen, "jobs/bert.yaml", job("bert"))
    write(frozen, ENVIRONMENT, environment(engine="argocd"))
    assert trainform("render").code == 0
    ran = trainform("validate")
    assert ran.code == 2
    assert "rendered/prod/ml/bert" not in ran.out


@pytest.mark.parametrize("command", ["validate", "check"])
def test_a_private_key_in_a_frozen_manifest_is_an_error(frozen, trainform, monkeypatch, command):
    """An earlier version rendered it."""
    key = "AGE-SECRET-KEY-1" + "Q" * 58
    write(frozen, RUNTIME, runtime(image=f"example/train:1\n                  env: [{{name: KEY, value: {key}}}]"))
    with monkeypatch.context() as earlier:
        earlier.setattr("trainform.core.secrets.find_private_key", lambda text: None)
        assert trainform("upgrade", "--all").code == 0
    write(frozen, RUNTIME, runtime())
    ran = trainform(command)
    assert ran.code == 2
    assert f"{JOBSET}:" in ran.out + ran.err
    assert "error TF156" in ran.out + ran.err
    assert "run `trainform upgrade ml/llm`" in ran.out + ran.err
    assert "QQQQ" not in ran.out + ran.err
