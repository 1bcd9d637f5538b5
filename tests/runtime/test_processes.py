"""How processes end: without their template, beside a copy of their parent, interrupted, misunderstood."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import sfumato
from sfumato.runtime import processes
from sfumato.runtime.pool import UNLIMITED, Limits, run_in_workers

PRELOAD = "sfumato.runtime.pool"
FORKED = pytest.mark.skipif(not processes._CAN_FORK, reason="workers are forked on Linux alone")

# each function is a piece of work, or what a child does
MODULE = """
import os, signal, sys, time
from contextlib import contextmanager

from sfumato.runtime import processes
from sfumato.runtime.pool import UNLIMITED, run_in_workers


@contextmanager
def prepared(reporter):
    yield lambda piece: globals()[piece](reporter)


def hangs(reporter):
    reporter.say(str(os.getpid()))
    time.sleep(600)


def works(reporter):
    return os.getpid()


def prints(reporter):
    print("noise", flush=True)
    return "done"


class Odd:
    def __reduce__(self):
        return int, ("a secret value", 1, 2)


def odd(reporter):
    return Odd()


def says_much(parent):
    parent.receive()
    parent.send(bytes(400_000_000))


def main_that_has_little_memory():
    import resource
    child = processes.start(says_much)
    child.wait_until_started()
    with open("/proc/self/statm") as held:
        most = int(held.read().split()[0]) * os.sysconf("SC_PAGE_SIZE") + 200_000_000
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    child.send("go on")
    try:
        child.receive()
    except processes.Ended:
        print("it has ended")
    child.end()


def main_that_prints_in_a_worker():
    results = dict(run_in_workers(prepared, iter(["prints"]), 1))
    with open(sys.argv[1], "w") as told:
        told.write(repr(results))


def main_that_starts_a_child():
    child = processes.start(processes.echo)
    child.send("heard")
    print(child.receive())
    child.end()
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """What a plug-in might bring."""
    (tmp_path / "ways_to_end.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield import_module("ways_to_end")
    del sys.modules["ways_to_end"]


def run(
    module: Any, name: str, *arguments: str, path: str = "", options: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    """Call a function of the module in a Python of its own."""
    places = [str(Path(sfumato.__file__).parents[1]), str(Path(module.__file__).parent)]
    code = f"import sys; sys.path[:0] = {places}; import ways_to_end; ways_to_end.{name}()"
    return subprocess.run(
        [sys.executable, *options, "-c", code, *arguments],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def kill_template(words: str = "") -> None:
    template = processes._template
    assert template is not None
    template._process.kill()
    template._process.wait()


@FORKED
def test_a_worker_is_stopped_though_its_template_has_died(module: Any) -> None:
    pieces = run_in_workers(
        module.prepared, iter(["hangs"]), 1, Limits(seconds=1.0), preload=PRELOAD, listener=kill_template
    )
    ((_, lost),) = pieces
    assert lost.reason.startswith("it took longer than 1 seconds")


@FORKED
def test_nobody_knows_how_a_worker_ended_whose_template_has_died(module: Any) -> None:
    def kill_both(number: str) -> None:
        kill_template()
        os.kill(int(number), signal.SIGKILL)

    pieces = run_in_workers(
        module.prepared, iter(["hangs"]), 1, UNLIMITED, preload=PRELOAD, listener=kill_both
    )
    ((_, lost),) = pieces
    assert lost.reason == "its process ended, perhaps for lack of memory; go on with fewer --workers"


@pytest.mark.parametrize("preload", [pytest.param(PRELOAD, marks=FORKED), ""])
def test_a_result_that_cannot_be_understood_is_lost_alone(module: Any, preload: str) -> None:
    results = dict(run_in_workers(module.prepared, iter(["odd", "works"]), 1, UNLIMITED, preload=preload))
    assert results["odd"].reason == "it raises TypeError"
    assert isinstance(results["works"], int)


@FORKED
def test_the_template_ends_though_a_copy_of_this_process_lives_on(module: Any, patience: float) -> None:
    list(run_in_workers(module.prepared, iter(["works"]), 1, UNLIMITED, preload=PRELOAD))
    reading, writing = os.pipe()
    copy = os.fork()
    if copy == 0:
        os.close(writing)
        os.read(reading, 1)
        os._exit(0)
    stopping = threading.Thread(target=processes.stop_template, daemon=True)
    stopping.start()
    stopping.join(patience)
    is_stopped = not stopping.is_alive()
    os.close(writing)
    os.close(reading)
    os.waitpid(copy, 0)
    assert is_stopped


@FORKED
def test_the_template_ends_in_silence_where_nobody_waits_for_its_answer(
    capfd: pytest.CaptureFixture[str], patience: float
) -> None:
    template = processes._Template(PRELOAD)
    template._socket.send(processes._REQUEST.pack(processes._KILL, 1))
    assert select.select([template._socket], [], [], patience)[0]
    template._socket.close()
    assert template._process.wait() == 0
    assert capfd.readouterr().err == ""


def test_a_child_that_takes_long_to_start_is_waited_for_by_whoever_asks_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    processes.end_idle()
    monkeypatch.setattr(processes, "START_LIMIT", 0.0)
    with processes.borrowed(processes.echo) as child:
        child.send("hello")
        assert child.receive() == "hello"
    processes.end_idle()


def test_an_interrupt_does_not_keep_a_child_alive() -> None:
    child = processes.start(processes.echo)
    usual = child._killed

    def interrupted() -> int | None:
        signal.raise_signal(signal.SIGINT)
        return usual()

    child._killed = interrupted
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            child.kill()
    finally:
        signal.signal(signal.SIGINT, before)
    assert child.exit_code is not None
    child.end()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits memory, and looks at it in /proc")
def test_a_message_larger_than_the_memory_is_the_end_of_its_child(module: Any) -> None:
    done = run(module, "main_that_has_little_memory")
    assert (done.stdout, done.stderr, done.returncode) == ("it has ended\n", "", 0)


@pytest.mark.skipif(os.name != "posix", reason="closes standard error before Python starts")
def test_a_worker_may_print_where_there_is_no_standard_error(module: Any, tmp_path: Path) -> None:
    places = [str(Path(sfumato.__file__).parents[1]), str(tmp_path)]
    code = f"import sys; sys.path[:0] = {places}; import ways_to_end as w; w.main_that_prints_in_a_worker()"
    told = tmp_path / "told"
    subprocess.run(["sh", "-c", 'exec "$@" 2>&-', "sh", sys.executable, "-c", code, str(told)], check=False)
    assert told.read_text() == "{'prints': 'done'}"


def test_a_child_ignores_the_environment_where_its_parent_does(module: Any, tmp_path: Path) -> None:
    place = tmp_path / "planted"
    place.mkdir()
    (place / "sitecustomize.py").write_text(f"open({str(place / 'ran')!r}, 'w').close()")
    assert run(module, "main_that_starts_a_child", path=str(place)).stdout == "heard\n"
    assert (place / "ran").exists(), "the folder is the user's choice"
    (place / "ran").unlink()
    done = run(module, "main_that_starts_a_child", path=str(place), options=("-I",))
    assert (done.stdout, done.stderr) == ("heard\n", "")
    assert not (place / "ran").exists()


@FORKED
def test_a_worker_starts_in_a_folder_that_one_may_not_enter(
    module: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = tmp_path / "closed"
    closed.mkdir()
    monkeypatch.chdir(closed)
    closed.chmod(0)
    try:
        if os.access(closed, os.X_OK):
            pytest.skip("this user may enter every folder")
        results = dict(run_in_workers(module.prepared, iter(["works"]), 1, UNLIMITED, preload=PRELOAD))
    finally:
        closed.chmod(0o700)
    assert isinstance(results["works"], int)
