"""Who may speak to the workbench, what may be sent, what a page may load."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from sfumato.interfaces.cli import run
from sfumato.interfaces.workbench import guards, server
from sfumato.interfaces.workbench.addresses import slug
from sfumato.interfaces.workbench.server import application
from sfumato.runtime.errors import UserError

from .conftest import ADDRESS, TOKEN, visitor
from .exploring import candidates, patients

# The door


def test_nobody_comes_in_without_the_token(newcomer: TestClient) -> None:
    for address in ("/", "/projects/people/data", "/projects/people/data/age", "/nowhere"):
        response = newcomer.get(address)
        assert response.status_code == 403
        assert "terminal" in response.text
        assert "people" not in response.text


def test_every_page_is_behind_the_token(app: Starlette, ready: Callable[..., Any]) -> None:
    ready("/projects/people/data")  # most pages are loaded when somebody has come in
    stranger = visitor(app)
    pages = [route for route in app.routes if isinstance(route, Route)]
    assert len(pages) > 20
    for route in pages:
        address = str(app.url_path_for(route.name, **dict.fromkeys(route.param_convertors, "1")))
        for method in route.methods or ():
            assert stranger.request(method, address).status_code == 403, (method, route.path)


@pytest.mark.parametrize("token", ["", "wrong", TOKEN + "x", TOKEN[:-1], "\u00e9"])
def test_a_wrong_token_opens_nothing(newcomer: TestClient, token: str) -> None:
    response = newcomer.get("/", params={"token": token})
    assert response.status_code == 403
    assert "set-cookie" not in response.headers


def test_the_token_becomes_a_strict_cookie_and_leaves_the_address(newcomer: TestClient) -> None:
    response = newcomer.get(f"/projects/people/data?token={TOKEN}&x=1")
    assert response.status_code == 303
    assert response.headers["location"] == "/projects/people/data?x=1"
    cookie = response.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert TOKEN not in cookie
    assert newcomer.get("/").status_code == 200


def test_the_token_opens_the_door_once(app: Starlette) -> None:
    assert visitor(app).get(f"/?token={TOKEN}").status_code == 303
    assert visitor(app).get(f"/?token={TOKEN}").status_code == 403


def test_the_next_token_is_announced(folder: Path) -> None:
    told: list[str] = []
    app = application(folder, token=TOKEN, announce=told.append)
    visitor(app).get(f"/?token={TOKEN}")
    assert len(told) == 1
    assert visitor(app).get(f"/?token={told[0]}").status_code == 303


def test_the_same_browser_may_use_the_address_again(guest: TestClient) -> None:
    response = guest.get(f"/?token={TOKEN}")
    assert (response.status_code, response.headers["location"]) == (303, "/")


def test_a_made_up_cookie_opens_nothing(app: Starlette, guest: TestClient) -> None:
    (name,) = guest.cookies.keys()
    for value in ("", "x", TOKEN, '"'):
        assert visitor(app, Cookie=f"{name}={value}").get("/").status_code == 403


@pytest.mark.parametrize("other", ['a={"x": 1}', "a=b c", "=x", "[x]=1", 'a="open', "a=1;;", "caf\u00e9=1"])
def test_odd_cookies_of_other_programs_lock_nobody_out(guest: TestClient, other: str) -> None:
    ours = "; ".join(f"{name}={value}" for name, value in guest.cookies.items())
    guest.cookies.clear()
    for written in (f"{other}; {ours}", f"{ours}; {other}"):
        assert guest.get("/", headers={b"cookie": written.encode("latin-1")}).status_code == 200


def test_coming_in_leads_to_no_other_host(newcomer: TestClient) -> None:
    response = newcomer.get(f"{ADDRESS}//evil.example/?token={TOKEN}")
    assert response.headers["location"] == "/evil.example/"


# Hosts and writes


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.evil.example", "evil.example:8765", "", "localhost@evil.example", "[::2]"],
)
def test_a_foreign_host_is_refused(guest: TestClient, host: str) -> None:
    response = guest.get("/", headers={"Host": host})
    assert response.status_code == 400
    assert "own address" in response.text


@pytest.mark.parametrize("host", ["127.0.0.1:1", "localhost", "LOCALHOST:99", "[::1]:80"])
def test_the_names_of_this_machine_are_known(guest: TestClient, host: str) -> None:
    assert guest.get("/", headers={"Host": host}).status_code in (200, 403)  # a cookie belongs to one name


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Sec-Fetch-Site": "same-origin"}, 404),
        ({"Sec-Fetch-Site": "none"}, 404),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Origin": ADDRESS}, 403),
        ({"Origin": ADDRESS}, 404),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({}, 403),
    ],
)
def test_only_our_own_pages_may_write(app: Starlette, headers: dict[str, str], status: int) -> None:
    client = TestClient(app, base_url=ADDRESS, follow_redirects=False)
    client.get(f"/?token={TOKEN}")
    assert client.post("/projects", data={"file": "nothing"}, headers=headers).status_code == status


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_no_foreign_page_writes_by_any_method(guest: TestClient, method: str) -> None:
    response = guest.request(method, "/projects", headers={"Sec-Fetch-Site": "cross-site"})
    assert response.status_code == 403


# What a page may load


def addresses() -> list[str]:
    return ["/", "/nowhere", "/projects/people/data", "/projects/people/data/age", "/static/workbench.css"]


@pytest.mark.parametrize("address", addresses())
def test_every_answer_carries_the_headers(guest: TestClient, address: str) -> None:
    headers = guest.get(address).headers
    policy = headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-frame-options"] == "DENY"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] in ("no-referrer", "same-origin")
    assert headers["cache-control"] == ("no-cache" if address.startswith("/static") else "no-store")


def test_refusals_carry_the_headers_too(newcomer: TestClient) -> None:
    for response in (newcomer.get("/"), newcomer.get("/", headers={"Host": "evil.example"})):
        assert "default-src 'self'" in response.headers["content-security-policy"]


def test_nothing_is_requested_from_outside_and_nothing_is_inline(ready: Callable[..., Any]) -> None:
    for address in ("/", "/nowhere", "/projects/people/data", "/projects/people/data/age"):
        page = ready(address).text
        assert re.findall(r'(?:src|href|action)="(?:[a-z]+:)?//', page) == []
        assert re.findall(r"<script(?! src=)|<style|\sstyle=|\son[a-z]+=", page) == []


def test_static_files_name_no_other_place() -> None:
    for path in (Path(server.__file__).parent / "static").iterdir():
        found = re.findall(r"https?://[^\s\"')]+", path.read_text())
        assert set(found) <= {"http://www.w3.org/2000/svg"}, path.name


# Sizes


def test_a_body_that_says_it_is_too_large_is_refused_unread(guest: TestClient) -> None:
    response = guest.post("/projects", content=b"x", headers={"Content-Length": str(guards.FORM_BYTES + 1)})
    assert response.status_code == 413


def test_a_body_that_grows_too_large_is_refused(guest: TestClient) -> None:
    def pieces() -> Any:
        for _ in range(guards.FORM_BYTES // 2**20 + 1):
            yield b"x" * 2**20

    form = {"Content-Type": "application/x-www-form-urlencoded"}
    assert guest.post("/projects", content=pieces(), headers=form).status_code == 413


@pytest.mark.parametrize("length", ["-1", "x", "1e9", ""])
def test_a_length_that_is_none_is_refused(guest: TestClient, length: str) -> None:
    assert guest.post("/projects", content=b"x", headers={"Content-Length": length}).status_code == 413


# Faults


def test_a_fault_shows_neither_values_nor_traceback(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def break_down(request: Request) -> PlainTextResponse:
        raise ValueError("the patient Ann has flu")

    app = application(folder, token=TOKEN)
    app.router.routes.insert(0, Route("/break", break_down))
    client = visitor(app)
    client.get(f"/?token={TOKEN}")
    response = client.get("/break")
    assert response.status_code == 500
    assert "A fault of ours" in response.text
    for said in (response.text, capsys.readouterr().err):
        assert "Ann" not in said
        assert "Traceback" not in said


def test_a_fault_that_hinders_every_page_is_said_plainly(
    monkeypatch: pytest.MonkeyPatch, guest: TestClient, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(self: object) -> None:
        raise RuntimeError("Ann, 31")

    monkeypatch.setattr("sfumato.interfaces.workbench.state.projects.Projects.files", broken)
    answer = guest.get("/")
    assert answer.status_code == 500
    assert "Nothing that was stored is lost" in answer.text
    assert "Ann" not in answer.text + capsys.readouterr().err
    assert "Content-Security-Policy" in answer.headers


def test_too_little_memory_is_no_fault_of_ours(monkeypatch: pytest.MonkeyPatch, guest: TestClient) -> None:
    def greedy(self: object) -> None:
        raise MemoryError

    monkeypatch.setattr("sfumato.interfaces.workbench.state.projects.Projects.data_files", greedy)
    answer = guest.get("/")
    assert answer.status_code == 507
    assert "<h1>Not enough memory</h1>" in answer.text


def test_what_is_not_served_is_said_in_our_words(guest: TestClient) -> None:
    assert "There is no page at this address." in guest.get("/nowhere").text
    assert "The page cannot be used like this." in guest.put("/").text


@pytest.mark.parametrize("address", ["/nowhere", "/projects/nothing/data", "/projects/people/data/nothing"])
def test_an_unknown_address_is_a_page(ready: Callable[..., Any], address: str) -> None:
    response = ready(address)
    assert response.status_code == 404
    assert "<h1>Nothing here</h1>" in response.text


def test_a_method_that_is_not_served_is_a_page(guest: TestClient) -> None:
    response = guest.post("/projects/people/data/age")
    assert response.status_code == 405
    assert "<h1>" in response.text


@pytest.mark.parametrize(
    "address",
    [
        "/static/../server.py",
        "/static/%2e%2e/server.py",
        "/static/..%2fserver.py",
        "/static/..%5cserver.py",
        "/static//etc/passwd",
        "/static/%00",
        "/projects/../people/data",
        "/projects/..%2f..%2fetc%2fpasswd/data",
        "/projects/%2e%2e/data",
        "/projects/people.toml/data",
        "/projects/people/data/..%2f..%2fpeople.toml",
        "/projects/people/data/%00",
        "/beginning/..%2fpeople.csv",
        "/beginning/people.csv",
    ],
)
def test_no_address_leads_out_of_its_place(ready: Callable[..., Any], address: str) -> None:
    response = ready(address)
    assert response.status_code in (400, 404)
    assert "import" not in response.text
    assert "root:" not in response.text


def test_a_file_of_the_folder_is_never_served(ready: Callable[..., Any]) -> None:
    for name in ("people.csv", "people.toml", "static/people.csv", "files/people.csv"):
        assert ready(f"/{name}").status_code in (404, 405)


# Where it listens


@pytest.mark.parametrize("options", [[], ["--port", "0"]])
def test_it_listens_on_this_machine_only(
    monkeypatch: pytest.MonkeyPatch, folder: Path, options: list[str]
) -> None:
    """The command as it is usually typed, up to the sockets that it would answer."""
    names: list[tuple[str, int]] = []

    def look(self: object, sockets: list[socket.socket]) -> None:
        names.extend(each.getsockname() for each in sockets)

    monkeypatch.setattr("uvicorn.Server.run", look)
    assert run(["workbench", str(folder), "--no-browser", *options]) == 0
    ((host, port),) = names
    assert host == "127.0.0.1"
    assert port > 0


def run_served(monkeypatch: pytest.MonkeyPatch, folder: Path, **options: Any) -> tuple[list[str], list[str]]:
    """Serve without serving; return what was said and opened."""
    said: list[str] = []
    opened: list[str] = []

    def look(address: str) -> None:
        place = Path(unquote(urlsplit(address).path))
        assert place.stat().st_mode & 0o077 == 0
        opened.extend([address, place.read_text(encoding="utf-8")])

    monkeypatch.setattr("uvicorn.Server.run", lambda self, sockets: None)
    monkeypatch.setattr("webbrowser.open", look)
    server.serve(folder, say=said.append, tell=said.append, **options)
    return said, opened


def test_the_address_with_its_token_is_said_and_a_private_page_that_leads_there_is_opened(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    before = sorted(folder.iterdir())
    said, (opened, page) = run_served(monkeypatch, folder, project="my people")
    address = re.search(r"http://127\.0\.0\.1:\d+/projects/my~20people/data\?token=(\S{20,})", said[0])
    assert address
    assert address[0] in page
    assert address[1] not in opened, "what a browser is given to open stands in the list of processes"
    assert sorted(folder.iterdir()) == before, "the page is gone when the workbench is"
    assert not any("warning" in line for line in said)


def test_a_page_opens_the_browser_also_where_the_folder_cannot_be_written(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    _, (opened, _) = run_served(monkeypatch, folder / "gone")
    assert not Path(urlsplit(opened).path).exists()


def test_a_browser_that_comes_from_that_page_gets_a_page_that_leads_on(folder: Path) -> None:
    # a strict cookie does not follow a redirection that another site began
    client = visitor(server.application(folder, token=TOKEN))
    answer = client.get(f"/?token={TOKEN}&a=1", headers={"sec-fetch-site": "cross-site"})
    assert (answer.status_code, client.get("/").status_code) == (200, 200)
    assert 'content="0; url=/?a=1"' in answer.text


def test_no_browser_is_opened_when_none_is_wanted(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    assert run_served(monkeypatch, folder, browser=False)[1] == []


def test_another_address_is_warned_of(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    said, _ = run_served(monkeypatch, folder, address="0.0.0.0", browser=False)
    assert "warning" in said[0]


def test_a_taken_port_is_said_in_one_line(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(UserError, match="cannot listen"):
            run_served(monkeypatch, folder, port=taken.getsockname()[1])


def test_nothing_about_people_is_kept_by_a_browser(
    folder: Path, app: Starlette, guest: TestClient, ready: Callable[..., Any]
) -> None:
    project = patients(folder)
    ready("/projects/patients/explore")
    chosen = candidates(project)["mondrian-3"].id
    given = {"why": "Why not.", "by": "A. Steward", "folder": "out"}
    written = ready(guest.post(f"/projects/patients/decide/{chosen}", data=given).headers["location"])
    assert written.status_code == 200
    parts = {
        "project": "patients",
        "id": chosen,
        "folder": "out",
        "page": "report.html",
        "attribute": "age",
        "number": "1",
        "target": "out",
        "file": slug("patients.csv"),
    }
    pages = [route for route in app.routes if isinstance(route, Route)]
    assert {"data", "release", "originals", "owner-report", "exploration-report", "candidates"} <= {
        route.name for route in pages
    }
    for route in pages:
        own = {name: parts[name] for name in route.param_convertors}
        address = str(app.url_path_for(route.name, **own))
        if "GET" in (route.methods or ()):
            query = "?sanitizer=mondrian" if route.name == "new-block" else ""
            answer = ready(address + query)
            assert answer.status_code == 200, route.name
        else:
            answer = guest.post(address, data={"agreed": "yes"} if route.name == "show-originals" else {})
        assert answer.headers["cache-control"] == "no-store", route.name
    app.state.workbench.jobs.end()
    shown = guest.post(f"/projects/patients/releases/{chosen}/originals", data={"agreed": "yes"})
    assert "drawn at random." in shown.text
    assert shown.headers["cache-control"] == "no-store"
