"""The pages, one module each with its ``routes``; all but the first are imported when they are needed."""

from __future__ import annotations

import threading
from importlib import import_module

from starlette.applications import Starlette
from starlette.routing import BaseRoute

FIRST = "folder"
PAGES = (
    "data",
    "attribute",
    "publication",
    "explore",
    "explore_plan",
    "release",
    "compare",
    "ask",
    "decide",
    "report",
)
"""The modules whose routes are served beside those of the first page, in this order."""

_one_at_a_time = threading.Lock()


def routes_of(*names: str) -> list[BaseRoute]:
    """Import modules of pages and return their routes."""
    modules = [import_module(f"{__name__}.{name}") for name in names]
    return [route for module in modules for route in module.routes]


def complete(app: Starlette) -> None:
    """Add the pages that the application does not have yet."""
    with _one_at_a_time:
        if not app.state.is_complete:
            app.router.routes.extend(routes_of(*PAGES))
            app.state.is_complete = True
