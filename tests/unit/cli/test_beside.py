"""Files and objects beside a TrainJob, in a repository: rendered with the job, part of what it is, and watched."""

from __future__ import annotations

import json
import subprocess

import pytest

from unit.cli.conftest import job

MOUNT = """\
  runtimePatches:
  - manager: example.com/tests
    trainingRuntimeSpec:
      template:
        spec:
          replicatedJobs:
          - name: node
            template:
              spec:
                template:
                  spec:
                    volumes: [{name: files, configMap: {name: files}}]
                    containers: [{name: node, volumeMounts: [{name: files, mountPath: /job}]}]
"""
GENERATOR = """\
---
apiVersion: trainform.dev/v1alpha1
kind: ConfigMapGenerator
metadata: {name: files}
files: [train.py, ds.json=config/zero3.json]
"""
CONFIG = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: files}
data: {train.py: "1"}
"""
FOLDER = "rendered/default/ml/llm"


@pytest.fixture
def script(root):
    """A job with a script and a configuration that it carries; the latter lies where job files do."""
    (root / "jobs" / "config").mkdir()
    (root / "jobs" / "llm.yaml").write_text(job() + MOUNT + GENERATOR)
    (root / "jobs" / "train.py").write_text("print(1)\n")
    (root / "jobs" / "config" / "zero3.json").write_text('{"zero_optimization": {"stage": 3}}\n')
    return root / "jobs" / "train.py"


def rendered(root) -> list[str]:
    return sorted(path.name for path in (root / FOLDER).iterdir())


def test_a_script_is_carried_under_a_name_with_its_hash(trainform, root, script):
    assert trainform("validate", "--fail-on", "warning").code == 0
    assert trainform("render").code == 0
    config, jobset = rendered(root)
    name = config.removeprefix("configmap-").removesuffix(".yaml")
    assert name.startswith("llm-files-")
    assert f"name: {name}\n" in (root / FOLDER / jobset).read_text()
    assert (
        'ds.json: |\n    {"zero_optimization": {"stage": 3}}\n  train.py: |\n    print(1)\n'
        in (root / FOLDER / config).read_text()
    )


def test_an_edit_of_the_script_is_a_change_of_exactly_that_job(trainform, root, script):
    (root / "jobs" / "other.yaml").write_text(job("other"))
    trainform("render")
    script.write_text("print(2)\n")
    checked = json.loads(trainform("check", "--format", "json").out)["jobs"]
    assert [(each["name"], each["state"]) for each in checked] == [("llm", "stale"), ("other", "current")]
    before = rendered(root)
    ran = trainform("render")
    assert "1 job unchanged" in ran.out
    assert rendered(root) != before
    assert trainform("check").code == 0


def test_a_job_with_a_script_is_frozen_like_any_other(trainform, root, script):
    trainform("render")
    files = {path: path.read_bytes() for path in (root / FOLDER).iterdir()}
    (root / "runtimes").mkdir()
    shown = trainform("runtimes", "show", "torch-distributed").out
    (root / "runtimes" / "torch.yaml").write_text(shown.replace("2.13.0", "2.14.0"))
    assert "behind" in trainform("render").out + trainform("render").err
    assert {path: path.read_bytes() for path in (root / FOLDER).iterdir()} == files
    assert trainform("check").code == 0
    next(iter(files)).unlink()
    trainform("render")
    assert {path: path.read_bytes() for path in (root / FOLDER).iterdir()} == files


@pytest.mark.parametrize("where", ["in the file of the job", "in a file of its folder"])
def test_an_edit_of_a_config_map_is_a_change_of_the_job(trainform, root, where):
    own = where == "in the file of the job"
    place = root / "jobs" / ("llm.yaml" if own else "files.yaml")
    (root / "jobs" / "llm.yaml").write_text(job() + MOUNT)
    place.write_text((job() + MOUNT + "---\n" if own else "") + CONFIG)
    trainform("render")
    assert [name.partition("-")[0] for name in rendered(root)] == ["configmap", "jobset"]
    assert trainform("check").code == 0
    told = json.loads(trainform("validate", "jobs/llm.yaml", "--format", "json").out)["diagnostics"]
    assert "TF650" not in [each["code"] for each in told]
    place.write_text(place.read_text().replace('"1"', '"2"'))
    assert "stale" in trainform("check").out
    trainform("render")
    assert trainform("check").code == 0


def test_a_config_map_that_is_gone_is_a_change_of_the_job(trainform, root):
    (root / "jobs" / "llm.yaml").write_text(job() + MOUNT)
    (root / "jobs" / "files.yaml").write_text(CONFIG)
    trainform("render")
    (root / "jobs" / "files.yaml").unlink()
    assert "stale" in trainform("check").out
    trainform("render")
    assert [name.partition("-")[0] for name in rendered(root)] == ["jobset"]


@pytest.mark.parametrize("changed", ["jobs/train.py", "jobs/config/zero3.json", "jobs/settings.yaml"])
def test_diff_shows_the_job_of_a_changed_file(trainform, root, script, changed):
    mounts = MOUNT.replace("volumes: [", "volumes: [{name: more, configMap: {name: settings}}, ")
    (root / "jobs" / "llm.yaml").write_text(job() + mounts + GENERATOR)
    (root / "jobs" / "settings.yaml").write_text(CONFIG.replace("name: files", "name: settings"))
    trainform("render")
    for words in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message", "start"]):
        subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.com", *words], cwd=root, check=True)
    assert trainform("diff").code == 0
    (root / changed).write_text((root / changed).read_text().replace("1", "5").replace("3", "2"))
    ran = trainform("diff", "--format", "json")
    assert [(each["name"], each["change"]) for each in json.loads(ran.out)["jobs"]] == [("llm", "restart")]


def test_explain_names_the_file_of_a_companion(trainform, root):
    (root / "jobs" / "llm.yaml").write_text(job() + MOUNT)
    (root / "jobs" / "files.yaml").write_text(CONFIG)
    (field,) = json.loads(trainform("explain", "llm", "data", "--format", "json").out)["fields"]
    assert field["owner"] == {"kind": "trainjob", "name": "llm", "stage": None, "file": "jobs/files.yaml", "line": 4}


def test_explain_says_why_a_reference_has_another_name(trainform, root, script):
    (field,) = json.loads(trainform("explain", "llm", "configMap.name", "--format", "json").out)["fields"]
    assert (field["owner"]["kind"], field["owner"]["name"]) == ("default", "name of a companion")


def test_a_file_that_is_no_text_is_carried_as_binary_data(trainform, root, script):
    script.write_bytes(b"\xff\x00")
    trainform("render")
    assert "binaryData:\n  train.py: /wA=\n" in (root / FOLDER / rendered(root)[0]).read_text()


@pytest.mark.parametrize("text", ["a\r\nb\r\n", "\x00", "\x1b[31m", "", "\ufeffx", "a: b # c\n\n\n", "\u2028", "'\"\\"])
def test_every_text_arrives_as_it_is(trainform, root, script, text):
    import base64

    import yaml

    script.write_bytes(text.encode())
    trainform("render")
    config = yaml.safe_load((root / FOLDER / rendered(root)[0]).read_bytes())
    carried = config.get("data", {}).get("train.py")
    found = base64.b64decode(config["binaryData"]["train.py"]) if carried is None else carried.encode()
    assert found == text.encode()
    assert trainform("check").code == 0


@pytest.mark.parametrize(
    ("entry", "code", "told"),
    [
        ("missing.py", "TF649", "jobs/missing.py cannot be read"),
        ("config", "TF649", "jobs/config cannot be read"),
        ("../trainform.yaml", "TF151", "must not lead out of its folder"),
        ("/etc/passwd", "TF151", "must be relative"),
        ("a b.py", "TF104", "must consist of letters"),
        ("x=train.py, x=train.py", "TF105", "has the same key x"),
        ("large.bin", "TF647", "1 MiB"),
        ("key.pem", "TF156", "unencrypted private key"),
    ],
)
def test_what_cannot_be_carried_is_an_error_at_its_entry(trainform, root, script, entry, code, told):
    (root / "jobs" / "a b.py").write_text("")
    (root / "jobs" / "large.bin").write_bytes(b"x" * (2**20 + 1))
    (root / "jobs" / "key.pem").write_text(f"-----BEGIN PRIVATE KEY-----\n{'A' * 64}\n-----END PRIVATE KEY-----\n")
    (root / "jobs" / "llm.yaml").write_text(job() + MOUNT + GENERATOR.replace("[train.py,", f"[{entry},"))
    ran = trainform("validate", "--format", "json")
    errors = [each for each in json.loads(ran.out)["diagnostics"] if each["severity"] == "error"]
    assert {(each["code"], each["file"], each["line"]) for each in errors} == {(code, "jobs/llm.yaml", 29)}
    assert told in errors[0]["message"]
    assert trainform("render").code == 2
    assert not (root / "rendered").exists()


@pytest.mark.parametrize(
    ("fields", "code", "told"),
    [
        ("files: train.py", "TF102", "must be a list"),
        ("files: {train.py: x}", "TF102", "must be a list"),
        ("files: [train.py]\nimmutable: true", "TF101", "unknown field"),
        ("files: [train.py]\nliterals: [a=b]", "TF106", "unknown field"),
        ("files: [train.py]\noptions: {disableNameSuffixHash: true}", "TF106", "unknown field"),
    ],
)
@pytest.mark.parametrize("file", ["llm.yaml", "files.yaml"])
def test_a_mistake_in_a_generator_is_told_where_it_is(trainform, root, script, file, fields, code, told):
    generator = f"apiVersion: trainform.dev/v1alpha1\nkind: ConfigMapGenerator\nmetadata: {{name: files}}\n{fields}\n"
    (root / "jobs" / "config" / "zero3.json").unlink()
    (root / "jobs" / "llm.yaml").write_text(job() + MOUNT)
    with (root / "jobs" / file).open("a") as output:
        output.write(f"---\n{generator}")
    ran = trainform("validate", "--format", "json")
    errors = [each for each in json.loads(ran.out)["diagnostics"] if each["severity"] == "error"]
    assert (errors[0]["code"], errors[0]["file"], ran.code) == (code, f"jobs/{file}", 2)
    assert errors[0]["message"].startswith(told)
    assert not any("stream" in each["message"] for each in errors)


@pytest.mark.parametrize(
    ("kind", "rest", "shown"),
    [
        ("v1/ConfigMap", "data: {a: b}", "ConfigMap files is ignored: no TrainJob in its file or folder names files"),
        (
            "trainform.dev/v1alpha1/ConfigMapGenerator",
            "files: [train.py]",
            "ConfigMap files is ignored: no TrainJob in its file or folder names files",
        ),
        (
            "external-secrets.io/v1/ExternalSecret",
            "spec: {secretStoreRef: {name: s}, target: {name: token}}",
            "ExternalSecret files is ignored: no TrainJob in its file or folder names token",
        ),
        ("v1/PersistentVolumeClaim", "spec: {}", "PersistentVolumeClaim files is ignored: no TrainJob"),
        ("v1/Secret", "stringData: {a: b}", "Secret files is ignored: no TrainJob"),
        ("v1/Service", "spec: {}", "Service (v1) is ignored: it is not a job"),
    ],
)
def test_an_object_that_no_job_of_its_folder_names_is_told_with_the_cure(trainform, root, kind, rest, shown):
    version, _, name = kind.rpartition("/")
    (root / "jobs" / "train.py").write_text("")
    (root / "jobs" / "llm.yaml").write_text(job())
    (root / "jobs" / "files.yaml").write_text(
        f"apiVersion: {version}\nkind: {name}\nmetadata: {{name: files}}\n{rest}\n"
    )
    told = json.loads(trainform("validate", "--format", "json").out)["diagnostics"]
    (ignored,) = [each for each in told if each["code"] == "TF204"]
    assert ignored["message"].startswith(shown)
    assert (ignored["severity"], ignored["file"], ignored["field"]) == ("info", "jobs/files.yaml", "kind")
    assert bool(ignored["hint"]) == (name != "Service")


@pytest.mark.parametrize(("files", "told"), [("[1]", ("TF102", "files[0]")), ("[]", ("TF104", "files"))])
def test_a_generator_with_a_wrong_entry_is_told_once(trainform, root, files, told):
    generator = GENERATOR.replace("[train.py, ds.json=config/zero3.json]", files)
    (root / "jobs" / "llm.yaml").write_text(job() + MOUNT + generator)
    found = json.loads(trainform("validate", "--format", "json").out)["diagnostics"]
    assert [(each["code"], each["field"]) for each in found if each["severity"] == "error"] == [told]
