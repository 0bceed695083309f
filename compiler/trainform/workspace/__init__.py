"""A repository with its lockfiles: everything between the command line and the compiler."""

from __future__ import annotations


class InvocationError(Exception):
    """A request that cannot be carried out. `option` is the command-line option at fault, if any."""

    def __init__(self, message: str, option: str = "") -> None:
        super().__init__(message)
        self.option = option
