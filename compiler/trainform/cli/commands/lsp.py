"""`trainform lsp`: the compiler in an editor."""

from __future__ import annotations

import sys
from importlib.util import find_spec

import click

from trainform.cli import DIFFERS, OK
from trainform.cli.options import command

INSTALL = 'pip install "trainform[editor]"'


@command()
@click.option("--stdio", is_flag=True, expose_value=False, help="For clients that pass it: there is no other way.")
def lsp() -> int:
    """Show an editor what is wrong, as you type.

    The editor starts this language server, and talks to it over stdin and stdout. It shows what `validate` would
    say of the open buffers. Nothing is written to the repository.
    """
    if find_spec("pygls") is None:
        raise click.ClickException(f"a language server needs another package: {INSTALL}")
    from trainform.editor.protocol.serving import serve

    incoming, outgoing = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # what anything else prints must not end up between the messages
    return OK if serve(incoming, outgoing) else DIFFERS
