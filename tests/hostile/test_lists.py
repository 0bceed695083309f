"""What a commit may put into `rendered/` that an engine, or a build by hand, would take for instructions.

Engines read more than manifests: kustomizations under three names, charts, overrides of their own, lists of what to
ignore. Whatever trainform did not write there is told by `check`, which fails, and by `render`, which never deletes it.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from support.repositories import Repository, environment, job, runtime
from trainform.cli.main import run
from trainform.output.kustomization import earlier_list

ML = "rendered/prod/ml"
FILE = "kustomization.yaml"
EVIL = "patches: [{target: {kind: JobSet}, patch: '[]'}]\n"


class Place(Repository):
    """Two rendered jobs in a commit."""

    def __init__(self, root: Path, capture: pytest.CaptureFixture[str]) -> None:
        super().__init__(root)
        self.capture = capture
        self.start_git()
        self.write("environments/prod/environment.yaml", environment())
        self.write("runtimes/torch.yaml", runtime())
        for name in ("llm", "bert"):
            self.write(f"jobs/{name}.yaml", job(name))
        assert self.trainform("render")[0] == 0
        self.commit()

    def trainform(self, *arguments: str) -> tuple[int, str]:
        """Exit code, and everything that was printed."""
        self.capture.readouterr()
        code = run([*arguments, "--root", str(self.root)])
        return code, "".join(self.capture.readouterr())

    def check(self, *arguments: str) -> dict[str, str]:
        """The state of each file that is not as it should be."""
        printed = self.trainform("check", "--format", "json", *arguments)[1]
        bad = [each for each in json.loads(printed)["jobs"] if each["state"] != "current"]
        return {file: each["state"] for each in bad for file in each["files"]}


@pytest.fixture
def place(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Place:
    return Place(tmp_path / "repository", capfd)


@pytest.mark.parametrize(
    "file",
    [
        f"rendered/{FILE}",
        "rendered/README.md",
        "rendered/.sourceignore",
        "rendered/.hidden/jobset.yaml",
        "rendered/prod/kustomization.yml",
        "rendered/prod/.krmignore",
        "rendered/prod/Chart.yaml",
        "rendered/other/ml/llm/jobset-llm.yaml",
        "rendered/_flux/prod/ml.yaml",  # the engine is not Flux
        "rendered/_flux/ml.yaml",
        f"{ML}/{FILE}",
        f"{ML}/Kustomization",
        f"{ML}/.argocd-source.yaml",
        f"{ML}/.argocd-source-prod-ml.yaml",
        f"{ML}/jobset.json",
        f"{ML}/main.jsonnet",
        f"{ML}/new/jobset-new.yaml",
        f"{ML}/new/{FILE}",
    ],
)
def test_a_file_that_trainform_did_not_write(place, file):
    place.write(file, EVIL)
    assert place.check() == {file: "foreign"}
    assert place.trainform("check")[0] == 1
    code, printed = place.trainform("render")
    assert (code, f"{file}: warning TF731" in printed) == (0, True)
    assert (place.root / file).read_text() == EVIL


@pytest.mark.parametrize("name", ["Chart.yaml", ".argocd-source.yaml", FILE, "extra/jobset.yaml"])
def test_a_file_in_the_folder_of_a_job(place, name):
    place.write(f"{ML}/llm/{name}", EVIL)
    told = f"{ML}/llm/{name.partition('/')[0]}"
    assert place.check() == {told: "edited"}
    code, printed = place.trainform("render")
    assert (code, f"{told}: error TF706" in printed) == (2, True)


def link_to_a_copy(place: Place, path: str) -> None:
    """Moves something out of `rendered/`, and leaves a link: no byte differs for those who follow it."""
    there = place.root / "copies" / Path(path).name
    there.parent.mkdir(exist_ok=True)
    shutil.move(place.root / path, there)
    os.symlink(os.path.relpath(there, (place.root / path).parent), place.root / path)


@pytest.mark.parametrize("path", ["rendered", "rendered/prod", ML, f"{ML}/llm"])
def test_a_link_in_the_place_of_a_folder(place, path):
    """Argo CD does not follow it, and Flux drops it from what it downloads: the jobs would be pruned."""
    link_to_a_copy(place, path)
    assert place.check()[path] == "foreign"
    assert f"{path}: warning TF731" in place.trainform("render")[1]


def test_a_link_in_the_place_of_a_manifest(place):
    path = f"{ML}/llm/jobset-llm.yaml"
    link_to_a_copy(place, path)
    assert place.check() == {path: "edited"}
    assert place.trainform("render")[0] == 2


def test_a_link_beside_the_environments(place):
    os.symlink("../jobs", place.root / "rendered/more")
    assert place.check() == {"rendered/more": "foreign"}


@pytest.mark.parametrize("file", [f"{ML}/.gitkeep", ".trainform/locks/prod/ml/.gitkeep"])
@pytest.mark.parametrize("kind", ["text", "link", "folder"])
def test_the_file_of_a_namespace_is_nothing_else(place, file, kind):
    path = place.root / file
    path.unlink()
    if kind == "text":
        path.write_text(EVIL)
    elif kind == "link":
        os.symlink("/dev/null", path)
    else:
        path.mkdir()
    assert place.check()[file] == "edited"
    code, printed = place.trainform("render")
    assert (code, f"{file}: error TF710" in printed) == (2, True)


def test_the_kustomization_of_a_namespace_is_compared_byte_by_byte(place):
    place.write("environments/prod/environment.yaml", environment(engine="flux"))
    assert place.trainform("render")[0] == 0
    file = "rendered/_flux/prod/ml.yaml"
    text = (place.root / file).read_text()
    place.write(file, text.replace("./rendered/prod/ml", "./rendered/prod"))
    assert place.check() == {file: "edited"}
    assert place.trainform("render")[0] == 2
    place.write(file, text)
    assert place.check() == {}


def test_the_old_folder_stays_when_the_settings_name_another(place):
    place.write("trainform.yaml", "rendered: deploy/manifests\n")
    shutil.move(place.root / "rendered", place.root / "old")
    shutil.copytree(place.root / "old", place.root / "deploy/manifests")
    place.write(".gitattributes", "deploy/manifests/** -merge linguist-generated\n")
    assert place.check() == {"old": "foreign"}
    assert "old: warning TF731" in place.trainform("render")[1]
    shutil.rmtree(place.root / "old")
    assert place.check() == {}


def as_an_earlier_version_wrote_it(place: Place) -> None:
    """Lists in every folder, and no file of a namespace."""
    lists = {"rendered/prod": ["ml"], ML: ["bert", "llm"]}
    lists |= {f"{ML}/{name}": [f"jobset-{name}.yaml"] for name in ("bert", "llm")}
    for folder, names in lists.items():
        (place.root / folder / FILE).write_bytes(earlier_list(names))
    for name in ("bert", "llm"):
        lock = place.root / f".trainform/locks/prod/ml/{name}.lock"
        tree = json.loads(lock.read_text())
        tree["files"][FILE] = sha256(earlier_list([f"jobset-{name}.yaml"])).hexdigest()
        lock.write_text(json.dumps(tree))
    for folder in (ML, ".trainform/locks/prod/ml"):
        (place.root / folder / ".gitkeep").unlink()
    place.commit()


LISTS = [f"rendered/prod/{FILE}", f"{ML}/{FILE}", f"{ML}/bert/{FILE}", f"{ML}/llm/{FILE}"]


def manifests(place: Place) -> dict[str, bytes]:
    return {file: data for file, data in place.files("rendered").items() if "jobset-" in file}


def test_a_repository_of_an_earlier_version_is_told_what_to_do(place):
    as_an_earlier_version_wrote_it(place)
    found = place.check()
    assert {file: state for file, state in found.items() if file.endswith(FILE)} == dict.fromkeys(LISTS, "stale")
    assert f"an earlier version of trainform wrote {FILE}: run `trainform render`" in place.trainform("check")[1]


@pytest.mark.parametrize("cached", [[], ["--no-cache"]])
def test_render_removes_the_lists_of_an_earlier_version_and_no_job_restarts(place, cached):
    as_an_earlier_version_wrote_it(place)
    before = manifests(place)
    place.write("runtimes/torch.yaml", runtime("example/train:2"))  # frozen jobs do not notice
    code, printed = place.trainform("render", *cached)
    assert (code, "warning TF732: 4 lists" in printed) == (0, True)
    assert manifests(place) == before
    assert not [file for file in place.files("rendered") if file.endswith(FILE)]
    assert place.check("--base", "HEAD") == {}
    assert place.trainform("check", "--base", "HEAD")[0] == 0
    assert "2 jobs unchanged" in place.trainform("render")[1]


def test_a_list_of_an_earlier_version_that_a_merge_reordered(place):
    as_an_earlier_version_wrote_it(place)
    (place.root / ML / FILE).write_bytes(earlier_list(["llm", "gone", "bert"]))
    assert place.trainform("render")[0] == 0
    assert not (place.root / ML / FILE).exists()


@pytest.mark.parametrize("end", ["\r", "\x85", "\u2028", "\u2029"])
@pytest.mark.parametrize("folder", ["rendered/prod", ML])
def test_a_comment_that_is_two_lines_for_yaml(place, folder, end):
    as_an_earlier_version_wrote_it(place)
    smuggled = (place.root / folder / FILE).read_bytes() + f"# a comment{end}{EVIL}".encode()
    (place.root / folder / FILE).write_bytes(smuggled)
    assert place.check()[f"{folder}/{FILE}"] == "foreign"
    assert f"{folder}/{FILE}: warning TF731" in place.trainform("render")[1]
    assert (place.root / folder / FILE).read_bytes() == smuggled


def edit_the_list(place: Place) -> None:
    (place.root / ML / "llm" / FILE).write_text(EVIL)


def edit_the_list_and_the_lock(place: Place) -> None:
    edit_the_list(place)
    lock = place.root / ".trainform/locks/prod/ml/llm.lock"
    tree = json.loads(lock.read_text())
    tree["files"][FILE] = sha256(EVIL.encode()).hexdigest()
    lock.write_text(json.dumps(tree))


@pytest.mark.parametrize("edit", [edit_the_list, edit_the_list_and_the_lock])
def test_a_list_in_the_folder_of_a_job_that_nobody_but_its_editor_wrote(place, edit: Callable[[Place], None]):
    as_an_earlier_version_wrote_it(place)
    edit(place)
    assert place.check()[f"{ML}/llm/{FILE}"] == "edited"
    place.trainform("render")
    assert (place.root / ML / "llm" / FILE).read_text() == EVIL
    assert place.check()[f"{ML}/llm/{FILE}"] == "edited"


def test_the_attributes_of_an_earlier_version_are_renewed(place):
    earlier = """\
# Written by trainform, byte for byte: folded in pull requests.
rendered/** -text linguist-generated=true
.trainform/** -text linguist-generated=true
# Two branches may add a job each: both lines are kept.
rendered/*/kustomization.yaml merge=union
rendered/*/*/kustomization.yaml merge=union
"""
    renewed = (place.root / ".gitattributes").read_text()
    place.write(".gitattributes", earlier)
    assert place.trainform("render")[0] == 0
    assert (place.root / ".gitattributes").read_text() == renewed
    assert "rendered/** -text -merge linguist-generated=true\n" in renewed
