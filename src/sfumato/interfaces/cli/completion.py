"""`sfumato completion`: print a script that makes a shell complete the commands."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from sfumato.interfaces.cli.base import cli, json_option
from sfumato.interfaces.cli.terminal import echo, print_json
from sfumato.runtime.errors import ParameterError

_SHELLS = ("bash", "zsh", "fish")


@cli.command()
@click.argument("shell", type=click.Choice(_SHELLS))
@json_option
def completion(shell: str, as_json: bool) -> None:
    """Print what makes a SHELL complete commands, options, methods, measures and the ids of candidates.

    \b
    Example: sfumato completion bash >> ~/.bashrc
             sfumato completion zsh >> ~/.zshrc
             sfumato completion fish > ~/.config/fish/completions/sfumato.fish
    """
    kind = get_completion_class(shell)
    if kind is None:  # pragma: no cover - click brings all three
        raise ParameterError(f"completion for {shell} is not to be had; take one of {', '.join(_SHELLS)}")
    script = kind(cli, {}, "sfumato", "_SFUMATO_COMPLETE").source()
    if as_json:
        from sfumato.results.json_schemas import CompletionShape

        print_json("completion", CompletionShape(shell=shell, script=script))
    else:
        echo(script)
