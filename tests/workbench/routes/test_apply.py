"""Next month's file in the workbench: the same as the command does, the same refusals, the same figures."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from sfumato import publish, sanitize
from sfumato.interfaces.cli import run
from sfumato.reading import datasets
from sfumato.sanitizers import Anatomy, CartSynthesis, RankSwapping, Sanitizer
from sfumato.verification.documents import read_manifest
from sfumato.verification.folder import fingerprint
from sfumato.workflow.publish.verify import verify
from sfumato.workflow.store.store import Store

from .. import exploring
from ..exploring import Seen, candidates, harmless, patients

Ready = Callable[..., Any]
GIVEN = {
    "file": "february.csv",
    "limit": "50%",
    "why": "It is February.",
    "by": "A. Steward",
    "folder": "feb",
}


@pytest.fixture
def project(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    # on a grid, cells of several classes may hold a record, so that it need not come into its own again
    tight = exploring.PATIENTS.replace('"mondrian"\n', '"mondrian"\nborders = "tight"\n')
    monkeypatch.setattr(exploring, "PATIENTS", tight)
    made = patients(folder)
    shutil.copy(folder / "patients.csv", folder / "february.csv")
    return made


@pytest.fixture
def january(project: Path) -> Path:
    """The release of January, published by the command."""
    identity = candidates(project)["mondrian-3"].id
    target = project.parent / "january"
    assert run(["publish", identity, str(target), "--project", str(project)]) == 0
    return target


def of_release(project: Path, name: str = "mondrian-3") -> str:
    return f"/projects/patients/releases/{candidates(project)[name].id}/apply"


OF_JANUARY = "/projects/patients/published/january/apply"


def sent(guest: TestClient, ready: Ready, address: str, **given: str) -> Any:
    ready(address)
    answer = guest.post(address, data=GIVEN | given)
    return ready(answer.headers["location"]) if answer.status_code == 303 else answer


def test_the_page_of_a_release_and_that_of_a_folder_lead_to_it(
    project: Path, january: Path, ready: Ready
) -> None:
    assert of_release(project) in Seen(ready(of_release(project).removesuffix("/apply")).text).links
    assert OF_JANUARY in Seen(ready(OF_JANUARY.removesuffix("/apply")).text).links
    page = harmless(ready(OF_JANUARY).text)
    assert "february.csv" in page.text
    assert "patients.csv" not in page.text  # the project's own data is January's
    assert "re-identification risk at most 50%" in page.text


@pytest.mark.parametrize("how", [RankSwapping(), CartSynthesis(min_leaf=2), Anatomy(2)], ids=str)
def test_a_folder_without_a_recoding_does_not_offer_it(
    project: Path, january: Path, ready: Ready, how: Sanitizer
) -> None:
    publish(
        sanitize(*datasets.hospital(), how, seed=1),
        project.parent / "other",
        policy="none",
        allow_singling_out=True,
    )
    address = OF_JANUARY.replace("january", "other")
    page = ready(address.removesuffix("/apply"))
    assert "Verified." in page.text
    assert address not in Seen(page.text).links


@pytest.mark.parametrize("by_folder", [False, True])
def test_new_records_are_published_as_the_command_publishes_them(
    project: Path, january: Path, ready: Ready, guest: TestClient, by_folder: bool
) -> None:
    address = OF_JANUARY if by_folder else of_release(project)
    page = Seen(sent(guest, ready, address).text)
    assert "Verified." in page.text
    assert "12 of 12 records are published." in page.text
    parent = str(january) if by_folder else candidates(project)["mondrian-3"].id
    january_csv = (january / "data.csv").read_text("utf-8")
    new = [parent, str(project.parent / "february.csv"), str(project.parent / "cli")]
    # what the workbench published would be laid beside it
    shutil.move(project.parent / "feb", project.parent / "moved away")
    assert run(["apply", *new, "--project", str(project), "--limit", "50%", "--by", "A. Steward"]) == 0
    ours, theirs = (read_manifest(project.parent / name) for name in ("moved away", "cli"))
    assert (ours.parent, ours.layout) == (theirs.parent, theirs.layout)
    # records lie in an order of their own, and so sums may differ in their last digit
    told = [[(each.measure, each.value) for each in manifest.claims] for manifest in (ours, theirs)]
    assert [name for name, _ in told[0]] == [name for name, _ in told[1]]
    assert [value for _, value in told[0]] == pytest.approx([value for _, value in told[1]])
    assert ours.parent is not None
    assert ours.parent.manifest == fingerprint(january, "manifest.json")[0]
    assert {"composition-k", "composition-loss"} <= {figure.measure for figure in ours.unverified.figures}
    written = (project.parent / "moved away" / "data.csv").read_text("utf-8")
    assert sorted(written.split("\n")) == sorted(january_csv.split("\n"))
    assert verify(project.parent / "moved away").holds
    with Store(project.with_suffix(".sqlite")) as store:
        assert [each.why for each in store.decisions()][1] == "It is February."


def test_too_many_left_out_is_refused_and_said(
    project: Path, january: Path, ready: Ready, guest: TestClient
) -> None:
    lines = (project.parent / "february.csv").read_text("utf-8").splitlines()
    place = lines[0].split(",").index("zip")
    unknown = [",".join("99999" if at == place else cell for at, cell in enumerate(lines[1].split(",")))] * 3
    (project.parent / "february.csv").write_text("\n".join([*lines, *unknown]) + "\n", encoding="utf-8")
    page = sent(guest, ready, OF_JANUARY, limit="0")
    assert page.status_code == 422
    assert "Nothing was published." in page.text
    assert "would have to be suppressed" in page.text
    assert "99999" not in page.text
    assert not (project.parent / "feb").exists()


def test_a_policy_on_all_releases_together_is_kept(
    project: Path, january: Path, ready: Ready, guest: TestClient
) -> None:
    text = project.read_text("utf-8")
    project.write_text(
        text.replace(
            '[policy]\nrecipient = "none"\n',
            '[policy]\nrecipient = "none"\ncomposition-k = { at-least = 100 }\n',
        ),
        encoding="utf-8",
    )
    page = sent(guest, ready, OF_JANUARY)
    assert page.status_code == 422
    assert "composition-k" in page.text
    assert not (project.parent / "feb").exists()


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"file": "../secret.csv"}, "Choose the file with the new records."),
        ({"file": "patients.csv"}, "Choose the file with the new records."),
        ({"limit": "many"}, "Write a share such as 5%"),
        ({"limit": "500%"}, "Write a share such as 5%"),
        ({"limit": "nan"}, "Write a share such as 5%"),
        ({"why": ""}, "Say why"),
        ({"by": ""}, "Say who decides."),
        ({"folder": "january"}, "Something with this name is there already"),
        ({"folder": "..."}, "give the folder a name"),
    ],
)
def test_a_form_that_cannot_be_used_says_so(
    project: Path, january: Path, ready: Ready, guest: TestClient, wrong: dict[str, str], says: str
) -> None:
    answer = sent(guest, ready, OF_JANUARY, **wrong)
    assert answer.status_code == 422
    assert says.lower() in answer.text.lower()
    assert not (project.parent / "feb").exists()


def test_a_recoding_that_cannot_be_kept_says_so(project: Path, ready: Ready, guest: TestClient) -> None:
    answer = sent(guest, ready, of_release(project, "anatomy"))
    assert (answer.status_code, "its recoding cannot be kept" in answer.text) == (422, True)


def test_a_file_can_be_sent_from_the_form(
    project: Path, january: Path, ready: Ready, guest: TestClient
) -> None:
    content = (project.parent / "february.csv").read_bytes()
    then = OF_JANUARY.strip("/")
    answer = guest.post("/files", files={"file": ("march.csv", content)}, data={"then": then})
    assert answer.headers["location"] == f"{OF_JANUARY}?file=march.csv"
    assert (project.parent / "march.csv").read_bytes() == content
    chosen = ready(answer.headers["location"]).text
    assert "<option selected>march.csv</option>" in chosen


@pytest.mark.parametrize(
    "then",
    ["https://elsewhere.example/x", "projects/p/data", "projects/../published/x/apply", "//x/y/z/apply"],
)
def test_a_form_does_not_lead_elsewhere(guest: TestClient, folder: Path, then: str) -> None:
    answer = guest.post("/files", files={"file": ("march.csv", b"a\n1\n")}, data={"then": then})
    assert answer.headers["location"].startswith("/beginning/")
