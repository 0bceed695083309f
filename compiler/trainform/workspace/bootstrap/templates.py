"""Texts that ship with trainform, and what is made of them."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import Any


def rendered(name: str, values: Mapping[str, Any]) -> str:
    """Render a template of `output/templates`. Delimiters are square: workflows and ApplicationSets use curly ones."""
    from jinja2 import Environment, StrictUndefined

    jinja = Environment(
        variable_start_string="[[",
        variable_end_string="]]",
        block_start_string="[%",
        block_end_string="%]",
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
    )
    return jinja.from_string(shipped("templates", *name.split("/"))).render(values)


def shipped(*path: str) -> str:
    """A file of the package `trainform.output`."""
    return files("trainform.output").joinpath(*path).read_text(encoding="utf-8")
