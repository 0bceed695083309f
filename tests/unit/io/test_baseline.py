"""Earlier files to compare with."""

from __future__ import annotations

from trainform.io.baseline import Folder


def test_a_change_behind_a_link_of_a_folder_is_seen(tmp_path):
    """A job file may be a link to a file elsewhere in its repository."""
    for name, text in (("now", "after"), ("then", "before")):
        (tmp_path / name / "jobs").mkdir(parents=True)
        (tmp_path / name / "shared.yaml").write_text(text)
        (tmp_path / name / "jobs/llm.yaml").symlink_to("../shared.yaml")
    folder = Folder(str(tmp_path / "now"), str(tmp_path / "then"))
    assert folder.changed(["jobs"]) == {"jobs/llm.yaml"}
    assert folder.read(["jobs/llm.yaml"]) == {"jobs/llm.yaml": b"before"}
