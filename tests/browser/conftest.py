"""A real browser before a real server, with the network cut off.

The browser is the system's Chromium; `make test` installs it where it is missing. Screenshots are kept in
``test-artefacts/``.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

pytest.importorskip("playwright.sync_api")
from playwright import sync_api as playwright
from playwright.sync_api import Browser, BrowserContext, Page

ARTEFACTS = Path(__file__).parents[2] / "test-artefacts"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# the first page that measures anything may have to wait for kernels to be compiled
PATIENCE = 120_000
SIZES = {"desktop": (1280, 900), "narrow": (360, 740)}

Photograph = Callable[..., None]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """The system's Chromium, which can reach nothing but this machine."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip("no Chromium is installed; `make test` installs it, or install the package chromium")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=found,
            args=["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"],
        )
        yield browser
        browser.close()


class Serve:
    """Starts workbenches, each in a process of its own."""

    def __init__(self) -> None:
        self._running: list[subprocess.Popen[str]] = []

    def __call__(self, place: Path, *options: str) -> str:
        """Serve a folder or a project file, and return the address that is said."""
        program = "from sfumato.cli import main; main()"
        process = subprocess.Popen(
            [sys.executable, "-c", program, "workbench", str(place), "--no-browser", *options],
            stderr=subprocess.PIPE,
            text=True,
        )
        self._running.append(process)
        assert process.stderr
        for line in process.stderr:
            address = re.search(r"http://\S+", line)
            if address:
                return address[0]
        raise AssertionError("the workbench said no address")

    def kill(self) -> None:
        """End all of them at once, as a power cut would."""
        while self._running:
            process = self._running.pop()
            process.kill()
            process.communicate()


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Workbenches that are gone after the test."""
    serving = Serve()
    yield serving
    serving.kill()


@pytest.fixture
def context(chromium: Browser) -> Iterator[BrowserContext]:
    """A browser context in which a request to anywhere else, a fault or a refused script fails the test."""
    asked: list[str] = []
    complaints: list[str] = []
    width, height = SIZES["desktop"]
    context = chromium.new_context(viewport={"width": width, "height": height}, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE)
    context.on("request", lambda request: asked.append(request.url))
    context.on("weberror", lambda error: complaints.append(str(error.error)))
    context.on(
        "console", lambda message: complaints.append(message.text) if message.type == "error" else None
    )
    yield context
    context.close()
    elsewhere = [url for url in asked if urlsplit(url).hostname not in ("127.0.0.1", None)]
    assert elsewhere == [], "something was requested from outside"
    assert [said for said in complaints if not said.startswith("Failed to load resource")] == []


@pytest.fixture
def page(context: BrowserContext) -> Page:
    """A page of that context."""
    return context.new_page()


@pytest.fixture
def photograph() -> Photograph:
    """Keep a page as pictures: on a desk, on a narrow screen, and in the dark."""

    def taken(page: Page, name: str) -> None:
        ARTEFACTS.mkdir(exist_ok=True)
        page.evaluate("scrollTo(0, 0)")
        for size, (width, height) in SIZES.items():
            page.set_viewport_size({"width": width, "height": height})
            page.screenshot(path=ARTEFACTS / f"{name}-{size}.png", full_page=True)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, f"{name} is too wide"
        width, height = SIZES["desktop"]
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme="dark")
        page.screenshot(path=ARTEFACTS / f"{name}-dark.png", full_page=True)
        page.emulate_media(color_scheme="light")

    return taken
