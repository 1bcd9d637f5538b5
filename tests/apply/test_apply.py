"""Next month's records: what is checked, left out and refused, and what the published folder says."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sfumato import (
    Attribute,
    Hierarchy,
    Intervals,
    Recipe,
    Schema,
    apply,
    freeze,
    measure,
    publish,
    read_release,
    sanitize,
    verify,
)
from sfumato.models import AlphaKAnonymity, KAnonymity, ProbabilisticDiversity, TCloseness
from sfumato.results.intersection import combine_releases, rows_to_suppress
from sfumato.results.linked_release import LinkedRelease, without_rows
from sfumato.results.release import failing_rows, holds
from sfumato.runtime.errors import ParameterError, PolicyNotMet, UserError, VerificationFailed
from sfumato.sanitizers import FullDomain, Mondrian, Sanitizer
from sfumato.verification.documents import read_manifest
from sfumato.verification.folder import fingerprint
from sfumato.workflow.apply.apply import applied
from sfumato.workflow.apply.published_folders import earlier_release, parent_facts

SCHEMA = Schema(
    (
        Attribute("age", "quasi-identifying", "numeric", Intervals((10, 20))),
        Attribute("sex", "quasi-identifying"),
        Attribute("disease", "sensitive"),
    )
)
LEVELS = {"age": 1, "sex": 0}


def _month(seed: int, n: int = 300) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {
        "age": rng.integers(20, 60, n).tolist(),
        "sex": rng.choice(["f", "m"], n).tolist(),
        "disease": rng.choice(["flu", "gout", "asthma", "cold"], n).tolist(),
    }


@pytest.fixture
def january() -> LinkedRelease:
    return sanitize(_month(1), SCHEMA, Mondrian(KAnonymity(5)), seed=1)


def _counts(release: LinkedRelease) -> Counter[tuple[Any, ...]]:
    rows = release.to_arrow(typed=False)
    return Counter(zip(*(rows[name].to_pylist() for name in ("age", "sex")), strict=True))


def test_classes_that_fail_are_left_out_and_counted(january: LinkedRelease) -> None:
    found = applied(freeze(january), _month(2), limit=1.0)
    sizes = _counts(found.release)
    assert min(sizes.values()) >= 5
    assert found.n_failing > 0
    assert found.release.n_suppressed == found.n_failing + sum(found.withheld.values())


def test_more_than_the_limit_is_refused_with_the_figure(january: LinkedRelease) -> None:
    found = applied(freeze(january), _month(2), limit=1.0)
    share = found.release.n_suppressed / 300
    with pytest.raises(
        PolicyNotMet, match=rf"{found.release.n_suppressed} of 300 new records \({share:.1%}\)"
    ):
        apply(january, _month(2), limit=share - 0.001)
    assert apply(january, _month(2), limit=share).n_records == found.release.n_records


def test_the_limit_is_the_recipe_s_own_or_one_in_twenty() -> None:
    first = sanitize(_month(1), SCHEMA, FullDomain(LEVELS, KAnonymity(2), suppression=0.3))
    with pytest.raises(PolicyNotMet, match=r"limit of 30\.0%"):
        apply(first, {"age": [91] * 4 + [21] * 6, "sex": list("fmxy") + ["f"] * 6, "disease": ["flu"] * 10})
    usual = sanitize(_month(1), SCHEMA, Mondrian(KAnonymity(5)))
    with pytest.raises(PolicyNotMet, match=r"limit of 5\.0%"):
        apply(usual, _month(2))
    with pytest.raises(ParameterError, match="limit must be a share"):
        apply(usual, _month(2), limit=5)


def test_if_nobody_is_left_nothing_is_made(january: LinkedRelease) -> None:
    nobody = {"age": [30, 31], "sex": ["x", "y"], "disease": ["flu", "flu"]}
    with pytest.raises(PolicyNotMet, match="every one of the 2 new records"):
        apply(january, nobody, limit=1.0)


def test_a_model_must_hold_alone_and_together() -> None:
    """One class: alone it has 2 of 4 flu, together with January's 9 of 10 more than the model allows."""
    diverse = FullDomain({"age": 2, "sex": 1}, KAnonymity(2), suppression=0.0)
    first = sanitize(
        {"age": [21] * 20, "sex": ["f"] * 20, "disease": ["flu"] * 18 + ["gout"] * 2}, SCHEMA, diverse
    )
    new = {"age": [22] * 4, "sex": ["m"] * 4, "disease": ["flu", "flu", "gout", "cold"]}
    second = apply(first, new)
    model = ProbabilisticDiversity(1.25)
    assert holds(second, model)
    assert not holds(combine_releases([second, first]), model)
    assert rows_to_suppress(second, [], model).sum() == 0
    assert rows_to_suppress(second, [first], model).all()
    asked = FullDomain({"age": 2, "sex": 1}, model, suppression=0.0)
    with pytest.raises(PolicyNotMet, match="every one of the 4 new records"):
        apply(replace(first, recipe=Recipe.of(asked)), new, limit=1.0)


def test_records_are_left_out_until_nothing_fails_any_more() -> None:
    """What is left out changes what all releases tell of everybody, and then another class may fail."""
    model, n_twice = TCloseness(0.15), 0
    for seed in range(30):
        first, second = (
            sanitize(_month(seed + month, n), SCHEMA, FullDomain(LEVELS, KAnonymity(1)))
            for month, n in ((100, 60), (200, 120))
        )
        once = (
            failing_rows(second, model)
            | failing_rows(combine_releases([second, first]), model)[: second.n_rows]
        )
        drop = rows_to_suppress(second, [first], model)
        n_twice += bool((drop & ~once).any())
        if not drop.all():
            rest = without_rows(second, drop)
            assert holds(rest, model)
            assert not failing_rows(combine_releases([rest, first]), model)[: rest.n_rows].any()
    assert n_twice > 0


def test_what_is_put_together_is_counted_as_one() -> None:
    first, second = (sanitize(_month(seed), SCHEMA, FullDomain(LEVELS, KAnonymity(1))) for seed in (1, 2))
    both = combine_releases([second, first])
    assert _classes(both) == _counts(first) + _counts(second)
    everything = {name: [*_month(2)[name], *_month(1)[name]] for name in _month(1)}
    whole = sanitize(everything, SCHEMA, FullDomain(LEVELS, KAnonymity(1)))
    for model in (TCloseness(0.1), ProbabilisticDiversity(2)):
        assert model.level(both.groups) == pytest.approx(model.level(whole.groups))


def _classes(release: LinkedRelease) -> Counter[tuple[Any, ...]]:
    names = release.schema.quasi_identifiers
    found: Counter[tuple[Any, ...]] = Counter()
    for place in range(release.n_rows):
        labels = tuple(release.cells[n].labels[release.cells[n].codes[place]] for n in names)
        found[labels] += int(release.weights[place])
    return found


def test_a_published_month_names_its_parent_and_verifies(january: LinkedRelease, tmp_path: Path) -> None:
    publish(january, tmp_path / "january", candidate="3f9a", policy="none", allow_singling_out=True)
    second = apply(
        freeze(january),
        _month(2),
        tmp_path / "february",
        limit=1.0,
        parent=tmp_path / "january",
        policy="none",
        allow_singling_out=True,
    )
    assert verify(tmp_path / "february")
    manifest = read_manifest(tmp_path / "february")
    assert manifest.parent is not None
    assert manifest.parent.candidate == "3f9a"
    assert manifest.parent.manifest == fingerprint(tmp_path / "january", "manifest.json")[0]
    assert second.n_records == sum(_counts(second).values())
    apply(
        january,
        _month(3),
        tmp_path / "march",
        limit=1.0,
        earlier=[tmp_path / "february"],
        policy="none",
        allow_singling_out=True,
    )
    third = read_manifest(tmp_path / "march").parent
    assert third is not None
    assert third.earlier == [fingerprint(tmp_path / "february", "manifest.json")[0]]
    assert verify(tmp_path / "march")


def test_a_forged_parent_is_found(january: LinkedRelease, tmp_path: Path) -> None:
    apply(january, _month(2), tmp_path / "out", limit=1.0, policy="none", allow_singling_out=True)
    place = tmp_path / "out" / "manifest.json"
    facts = json.loads(place.read_text("utf-8"))
    facts["parent"]["manifest"] = "not a checksum"
    place.write_text(json.dumps(facts), encoding="utf-8")
    assert any("checksums" in check.problem for check in verify(tmp_path / "out").failed)
    facts["parent"]["sibling"] = "x"
    place.write_text(json.dumps(facts), encoding="utf-8")
    with pytest.raises(VerificationFailed):
        verify(tmp_path / "out")


def test_a_folder_is_enough_to_go_on_from(january: LinkedRelease, tmp_path: Path) -> None:
    publish(january, tmp_path / "january", policy="none", allow_singling_out=True)
    from_folder = apply(read_release(tmp_path / "january", _month(1), SCHEMA), _month(2), limit=1.0)
    assert _counts(from_folder) == _counts(apply(january, _month(2), limit=1.0))


def test_a_folder_of_other_attributes_is_refused(january: LinkedRelease, tmp_path: Path) -> None:
    publish(january, tmp_path / "january", policy="none", allow_singling_out=True)
    other = Schema((*SCHEMA.attributes[:2], Attribute("disease", "insensitive")))
    with pytest.raises(UserError, match="'disease' is not the same attribute"):
        earlier_release(tmp_path / "january", other)
    (tmp_path / "january" / "data.csv").write_text("age,sex,disease\n", encoding="utf-8")
    with pytest.raises(UserError, match="was changed after it was published"):
        earlier_release(tmp_path / "january", SCHEMA)


def test_nothing_that_was_withheld_is_told_to_readers(january: LinkedRelease, tmp_path: Path) -> None:
    new = _month(2)
    new["sex"][0], new["disease"][0] = "SECRETVALUE", "SECRETVALUE"
    apply(january, new, tmp_path / "out", limit=1.0, policy="none", allow_singling_out=True)
    assert all(b"SECRETVALUE" not in file.read_bytes() for file in (tmp_path / "out").iterdir())


def test_people_are_counted_where_they_are_known(tmp_path: Path) -> None:
    schema = Schema((Attribute("who", "identifying"), *SCHEMA.attributes), person="who")
    month = {"who": [number // 2 for number in range(300)], **_month(1)}
    first = sanitize(month, schema, Mondrian(KAnonymity(5)), seed=1)
    second = apply(
        freeze(first, month),
        {"who": month["who"], **_month(2)},
        tmp_path / "out",
        limit=1.0,
        policy="none",
        allow_singling_out=True,
    )
    assert second.people is not None
    assert second.classes.people.min() >= 5
    assert verify(tmp_path / "out")


def test_people_who_come_again_count_once_in_what_is_put_together() -> None:
    """Two people in January, the same two in February: two people in the class, not four."""
    schema = Schema((Attribute("who", "identifying"), *SCHEMA.attributes), person="who")
    one_class = FullDomain({"age": 2, "sex": 1}, KAnonymity(2))
    january = {"who": ["a", "b", "b"], "age": [21, 22, 23], "sex": list("fmf"), "disease": ["flu"] * 3}
    february = {"who": ["b", "a", "c"], "age": [22, 21, 21], "sex": list("mff"), "disease": ["flu"] * 3}
    first = sanitize(january, schema, one_class)
    second = apply(freeze(first, january), february)
    known = second.origin.earlier[0].people
    assert known is not None
    both = combine_releases([second, first], known)
    assert both.classes.people.tolist() == [3]
    assert combine_releases([second, first]).classes.people.tolist() == [5]
    three = ProbabilisticDiversity(1.0) & KAnonymity(3)
    four = KAnonymity(4)
    assert not rows_to_suppress(second, [first], three, known).any()
    assert rows_to_suppress(second, [first], four, known).all()


def test_a_value_that_no_hierarchy_has_is_withheld_also_where_people_are_known() -> None:
    town = Attribute("town", "quasi-identifying", hierarchy=Hierarchy.nested({"north": ["a", "b"]}))
    schema = Schema((Attribute("who", "identifying"), town, Attribute("disease", "sensitive")), person="who")
    january = {"who": list("pqrs"), "town": list("abab"), "disease": ["flu"] * 4}
    february = {"who": list("xqrp"), "town": list("zbab"), "disease": ["flu"] * 4}
    first = sanitize(january, schema, FullDomain({"town": 1}, KAnonymity(2)))
    found = applied(freeze(first, january), february, limit=1.0)
    assert found.withheld == {"town": 1}
    now, then = found.release.origin.earlier[0].people or ([], [])
    assert {*now} < {*then}


def test_nobody_is_named_as_parent_without_a_folder() -> None:
    facts = parent_facts("3f9a")
    assert (facts.candidate, facts.manifest, facts.earlier) == ("3f9a", None, [])


TREE = Hierarchy.nested({"north": ["a", "b"], "south": ["c"]})
TOWNS = Schema((Attribute("town", "quasi-identifying", hierarchy=TREE), Attribute("disease", "sensitive")))


def _in_towns(towns: str) -> dict[str, list[str]]:
    return {"town": list(towns), "disease": [("flu", "gout")[place % 2] for place in range(len(towns))]}


@pytest.mark.parametrize(
    "how",
    [FullDomain({"town": 1}, KAnonymity(2)), FullDomain({"town": 2}, KAnonymity(2)), Mondrian(KAnonymity(2))],
    ids=str,
)
def test_an_earlier_release_may_have_withheld_a_value_that_no_hierarchy_has(
    how: Sanitizer, tmp_path: Path
) -> None:
    first = sanitize(_in_towns("aabbcc"), TOWNS, how)
    second = apply(
        first, _in_towns("aabbccz"), tmp_path / "second", limit=0.5, policy="none", allow_singling_out=True
    )
    third = apply(
        first,
        _in_towns("aabbccy"),
        tmp_path / "third",
        limit=0.5,
        earlier=[second],
        policy="none",
        allow_singling_out=True,
    )
    by_folder = apply(first, _in_towns("aabbccy"), limit=0.5, earlier=[tmp_path / "second"])
    for one, other in zip(*(measure(each, MEETING) for each in (third, by_folder)), strict=True):
        assert (one.value, one.detail) == (other.value, other.detail)
    # the recoding of the second can be kept as well
    fourth = apply(second, _in_towns("aabbccz"), limit=0.5)
    assert fourth.n_records == second.n_records


MEETING = ["composition-k", "composition-loss"]


def test_a_sensitive_value_that_its_hierarchy_lacks_is_put_together_with_the_others() -> None:
    disease = Attribute(
        "disease", "sensitive", hierarchy=Hierarchy.nested({"mild": ["flu"], "bad": ["gout"]})
    )
    schema = Schema((TOWNS.attributes[0], disease))
    how = FullDomain({"town": 2}, KAnonymity(2) & TCloseness(0.9, distance="hierarchical"))
    first = sanitize(_in_towns("aabbcc"), schema, how)
    new = _in_towns("aabbcc") | {"disease": ["flu", "gout", "plague", "flu", "gout", "flu"]}
    second = apply(first, new)
    third = apply(first, new, earlier=[second])
    assert third.n_records == 6


WHO = Schema(
    (
        Attribute("who", "identifying"),
        Attribute("town", "quasi-identifying"),
        Attribute("disease", "sensitive"),
    ),
    person="who",
)


def _people(names: str, diseases: str) -> dict[str, list[str]]:
    told = {"f": "flu", "g": "gout"}
    return {"who": list(names), "town": ["t"] * len(names), "disease": [told[each] for each in diseases]}


def test_people_of_two_applied_months_count_once_together() -> None:
    """Five of the six people had flu by March, although every month shows two of three."""
    how = FullDomain({"town": 0}, AlphaKAnonymity(0.7, k=3))
    january, february, march = _people("abc", "ffg"), _people("xyz", "ffg"), _people("xyz", "ggf")
    recoding = freeze(sanitize(january, WHO, how), january)
    second = apply(recoding, february)
    with pytest.raises(PolicyNotMet, match="3 in classes that fail the model"):
        apply(recoding, march, earlier=[second])
    # other people in March: five of nine had flu
    others = apply(recoding, _people("uvw", "ggf"), earlier=[second])
    assert others.n_records == 3
    assert not any("is an estimate" in note for note in others.notes)


def test_measures_know_the_people_of_two_applied_months() -> None:
    how = FullDomain({"town": 0}, KAnonymity(2))
    january = _people("abc", "ffg")
    recoding = freeze(sanitize(january, WHO, how), january)
    second = apply(recoding, _people("xyc", "ffg"))
    third = apply(recoding, _people("ycq", "ffg"), earlier=[second])
    (k,) = measure(third, ["composition-k"])
    # y shares March with two and February with one of them, c is the only one who was in all three
    assert (k.value, k.detail["share-in-earlier"], k.detail["share-estimated"]) == (1.0, 2 / 3, 0.0)


def test_where_nobody_can_be_recognized_the_result_says_that_it_is_an_estimate(tmp_path: Path) -> None:
    how = FullDomain({"town": 0}, KAnonymity(2))
    january, february = _people("abc", "ffg"), _people("xyz", "gff")
    first = sanitize(january, WHO, how)
    for recoding, earlier, unrecognized in (
        (freeze(first, january), [], 0),
        (freeze(first), [], 1),
        (freeze(first, january), [first], 1),
        (freeze(first), [apply(first, january), first], 2),
    ):
        found = applied(recoding, february, earlier)
        assert (found.n_unrecognized, found.n_earlier) == (unrecognized, 1 + len(earlier))
        said = [note for note in found.release.notes if "is an estimate" in note]
        assert said == ([found.estimate] if unrecognized else [])
    nobody = Schema(WHO.attributes[1:])
    plain = {name: february[name] for name in ("town", "disease")}
    second = apply(
        sanitize({**plain, "disease": ["flu"] * 3}, nobody, how),
        plain,
        tmp_path / "out",
        policy="none",
        allow_singling_out=True,
    )
    assert any("in 1 of 1 earlier releases" in note for note in second.notes)
    assert "is an estimate" in (tmp_path / "out" / "report.html").read_text("utf-8")
    # the sentence is about this file: the next one has its own
    third = apply(second, plain, earlier=[second, second])
    assert sum("is an estimate" in note for note in third.notes) <= 1


def test_a_missing_name_does_not_shift_the_people_where_missing_values_are_dropped() -> None:
    schema = replace(WHO, missing="drop")
    how = FullDomain({"town": 0}, KAnonymity(2))
    january = _people("abcd", "fgfg") | {"who": [None, "b", "c", "d"]}
    recoding = freeze(sanitize(january, schema, how), january)
    february = _people("bcde", "gfgf") | {"town": ["t", "t", None, "t"]}
    second = apply(recoding, february)
    now, then = second.origin.earlier[0].people or ([], [])
    assert len({*now} & {*then}) == 2
    assert len({*then}) == 4
