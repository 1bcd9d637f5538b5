"""Receive the form of the data page that tells reviewers about the publication."""

from __future__ import annotations

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sfumato.interfaces.workbench.addresses import link
from sfumato.interfaces.workbench.forms.publication_form import plain, put_publication, typed
from sfumato.interfaces.workbench.pages import back, posted
from sfumato.interfaces.workbench.state.project_edits import edit
from sfumato.interfaces.workbench.state.route_lookup import project_file_of


def describe(request: Request, form: FormData) -> Response:
    """Write the facts for reviewers into the project file."""
    values = plain(typed(form))
    edit(
        project_file_of(request),
        str(form.get("version")),
        lambda document: put_publication(document, values),
    )
    message = "What a reviewer should know is saved in the project file."
    return back(request, link(request, "data") + "#publication", message)


routes = [Route("/projects/{project}/publication", posted(describe), methods=["POST"], name="publication")]
