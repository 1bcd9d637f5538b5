"""The runner: time limits, failures, Ctrl-C, and no process left behind."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from sfumato import Schema, Table
from sfumato.miners import Predictions, original_view, predict
from sfumato.miners.cross_validation import forget
from sfumato.miners.fit import answer_folds
from sfumato.reading import datasets
from sfumato.runtime import processes

MINERS = """
import os, time
from dataclasses import dataclass
from typing import ClassVar

@dataclass(frozen=True)
class Odd:
    what: str
    predicts: ClassVar[str] = "category"

    def estimator(self, seed):
        return Estimator(self.what)

class Estimator:
    def __init__(self, what):
        self.what = what

    def fit(self, features, labels):
        print("noise on standard output")
        if self.what == "sleeps":
            time.sleep(600)
        if self.what == "fails":
            raise RuntimeError("a secret value")
        if self.what == "ends":
            os._exit(1)
        self.size = len(labels)
        return self

    def predict(self, features):
        return [self.size % 3] * len(features)
"""

# as a terminal starts it, though whoever started the tests may ignore interrupts
SCRIPT = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from dataclasses import dataclass
from typing import ClassVar
from sfumato import datasets
from sfumato.miners import original_view, predict

@dataclass(frozen=True)
class Own:
    begun: str
    seconds: float
    predicts: ClassVar[str] = "category"

    def estimator(self, seed):
        import time
        from pathlib import Path
        from sklearn.dummy import DummyClassifier
        print("fitting", flush=True)
        Path(self.begun).touch()
        time.sleep(self.seconds)
        return DummyClassifier()

view = original_view(*datasets.hospital())
predict(view, "diagnosis", "majority")
from sfumato.miners.fit import answer_folds
from sfumato.runtime import processes
print(processes._idle[answer_folds][0].pid, flush=True)
print(predict(view, "diagnosis", Own(sys.argv[1], float(sys.argv[2])), folds=3).finished, flush=True)
"""


@pytest.fixture
def odd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A module of miners that a plug-in might bring."""
    (tmp_path / "odd_miners.py").write_text(MINERS)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield import_module("odd_miners").Odd
    sys.modules.pop("odd_miners")


def diagnoses(miner: Any, **options: Any) -> Predictions:
    return predict(original_view(*datasets.hospital()), "diagnosis", miner, folds=3, **options)


def waiting_child() -> int:
    """Let a process fit something, and return its number."""
    forget()
    assert diagnoses("majority").finished
    return processes._idle[answer_folds][-1].pid


def is_alive(process: int) -> bool:
    if not Path("/proc").is_dir():
        pytest.skip("tells processes by /proc")
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def wait_until_gone(process: int, patience: float) -> bool:
    deadline = time.monotonic() + patience
    while is_alive(process) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not is_alive(process)


def test_a_miner_that_takes_too_long_is_given_up(odd: Any, patience: float) -> None:
    child = waiting_child()
    found = diagnoses(odd("sleeps"), time_limit=0.3)
    assert (found.finished, found.trouble, found.n_records) == (False, "time limit", 0)
    assert wait_until_gone(child, patience)
    assert diagnoses(odd("works")).finished


def test_what_did_not_finish_is_tried_again(odd: Any) -> None:
    assert not diagnoses(odd("sleeps"), time_limit=0.2).finished
    assert diagnoses(odd("sleeps"), time_limit=0.2, workers=2).trouble == "time limit"


def test_an_estimator_that_fails_says_how_but_not_with_which_value(odd: Any) -> None:
    child = waiting_child()
    assert diagnoses(odd("fails")).trouble == "RuntimeError"
    assert waiting_child() == child
    assert diagnoses(odd("fails"), workers=2).trouble == "RuntimeError"


def test_a_process_that_ends_is_no_disaster(odd: Any) -> None:
    assert diagnoses(odd("ends")).trouble == "its process was ended"
    assert diagnoses(odd("ends"), workers=3).trouble == "its process was ended"
    forget()
    assert diagnoses("majority").finished


def test_an_estimator_without_weights_sees_every_record(odd: Any) -> None:
    table = Table.from_arrow({"a": list("xxxxxxyyy"), "b": list("ppppppqqr")})
    view = original_view(table, Schema.of(a="quasi-identifying", b="sensitive"))
    assert set(predict(view, "b", odd("works"), folds=3).predicted.tolist()) == {0}


def test_one_process_serves_many_fits() -> None:
    child = waiting_child()
    diagnoses("one-rule")
    assert waiting_child() == child


def test_it_works_in_a_worker_process(patience: float) -> None:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        child = pool.submit(_child_of_worker).result()
    assert wait_until_gone(child, patience)


def _child_of_worker() -> int:
    return waiting_child()


def start(tmp_path: Path, seconds: float) -> subprocess.Popen[str]:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    return subprocess.Popen(
        [sys.executable, str(script), str(tmp_path / "begun"), str(seconds)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def test_a_script_may_bring_its_own_miner_and_leaves_nothing_behind(tmp_path: Path, patience: float) -> None:
    with start(tmp_path, 0.0) as script:
        written, errors = script.communicate(timeout=patience)
    child, finished = written.split()
    assert (finished, errors) == ("True", "")
    assert wait_until_gone(int(child), patience)


@pytest.mark.thorough("its first way", but=1)
@pytest.mark.parametrize(("number", "everybody"), [(signal.SIGINT, True), (signal.SIGKILL, False)])
def test_a_script_that_is_stopped_leaves_nothing_behind(
    tmp_path: Path, number: signal.Signals, everybody: bool, patience: float
) -> None:
    with start(tmp_path, 600.0) as script:
        assert script.stdout is not None
        child = int(script.stdout.readline())
        while not (tmp_path / "begun").exists():
            assert script.poll() is None, "it ended too early"
            time.sleep(0.05)
        assert is_alive(child)
        (os.killpg if everybody else os.kill)(script.pid, number)
        script.communicate(timeout=patience)
    assert script.returncode != 0
    assert wait_until_gone(child, patience)


def test_the_miners_can_be_named_and_asked_without_scikit_learn_in_this_process() -> None:
    ask = (
        "from sfumato import datasets; from sfumato.registry import methods; "
        "from sfumato.miners import original_view, predict; "
        "methods.registered('miner'); view = original_view(*datasets.hospital()); "
        "assert predict(view, 'diagnosis', 'decision-tree', folds=2).finished; "
        "import sys; assert 'sklearn' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", ask], check=False).returncode == 0
