"""The first page: projects, files, and a file that is dropped on it."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from sfumato.interfaces.workbench.server import application
from sfumato.interfaces.workbench.state.uploads import clean_name, free_place
from sfumato.runtime.errors import UserError
from sfumato.workflow.project.project_file import Project

from ..conftest import PEOPLE, PROJECT, TOKEN, visitor


def dropped(guest: TestClient, name: str, content: bytes, **fields: str) -> Any:
    return guest.post("/files", files={"file": (name, content)}, data=fields)


def test_projects_and_files_without_one_are_listed(folder: Path, guest: TestClient) -> None:
    (folder / "other.csv").write_text(PEOPLE)
    (folder / "notes.md").write_text("not data")
    (folder / ".hidden.csv").write_text(PEOPLE)
    (folder / "pyproject.toml").write_text("[tool]\n")
    page = guest.get("/").text
    assert "/projects/people/data" in page
    assert "other.csv" in page
    assert not any(name in page for name in ("notes.md", ".hidden", "pyproject", 'value="people~2ecsv"'))


def test_an_empty_folder_invites(tmp_path: Path) -> None:
    client = visitor(application(tmp_path, token=TOKEN))
    client.get(f"/?token={TOKEN}")
    page = client.get("/").text
    assert "What would you like to publish?" in page
    assert "Drop a file here" in page


def test_who_has_no_table_takes_the_example(tmp_path: Path) -> None:
    client = visitor(application(tmp_path, token=TOKEN))
    client.get(f"/?token={TOKEN}")
    assert "Try the example" in client.get("/").text
    response = client.post("/example")
    assert response.headers["location"] == "/projects/adult/data"
    assert Project.load(tmp_path / "adult.toml").data_path.is_file()
    assert "Try the example" not in client.get("/").text


def test_a_broken_project_file_is_said_on_its_card(folder: Path, guest: TestClient) -> None:
    (folder / "broken.toml").write_text("policy.recipient = 'none'\n[data]\npath = \n")
    assert "cannot be read as it is" in guest.get("/").text


def test_what_only_looks_like_a_project_file_hinders_nothing(folder: Path, guest: TestClient) -> None:
    (folder / "folder.toml").mkdir()
    (folder / "lost.toml").symlink_to(folder / "nowhere")
    (folder / "round.toml").symlink_to("round.toml")
    page = guest.get("/")
    assert page.status_code == 200
    assert "people" in page.text
    assert "lost" not in page.text


def test_a_dropped_file_becomes_a_project(folder: Path, guest: TestClient, ready: Callable[..., Any]) -> None:
    response = dropped(guest, "admissions.csv", PEOPLE.encode())
    assert response.status_code == 303
    page = ready(response.headers["location"])
    assert page.url.path == "/projects/admissions/data"
    assert "Its role was guessed" in page.text
    assert (folder / "admissions.csv").read_text() == PEOPLE
    assert Project.load(folder / "admissions.toml").schema.identifying == ("name",)


def test_the_project_is_the_one_that_sfumato_new_writes(
    folder: Path, guest: TestClient, ready: Callable[..., Any]
) -> None:
    from sfumato.workflow.project.new_project import start_project

    ready(dropped(guest, "a.csv", PEOPLE.encode()).headers["location"])
    written = (folder / "a.toml").read_text()
    (folder / "a.toml").unlink()
    start_project(folder / "a.csv", folder / "a.toml")
    assert written == (folder / "a.toml").read_text()


def test_nothing_is_overwritten(folder: Path, guest: TestClient, ready: Callable[..., Any]) -> None:
    page = ready(dropped(guest, "people.csv", b"age,sex\n1,f\n2,m\n").headers["location"])
    assert page.url.path == "/projects/people-2/data"
    assert (folder / "people.csv").read_text() == PEOPLE
    assert (folder / "people.toml").read_text() == PROJECT


def test_a_project_of_the_same_name_for_other_data_is_left_alone(
    folder: Path, guest: TestClient, ready: Callable[..., Any]
) -> None:
    (folder / "people.tsv").write_text(PEOPLE.replace(",", "\t"))
    response = guest.post("/projects", data={"file": "people~2etsv"})
    assert ready(response.headers["location"]).url.path == "/projects/people-2/data"
    assert (folder / "people.toml").read_text() == PROJECT


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("../../outside.csv", "outside.csv"),
        ("..\\..\\outside.csv", "outside.csv"),
        ("/etc/cron.d/x.csv", "x.csv"),
        ("<script>alert(1)</script>.csv", "script_.csv"),
        ("a\"b';$(touch x).csv", "a_b___(touch x).csv"),
        (".hidden.csv", "hidden.csv"),
        ("...txt.csv", "txt.csv"),
        ("con.csv", "data.csv"),
        ("con.old.csv", "data.csv"),
        ("--help.csv", "help.csv"),
        ("größe.csv", "größe.csv"),
        ("x" * 500 + ".csv", "x" * 120 + ".csv"),
        ("a.csv.gz", "a.csv.gz"),
        ("A.CSV", "A.CSV"),
        ("new\nline\x00.csv", "new_line_.csv"),
    ],
)
def test_names_are_cleaned(name: str, kept: str) -> None:
    assert clean_name(name) == kept


@pytest.mark.parametrize(
    "name", ["x.py", "..csv", "x.html", "x", "", "csv", "x.csv.exe", "x.toml", "x.sqlite"]
)
def test_what_is_no_data_is_refused(folder: Path, guest: TestClient, name: str) -> None:
    with pytest.raises(UserError, match="give one of"):
        clean_name(name)
    before = sorted(os.listdir(folder))
    assert dropped(guest, name, b"import os").status_code in (400, 422)
    assert sorted(os.listdir(folder)) == before


def test_what_need_not_end_is_not_taken_for_a_project(folder: Path, guest: TestClient) -> None:
    os.mkfifo(folder / "pipe.toml")
    (folder / "status.toml").symlink_to("/proc/self/status")
    page = guest.get("/").text
    assert "people" in page
    assert "status.toml" not in page


@pytest.mark.parametrize("name", ["../evil.csv", "..%2fevil.csv", "a/../../evil.csv"])
def test_an_upload_never_leaves_the_folder(folder: Path, guest: TestClient, name: str) -> None:
    before = set(folder.parent.iterdir())
    dropped(guest, name, PEOPLE.encode())
    assert set(folder.parent.iterdir()) == before


def test_an_upload_that_is_too_large_leaves_nothing(folder: Path) -> None:
    client = visitor(application(folder, token=TOKEN, upload_bytes=10_000))
    client.get(f"/?token={TOKEN}")
    before = sorted(os.listdir(folder))
    assert dropped(client, "big.csv", b"x" * 20_000).status_code == 413

    def pieces() -> Any:
        yield b'--b\r\nContent-Disposition: form-data; name="file"; filename="big.csv"\r\n\r\n'
        for _ in range(20):
            yield b"x" * 1000

    kind = {"Content-Type": "multipart/form-data; boundary=b"}
    assert client.post("/files", content=pieces(), headers=kind).status_code == 413
    assert sorted(os.listdir(folder)) == before


def test_a_small_file_that_unpacks_to_a_large_one_leaves_nothing(folder: Path) -> None:
    client = visitor(application(folder, token=TOKEN, upload_bytes=10_000))
    client.get(f"/?token={TOKEN}")
    before = sorted(os.listdir(folder))
    answer = dropped(client, "bomb.csv.GZ", gzip.compress(b"age,sex\n" + b"1,f\n" * 50_000))
    assert answer.status_code == 413
    assert "Unpacked, this is larger" in answer.text
    assert sorted(os.listdir(folder)) == before
    assert dropped(client, "fine.csv.gz", gzip.compress(b"age,sex\n" + b"1,f\n" * 500)).status_code == 303


def test_a_project_that_cannot_be_written_is_not_blamed_on_the_data(
    guest: TestClient, ready: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*given: object) -> None:
        raise UserError("cannot write people-2.toml: Permission denied; nothing was left behind")

    monkeypatch.setattr("sfumato.workflow.project.new_project.start_project", refused)
    page = ready(guest.post("/projects", data={"file": "people~2ecsv"}).headers["location"])
    assert page.status_code == 422
    assert "Cannot write people-2.toml" in page.text
    assert "could not be read" not in page.text


def test_an_upload_is_written_as_it_arrives_and_read_by_the_owner_only(
    folder: Path, guest: TestClient
) -> None:
    seen: list[tuple[int, int]] = []

    def pieces() -> Any:
        yield b'--b\r\nContent-Disposition: form-data; name="file"; filename="slow.csv"\r\n\r\nage,sex\n'
        for _ in range(3):
            yield b"1,f\n" * 50_000
            seen.extend(
                (path.stat().st_size, path.stat().st_mode & 0o077) for path in folder.glob(".upload-*")
            )
        yield b"\r\n--b--\r\n"

    kind = {"Content-Type": "multipart/form-data; boundary=b"}
    assert guest.post("/files", content=pieces(), headers=kind).status_code == 303
    assert all(mode == 0 for _, mode in seen)
    assert (folder / "slow.csv").stat().st_size == 8 + 3 * 200_000
    assert not list(folder.glob(".upload-*"))


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"", "multipart/form-data; boundary=b"),
        (b"nonsense", "multipart/form-data; boundary=b"),
        (
            b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nx',
            "multipart/form-data",
        ),
        (b"a=b", "application/x-www-form-urlencoded"),
        (b"--b\r\n\r\n\r\n--b--\r\n", "multipart/form-data; boundary=b"),
        (
            b'--b\r\nContent-Disposition: form-data; name="file"; filename=""\r\n\r\n\r\n--b--\r\n',
            "multipart/form-data; boundary=b",
        ),
        (
            b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n\r\n--b--\r\n',
            "multipart/form-data; boundary=b",
        ),
    ],
)
def test_a_form_without_a_file_is_a_page(folder: Path, guest: TestClient, content: bytes, kind: str) -> None:
    before = sorted(os.listdir(folder))
    response = guest.post("/files", content=content, headers={"Content-Type": kind})
    assert response.status_code in (400, 422)
    assert "<h1>" in response.text
    assert sorted(os.listdir(folder)) == before


def test_a_form_cut_off_leaves_nothing(folder: Path, guest: TestClient) -> None:
    before = sorted(os.listdir(folder))
    half = b'--b\r\nContent-Disposition: form-data; name="file"; filename="half.csv"\r\n\r\nage,sex\n1,f\n'
    kind = {"Content-Type": "multipart/form-data; boundary=b"}
    assert guest.post("/files", content=half, headers=kind).status_code == 400
    assert sorted(os.listdir(folder)) == before


def test_a_file_that_cannot_be_read_says_why_and_offers_another_way(
    folder: Path, guest: TestClient, ready: Callable[..., Any]
) -> None:
    content = b"name|age\nAnn|31\nBob|42|SECRET\n"
    page = ready(dropped(guest, "bars.csv", content).headers["location"])
    assert page.status_code == 422
    assert "row" in page.text
    assert "SECRET" not in page.text
    assert not (folder / "bars.toml").exists()
    (folder / "bars.csv").write_text("name|age\nAnn|31\nBob|42\nCid|50\n")
    again = guest.post("/projects", data={"file": "bars~2ecsv", "separator": "vertical bar"})
    assert ready(again.headers["location"]).url.path == "/projects/bars/data"
    assert 'separator = "|"' in (folder / "bars.toml").read_text()


@pytest.mark.parametrize("file", ["", "people.csv", "..~2fpeople~2ecsv", "../people.csv", "/etc/passwd"])
def test_only_files_of_the_folder_can_be_begun(guest: TestClient, file: str) -> None:
    assert guest.post("/projects", data={"file": file}).status_code == 404


def test_a_free_place_gets_a_number(tmp_path: Path) -> None:
    assert free_place(tmp_path, "a.csv.gz").name == "a.csv.gz"
    (tmp_path / "a.csv.gz").touch()
    (tmp_path / "a-2.csv.gz").symlink_to("nowhere")
    assert free_place(tmp_path, "a.csv.gz").name == "a-3.csv.gz"
