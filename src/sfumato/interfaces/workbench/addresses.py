"""Encode names of attributes, projects and files for URLs, and decode them again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.routing import NoMatchFound


def slug(name: str) -> str:
    """Write a name as one part of a URL: letters, digits and ``_-`` stay, the rest is ``~`` and hex.

    So a column called ``..`` or ``a/b`` has an address that no browser and no server takes for a path.

    Examples
    --------
    >>> slug("marital-status"), slug("../x"), slug("..")
    ('marital-status', '~2e~2e~2fx', '~2e~2e')
    """
    return "".join(
        sign if _stays(sign) else "".join(f"~{byte:02x}" for byte in sign.encode("utf-8", "surrogateescape"))
        for sign in name
    )


def named(address: str, names: Iterable[str], what: str) -> str:
    """Return the name that the address part encodes, or raise the page that says there is none."""
    for name in names:
        if slug(name) == address:
            return name
    raise HTTPException(404, f"There is no {what} at this address.")


def data_page(project: str) -> str:
    """Return the address of a project's data page, where every project starts."""
    return f"/projects/{slug(project)}/data"


def link(request: Request, page: str, **parts: Any) -> str:
    """Return the address of a page by the name of its route; its parts are unencoded names.

    ``link(request, "attribute", project="adult", attribute="marital status")``. The project is that of
    the request where none is named.
    """
    here = request.path_params.get("project")
    written = {key: slug(str(value)) for key, value in parts.items()}
    if here is not None:
        try:
            return str(request.app.url_path_for(page, **{"project": here, **written}))
        except NoMatchFound:
            pass  # a page that belongs to no project
    return str(request.app.url_path_for(page, **written))


def has_page(request: Request, page: str) -> bool:
    """Whether a page of this name is served."""
    return any(getattr(route, "name", None) == page for route in request.app.routes)


def next_page(fields: Mapping[str, str], file: str) -> str | None:
    """Return where to continue with a file of new records; ``None`` for one that starts a project.

    A text of a form never becomes an address: only the slugs in it do.

    Examples
    --------
    >>> next_page({"then": "projects/adult/releases/3f9a/apply"}, "march.csv")
    '/projects/adult/releases/3f9a/apply?file=march.csv'
    """
    parts = fields.get("then", "").split("/")
    if len(parts) != 5 or (parts[0], parts[4]) != ("projects", "apply"):
        return None
    if parts[2] not in ("releases", "published") or not (_is_slug(parts[1]) and _is_slug(parts[3])):
        return None
    return f"/{'/'.join(parts)}?{urlencode({'file': file})}"


def _is_slug(part: str) -> bool:
    return bool(part) and all(_stays(sign) or sign == "~" for sign in part)


def _stays(sign: str) -> bool:
    return sign.isalnum() or sign in "_-"
