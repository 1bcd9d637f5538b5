"""Private files: what tells of the original is for its owner alone, at every moment while it is written."""

from __future__ import annotations

import os
import re
import sqlite3
import stat
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from sfumato.interfaces.cli import run
from sfumato.interfaces.workbench.server import application
from sfumato.results import Picture
from sfumato.runtime.files import file_beside, folder_beside

PROJECT = """
policy.recipient = "none"
[data]
path = "people.csv"
[attributes.age]
role = "quasi-identifying"
kind = "numeric"
[attributes.town]
role = "quasi-identifying"
[attributes.illness]
role = "sensitive"
[[candidates]]
sanitizer = "as-is"
[[candidates]]
sanitizer = "mondrian"
model = { k-anonymity = { k = [2, 5] } }
"""

_watchers: list[Callable[[], None]] = []
_own = threading.local()


def _look(event: str, _: object) -> None:
    """Look at the files before each call into the system that Python makes, so that no state is missed."""
    is_busy = getattr(_own, "is_busy", False)
    if is_busy or event.partition(".")[0] not in ("open", "os", "sqlite3", "shutil", "tempfile"):
        return
    # looking calls into the system as well
    _own.is_busy = True
    try:
        for look in list(_watchers):
            look()
    finally:
        _own.is_busy = False


@pytest.fixture(scope="module", autouse=True)
def _hooked() -> None:
    # an audit hook cannot be removed; without a watcher it does nothing
    sys.addaudithook(_look)


@contextmanager
def watched(folder: Path) -> Iterator[dict[str, set[int]]]:
    """Collect every mode that a file of the folder has at any moment, by name without its random part."""
    seen: dict[str, set[int]] = defaultdict(set)

    def look() -> None:
        for place in folder.rglob("*"):
            try:
                mode = stat.S_IMODE(os.lstat(place).st_mode)
            except FileNotFoundError:
                continue
            seen[re.sub(r"-[0-9a-f]{8}$", "-*", str(place.relative_to(folder)))].add(mode)

    before = os.umask(0)
    _watchers.append(look)
    try:
        yield seen
        look()
    finally:
        _watchers.remove(look)
        os.umask(before)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rows = [f"{20 + n % 40},{'UKB'[n % 3]},{'abcd'[n % 4]}" for n in range(240)]
    (tmp_path / "people.csv").write_text("\n".join(["age,town,illness", *rows]) + "\n")
    (tmp_path / "people.toml").write_text(PROJECT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def modes_of(seen: dict[str, set[int]], name: str) -> set[int]:
    """Return the modes that a file had, with those of its temporary file."""
    assert name in seen
    return seen[name] | seen.get(f".{name}-*", set())


def test_the_store_with_its_log_and_its_lock(project: Path) -> None:
    with watched(project) as seen:
        assert run(["explore", "people.toml", "--workers", "1"]) == 0
    found = {name for name in seen if "sqlite" in name}
    assert found >= {"people.sqlite", "people.sqlite-wal", "people.sqlite-shm", ".people.sqlite.lock"}
    assert {mode for name in found for mode in seen[name]} == {0o600}


def test_a_store_in_the_place_of_an_empty_file_that_all_can_read(project: Path) -> None:
    (project / "people.sqlite").touch(0o644)
    assert run(["explore", "people.toml", "--workers", "1"]) == 0
    assert stat.S_IMODE((project / "people.sqlite").stat().st_mode) == 0o600


def test_reports_and_pictures_of_the_owner(project: Path) -> None:
    assert run(["explore", "people.toml", "--workers", "1"]) == 0
    with watched(project) as seen:
        assert run(["frontier", "people.toml", "--report", "all.html", "--picture", "all.svg"]) == 0
        given = ["measure", "people.csv", "-P", "people.toml", "--by", "town", "--smallest", "10"]
        assert run([*given, "--measure", "reidentification-risk", "--picture", "by.svg"]) == 0
        Picture("<svg/>").save("one.svg")
    for name in ("all.html", "all.svg", "by.svg", "one.svg"):
        assert modes_of(seen, name) == {0o600}, name


def test_the_answers_of_a_challenge(project: Path) -> None:
    assert run(["explore", "people.toml", "--workers", "1"]) == 0
    with closing(sqlite3.connect("people.sqlite")) as base:
        ((identity,),) = base.execute("select id from candidate where recipe like '%\"k\": 5%'").fetchall()
    with watched(project) as seen:
        given = ["challenge", identity, "out", "--answers", "answers.json", "-P", "people.toml"]
        assert run([*given, "--targets", "20"]) == 0
    assert modes_of(seen, "answers.json") == {0o600}


def test_a_file_that_was_given_to_the_workbench(project: Path) -> None:
    origin = {"Sec-Fetch-Site": "same-origin"}
    app = application(project, token="the-token")
    guest = TestClient(app, base_url="http://127.0.0.1:8765", headers=origin, follow_redirects=False)
    assert guest.get("/?token=the-token").status_code == 303
    content = (project / "people.csv").read_bytes()
    with watched(project) as seen:
        assert guest.post("/files", files={"file": ("new.csv", content)}).status_code == 303
    assert (project / "new.csv").read_bytes() == content
    arriving = [name for name in seen if name.startswith(".upload-")]
    assert arriving
    assert {mode for name in (*arriving, "new.csv") for mode in seen[name]} == {0o600}


def test_a_private_file_that_replaces_one_for_all(tmp_path: Path) -> None:
    (tmp_path / "report").write_text("old")
    (tmp_path / "report").chmod(0o644)
    with file_beside(tmp_path / "report", private=True) as place:
        place.write_text("new")
    assert stat.S_IMODE((tmp_path / "report").stat().st_mode) == 0o600


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644])
def test_a_file_that_is_written_again_keeps_the_mode_that_its_owner_gave_it(
    tmp_path: Path, mode: int
) -> None:
    """As a project file in the workbench."""
    (tmp_path / "people.toml").write_text("old")
    (tmp_path / "people.toml").chmod(mode)
    with file_beside(tmp_path / "people.toml") as place:
        place.write_text("new")
    assert stat.S_IMODE((tmp_path / "people.toml").stat().st_mode) == mode


def test_a_file_for_all_is_closed_until_it_is_complete(tmp_path: Path) -> None:
    """A file that somebody opened while it was empty can be read by them later, whatever its mode is then."""
    wide: set[tuple[int, int]] = set()

    def look() -> None:
        for place in tmp_path.iterdir():
            facts = place.stat()
            if facts.st_mode & 0o077:
                wide.add((facts.st_ino, facts.st_size))

    before = os.umask(0)
    _watchers.append(look)
    try:
        with file_beside(tmp_path / "target") as place:
            place.write_text("some")
            place.write_text("some and more")
        look()
    finally:
        _watchers.clear()
        os.umask(before)
    written = (tmp_path / "target").stat()
    assert stat.S_IMODE(written.st_mode) == 0o666
    assert {size for inode, size in wide if inode == written.st_ino} == {written.st_size}


def test_a_folder_for_all_is_closed_until_it_is_complete(tmp_path: Path) -> None:
    with watched(tmp_path) as seen:
        with folder_beside(tmp_path / "target") as place:
            (place / "one").write_text("some")
            assert stat.S_IMODE(place.stat().st_mode) == 0o700
        assert stat.S_IMODE((tmp_path / "target").stat().st_mode) == 0o777
    assert seen["target"] == {0o777}
