"""`trainform completion`: print a shell completion script."""

from __future__ import annotations

import click

from trainform.cli import OK


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> int:
    """Print a completion script.

    \b
    bash: eval "$(trainform completion bash)"              in ~/.bashrc
    zsh:  eval "$(trainform completion zsh)"               in ~/.zshrc
    fish: trainform completion fish | source               in ~/.config/fish/config.fish
    """
    from click.shell_completion import get_completion_class

    from trainform.cli.app import app
    from trainform.cli.terminal import print_bytes

    completer = get_completion_class(shell)
    assert completer is not None  # click knows every shell that the argument allows
    print_bytes(completer(app, {}, "trainform", "_TRAINFORM_COMPLETE").source().encode() + b"\n")
    return OK
