"""Render templates as pages. Every value is escaped, and every page knows its place in the navigation."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from functools import cache, partial
from http import HTTPStatus
from typing import Any

import jinja2
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

import sfumato
from sfumato.interfaces.workbench.addresses import has_page, link, slug
from sfumato.interfaces.workbench.state.state import state_of
from sfumato.interfaces.workbench.state.tasks import StillReading
from sfumato.results.formatting import sentence
from sfumato.runtime.errors import DataError, SfumatoError
from sfumato.workflow.report.markup import html_templates

NAVIGATION = {
    "data": "Data",
    "explore": "Explore",
    "ask": "Ask",
    "compare": "Compare",
    "report": "Report",
}
"""The pages of a project that the navigation shows, by the names of their routes, in the order of work."""

FRAGMENT = "Sfumato-Fragment"
"""The header with which our script asks for a page without its frame."""

_READINESS_POLL = "ready"
_MESSAGE_COOKIE = "sfumato-message"
_TITLES = {
    400: "Not understood",
    403: "No access",
    404: "Nothing here",
    405: "Not possible here",
    409: "Changed in the meantime",
    413: "Too large",
    422: "That cannot be used",
    500: "A fault of ours",
    507: "Not enough memory",
}


def page(request: Request, template: str, *, status: int = 200, **facts: Any) -> HTMLResponse:
    """Render a template; our own script gets it without the frame around it.

    Every template knows ``link(page, …)`` for addresses, ``slug(name)``, ``request`` and ``project``, the
    slug of the project that the address speaks of. The filters ``count`` (1,234), ``share`` (12%) and
    ``joined`` (a, b and c) write numbers and lists, ``sentence`` what an error says.
    """
    framed = "frame.html.j2" if FRAGMENT not in request.headers else "fragment.html.j2"
    known = {
        "frame": framed,
        "request": request,
        "link": partial(link, request),
        "project": request.path_params.get("project"),
        "navigation": _navigation(request),
        "messages": [] if status == 202 else _messages(request),
        "version": sfumato.__version__,
    }
    body = environment().get_template(template).render(known | facts)
    response = HTMLResponse(body, status, headers={"Vary": FRAGMENT})
    if known["messages"]:
        response.delete_cookie(_MESSAGE_COOKIE, httponly=True, samesite="strict", path="/")
    return response


def problem(
    request: Request, status: int, message: str, remedy: str = "", *, mends_file: bool = False
) -> HTMLResponse:
    """Describe an error, and link to the data file page if changes there may help."""
    facts = {"title": _TITLES.get(status, "That did not work"), "message": message, "remedy": remedy}
    return page(request, "problem.html.j2", status=status, mends_file=mends_file, **facts)


def back(request: Request, address: str, message: str = "") -> RedirectResponse:
    """Redirect to a page after a change, with one sentence to show there."""
    response = RedirectResponse(address, 303)
    if message:
        response.set_cookie(
            _MESSAGE_COOKIE, json.dumps(message), max_age=60, httponly=True, samesite="strict", path="/"
        )
    return response


def posted(handler: Callable[[Request, FormData], Response]) -> Callable[[Request], Awaitable[Response]]:
    """Make an endpoint from a function of the request and its form, and run it in a thread."""

    async def endpoint(request: Request) -> Response:
        async with request.form(max_fields=100_000, max_files=8) as form:
            return await run_in_threadpool(handler, request, form)

    return endpoint


def on_http_exception(request: Request, error: Exception) -> Response:
    """Show the refusal of a route."""
    if not isinstance(error, HTTPException):
        raise error
    message = "The request cannot be answered."
    if error.detail != HTTPStatus(error.status_code).phrase and " " in error.detail:
        message = error.detail
    elif error.status_code == 404:
        message = "There is no page at this address."
    elif error.status_code == 405:
        message = "The page cannot be used like this."
    return problem(request, error.status_code, message)


def on_sfumato_error(request: Request, error: Exception) -> Response:
    """Show one of our errors, whose message names the remedy and no record's value."""
    if not isinstance(error, SfumatoError):
        raise error
    mends_file = isinstance(error, DataError) and "project" in request.path_params
    return problem(request, getattr(error, "status", 422), sentence(str(error)), mends_file=mends_file)


def on_still_reading(request: Request, error: Exception) -> Response:
    """Show the loading page."""
    if not isinstance(error, StillReading):
        raise error
    facts = {"name": error.name, "doing": error.doing, "message": error.message}
    return page(request, "loading.html.j2", status=202, **facts)


def _navigation(request: Request) -> list[tuple[str, str, bool]]:
    """Return the address, the title and whether it is the current one, for every page of the project."""
    projects = {slug(path.stem) for path in state_of(request).projects.files()}
    if request.path_params.get("project") not in projects:
        return []
    here = request.url.path
    addresses = [
        (link(request, name), title) for name, title in NAVIGATION.items() if has_page(request, name)
    ]
    return [
        (address, title, here == address or here.startswith(address + "/")) for address, title in addresses
    ]


def _messages(request: Request) -> list[str]:
    """Return the sentence that the last change left for this page, unless nobody would see it."""
    if request.headers.get(FRAGMENT) == _READINESS_POLL:
        return []
    try:
        message = json.loads(request.cookies.get(_MESSAGE_COOKIE, '""'))
    except ValueError:
        return []
    return [message] if isinstance(message, str) and message else []


@cache
def environment() -> jinja2.Environment:
    """Return the environment of all templates."""
    jinja = html_templates("sfumato.interfaces.workbench")
    jinja.filters["count"] = lambda value: f"{value:,}"
    jinja.filters["joined"] = partial(_in_words, "joined")
    jinja.filters["share"] = partial(_in_words, "share")
    jinja.filters["sentence"] = sentence
    jinja.filters["number"] = partial(_in_words, "number")
    jinja.globals["slug"] = slug
    return jinja


def _in_words(how: str, *given: Any) -> str:
    """Wrap a function of `sfumato.results.formatting`, which the first page need not import."""
    from sfumato.results import formatting

    written: str = getattr(formatting, how)(*given)
    return written
