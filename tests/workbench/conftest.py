"""A workbench without a browser: a folder, the application on it, and somebody who has come in."""

from __future__ import annotations

import html
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from sfumato.interfaces.workbench.server import application

# as long as other tests wait: on a busy machine the first generation of a search takes its time
PATIENCE = 300.0
TOKEN = "the-token"
ADDRESS = "http://127.0.0.1:8765"

PEOPLE = """\
name,age,sex,zip,diagnosis
Ann,31,f,01307,flu
Bob,42,m,01309,flu
Cid,57,m,01307,asthma
Dot,31,f,02110,asthma
Eve,64,f,02139,flu
Fay,45,,02139,gout
"""

PROJECT = """\
# who wrote this: a human
[data]
path = "people.csv"   # the records

# the name goes
[attributes.name]
role = "identifying"

[attributes.age]
role = "quasi-identifying"   # known to neighbours
kind = "numeric"
hierarchy = { intervals = [5, 10, 20] }

[attributes.sex]
role = "quasi-identifying"

[attributes.zip]
role = "quasi-identifying"
hierarchy = { prefixes = [3, 2] }

[attributes.diagnosis]
role = "sensitive"

[[candidates]]
sanitizer = "mondrian"
model = { k-anonymity = { k = [2, 3] } }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one project."""
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "people.toml").write_text(PROJECT)
    return tmp_path


@pytest.fixture
def app(folder: Path) -> Starlette:
    """The workbench of the folder."""
    return application(folder, token=TOKEN)


def visitor(app: Starlette, **headers: str) -> TestClient:
    """Somebody who has not come in."""
    own = {
        "Sec-Fetch-Site": "same-origin",
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    return TestClient(app, base_url=ADDRESS, headers=own, follow_redirects=False)


@pytest.fixture
def newcomer(app: Starlette) -> TestClient:
    """Somebody who has not come in."""
    return visitor(app)


@pytest.fixture
def guest(app: Starlette) -> TestClient:
    """Somebody who has come in with the token."""
    client = visitor(app)
    assert client.get(f"/?token={TOKEN}").status_code == 303
    return client


@pytest.fixture
def ready(guest: TestClient) -> Callable[..., Any]:
    """Ask for an address until its page is ready."""

    def ask(address: str, **options: Any) -> Any:
        def answer() -> Any:
            nonlocal address
            while (response := guest.get(address, **options)).status_code == 303:
                address = response.headers["location"]
            return None if response.status_code == 202 else response

        return until(answer)

    return ask


def until(found: Callable[[], Any]) -> Any:
    """Ask until there is an answer, and return it."""
    ends = time.monotonic() + PATIENCE
    while not (answer := found()):
        assert time.monotonic() < ends, "it never happened"
        time.sleep(0.05)
    return answer


def field(page: str, name: str) -> str:
    """Return the value of a hidden field."""
    found = re.search(rf'name="{name}" value="([^"]*)"', page)
    assert found, f"no field {name}"
    return html.unescape(found[1])
