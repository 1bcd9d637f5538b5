"""The project file: what it may say, and one line for everything that it may not."""

from __future__ import annotations

import codecs
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sfumato.data.hierarchy import Dates, Hierarchy, Intervals, Prefixes
from sfumato.reading.datasets import FOLDER
from sfumato.registry.recipe import Recipe
from sfumato.results.pareto import Limit
from sfumato.runtime.errors import (
    DataError,
    HierarchyError,
    ProjectError,
    SchemaError,
    SfumatoError,
    UserError,
)
from sfumato.searches import Sweep
from sfumato.searches.default_plan import Suited
from sfumato.workflow.project.default_axes_and_measures import PRIVACY_MEASURES, UTILITY_MEASURES
from sfumato.workflow.project.project_file import Project

SECRET = "SECRETVALUE"
PEOPLE = "name,age,zip,born,work,diagnosis\n" + "".join(
    f"{SECRET} {n},{20 + n},0213{n},19{60 + n}-03-0{n},{'farm' if n < 5 else 'mill'},{SECRET}-{n % 3}\n"
    for n in range(1, 10)
)
WORK = "farm;land;*\nmill;town;*\n"
FULL = """
[data]
path = "records/people.csv"
separator = ","
encoding = "utf-8"
quote = '"'
decimal = "."
missing = "drop"
missing-values = ["?", "n/a"]

[attributes.name]
role = "identifying"

[attributes.age]
role = "quasi-identifying"
kind = "numeric"
hierarchy = { intervals = [5, 10, 20] }
weight = 2

[attributes.zip]
role = "quasi-identifying"
hierarchy = { prefixes = [4, 2] }

[attributes.born]
role = "quasi-identifying"
hierarchy = { dates = ["month", "year", "decade"], format = "%Y-%m-%d" }

[attributes.work]
role = "insensitive"
kind = "categorical"
hierarchy = { csv = "hierarchies/work.csv", separator = ";" }

[attributes.diagnosis]
role = "sensitive"

[[candidates]]
sanitizer = "as-is"

[[candidates]]
sanitizer = "mondrian"
model = { k-anonymity = { k = [2, 3] } }

[[candidates]]
search = "sweep"
sanitizer = "full-domain"
parameters = { levels = { age = [1, 2] }, suppression = 0.5, model = { k-anonymity = { k = 2 } } }

[measure]
privacy = ["knowledge-gain", { reidentification-risk = { threshold = 0.1 } }]
utility = ["total-loss"]

[policy]
reidentification-risk = { at-most = 0.5 }
k-anonymity = { at-least = 2, at-most = 100 }

[publication]
title = "People"
purpose = "Tests"
recipients = "Nobody"
"""
SMALL = """
[data]
path = "people.csv"

[attributes.age]
role = "quasi-identifying"
kind = "numeric"
hierarchy = { intervals = [5, 10] }

[attributes.zip]
role = "quasi-identifying"

[attributes.diagnosis]
role = "sensitive"

[[candidates]]
sanitizer = "as-is"

[[candidates]]
sanitizer = "mondrian"
model = { k-anonymity = { k = 2 } }
"""


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    def write_project(text: str) -> Path:
        (tmp_path / "people.toml").write_text(text, encoding="utf-8")
        return tmp_path / "people.toml"

    return write_project


@pytest.fixture
def full(write: Callable[[str], Path]) -> Project:
    path = write(FULL)
    for name, text in (("records/people.csv", PEOPLE), ("hierarchies/work.csv", WORK)):
        (path.parent / name).parent.mkdir()
        (path.parent / name).write_text(text)
    return Project.load(path)


def changed(old: str, new: str, text: str = SMALL) -> str:
    assert text.count(old) == 1
    return text.replace(old, new)


def refusal(path: Path, kind: type[SfumatoError] = ProjectError) -> str:
    """Return the message, after the checks that every refusal must pass."""
    with pytest.raises(kind) as caught:
        Project.load(path)
    message = str(caught.value)
    assert isinstance(caught.value, UserError)
    assert path.name in message
    assert str(path.parent) not in message
    assert "\n" not in message
    return message


class TestFullFile:
    def test_describes_every_attribute(self, full: Project) -> None:
        attributes = {attribute.name: attribute for attribute in full.schema.attributes}
        assert {name: a.role for name, a in attributes.items()} == {
            "name": "identifying",
            "age": "quasi-identifying",
            "zip": "quasi-identifying",
            "born": "quasi-identifying",
            "work": "insensitive",
            "diagnosis": "sensitive",
        }
        assert (attributes["age"].kind, attributes["age"].weight) == ("numeric", 2.0)
        assert attributes["age"].hierarchy == Intervals((5, 10, 20))
        assert attributes["zip"].hierarchy == Prefixes((4, 2))
        assert attributes["born"].hierarchy == Dates(("month", "year", "decade"))
        assert isinstance(attributes["work"].hierarchy, Hierarchy)
        assert attributes["work"].hierarchy.rows() == [["farm", "land", "*"], ["mill", "town", "*"]]
        assert attributes["diagnosis"].hierarchy is None

    def test_says_what_to_try(self, full: Project) -> None:
        assert [type(search) for search in full.searches] == [Sweep, Sweep, Sweep]
        counts = [len(search.recipes()) for search in full.searches if isinstance(search, Sweep)]
        assert counts == [1, 2, 2]

    def test_says_what_to_measure_and_what_must_hold(self, full: Project) -> None:
        assert full.privacy == ("knowledge-gain", {"reidentification-risk": {"threshold": 0.1}})
        assert full.utility == ("total-loss",)
        assert full.policy.limits == {
            "reidentification-risk": Limit(at_most=0.5),
            "k-anonymity": Limit(at_least=2, at_most=100),
        }

    def test_measures_what_the_policy_speaks_of_once(self, full: Project) -> None:
        assert full.measures == (*full.privacy, "total-loss", "k-anonymity")

    def test_has_the_first_measure_of_each_side_as_axes(self, full: Project) -> None:
        assert full.axes == ("knowledge-gain", "total-loss")

    def test_tells_one_measure_with_two_sets_of_parameters_apart(self, write: Callable[[str], Path]) -> None:
        measures = """
[measure]
privacy = [{ t-closeness = { distance = "js" } }, "t-closeness"]

[policy]
"t-closeness distance=js" = { at-most = 0.1 }
t-closeness = { at-most = 0.3 }
"privacy-loss threshold=0.05" = { at-most = 0.2 }
"""
        project = Project.load(write(SMALL + measures))
        assert project.axes == ("t-closeness distance=js", "utility-loss")
        assert project.measures == (*project.privacy, *project.utility, "privacy-loss threshold=0.05")

    def test_takes_a_population_from_beside_itself(self, write: Callable[[str], Path]) -> None:
        measures = '[measure]\nprivacy = [{ journalist-risk = { population = "census.csv" } }]\n'
        path = write(SMALL + measures)
        (written,) = Project.load(path).privacy
        assert written == {"journalist-risk": {"population": str(path.parent / "census.csv")}}

    def test_tells_the_reader_of_the_report(self, full: Project) -> None:
        assert (full.publication.title, full.publication.recipients) == ("People", "Nobody")

    def test_reads_and_binds_the_data(self, full: Project) -> None:
        table, schema = full.read()
        assert table.n_records == 9
        assert table.names == ("age", "zip", "born", "work", "diagnosis")
        assert schema.missing == "drop"
        assert table["age"].domain == tuple(range(21, 30))
        assert schema.hierarchy("zip").height == 3

    def test_has_paths_relative_to_itself(self, full: Project, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(full.path.parent)
        relative = Project.load("people.toml")
        assert relative.data_path == Path("records/people.csv")
        assert full.data_path == full.path.parent / "records/people.csv"
        assert full.store_path == full.path.parent / "people.sqlite"
        monkeypatch.chdir("/")
        assert full.read()[0].n_records == 9

    def test_may_name_data_elsewhere(self, write: Callable[[str], Path], tmp_path: Path) -> None:
        elsewhere = tmp_path / "elsewhere.csv"
        project = Project.load(write(changed('"people.csv"', f'"{elsewhere.as_posix()}"')))
        assert project.data_path == elsewhere

    def test_may_begin_with_a_byte_order_mark(self, write: Callable[[str], Path]) -> None:
        path = write(SMALL)
        path.write_bytes(codecs.BOM_UTF8 + path.read_bytes())
        assert len(Project.load(path).searches) == 2


class TestDefaults:
    def test_with_a_sensitive_attribute_measure_attribute_disclosure_too(
        self, write: Callable[[str], Path]
    ) -> None:
        project = Project.load(write(SMALL))
        assert project.privacy == PRIVACY_MEASURES
        assert project.utility == ("utility-loss", *UTILITY_MEASURES)
        assert project.axes == ("privacy-loss", "utility-loss")

    def test_a_numeric_sensitive_attribute_is_compared_as_numbers(self, write: Callable[[str], Path]) -> None:
        project = Project.load(write(changed('role = "sensitive"', 'role = "sensitive"\nkind = "numeric"')))
        assert project.axes == ("t-closeness distance=natural", "utility-loss")
        assert "t-closeness" not in project.privacy

    def test_a_search_that_suits_the_table_knows_the_policy(self, write: Callable[[str], Path]) -> None:
        text = SMALL + '\n[[candidates]]\nsearch = "suited"\n[policy]\nrecipient = "public"\n'
        (search,) = (s for s in Project.load(write(text)).searches if isinstance(s, Suited))
        assert (search.k, search.share, search.epsilon) == ((11,), (0.9,), (1.0,))

    def test_a_search_for_every_type_is_judged_by_attacks(self, write: Callable[[str], Path]) -> None:
        text = SMALL + '\n[[candidates]]\nsearch = "suited"\nevery-type = true\n'
        project = Project.load(write(text))
        assert project.axes == ("attack-risk", "utility-loss")
        assert project.privacy[-1] == "epsilon"

    def test_without_a_sensitive_attribute_measure_what_needs_none(
        self, write: Callable[[str], Path]
    ) -> None:
        project = Project.load(write(changed('"sensitive"', '"insensitive"')))
        assert project.privacy == ("reidentification-risk", "weighted-k", "k-anonymity")
        assert project.axes == ("reidentification-risk", "general-loss")

    def test_stand_in_for_one_side_only(self, write: Callable[[str], Path]) -> None:
        project = Project.load(write(SMALL + '[measure]\nutility = ["discernibility"]\n'))
        assert project.axes == ("privacy-loss", "discernibility")

    def test_keep_missing_values_and_require_nothing(self, write: Callable[[str], Path]) -> None:
        project = Project.load(write(SMALL))
        assert project.data.missing == "category"
        assert project.data.missing_values == []
        assert project.policy.limits == {}
        assert project.publication.title == ""

    def test_have_nothing_to_try(self, write: Callable[[str], Path]) -> None:
        assert Project.load(write(SMALL.split("[[candidates]]")[0])).searches == ()

    def test_of_parameters_are_written_out_in_recipes(self, write: Callable[[str], Path]) -> None:
        (_, search) = Project.load(write(SMALL)).searches
        assert isinstance(search, Sweep)
        assert search.recipes() == [Recipe("mondrian", {"model": {"k-anonymity": {"k": 2}}}).normalized()]


class TestUnreadableFiles:
    def test_missing(self, tmp_path: Path) -> None:
        assert "`sfumato new DATA`" in refusal(tmp_path / "people.toml")

    def test_a_folder(self, tmp_path: Path) -> None:
        (tmp_path / "people.toml").mkdir()
        assert "is a folder" in refusal(tmp_path / "people.toml")

    def test_not_toml(self, write: Callable[[str], Path]) -> None:
        assert "is not TOML" in refusal(write("[data\npath = 5"))

    def test_a_section_twice(self, write: Callable[[str], Path]) -> None:
        assert "is not TOML" in refusal(write(SMALL + "[data]\n"))

    def test_not_utf8(self, write: Callable[[str], Path]) -> None:
        path = write(SMALL)
        path.write_bytes(b"# \xe9t\xe9\n" + path.read_bytes())
        assert "not UTF-8" in refusal(path)

    def test_brackets_without_end(self, write: Callable[[str], Path]) -> None:
        assert "is not TOML" in refusal(write("a = " + "[" * 5000))

    def test_a_number_of_too_many_digits(self, write: Callable[[str], Path]) -> None:
        assert "is not TOML" in refusal(write("a = 1" + "0" * 5000))

    @given(st.binary(max_size=200))
    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
    def test_random_bytes(self, tmp_path: Path, content: bytes) -> None:
        path = tmp_path / "people.toml"
        path.write_bytes(content)
        refusal(path)


class TestUnknownKeys:
    @pytest.mark.parametrize(
        ("text", "key", "near"),
        [
            ("[dta]\n" + SMALL, "dta", "data"),
            (SMALL + "[polcy]\n", "polcy", "policy"),
            (SMALL + "[[candidate]]\n", "candidate", "candidates"),
            (changed("[data]", '[data]\nseperator = ";"'), "data.seperator", "separator"),
            (changed("[data]", "[data]\nmissing_values = []"), "data.missing_values", "missing-values"),
            (changed('role = "sensitive"', 'rle = "sensitive"'), "attributes.diagnosis.rle", "role"),
            (changed("kind =", "kinds ="), "attributes.age.kinds", "kind"),
            (SMALL + "[measure]\nprivcy = []\n", "measure.privcy", "privacy"),
            (SMALL + "[policy.k-anonymity]\nat-lest = 5\n", "policy.k-anonymity.at-lest", "at-least"),
            (SMALL + '[publication]\ntitel = ""\n', "publication.titel", "title"),
            (
                changed("{ intervals = [5, 10] }", '{ csv = "x.csv", seprator = "," }'),
                "attributes.age.hierarchy.seprator",
                "separator",
            ),
        ],
    )
    def test_are_refused_with_a_suggestion(
        self, write: Callable[[str], Path], text: str, key: str, near: str
    ) -> None:
        assert refusal(write(text)) == f"people.toml: unknown key {key!r}; did you mean {near!r}?"

    def test_that_resemble_nothing_get_the_whole_list(self, write: Callable[[str], Path]) -> None:
        message = refusal(write(SMALL + '[publication]\nxyzzy = ""\n'))
        assert (
            message
            == "people.toml: unknown key 'publication.xyzzy'; allowed are title, purpose, recipients, "
            "safeguards, steward, review-by, profiles, formats, partition-by"
        )


class TestWrongValues:
    @pytest.mark.parametrize(
        ("text", "message"),
        [
            (changed('"people.csv"', "5"), "data.path: expected `str`, got `int`"),
            (changed('path = "people.csv"', ""), "data: lacks the key `path`"),
            (SMALL.split("[attributes")[0], "the file: lacks the key `attributes`"),
            ("[attributes" + SMALL.split("[attributes", 1)[1], "the file: lacks the key `data`"),
            ("data = 5\n", "data: expected `table`, got `int`"),
            (
                changed("[data]", "[data]\nmissing-values = [1]"),
                "data.missing-values[0]: expected `str`, got `int`",
            ),
            (
                changed("[data]", '[data]\nmissing = "drp"'),
                "data.missing: cannot be 'drp'; did you mean 'drop'?",
            ),
            (changed("[data]", '[data]\ndecimal = ";"'), "data.decimal: cannot be ';'; allowed are ., ,"),
            (
                changed('role = "sensitive"', "role = 5"),
                "attributes.diagnosis.role: expected `str`, got `int`",
            ),
            (changed('role = "sensitive"', ""), "attributes.diagnosis: lacks the key `role`"),
            (
                changed('role = "sensitive"', 'role = "sensitve"'),
                "attributes.diagnosis.role: cannot be 'sensitve'; did you mean 'sensitive'?",
            ),
            (
                changed('role = "sensitive"', 'role = "xyzzy"'),
                "attributes.diagnosis.role: cannot be 'xyzzy'; "
                "allowed are identifying, withheld, quasi-identifying, sensitive, insensitive",
            ),
            (
                changed('"numeric"', '"number"'),
                "attributes.age.kind: cannot be 'number'; did you mean 'numeric'?",
            ),
            (
                changed('"numeric"', '"numeric"\nweight = "2"'),
                "attributes.age.weight: expected `float`, got `str`",
            ),
            (SMALL + "[measure]\nprivacy = [5]\n", "measure.privacy[0]: expected `str | table`, got `int`"),
            (SMALL + '[measure]\nprivacy = "privacy-loss"\n', "measure.privacy: expected `list`, got `str`"),
            (SMALL + "[policy]\nk-anonymity = 5\n", "policy.k-anonymity: expected `table`, got `int`"),
            (
                SMALL + '[policy]\nk-anonymity = { at-least = "5" }\n',
                "policy.k-anonymity.at-least: expected `float`, got `str`",
            ),
            (
                SMALL + '[publication]\nprofiles = ["emea"]\n',
                "publication.profiles: cannot be 'emea'; did you mean 'ema'?",
            ),
            (SMALL + "[publication]\ntitle = 5\n", "publication.title: expected `str`, got `int`"),
            (SMALL.split("[[candidates]]")[0] + "[candidates]\n", "candidates: expected `list`, got `table`"),
            (
                "candidates = [5]\n" + SMALL.split("[[candidates]]")[0],
                "candidates[0]: expected `table`, got `int`",
            ),
        ],
    )
    def test_are_named_by_their_place_in_the_file(
        self, write: Callable[[str], Path], text: str, message: str
    ) -> None:
        assert refusal(write(text)) == f"people.toml: {message}"

    def test_an_attribute_that_is_no_table_is_named(self, write: Callable[[str], Path]) -> None:
        text = changed('[attributes.diagnosis]\nrole = "sensitive"', "[attributes]\nsex = 5")
        assert refusal(write(text)) == "people.toml: attributes.sex: expected `table`, got `int`"

    @pytest.mark.parametrize("weight", ["-1", "nan", "inf"])
    def test_a_weight_is_a_number_from_zero(self, write: Callable[[str], Path], weight: str) -> None:
        text = changed('"numeric"', f'"numeric"\nweight = {weight}')
        assert "'age': a weight cannot be" in refusal(write(text), SchemaError)

    @pytest.mark.parametrize("limit", ["{ }", "{ at-most = inf }"])
    def test_a_policy_needs_a_bound(self, write: Callable[[str], Path], limit: str) -> None:
        message = refusal(write(SMALL + f"[policy]\nk-anonymity = {limit}\n"))
        assert message == (
            "people.toml: policy.k-anonymity: give at-most or at-least, for example { at-most = 0.09 }"
        )

    @pytest.mark.parametrize(
        "limit", ["{ at-least = nan }", "{ at-most = nan }", "{ at-least = 5, at-most = 3 }"]
    )
    def test_a_policy_that_nothing_keeps_is_refused(self, write: Callable[[str], Path], limit: str) -> None:
        assert "policy.k-anonymity: no value keeps it" in refusal(
            write(SMALL + f"[policy]\nk-anonymity = {limit}\n")
        )

    @pytest.mark.parametrize(
        ("name", "said"),
        [
            ("privacy-loss of oops", "no sensitive attribute 'oops'"),
            ("privacy-loss of salry", "did you mean 'salary'"),
            ("privacy-lost of salary", "did you mean 'privacy-loss'"),
            ("k-anonymity of salary", "k-anonymity looks at no sensitive attribute; limit it as it is"),
        ],
    )
    def test_a_limit_on_one_attribute_names_a_sensitive_one(
        self, write: Callable[[str], Path], name: str, said: str
    ) -> None:
        assert said in refusal(write(TWO_SENSITIVE + f'[policy]\n"{name}" = {{ at-most = 0.2 }}\n'))

    def test_the_only_sensitive_attribute_needs_no_limit_of_its_own(
        self, write: Callable[[str], Path]
    ) -> None:
        text = TWO_SENSITIVE.replace(
            '[attributes.work]\nrole = "sensitive"', '[attributes.work]\nrole = "insensitive"'
        )
        limited = write(text + '[policy]\n"privacy-loss of salary" = { at-most = 0.2 }\n')
        assert "no other attribute is sensitive; limit 'privacy-loss' instead" in refusal(limited)

    def test_what_is_limited_for_one_attribute_is_measured_once(self, write: Callable[[str], Path]) -> None:
        names = ("t-closeness of salary", "t-closeness of work", "privacy-loss of work")
        limits = "".join(f'"{name}" = {{ at-most = 0.2 }}\n' for name in names)
        project = Project.load(write(TWO_SENSITIVE + f"[policy]\n{limits}"))
        assert project.measures.count("t-closeness") == 1
        assert project.measures.count("privacy-loss") == 1
        assert tuple(project.policy.limits) == names


TWO_SENSITIVE = """
[data]
path = "people.csv"

[attributes.age]
role = "quasi-identifying"

[attributes.salary]
role = "sensitive"

[attributes.work]
role = "sensitive"

[[candidates]]
sanitizer = "mondrian"

"""


class TestHierarchies:
    @staticmethod
    def text(written: str) -> str:
        return changed("{ intervals = [5, 10] }", written)

    @pytest.mark.parametrize(
        ("written", "hint"),
        [
            ("{ }", ""),
            ("{ interval = [5] }", "; did you mean 'intervals'?"),
            ("{ intervals = [5], prefixes = [2] }", ""),
        ],
    )
    def test_have_exactly_one_source(self, write: Callable[[str], Path], written: str, hint: str) -> None:
        assert refusal(write(self.text(written))) == (
            "people.toml: attributes.age.hierarchy: give one of csv, intervals, prefixes, dates, tree, "
            f"for example {{ intervals = [5, 10, 20] }}{hint}"
        )

    @pytest.mark.parametrize(
        ("written", "message"),
        [
            ('"age.csv"', ": expected `table`, got `str`"),
            ("{ csv = 5 }", ".csv: expected `str`, got `int`"),
            ('{ csv = "age.csv", separator = 5 }', ".separator: expected `str`, got `int`"),
            ('{ csv = "age.csv", separator = ";;" }', ".separator: expected `str` of length <= 1"),
            ('{ csv = "age.csv", separator = "" }', ".separator: expected `str` of length >= 1"),
            ("{ intervals = 5 }", ".intervals: expected `list`, got `int`"),
            ('{ intervals = ["five"] }', ".intervals[0]: expected `float`, got `str`"),
            ("{ prefixes = [2.5] }", ".prefixes[0]: expected `int`, got `float`"),
            ('{ dates = ["day"] }', ".dates: cannot be 'day'; allowed are month, quarter, year, decade"),
            ('{ dates = ["moth"] }', ".dates: cannot be 'moth'; did you mean 'month'?"),
            ('{ dates = ["year"], format = 5 }', ".format: expected `str`, got `int`"),
            ("{ tree = 5 }", ".tree: expected `table | list`, got `int`"),
        ],
    )
    def test_of_the_wrong_type_are_named(
        self, write: Callable[[str], Path], written: str, message: str
    ) -> None:
        assert refusal(write(self.text(written))) == f"people.toml: attributes.age.hierarchy{message}"

    def test_take_no_key_of_another_source(self, write: Callable[[str], Path]) -> None:
        message = refusal(write(self.text('{ intervals = [5], format = "%Y" }')))
        assert message == (
            "people.toml: unknown key 'attributes.age.hierarchy.format'; allowed are intervals"
        )

    @pytest.mark.parametrize(
        ("written", "part"),
        [
            ("{ intervals = [] }", "interval widths must be positive"),
            ("{ intervals = [-5] }", "interval widths must be positive"),
            ("{ intervals = [nan] }", "interval widths must be positive"),
            ("{ intervals = [5, 12] }", "12 is not a multiple of 5"),
            ("{ intervals = [10, 5] }", "5 is not a multiple of 10"),
            ("{ prefixes = [2, 3] }", "prefix lengths must fall"),
            ("{ prefixes = [2, 2] }", "prefix lengths must fall"),
            ("{ prefixes = [2, 0] }", "stay above 0"),
            ('{ dates = ["year", "month"] }', "month, quarter, year, decade"),
            ('{ dates = ["year", "year"] }', "each once"),
            ("{ dates = [] }", "date units"),
            ("{ tree = { } }", "no values"),
            ("{ tree = { Europe = 5 } }", "ends in lists of text"),
            ('{ tree = { Europe = "France" } }', "ends in lists of text"),
            ("{ tree = { Europe = [1, 2] } }", "ends in lists of text"),
            ('{ tree = { a = ["x"], b = ["x"] } }', "two branches"),
            ('{ csv = "age.csv" }', "the hierarchy age.csv does not exist"),
        ],
    )
    def test_that_are_none_are_refused_with_a_reason(
        self, write: Callable[[str], Path], written: str, part: str
    ) -> None:
        message = refusal(write(self.text(written)), UserError)
        assert message.startswith("people.toml: attributes.age.hierarchy")
        assert part in message

    @pytest.mark.parametrize(
        ("content", "part"),
        [
            (f"{SECRET};a;*\n{SECRET}2;a\n", "row 2 of age.csv has 2 levels where row 1 has 3"),
            (f"{SECRET};a;x;*\n{SECRET}2;a;y;*\n", "not a tree"),
            (f"{SECRET};a;*\n{SECRET};b;*\n", "a value has two rows"),
            ("", "age.csv is empty"),
            (b"\xff\xfe\xfd", "not UTF-8"),
        ],
    )
    def test_in_a_file_are_refused_without_showing_values(
        self, write: Callable[[str], Path], content: str | bytes, part: str
    ) -> None:
        path = write(self.text('{ csv = "age.csv" }'))
        path.with_name("age.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
        message = refusal(path, HierarchyError)
        assert part in message
        assert SECRET not in message

    def test_may_be_a_tree_written_in_the_project_file(self, write: Callable[[str], Path]) -> None:
        project = Project.load(write(self.text('{ tree = { low = ["1", "2"], high = ["3"] } }')))
        assert project.schema.hierarchy("age").rows() == [
            ["1", "low", "*"],
            ["2", "low", "*"],
            ["3", "high", "*"],
        ]


class TestCandidates:
    @staticmethod
    def text(block: str) -> str:
        return (
            SMALL.split("[[candidates]]")[0]
            + '[[candidates]]\nsanitizer = "as-is"\n\n[[candidates]]\n'
            + block
        )

    @pytest.mark.parametrize(
        ("block", "message"),
        [
            ('sanitizer = "mondrain"', "no sanitizer 'mondrain'; did you mean 'mondrian'?"),
            ('search = "swep"', "no search 'swep'; did you mean 'sweep'?"),
            (
                'sanitizer = "mondrian"\nmodle = {}',
                "sanitizer 'mondrian' has no parameter 'modle'; did you mean 'model'?",
            ),
            ('sanitizer = "as-is"\nk = 5', "sanitizer 'as-is' has no parameter 'k'; it has no parameters"),
            (
                'sanitizer = "mondrian"\nmodel = { k-anonymty = { k = 5 } }',
                "no model 'k-anonymty'; did you mean 'k-anonymity'?",
            ),
            (
                'sanitizer = "mondrian"\nmodel = { k-anonymity = { kk = 5 } }',
                "no parameter 'kk'; did you mean 'k'?",
            ),
            (
                'sanitizer = "mondrian"\nmodel = { k-anonymity = 5 }',
                "its parameters are written { parameter = value }",
            ),
            (
                'sanitizer = "mondrian"\nmodel = "k-anonymity"',
                "a model is written { name = { parameter = value } }",
            ),
            ('sanitizer = "mondrian"\nmodel = { k-anonymity = { k = 0 } }', "k must be at least 1, not 0"),
            (
                'sanitizer = "mondrian"\nmodel = { k-anonymity = { k = [5, 0] } }',
                "k must be at least 1, not 0",
            ),
            ('sanitizer = "mondrian"\nmodel = { k-anonymity = { k = "5" } }', "expected `int`, got `str`"),
            (
                'sanitizer = "mondrian"\nmodel = { k-anonymity = { k = [] } }',
                "an empty list leaves nothing to try",
            ),
            (
                'sanitizer = "full-domain"\nsuppression = 2',
                "suppression must be a share between 0 and 1, not 2",
            ),
            ("", "give a sanitizer or a search by its name"),
            (
                'sanitizer = ["mondrian", "as-is"]',
                "give a sanitizer or a search by its name, one for each [[candidates]] block",
            ),
            ("sanitizer = 5", "give a sanitizer or a search by its name"),
            ("search = {}", "give a sanitizer or a search by its name"),
            ('search = "sweep"', "sanitizer"),
        ],
    )
    def test_that_cannot_be_made_are_named_by_their_number(
        self, write: Callable[[str], Path], block: str, message: str
    ) -> None:
        said = refusal(write(self.text(block)))
        assert said.startswith("people.toml: [[candidates]] number 2: ")
        assert message in said

    @pytest.mark.parametrize(
        ("section", "message"),
        [
            (
                'measure]\nprivacy = ["privacy-los"]',
                "measure.privacy: no measure 'privacy-los'; did you mean 'privacy-loss'?",
            ),
            (
                'measure]\nutility = ["genral-loss"]',
                "measure.utility: no measure 'genral-loss'; did you mean 'general-loss'?",
            ),
            (
                "policy]\nk-anonymty = { at-least = 5 }",
                "policy: no measure 'k-anonymty'; did you mean 'k-anonymity'?",
            ),
            (
                "measure]\nprivacy = [{ reidentification-risk = { treshold = 1 } }]",
                "did you mean 'threshold'?",
            ),
            ("measure]\nprivacy = [{ reidentification-risk = 5 }]", "its parameters are written"),
            ("measure]\nprivacy = [{ }]", "{ name = { parameter = value } }"),
            ("measure]\nprivacy = [{ privacy-loss = { }, weighted-k = { } }]", "one at a time"),
        ],
    )
    def test_measures_that_do_not_exist_are_named_by_their_section(
        self, write: Callable[[str], Path], section: str, message: str
    ) -> None:
        assert message in refusal(write(f"{SMALL}[{section}\n"))


class TestReading:
    @staticmethod
    def read(path: Path, data: str = "age,zip,diagnosis\n31,02138,flu\n") -> Any:
        (path.parent / "people.csv").write_text(data)
        return Project.load(path).read()

    def test_a_column_without_a_role_is_refused(self, write: Callable[[str], Path]) -> None:
        with pytest.raises(SchemaError, match="column 'sex' of the data has no role"):
            self.read(write(SMALL), f"age,zip,diagnosis,sex\n31,02138,{SECRET},{SECRET}\n")

    def test_an_attribute_without_a_column_is_refused(self, write: Callable[[str], Path]) -> None:
        with pytest.raises(SchemaError, match=r"no column 'zip' in the data; did you mean 'zipp'\?"):
            self.read(write(SMALL), f"age,zipp,diagnosis\n31,02138,{SECRET}\n")

    def test_a_hierarchy_that_lacks_values_says_how_many_and_not_which(
        self, write: Callable[[str], Path]
    ) -> None:
        path = write(
            changed('role = "sensitive"', 'role = "sensitive"\nhierarchy = { tree = { all = ["flu"] } }')
        )
        with pytest.raises(HierarchyError) as caught:
            self.read(path, f"age,zip,diagnosis\n31,1,flu\n32,2,{SECRET}\n")
        assert (
            str(caught.value)
            == "hierarchy of 'diagnosis': 1 of its 2 values are not in the hierarchy; add them"
        )

    def test_a_number_that_is_none_is_counted_and_not_shown(self, write: Callable[[str], Path]) -> None:
        with pytest.raises(SchemaError) as caught:
            self.read(write(SMALL), f"age,zip,diagnosis\n{SECRET},1,flu\n")
        assert "'age'" in str(caught.value)
        assert SECRET not in str(caught.value)

    def test_a_missing_file_is_named(self, write: Callable[[str], Path]) -> None:
        with pytest.raises(DataError, match=r"people\.csv does not exist"):
            Project.load(write(SMALL)).read()

    def test_spellings_of_missing_values_are_taken_from_the_file(self, write: Callable[[str], Path]) -> None:
        path = write(changed("[data]", '[data]\nmissing-values = ["?"]'))
        table, _ = self.read(path, "age,zip,diagnosis\n31,?,flu\n32,02138,flu\n")
        assert table["zip"].domain == ("02138", None)

    def test_a_decimal_comma_is_taken_from_the_file(self, write: Callable[[str], Path]) -> None:
        path = write(changed("[data]", '[data]\ndecimal = ","\nseparator = ";"'))
        table, _ = self.read(path, "age;zip;diagnosis\n31,5;1;flu\n")
        assert table["age"].domain == (31.5,)


def test_the_embedded_example_is_a_valid_project(tmp_path: Path) -> None:
    from sfumato.reading.datasets.demo_project import write_demo

    path = write_demo(tmp_path / "demo")
    project = Project.load(path)
    assert tomllib.loads(path.read_text()) == tomllib.loads((FOLDER / "demo.toml").read_text())
    table, schema = project.read()
    assert table.n_records == 45_222
    assert schema.sensitive == ("occupation",)
    assert write_demo(tmp_path / "demo") == path  # a second time nothing is written
