"""Guard the workbench: who may send requests, how large they may be, and what a page may load.

The order, from the outside: headers on every answer, faults without details, hosts, the door, writes, sizes.
"""

from __future__ import annotations

import hmac
import secrets
import sys
import traceback
from collections.abc import Callable, Iterable
from hashlib import sha256
from urllib.parse import urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request, cookie_parser
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sfumato.interfaces.workbench.pages import problem
from sfumato.interfaces.workbench.token_redirect import redirect_page

CONTENT_POLICY = {
    "default-src": "'self'",
    "img-src": "'self' data:",
    "object-src": "'none'",
    "base-uri": "'none'",
    "form-action": "'self'",
    "frame-ancestors": "'none'",
}
"""What a page may load: only our own files, no script or style within the page."""

HEADERS = {
    "Content-Security-Policy": "; ".join(f"{what} {where}" for what, where in CONTENT_POLICY.items()),
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    # tells others nothing; with "no-referrer" browsers would also hide from us where a form comes from
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
"""The headers of every answer; a route that needs another value sets it itself."""

LOCAL = ("127.0.0.1", "localhost", "[::1]")
STATIC = "/static/"
UPLOAD = "/files"
FORM_BYTES = 16 * 2**20
UPLOAD_BYTES = 4 * 2**30

Announce = Callable[[str], None]


def guards(
    *, token: str, announce: Announce | None, hosts: Iterable[str], upload_bytes: int
) -> list[Middleware]:
    """Return all guards in their order."""
    return [
        Middleware(WithHeaders),
        Middleware(WithoutDetails),
        Middleware(KnownHosts, hosts=frozenset((*LOCAL, *hosts))),
        Middleware(TokenGuard, token=token, announce=announce),
        Middleware(OwnWrites),
        Middleware(LimitedSize, upload_bytes=upload_bytes),
    ]


class WithHeaders:
    """Add the headers to every answer that lacks them."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass on to the next guard."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self.app(scope, receive, send_with_headers)


class WithoutDetails:
    """Show a fault as a page; log only its kind and its place in our code, never a value."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass on to the next guard."""
        started = False

        async def send_noting(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self.app(scope, receive, send_noting)
        except Exception as error:
            _note(error)
            if not started and scope["type"] == "http":
                await _fault(scope, error)(scope, receive, send)


def _fault(scope: Scope, error: Exception) -> Response:
    status, words = 500, "Something went wrong inside sfumato."
    if isinstance(error, MemoryError):
        status, words = 507, "This machine does not have enough memory for that; use a smaller table."
    words += " Nothing that was stored is lost."
    try:
        return problem(Request(scope), status, words)
    except Exception as second:
        # the cause may break this page, too
        _note(second)
        return PlainTextResponse(words, status)


def _note(error: Exception) -> None:
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{last.filename.rpartition('sfumato')[2].lstrip('/')}:{last.lineno}"
    sys.stderr.write(f"sfumato workbench: {type(error).__name__} at {place}\n")


class KnownHosts:
    """Refuse requests for another host, because a foreign page could point its name here."""

    def __init__(self, app: ASGIApp, hosts: frozenset[str]) -> None:
        self.app = app
        self.hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass on to the next guard."""
        if scope["type"] == "http" and _host(Headers(scope=scope).get("host", "")) not in self.hosts:
            words = "This workbench answers only under its own address."
            await problem(Request(scope), 400, words)(scope, receive, send)
            return
        await self.app(scope, receive, send)


def _host(written: str) -> str:
    """Return the host without its port.

    Examples
    --------
    >>> _host("localhost:8000"), _host("[::1]:80"), _host("127.0.0.1.evil.example:80")
    ('localhost', '[::1]', '127.0.0.1.evil.example')
    """
    name, colon, port = written.rpartition(":")
    return (name if colon and (port.isdecimal() and not name.endswith(":")) else written).lower()


class TokenGuard:
    """Admit a request with the token once; then a cookie identifies the browser.

    Each token opens the door one time. The next one is announced to the person at the terminal.
    """

    def __init__(self, app: ASGIApp, token: str, announce: Announce | None) -> None:
        self.app = app
        self.token = token
        self.announce = announce
        self.pass_ = secrets.token_urlsafe(32)
        # cookies know no ports: two workbenches must not overwrite each other's
        self.cookie = f"sfumato-{sha256(token.encode()).hexdigest()[:12]}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass on to the next guard."""
        if scope["type"] != "http" or scope["path"].startswith(STATIC):
            await self.app(scope, receive, send)
            return
        brought = QueryParams(scope["query_string"]).get("token", "")
        if self._knows(scope):
            app: ASGIApp = RedirectResponse(_without_token(scope), 303) if brought else self.app
        elif (
            brought
            and scope["method"] == "GET"
            and hmac.compare_digest(brought.encode(), self.token.encode())
        ):
            app = self._let_in(scope)
        else:
            words = (
                "Open the address that the workbench wrote in the terminal. It works once, in one browser."
            )
            app = problem(Request(scope), 403, words)
        await app(scope, receive, send)

    def _knows(self, scope: Scope) -> bool:
        # other programs of this machine set cookies here too, and not all of them are well formed
        shown = cookie_parser(Headers(scope=scope).get("cookie", "")).get(self.cookie, "")
        return hmac.compare_digest(shown.encode(), self.pass_.encode())

    def _let_in(self, scope: Scope) -> Response:
        self.token = secrets.token_urlsafe(24)
        if self.announce is not None:
            self.announce(self.token)
        response: Response = RedirectResponse(_without_token(scope), 303)
        if Headers(scope=scope).get("sec-fetch-site") == "cross-site":
            # from the doorway, a file: a strict cookie would not follow a redirection, but it follows a page
            response = HTMLResponse(redirect_page(_without_token(scope)))
        response.set_cookie(self.cookie, self.pass_, httponly=True, samesite="strict", path="/")
        return response


def _without_token(scope: Scope) -> str:
    """Return the requested address as a path of our own, never of another host."""
    kept = [
        (name, value) for name, value in QueryParams(scope["query_string"]).multi_items() if name != "token"
    ]
    path = "/" + scope["path"].lstrip("/\\")
    return path + ("?" + urlencode(kept) if kept else "")


class OwnWrites:
    """Refuse changes from pages that are not ours."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass on to the next guard."""
        if scope["type"] == "http" and scope["method"] not in ("GET", "HEAD") and not _is_own(scope):
            words = "Only the workbench's own pages may change anything."
            await problem(Request(scope), 403, words)(scope, receive, send)
            return
        await self.app(scope, receive, send)


def _is_own(scope: Scope) -> bool:
    headers = Headers(scope=scope)
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site in ("same-origin", "none")
    origin = urlsplit(headers.get("origin", ""))
    return origin.scheme in ("http", "https") and origin.netloc == headers.get("host")


class LimitedSize:
    """Refuse bodies that are too large, by the declared and by the received size."""

    def __init__(self, app: ASGIApp, upload_bytes: int) -> None:
        self.app = app
        self.upload_bytes = upload_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass on to the next guard."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        most = self.upload_bytes if scope["path"] == UPLOAD else FORM_BYTES
        too_large = HTTPException(413, f"This is larger than the limit of {most / 2**20:,.0f} MiB.")
        declared = Headers(scope=scope).get("content-length", "0")
        if not declared.isdecimal() or int(declared) > most:
            await problem(Request(scope), too_large.status_code, too_large.detail)(scope, receive, send)
            return
        arrived = 0

        async def receive_counting() -> Message:
            nonlocal arrived
            message = await receive()
            arrived += len(message.get("body", b""))
            if arrived > most:
                raise too_large
            return message

        await self.app(scope, receive_counting, send)
