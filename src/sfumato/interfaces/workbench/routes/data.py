"""The data page: the guessed and the confirmed role of each attribute, and how unique people are."""

from __future__ import annotations

from typing import Any

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sfumato.data.kinds import kind_names
from sfumato.data.schema import ROLES, UNRELEASED
from sfumato.interfaces.workbench.addresses import link, slug
from sfumato.interfaces.workbench.forms.publication_form import FIELDS, stated
from sfumato.interfaces.workbench.pages import back, page, posted
from sfumato.interfaces.workbench.state.project_edits import edit, set_attribute
from sfumato.interfaces.workbench.state.projects import Look
from sfumato.interfaces.workbench.state.route_lookup import look_of
from sfumato.interfaces.workbench.state.state import state_of
from sfumato.interfaces.workbench.views.distribution_bars import distribution
from sfumato.results import formatting
from sfumato.runtime.errors import UserError

PERSON = "person"
"""What the page offers beside the roles: identifying, and records with the same value are one person's."""


def data(request: Request) -> Response:
    """Show the attributes, and the risk of the table as it is."""
    look = look_of(request)
    return page(
        request,
        "data.html.j2",
        name=look.project.path.stem,
        publication=look.project.publication,
        publication_fields=FIELDS,
        publication_values=stated(look.project.publication),
        file=look.project.data.path,
        digest=look.version,
        n_records=look.records.table.n_records,
        rows=[_row(look, name) for name in look.records.table.names],
        gone=[a.name for a in look.project.schema.attributes if a.name not in look.records.table.columns],
        problem=str(look.problem or ""),
        mixtures=look.records.mixtures,
        inspection=look.opened.inspection if look.opened else None,
        singling_out=look.singling_out,
        schema=look.project.schema,
        missing=look.project.data.missing,
        all_roles=ROLES,
        person=PERSON,
        meanings=formatting.ROLES | {PERSON: formatting.PERSON},
        kinds=kind_names(),
    )


def confirm(request: Request, form: FormData) -> Response:
    """Write the chosen roles, kinds and treatment of missing values into the project file."""
    look = look_of(request)
    chosen = {name: _chosen(form, name) for name in look.records.table.names}
    person = _person(form, look)

    def change(document: Any) -> None:
        for name, (role, kind) in chosen.items():
            if name not in document["attributes"]:
                document["attributes"][name] = {"role": role}
            set_attribute(document, name, "role", role)
            if role != "quasi-identifying":
                set_attribute(document, name, "lowest-level", None)
            if kind is not None and kind != _kind(look, name):
                set_attribute(document, name, "kind", kind)
                if "intervals" in document["attributes"][name].get("hierarchy", {}):
                    set_attribute(document, name, "hierarchy", None)
                    set_attribute(document, name, "lowest-level", None)
        if form.get("missing") in ("category", "drop"):
            document["data"]["missing"] = str(form["missing"])
        if person is None:
            document["data"].pop("person", None)
        elif document["data"].get("person") != person:
            document["data"]["person"] = person

    edit(look.project.path, str(form.get("version")), change, state_of(request).projects.bound)
    return back(request, link(request, "data"), "The roles are saved in the project file.")


def _chosen(form: FormData, name: str) -> tuple[str, str | None]:
    role, kind = (form.get(f"{key}-{slug(name)}") for key in ("role", "kind"))
    return "identifying" if role == PERSON else str(role or ""), None if kind is None else str(kind)


def _person(form: FormData, look: Look) -> str | None:
    """Return the attribute that identifies the person, if one was chosen."""
    named = [name for name in look.records.table.names if form.get(f"role-{slug(name)}") == PERSON]
    if len(named) > 1:
        raise UserError(
            f"{named[0]!r} and {named[1]!r} cannot both tell whose a record is; make one of them identifying"
        )
    return named[0] if named else None


def _kind(look: Look, name: str) -> str:
    described = look.attribute(name)
    return (described.kind if described else None) or look.records.table[name].kind.name


def _row(look: Look, name: str) -> dict[str, Any]:
    """Return the facts of one attribute; an attribute that is not released shows no values."""
    described = look.attribute(name)
    role = described.role if described else None
    bound = look.opened if look.opened and name in look.opened.table.columns else None
    columns = look.singling_out.columns if look.singling_out else ()
    table = bound.table if bound else look.records.table
    return {
        "name": name,
        "role": role,
        "is_person": look.project.data.person == name,
        "kind": _kind(look, name),
        "guess": look.guess(name),
        "levels": bound.schema.hierarchy(name).height + 1 if bound else None,
        "telling": next((column for column in columns if column.name == name), None),
        "picture": None if role in UNRELEASED else distribution(table, table[name]),
    }


routes = [
    Route("/projects/{project}/data", data, name="data"),
    Route("/projects/{project}/data", posted(confirm), methods=["POST"], name="confirm"),
]
