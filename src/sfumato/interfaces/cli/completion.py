"""Completing: what a shell offers when somebody presses tab, and two commands for those who write scripts."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import get_args

import click
from click.shell_completion import CompletionItem, get_completion_class

from sfumato.interfaces.cli.base import cli, json_option
from sfumato.interfaces.cli.terminal import echo, print_json
from sfumato.runtime.errors import ParameterError, SfumatoError

_SHELLS = ("bash", "zsh", "fish")


def candidates(ctx: click.Context, _: click.Parameter, begun: str) -> list[CompletionItem]:
    """Offer the candidates of the project, each with how it was made."""
    from sfumato.interfaces.cli.command_context import loaded, opened_store
    from sfumato.interfaces.cli.terminal import name_of

    try:
        with opened_store(loaded(ctx.params.get("project_file")), create=False) as store:
            found = [made for source in store.sources() for made in store.candidates(source)]
    except (SfumatoError, OSError):
        return []
    return [
        CompletionItem(each.id, help=name_of(each.recipe))
        for each in found
        if each.infeasible is None and each.id.startswith(begun)
    ]


def methods(_: click.Context, __: click.Parameter, begun: str) -> list[str]:
    """Offer everything that is registered."""
    from sfumato.registry import methods as registry

    return _beginning(begun, (name for kind in get_args(registry.Kind) for name in registry.registered(kind)))


def sanitizers(_: click.Context, __: click.Parameter, begun: str) -> list[str]:
    """Offer the sanitizers."""
    from sfumato.registry import methods as registry

    return _beginning(begun, registry.registered("sanitizer"))


def measures(_: click.Context, __: click.Parameter, begun: str) -> list[str]:
    """Offer the measures and the models, which are measures too."""
    from sfumato.registry import methods as registry

    return _beginning(begun, (*registry.registered("measure"), *registry.registered("model")))


def _beginning(begun: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(begun)]


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
        print_json("completion", {"shell": shell, "script": script})
    else:
        echo(script)


@cli.command()
@click.argument("name", required=False)
@json_option
def shape(name: str | None, as_json: bool) -> None:
    """Print the JSON Schema of what a command prints with --json; without NAME, the names.

    `error` and `log` are what stands on standard error.

    \b
    Example: sfumato shape frontier > frontier.schema.json
    """
    from sfumato.interfaces.cli.json_schemas import form, names_of_shapes, schema, shape_of

    if name is not None:
        echo(json.dumps(schema(name), indent=2))
    elif as_json:
        print_json("shapes", {"shapes": [{"name": each, "is": form(each)} for each in names_of_shapes()]})
    else:
        for each in names_of_shapes():
            echo(f"{form(each):24} {(getattr(shape_of(each), '__doc__', '') or '').partition(chr(10))[0]}")
