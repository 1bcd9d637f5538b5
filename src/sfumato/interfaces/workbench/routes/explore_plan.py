"""The plan pages: forms over the project file for what to try, to measure and to require."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sfumato.interfaces.workbench.addresses import link
from sfumato.interfaces.workbench.forms.fields import (
    Field,
    Reading,
    blame,
    fields,
    read,
    summary,
    tidy,
    with_typed,
)
from sfumato.interfaces.workbench.forms.measure_rows import measure_rows, read_measures
from sfumato.interfaces.workbench.forms.plain_parameters import NotShown
from sfumato.interfaces.workbench.forms.plan_form import (
    SIDES,
    BlockKind,
    CandidatesBlock,
    Plan,
    check_block,
    put_block,
    put_measures,
    put_policy,
    remove_block,
)
from sfumato.interfaces.workbench.forms.toml_text import toml_lines
from sfumato.interfaces.workbench.pages import back, page, posted
from sfumato.interfaces.workbench.state.project_edits import edit
from sfumato.interfaces.workbench.state.route_lookup import project_file_of
from sfumato.registry import methods
from sfumato.registry.declarations import Axis
from sfumato.results import formatting
from sfumato.results.formatting import sentence
from sfumato.results.recipients import RECIPIENTS
from sfumato.runtime.errors import ParameterError, ProjectError, SfumatoError
from sfumato.runtime.numerals import (
    number,
)

_TRIVIAL = ("as-is", "suppress-quasi-identifiers", "suppress-sensitive")
_MORE_LIMITS = 2


def plan(request: Request) -> Response:
    """Show what to try, to measure and to require."""
    return _shown(request, Plan.of(project_file_of(request)))


def _shown(
    request: Request,
    shown: Plan,
    *,
    measures: Mapping[Axis, Any] | None = None,
    measure_error: str = "",
    limits: list[dict[str, str]] | None = None,
    recipient: str | None = None,
    policy_error: str = "",
) -> Response:
    also = request.query_params.get("also", "")
    policy = shown.policy
    return page(
        request,
        "plan.html.j2",
        status=422 if measure_error or policy_error else 200,
        plan=shown,
        file=shown.project.path.name,
        methods=_methods(),
        also=also,
        sides=measures or {side: measure_rows(shown, side, also) for side in SIDES},
        measure_error=measure_error,
        recipients=RECIPIENTS,
        recipient=policy.get("recipient", "") if recipient is None else recipient,
        limits=limits if limits is not None else _limit_rows(policy),
        policy_error=policy_error,
        measurable=_measurable(shown.project.schema.sensitive, policy),
        titles=lambda name: formatting.measure_words(name).title,
    )


def _measurable(sensitive: Sequence[str], policy: Mapping[str, Any]) -> list[str]:
    """Return the measures that can be limited, also for single sensitive attributes if there are several."""
    every = [*methods.registered("measure"), *methods.registered("model")]
    classes = [(name, methods.find("measure", name) or methods.find("model", name)) for name in every]
    of_attributes = [name for name, method in classes if getattr(method, "guards", None) == "attribute"]
    single = sensitive if len(sensitive) > 1 else ()
    by_attribute = {f"{name} of {attribute}" for name in of_attributes for attribute in single}
    return sorted({*every, *by_attribute, *policy} - {"recipient"})


def _methods() -> list[tuple[str, list[tuple[BlockKind, str, tuple[str, ...]]]]]:
    """Return what can be tried, in groups."""
    sanitizers = methods.registered("sanitizer")
    groups: list[tuple[str, BlockKind, list[str]]] = [
        ("Methods", "sanitizer", [name for name in sanitizers if name not in _TRIVIAL]),
        ("Searches", "search", [name for name in methods.registered("search") if name != "sweep"]),
        ("The two ends, to compare with", "sanitizer", [name for name in _TRIVIAL if name in sanitizers]),
    ]
    return [
        (title, [(kind, name, summary(methods.look_up(kind, name))) for name in names])
        for title, kind, names in groups
    ]


def new_block(request: Request) -> Response:
    """Show the form of a method that is to be tried."""
    kind: BlockKind = "search" if "search" in request.query_params else "sanitizer"
    name = request.query_params.get(kind, "")
    shown = Plan.of(project_file_of(request))
    methods.look_up(kind, name)
    return _block_page(request, shown, CandidatesBlock(len(shown.blocks) + 1, kind, name, {}))


def one_block(request: Request) -> Response:
    """Show the form of a block that is there."""
    shown = Plan.of(project_file_of(request))
    return _block_page(request, shown, shown.block(_number(request)))


def _block_page(
    request: Request,
    shown: Plan,
    block: CandidatesBlock,
    inputs: tuple[Field, ...] | None = None,
    *,
    text: str | None = None,
    error: str = "",
    status: int = 200,
) -> Response:
    cls = methods.look_up(block.kind, block.name)
    is_text = text is not None or "text" in request.query_params
    if inputs is None and not is_text:
        try:
            inputs = fields(cls, block.given, swept=block.kind == "sanitizer", known=shown.known)
        except NotShown:
            is_text = True
    return page(
        request,
        "plan_block.html.j2",
        status=status,
        block=block,
        is_new=block.number > len(shown.blocks),
        inputs=None if is_text else inputs,
        text=toml_lines(block.given) if text is None else text,
        summary=(cls.does,) if "does" in vars(cls) else summary(cls),
        error=error,
        digest=shown.version,
    )


def save_block(request: Request, form: FormData) -> Response:
    """Write a block, or show beside its inputs what is wrong."""
    shown = Plan.of(project_file_of(request))
    number_ = _number(request)
    kind: BlockKind = "search" if form.get("kind") == "search" else "sanitizer"
    is_new = number_ == len(shown.blocks) + 1
    old = CandidatesBlock(number_, kind, str(form.get("name")), {}) if is_new else shown.block(number_)
    cls = methods.look_up(old.kind, old.name)
    text = form.get("text")
    if isinstance(text, str):
        try:
            given = tomllib.loads(text)
            check_block(old.kind, old.name, given)
        except (tomllib.TOMLDecodeError, SfumatoError) as error:
            return _block_page(request, shown, old, text=text, error=sentence(str(error)), status=422)
        return _saved(request, shown, old, given, str(form.get("version")))
    swept = old.kind == "sanitizer"
    reading = read(cls, form, swept=swept)
    given = tidy(cls, reading.parameters, old.given)
    if not reading.errors:
        _check(old, given, reading)
    if reading.errors:
        inputs = with_typed(fields(cls, {}, swept=swept, known=shown.known), form, reading.errors)
        return _block_page(request, shown, old, inputs, error=reading.errors.get("", ""), status=422)
    return _saved(request, shown, old, given, str(form.get("version")))


def _check(block: CandidatesBlock, given: dict[str, Any], reading: Reading) -> None:
    """Note what the library says of the parameters at the input to which it belongs."""
    try:
        check_block(block.kind, block.name, given)
    except SfumatoError as error:
        key = blame(block.kind, block.name, given, str(error))
        message = str(error).removeprefix(f"{block.name}: ")
        for part in key.split(".")[1:]:
            message = message.removeprefix(f"{part}: ")
        reading.errors[key] = message


def _saved(
    request: Request, shown: Plan, old: CandidatesBlock, given: dict[str, Any], version: str
) -> Response:
    block = CandidatesBlock(old.number, old.kind, old.name, given)
    edit(shown.project.path, version, lambda document: put_block(document, block))
    return back(request, link(request, "plan"), f"Saved in the project file: {block.words}.")


def drop_block(request: Request, form: FormData) -> Response:
    """Remove a block from the project file."""
    shown = Plan.of(project_file_of(request))
    block = shown.block(_number(request))
    edit(shown.project.path, str(form.get("version")), lambda document: remove_block(document, block.number))
    message = f"No longer tried: {block.words}. What was explored of it stays in the store."
    return back(request, link(request, "plan"), message)


def save_measures(request: Request, form: FormData) -> Response:
    """Write the measures."""
    shown = Plan.of(project_file_of(request))
    read_sides = {side: read_measures(shown, side, form) for side in SIDES}
    listed = {side: written for side, (written, _, _) in read_sides.items()}
    by = [str(name) for name in form.getlist("by")]
    problems = [message for _, _, message in read_sides.values() if message]
    try:
        if problems:
            raise ParameterError(problems[0])
        edit(
            shown.project.path, str(form.get("version")), lambda document: put_measures(document, listed, by)
        )
    except (ParameterError, ProjectError) as error:
        rows = {side: shown_rows for side, (_, shown_rows, _) in read_sides.items()}
        return _shown(request, shown, measures=rows, measure_error=sentence(str(error)))
    message = "The measures are saved in the project file. Explore to take the new ones."
    return back(request, link(request, "plan") + "#measures", message)


def save_policy(request: Request, form: FormData) -> Response:
    """Write the limits that must hold before anything may be published."""
    shown = Plan.of(project_file_of(request))
    rows = _typed_limits(form)
    recipient = str(form.get("recipient", ""))
    try:
        policy: dict[str, Any] = {"recipient": recipient} if recipient else {}
        for row in rows:
            if row["measure"] and (row["most"] or row["least"]):
                policy[row["measure"]] = _limit(row)
        edit(shown.project.path, str(form.get("version")), lambda document: put_policy(document, policy))
    except (ParameterError, ProjectError) as error:
        return _shown(request, shown, limits=rows, recipient=recipient, policy_error=sentence(str(error)))
    return back(request, link(request, "plan") + "#policy", "The policy is saved in the project file.")


def _limit_rows(policy: dict[str, Any]) -> list[dict[str, str]]:
    rows = [
        {
            "measure": name,
            "most": str(block.get("at-most", "")),
            "least": str(block.get("at-least", "")),
            "error": "",
        }
        for name, block in policy.items()
        if name != "recipient"
    ]
    return [*rows, *({"measure": "", "most": "", "least": "", "error": ""} for _ in range(_MORE_LIMITS))]


def _typed_limits(form: FormData) -> list[dict[str, str]]:
    columns = [
        [str(text).strip() for text in form.getlist(f"limit.{key}")] for key in ("measure", "most", "least")
    ]
    return [
        {"measure": measure, "most": most, "least": least, "error": ""}
        for measure, most, least in zip(*columns, strict=False)
    ]


def _limit(row: dict[str, str]) -> dict[str, float]:
    limit = {}
    for key, typed in (("at-most", row["most"]), ("at-least", row["least"])):
        if not typed:
            continue
        value = number(typed.removesuffix("%").strip())
        if value is None:
            row["error"] = f"{key}: expected a number, for example 0.09"
            raise ParameterError(f"policy.{row['measure']}: {row['error']}")
        limit[key] = value / 100 if typed.endswith("%") else value
    return limit


def _number(request: Request) -> int:
    written = request.path_params["number"]
    if not written.isdecimal() or len(written) > 6:
        raise HTTPException(404, "There is no such block in the project file.")
    return int(written)


routes = [
    Route("/projects/{project}/explore/plan", plan, name="plan"),
    Route(
        "/projects/{project}/explore/plan/measures", posted(save_measures), methods=["POST"], name="measures"
    ),
    Route("/projects/{project}/explore/plan/policy", posted(save_policy), methods=["POST"], name="policy"),
    Route("/projects/{project}/explore/plan/new", new_block, name="new-block"),
    Route("/projects/{project}/explore/plan/{number}", one_block, name="block"),
    Route(
        "/projects/{project}/explore/plan/{number}", posted(save_block), methods=["POST"], name="save-block"
    ),
    Route(
        "/projects/{project}/explore/plan/{number}/remove",
        posted(drop_block),
        methods=["POST"],
        name="drop-block",
    ),
]
