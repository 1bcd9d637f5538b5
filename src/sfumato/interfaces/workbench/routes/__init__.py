"""The pages, one module each with its ``routes``. All but the first page are imported on first use."""

from __future__ import annotations

from importlib import import_module

from starlette.requests import Request
from starlette.routing import BaseRoute

from sfumato.interfaces.workbench.state.state import state_of

FIRST = "folder"
PAGES = (
    "data",
    "data_file",
    "attribute",
    "publication",
    "explore",
    "explore_plan",
    "release",
    "compare",
    "ask",
    "decide",
    "apply",
    "report",
)
"""The modules whose routes are served beside those of the first page, in this order."""


def routes_of(*names: str) -> list[BaseRoute]:
    """Import page modules and return their routes."""
    modules = [import_module(f"{__name__}.{name}") for name in names]
    return [route for module in modules for route in module.routes]


def complete(request: Request) -> None:
    """Add the pages that the application lacks so far."""
    state = state_of(request)
    with state.completing:
        if not state.is_complete.is_set():
            request.app.router.routes.extend(routes_of(*PAGES))
            state.is_complete.set()
