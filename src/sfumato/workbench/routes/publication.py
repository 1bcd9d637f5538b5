"""The form of the data page that says what a reviewer should know: title, purpose, recipients and so on."""

from __future__ import annotations

from datetime import date
from typing import Any

import tomlkit
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sfumato.errors import ProjectError
from sfumato.workbench.addresses import link
from sfumato.workbench.pages import back, posted
from sfumato.workbench.state.editing import edit
from sfumato.workbench.state.opened import project_file_of

FIELDS = {
    "title": ("Title", "What the table is called."),
    "purpose": ("Purpose", "What the released table is for."),
    "recipients": ("Recipients", "Who will get it."),
    "safeguards": (
        "Safeguards",
        "Contracts, access control and other things that protect it beside the release.",
    ),
    "steward": ("Data steward", "Who answers for it: name and position."),
    "review-by": ("Review date", "When the assessment should be repeated."),
}
"""The keys of ``[publication]``, their titles and what they ask."""


def describe(request: Request, form: FormData) -> Response:
    """Write what a reviewer should know into the project file; what is left empty is taken away."""
    given = {key: str(form.get(key, "")).replace("\r\n", "\n").strip() for key in FIELDS}

    def change(document: Any) -> None:
        section = document.get("publication", {})
        if "publication" not in document and any(given.values()):
            section = document["publication"] = tomlkit.table()
        for key, text in given.items():
            if text:
                section[key] = _day(text) if key == "review-by" else text
            else:
                section.pop(key, None)

    edit(project_file_of(request), str(form.get("version")), change)
    return back(
        request, link(request, "data") + "#publication", "What a reviewer should know is written down."
    )


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ProjectError("the day of the review is not a date; write it like 2027-01-31") from None


routes = [Route("/projects/{project}/publication", posted(describe), methods=["POST"], name="publication")]
