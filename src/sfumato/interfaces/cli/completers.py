"""Offer candidates, methods and measures when someone presses Tab in a shell."""

from __future__ import annotations

from collections.abc import Iterable
from typing import get_args

import click
from click.shell_completion import CompletionItem

from sfumato.runtime.errors import SfumatoError


def candidates(ctx: click.Context, _: click.Parameter, begun: str) -> list[CompletionItem]:
    """Offer the candidates of the project, each with its recipe."""
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
