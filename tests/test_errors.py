"""The exception tree: what each refusal is, what it tells the command line, what it carries."""

from __future__ import annotations

import pickle
import re
from typing import Any

import pytest

from sfumato.runtime import errors
from sfumato.runtime.errors import MOST_OF_GIVEN, Infeasible, SfumatoError, UserError, suggestion

EXCEPTIONS = {
    name: thing
    for name, thing in vars(errors).items()
    if isinstance(thing, type) and issubclass(thing, Exception)
}


def drawn_tree() -> dict[str, str]:
    """Read name and parent of every exception from the tree at the top of the module."""
    parents: dict[str, str] = {}
    above: list[tuple[int, str]] = []
    for line in (errors.__doc__ or "").splitlines():
        found = re.match(r"^( {4}[│├└─ ]*)(\w+) {2,}\S", line)
        if found:
            indent, name = len(found[1]), found[2]
            above = [(place, parent) for place, parent in above if place < indent]
            parents[name] = above[-1][1] if above else "Exception"
            above.append((indent, name))
    return parents


def test_the_tree_at_the_top_of_the_module_is_the_tree() -> None:
    assert drawn_tree() == {name: thing.__base__.__name__ for name, thing in EXCEPTIONS.items()}


@pytest.mark.parametrize("name", EXCEPTIONS)
def test_everything_raised_on_purpose_can_be_caught_as_one(name: str) -> None:
    assert issubclass(EXCEPTIONS[name], SfumatoError)


@pytest.mark.parametrize("name", EXCEPTIONS)
def test_the_exit_code_is_1_for_the_user_2_for_the_policy_and_3_for_the_impossible(name: str) -> None:
    codes = {"PolicyNotMet": 2, "VerificationFailed": 2, "Infeasible": 3, "CannotTell": 4}
    expected = codes.get(name, 1)
    exception: Any = EXCEPTIONS[name]
    assert exception.exit_code == expected
    assert (expected == 1) == (issubclass(EXCEPTIONS[name], UserError) or name in ("SfumatoError", "Stopped"))


@pytest.mark.parametrize("name", EXCEPTIONS)
def test_an_exception_survives_the_way_back_from_a_worker(name: str) -> None:
    error = pickle.loads(pickle.dumps(EXCEPTIONS[name]("what happened")))
    assert type(error) is EXCEPTIONS[name]
    assert str(error) == "what happened"


def test_the_infeasible_carries_how_far_one_got() -> None:
    error = pickle.loads(pickle.dumps(Infeasible("k is at most 3", 3.0)))
    assert (str(error), error.reached) == ("k is at most 3", 3.0)
    assert Infeasible("no").reached is None


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("mondrain", "; did you mean 'mondrian'?"),
        ("zzz", ""),
        ("", ""),
        ("clusterin", "; did you mean 'clustering'?"),
    ],
)
def test_the_nearest_name_is_suggested_and_none_where_none_is_near(given: str, expected: str) -> None:
    assert suggestion(given, ["mondrian", "clustering"]) == expected
    assert suggestion(given, []) == ""


class TestShortened:
    @pytest.mark.parametrize(
        ("message", "own"),
        [
            ("no column {!r}; check the name", "no column ; check the name"),
            ("{} does not exist; check the path", " does not exist; check the path"),
            ("a.toml: attributes.{}: unknown key", "a.toml: attributes.: unknown key"),
        ],
    )
    @pytest.mark.parametrize("given", ["x" * 201, "x" * 100_000, "x y " * 60, "x y " * 20_000])
    def test_a_long_text_that_was_given_is_shown_in_part(self, message: str, own: str, given: str) -> None:
        said = str(UserError(message.format(given)))
        assert said.count("x") + said.count("y") + said.count(" ") - own.count(" ") <= MOST_OF_GIVEN
        assert said.endswith(own[-5:])

    def test_both_ends_of_it_stay(self) -> None:
        said = str(UserError(f"no column {'a' * 150 + 'b' * 150!r}; check the name"))
        assert said.startswith("no column 'aaaa")
        assert said.endswith("bbbb'; check the name")

    @pytest.mark.parametrize(
        "message",
        [
            f"no column {'x' * 190!r}; check the name",
            "the project's data and the user's file don't agree, " * 8,
            f"no measure 'x'; there are {', '.join(['k-anonymity'] * 14)}",
        ],
    )
    def test_everything_else_stays_as_it_is(self, message: str) -> None:
        assert str(UserError(message)) == message

    def test_a_long_list_of_names_is_shown_in_part(self) -> None:
        names = ", ".join(f"column{n}" for n in range(3_000))
        said = str(UserError(f"no column 'x'; there are {names}; check the name"))
        assert said.startswith("no column 'x'; there are column0, column1, ")
        assert said.endswith(", …; check the name")
        assert len(said) < MOST_OF_GIVEN + 60

    def test_it_takes_no_longer_than_the_text(self) -> None:
        for sign in "x '\"\\,:":
            assert len(str(UserError(sign * 300_000))) <= 1_000
