"""A folder cannot claim what its own cells, or its other statements, contradict."""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato.registry import methods
from sfumato.verification.contradictions import FIGURES, METHODS, KnownMethod
from sfumato.verification.figures import MEASURES
from sfumato.workflow.publish.verify import verify

from .forger import careful, passes, published_folders

Facts = dict[str, Any]
Change = Callable[[Facts], object]
KINDS = ("one", "parts", "people", "perturbed", "private", "synthetic", "two")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return published_folders(tmp_path_factory.mktemp("published"))


def problems(honest: Path, folder: Path, change: Change) -> str:
    """Return what `verify` says of a folder that the careful forger has changed."""
    shutil.copytree(honest, folder)
    facts = json.loads((folder / "manifest.json").read_text("utf-8"))
    change(facts)
    careful(folder, facts)
    found = verify(folder)
    assert not found.holds
    return "; ".join(f"{check.what}: {check.problem}" for check in found.failed)


class TestWhatIsKnownOfMethods:
    """The second table of facts agrees with what the methods declare."""

    def declared(self, cls: type[Any]) -> KnownMethod:
        known = METHODS[methods.name_of(cls)]
        names = frozenset(methods.parameters_of(cls))
        fields = {field.name for field in dataclasses.fields(cls)}
        return KnownMethod(
            parameters=names,
            release_type=getattr(cls, "release_type", "people"),
            cells=known.cells,
            has_groups="form" in names,
            diversity="l" if "model" not in fields and hasattr(cls, "model") else None,
            is_sample=known.is_sample,
            is_private=hasattr(cls, "guarantee"),
            withholds=known.withholds,
        )

    def test_every_method_is_known(self) -> None:
        ours = {
            name for name, cls in methods.registered("sanitizer").items() if not methods.is_plugged_in(cls)
        }
        assert set(METHODS) == ours

    @pytest.mark.parametrize("name", METHODS)
    def test_what_is_known_is_what_it_declares(self, name: str) -> None:
        assert METHODS[name] == self.declared(methods.look_up("sanitizer", name))

    def test_every_measure_of_the_owner_is_known(self) -> None:
        ours = {
            name: cls for name, cls in methods.registered("measure").items() if not methods.is_plugged_in(cls)
        }
        assert set(FIGURES) == set(ours) - set(MEASURES)
        for name, known in FIGURES.items():
            assert known.axis == ours[name].axis
            assert known.better in (None, ours[name].better)

    @pytest.mark.parametrize("name", [name for name in METHODS if name != "aim"])
    def test_what_a_method_makes_verifies(self, name: str, tmp_path: Path) -> None:
        given: dict[str, Facts] = {
            "anatomy": {"l": 2},
            "bucketize": {"model": {"probabilistic-diversity": {"l": 2}}},
        }
        table, schema = sf.datasets.hospital()
        dated = {**table.to_arrow().to_pydict(), "came": ["2026-01-05"] * table.n_records}
        own = sf.Schema((*schema.attributes, sf.Attribute("came", "insensitive", "categorical")))
        parameters = given.get(name, {})
        if "model" in METHODS[name].parameters and not parameters:
            parameters = {"model": {"k-anonymity": {"k": 2}}}
        if "suppression" in METHODS[name].parameters:
            parameters = {**parameters, "suppression": 1.0}
        if name == "cut":
            parameters["model"] = {"k-anonymity": {"k": 1}}
        if name == "full-domain":
            parameters["levels"] = {"zip": 2, "age": 3, "sex": 1}
        release = sf.sanitize(sf.Table.from_arrow(dated), own, sf.Recipe(name, parameters))
        sf.publish(release, tmp_path / "out", policy="none", allow_singling_out=True)
        assert verify(tmp_path / "out").holds


class TestTheForgeries:
    """Those that once passed."""

    def test_a_generalized_folder_is_not_called_differentially_private(
        self, folders: dict[str, Path], tmp_path: Path
    ) -> None:
        def change(facts: Facts) -> None:
            parameters = {"epsilon": 0.1, "delta": 1e-6, "n-records": 0, "records-per-person": 1}
            facts["recipe"] = {"sanitizer": "mst", "parameters": parameters}

        said = problems(folders["parts"], tmp_path / "out", change)
        assert "mst makes synthetic records, and these are called people" in said
        assert "'age' is numeric and has generalised cells" in said
        assert "a model is required that the recipe does not promise" in said

        def thorough(facts: Facts) -> None:
            """Change everything that says otherwise, but the cells."""
            change(facts)
            facts["layout"]["type"] = "synthetic"
            facts["requirements"] = []
            facts["layout"]["n_original"] = 12
            reason = {"reason": "it takes each record for a person's, and the records are made up"}
            for claim in facts["claims"]:
                claim.update(value=None, applicable=False, detail=reason)
            facts["unverified"]["tried"] = {"mst": 1}
            facts["unverified"]["figures"] = []
            facts["unverified"]["headline"] = []
            for each in facts["unverified"]["attributes"]:
                each["ends_at_values"] = False

        said = problems(folders["parts"], tmp_path / "thorough", thorough)
        assert "'age' is numeric and has generalised cells" in said

        def categorical(facts: Facts) -> None:
            """Call numbers categories: then what reads like an interval may be a value of the original."""
            thorough(facts)
            for each in facts["unverified"]["attributes"]:
                each["kind"] = each["kind"] and "categorical"

        said = problems(folders["parts"], tmp_path / "categorical", categorical)
        assert "cells" in said

    def test_a_requirement_is_not_invented(self, folders: dict[str, Path], tmp_path: Path) -> None:
        invented = {
            "model": {"differential-privacy": {"epsilon": 0.1}},
            "parameter": "epsilon",
            "limit": 0.1,
            "reached": 0.1,
            "prior": "released",
        }
        said = problems(
            folders["one"], tmp_path / "out", lambda facts: facts["requirements"].append(invented)
        )
        assert "a model is required that the recipe does not promise" in said
        # the page that the tool writes labels it all the same
        page = (tmp_path / "out" / "report.html").read_text("utf-8")
        row = page[page.index("differential-privacy") :]
        assert "unverified claim" in row[: row.index("</tr>")]

    def test_a_band_does_not_exclude_what_is_claimed(self, folders: dict[str, Path], tmp_path: Path) -> None:
        band = {
            "measure": "k-anonymity",
            "parameters": {},
            "attribute": None,
            "axis": "privacy",
            "better": "higher",
            "band": {"low": 900, "high": 1000},
            "worst": True,
            "met": None,
        }
        said = problems(
            folders["one"], tmp_path / "out", lambda facts: facts["unverified"]["figures"].append(band)
        )
        assert "k-anonymity can be computed from the cells, and is told as a band" in said

        def of_people(facts: Facts) -> None:
            (figure,) = [each for each in facts["unverified"]["figures"] if each["measure"] == "k-anonymity"]
            figure["band"] = {"low": 900, "high": 1800}

        said = problems(folders["people"], tmp_path / "people", of_people)
        assert "k-anonymity cannot be 900 to 1800" in said


def figure_of(facts: Facts, measure: str) -> Facts:
    return next(each for each in facts["unverified"]["figures"] if each["measure"] == measure)


def attribute_of(facts: Facts, name: str) -> Facts:
    return next(each for each in facts["unverified"]["attributes"] if each["name"] == name)


def put(value: Any, *place: Any) -> Change:
    """Return a change that puts a value at a place."""

    def change(facts: Facts) -> None:
        for part in place[:-1]:
            facts = facts[part]
        facts[place[-1]] = value

    return change


RELATIVES: dict[str, tuple[str, Change, str]] = {
    "another kind": ("one", put("perturbed", "layout", "type"), "these are called perturbed"),
    "a sample": ("one", put(True, "layout", "sampled"), "is no random sample"),
    "one table for two": (
        "two",
        put("one-table", "recipe", "parameters", "form"),
        "makes the form 'one-table'",
    ),
    "a method without groups": (
        "two",
        put({"sanitizer": "as-is", "parameters": {}}, "recipe"),
        "as-is has no groups of sensitive values",
    ),
    "a method that changes values": (
        "one",
        put({"sanitizer": "microaggregation", "parameters": {"k": 5}}, "recipe"),
        "microaggregation makes perturbed records",
    ),
    "another l": (
        "two",
        put(3, "recipe", "parameters", "l"),
        "a model that the recipe promises is not required",
    ),
    "an epsilon of another method": (
        "one",
        put(0.1, "recipe", "parameters", "epsilon"),
        "it takes no epsilon",
    ),
    "an epsilon below 0": (
        "private",
        put(-1, "recipe", "parameters", "epsilon"),
        "epsilon is no number from 0",
    ),
    "no delta": (
        "private",
        put(0, "recipe", "parameters", "delta"),
        "only with an epsilon and a delta above 0",
    ),
    "another epsilon than the band": (
        "private",
        put(0.1, "recipe", "parameters", "epsilon"),
        "epsilon cannot be 5: what else is told gives 0.1",
    ),
    "another delta than the band": (
        "private",
        put(1e-9, "recipe", "parameters", "delta"),
        "privacy-delta cannot be 1e-06: what else is told gives 1e-09",
    ),
    "more records than drawn": ("private", put(7, "recipe", "parameters", "n-records"), "the recipe draws 7"),
    "a number of records that is a text": (
        "private",
        put("0", "recipe", "parameters", "n-records"),
        "is no number",
    ),
    "a weight beyond computing": (
        "one",
        lambda facts: [each.update(weight=1.7e308) for each in facts["unverified"]["attributes"][1:]],
        "it has parameters that nothing can be compared with",
    ),
    "more left out than allowed": (
        "one",
        put(0.01, "recipe", "parameters", "suppression"),
        "the recipe leaves out at most 1.0% of the records",
    ),
    "records left out by a method that keeps all": (
        "parts",
        put(20, "layout", "n_original"),
        "it leaves out no record",
    ),
    "records left out by a method that changes values": (
        "perturbed",
        put(20, "layout", "n_original"),
        "it leaves out no record",
    ),
    "an attribute that there is not": (
        "parts",
        put(["name"], "recipe", "parameters", "free"),
        "is not published",
    ),
    "a level of a sensitive attribute": (
        "one",
        put({"diagnosis": 1}, "recipe", "parameters", "levels"),
        "is not called quasi-identifying",
    ),
    "exact cells by the recipe": (
        "one",
        put(0, "recipe", "parameters", "levels", "age"),
        "leaves 'age' exact",
    ),
    "withheld cells by the recipe": (
        "one",
        lambda facts: facts["recipe"]["parameters"]["levels"].update(
            age=attribute_of(facts, "age")["levels"] - 1
        ),
        "the recipe withholds 'age', and it has values",
    ),
    "a level too high": (
        "one",
        put(50, "recipe", "parameters", "levels", "age"),
        "on a level that it does not have",
    ),
    "values that the recipe withholds": (
        "perturbed",
        put({"sanitizer": "suppress-sensitive", "parameters": {}}, "recipe"),
        "'diagnosis' has values, and the recipe withholds them",
    ),
    "more exact cells": (
        "parts",
        lambda facts: attribute_of(facts, "age").update(exact=9),
        "cells that read exact, not 9",
    ),
    "noise without a noisy method": (
        "one",
        lambda facts: attribute_of(facts, "age").update(noisy=True, exact=None),
        "the method adds no noise",
    ),
    "a band upside down": (
        "one",
        lambda facts: figure_of(facts, "general-loss").update(band={"low": 0.4, "high": 0.2}),
        "general-loss has a band that is none",
    ),
    "a narrower band": (
        "one",
        lambda facts: figure_of(facts, "general-loss").update(band={"low": 0.4, "high": 0.41}),
        "general-loss has a band that is none",
    ),
    "a loss above 1": (
        "one",
        lambda facts: figure_of(facts, "general-loss").update(band={"low": 2.0, "high": 4.0}),
        "general-loss has a band outside of 0 to 1",
    ),
    "a loss of nothing but exact cells": (
        "one",
        lambda facts: figure_of(facts, "general-loss").update(axis="privacy"),
        "general-loss is put on another side",
    ),
    "a limit that the band does not keep": (
        "one",
        lambda facts: facts["policy"]["general-loss"].update(at_most=0.0001),
        "is said to keep a limit that its band does not",
    ),
    "a policy that speaks of nothing": (
        "parts",
        lambda facts: figure_of(facts, "general-loss").update(met=True),
        "is said to keep a policy that does not speak of it",
    ),
    "no worst figure": (
        "one",
        lambda facts: figure_of(facts, "general-loss").update(worst=False),
        "general-loss has no worst figure",
    ),
    "a figure twice": (
        "one",
        lambda facts: facts["unverified"]["figures"].append(facts["unverified"]["figures"][0]),
        "is told twice",
    ),
    "a risk of the original above 1": (
        "one",
        put({"low": 2, "high": 4}, "unverified", "initial", "worst"),
        "the risk of the original is no band of a risk",
    ),
    "a method tried less than once": (
        "one",
        put({"full-domain": 0}, "unverified", "tried"),
        "tried less than once",
    ),
    "compared without being tried": ("one", put({"mst": 3}, "unverified", "tried"), "and was not tried"),
    "beaten by nobody": (
        "one",
        put(False, "unverified", "efficient"),
        "nothing else was tried that could be better",
    ),
    "a time that is none": ("one", put("yesterday", "decision", "when"), "the time of the decision is none"),
    "a day that is none": (
        "one",
        put("soon", "unverified", "review_by"),
        "the day of the next review is none",
    ),
    "a headline of nothing": (
        "one",
        put(["k-map"], "unverified", "headline"),
        "a measure that was not taken",
    ),
    "fewer people than were left out": (
        "people",
        put({"original": 9, "released": 6, "alone": 0}, "unverified", "people"),
        "fewer than people",
    ),
}


@pytest.mark.parametrize("name", RELATIVES)
def test_statements_that_contradict_each_other_are_refused(
    name: str, folders: dict[str, Path], tmp_path: Path
) -> None:
    which, change, said = RELATIVES[name]
    assert said in problems(folders[which], tmp_path / "out", lambda facts: (change(facts), None)[1])


# Methods whose releases read alike, so that no reader can tell by which of them a release was made.
LOOK_ALIKE = [
    {"mst", "aim", "cart-synthesis"},
    {"pram", "rank-swapping", "laplace", "date-shift", "microaggregation"},
    {"clustering", "cut", "full-domain", "local-recoding", "mondrian"},
]


@pytest.mark.parametrize("which", KINDS)
def test_a_recipe_of_another_method_is_found_unless_its_releases_look_alike(
    which: str, folders: dict[str, Path], tmp_path: Path
) -> None:
    honest = json.loads((folders[which] / "manifest.json").read_text("utf-8"))
    own = honest["recipe"]["sanitizer"]
    alike = next((group for group in LOOK_ALIKE if own in group), {own})
    believed = set()
    for number, name in enumerate(sorted(set(METHODS) - {own, "aim"})):
        plain = methods.describe(methods.build("sanitizer", name))[1]
        kept = {key: value for key, value in honest["recipe"]["parameters"].items() if key in plain}
        facts = {**honest, "recipe": {"sanitizer": name, "parameters": {**plain, **kept}}}
        facts["unverified"] = {**honest["unverified"], "tried": {name: 1}}
        folder = tmp_path / str(number)
        shutil.copytree(folders[which], folder)
        if passes(folder, facts):
            believed.add(name)
    assert believed <= alike, believed


def test_records_with_missing_values_are_not_both_dropped_and_published(tmp_path: Path) -> None:
    table = sf.Table.from_arrow({"age": [1, 1, None, 2, 2, 2], "ill": list("xyxyxy")})
    schema = sf.Schema.of(age="quasi-identifying", ill="sensitive")
    sf.publish(
        sf.sanitize(table, schema, sf.sanitizers.AsIs()),
        tmp_path / "honest",
        policy="none",
        allow_singling_out=True,
    )
    said = problems(tmp_path / "honest", tmp_path / "out", put("drop", "unverified", "missing"))
    assert "'age' has missing values, and records with missing ones are said to be dropped" in said


def test_categories_that_read_like_intervals_may_be_values_of_the_original(tmp_path: Path) -> None:
    bands = {"age": ["[20, 30)", "[30, 40)", "{a, b}"] * 2, "ill": list("xyxyxy")}
    schema = sf.Schema.of(age="quasi-identifying", ill="sensitive")
    sf.publish(
        sf.sanitize(sf.Table.from_arrow(bands), schema, sf.sanitizers.AsIs()),
        tmp_path / "out",
        policy="none",
        allow_singling_out=True,
    )
    said = {check.what: check.outcome for check in verify(tmp_path / "out")}
    assert said["exact values of age read like intervals, sets or branches"] == "unverified"
