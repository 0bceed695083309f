"""What ships with trainform."""

from __future__ import annotations

from email.message import Message

import pytest

from trainform.io import resources
from trainform.io.resources import documentation, shipped_runtimes


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


@pytest.mark.parametrize(
    ("urls", "address"),
    [
        (
            ["Homepage, https://git.example.com/x", "Documentation, https://git.example.com/x/docs"],
            "https://git.example.com/x/docs",
        ),
        (["Homepage, https://git.example.com/x"], ""),
        ([], ""),
    ],
    ids=["a release", "no documentation", "no release"],
)
def test_the_address_of_the_documentation_is_what_the_package_says(monkeypatch, urls, address):
    metadata = Message()
    for url in urls:
        metadata["Project-URL"] = url
    monkeypatch.setattr("importlib.metadata.metadata", lambda name: metadata)
    assert documentation() == address
