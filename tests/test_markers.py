"""Values that must not leave the original are planted, all commands are run, everything is searched."""

from __future__ import annotations

import base64
import csv
import json
import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
import pytest

NAME, PLACE, ILLNESS = "NAMEMARK", "PLACEMARK", "ILLMARK"
"""Of everybody's name; of the town and the illness of one person, who is left out of every release."""

PROJECT = """
policy.recipient = "none"
[data]
path = "people.csv"
[publication]
title = "A test"
[attributes]
name = {{ role = "identifying" }}
town = {{ role = "quasi-identifying" }}
age = {{ role = "quasi-identifying", kind = "numeric", hierarchy = {{ intervals = [10, 40] }} }}
ill = {{ role = "sensitive" }}
[measure]
privacy = ["privacy-loss", "k-anonymity"]
utility = ["general-loss", "query-error"]
[[candidates]]
sanitizer = "full-domain"
model = {{ k-anonymity = {{ k = [2, 3] }} }}
levels = {{ town = 0, age = 1 }}
suppression = 0.2
{more}
"""


@dataclass(frozen=True)
class Ran:
    """What a command said."""

    arguments: tuple[str, ...]
    code: int
    said: str


# Python imports this at the start of every process, also of those that sfumato starts, and no process can
# remove an audit hook. Sockets of the file system connect processes of this machine, so they are no network.
WATCH = """
import os, socket, sys
log = os.open({log!r}, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
def watch(event, arguments):
    if event == "socket.getaddrinfo" or event == "urllib.Request":
        os.write(log, (event + chr(10)).encode())
    elif event in ("socket.connect", "socket.sendto", "socket.sendmsg", "socket.bind"):
        if arguments[0].family != socket.AF_UNIX:
            os.write(log, (event + chr(10)).encode())
sys.addaudithook(watch)
os.write(log, b"started" + chr(10).encode())
"""


# One process runs all commands in turn, as starting it is most of the work. What a command says, and
# what the processes say that it starts, goes to a file.
COMMANDS = """
import json, os, sys
from sfumato.interfaces.cli import run

to_test, told = os.fdopen(os.dup(1), "w"), sys.argv[1]
for line in sys.stdin:
    said = os.open(told, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
    os.dup2(said, 1), os.dup2(said, 2), os.close(said)
    code = run(json.loads(line))
    sys.stdout.flush(), sys.stderr.flush()
    print(code, file=to_test, flush=True)
"""


@dataclass
class Place:
    """A home of its own with a project in it, so that everything that is written can be found."""

    home: Path
    commands: subprocess.Popen[str]

    @classmethod
    def of(cls, home: Path) -> Place:
        """Start what runs the commands there."""
        watched = home.with_suffix(".watch")
        watched.mkdir()
        (watched / "sitecustomize.py").write_text(
            WATCH.format(log=str(home.with_suffix(".network"))), "utf-8"
        )
        own = {
            "PYTHONPATH": os.pathsep.join([str(watched), *filter(None, [os.environ.get("PYTHONPATH")])]),
            "HOME": str(home),
            "TMPDIR": str(home / "tmp"),
            "XDG_CACHE_HOME": str(home / "cache"),
            "XDG_RUNTIME_DIR": str(home / "tmp"),
        }
        return cls(
            home,
            subprocess.Popen(
                [sys.executable, "-c", COMMANDS, str(home.with_suffix(".said"))],
                cwd=home / "project",
                env={**os.environ, **own},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            ),
        )

    def run(self, *arguments: str) -> Ran:
        assert self.commands.stdin is not None
        assert self.commands.stdout is not None
        print(json.dumps(arguments), file=self.commands.stdin, flush=True)
        code = int(self.commands.stdout.readline())
        return Ran(arguments, code, self.home.with_suffix(".said").read_text("utf-8"))

    @property
    def network(self) -> list[str]:
        """Every start of a process, and every use of the network that one tried."""
        return self.home.with_suffix(".network").read_text("utf-8").splitlines()

    def write(self, name: str, more: str = "") -> None:
        (self.home / "project" / name).write_text(PROJECT.format(more=more), "utf-8")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    home = tmp_path_factory.mktemp("home")
    for folder in ("project", "tmp", "cache"):
        (home / folder).mkdir()
    rows = [
        [
            f"{NAME}{number}",
            "Ulm" if number % 2 else "Bonn",
            str(20 + number % 30),
            "flu" if number % 3 else "gout",
        ]
        for number in range(60)
    ]
    rows.append([f"{NAME}60", PLACE, "33", ILLNESS])
    with (home / "project" / "people.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["name", "town", "age", "ill"], *rows])
    (home / "project" / "people.csv").chmod(0o600)
    found = Place.of(home)
    found.write("people.toml")
    yield found
    found.commands.communicate()


@pytest.fixture(scope="module")
def ran(place: Place) -> list[Ran]:
    """Run what a publisher runs, and what goes wrong on the way."""
    said = [
        place.run("inspect", "people.toml"),
        place.run("explore", "people.toml", "--workers", "2"),
        place.run("frontier", "people.toml", "--picture", "frontier.svg", "--report", "owner-all.html"),
    ]
    listed = place.run("frontier", "people.toml", "--json")
    identity = json.loads(listed.said[listed.said.index("{") :])["candidates"][0]["id"]
    allowed = ["--allow-singling-out"]
    said += [
        listed,
        place.run("show", identity, "-P", "people.toml"),
        place.run("show", identity, "-P", "people.toml", "--report", "owner-one.html"),
        place.run("ask", "max k where general-loss <= 90%", "-P", "people.toml"),
        place.run("publish", identity, "published", "-P", "people.toml", "--why", "a test", *allowed),
        place.run("verify", "published"),
        place.run("measure", "published", "-P", "people.toml"),
        place.run("sanitize", "made.parquet", "suppress-sensitive", "-P", "people.toml"),
    ]
    assert [each.code for each in said[:11]] == [0] * 11, [each for each in said if each.code]
    said += list(failures(place))
    return said


def failures(place: Place) -> Iterator[Ran]:
    """Run into the errors that speak of values."""
    (place.home / "project" / "few.csv").write_text("Ulm,South\n", "utf-8")
    for name, more in {
        "tree.toml": '[attributes.town]\nrole = "quasi-identifying"\nhierarchy = { csv = "few.csv" }\n',
        "policy.toml": "[policy.k-anonymity]\nat-least = 50\n",
        "model.toml": '[[candidates]]\nsanitizer = "mondrian"\n'
        "model = { alpha-k-anonymity = { alphas = { nobody = 0.5 } } }\n",
    }.items():
        place.write(name, more)
        text = (place.home / "project" / name).read_text("utf-8")
        if "attributes.town" in more:
            text = text.replace('town = { role = "quasi-identifying" }\n', "")
            (place.home / "project" / name).write_text(text, "utf-8")
        for command in ("inspect", "explore"):
            yield place.run(command, name)
    yield place.run("show", "nothing", "-P", "people.toml")
    yield place.run("publish", "nothing", "out", "-P", "people.toml")
    yield place.run("new", "people.csv", "--output", "again.toml")


def everything(place: Place, *but: str) -> Iterator[tuple[Path, bytes]]:
    """Return every file below the home with what stands in it, unpacked where it is packed."""
    for path in sorted(place.home.rglob("*")):
        if not path.is_file() or path.name in but:
            continue
        content = path.read_bytes()
        if path.suffix == ".parquet":
            content += str(pq.read_table(path).to_pydict()).encode()
        yield path, content


def of_the_owner(path: Path) -> bool:
    """Return whether a file is the original, or a hierarchy over its values."""
    return path.name in ("people.csv", "few.csv") or path.parent.name == "hierarchies"


def test_names_of_people_are_nowhere_but_in_the_data(place: Place, ran: list[Ran]) -> None:
    assert len(ran) > 12
    assert [each.arguments for each in ran if NAME in each.said] == []
    found = [
        path for path, content in everything(place) if NAME.encode() in content and not of_the_owner(path)
    ]
    assert found == []


def test_the_values_of_somebody_who_was_left_out_are_nowhere_else(place: Place, ran: list[Ran]) -> None:
    with (place.home / "project" / "published" / "data.csv").open(encoding="utf-8") as file:
        assert len(file.readlines()) < 62
    for value in (ILLNESS, PLACE):
        assert [each.arguments for each in ran if value in each.said] == []
        found = [
            path.name
            for path, content in everything(place, "made.parquet")
            if value.encode() in content and not of_the_owner(path)
        ]
        assert found == [], value


def test_what_was_made_withholds_what_it_should(place: Place, ran: list[Ran]) -> None:
    assert ran
    made = str(pq.read_table(place.home / "project" / "made.parquet").to_pydict())
    assert PLACE in made
    assert ILLNESS not in made


def test_the_seed_and_the_secret_are_in_nothing_that_is_published(place: Place, ran: list[Ran]) -> None:
    assert ran
    (store,) = (place.home / "project").glob("people.sqlite")
    with closing(sqlite3.connect(store)) as base:
        facts = dict(base.execute("select name, value from fact").fetchall())
        recipes = [json.loads(recipe) for (recipe,) in base.execute("select recipe from candidate")]
    seeds = {int(facts["seed"]), *(recipe["seed"] for recipe in recipes)}
    assert recipes
    assert min(seeds) > 2**32, "a short number may be anywhere by chance"
    secret = bytes.fromhex(facts["secret"])
    assert len(secret) == 32
    hidden = {form.encode() for seed in seeds for form in (str(seed), f"{seed:x}")}
    hidden |= {secret, secret.hex().encode(), secret.hex().upper().encode(), base64.b64encode(secret)}
    published = [
        (path.name, content) for path, content in everything(place) if path.parent.name == "published"
    ]
    assert len(published) > 5
    assert [name for name, content in published if any(each in content for each in hidden)] == []
    assert [each.arguments for each in ran if secret.hex() in each.said] == []
    # the owner's own JSON has the recipes with their seeds
    quiet = [each for each in ran if "--json" not in each.arguments]
    assert not [each.arguments for each in quiet if any(str(seed) in each.said for seed in seeds)]


def test_what_tells_of_the_original_is_the_owner_s_alone(place: Place, ran: list[Ran]) -> None:
    assert ran
    folder = place.home / "project"
    private = ["people.sqlite", "owner-all.html", "owner-one.html"]
    private += [str(path.relative_to(folder)) for path in folder.glob("hierarchies/*.csv")]
    for name in private:
        assert stat.S_IMODE((folder / name).stat().st_mode) == 0o600, name


def test_no_temporary_stays(place: Place, ran: list[Ran]) -> None:
    assert ran
    assert [path for path in (place.home / "tmp").rglob("*") if path.is_file()] == []
    hidden = [path.name for path in (place.home / "project").iterdir() if path.name.startswith(".")]
    assert [name for name in hidden if not name.endswith(".lock")] == []


def test_no_command_uses_the_network(place: Place, ran: list[Ran]) -> None:
    assert ran
    assert place.network.count("started") >= 2, "workers are forked from a process that is watched, too"
    assert set(place.network) == {"started"}


@pytest.mark.parametrize(
    "use", ["socket.create_connection(('127.0.0.1', 9))", "socket.getaddrinfo('localhost', 9)"]
)
def test_a_use_of_the_network_would_be_seen(use: str, tmp_path: Path) -> None:
    log = tmp_path / "network"
    (tmp_path / "sitecustomize.py").write_text(WATCH.format(log=str(log)), "utf-8")
    subprocess.run(
        [sys.executable, "-P", "-c", f"import socket; {use}"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        stderr=subprocess.DEVNULL,
        check=False,
    )
    assert len(log.read_text("utf-8").splitlines()) > 1


def test_nothing_is_written_outside_of_what_was_named(place: Place, ran: list[Ran]) -> None:
    assert ran
    # libraries may keep fonts and the like in the cache; the tests above search it for values
    allowed = {"project", "cache"}
    written_here = [path.relative_to(place.home) for path in place.home.rglob("*") if path.is_file()]
    outside = [path for path in written_here if path.parts[0] not in allowed]
    assert outside == []
    named = {
        "people.csv",
        "people.toml",
        "frontier.svg",
        "owner-all.html",
        "owner-one.html",
        "published",
        "made.parquet",
        "made.parquet.manifest.json",
        "again.toml",
        "few.csv",
        "tree.toml",
        "policy.toml",
        "model.toml",
        "hierarchies",
    }
    written = {path.name for path in (place.home / "project").iterdir()}
    stores = ("people.sqlite", "tree.sqlite", "policy.sqlite", "model.sqlite")
    assert {name for name in written - named if not name.removeprefix(".").startswith(stores)} == set()
