"""Tables and queries of databases are read as files are; secrets and values are never told."""

from __future__ import annotations

import os
import shutil
import socket
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest

from sfumato.data.table import Table
from sfumato.reading.read_table import read
from sfumato.reading.sources import source_at
from sfumato.runtime.errors import DataError, ProjectError, SfumatoError
from sfumato.workflow.engines.base import engine_named
from sfumato.workflow.project.project_file import Project

SECRET = "SECRETVALUE"
PEOPLE = "CREATE TABLE people (age INTEGER, sex TEXT, pay DOUBLE PRECISION, town TEXT)"
RECORDS = [(31, "f", 1.5, "01307"), (42, "m", None, " Bonn "), (31, "f", 1.5, "01307"), (None, "", 2.0, None)]
EXPECTED = {
    "age": [31, 42, None],
    "sex": ["f", "m", None],
    "pay": [1.5, None, 2],
    "town": ["01307", "Bonn", None],
}


def by_both(path: Path | str, **what: str) -> Table:
    """Return the table that both engines make of a database."""
    memory, other = (engine_named(name).reduce(source_at(path, **what)) for name in ("memory", "duckdb"))
    assert memory.fingerprint == other.fingerprint
    return memory


def holds_everybody(table: Table) -> bool:
    assert table.weights.tolist() == [2, 1, 1]
    decoded = {name: [c.domain[code] for code in c.codes] for name, c in table.columns.items()}
    assert decoded == EXPECTED
    return True


@pytest.fixture
def sqlite(tmp_path: Path) -> Path:
    path = tmp_path / "shop.db"
    with sqlite3.connect(path) as connection:
        connection.execute(PEOPLE)
        connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", RECORDS)
        connection.execute('CREATE TABLE "odd ""name" (mixed)')
        connection.executemany('INSERT INTO "odd ""name" VALUES (?)', [(1,), ("one",), (2.5,)])
        connection.execute("CREATE TABLE vacant (a)")
        connection.execute("CREATE TABLE bytes (a)")
        connection.execute("INSERT INTO bytes VALUES (x'00ff')")
    connection.close()
    return path


@pytest.fixture
def duck(tmp_path: Path) -> Path:
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(PEOPLE)
        connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", RECORDS)
        connection.execute("CREATE TABLE lists AS SELECT [1, 2] AS a")
        connection.execute(
            "CREATE TABLE moods AS SELECT 'well'::ENUM ('ill', 'well') AS mood, 1::HUGEINT AS n"
        )
    return path


class TestSqlite:
    def test_a_table(self, sqlite: Path) -> None:
        assert holds_everybody(by_both(sqlite, table="people"))
        assert holds_everybody(read(sqlite, table="people"))

    def test_a_query(self, sqlite: Path) -> None:
        table = by_both(sqlite, query="SELECT sex, count(*) AS n FROM people GROUP BY sex ORDER BY sex;")
        assert table.names == ("sex", "n")
        assert table["n"].domain == (1, 2)

    def test_a_column_of_several_types_is_text(self, sqlite: Path) -> None:
        table = by_both(sqlite, table='odd "name')
        assert table["mixed"].domain == ("1", "one", "2.5")

    def test_a_table_with_a_dot_in_its_name(self, sqlite: Path) -> None:
        with closing(sqlite3.connect(sqlite)) as connection, connection:
            connection.execute('CREATE TABLE "people.2024" AS SELECT * FROM people')
        assert holds_everybody(by_both(sqlite, table="people.2024"))
        assert holds_everybody(by_both(sqlite, table="main.people"))

    @pytest.mark.parametrize(
        ("what", "said"),
        [
            ({}, r'shop\.db is a database; name the table, as table = "\.\.\." \(bytes, odd'),
            ({"table": "people", "query": "SELECT 1"}, "give a table or a query, not both"),
            ({"table": "poeple"}, r"shop\.db does not answer the query; check the names"),
            ({"query": f"SELECT '{SECRET}' FROM nowhere"}, r"shop\.db does not answer the query"),
            ({"query": "DELETE FROM people"}, r"shop\.db does not answer the query"),
            ({"table": "vacant"}, r"shop\.db has no records"),
            ({"table": "bytes"}, "column 'a' holds bytes"),
        ],
    )
    def test_what_cannot_be_read_is_refused(self, sqlite: Path, what: dict[str, str], said: str) -> None:
        with pytest.raises(DataError, match=said) as raised:
            source_at(sqlite, **what).read()
        assert SECRET not in str(raised.value)
        assert raised.value.__context__ is None

    def test_a_text_that_is_no_unicode_is_not_told(self, sqlite: Path) -> None:
        with sqlite3.connect(sqlite) as connection:
            connection.execute(f"CREATE TABLE broken AS SELECT CAST(x'ff' || '{SECRET}' AS TEXT) AS a")
        connection.close()
        with pytest.raises(DataError) as raised:
            source_at(sqlite, table="broken").read()
        assert SECRET not in str(raised.value)


class TestDuckDB:
    def test_a_table(self, duck: Path) -> None:
        assert holds_everybody(by_both(duck, table="people"))
        assert holds_everybody(by_both(duck, table="main.people"))
        with duckdb.connect(str(duck)) as connection:
            connection.execute('CREATE TABLE "people.2024" AS SELECT * FROM people')
        assert holds_everybody(by_both(duck, table="people.2024"))

    def test_a_query(self, duck: Path) -> None:
        assert by_both(duck, query="SELECT age FROM people WHERE age > 40")["age"].domain == (42,)

    def test_its_own_types(self, duck: Path) -> None:
        table = by_both(duck, table="moods")
        assert (table["mood"].domain, table["n"].domain) == (("well",), (1,))

    @pytest.mark.parametrize(
        ("what", "said"),
        [
            ({}, r"shop\.duckdb is a database; name the table"),
            ({"table": "lists"}, "nested values in column 'a'"),
            ({"query": "SELECT * FROM read_csv('/etc/passwd')"}, "does not answer the query"),
            ({"query": f"SELECT '{SECRET}'::INT AS a"}, "does not answer the query"),
        ],
    )
    def test_what_cannot_be_read_is_refused(self, duck: Path, what: dict[str, str], said: str) -> None:
        with pytest.raises(DataError, match=said) as raised:
            source_at(duck, **what).read()
        assert SECRET not in str(raised.value)


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "shop.db").write_bytes(b"something else entirely")
    with pytest.raises(DataError, match="neither a SQLite nor a DuckDB file"):
        source_at(tmp_path / "shop.db", table="people")


def test_a_file_of_records_has_no_tables(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age\n1\n")
    with pytest.raises(DataError, match=r"people\.csv is no database"):
        source_at(tmp_path / "people.csv", table="people")


def test_a_project_file_names_the_table(sqlite: Path) -> None:
    text = """
        policy.recipient = "none"
        [data]
        path = "shop.db"
        table = "people"
        [attributes]
        age = { role = "quasi-identifying" }
        sex = { role = "quasi-identifying" }
        pay = { role = "withheld" }
        town = { role = "sensitive" }
        [[candidates]]
        sanitizer = "mondrian"
    """
    table, _ = Project.parse(text, sqlite.with_name("shop.toml")).read()
    assert table.n_records == 4
    assert table.names == ("age", "sex", "town")
    with pytest.raises(ProjectError, match=r"unknown key 'data\.tabel'; did you mean 'table'"):
        Project.parse(text.replace("table =", "tabel ="), sqlite.with_name("shop.toml"))


class TestConnections:
    def test_any_that_python_has(self, sqlite: Path, duck: Path) -> None:
        for connection in (sqlite3.connect(sqlite), duckdb.connect(str(duck))):
            assert holds_everybody(read(connection, query="SELECT * FROM people"))
            connection.close()

    def test_values_that_arrow_has_no_type_for_are_text(self, sqlite: Path) -> None:
        connection = sqlite3.connect(sqlite)
        assert read(connection, query='SELECT * FROM "odd ""name"')["mixed"].domain == (
            "1",
            "one",
            "2.5",
        )
        connection.close()

    def test_what_the_database_says_is_not_passed_on(self, sqlite: Path) -> None:
        connection = sqlite3.connect(sqlite)
        with pytest.raises(DataError, match=r"does not answer the query \(OperationalError\)") as raised:
            read(connection, query=f"SELECT {SECRET} FROM people")
        connection.close()
        assert SECRET not in str(raised.value)
        assert raised.value.__context__ is None


# PostgreSQL


def programs() -> Path:
    """Return the folder of the newest server that is installed."""
    found = shutil.which("initdb")
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[4]))
    if found is None and not installed:
        pytest.skip("no PostgreSQL is installed: apt-get install --no-install-recommends postgresql")
    return Path(found).resolve().parent if found else installed[-1].parent


# The shell ends the server when its own standard input is closed, however the tests end.
WHILE_TESTED = 'exec 3<&0; "$@" 3<&- & server=$!; { read -r _ <&3; kill -INT "$server"; } & wait "$server"'


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """Start a server on a port of this machine alone, with data of its own; give its address and password."""
    pytest.importorskip("adbc_driver_postgresql")
    bin_folder = programs()
    # the server refuses to run as root
    as_whom: dict[str, Any] = (
        {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}
    )
    place = Path(
        subprocess.check_output(
            ["mktemp", "-d", "/tmp/sfumato-postgres-XXXXXX"], text=True, **as_whom
        ).strip()
    )
    (place / "password").write_text("between us")
    (place / "password").chmod(0o644)
    making: list[Any] = [
        bin_folder / "initdb",
        "--pgdata",
        place / "data",
        "--username",
        "steward",
        "--no-sync",
    ]
    making += ["--auth", "scram-sha-256", "--pwfile", place / "password", "--encoding", "UTF8"]
    subprocess.run(making, check=True, capture_output=True, cwd=place, **as_whom)
    options = {"listen_addresses": "127.0.0.1", "unix_socket_directories": "", "fsync": "off"}
    running: list[Any] = ["sh", "-c", WHILE_TESTED, "sh", bin_folder / "postgres", "-D", place / "data"]
    running += [part for key, value in options.items() for part in ("-c", f"{key}={value}")]

    def answers(process: subprocess.Popen[bytes], port: str) -> bool:
        ready: list[Any] = [bin_folder / "pg_isready", "--quiet", "--host", "127.0.0.1", "--port", port]
        while process.poll() is None and subprocess.run(ready, check=False).returncode:
            time.sleep(0.05)
        return process.poll() is None

    try:
        for _ in range(5):  # another process may take the port before the server does
            port = free_port()
            process = subprocess.Popen(
                [*running, "-c", f"port={port}"],
                cwd=place,
                stdin=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                **as_whom,
            )
            with process:
                if answers(process, port):
                    yield f"postgresql://steward@127.0.0.1:{port}/postgres", "between us"
                    break
        else:
            raise AssertionError("the server ends at once")
    finally:
        shutil.rmtree(place)


def free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


@pytest.fixture
def postgres(server: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> str:
    from adbc_driver_postgresql import dbapi

    address, password = server
    monkeypatch.setenv("PGPASSWORD", password)
    with dbapi.connect(address) as connection, connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS people")
        cursor.execute(PEOPLE)
        for record in RECORDS:
            values = ", ".join("NULL" if v is None else repr(v) for v in record)
            cursor.execute(f"INSERT INTO people VALUES ({values})")
        connection.commit()
    return address


class TestPostgres:
    def test_a_table(self, postgres: str) -> None:
        assert holds_everybody(by_both(postgres, table="people"))
        assert holds_everybody(by_both(postgres, table="public.people"))

    def test_a_query(self, postgres: str) -> None:
        told = "age, 1.50::NUMERIC AS fee, DATE '2024-02-29' AS day, true AS yes"
        table = by_both(postgres, query=f"SELECT {told} FROM people WHERE age > 40")
        assert {name: column.domain for name, column in table.columns.items()} == {
            "age": (42,),
            "fee": ("1.50",),
            "day": ("2024-02-29",),
            "yes": ("true",),
        }

    def test_by_a_project_file_whose_store_holds_no_secret(
        self, postgres: str, server: tuple[str, str], tmp_path: Path
    ) -> None:
        from sfumato.workflow.explore.explore_project import explore
        from sfumato.workflow.store.store import Store

        text = f"""
            policy.recipient = "none"
            [data]
            path = "{postgres}"
            table = "people"
            engine = "duckdb"
            [attributes]
            age = {{ role = "quasi-identifying" }}
            sex = {{ role = "quasi-identifying" }}
            pay = {{ role = "withheld" }}
            town = {{ role = "sensitive" }}
            [[candidates]]
            sanitizer = "full-domain"
            suppression = 1.0
            levels = {{ age = 1, sex = 1 }}
            model = {{ k-anonymity = {{ k = 2 }} }}
        """
        project = Project.parse(text, tmp_path / "shop.toml")
        with Store(project.store_path) as store:
            explore(project, store, workers=1)
            assert len(store.sources()) == 1
        for path in tmp_path.iterdir():
            assert server[1].encode() not in path.read_bytes()

    def test_a_new_project_is_called_as_the_database_and_names_its_address(
        self,
        postgres: str,
        server: tuple[str, str],
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        from sfumato.interfaces.cli import run

        monkeypatch.chdir(tmp_path)
        assert run(["new", postgres, "--table", "people"]) == 0
        said = capsys.readouterr()
        written = (tmp_path / "postgres.toml").read_text()
        assert f'path = "{postgres}"' in written
        assert server[1] not in written + said.out + said.err
        assert Project.load(tmp_path / "postgres.toml").read()[0].n_records == 4

    def test_the_connection_may_only_read(self, postgres: str) -> None:
        query = "WITH gone AS (DELETE FROM people RETURNING age) SELECT age FROM gone"
        with pytest.raises(DataError, match=r"postgres does not answer the query \(SQLSTATE"):
            source_at(postgres, query=query).read()
        assert holds_everybody(by_both(postgres, table="people"))

    def test_what_the_server_says_is_not_passed_on(self, postgres: str) -> None:
        with pytest.raises(DataError, match=r"does not answer the query \(SQLSTATE 42P01\)"):
            source_at(postgres, table="poeple").read()
        with pytest.raises(DataError) as raised:
            source_at(postgres, query=f"SELECT '{SECRET}'::INTEGER AS a").read()
        assert SECRET not in str(raised.value)
        assert raised.value.__context__ is None
        with pytest.raises(DataError, match=r"postgres is a database; name the table.*\(public\.people\)"):
            source_at(postgres)

    def test_a_wrong_password_is_told_without_it(
        self, postgres: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PGPASSWORD", SECRET)
        with pytest.raises(DataError, match="does not let us in; check host, port") as raised:
            source_at(postgres, table="people").read()
        assert SECRET not in str(raised.value)
        assert raised.value.__context__ is None

    def test_an_adbc_connection(self, postgres: str) -> None:
        from adbc_driver_postgresql import dbapi

        with dbapi.connect(postgres) as connection:
            assert holds_everybody(read(connection, query="SELECT * FROM people"))


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://steward:{SECRET}@host/shop",
        f"postgres://host/shop?password={SECRET}",
        f"postgres://host/shop?sslpassword={SECRET}",
    ],
)
def test_a_password_in_the_address_is_refused_and_not_told(address: str) -> None:
    with pytest.raises(SfumatoError, match="the address holds a password; leave it out") as raised:
        source_at(address, table="people")
    assert SECRET not in str(raised.value)


@pytest.mark.parametrize(
    "address",
    [
        f"PostgreSQL://steward:{SECRET}@host",
        f"postgresql:/steward:{SECRET}@host",
        f"postgresql://steward:a/{SECRET}@host/shop",
        f"postgresql://steward:1/{SECRET}@host/shop",
        f"mysql://steward:{SECRET}@host",
    ],
)
def test_an_address_that_is_not_understood_is_refused_and_not_told(address: str) -> None:
    with pytest.raises(SfumatoError, match=r"no address of a PostgreSQL server|are not read") as raised:
        source_at(address, table="people")
    assert SECRET not in str(raised.value)


def test_whole_numbers_beside_others_may_be_large(tmp_path: Path) -> None:
    path = tmp_path / "large.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t AS SELECT 9007199254740993 AS n UNION ALL SELECT 0.5")
    assert by_both(path, table="t")["n"].domain == (0.5, 9007199254740992)


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("kind", ["shop.db", "shop.duckdb"])
def test_a_database_that_changes_while_it_is_read_is_refused_without_its_values(
    tmp_path: Path, kind: str, engine: str
) -> None:
    connect = sqlite3.connect if kind == "shop.db" else duckdb.connect
    path = str(tmp_path / kind)
    with closing(connect(path)) as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS a")
        connection.commit()
    source = source_at(path, table="t")
    assert source.schema.names == ["a"]
    with closing(connect(path)) as connection:
        connection.execute("DROP TABLE t")
        connection.execute(f"CREATE TABLE t AS SELECT '{SECRET}' AS a")
        connection.commit()
    with pytest.raises(DataError, match="was changed while it was read") as raised:
        engine_named(engine).reduce(source)
    assert SECRET not in str(raised.value)
    assert raised.value.__context__ is None


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("kind", ["sqlite", "duck"])
@pytest.mark.parametrize(
    "query",
    [
        "DELETE FROM people RETURNING age",
        "SELECT age FROM people) AS a; DELETE FROM people; SELECT * FROM (SELECT 1 AS age",
        "SELECT age FROM people); DELETE FROM people; SELECT * FROM (SELECT 1 AS age",
        "SELECT age FROM people); COMMIT; DROP TABLE people; --",
        "SELECT 1 AS age); COPY people TO 'written'; SELECT * FROM (SELECT 1 AS age",
        "SELECT 1 AS age); ATTACH 'written' AS a; CREATE TABLE a.b (c INT); SELECT * FROM (SELECT 1 AS age",
        "SELECT * FROM read_csv('other.csv')",
    ],
)
def test_a_query_on_a_file_can_only_read(
    kind: str, engine: str, query: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And only that file; a query may try to end ours and begin another one."""
    path: Path = request.getfixturevalue(kind)
    monkeypatch.chdir(path.parent)
    Path("other.csv").write_text("age\n31\n")
    before = path.read_bytes()
    with pytest.raises(DataError):
        engine_named(engine).reduce(source_at(path, query=query))
    assert path.read_bytes() == before
    assert not Path("written").exists()
    assert holds_everybody(by_both(path, table="people"))


def test_a_query_may_end_with_a_comment(sqlite: Path) -> None:
    assert holds_everybody(by_both(sqlite, query="SELECT * FROM people -- all of them"))


def test_the_columns_of_a_query_need_different_names(sqlite: Path) -> None:
    connection = sqlite3.connect(sqlite)
    with pytest.raises(DataError, match="more than one column named 'age'"):
        read(connection, query="SELECT age, age FROM people")
    connection.close()
