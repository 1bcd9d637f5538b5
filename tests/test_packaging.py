"""What is shipped, and what the repository promises about itself."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sfumato

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "sfumato"
MAKEFILE = (ROOT / "Makefile").read_text()


def build(source: Path, target: Path, umask: int = -1) -> dict[str, Path]:
    """Build the wheel and the source archive of a folder without the network; return each by its ending."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-t", "sdist", "-d", str(target)]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False, umask=umask)
    assert done.returncode == 0, done.stderr
    return {path.suffix: path for path in target.iterdir()}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return build(ROOT, tmp_path_factory.mktemp("built"))


@pytest.fixture(scope="module")
def wheel(built: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Unpack the wheel."""
    unpacked = tmp_path_factory.mktemp("unpacked")
    zipfile.ZipFile(built[".whl"]).extractall(unpacked)
    return unpacked


def copied(paths: list[Path], target: Path) -> None:
    """Copy files of the repository with other dates, other permissions and in another order."""
    for path in sorted(paths, reverse=True):
        place = target / path.relative_to(ROOT)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(path.read_bytes())
        place.chmod(0o600)
        os.utime(place, (1_000_000_000, 1_000_000_000))


@pytest.mark.skipif(os.name != "posix", reason="only POSIX has permissions to differ in")
def test_the_same_files_built_elsewhere_give_the_same_bytes(built: dict[str, Path], tmp_path: Path) -> None:
    tops = [".gitignore", "pyproject.toml", "README.md", "LICENSE", *shipped()]
    found = [path for top in tops for path in [ROOT / top, *(ROOT / top).rglob("*")]]
    copied([path for path in found if path.is_file() and "__pycache__" not in path.parts], tmp_path / "copy")
    again = build(tmp_path / "copy", tmp_path / "again", umask=0o077)
    assert set(built) == {".whl", ".gz"}
    assert {kind: path.read_bytes() == built[kind].read_bytes() for kind, path in again.items()} == {
        ".whl": True,
        ".gz": True,
    }


def shipped() -> list[str]:
    """Return what the source archive holds of the repository, as pyproject.toml says."""
    facts = tomllib.loads((ROOT / "pyproject.toml").read_text())
    return [path.lstrip("/") for path in facts["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]]


def package_files(pattern: str) -> list[Path]:
    """List the package's files, relative to the folder that holds it, without caches."""
    found = [path.relative_to(PACKAGE.parent) for path in PACKAGE.glob(pattern) if path.is_file()]
    return [path for path in found if not any(part.startswith((".", "__pycache__")) for part in path.parts)]


@pytest.mark.parametrize(
    "path",
    [
        "py.typed",
        "reading/datasets/adult.parquet",
        "reading/datasets/ATTRIBUTION.md",
        "reading/datasets/hospital.csv",
    ],
)
def test_the_wheel_holds_the_embedded_example_and_the_type_marker(wheel: Path, path: str) -> None:
    assert (wheel / "sfumato" / path).is_file()


def test_the_wheel_holds_the_hierarchies(wheel: Path) -> None:
    hierarchies = package_files("reading/datasets/hierarchies/**/*.csv")
    assert hierarchies
    assert [path for path in hierarchies if not (wheel / path).is_file()] == []


def test_the_wheel_holds_every_file_of_the_package(wheel: Path) -> None:
    assert [path for path in package_files("**/*") if not (wheel / path).is_file()] == []


def test_the_wheel_holds_the_licence_and_nothing_beside_the_package(wheel: Path) -> None:
    metadata = f"sfumato-{sfumato.__version__}.dist-info"
    assert {path.name for path in wheel.iterdir()} == {"sfumato", metadata}
    assert (wheel / metadata / "licenses" / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
    assert not list(wheel.rglob("test_*.py"))


def test_the_wheel_holds_no_file_twice(wheel: Path) -> None:
    files = [path for path in wheel.rglob("*") if path.is_file() and path.stat().st_size]
    by_contents: dict[bytes, list[str]] = {}
    for path in files:
        by_contents.setdefault(path.read_bytes(), []).append(str(path.relative_to(wheel)))
    assert [names for names in by_contents.values() if len(names) > 1] == []


def test_the_source_archive_holds_every_page_that_the_readme_links_to(built: dict[str, Path]) -> None:
    with tarfile.open(built[".gz"]) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    linked = re.findall(r"\]\((?!http)([^)#]+)", (ROOT / "README.md").read_text("utf-8"))
    pages = {*linked, "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md", "LICENSE"}
    assert {page for page in pages if page.rstrip("/") not in held and (ROOT / page).is_file()} == set()


def requirements(pyproject: dict[str, Any]) -> Iterator[str]:
    """Yield every requirement, whoever it is for."""
    yield from pyproject["build-system"]["requires"]
    yield from pyproject["project"]["dependencies"]
    for extra in pyproject["project"].get("optional-dependencies", {}).values():
        yield from extra
    for group in pyproject["dependency-groups"].values():
        yield from (entry for entry in group if isinstance(entry, str))


def test_no_dependency_has_an_upper_pin() -> None:
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text())
    versions = {requirement: requirement.partition(";")[0] for requirement in requirements(pyproject)}
    assert [requirement for requirement, version in versions.items() if re.search("<|==|~=", version)] == []


def test_the_citation_is_of_this_version() -> None:
    lines = (ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines()
    assert not any("\t" in line for line in lines)
    top = dict(line.split(":", 1) for line in lines if line and line[0] not in " -#")
    assert {"cff-version", "message", "title", "authors"} <= set(top)
    assert top["cff-version"].strip() == "1.2.0"
    assert top["version"].strip() == sfumato.__version__


def test_the_checks_run_what_the_readme_says_and_nothing_else() -> None:
    run = (ROOT / ".ci" / "run").read_text().splitlines()
    assert [line for line in run if re.match(r"make|python|pytest|\.venv", line)] == [
        "make test",
        "make evidence",
    ]
    assert "export CI=true" in run
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make demo" in readme
    assert "make test" in readme


def recipe(target: str) -> list[str]:
    """Return the commands of a target of the Makefile, without the folder of the virtual environment."""
    lines = re.search(rf"^{target}:.*\n((?:\t.*\n)+)", MAKEFILE, re.MULTILINE)
    assert lines
    plain = lines[1].replace("$(BIN)", ".venv/bin").replace(" --load $(LOAD) $(THOROUGH)", "")
    return [line.strip() for line in plain.splitlines()]


def test_every_target_that_is_for_people_is_in_the_help() -> None:
    (phony,) = re.findall(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)
    told = re.findall(r"^([a-z-]+):.*## ", MAKEFILE, re.MULTILINE)
    assert {*phony.split()} - {*told} == {"python", "system"}
    assert {"test", "quick", "coverage", "lint", "format"} <= {*told}


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "docs"])
def test_what_the_pages_say_of_make_can_be_made(page: str) -> None:
    pages = [ROOT / page] if (ROOT / page).is_file() else [*(ROOT / page).rglob("*.md")]
    asked = {target for path in pages for target in re.findall(r"`?make ([a-z-]+)\b[`\n ]", code_of(path))}
    assert asked <= set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))


def code_of(page: Path) -> str:
    """Return what stands in code on a page."""
    return "\n".join(re.findall(r"```.*?```|`[^`\n]+`", page.read_text("utf-8"), re.DOTALL))


def test_a_commit_is_checked_like_the_whole() -> None:
    hooks = (ROOT / ".pre-commit-config.yaml").read_text()
    assert re.findall(r"entry: (.*)", hooks) == recipe("lint")
    assert set(re.findall(r"(?:repo|language): (.*)", hooks)) == {"local", "system"}


def test_the_tests_take_nothing_away_from_lint_that_runs_beside_them(tmp_path: Path) -> None:
    """Whichever of the two fails, and whichever ends first, `make test` fails."""
    for linted, tested in ((0, 0), (1, 0), (0, 1), (1, 1)):
        (tmp_path / "make").write_text(f"#!/bin/sh\nsleep 0.1\nexit {linted}\n")
        (tmp_path / "python").write_text(f"#!/bin/sh\nexit {tested}\n")
        for name in ("make", "python"):
            (tmp_path / name).chmod(0o755)
        with asked("test", tmp_path) as shell:
            assert (shell.wait() != 0) == bool(linted or tested)


def asked(target: str, programs: Path, **options: Any) -> subprocess.Popen[bytes]:
    """Start what a target of the Makefile does, with other programs in the place of make and Python."""
    script = "\n".join(recipe(target)).lstrip("@").replace(".venv/bin/python", "python").replace("$$", "$")
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.Popen(["sh", "-c", script], env=environment, **options)


@pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_tests_and_lint_end_when_make_is_told_to_end(tmp_path: Path, number: signal.Signals) -> None:
    for name in ("make", "python"):
        place = tmp_path / name
        place.write_text(f"#!/bin/sh\necho $$ > {place}.number.new\nmv {place}.number.new {place}.number\n")
        with place.open("a") as script:
            script.write("exec sleep 600\n")
        place.chmod(0o755)
    # as make starts it, though whoever started the tests may ignore interrupts
    with asked("test", tmp_path, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)) as shell:
        while len(numbers := list(tmp_path.glob("*.number"))) < 2:
            assert shell.poll() is None
        shell.send_signal(number)
    assert shell.returncode != 0
    for each in numbers:
        with pytest.raises(ProcessLookupError):
            os.kill(int(each.read_text()), 0)


def test_the_tests_that_are_begun_with_are_there() -> None:
    conftest = (ROOT / "conftest.py").read_text(encoding="utf-8")
    (listed,) = re.findall(r"^LONGEST = \(\n((?:    .*\n)+)\)", conftest, re.MULTILINE)
    names = re.findall(r'"(.+)"', listed)
    assert names
    assert [name for name in names if not (ROOT / name).is_file()] == []


@pytest.mark.parametrize("variable", ["QUICK", "REACHED"])
def test_the_tests_that_the_makefile_names_are_there(variable: str) -> None:
    (listed,) = re.findall(rf"^{variable} := ((?:.*\\\n)*.*)$", MAKEFILE, re.MULTILINE)
    assert all(list(ROOT.glob(pattern)) for pattern in listed.replace("\\", "").split())


def test_the_stated_versions_of_python_begin_where_the_requirement_does() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    stated = [line.rpartition(" ")[2] for line in project["classifiers"] if ":: Python :: 3." in line]
    assert project["requires-python"] == f">={stated[0]}"
    assert stated == [f"3.{minor}" for minor in range(11, 11 + len(stated))]


# What the tests need of the system


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """Make a machine without R: stand-ins note how they are called, and `apt-get` installs it."""
    note = f'echo "$(basename "$0") $*" >> {tmp_path}/calls\n'
    stand_ins = {
        "apt-get": note + f'case "$*" in *" install "*) cp /bin/true {tmp_path}/Rscript ;; esac\n',
        "sudo": note + '[ "$1" = -n ] && shift && exec "$@"\n',
        "id": f"cat {tmp_path}/user\n",
    }
    for name, text in stand_ins.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}")
        (tmp_path / name).chmod(0o755)
    for name in ("sh", "cat", "cp", "basename"):
        (tmp_path / name).symlink_to(shutil.which(name) or name)
    (tmp_path / "calls").touch()
    return tmp_path


def asked_of(machine: Path, user: int, *, ci: bool = False) -> tuple[subprocess.CompletedProcess[str], str]:
    """Ask for R as this user, and return what was called."""
    (machine / "user").write_text(str(user))
    environment = {"PATH": str(machine), **({"CI": "true"} if ci else {})}
    command = ["sh", str(ROOT / "tools" / "system_packages.sh"), "r-base-core"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return done, (machine / "calls").read_text()


needs_shell = pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell")


@needs_shell
@pytest.mark.parametrize("ci", [False, True])
def test_root_installs_what_is_missing_and_only_once(machine: Path, ci: bool) -> None:
    done, calls = asked_of(machine, 0, ci=ci)
    assert (done.returncode, done.stderr) == (0, "")
    assert calls.startswith("apt-get ")
    assert calls.endswith(" install --no-install-recommends r-base-core\n")
    again, since = asked_of(machine, 0, ci=ci)
    assert (again.returncode, again.stdout, again.stderr, since) == (0, "", "", calls)


@needs_shell
def test_nothing_is_installed_on_a_developers_machine(machine: Path) -> None:
    done, calls = asked_of(machine, 1000)
    assert (done.returncode, calls) == (0, "")
    assert "apt-get install --no-install-recommends r-base-core" in done.stderr
    assert "tests are skipped" in done.stderr


@needs_shell
def test_where_ci_is_set_sudo_may_be_used_and_nothing_may_be_missing(machine: Path) -> None:
    done, calls = asked_of(machine, 1000, ci=True)
    assert done.returncode == 0
    assert calls.startswith("sudo -n ")
    (machine / "Rscript").unlink()
    (machine / "apt-get").write_text("#!/bin/sh\nexit 1\n")
    refused, _ = asked_of(machine, 1000, ci=True)
    assert refused.returncode == 1
    assert "r-base-core" in refused.stderr


def test_all_packages_of_the_system_come_from_one_script() -> None:
    assert not re.search("apt-get|sudo", MAKEFILE)
    asked = " ".join(re.findall(r"tools/system_packages.sh (.*)", MAKEFILE))
    assert {"chromium", "postgresql", "r-base-core", "default-jre-headless"} <= set(asked.split())
