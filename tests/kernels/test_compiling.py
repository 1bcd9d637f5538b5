"""Kernels wait for their first call, and then are numba's own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from sfumato.kernels.compilation import njit
from sfumato.kernels.row_groups import sum_by_group


@njit()
def doubled(number: int) -> int:
    return 2 * number


@njit()
def doubled_twice(number: int) -> int:
    return doubled(doubled(number))


def test_a_kernel_that_calls_another_is_compiled_with_it() -> None:
    assert doubled_twice(3) == 12
    assert hasattr(doubled, "nopython_signatures"), "numba has taken over"


def test_who_imported_a_kernel_before_it_was_compiled_may_go_on_calling_it() -> None:
    assert sum_by_group(np.array([0, 1, 0]), 2, np.array([1, 2, 3])).tolist() == [4, 2]


def test_importing_everything_that_is_registered_does_not_import_numba() -> None:
    code = (
        "import sys\nfrom sfumato.registry import methods\nassert methods.registered('sanitizer')\n"
        "assert 'sfumato.kernels.greedy_clusters' in sys.modules\n"
        "print({'numba', 'scipy', 'sklearn', 'pyarrow'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_threads_that_call_their_first_kernel_at_once_all_get_an_answer() -> None:
    code = (
        "import threading\nfrom concurrent.futures import ThreadPoolExecutor\nimport numpy as np\n"
        "from sfumato import datasets, sanitize\n"
        "from sfumato.models import KAnonymity\n"
        "from sfumato.sanitizers import Clustering, Mondrian\n"
        "together = threading.Barrier(4)\n"
        "def work(how):\n"
        "    together.wait()\n"
        "    return sanitize(*datasets.hospital(), how).n_records\n"
        "ways = [Mondrian(KAnonymity(2)), Clustering(KAnonymity(2))] * 2\n"
        "print(*ThreadPoolExecutor(4).map(work, ways))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["12"] * 4


def test_whoever_asks_is_told_once_when_compiling_begins_and_ends() -> None:
    """A kernel that another calls is compiled within it; what is compiled already is not told again."""
    code = (
        "from sfumato.kernels.compilation import njit, notify_when_compiling\n"
        "told = []\nnotify_when_compiling(told.append)\n"
        "@njit()\ndef one(n): return n + 1\n"
        "@njit()\ndef two(n): return one(one(n))\n"
        "assert two(1) == 3\nprint(told)\nassert two(2) == 4\nprint(told)\n"
        "assert two(2.0) == 4.0\nprint(told)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    once = str([True, False])
    assert done.stdout.splitlines() == [once, once, str([True, False, True, False])]


WITH_A_TUPLE = """\
from typing import NamedTuple

from sfumato.kernels.compilation import njit


class {name}(NamedTuple):
    one: int
    other: int


@njit(cache=True)
def total(pair: {name}) -> int:
    return pair.one {sign} pair.other

"""


def run_kernel(folder: Path, name: str, sign: str = "+") -> tuple[int, int]:
    """Return what a module with a kernel computes, and how often it found it compiled."""
    module, text = folder / "kernel.py", WITH_A_TUPLE.format(name=name, sign=sign)
    if not module.exists() or module.read_text() != text:
        # Python tells one version of a file from another by its size and by the second of its last change
        second = int(module.stat().st_mtime) + 1 if module.exists() else 1_000_000_000
        module.write_text(text)
        os.utime(module, (second, second))
    code = (
        f"import kernel\nprint(kernel.total(kernel.{name}(3, 2)))\n"
        "print(sum(kernel.total.stats.cache_hits.values()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    result, hits = map(int, done.stdout.split())
    return result, hits


def test_what_was_compiled_is_used_again(tmp_path: Path) -> None:
    assert [run_kernel(tmp_path, "Pair"), run_kernel(tmp_path, "Pair")] == [(5, 0), (5, 1)]


def test_after_an_upgrade_that_renames_a_tuple_the_kernel_is_compiled_anew(tmp_path: Path) -> None:
    assert run_kernel(tmp_path, "Pair") == (5, 0)
    assert list(tmp_path.glob("__pycache__/*.nbi")), "nothing is left for the second run to stumble over"
    assert [run_kernel(tmp_path, "Both"), run_kernel(tmp_path, "Both", "-")] == [(5, 0), (1, 0)]


def test_where_no_folder_can_be_written_kernels_are_compiled_for_the_process_alone() -> None:
    code = (
        "import numba.core.caching as caching\n"
        "for each in vars(caching).values():\n"
        "    if hasattr(each, '_locator_classes'): each._locator_classes = []\n"
        "import numpy as np\nfrom sfumato.kernels.row_groups import sum_by_group\n"
        "print(sum_by_group(np.array([0, 1, 0]), 2, np.array([1, 2, 3])).tolist())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[4, 2]"
