"""`trainform init`."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from support.ci import git
from support.kustomize import build, needs_kubectl
from trainform.api import read
from trainform.api.environment import Environment
from trainform.cli.commands.init import init
from trainform.output import argocd
from trainform.source import load

ALWAYS = {
    ".gitattributes",
    ".pre-commit-config.yaml",
    ".github/workflows/trainform.yaml",
    "environments/prod/environment.yaml",
    "jobs/hello.yaml",
    "runtimes/README.md",
    "trainform.yaml",
    ".trainform/schemas/any.json",
    ".trainform/schemas/trainform.json",
    ".vscode/extensions.json",
    ".vscode/settings.json",
}
BOOTSTRAP = {
    "none": set(),
    "argocd": {"kustomization.yaml", "project.yaml", "trainform-prod.yaml", "argocd-cm.yaml"},
    "flux": {"kustomization.yaml", "trainform-prod.yaml"},
}


def present(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.fixture
def new(root: Path) -> Path:
    return root / "new"


@pytest.mark.parametrize("engine", BOOTSTRAP)
def test_what_is_written(new, trainform, engine):
    ran = trainform("init", "new", "--engine", engine)
    expected = ALWAYS | {f"gitops/{engine}/{name}" for name in BOOTSTRAP[engine]}
    assert (ran.code, ran.err) == (0, "")
    assert set(present(new)) == expected
    assert {line.removeprefix("wrote ") for line in ran.out.split("\n\n")[0].splitlines()} == expected


@pytest.mark.parametrize("engine", BOOTSTRAP)
def test_the_next_commands_are_told(trainform, engine):
    following = trainform("init", "new", "--engine", engine).out.split("next:\n")[1].splitlines()
    commands = [line.strip() for line in following if not line.strip().startswith("#")]
    assert len(commands) == 3
    assert commands[0] == "trainform render"


@pytest.mark.parametrize("engine", BOOTSTRAP)
def test_the_new_repository_has_no_problems(new, trainform, engine):
    trainform("init", "new", "--engine", engine)
    assert trainform("validate", "--root", "new").out.startswith("no problems in ")
    assert trainform("render", "--root", "new").code == 0


@pytest.mark.parametrize(
    ("engine", "naming"), [("none", "stable"), ("argocd", "content-hash"), ("flux", "content-hash")]
)
def test_the_environment(new, trainform, engine, naming):
    trainform("init", "new", "--engine", engine, "--env", "eu")
    file = new / "environments" / "eu" / "environment.yaml"
    (document,) = load(file.read_bytes(), "environment.yaml").documents
    found = read(document)
    assert found.diagnostics == []
    assert isinstance(found.model, Environment)
    assert (found.model.name, found.model.spec.namespace) == ("eu", "ml")
    assert (found.model.spec.gitops.engine, found.model.spec.gitops.naming) == (engine, naming)


@pytest.mark.parametrize("engine", BOOTSTRAP)
def test_every_yaml_file_reads(new, trainform, engine):
    trainform("init", "new", "--engine", engine)
    for path, data in present(new).items():
        if path.endswith(".yaml"):
            assert yaml.safe_load(data), path


def test_the_workflow_checks_what_is_committed(new, trainform):
    trainform("init", "new")
    workflow = (new / ".github" / "workflows" / "trainform.yaml").read_text()
    steps = yaml.safe_load(workflow)["jobs"]["render"]["steps"]
    commands = [step["run"] for step in steps if "run" in step]
    assert commands[0].startswith('pip install "trainform==')
    merged, change = commands[1:]
    assert merged.split("\n") == ["trainform validate", "trainform check", ""]
    assert 'trainform ci --base "origin/$GITHUB_BASE_REF" --changes-pass' in change
    assert steps[0]["with"] == {"fetch-depth": 0}  # for the branch that a pull request is for


def test_a_second_time_nothing_changes(new, trainform):
    trainform("init", "new")
    before = present(new)
    ran = trainform("init", "new")
    assert (ran.code, present(new)) == (0, before)
    assert "11 files unchanged" in ran.out
    assert "wrote" not in ran.out


def test_a_missing_file_is_added_beside_identical_ones(new, trainform):
    trainform("init", "new")
    (new / "jobs" / "hello.yaml").unlink()
    assert trainform("init", "new").out.startswith("wrote jobs/hello.yaml\n10 files unchanged\n")


def test_another_file_in_the_way_is_told_and_nothing_is_written(new, trainform):
    (new / "jobs").mkdir(parents=True)
    (new / "jobs" / "hello.yaml").write_text("mine\n")
    (new / "trainform.yaml").write_text("mine\n")
    (new / ".gitattributes").write_text("*.bin filter=lfs\n")
    before = present(new)
    ran = trainform("init", "new")
    assert (ran.code, ran.out) == (2, "")
    assert "jobs/hello.yaml: error TF706" in ran.err
    assert "trainform.yaml: error TF706" in ran.err
    assert present(new) == before


@pytest.mark.parametrize("before", ["*.bin filter=lfs -text\n", "*.bin filter=lfs -text", ""])
def test_attributes_of_others_are_kept(new, trainform, before):
    new.mkdir()
    (new / ".gitattributes").write_text(before)
    assert trainform("init", "new").code == 0
    kept, added = (new / ".gitattributes").read_text().split("# Written by trainform", 1)
    assert kept == (before if before.endswith("\n") or not before else before + "\n")
    assert "rendered/** -text -merge" in added
    after = present(new)
    assert "11 files unchanged" in trainform("init", "new").out
    assert present(new) == after


@pytest.mark.parametrize(
    ("path", "option", "line"),
    [
        (".vscode/settings.json", "github", '    "./.trainform/schemas/any.json": ['),
        (".pre-commit-config.yaml", "github", "      - id: trainform-render"),
        (".gitlab-ci.yml", "gitlab", "    - trainform check"),
    ],
)
def test_what_to_add_to_a_file_of_many_tools_is_printed(new, trainform, path, option, line):
    (new / path).parent.mkdir(parents=True)
    (new / path).write_text("mine\n")
    ran = trainform("init", "new", "--ci", option)
    assert ran.code == 0
    assert f"{path} exists; add to it what applies:\n" in ran.out
    assert f"  {line}\n" in ran.out
    assert (new / path).read_text() == "mine\n"


def test_the_first_line_of_each_file_of_ours_tells_editors_its_schema(new, trainform):
    trainform("init", "new", "--sample", "jax")
    for path in ("trainform.yaml", "environments/prod/environment.yaml", "jobs/hello-jax.yaml"):
        first = (new / path).read_text().splitlines()[0]
        schema = first.removeprefix("# yaml-language-server: $schema=")
        assert (new / path).parent.joinpath(schema).is_file(), first


def test_schemas_of_an_earlier_version_are_replaced(new, trainform):
    trainform("init", "new")
    written = present(new)
    (new / ".trainform/schemas/any.json").write_text("{}")
    assert trainform("init", "new").out.startswith("wrote .trainform/schemas/any.json\n")
    assert present(new) == written


def test_a_folder_in_the_way(new, trainform):
    (new / "trainform.yaml").mkdir(parents=True)
    ran = trainform("init", "new")
    assert ran.code == 2
    assert "trainform.yaml: error TF707" in ran.err
    assert present(new) == {}


def test_a_file_in_the_way_of_a_folder(new, trainform):
    new.mkdir()
    (new / "jobs").write_text("mine\n")
    ran = trainform("init", "new")
    assert ran.code == 2
    assert "jobs/hello.yaml: error TF707" in ran.err
    assert set(present(new)) == {"jobs"}


def test_a_link_that_leads_out(new, root, trainform):
    new.mkdir()
    os.symlink(root / "jobs", new / "jobs")
    ran = trainform("init", "new")
    assert ran.code == 2
    assert "jobs/hello.yaml: error TF702" in ran.err
    assert not (root / "jobs" / "hello.yaml").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--env", "Prod EU"], "lowercase letters"),
        (["--env", "../up"], "lowercase letters"),
        (["--engine", "helm"], "'helm' is not one of"),
        (["--scheduler", "kueue"], "kueue needs the LocalQueue of the jobs"),
        (["--scheduler", "kueue", "--queue", "Team A"], "lowercase letters"),
        (["--scheduler", "coscheduling", "--queue", "a"], "scheduler coscheduling has no queues"),
        (["--secrets", "sops"], "belong together"),
        (["--recipient", "age1x"], "belong together"),
        (["--secrets", "sops", "--recipient", "age1x", "--engine", "argocd"], "Argo CD cannot decrypt SOPS files"),
        (["--install", 'x" && curl evil'], "has quotes"),
        (["--repository", "https://git.example.com/a\nb"], "control characters"),
    ],
)
def test_a_wrong_command_line(new, trainform, arguments, told):
    ran = trainform("init", "new", *arguments)
    assert ran.code == 2
    assert told in ran.err
    assert not new.exists()


@needs_kubectl
@pytest.mark.parametrize("engine", ["argocd", "flux"])
def test_kustomize_builds_the_bootstrap(new, trainform, engine):
    trainform("init", "new", "--engine", engine)
    assert build(new / "gitops" / engine)


@pytest.fixture
def monorepo(root: Path) -> Path:
    folder = root / "mono"
    folder.mkdir()
    git(folder, "init", "--quiet")
    return folder


def test_in_a_folder_of_a_larger_repository_paths_begin_at_its_top(monorepo, trainform):
    assert trainform("init", "mono/ml/training", "--engine", "argocd").code == 0
    files = {path for path in present(monorepo) if not path.startswith(".git/")}
    outside = {path for path in files if not path.startswith("ml/training/")}
    assert outside == {
        ".pre-commit-config.yaml",
        ".github/workflows/trainform-ml-training.yaml",
        ".vscode/extensions.json",
        ".vscode/settings.json",
    }
    workflow = yaml.safe_load((monorepo / ".github/workflows/trainform-ml-training.yaml").read_text())
    assert workflow["jobs"]["render"]["defaults"]["run"]["working-directory"] == "ml/training"
    (application_set,) = yaml.safe_load_all((monorepo / "ml/training/gitops/argocd/trainform-prod.yaml").read_text())
    (generator,) = application_set["spec"]["generators"]
    assert generator["git"]["directories"] == [{"path": "ml/training/rendered/prod/*"}]


def test_flux_finds_what_is_rendered_in_a_folder_of_a_larger_repository(monorepo, trainform):
    trainform("init", "mono/ml/training", "--engine", "flux")
    assert trainform("render", "--root", "mono/ml/training").code == 0
    root = yaml.safe_load((monorepo / "ml/training/gitops/flux/trainform-prod.yaml").read_text())
    namespaces = [yaml.safe_load(file.read_text()) for file in (monorepo / root["spec"]["path"]).iterdir()]
    assert [(monorepo / each["spec"]["path"]).is_dir() for each in namespaces] == [True]


def test_a_folder_that_moved_in_its_repository_is_told(monorepo, trainform):
    trainform("init", "mono/ml/training", "--engine", "flux")
    (monorepo / "ml/training").rename(monorepo / "training")
    ran = trainform("validate", "--root", "mono/training")
    assert "warning TF750 spec.gitops.engine" in ran.out
    assert 'write "repositoryPath: training" in trainform.yaml' in ran.out
    settings = monorepo / "training/trainform.yaml"
    settings.write_text(settings.read_text().replace("repositoryPath: ml/training", "repositoryPath: training"))
    assert "TF750" not in trainform("validate", "--root", "mono/training").out


@pytest.mark.parametrize("path", ["..", "/ml", "a/../b", ".git", "[a]"])
def test_a_place_in_the_repository_is_a_folder_of_it(root, trainform, path):
    (root / "trainform.yaml").write_text(f"repositoryPath: {path}\n")
    ran = trainform("validate")
    assert ran.code == 2
    assert 'write "repositoryPath: ml/training"' in ran.out


@pytest.mark.parametrize(
    ("remote", "written"),
    [
        ("https://git.example.com/ml/jobs.git", "https://git.example.com/ml/jobs.git"),
        ("https://user:hunter2@git.example.com:8443/ml/jobs", "https://git.example.com:8443/ml/jobs"),
        ("git@git.example.com:ml/jobs.git", "git@git.example.com:ml/jobs.git"),
        ("ssh://git@git.example.com/ml/jobs.git", "ssh://git@git.example.com/ml/jobs.git"),
        ("ssh://git:hunter2@git.example.com/ml/jobs.git", argocd.REPOSITORY),
        ("/srv/git/jobs.git", argocd.REPOSITORY),
        ("ext::sh -c evil", argocd.REPOSITORY),
        (None, argocd.REPOSITORY),
    ],
)
def test_argo_cd_reads_from_the_remote(monorepo, trainform, remote, written):
    if remote:
        git(monorepo, "remote", "add", "origin", remote)
    ran = trainform("init", "mono", "--engine", "argocd")
    project = yaml.safe_load((monorepo / "gitops/argocd/project.yaml").read_text())
    assert project["spec"]["sourceRepos"] == [written]
    assert ("write your repository's address" in ran.out) == (written == argocd.REPOSITORY)
    assert b"hunter2" not in b"".join(data for path, data in present(monorepo).items() if not path.startswith(".git/"))


@pytest.mark.parametrize(
    ("remote", "file"),
    [
        ("https://gitlab.example.com/ml/jobs.git", ".gitlab-ci.yml"),
        ("https://git.example.com/gitlab/jobs.git", ".github/workflows/trainform.yaml"),
        ("git@gitlab.example.com:ml/jobs.git", ".gitlab-ci.yml"),
    ],
)
def test_the_ci_system_is_the_one_of_the_remote(monorepo, trainform, remote, file):
    git(monorepo, "remote", "add", "origin", remote)
    trainform("init", "mono")
    assert (monorepo / file).is_file()


@pytest.mark.parametrize("ci", ["github", "gitlab"])
def test_ci_can_install_from_git(new, trainform, ci):
    wanted = "trainform @ git+https://git.example.com/platform/trainform@v0.1.0"
    trainform("init", "new", "--ci", ci, "--install", wanted)
    file = {"github": ".github/workflows/trainform.yaml", "gitlab": ".gitlab-ci.yml"}[ci]
    assert f'"{wanted}"' in (new / file).read_text()
    hooks = yaml.safe_load((new / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    assert [each["additional_dependencies"] for each in hooks] == [[wanted]] * 2


@pytest.mark.parametrize("folder", [".", "ml/training"])
def test_the_hooks_run_for_what_jobs_carry(tmp_path, trainform, folder):
    top = tmp_path / "top"
    subprocess.run(["git", "init", "--quiet", top], check=True)
    trainform("init", str(top / folder))
    hooks = yaml.safe_load((top / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    prefix = "" if folder == "." else f"{folder}/"
    for each in hooks:
        for file, runs in {"jobs/a/train.py": True, "environments/prod/k.yaml": True, "src/train.py": False}.items():
            assert bool(re.search(each["files"], prefix + file)) is runs


def test_quiet_prints_neither_what_was_written_nor_what_is_next(new, trainform):
    assert trainform("init", "new", "--quiet") == (0, "", "")
    what = ("--gpus", "1", "--command", "torchrun a.py", "--image", f"a@sha256:{'0' * 64}")
    ran = trainform("job", "new", "llm", "--root", "new", "--quiet", *what)
    assert (ran.code, ran.out) == (0, ""), ran.err
    assert (new / "jobs/llm.yaml").is_file()


SAMPLES = next(option for option in init.params if option.name == "samples").type.choices


@pytest.mark.parametrize("engine", BOOTSTRAP)
@pytest.mark.parametrize("scheduler", ["none", "kueue", "coscheduling", "volcano", "kai", "yunikorn"])
def test_every_sample_renders_with_every_engine_and_scheduler(new, trainform, engine, scheduler):
    queue = ["--queue", "a"] if scheduler == "kueue" else []
    samples = [word for sample in SAMPLES for word in ("--sample", sample)]
    assert trainform("init", "new", "--engine", engine, "--scheduler", scheduler, *queue, *samples).code == 0
    ran = trainform("render", "--root", "new")
    assert ran.code == 0, ran.err
    assert len(list((new / "rendered/prod/ml").glob("*/jobset-*.yaml"))) == len(SAMPLES)
    assert trainform("check", "--root", "new").code == 0


@pytest.mark.parametrize(
    ("options", "secrets"),
    [
        ([], None),
        (["--secrets", "external-secret"], {"mode": "external-secret"}),
        (["--secrets", "sealed-secret"], {"mode": "sealed-secret", "certificate": "keys/cert.pem"}),
        (["--secrets", "sops", "--recipient", "age1x", "--recipient", "age1y"],
         {"mode": "sops", "recipients": ["age1x", "age1y"]}),
    ],
)  # fmt: skip
def test_where_keys_come_from(new, trainform, options, secrets):
    ran = trainform("init", "new", *options)
    assert yaml.safe_load((new / "environments/prod/environment.yaml").read_text())["spec"].get("secrets") == secrets
    assert ("trainform keys" in ran.out) == (secrets is not None and secrets["mode"] != "external-secret")


def test_questions_are_asked_on_a_terminal(new, trainform, monkeypatch):
    monkeypatch.setattr("trainform.cli.commands.init._asks", lambda: True)
    answers = ["eu", "argocd", "kueue", "jax", "", "team-a", "https://git.example.com/ml/jobs.git"]
    ran = trainform("init", "new", stdin="\n".join(answers) + "\n")
    assert ran.code == 0, ran.err
    spec = yaml.safe_load((new / "environments/eu/environment.yaml").read_text())["spec"]
    assert spec["scheduling"] == {"kueue": {"localQueue": "team-a"}}
    assert spec["gitops"]["engine"] == "argocd"
    assert {path.name for path in (new / "jobs").iterdir()} == {"hello-jax.yaml"}
    assert "sourceRepos:\n  - https://git.example.com/ml/jobs.git" in (new / "gitops/argocd/project.yaml").read_text()


def test_nothing_is_asked_without_a_terminal(new, trainform):
    assert trainform("init", "new", stdin="").code == 0
