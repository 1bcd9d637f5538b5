"""The registry: names, what they stand for, and plug-ins."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any, get_args

import numpy as np
import pytest

from sfumato import Schema, Table
from sfumato.data.kinds import Kind, kind_names
from sfumato.measures import PrivacyLoss
from sfumato.models import KAnonymity, TCloseness
from sfumato.models.base import (
    build_model,
)
from sfumato.models.distances import Distance
from sfumato.reading.base import Format
from sfumato.registry import methods
from sfumato.registry.declarations import AtMost
from sfumato.registry.methods import (
    build,
    describe,
    look_up,
    name_of,
    register,
    registered,
)
from sfumato.results.measurement import (
    LevelReached,
    build_measure,
)
from sfumato.runtime.errors import ParameterError
from sfumato.sanitizers import Mondrian

KINDS: tuple[methods.Kind, ...] = get_args(methods.Kind)
EVERYTHING = [(kind, name) for kind in KINDS for name in registered(kind)]


@pytest.fixture
def scratch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a test register what it likes, and forget it afterwards."""
    monkeypatch.setattr(methods, "_registered", {kind: registered(kind) for kind in KINDS})
    for cls in (Format, Distance, Kind):
        known = {name: each for each in methods.instances(cls) for name in each.names}
        monkeypatch.setitem(methods._instances, cls, known)


def named(name: str, **members: Any) -> type[Any]:
    return dataclass(frozen=True)(
        type(name, (), {"__module__": __name__, "__qualname__": f"made.{name}", **members})
    )


# ------------------------------------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("class_name", "name"),
    [
        ("KAnonymity", "k-anonymity"),
        ("TCloseness", "t-closeness"),
        ("AlphaKAnonymity", "alpha-k-anonymity"),
        ("AsIs", "as-is"),
        ("Mondrian", "mondrian"),
        ("WeightedK", "weighted-k"),
        ("SuppressQuasiIdentifiers", "suppress-quasi-identifiers"),
        ("KLDivergence", "kl-divergence"),
        ("Top2Levels", "top2-levels"),
    ],
)
def test_a_class_is_called_by_its_name_in_kebab_case(class_name: str, name: str) -> None:
    assert name_of(type(class_name, (), {})) == name


@pytest.mark.parametrize(("kind", "name"), EVERYTHING)
def test_every_registered_name_finds_its_class(kind: methods.Kind, name: str) -> None:
    cls = look_up(kind, name)
    assert name_of(cls) == name
    assert all("_" not in parameter for parameter in methods.parameters_of(cls))


def test_no_name_means_both_a_model_and_a_measure() -> None:
    assert not set(registered("model")) & set(registered("measure"))


def test_what_is_registered_comes_sorted_and_as_a_copy() -> None:
    names = registered("sanitizer")
    assert list(names) == sorted(names)
    names.clear()
    assert registered("sanitizer")


# ------------------------------------------------------------------------------------- registering


@pytest.mark.usefixtures("scratch")
def test_a_taken_name_is_refused() -> None:
    with pytest.raises(TypeError, match="the model name 'k-anonymity' is taken by sfumato"):
        register(named("KAnonymity", scores=lambda self, classes: None))
    assert look_up("model", "k-anonymity") is KAnonymity


@pytest.mark.usefixtures("scratch")
def test_the_same_class_may_be_registered_again_when_its_module_is_reloaded() -> None:
    first, again = (named("Twice", sanitize=lambda self, table, schema, rng: None) for _ in range(2))
    assert register(first) is first
    assert register(again) is again
    assert look_up("sanitizer", "twice") is again


@pytest.mark.usefixtures("scratch")
def test_one_name_may_stand_for_two_things_of_different_kinds() -> None:
    register(named("Sweep", sanitize=lambda self, table, schema, rng: None))
    assert look_up("sanitizer", "sweep") is not look_up("search", "sweep")


@pytest.mark.usefixtures("scratch")
@pytest.mark.parametrize(
    "members",
    [{}, {"sanitize": lambda self: None, "scores": lambda self: None}],
    ids=["no method", "two methods"],
)
def test_a_class_must_be_one_kind_of_thing(members: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="must be a dataclass with one of sanitize, scores, measure, propose"):
        register(named("Unclear", **members))


@pytest.mark.usefixtures("scratch")
def test_a_class_must_be_a_dataclass() -> None:
    with pytest.raises(TypeError, match="must be a dataclass"):
        register(type("Plain", (), {"sanitize": lambda self: None}))


@pytest.mark.usefixtures("scratch")
def test_parameters_are_written_in_kebab_case() -> None:
    @dataclass(frozen=True)
    class WithParameter:
        two_words: int = 1

        def sanitize(self) -> None: ...

    register(WithParameter)
    # the annotations of a class inside a function cannot be looked up by name
    WithParameter.__annotations__["two_words"] = int
    assert build("sanitizer", "with-parameter", {"two-words": 5}) == WithParameter(5)
    assert describe(WithParameter(5)) == ("with-parameter", {"two-words": 5})
    with pytest.raises(ParameterError, match="has no parameter 'two_words'; did you mean 'two-words'"):
        build("sanitizer", "with-parameter", {"two_words": 5})


# ---------------------------------------------------------------------------------------- plug-ins

PLUGIN = """
from dataclasses import dataclass
from sfumato import register
from sfumato.sanitizers import AsIs


@register
@dataclass(frozen=True)
class FromOutside:
    strength: float = 0.5

    def sanitize(self, table, schema, rng):
        return AsIs().sanitize(table, schema, rng)
"""


@pytest.fixture
def plugged(scratch: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Pretend that a distribution with this entry point is installed."""

    def plug(source: str) -> None:
        (tmp_path / "sfumato_plugin_for_tests.py").write_text(source, encoding="utf-8")
        entry = metadata.EntryPoint("outside", "sfumato_plugin_for_tests", "sfumato.plugins")

        def entry_points(*, group: str) -> list[metadata.EntryPoint]:
            return [entry] if group == "sfumato.plugins" else []

        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.setattr(metadata, "entry_points", entry_points)
        monkeypatch.setattr(methods, "_plug_ins_are_loaded", False)

    yield plug
    sys.modules.pop("sfumato_plugin_for_tests", None)


def test_a_plug_in_is_found_through_its_entry_point(plugged: Any) -> None:
    assert "from-outside" not in registered("sanitizer")
    plugged(PLUGIN)
    made = build("sanitizer", "from-outside", {"strength": 1})
    assert describe(made) == ("from-outside", {"strength": 1.0})
    with pytest.raises(ParameterError, match="did you mean 'from-outside'"):
        look_up("sanitizer", "from-outsid")


def test_a_method_unfit_for_publication_is_found_by_its_name_and_not_listed(plugged: Any) -> None:
    plugged(
        PLUGIN.replace("strength: float = 0.5", "strength: float = 0.5\n    unfit = 'it shows everything'")
    )
    assert describe(build("sanitizer", "from-outside")) == ("from-outside", {"strength": 0.5})
    assert "from-outside" not in registered("sanitizer")
    with pytest.raises(ParameterError) as raised:
        look_up("sanitizer", "from-outsid")
    assert "did you mean 'from-outside'" not in str(raised.value)


def test_plug_ins_are_loaded_once(plugged: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    plugged(PLUGIN)
    registered("sanitizer")

    def fail(**_: str) -> None:
        raise AssertionError("entry points were looked up again")

    monkeypatch.setattr(metadata, "entry_points", fail)
    assert "from-outside" in registered("sanitizer")


INSTANCES = """
from sfumato import register
from sfumato.data.kinds import Kind
from sfumato.models.distances import Distance
from sfumato.reading.base import Format

def read(path): return {}
def between(sensitive): return sensitive.sizes

register(Format("outside", (".outside",), read))
register(Distance("outside", between))
register(Kind("outside", str, len))
"""


def test_a_format_a_distance_and_a_kind_of_a_plug_in_are_found(plugged: Any) -> None:
    plugged(INSTANCES)
    assert methods.instance_named(Format, ".outside") in methods.instances(Format)
    assert methods.instance_named(Distance, "outside") in methods.instances(Distance)
    assert kind_names() == ("numeric", "categorical", "outside")


BROKEN = {
    "does not import": ("import a_module_that_is_not_there", "it raises ModuleNotFoundError"),
    "leaves": ("raise SystemExit('somebody is 42')", "it raises SystemExit"),
    "names a value": ("raise ValueError('somebody is 42')", "it raises ValueError"),
    "has a taken name": (
        PLUGIN.replace("FromOutside", "AsIs").replace("import AsIs,", "import"),
        "the sanitizer name 'as-is' is taken by sfumato.sanitizers.trivial.AsIs",
    ),
    "declares no facts": (
        PLUGIN.replace("def sanitize(self, table, schema, rng):", "def measure(self, release):"),
        "the measure FromOutside must declare axis, better",
    ),
    "has types that do not exist": (PLUGIN.replace("float", "'Strength'"), "it raises NameError"),
    "breaks half way": (PLUGIN + "\n1 / 0\n", "it raises ZeroDivisionError"),
    "has a format and breaks": (INSTANCES + "\n1 / 0\n", "it raises ZeroDivisionError"),
    "has a suffix that is taken": (
        INSTANCES + "\nregister(Format('mine', ('.csv',), read))\n",
        "the format name '.csv' is taken by 'csv' of sfumato.reading.csv_files",
    ),
    "has a distance that is taken": (
        INSTANCES + "\nregister(Distance('js', between))\n",
        "the distance name 'js' is taken by 'js' of sfumato.models.distances",
    ),
}


@pytest.mark.parametrize(("source", "reason"), BROKEN.values(), ids=BROKEN)
def test_a_plug_in_that_does_not_load_is_named_once_and_left_out(
    plugged: Any, source: str, reason: str
) -> None:
    before = {kind: registered(kind) for kind in KINDS}
    instances = [methods.instances(cls) for cls in (Format, Distance, Kind)]
    plugged(source)
    with pytest.warns(methods.PlugInSkipped) as told:
        registered("sanitizer")
    assert [str(each.message) for each in told] == [
        f"the plug-in 'outside' is skipped: {reason}; repair or uninstall it"
    ]
    # a second warning would be an error
    assert {kind: registered(kind) for kind in KINDS} == before
    assert [methods.instances(cls) for cls in (Format, Distance, Kind)] == instances


@pytest.mark.usefixtures("scratch")
@pytest.mark.parametrize(
    ("method", "lacking"),
    [
        ("scores", "guards, monotone, better, parameter"),
        ("measure", "axis, better"),
        ("estimator", "predicts"),
    ],
)
def test_a_class_must_declare_the_facts_of_its_kind(method: str, lacking: str) -> None:
    with pytest.raises(TypeError, match=f"Silent must declare {lacking}$"):
        register(named("Silent", **{method: lambda self: None}))


# ------------------------------------------------------------------------------- what parameters name


@pytest.mark.parametrize(
    ("kind", "name", "named"),
    [
        ("measure", "journalist-risk", {"population": "file"}),
        (
            "measure",
            "auxiliary-gain",
            {"attribute": "attribute", "auxiliary": "file", "control": "file", "known": "attribute"},
        ),
        ("measure", "workload-utility", {"target": "attribute", "miners": "miner"}),
        ("sanitizer", "mondrian", {"target": "attribute", "free": "attribute"}),
        ("search", "lattice-front", {"privacy": "measure", "utility": "measure"}),
        ("search", "sweep", {"sanitizer": "sanitizer"}),
        ("model", "k-anonymity", {}),
    ],
)
def test_parameters_say_what_they_name(kind: methods.Kind, name: str, named: dict[str, str]) -> None:
    assert methods.named_in(look_up(kind, name)) == named


# ------------------------------------------------------------------------- where names may not stand

NAMELESS = (
    "results/formatting.py",
    "models/bounds.py",
    "workflow/project/project_file.py",
    "workflow/report/adversaries.py",
    "searches/lattice/profile.py",
    "interfaces/workbench/forms/*.py",
)


@pytest.mark.parametrize("module", NAMELESS)
def test_what_serves_every_method_knows_none_by_name(module: str) -> None:
    places = sorted(Path(methods.__file__).parents[1].glob(module))
    assert places
    parsed = [ast.parse(place.read_text(encoding="utf-8")) for place in places]
    texts = {node.value for tree in parsed for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    assert texts & {name for _, name in EVERYTHING} == set()


# -------------------------------------------------------------------------------- models and measures


def test_a_model_is_made_from_its_name_and_parameters() -> None:
    assert build_model({"k-anonymity": {"k": 7}}) == KAnonymity(7)
    assert build_model({"k-anonymity": {"k": 7}, "t-closeness": {}}) == KAnonymity(7) & TCloseness()


def test_a_measure_is_found_by_name_and_a_model_s_name_gives_the_level_reached() -> None:
    assert build_measure("privacy-loss") == PrivacyLoss()
    assert build_measure({"privacy-loss": {}}) == PrivacyLoss()
    assert build_measure("k-anonymity") == LevelReached(KAnonymity())
    assert build_measure({"t-closeness": {"distance": "js"}}) == LevelReached(TCloseness(distance="js"))
    assert build_measure("k-anonymity").name == "k-anonymity"


@pytest.mark.parametrize("name", [*registered("model"), *registered("measure")])
def test_every_model_and_every_measure_can_be_measured_by_name(name: str) -> None:
    assert build_measure(name).name == name


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("privacy-los", "no measure 'privacy-los'; did you mean 'privacy-loss'?"),
        ("k-anonimity", "no measure 'k-anonimity'; did you mean 'k-anonymity'?"),
        ({"k-anonymity": {}, "privacy-loss": {}}, "one at a time"),
        ({}, "one at a time"),
        (5, "one at a time"),
        ({"k-anonymity": {"k": "x"}}, "k: expected `int`, got `str`"),
        ({"k-anonymity": 5}, "its parameters are written"),
    ],
)
def test_what_is_no_measure_is_refused_in_one_line(written: Any, expected: str) -> None:
    with pytest.raises(ParameterError) as caught:
        build_measure(written)
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


# A sweep is of some sanitizer; everything else can be made without being told anything.
REQUIRED: dict[str, dict[str, Any]] = {"sweep": {"sanitizer": "as-is"}}


@pytest.mark.parametrize(("kind", "name"), EVERYTHING)
def test_everything_registered_comes_back_from_its_description(kind: methods.Kind, name: str) -> None:
    made = look_up(kind, name)(**REQUIRED.get(name, {}))
    assert build(kind, *describe(made)) == made


def test_a_model_inside_a_sanitizer_is_described_by_name() -> None:
    assert describe(Mondrian(KAnonymity(3)))[1]["model"] == {"k-anonymity": {"k": 3}}


def test_the_kinds_have_their_rooms() -> None:
    modules = {kind: {cls.__module__ for cls in registered(kind).values()} for kind in KINDS}
    for kind, room in zip(KINDS, ("sanitizers", "models", "measures", "search", "miners"), strict=True):
        assert all(module.startswith(f"sfumato.{room}") for module in modules[kind])


# ------------------------------------------------------------------------------------------ bounds


@dataclass(frozen=True)
class Patient:
    """What somebody else wrote, who declares a bound and never looks at it."""

    tries: Annotated[int, AtMost(100)] = 3
    share_of: Mapping[str, Annotated[float, AtMost(1)]] = field(default_factory=dict)

    def sanitize(self, table: Table, schema: Schema, rng: np.random.Generator) -> Any: ...


def test_what_a_plug_in_declares_bounds_what_a_project_file_may_ask_for(scratch: None) -> None:
    register(Patient)
    assert build("sanitizer", "patient", {"tries": 100, "share-of": {"age": 1}}) == Patient(
        tries=100, share_of={"age": 1}
    )
    with pytest.raises(ParameterError, match=r"^patient: tries must be at most 100, not 101$"):
        build("sanitizer", "patient", {"tries": 101})
    with pytest.raises(ParameterError, match=r"^patient: share-of\.age must be at most 1, not 1\.5$"):
        build("sanitizer", "patient", {"share-of": {"age": 1.5}})
