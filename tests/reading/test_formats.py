"""Formats: which one a name indicates, and what becomes of a reader that misbehaves."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cloudpickle
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.reading.base import Format, every_suffix, find_format, format_of, format_to_write
from sfumato.registry import methods
from sfumato.runtime import processes
from sfumato.runtime.errors import DataError, UserError


def ages(path: Path) -> dict[str, Any]:
    return {"age": [int(line) for line in path.read_text("utf-8").split()]}


def process(path: Path) -> dict[str, Any]:
    return {"process": [os.getpid()]}


def raises(path: Path) -> dict[str, Any]:
    raise ValueError("MARKER")


def refuses(path: Path) -> dict[str, Any]:
    raise DataError(f"{path.name} lacks its first line; write the file again")


def leaves(path: Path) -> dict[str, Any]:
    os._exit(0)


def crashes(path: Path) -> dict[str, Any]:
    os.abort()


def eats(path: Path) -> dict[str, Any]:
    eaten = []
    while True:
        eaten.append(bytearray(100_000_000))


def starts_threads(path: Path) -> dict[str, Any]:
    """Each thread takes a stack, and a heap of its own for the first thing that it keeps."""
    barrier = threading.Barrier(17, timeout=60)

    def allocate() -> None:
        kept = bytearray(10_000)
        barrier.wait()
        del kept

    threads = [threading.Thread(target=allocate) for _ in range(16)]
    for thread in threads:
        thread.start()
    barrier.wait()
    return {"age": [31, 42]}


def surroundings(path: Path) -> dict[str, Any]:
    return {
        "pandas": ["pandas" in sys.modules],
        "pool": [pa.default_memory_pool().backend_name],
        "threads": [pa.cpu_count()],
        "io threads": [pa.io_thread_count()],
    }


def sleeps(path: Path) -> dict[str, Any]:
    time.sleep(100)
    return {"age": [31]}


def nonsense(path: Path) -> Any:
    return "MARKER"


def ragged(path: Path) -> dict[str, Any]:
    return {"age": [31], "sex": ["MARKER", "f"]}


def empty(path: Path) -> dict[str, Any]:
    return {"age": []}


def frame(path: Path) -> Any:
    return pa.table({"age": [31, 42]})


@pytest.fixture(autouse=True)
def readers_travel_by_value() -> Iterator[None]:
    """No other process can import a module of tests, as it could that of a plug-in."""
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    yield
    cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Formats that a test registers are gone afterwards."""
    before = {name: each for each in methods.instances(Format) for name in each.names}
    monkeypatch.setitem(methods._instances, Format, before)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    path = tmp_path / "people.ages"
    path.write_text("31\n42\n", encoding="utf-8")
    return path


def test_the_longest_suffix_decides(known: None) -> None:
    inner = sf.register(Format("inner", (".ages",), ages))
    outer = sf.register(Format("outer", (".old.ages",), ages))
    assert (find_format(Path("a.ages")), find_format(Path("a.b.AGES"))) == (inner, inner)
    assert find_format(Path("a.old.ages")) == outer
    assert find_format(Path("ages")) is None


def test_every_suffix_is_recognized_and_no_two_formats_share_one() -> None:
    suffixes = every_suffix()
    assert len(suffixes) == len(set(suffixes))
    assert all(suffix == suffix.lower() for suffix in suffixes)
    for suffix in suffixes:
        assert suffix in format_of(Path(f"people{suffix}")).suffixes


@pytest.mark.parametrize("taken", ["csv", ".csv", ".csv.gz"])
def test_a_name_or_suffix_that_is_taken_is_refused(known: None, taken: str) -> None:
    names = (taken, (".own",)) if taken == "csv" else ("own", (taken,))
    with pytest.raises(TypeError, match=f"the format name '{taken}' is taken by 'csv' of sfumato.reading"):
        sf.register(Format(*names, ages))
    assert find_format(Path("a.own")) is None


def test_the_same_format_may_be_registered_again(known: None) -> None:
    sf.register(Format("own", (".own",), ages))
    sf.register(Format("own", (".own",), frame))
    assert format_of(Path("a.own")).read is frame


def test_what_can_be_written_is_named() -> None:
    assert format_to_write(Path("out.parquet")).name == "parquet"
    for name in ("out.xlsx", "out.pq", "out.CSV", "out"):
        with pytest.raises(UserError, match=r"cannot write out.*; name it \.csv, \.feather or \.parquet$"):
            format_to_write(Path(name))


@pytest.mark.parametrize("read", [ages, frame])
def test_a_format_may_return_a_mapping_or_a_table(known: None, place: Path, read: Any) -> None:
    sf.register(Format("ages", (".ages",), read))
    assert sf.read(place).to_arrow().to_pydict() == {"age": [31, 42]}


def test_several_files_have_the_same_columns(known: None, place: Path) -> None:
    sf.register(Format("ages", (".ages",), ages))
    place.with_name("more.ages").write_text("57", encoding="utf-8")
    (place.parent / "notes.md").write_text("none", encoding="utf-8")
    assert sf.read(place.parent).to_arrow().to_pydict() == {"age": [57, 31, 42]}


def test_a_file_is_read_in_another_process_unless_the_format_reads_safely(known: None, place: Path) -> None:
    (other,) = Format("apart", (".ages",), process).records(place).column("process").to_pylist()
    (own,) = (
        Format("here", (".ages",), process, reads_safely=True).records(place).column("process").to_pylist()
    )
    assert other != os.getpid()
    assert own == os.getpid()


@pytest.mark.parametrize(
    ("read", "said"),
    [
        (raises, r"people\.ages is damaged or not what its suffix says \(ValueError\); write the file again"),
        (refuses, r"people\.ages lacks its first line; write the file again"),
        (leaves, r"people\.ages is damaged or not what its suffix says; write the file again"),
        (crashes, r"people\.ages is damaged or not what its suffix says; write the file again"),
        (eats, r"people\.ages is damaged or not what its suffix says.*; write the file again"),
        (nonsense, r"people\.ages: cannot read a table from str; give a file, an Arrow table, .*"),
        (ragged, r"people\.ages: the columns of the dict do not make a table \(ArrowInvalid\); .*"),
        (empty, r"people\.ages has a header but no records; give a file with records"),
    ],
)
def test_a_reader_that_misbehaves_harms_nothing_and_shows_no_value(
    place: Path, read: Any, said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    began = time.monotonic()
    with pytest.raises(DataError, match=f"^{said}$") as caught:
        Format("ages", (".ages",), read).records(place)
    assert "MARKER" not in str(caught.value) + str(caught.value.__context__) + "".join(capfd.readouterr())
    assert time.monotonic() - began < 60


def test_a_reader_has_room_for_threads(place: Path) -> None:
    """A limit on addresses counts what each thread reserves, and Arrow waits for ever for one it lacks."""
    assert Format("ages", (".ages",), starts_threads).records(place).num_rows == 2


def test_a_reader_of_arrow_reserves_no_more_than_it_uses(place: Path) -> None:
    """Arrow loads pandas when it first meets a value, has as many threads as processors, and takes 1 GB."""
    (facts,) = Format("ages", (".ages",), surroundings).records(place).to_pylist()
    assert facts == {"pandas": True, "pool": "system", "threads": 1, "io threads": 1}


def test_a_reader_that_waits_for_ever_is_ended(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "START_LIMIT", 1.0)
    monkeypatch.setattr(processes, "SECONDS_TO_READ", 1)
    with pytest.raises(DataError, match=r"^people\.ages is damaged or not what its suffix says"):
        Format("ages", (".ages",), sleeps).records(place)
