"""Where everything should run, a skipped test is a failure unless its reason is allowed.

And what takes long is left out unless somebody asks for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

pytest_plugins = ["pytester"]

CONFTEST = Path(__file__).parents[1] / "conftest.py"

TESTS = """
    import pytest

    def test_that_runs():
        pass

    @pytest.mark.skipif(True, reason="the moon is full")
    def test_that_needs_another_moon():
        pass

    def test_that_gives_up():
        pytest.skip("no file is here")

    @pytest.mark.skipif(True, reason="may read every file")
    def test_that_may_be_skipped():
        pass

    @pytest.mark.xfail(reason="known", strict=True)
    def test_that_is_known_to_fail():
        assert False
"""


THOROUGH = """
    import pytest

    def test_in_short():
        pass

    @pytest.mark.thorough("test_in_short")
    def test_at_length():
        pass

    @pytest.mark.thorough("its first two", but=2)
    @pytest.mark.parametrize("number", range(5))
    def test_of_many(number):
        pass

    class TestWithin:
        @pytest.mark.thorough("its first", but=1)
        @pytest.mark.parametrize("number", range(3))
        def test_of_many(self, number):
            pass
"""


@pytest.fixture
def folder(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[pytest.Pytester]:
    monkeypatch.delenv("CI", raising=False)
    pytester.makeconftest(CONFTEST.read_text("utf-8"))
    yield pytester
    # the tests within load the one or the other
    settings.load_profile("patient" if request.config.getoption("--thorough") else "brisk")


@pytest.fixture
def tests(folder: pytest.Pytester) -> pytest.Pytester:
    folder.makepyfile(TESTS)
    return folder


def outcomes(tests: pytest.Pytester, *options: str) -> dict[str, int]:
    return tests.runpytest_inprocess("-p", "no:cacheprovider", *options).parseoutcomes()


def test_at_home_tests_may_be_skipped(tests: pytest.Pytester) -> None:
    assert outcomes(tests) == {"passed": 1, "skipped": 3, "xfailed": 1}


def test_asked_to_only_an_allowed_reason_skips(tests: pytest.Pytester) -> None:
    done = tests.runpytest_inprocess("-p", "no:cacheprovider", "--fail-skipped")
    assert done.parseoutcomes() == {"passed": 1, "errors": 1, "failed": 1, "skipped": 1, "xfailed": 1}
    done.stdout.fnmatch_lines(["*nothing may be skipped here for: the moon is full"])
    done.stdout.fnmatch_lines(["*nothing may be skipped here for: no file is here"])


def test_where_ci_is_set_it_is_asked(tests: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    assert outcomes(tests) == outcomes(tests, "--fail-skipped")
    assert outcomes(tests)["skipped"] == 1


def test_a_fixture_that_skips_fails_the_tests_that_need_it(tests: pytest.Pytester) -> None:
    tests.makepyfile(
        test_browser="""
            import pytest

            @pytest.fixture
            def browser():
                pytest.skip("no Chromium is installed")

            def test_a_page(browser):
                pass
        """
    )
    assert outcomes(tests, "test_browser.py", "--fail-skipped") == {"errors": 1}


@pytest.mark.parametrize("name", ["test_all_of_it.py", "deeper/conftest.py"])
def test_a_file_that_is_skipped_as_a_whole_is_a_failure(tests: pytest.Pytester, name: str) -> None:
    folder = tests.mkdir("deeper")
    (folder / "test_more.py").write_text("def test_that_runs(): pass")
    (tests.path / name).write_text("import pytest; pytest.importorskip('no_such_module_at_all')")
    assert outcomes(tests, "--fail-skipped")["errors"] == 1


def test_every_allowed_reason_is_one_that_a_test_gives() -> None:
    folders = (CONFTEST.parent / "tests", CONFTEST.parent / "papers" / "tests")
    written = [path.read_text("utf-8") for folder in folders for path in folder.rglob("*.py")]
    allowed = CONFTEST.read_text("utf-8").split("MAY_BE_SKIPPED = {")[1].split("}")[0]
    reasons = [line.split('"')[1] for line in allowed.strip().splitlines()]
    assert reasons
    for reason in reasons:
        given = [text for text in written if f'reason="{reason}"' in text or f'skip("{reason}")' in text]
        assert [text for text in given if "MAY_BE_SKIPPED" not in text], reason


def test_what_takes_long_is_left_out_all_but_the_first_few(folder: pytest.Pytester) -> None:
    folder.makepyfile(THOROUGH)
    assert outcomes(folder) == {"passed": 4, "deselected": 6}
    assert outcomes(folder, "--thorough") == {"passed": 10}
