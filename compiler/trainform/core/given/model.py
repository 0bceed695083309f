"""The one table of what pods are given. `explain`, `run`, `migrate` and the documentation read it; tests hold it
against what is rendered."""

from __future__ import annotations

from typing import Literal, NamedTuple

Listeners = Literal["first pod", "every pod"]
"""The pods of a step that listen on a port. Where every pod does, each needs an address of its own."""


class GivenVariable(NamedTuple):
    """An environment variable that a plugin sets. `source` is where the value comes from. `example` is the value in the
    third of four pods of a job called `llm` with two GPUs a pod; empty if the variable is not set there."""

    name: str
    meaning: str
    source: str
    example: str = ""


class GivenHost(NamedTuple):
    """A host name that a plugin writes into variables or files. `example` is the name in a job called `llm`."""

    example: str
    meaning: str


class GivenPort(NamedTuple):
    """A port on which a framework's processes meet."""

    number: int
    meaning: str
    listeners: Listeners


class Given(NamedTuple):
    """Everything that one plugin gives."""

    variables: tuple[GivenVariable, ...] = ()
    hosts: tuple[GivenHost, ...] = ()
    ports: tuple[GivenPort, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the variables."""
        return tuple(each.name for each in self.variables)


NOTHING_GIVEN = Given()
