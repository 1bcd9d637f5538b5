"""What is kept of costly results, in memory and on a shelf, and what is forgotten or never kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sfumato import Attribute, Schema, Table, measure, sanitize
from sfumato.measures import Adversary, AntiUtility, GoodUtility, Scenario, User, WorkloadUtility
from sfumato.measures.scenarios import good_utility
from sfumato.miners import cross_validation, fit_processes
from sfumato.models import KAnonymity
from sfumato.results.linked_release import LinkedRelease
from sfumato.runtime.caching import _KEPT, forget, kept, kept_on, remembered
from sfumato.sanitizers import Mondrian
from sfumato.workflow.store.store import Store


def test_a_result_is_made_once_for_a_key() -> None:
    made: list[int] = []

    def make() -> list[int]:
        made.append(1)
        return [1, 2]

    first = remembered(("made once", 1), make)
    assert remembered(("made once", 1), make) is first
    assert remembered(("made once", 2), make) is not first
    assert len(made) == 2


def test_the_least_recently_used_is_forgotten() -> None:
    oldest = remembered(("forgotten", 0), object)
    for number in range(1, _KEPT):
        remembered(("forgotten", number), object)
    assert remembered(("forgotten", 0), object) is oldest
    second = remembered(("forgotten", 1), object)
    for number in range(_KEPT, 2 * _KEPT - 1):
        remembered(("forgotten", number), object)
    assert remembered(("forgotten", 1), object) is second
    assert remembered(("forgotten", 0), object) is not oldest


def test_everything_can_be_forgotten() -> None:
    before = remembered(("everything", 1), object)
    forget()
    assert remembered(("everything", 1), object) is not before


MINERS = ("majority", "naive-bayes")


class Board(dict[str, Any]):
    """A shelf in memory."""

    sums = dict.get
    keep_sums = dict.__setitem__


@contextmanager
def fits() -> Iterator[list[str]]:
    """List the miners that are fitted in this process, whatever is remembered of earlier ones."""
    made: list[str] = []
    run = fit_processes.run

    def listed(miner: Any, *facts: Any) -> Any:
        made.append(type(miner).__name__)
        return run(miner, *facts)

    cross_validation.forget()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cross_validation, "run", listed)
        yield made


def people(n_records: int) -> tuple[Table, Schema]:
    rng = np.random.default_rng(3)
    table = Table.from_arrow(
        {
            "age": rng.integers(0, 50_000, n_records),
            "sex": rng.choice(["f", "m"], n_records),
            "ill": rng.choice(["a", "b", "c"], n_records),
        }
    )
    age = Attribute("age", "quasi-identifying", "numeric")
    return Schema((age, Attribute("sex", "insensitive"), Attribute("ill", "sensitive"))).bind(table)


@pytest.fixture(scope="module")
def release() -> LinkedRelease:
    return sanitize(*people(3000), Mondrian(KAnonymity(20)))


def test_sums_are_made_once_for_all_that_they_depend_on() -> None:
    made: list[int] = []

    def make() -> list[float]:
        made.append(1)
        return [0.1]

    with kept_on(Board()):
        for key in (
            ["a", 1],
            ["a", 1],
            ["a", 2],
            ["a", np.arange(3)],
            ["a", np.arange(3)],
            ["a", np.arange(4)],
        ):
            assert kept(key, make) == [0.1]
    assert len(made) == 4


def test_without_shelf_or_key_it_is_made_every_time() -> None:
    made: list[int] = []
    kept(["a"], lambda: made.append(1))
    with kept_on(Board()) as _:
        kept(None, lambda: made.append(1))
        kept(None, lambda: made.append(1))
    assert len(made) == 3


def test_what_did_not_come_to_an_end_is_not_kept() -> None:
    board = Board()
    with kept_on(board):
        assert kept(["a"], lambda: None) is None
        assert kept(["a"], lambda: 5) == 5
    assert list(board.values()) == [5]


def test_the_store_is_a_shelf(tmp_path: Path) -> None:
    with Store(tmp_path / "one.sqlite") as store, kept_on(store):
        assert kept(["a"], lambda: {"x": [1, 0.1]}) == {"x": [1, 0.1]}
    with Store(tmp_path / "one.sqlite") as store, kept_on(store):
        assert kept(["a"], lambda: "another") == {"x": [1, 0.1]}


MEASURES = {
    "good": GoodUtility(Scenario(user=User("sex", miners=MINERS), folds=2)),
    "anti": AntiUtility(Scenario(adversary=Adversary(("ill", "age"), miners=MINERS), folds=2)),
    "workload": WorkloadUtility("sex", MINERS, 2),
}


@pytest.mark.parametrize("which", MEASURES)
def test_nothing_is_fitted_twice_and_the_sums_are_the_same(which: str, release: LinkedRelease) -> None:
    board, measured = Board(), MEASURES[which]
    with fits() as made, kept_on(board):
        first = measure(release, [measured])
        assert made
    with fits() as made, kept_on(board):
        assert measure(release, [measured]) == first
        # the adversary who says the same of everybody is found anew: that takes no time
        assert [each for each in made if each != "Majority"] == []
    with fits():
        assert measure(release, [measured]) == first


@pytest.mark.parametrize("which", MEASURES)
def test_a_measure_that_was_broken_off_goes_on_with_the_next_miner(
    which: str, release: LinkedRelease
) -> None:
    measured = MEASURES[which]
    if which == "anti":
        adversary = Adversary(("ill",), miners=("one-rule", "naive-bayes"), fusion=False)
        measured = AntiUtility(Scenario(adversary=adversary, folds=2))
    with fits() as made, kept_on(Board()):
        whole = measure(release, [measured])
        n_fits = len(made)
    for stop in range(1, n_fits):
        board = Board()
        with fits() as made, kept_on(board), pytest.raises(KeyboardInterrupt):
            broken_off(release, measured, made, stop)
        with fits() as made, kept_on(board):
            assert measure(release, [measured]) == whole
        # a miner of which the last sum was not yet added up is fitted again, all others are not
        assert len([each for each in made if each != "Majority"]) <= n_fits - stop + 1


def broken_off(release: LinkedRelease, measured: Any, made: list[str], stop: int) -> None:
    run: Any = vars(cross_validation)["run"]

    def stopping(*facts: Any) -> Any:
        if len(made) == stop:
            raise KeyboardInterrupt
        return run(*facts)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cross_validation, "run", stopping)
        measure(release, [measured])


def test_the_original_is_fitted_once_for_all_releases() -> None:
    bound = people(3000)
    measured = GoodUtility(Scenario(user=User("sex", miners=("naive-bayes",)), folds=2))
    board = Board()
    counts = []
    for k in (10, 20, 50):
        with fits() as made, kept_on(board):
            measure(sanitize(*bound, Mondrian(KAnonymity(k))), [measured])
            counts.append(len(made))
    assert counts == [2, 1, 1]


def test_a_changed_scenario_or_release_has_sums_of_its_own(release: LinkedRelease) -> None:
    board = Board()
    user = User("sex", miners=("naive-bayes",))
    other = sanitize(*people(3000), Mondrian(KAnonymity(100)))
    ways = [
        (release, Scenario(user=user, folds=2)),
        (release, Scenario(user=user, folds=3)),
        (release, Scenario(user=user, folds=2, seed=1)),
        (release, Scenario(user=User("sex", "age", miners=("naive-bayes",)), folds=2)),
        (
            release,
            Scenario(user=User("sex", error="if(predicted = true, 2, 0)", miners=("naive-bayes",)), folds=2),
        ),
        (release, Scenario(user=User("sex", miners=("dependent-bayes",)), folds=2)),
        (other, Scenario(user=user, folds=2)),
    ]
    sizes = []
    for view, scenario in ways:
        with kept_on(board):
            measure(view, [GoodUtility(scenario)])
        sizes.append(len(board))
    assert sizes == [2, 4, 6, 8, 10, 12, 13]


def test_a_function_of_the_user_s_own_is_no_key(release: LinkedRelease) -> None:
    board = Board()
    user = User("sex", error=lambda predicted, true: predicted == true, miners=("majority",))
    with kept_on(board):
        measure(release, [GoodUtility(Scenario(user=user, folds=2))])
    assert board == {}


def test_nothing_kept_is_as_long_as_the_table(release: LinkedRelease) -> None:
    board = Board()
    with kept_on(board):
        measure(release, list(MEASURES.values()))

    def n_numbers(sums: Any) -> int:
        inner = sums.values() if isinstance(sums, dict) else sums if isinstance(sums, list) else ()
        return sum(map(n_numbers, inner)) if isinstance(sums, (dict, list, tuple)) else 1

    assert max(n_numbers(sums) for sums in board.values()) <= release.origin.table.n_rows / 20 + 2


def test_the_interval_from_mixed_sums_is_nearly_the_exact_one(monkeypatch: pytest.MonkeyPatch) -> None:
    release = sanitize(*people(6000), Mondrian(KAnonymity(10)))
    measured = [GoodUtility(Scenario(user=User("sex", miners=("naive-bayes",)), folds=2))]
    (mixed,) = measure(release, measured)
    monkeypatch.setattr(good_utility, "_FEWEST_SUMS", 10**9)
    (exact,) = measure(release, measured)
    assert mixed.value == exact.value
    assert mixed.interval is not None
    assert exact.interval is not None
    assert mixed.interval[1] - (mixed.value or 0) == pytest.approx(
        exact.interval[1] - (exact.value or 0), rel=0.2
    )
