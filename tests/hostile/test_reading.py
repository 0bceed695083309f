"""Two readers of one commit: what git, a file system or an engine makes of it that is not what `check` read."""

from __future__ import annotations

import shutil
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.repositories import Repository, environment, job, runtime
from trainform.cli.main import run

JOBSET = "rendered/prod/ml/llm/jobset-llm.yaml"
KEEPER = "rendered/prod/ml/.gitkeep"
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "4d" * 32 + "\nsize 12345\n"


class Place(Repository):
    """A rendered job in a commit."""

    def __init__(self, root: Path, read: Callable[[], Any]) -> None:
        super().__init__(root)
        self.read = read
        self.start_git()
        self.write("environments/prod/environment.yaml", environment())
        self.write("runtimes/torch.yaml", runtime())
        self.write("jobs/llm.yaml", job("llm"))
        assert self.trainform("render")[0] == 0
        self.write(".gitattributes", "rendered/** -text\n")
        self.commit()

    def trainform(self, *arguments: str) -> tuple[int, str]:
        """Exit code, and everything that was printed."""
        self.read()
        code = run([*arguments, "--root", str(self.root)])
        return code, "".join(self.read())


@pytest.fixture
def place(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Place:
    return Place(tmp_path / "repository", capfd.readouterr)


# What git writes into the work tree, and engines with a git of their own do not.


@pytest.mark.parametrize(
    ("file", "line"),
    [
        (".gitattributes", "rendered/** working-tree-encoding=IBM037"),
        (".gitattributes", "*.yaml ident"),
        (".gitattributes", f"{JOBSET} filter=lfs"),
        (".gitattributes", "[attr]folded filter=lfs\nrendered/** folded"),
        ("rendered/.gitattributes", "** working-tree-encoding=UTF-16"),
    ],
)
def test_a_manifest_that_git_converts(place, file, line):
    """The commit holds other bytes, and Flux, whose git knows no attributes, applies those."""
    place.write(file, f"{line}\n")
    code, printed = place.trainform("check")
    assert code == 2
    assert "error TF734: git converts this file on checkout" in printed


@pytest.mark.parametrize(
    ("pattern", "first", "files"),
    [
        (JOBSET, JOBSET, "this file"),
        ("rendered/prod/ml/**", KEEPER, "this file and 1 other file"),
        ("rendered/**", KEEPER, "this file and 2 other files"),
    ],
)
def test_one_of_the_files_that_git_converts_is_named_and_the_others_are_counted(place, pattern, first, files):
    place.write("rendered/prod/z.txt", "")
    place.write(".gitattributes", f"{pattern} ident\n")
    place.commit()
    assert (
        f"{first}: error TF734: git converts this file on checkout (ident=set), so the commit holds other bytes than "
        f"were checked\n  help: remove the attribute from .gitattributes: it applies to {files}\n"
    ) in place.trainform("check")[1]


def test_an_encoding_makes_the_commit_differ_from_what_was_checked(place):
    """The attack itself: git shows no change, and the bytes are others."""
    place.write(".gitattributes", "rendered/** working-tree-encoding=IBM037\n")
    place.git("add", "--renormalize", ".")  # without it, git converts only the files that it has reason to read again
    place.commit()
    assert place.changed() == []
    assert "kind: JobSet" not in place.git("cat-file", "-p", f"HEAD:{JOBSET}")
    assert place.trainform("check", "--base", "HEAD")[0] == 2


@pytest.mark.parametrize("line", ["rendered/** -text -filter -ident", "rendered/** -diff", "jobs/** filter=x", ""])
def test_other_attributes_are_no_matter(place, line):
    place.write(".gitattributes", f"{line}\n")
    assert place.trainform("check")[0] == 0


def test_attributes_of_a_folder_above_the_project(tmp_path, capfd):
    top = Repository(tmp_path)
    top.start_git()
    place = Place(tmp_path / "ml", capfd.readouterr)
    shutil.rmtree(place.root / ".git")
    top.write(".gitattributes", "ml/rendered/** ident\n")
    top.commit()
    assert place.trainform("check")[0] == 2


@pytest.mark.parametrize(
    "file",
    [
        "trainform.yaml",
        "jobs/llm.yaml",
        "runtimes/torch.yaml",
        "environments/prod/environment.yaml",
        ".trainform/locks/prod/ml/llm.lock",
        JOBSET,
    ],
)
def test_a_pointer_of_lfs_is_no_file_of_ours(place, file):
    place.write(file, POINTER)
    assert place.trainform("check")[0] in (1, 2)
    assert place.trainform("render")[0] == 2


@pytest.mark.parametrize("file", ["jobs/llm.yaml", "runtimes/torch.yaml", "environments/prod/environment.yaml"])
def test_a_pointer_of_lfs_is_called_one(place, file):
    place.write(file, POINTER)
    for command in ("validate", "render", "check"):
        code, printed = place.trainform(command)
        assert (code, f"{file}: error TF017" in printed or f"{file}:1:1: error TF017" in printed) == (2, True), printed


@pytest.mark.parametrize(
    ("word", "strange"),
    [("tr\u0430iner", "U+0430 (CYRILLIC SMALL LETTER A)"), ("\uff54rainer", "U+FF54 (FULLWIDTH LATIN SMALL LETTER T)")],
)
def test_a_key_that_looks_like_another(place, word, strange):
    place.write("jobs/llm.yaml", job("llm").replace("trainer:", f"{word}:"))
    code, printed = place.trainform("validate")
    assert (code, f'did you mean "trainer"? Yours has {strange}' in printed) == (2, True), printed


@pytest.mark.parametrize("folder", ["rendered", "rendered/prod", "rendered/prod/ml", "rendered/prod/ml/llm"])
def test_a_submodule_in_the_place_of_a_folder(place, folder):
    """Its files are there where CI takes submodules along, and Flux drops them."""
    there = Repository(place.root.parent / "submodule")
    (there.root / "trainform.yaml").unlink()
    shutil.copytree(place.root / folder, there.root, dirs_exist_ok=True)
    there.start_git()
    there.commit()
    base = place.commit()
    place.git("rm", "--quiet", "-r", folder)
    place.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(there.root), folder)
    place.commit()
    assert place.trainform("check")[0] == 1
    code, printed = place.trainform("check", "--base", base)
    assert (code, f"{folder} is a submodule" in printed) == (2, True)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32"])
def test_a_job_in_an_encoding_that_reviews_show_as_binary(place, encoding):
    (place.root / "jobs/new.yaml").write_bytes(job("new").encode(encoding))
    assert place.trainform("validate")[0] == 2


def test_objects_that_replace_others_in_git_are_not_looked_at(place):
    """Whoever fetches every reference gets them, and git itself reads the other commit."""
    base = place.git("rev-parse", "HEAD").strip()
    place.write("jobs/llm.yaml", job("llm", nodes=4))
    assert place.trainform("render")[0] == 0
    place.git("replace", base, place.commit())
    assert "numNodes: 4" in place.git("cat-file", "-p", f"{base}:jobs/llm.yaml")
    code, printed = place.trainform("diff", "--base", base)
    assert (code, "ml/llm" in printed) == (1, True)


# What a file system makes of names.

ACCENT = "jobs/caf\u00e9.yaml"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("jobs/llm.yaml", "jobs/LLM.yaml"),
        ("jobs/a/new.yaml", "jobs/A/new.yaml"),
        (ACCENT, unicodedata.normalize("NFD", ACCENT)),
        ("jobs/stra\u00dfe.yaml", "jobs/STRASSE.yaml"),
        ("jobs/k.yaml", "jobs/\u212a.yaml"),
        ("runtimes/more.yaml", "runtimes/More.yaml"),
        ("environments/prod/facts.yaml", "environments/prod/Facts.yaml"),
    ],
)
def test_two_files_that_are_one_elsewhere(place, one, other):
    """On macOS, one of the two jobs is not there, and `render` would delete what it was rendered to."""
    if one == "jobs/llm.yaml":
        place.write(other, job("other"))
    else:
        for number, file in enumerate((one, other)):
            place.write(file, job(f"job-{number}"))
    code, printed = place.trainform("validate")
    assert (code, "error TF736" in printed) == (2, True)
    assert place.trainform("render")[0] == 2


@pytest.mark.parametrize("name", ["Prod", "pr\u043ed", "\uff50rod", "_flux", "prod.", "prod "])
def test_an_environment_that_looks_like_another(place, name):
    place.write(f"environments/{name}/environment.yaml", environment().replace("name: prod", f'name: "{name}"'))
    assert place.trainform("check")[0] == 2


@pytest.mark.parametrize("field", ["name", "namespace"])
@pytest.mark.parametrize("value", ["LLM", "ll\u217f", "\u0131lm", "llm\u200b", "l\u0142m"])
def test_a_job_that_looks_like_another(place, field, value):
    place.write("jobs/new.yaml", job(**{"name": "new", field: f'"{value}"'}))
    assert place.trainform("validate")[0] == 2


# What an engine makes of two jobs.


@pytest.mark.parametrize("layout", ["per-object", "per-job"])
def test_a_job_called_as_the_object_of_another(place, layout):
    """`llm` is frozen under the name that it has from its contents; an engine would apply the other one over it."""
    place.write("environments/prod/environment.yaml", environment(naming="content-hash", layout=layout))
    assert place.trainform("upgrade", "--all")[0] == 0
    text = "".join(path.read_text() for path in (place.root / "rendered/prod/ml/llm").iterdir())
    name = next(line for line in text.splitlines() if line.startswith("  name: llm-")).split()[1]
    place.write("environments/prod/environment.yaml", environment(layout=layout))
    place.write("jobs/new.yaml", job(name))
    for command in ("validate", "render", "render --keep-going", "check"):
        code, printed = place.trainform(*command.split())
        assert (code, "jobs/new.yaml: error TF735" in printed) == (2, True), command
    assert place.trainform("upgrade", "llm")[0] == 0
    assert place.trainform("check")[0] == 0


SECRET = """\
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {{name: {name}}}
spec:
  secretStoreRef: {{name: vault, kind: ClusterSecretStore}}
  target: {{name: {name}}}
  data: [{{secretKey: token, remoteRef: {{key: {name}}}}}]
"""


def reading(name: str, secret: str) -> str:
    """A job whose trainer reads a Secret that stands beside it."""
    env = f"    env: [{{name: TOKEN, valueFrom: {{secretKeyRef: {{name: {secret}, key: token}}}}}}]\n"
    return job(name).replace("    numNodes:", f"{env}    numNodes:") + SECRET.format(name=secret)


@pytest.mark.parametrize("layout", ["per-object", "per-job"])
@pytest.mark.parametrize(("secret", "code"), [("x", 2), ("z", 0)])
def test_two_jobs_whose_companions_get_one_name(place, layout, secret, code):
    """`a` with its `b-x`, and `a-b` with its `x`."""
    place.write("environments/prod/environment.yaml", environment(layout=layout))
    assert place.trainform("upgrade", "--all")[0] == 0
    place.write("jobs/one/a.yaml", reading("a", "b-x"))
    place.write("jobs/two/a-b.yaml", reading("a-b", secret))
    for command in ("validate", "render", "render --keep-going", "check"):
        ended, printed = place.trainform(*command.split())
        assert (ended, "jobs/two/a-b.yaml: error TF735" in printed) == (code, code == 2), printed


@pytest.mark.parametrize("first", ["a", "a-b"])
def test_a_new_companion_may_have_the_name_of_a_frozen_one(place, first):
    """Whichever of the two is rendered first, the other one is told."""
    texts = {"jobs/one/a.yaml": reading("a", "b-x"), "jobs/two/a-b.yaml": reading("a-b", "x")}
    files = sorted(texts, reverse=first == "a-b")
    place.write(files[0], texts[files[0]])
    assert place.trainform("render")[0] == 0
    place.write(files[1], texts[files[1]])
    before = {path: path.read_bytes() for path in (place.root / "rendered").rglob("*") if path.is_file()}
    for command in ("validate", "render"):
        ended, printed = place.trainform(command)
        assert (ended, "jobs/two/a-b.yaml: error TF735" in printed) == (2, True), printed
    assert before == {path: path.read_bytes() for path in (place.root / "rendered").rglob("*") if path.is_file()}


def test_a_job_that_takes_the_name_of_one_that_goes_is_fine(place):
    place.write("jobs/one/a.yaml", reading("a", "b-x"))
    assert place.trainform("render")[0] == 0
    (place.root / "jobs/one/a.yaml").unlink()
    place.write("jobs/two/a-b.yaml", reading("a-b", "x"))
    for command in ("validate", "render", "check"):
        assert place.trainform(command)[0] == 0, command


@pytest.mark.parametrize(("key", "value"), [("jobs", "none"), ("rendered", "other"), ("environments", "none")])
def test_settings_that_look_away(place, key, value):
    """What was rendered before is still there, and is reported."""
    place.write("trainform.yaml", f"{key}: {value}\n")
    assert place.trainform("check")[0] == 1


def test_an_environment_that_no_longer_selects_a_job(place):
    place.write("environments/prod/environment.yaml", environment() + '  jobs: {paths: ["other/**"]}\n')
    assert place.trainform("check")[0] == 1
    code, printed = place.trainform("diff", "--base", "HEAD")
    assert (code, "1 job deleted" in printed) == (1, True)


@pytest.mark.parametrize(
    "text",
    [
        "a: &theirs {name: new}\n---\n" + job("new").replace("  name: new\n", "  <<: *theirs\n"),
        job("new").replace("  name: new\n", "  name: new\n  name: llm\n"),
    ],
)
def test_a_document_that_readers_of_yaml_take_differently(place, text):
    place.write("jobs/new.yaml", text)
    assert place.trainform("validate")[0] == 2
