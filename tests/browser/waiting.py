"""Waiting for what happens in a page, but not for ever."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

_SECONDS = 120.0


def until(page: Any, holds: str | Callable[[], Any]) -> None:
    """Wait until something is true, in the page or here.

    The page's policy forbids Playwright's own way.
    """
    ends = time.monotonic() + _SECONDS
    while not (page.evaluate(holds) if isinstance(holds, str) else holds()):
        assert time.monotonic() < ends, f"never: {holds}"
        page.wait_for_timeout(20)
