"""Options of the commands that read a live cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def cluster_options(only: str = "", default: str = "600") -> Callable[[F], F]:
    """`--kubeconfig`, `--context` and `--timeout`, whose help begins with `only`."""

    def added(command: F) -> F:
        command = click.option(
            "--timeout",
            type=click.FloatRange(min=0, min_open=True),
            metavar="SECONDS",
            help=f"{only}For all that is asked, once logged in. Default: {default}.",
        )(command)
        command = click.option(
            "--context",
            metavar="NAME",
            default="",
            help=f"{only}A context of the kubeconfig. Default: the current one.",
        )(command)
        return click.option(
            "--kubeconfig",
            metavar="FILE",
            default="",
            help=f"{only}Default: that of KUBECONFIG, else ~/.kube/config.",
        )(command)

    return added
