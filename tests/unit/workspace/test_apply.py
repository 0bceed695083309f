"""The order in which changes are written: whatever is interrupted, the next run finds its way."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainform.io import writer
from trainform.io.staging import Staging, writing
from trainform.io.writer import Staged
from trainform.workspace.apply import _steps, apply
from trainform.workspace.plan import ChangeSet

SNAPSHOT, GONE, LIST = ".trainform/snapshots/new.yaml", ".trainform/snapshots/old.yaml", "rendered/prod/ml/.gitkeep"


@pytest.fixture
def staging(tmp_path: Path):
    (tmp_path / ".git").mkdir()
    with writing(str(tmp_path)) as staging:
        yield staging


def planned() -> ChangeSet:
    jobs = {
        ("prod", "ml", "goes"): Staged.GOES,
        ("prod", "ml", "bert"): Staged.LOCK,
        ("prod", "nlp", "new"): Staged.NEW,
    }
    return ChangeSet(jobs=jobs, files={GONE: None, LIST: b"", SNAPSHOT: b"a: b\n"})


def test_each_change_is_made_once_in_an_order_that_may_be_interrupted(staging: Staging):
    for path in ("rendered/prod/nlp/new", ".trainform/locks/prod/nlp"):
        Path(staging.path(path)).mkdir(parents=True)
    Path(staging.path(".trainform/locks/prod/nlp/new.lock")).touch()
    steps = [path for path, _ in _steps(planned(), "rendered", staging)]
    assert steps == [
        SNAPSHOT, "rendered/prod/nlp", "rendered/prod/ml/bert", LIST, "rendered/prod/ml/goes", GONE,
    ]  # fmt: skip


def test_an_error_before_the_first_change_names_no_file(staging: Staging, monkeypatch: pytest.MonkeyPatch):
    def fails(*arguments: object) -> bool:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(writer, "stand_alone", fails)
    plan = ChangeSet(jobs={("prod", "nlp", "new"): Staged.NEW}, wrote=["a"], removed=["b"])
    apply(plan, "rendered", staging)
    (problem,) = plan.conflicts
    assert (problem.code, problem.file, plan.wrote, plan.removed) == ("TF707", "", [], [])
