"""A real browser before a real server, with the network cut off.

The browser is the system's Chromium; `make test` installs it where it may. Screenshots are kept in
``test-artefacts/``.
"""

from __future__ import annotations

import multiprocessing
import os
import re
import shutil
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from urllib.parse import urlsplit

import pytest

pytest.importorskip("playwright.sync_api")
from playwright import sync_api as playwright
from playwright.sync_api import Browser, BrowserContext, Page

from sfumato.interfaces.workbench.routes import PAGES

ARTEFACTS = Path(__file__).parents[2] / "test-artefacts"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# the first page that measures anything may have to wait for kernels to be compiled
PATIENCE = 120_000
SIZES = {"desktop": (1280, 900), "narrow": (360, 740)}

# Each workbench is a process of its own, but all begin where this one has come: most of a start is imports.
PROCESSES = multiprocessing.get_context("forkserver")
ROOMS = ("measures", "miners", "models", "sanitizers", "searches", "interfaces.workbench.server")
IMPORTED = [
    *(f"sfumato.{room}" for room in ROOMS),
    *(f"sfumato.interfaces.workbench.routes.{page}" for page in PAGES),
    *("numba", "pyarrow.csv", "pyarrow.parquet", "uvicorn"),
]
PROGRAM = """\
import os, sys
os.dup2(said.fileno(), 2)
os.environ.update(environment)
sys.argv = ["sfumato", *words]
from sfumato.interfaces.cli import main
main()
"""

Photograph = Callable[..., None]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """The system's Chromium, which can reach nothing but this machine."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip("no Chromium is installed: apt-get install --no-install-recommends chromium")
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
        self._running: list[tuple[ForkServerProcess, Connection]] = []
        PROCESSES.set_forkserver_preload(IMPORTED)

    def __call__(self, place: Path, *options: str) -> str:
        """Serve a folder or a project file, and return the address that is said."""
        words = ["workbench", str(place), "--no-browser", *options]
        heard, said = PROCESSES.Pipe(duplex=False)
        given = {"said": said, "words": words, "environment": dict(os.environ)}
        process = PROCESSES.Process(target=exec, args=(PROGRAM, given))
        process.start()
        said.close()
        self._running.append((process, heard))  # who says something wants to be heard to the end
        with os.fdopen(os.dup(heard.fileno())) as lines:
            for line in lines:
                address = re.search(r"http://\S+", line)
                if address:
                    return address[0]
        raise AssertionError("the workbench said no address")

    def kill(self) -> None:
        """End all of them at once, as a power cut would."""
        while self._running:
            process, heard = self._running.pop()
            process.kill()
            process.join()
            heard.close()


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
