"""What ships with trainform."""

from __future__ import annotations

from trainform.io import resources
from trainform.io.resources import shipped_runtimes


def test_the_catalogue_is_found_in_an_editable_install():
    assert "torch-distributed.yaml" in [name for name, _ in shipped_runtimes()]


def test_the_catalogue_of_a_wheel_comes_first(tmp_path, monkeypatch):
    wheel = tmp_path / "catalogue"
    wheel.mkdir()
    (wheel / "b.yaml").write_text("b")
    (wheel / "a.yaml").write_text("a")
    (wheel / "README.md").write_text("no runtime")
    monkeypatch.setattr(resources, "_CATALOGUES", (str(wheel), *resources._CATALOGUES))
    assert shipped_runtimes() == [("a.yaml", "a"), ("b.yaml", "b")]
