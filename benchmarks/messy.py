"""Five tables as users bring them, drawn from a seed: what is in them, and which roles would be right.

Shared by ``benchmarks/external_tables.py`` and ``tests/test_external_tables.py``.
"""

from __future__ import annotations

import csv
import datetime
import io
import math
import random
from collections.abc import Callable
from dataclasses import dataclass, replace

NEVER_RELEASED = ("identifying", "withheld")


@dataclass(frozen=True)
class Truth:
    """Which roles somebody who knows the table would give; a column that is not named may have any role.

    Parameters
    ----------
    hidden
        Must not be published: names, numbers of records and of persons, free text.
    quasi
        Must be quasi-identifying: an acquaintance or a register knows it.
    sensitive
        Must be sensitive.
    guarded
        Must not be published untouched; any role but *insensitive* does.
    """

    hidden: tuple[str, ...] = ()
    quasi: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    guarded: tuple[str, ...] = ()

    @property
    def n_columns(self) -> int:
        """How many columns it says something of."""
        return len(self.hidden) + len(self.quasi) + len(self.sensitive) + len(self.guarded)

    def wrong(self, roles: dict[str, str]) -> dict[str, str]:
        """Return the columns whose role is not right, with the role that they got."""
        allowed = (
            (self.hidden, NEVER_RELEASED),
            (self.quasi, ("quasi-identifying",)),
            (self.sensitive, ("sensitive",)),
            (self.guarded, ("quasi-identifying", "sensitive", *NEVER_RELEASED)),
        )
        return {
            name: roles.get(name, "not there")
            for names, right in allowed
            for name in names
            if roles.get(name) not in right
        }


@dataclass(frozen=True)
class Messy:
    """A generated table.

    Parameters
    ----------
    name
        What it is called in the corpus.
    n_records
        How many records it has unless somebody asks for another number.
    written
        Writes so many records as CSV, the same for the same seed.
    truth
        The roles that would be right.
    encoding
        The encoding of the file.
    """

    name: str
    n_records: int
    written: Callable[[int, random.Random], str]
    truth: Truth
    encoding: str = "utf-8"

    def text(self, seed: int = 14) -> str:
        """Return the whole file as text."""
        return self.written(self.n_records, random.Random(f"{self.name} {seed}"))

    def content(self, seed: int = 14) -> bytes:
        """Return the whole file as bytes."""
        return self.text(seed).encode(self.encoding)

    def of_size(self, n_records: int) -> Messy:
        """Return the same table with another number of records."""
        return replace(self, n_records=n_records)


_FIRST = ("Anna", "Jürgen", "Käthe", "Mehmet", "Søren", "Zoë", "Ömer", "Ines", "Paul", "Lucía", "Grace", "Li")
_LAST = ("Müller", "Groß", "Nowak", "Yildiz", "de Vries", "O'Neil", "Sánchez", "Weiß", "Kaya", "Ek", "Chen")
_STREETS = ("Lindenweg", "Am Markt", "Hauptstraße", "Gartenweg", "Mühlgasse")
_ICD = ("E11.9", "I10.0", "J45.8", "F32.1", "M54.5", "C50.9", "K21.0", "I25.1", "J06.9", "G43.0", "N18.3")
_ATC = ("A10BA02", "C07AB02", "R03AC02", "N06AB10", "M01AE01", "C09AA05", "A02BC01")
_WARDS = ("Innere", "Chirurgie", "Gynäkologie", "Neurologie", "Notaufnahme")


def _lines(separator: str, rows: list[list[str]]) -> str:
    written = io.StringIO()
    csv.writer(written, delimiter=separator, lineterminator="\n").writerows(rows)
    return written.getvalue()


def _likely(rng: random.Random, values: tuple[str, ...]) -> str:
    """Draw a value, the first ones more often: what is written in real tables is never even."""
    return values[min(int(rng.expovariate(3 / len(values))), len(values) - 1)]


def _german(number: float, digits: int = 2) -> str:
    return f"{number:,.{digits}f}".translate(str.maketrans(",.", ".,"))


def _german_day(day: datetime.date) -> str:
    return f"{day:%d.%m.%Y}"


def _clinic(n_records: int, rng: random.Random) -> str:
    """Write visits: several of a patient, German signs, dates with a mark of their own for missing."""
    heads = "Fallnummer;Patienten-Nr;Name;Geburtsdatum;PLZ;Ort;Geschlecht;Aufnahmedatum;Station;ICD-10;ATC"
    rows = [[*heads.split(";"), "Größe (cm)", "Gewicht (kg)", "BMI", "Kosten (EUR)", "Entlassung"]]
    towns = tuple(
        (f"{code:05}", town) for code, town in zip(range(1067, 1109), (*"ABCDEFG",) * 6, strict=True)
    )
    while len(rows) <= n_records:
        code, town = rng.choice(towns)
        born = datetime.date(1930, 1, 1) + datetime.timedelta(days=int(rng.triangular(0, 30_000, 12_000)))
        person = [
            f"P{rng.randrange(10**6):06}",
            f"{rng.choice(_LAST)}, {rng.choice(_FIRST)}",
            "k.A." if rng.random() < 0.03 else _german_day(born),
            code,
            f"{town}-Stadt",
            _likely(rng, ("w", "m", "d")),
        ]
        height = rng.gauss(170, 10)
        for _ in range(min(1 + int(rng.expovariate(0.7)), n_records + 1 - len(rows))):
            weight = rng.gauss(78, 15)
            day = datetime.date(2022, 1, 1) + datetime.timedelta(days=rng.randrange(700))
            rows.append(
                [
                    f"F{len(rows):07}",
                    *person,
                    "k.A." if rng.random() < 0.02 else _german_day(day),
                    _likely(rng, _WARDS),
                    _likely(rng, _ICD),
                    _likely(rng, _ATC),
                    _german(height, 1),
                    "" if rng.random() < 0.08 else _german(weight, 1),
                    _german(weight / (height / 100) ** 2, 1),
                    _german(rng.lognormvariate(7.3, 0.9)),
                    _likely(rng, ("regulär", "verlegt", "gegen Rat", "verstorben")),
                ]
            )
    return _lines(";", rows)


def _survey(n_records: int, rng: random.Random) -> str:
    """Write 200 columns: some about the person, and answers on scales that depend on a few traits."""
    about = "respondent,interviewed,weight,age,sex,region,education,occupation,household,children,income"
    rows = [[*about.split(","), "religion", *(f"q{number:03}" for number in range(1, 189))]]
    regions = tuple(f"Region {letter}" for letter in "ABCDEFGHIJKL")
    faiths = ("none", "Catholic", "Protestant", "Muslim", "other")
    jobs = tuple(f"ISCO {number}" for number in range(11, 97, 4))
    for number in range(n_records):
        traits = [rng.gauss(0, 1) for _ in range(6)]
        age = int(rng.triangular(16, 95, 45))
        rows.append(
            [
                str(100_001 + number),
                str(datetime.date(2024, 3, 1) + datetime.timedelta(days=rng.randrange(60))),
                f"{rng.lognormvariate(0, 0.5):.6f}",
                str(age) if age < 90 else "90 and older",
                _likely(rng, ("female", "male", "other")),
                _likely(rng, regions),
                _likely(rng, ("secondary", "tertiary", "primary", "none")),
                _likely(rng, jobs),
                str(min(1 + int(rng.expovariate(0.7)), 9)),
                str(min(int(rng.expovariate(0.8)), 7)),
                "" if rng.random() < 0.2 else str(500 * int(rng.lognormvariate(3.6, 0.6))),
                "" if rng.random() < 0.1 else _likely(rng, faiths),
                *(_on_a_scale(traits[column % 6], column, rng) for column in range(188)),
            ]
        )
    return _lines(",", rows)


def _on_a_scale(trait: float, column: int, rng: random.Random) -> str:
    if rng.random() < 0.04:
        return ("-99", "-98", "")[column % 3]
    top = (2, 5, 7, 10)[column % 4]
    return str(min(max(round((trait + rng.gauss(0, 1) + 2.5) / 5 * top), 1), top))


def _customers(n_records: int, rng: random.Random) -> str:
    """Write customers with ways to reach them, money, and what somebody typed about them."""
    heads = "customer_id\tname\temail\tphone\tstreet\tpostcode\tcountry\tdate_of_birth\tgender\tsegment"
    rows = [[*heads.split("\t"), "newsletter", "revenue", "log_revenue", "last_order", "currency", "notes"]]
    words = (
        "called",
        "twice",
        "about",
        "late",
        "delivery",
        "very",
        "unhappy",
        "wants",
        "refund",
        "pays",
        "by",
    )
    for number in range(n_records):
        first, last = rng.choice(_FIRST), rng.choice(_LAST)
        revenue = round(rng.lognormvariate(5, 1.2), 2)
        born = datetime.date(1940, 1, 1) + datetime.timedelta(days=rng.randrange(24_000))
        rows.append(
            [
                str(7_000_000 + 13 * number),
                f"{first} {last}",
                f"{first}.{last}{number}@example.org".lower().replace(" ", ""),
                f"+49 {rng.randrange(100, 999)} {rng.randrange(10**6, 10**7)}",
                f"{rng.choice(_STREETS)} {rng.randrange(1, 120)}",
                f"{rng.choice(('10', '20', '50', '80'))}{rng.randrange(100, 130)}",
                _likely(rng, ("DE", "AT", "CH", "NL", "PL")),
                str(born) if rng.random() > 0.05 else "unknown",
                _likely(rng, ("f", "m", "")),
                _likely(rng, ("private", "business", "public")),
                rng.choice(("yes", "no")),
                f"{revenue:.2f}",
                f"{math.log(revenue):.4f}",
                str(datetime.date(2023, 1, 1) + datetime.timedelta(days=rng.randrange(900))),
                "EUR",
                "" if rng.random() < 0.4 else " ".join(rng.choices(words, k=rng.randrange(3, 15))),
            ]
        )
    return _lines("\t", rows)


def _log(n_records: int, rng: random.Random) -> str:
    """Write what users did and when, to the second, from which address and with which device."""
    heads = "timestamp,session,user_id,ip,country,city,device,browser,page,duration_ms,status,purchase"
    rows = [heads.split(",")]
    users = [(f"u{rng.randrange(16**8):08x}", rng.randrange(40)) for _ in range(max(n_records // 12, 1))]
    at = datetime.datetime(2024, 5, 1)
    for _ in range(n_records):
        at += datetime.timedelta(seconds=rng.expovariate(1 / 40))
        user, place = rng.choice(users)
        rows.append(
            [
                f"{at:%Y-%m-%dT%H:%M:%S}Z",
                f"{rng.randrange(16**12):012x}",
                user,
                f"10.{place}.{rng.randrange(256)}.{rng.randrange(256)}",
                ("DE", "FR", "US", "IN", "BR")[place % 5],
                f"City {place}",
                _likely(rng, ("phone", "laptop", "tablet", "tv")),
                _likely(rng, ("Chrome 124", "Safari 17", "Firefox 125", "Edge 124")),
                f"/{_likely(rng, ('home', 'search', 'cart', 'health/advice', 'account', 'jobs'))}",
                str(int(rng.lognormvariate(7, 1))),
                _likely(rng, ("200", "304", "404", "500")),
                "" if rng.random() < 0.9 else f"{rng.lognormvariate(3, 1):.2f}",
            ]
        )
    return _lines(",", rows)


def _ten(n_records: int, rng: random.Random) -> str:
    """Write a handful of people: a table too small to choose much from."""
    rows = [["name", "age", "sex", "town", "diagnosis"]]
    for number in range(n_records):
        rows.append(
            [
                f"{_FIRST[number % len(_FIRST)]} {rng.choice(_LAST)}",
                str(rng.randrange(25, 75)),
                rng.choice(("f", "m")),
                rng.choice(("Aix", "Bonn", "Celle")),
                rng.choice(("flu", "asthma", "gout")),
            ]
        )
    return _lines(",", rows)


TABLES: tuple[Messy, ...] = (
    Messy(
        "clinic",
        6_000,
        _clinic,
        Truth(
            hidden=("Fallnummer", "Patienten-Nr", "Name"),
            quasi=("Geburtsdatum", "PLZ", "Geschlecht"),
            sensitive=("ICD-10",),
            guarded=("Ort", "Aufnahmedatum", "ATC", "Kosten (EUR)", "BMI", "Entlassung"),
        ),
        encoding="cp1252",
    ),
    Messy(
        "survey",
        3_000,
        _survey,
        Truth(
            hidden=("respondent",),
            quasi=("age", "sex", "region"),
            sensitive=("income", "religion"),
            guarded=("education", "occupation", "household", "children", "weight"),
        ),
    ),
    Messy(
        "customers",
        8_000,
        _customers,
        Truth(
            hidden=("customer_id", "name", "email", "phone", "street", "notes"),
            quasi=("postcode", "date_of_birth", "gender"),
            guarded=("country", "revenue", "log_revenue", "last_order"),
        ),
    ),
    Messy(
        "log",
        20_000,
        _log,
        Truth(
            hidden=("session", "user_id", "ip"),
            quasi=("city",),
            guarded=("timestamp", "duration_ms", "country", "page"),
        ),
    ),
    Messy(
        "ten",
        10,
        _ten,
        Truth(hidden=("name",), quasi=("age", "sex", "town"), sensitive=("diagnosis",)),
    ),
)
"""The generated part of the corpus."""
