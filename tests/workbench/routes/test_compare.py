"""The compare page: two or three releases, the better values marked, empty and wrong choices told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ..exploring import Seen, candidates, explored, harmless, patients

Ready = Callable[..., Any]


@pytest.fixture
def project(folder: Path) -> Path:
    return patients(folder)


def address(project: Path, *names: str) -> str:
    made = candidates(project)
    return f"/projects/patients/compare?{'&'.join(f'id={made[name].id}' for name in names)}"


@pytest.mark.parametrize("names", [("mondrian-2", "mondrian-3"), ("mondrian-2", "mondrian-3", "anatomy")])
def test_releases_stand_side_by_side(project: Path, ready: Ready, names: tuple[str, ...]) -> None:
    page = harmless(ready(address(project, *names)).text)
    made = candidates(project)
    for name in names:
        assert made[name].id in page.text
    assert page.text.count(" is better in ") == len(names) * (len(names) - 1) // 2
    assert {"class": "best"} in page.all("span")
    assert "What each attribute loses" in page.text


def test_the_better_value_is_marked(project: Path, ready: Ready) -> None:
    page = ready(address(project, "mondrian-2", "mondrian-3")).text
    row = page[page.index("k-anonymity <small>higher is better") :].partition("</tr>")[0]
    assert '<td class="figure">2</td><td class="figure"><span class="best">3</span></td>' in row


def test_one_release_or_none_lets_others_be_chosen(project: Path, ready: Ready) -> None:
    page = Seen(ready("/projects/patients/compare").text)
    assert len(page.all("select")) == 3
    one = Seen(ready(address(project, "mondrian-2")).text)
    assert "Choose at least one more release." in one.text
    twice = candidates(project)["mondrian-2"].id
    assert [each["value"] for each in one.all("option") if "selected" in each] == [twice]
    assert "Choose at least one more" in ready(f"/projects/patients/compare?id={twice}&id={twice}&id=").text


def test_wrong_choices_are_told(project: Path, ready: Ready) -> None:
    assert ready("/projects/patients/compare?id=nobody&id=../x").status_code == 404
    too_many = ready(address(project, "mondrian-2", "mondrian-3", "anatomy", "as-is"))
    assert too_many.status_code == 422
    assert "At most 3 releases" in too_many.text


def test_with_nothing_explored_there_is_nothing_to_compare(folder: Path, ready: Ready) -> None:
    page = ready("/projects/people/compare")
    assert page.status_code == 200
    assert "There are no candidates so far" in Seen(page.text).text


def test_a_single_candidate_is_not_enough(project: Path, folder: Path, ready: Ready) -> None:
    written = project.read_text()
    start, _, rest = written.partition("[[candidates]]")
    measures = rest[rest.index("[measure]") :]
    explored(folder / "single.toml", f'{start}[[candidates]]\nsanitizer = "as-is"\n\n{measures}')
    assert "There is one candidate so far" in Seen(ready("/projects/single/compare").text).text
