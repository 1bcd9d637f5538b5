"""Forms: every registered class survives the way through a form, and errors stand at their input."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import FormData

from sfumato.interfaces.workbench.forms.fields import (
    Field,
    Known,
    blame,
    fields,
    parameter_help,
    read,
    tidy,
    with_typed,
)
from sfumato.interfaces.workbench.forms.plain_parameters import NotShown
from sfumato.registry import methods
from sfumato.runtime.errors import SfumatoError
from sfumato.searches import Sweep

KINDS: tuple[methods.Kind, ...] = ("sanitizer", "search", "model", "measure")
EVERY = [(kind, name) for kind in KINDS for name in methods.registered(kind)]
NEEDED: dict[str, dict[str, Any]] = {
    "sweep": {"sanitizer": "mondrian", "parameters": {"model": {"k-anonymity": {"k": [2, 5]}}}}
}
OTHER: dict[str, dict[str, Any]] = {
    "cut": {"cuts": {"age": "0101", "zip code": "1"}, "free": ["a, b", "c"], "suppression": 0.25},
    "full-domain": {
        "levels": {"age": 2, "sex": 0},
        "model": {"k-anonymity": {"k": 3}, "t-closeness": {"t": 0.5}},
    },
    "laplace": {"attributes": ["age", 'the "real" one'], "rounded": False},
    "mondrian": {
        "variant": "relaxed",
        "free": ["workclass"],
        "model": {"beta-likeness": {"variant": "enhanced"}},
    },
    "evolution": {
        "objectives": ["t-closeness", "utility-loss"],
        "limits": {"reidentification-risk": {"at-most": 0.09}},
        "granularity": {"age": 5.0},
        "guarantee": False,
        "eta": 0.2,
    },
    "alpha-k-anonymity": {"alphas": {"<b>": 0.25}, "alpha": 0.75},
    "auxiliary-gain": {"attribute": "diagnosis", "known": ["age", "sex"], "people": 10},
    "journalist-risk": {"population-size": 100_000},
    "workload-utility": {"target": "x", "miners": ["naive-bayes"], "time-limit": 1.5},
    "kl-divergence": {"reconstruction": "maximum-entropy", "sensitive": False},
}


def sent(shown: Iterable[Field]) -> FormData:
    """What a browser sends for inputs that nobody touched."""
    pairs: list[tuple[str, str]] = []

    def add(one: Field) -> None:
        if one.sort == "models":
            for model in one.models:
                pairs.extend([(one.key, model.name)] if model.chosen else [])
                for inner in model.fields:
                    add(inner)
        elif one.sort in ("choice", "yes-no") and one.swept:
            pairs.extend((one.key, option) for option in one.options if option in one.values)
        elif one.sort in ("choice", "yes-no"):
            pairs.append((one.key, one.text if one.text in one.options else one.options[0]))
        else:
            pairs.append((one.key, one.text.replace("\n", "\r\n")))

    for each in shown:
        add(each)
    return FormData([*pairs])


def through(cls: type[Any], given: dict[str, Any], *, swept: bool = False) -> dict[str, Any]:
    """Send plain parameters through a form and back."""
    reading = read(cls, sent(fields(cls, given, swept=swept)), swept=swept)
    assert reading.errors == {}
    return reading.parameters


@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_the_defaults_come_back(kind: methods.Kind, name: str) -> None:
    cls, needed = methods.look_up(kind, name), NEEDED.get(name, {})
    instance = methods.build(kind, name, needed)
    assert methods.build(kind, name, through(cls, needed)) == instance
    if kind == "sanitizer":
        assert methods.build(kind, name, through(cls, {}, swept=True)) == instance


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, name in EVERY if name in OTHER])
def test_other_parameters_come_back(kind: methods.Kind, name: str) -> None:
    cls = methods.look_up(kind, name)
    instance = methods.build(kind, name, OTHER[name])
    assert methods.build(kind, name, through(cls, OTHER[name])) == instance
    written = methods.describe(instance)[1]
    assert methods.build(kind, name, through(cls, written)) == instance
    if kind == "sanitizer":
        assert methods.build(kind, name, through(cls, written, swept=True)) == instance


@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_what_stays_at_its_default_is_not_written(kind: methods.Kind, name: str) -> None:
    cls, needed = methods.look_up(kind, name), NEEDED.get(name, {})
    kept = tidy(cls, through(cls, needed), needed)
    assert set(kept) <= {"model", *needed}
    assert methods.build(kind, name, kept) == methods.build(kind, name, needed)


@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_every_parameter_is_explained(kind: methods.Kind, name: str) -> None:
    cls = methods.look_up(kind, name)
    helps = parameter_help(cls)
    for parameter in methods.parameters_of(cls):
        assert "".join(helps.get(parameter, ())).strip(), f"{name}.{parameter}"


def test_every_type_of_a_parameter_has_an_input() -> None:
    sorts = {
        one.sort for kind, name in EVERY for one in fields(methods.look_up(kind, name), NEEDED.get(name, {}))
    }
    assert sorts == {"number", "text", "choice", "yes-no", "list", "table", "models", "scenario"}


def test_a_field_says_its_type_default_and_choices() -> None:
    shown = {one.name: one for one in fields(methods.look_up("sanitizer", "mondrian"), {}, swept=True)}
    assert shown["variant"].options == ("strict", "relaxed")
    assert shown["variant"].values == ("strict",)
    models = {model.name: model for model in shown["model"].models}
    assert models["k-anonymity"].chosen
    assert not models["t-closeness"].chosen
    assert models["k-anonymity"].fields[0].text == "5"
    assert models["k-anonymity"].fields[0].default == "5"


def test_what_a_generalised_cell_is_to_a_miner_can_be_chosen() -> None:
    shown = {one.name: one for one in fields(methods.look_up("measure", "workload-utility"), {})}
    assert (shown["cells"].sort, shown["cells"].options) == ("choice", ("shares", "labels"))


SWEPT = {
    "model": {
        "k-anonymity": {"k": [2, 5, 10]},
        "t-closeness": {"t": [0.1, 0.25], "distance": ["equal", "js"]},
    },
    "variant": ["strict", "relaxed"],
    "free": [["a", "b"], ["c, d"]],
    "target": ["x", "y, z"],
}


def test_swept_values_come_back() -> None:
    cls = methods.look_up("sanitizer", "mondrian")
    assert tidy(cls, through(cls, SWEPT, swept=True), {}) == SWEPT


def test_typed_lists_are_swept() -> None:
    cls = methods.look_up("sanitizer", "anatomy")
    typed = FormData([("p.l", " 2, 5,10 "), ("p.form", "one-table"), ("p.form", "two-tables")])
    given = read(cls, typed, swept=True).parameters
    assert given == {"l": [2, 5, 10], "form": ["one-table", "two-tables"]}
    assert len(Sweep("anatomy", given).recipes()) == 6


def test_several_models_must_all_hold() -> None:
    cls = methods.look_up("sanitizer", "clustering")
    typed = FormData(
        [
            *(("p.model", name) for name in ("k-anonymity", "t-closeness")),
            ("p.model.k-anonymity.k", "5"),
            ("p.model.t-closeness.t", "0.2"),
            ("p.model.beta-likeness.beta", "7"),
        ]
    )
    built = methods.build("sanitizer", "clustering", read(cls, typed, swept=True).parameters)
    assert [type(part).__name__ for part in built.model.parts] == ["KAnonymity", "TCloseness"]


@pytest.mark.parametrize(
    ("typed", "key", "said"),
    [
        ({"p.model.k-anonymity.k": "five"}, "p.model.k-anonymity.k", "expected a number"),
        ({"p.target": '"open'}, "p.target", "not closed"),
        ({"p.model": ""}, "p.model", "at least one model"),
    ],
)
def test_what_cannot_be_read_is_said_at_its_input(typed: dict[str, str], key: str, said: str) -> None:
    cls = methods.look_up("sanitizer", "mondrian")
    form = FormData({"p.model": "k-anonymity"} | typed)
    errors = read(cls, form, swept=True).errors
    assert said in errors[key]
    again = with_typed(fields(cls, {}, swept=True), form, errors)
    shown = {one.key: one for one in again}
    inner = {one.key: one for model in shown["p.model"].models for one in model.fields}
    assert said in (shown | inner)[key].error
    if key != "p.model":
        assert (shown | inner)[key].text == typed[key]


def test_a_table_that_is_not_toml_says_where() -> None:
    cls = methods.look_up("sanitizer", "full-domain")
    typed = FormData({"p.model": "k-anonymity", "p.levels": "age 2"})
    assert "age = 2" in read(cls, typed, swept=True).errors["p.levels"]


@pytest.mark.parametrize(
    ("kind", "name", "given", "key"),
    [
        ("sanitizer", "mondrian", {"model": {"k-anonymity": {"k": [5, 0]}}}, "p.model.k-anonymity.k"),
        (
            "sanitizer",
            "mondrian",
            {"model": {"t-closeness": {"t": 2, "distance": "far"}}},
            "p.model.t-closeness.distance",
        ),
        (
            "sanitizer",
            "cell-suppression",
            {"suppression": 1.5, "model": {"k-anonymity": {"k": 5}}},
            "p.suppression",
        ),
        ("search", "evolution", {"eta": 0.1, "most": 0}, "p.most"),
        ("search", "evolution", {"objectives": ["general-loss"]}, "p.objectives"),
        ("search", "lattice", {"budget": -1.0, "suppression": 0.1}, "p.budget"),
        ("measure", "query-error", {"queries": 0, "seed": 3}, "p.queries"),
    ],
)
def test_the_librarys_complaint_finds_its_input(
    kind: methods.Kind, name: str, given: dict[str, Any], key: str
) -> None:
    with pytest.raises(SfumatoError) as complaint:
        _ = Sweep(name, given).recipes() if kind == "sanitizer" else methods.build(kind, name, given)
    assert blame(kind, name, given, str(complaint.value)) == key


def test_what_no_input_can_show_is_left_to_text() -> None:
    cls = methods.look_up("sanitizer", "mondrian")
    with pytest.raises(NotShown):
        fields(cls, {"model": [{"k-anonymity": {"k": 5}}, {"t-closeness": {}}]}, swept=True)
    with pytest.raises(NotShown):
        fields(methods.look_up("sanitizer", "anatomy"), {"l": {"x": 1}}, swept=True)


def test_names_of_the_project_are_offered() -> None:
    known = Known(attributes=("age", "<script>"), scenarios=("research",))
    mondrian = {one.name: one for one in fields(methods.look_up("sanitizer", "mondrian"), {}, known=known)}
    assert mondrian["target"].options == ("age", "<script>")
    mined = {one.name: one for one in fields(methods.look_up("measure", "anti-utility"), {}, known=known)}
    assert mined["scenario"].options == ("research",)


names = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Zl", "Zp", "Zs"]), min_size=1)


@given(st.lists(names, min_size=1, max_size=4, unique=True))
def test_any_names_come_back(listed: list[str]) -> None:
    cls = methods.look_up("sanitizer", "mondrian")
    found = through(cls, {"free": listed, "model": {"k-anonymity": {"k": 5}}})
    assert found["free"] == listed


@given(st.lists(st.integers(1, 10**9) | st.floats(0.001, 1e9), min_size=1, max_size=5))
def test_any_numbers_come_back(numbers: list[float]) -> None:
    cls = methods.look_up("sanitizer", "cell-suppression")
    found = through(cls, {"suppression": numbers}, swept=True)["suppression"]
    assert found == (numbers if len(numbers) > 1 else numbers[0])


def test_all_kinds_of_things_that_a_form_builds_are_tested() -> None:
    assert set(get_args(methods.Kind)) - set(KINDS) == {"miner"}
