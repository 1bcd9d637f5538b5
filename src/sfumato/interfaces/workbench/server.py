"""Build the workbench as an application, and serve it on this machine."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable, Iterable
from importlib.resources import files
from pathlib import Path

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from sfumato.interfaces.workbench.addresses import data_page
from sfumato.interfaces.workbench.guards import STATIC, UPLOAD_BYTES, Announce, guards
from sfumato.interfaces.workbench.pages import on_http_exception, on_sfumato_error, on_still_reading
from sfumato.interfaces.workbench.routes import FIRST, complete, routes_of
from sfumato.interfaces.workbench.state.state import State, state_of
from sfumato.interfaces.workbench.state.tasks import StillReading
from sfumato.interfaces.workbench.token_redirect import write_redirect_page
from sfumato.runtime.errors import SfumatoError, UserError
from sfumato.runtime.processes import open_browser

_THIS_MACHINE = ("127.0.0.1", "localhost", "::1")


def application(
    folder: Path,
    *,
    token: str,
    announce: Announce | None = None,
    hosts: Iterable[str] = (),
    upload_bytes: int = UPLOAD_BYTES,
) -> Starlette:
    """Return the workbench of a folder.

    Parameters
    ----------
    folder
        Where the projects and their data lie; no address and no form leads outside it.
    token
        What opens the door the first time: ``/?token=…``.
    announce
        Told the next token whenever one was used.
    hosts
        Other names for this workbench, besides those of this machine.
    upload_bytes
        How large a file may be that is dropped on the page.
    """
    static = _Static(directory=str(files("sfumato.interfaces.workbench") / "static"))
    own_guards = guards(token=token, announce=announce, hosts=hosts, upload_bytes=upload_bytes)
    app = Starlette(
        routes=[*routes_of(FIRST), Mount("/static", static, name="static")],
        middleware=[*own_guards, Middleware(_Complete)],
        exception_handlers={
            HTTPException: on_http_exception,
            SfumatoError: on_sfumato_error,
            StillReading: on_still_reading,
        },
    )
    app.router.redirect_slashes = False
    State.of(folder, upload_bytes).attach(app)
    return app


class _Complete:
    """Import the heavy pages of a project after the first page is answered, or when one is requested."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].startswith(STATIC):
            await self.app(scope, receive, send)
        elif scope["path"] == "/":
            await self.app(scope, receive, send)
            await _completed(scope)
        else:
            await _completed(scope)
            await self.app(scope, receive, send)


async def _completed(scope: Scope) -> None:
    request = Request(scope)
    if not state_of(request).is_complete.is_set():
        await run_in_threadpool(complete, request)


class _Static(StaticFiles):
    """Our own style and script; a browser may cache them but checks that they are unchanged."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["Cache-Control"] = "no-cache"
        return response


def serve(
    folder: Path,
    project: str | None = None,
    *,
    say: Callable[[str], None],
    tell: Callable[[str], None],
    address: str = "127.0.0.1",
    port: int = 0,
    browser: bool = True,
) -> None:
    """Serve the workbench of a folder until it is interrupted.

    Parameters
    ----------
    folder
        Where the projects lie.
    project
        The name of the project to begin with.
    say
        Told warnings, and the address for another browser once the first one is used.
    tell
        Told the address to open.
    address, port
        Where to listen; by default on this machine only and at a free port.
    browser
        Whether to open the address in the browser.
    """
    import uvicorn

    token = secrets.token_urlsafe(24)
    with _bound(address, port) as listening:
        if address not in _THIS_MACHINE:
            say(f"warning: {address} can be reached by other machines, and what is sent is not encrypted")
        start = _start_address(address, listening.getsockname()[1], project)
        doorway = write_redirect_page(folder, f"{start}?token={token}") if browser else None

        def announce(fresh: str) -> None:
            _remove(doorway)
            say(f"For another browser: {start}?token={fresh}")

        app = application(
            folder,
            token=token,
            announce=announce,
            hosts=() if address in _THIS_MACHINE else (_bracketed(address), *_own_names()),
        )
        tell(f"{start}?token={token}")
        if doorway:
            open_browser(doorway.as_uri())
        config = uvicorn.Config(
            app, log_level="error", access_log=False, server_header=False, lifespan="off", ws="none"
        )
        try:
            uvicorn.Server(config).run(sockets=[listening])
        finally:
            _remove(doorway)


def _remove(doorway: Path | None) -> None:
    if doorway:
        doorway.unlink(missing_ok=True)


def _own_names() -> set[str]:
    """Return the names and addresses by which other machines reach this one."""
    name = socket.gethostname()
    try:
        addresses = {str(entry[4][0]) for entry in socket.getaddrinfo(name, None)}
    except OSError:
        addresses = set()
    return {name.lower(), socket.getfqdn().lower(), *map(_bracketed, addresses)}


def _bound(address: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((address, port))
        listening.listen(128)
    except OSError as error:
        listening.close()
        raise UserError(f"cannot listen on {address} port {port}: {error.strerror}; take another") from None
    return listening


def _start_address(address: str, port: int, project: str | None) -> str:
    path = data_page(project) if project else "/"
    host = "127.0.0.1" if address in ("0.0.0.0", "::") else _bracketed(address)
    return f"http://{host}:{port}{path}"


def _bracketed(address: str) -> str:
    return f"[{address}]" if ":" in address else address
