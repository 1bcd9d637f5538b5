"""Guess: a first idea of every attribute's role, kind and hierarchy, and the project file to confirm it in.

A guess errs on the side of caution: what is not known to be harmless is treated as knowable by others.
Only names, shapes and counts are looked at, and no value ever appears in a reason or in the file.
"""

from __future__ import annotations

import datetime
import json
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sfumato.arrays import Floats, Integers
from sfumato.hierarchy import Dates, HierarchySource, Intervals, Prefixes
from sfumato.schema import Role
from sfumato.table import Column, Kind, Table, text


@dataclass(frozen=True)
class Guess:
    """What a column probably is, and why.

    Parameters
    ----------
    name, role, kind, hierarchy
        As in :class:`~sfumato.schema.Attribute`.
    reason
        One sentence for the person who confirms it; it shows no record's value.
    n_distinct
        How many different values occur, missing ones left out.
    n_missing
        How many records lack a value.
    kind_in_table
        The kind that the table gives the column where the project file does not say another.
    """

    name: str
    role: Role
    kind: Kind
    hierarchy: HierarchySource | None
    reason: str
    n_distinct: int
    n_missing: int
    kind_in_table: Kind = "categorical"


def guess(table: Table) -> tuple[Guess, ...]:
    """Guess what every column is.

    The spellings of `likely_missing_values` count as missing and the mark of `decimal_mark` as the
    decimal one, so hand both to `project_text` as well.

    Examples
    --------
    >>> table = Table.from_arrow({"age": ["31", "42", "57"], "diagnosis": ["E11.9", "I10", "E11.9"]})
    >>> [(column.role, column.kind) for column in guess(table)]
    [('quasi-identifying', 'numeric'), ('sensitive', 'categorical')]
    """
    missing = frozenset(likely_missing_values(table))
    decimal = _decimal_mark(table, missing)
    evidence = (_Evidence.of(name, column, table, missing, decimal) for name, column in table.columns.items())
    return tuple(_guess(found) for found in evidence)


def likely_missing_values(table: Table) -> tuple[str, ...]:
    """Return the spellings of a missing value that occur, such as ``?``; the empty field is not one of them.

    A spelling that is a word elsewhere (``None``, ``NA``, ``-``) counts only where all other values of
    the column are numbers, dates, codes or yes and no.

    Examples
    --------
    >>> likely_missing_values(Table.from_arrow({"age": ["31", "NA"], "allergy": ["None", "nuts"]}))
    ('NA',)
    """
    looking_missing: set[str] = set()
    for column in table.columns.values():
        spelled = _MISSING.intersection(column.domain)
        doubtful = spelled.intersection(_MISSING_BESIDE_NUMBERS)
        if doubtful and not _is_regular(_texts(column, spelled)):
            spelled -= doubtful
        looking_missing |= spelled
    return tuple(spelling for spelling in _SPELLINGS if spelling in looking_missing)


def decimal_mark(table: Table) -> str:
    """Return ``,`` when text columns hold numbers with decimal commas rather than points, else ``.``.

    Examples
    --------
    >>> decimal_mark(Table.from_arrow({"weight": ["71,5", "80"]}))
    ','
    >>> decimal_mark(Table.from_arrow({"salary": ["1,200", "31,500"]}))
    '.'
    """
    return _decimal_mark(table, frozenset(likely_missing_values(table)))


# What a column is made of


@dataclass(frozen=True)
class _Evidence:
    """The name and the values of one column, each distinct value once, missing ones left out."""

    name: str
    kind_in_table: Kind
    values: tuple[str, ...]
    counts: Integers
    n_missing: int
    decimal: str

    @classmethod
    def of(cls, name: str, column: Column, table: Table, missing: frozenset[str], decimal: str) -> _Evidence:
        counts = np.bincount(column.codes, weights=table.weights, minlength=len(column.domain)).astype(int)
        pairs = zip(column.domain, counts.tolist(), strict=True)
        n_records = {
            text(value) or "": n for value, n in pairs if n and value is not None and value not in missing
        }
        n_missing = table.n_records - sum(n_records.values())
        return cls(
            name, column.kind, tuple(n_records), np.array([*n_records.values()], int), n_missing, decimal
        )

    @cached_property
    def words(self) -> str:
        return _folded(self.name)

    @cached_property
    def topic(self) -> _Topic | None:
        """What the name says that the column is about."""
        return next((topic for topic in _TOPICS if topic.pattern.search(self.words)), None)

    @cached_property
    def numbers(self) -> Floats | None:
        """The values as numbers, or ``None`` where they are not numbers but texts or codes."""
        if self.kind_in_table == "numeric":
            return np.array([float(value) for value in self.values])
        return _as_numbers(self.values, self.decimal)

    @cached_property
    def dates(self) -> _DateFormat | None:
        """How the values are written as dates, or ``None`` where they are not dates."""
        return _as_dates(self.values)

    @cached_property
    def is_icd(self) -> bool:
        """Whether these are codes of the classification of diseases, recognised by their dots."""
        return self.looks_like(_ICD) and any("." in value for value in self.values[:1000])

    @cached_property
    def has_fixed_width(self) -> bool:
        return len({len(value) for value in self.values}) == 1

    @property
    def n_distinct(self) -> int:
        return len(self.values)

    @cached_property
    def n_present(self) -> int:
        return int(self.counts.sum())

    @property
    def is_constant(self) -> bool:
        return self.n_distinct + (self.n_missing > 0) == 1 < self.n_present + self.n_missing

    @property
    def is_nearly_unique(self) -> bool:
        return self.n_distinct >= 0.9 * self.n_present

    @property
    def is_widely_shared(self) -> bool:
        return self.n_present >= 20 * self.n_distinct

    def looks_like(self, pattern: re.Pattern[str]) -> bool:
        """Whether most of the first thousand values have this shape."""
        sample = self.values[:1000]
        return bool(sample) and sum(map(bool, map(pattern.fullmatch, sample))) >= 0.8 * len(sample)

    def all_like(self, pattern: re.Pattern[str]) -> bool:
        return bool(self.values) and all(map(pattern.fullmatch, self.values))


_NUMBER = {
    mark: re.compile(
        rf"[+-]?(?:(?:0|[1-9][0-9]*)(?:[{mark}][0-9]*(?:[eE][0-9]+)?)?|[{mark}][0-9]+)(?:[eE][+-][0-9]+)?"
    )
    for mark in ".,"
}
_GROUPED = {mark: re.compile(rf"[+-]?[1-9][0-9]{{0,2}}[{mark}][0-9]{{3}}") for mark in ".,"}
_THOUSANDS = re.compile(r"[+-]?(?:0|[1-9][0-9]{0,2})(?:[.,'\u00a0\u202f][0-9]{3})*(?:[.,][0-9]+)?")
_LARGEST_EXACT = 2**53


def _texts(column: Column, without: frozenset[str]) -> list[str]:
    return [value for value in column.domain if isinstance(value, str) and value not in without]


def _as_numbers(values: Sequence[str], decimal: str) -> Floats | None:
    """Return the numbers that `sfumato.table.number` reads, but no codes such as ``0171`` and ``1E5``."""
    if not values or not all(map(_NUMBER[decimal].fullmatch, values)):
        return None
    numbers = np.array([float(value.replace(decimal, ".")) for value in values])
    return numbers if np.abs(numbers).max() < _LARGEST_EXACT else None


def _decimal_mark(table: Table, missing: frozenset[str]) -> str:
    columns = [_texts(column, missing) for column in table.columns.values()]
    commas = sum(_has_decimals(values, ",") for values in columns)
    return "," if commas and commas >= sum(_has_decimals(values, ".") for values in columns) else "."


def _has_decimals(values: Sequence[str], mark: str) -> bool:
    """Whether these are numbers, and the mark in them is not one between thousands."""
    if not all(map(_NUMBER[mark].fullmatch, values)):
        return False
    marked = [value for value in values if mark in value]
    return not all(map(_GROUPED[mark].fullmatch, marked))


# Dates

_YEAR_FIRST = re.compile(r"([0-9]{4})([-/.])([0-9]{1,2})\2([0-9]{1,2})")
_YEAR_LAST = re.compile(r"([0-9]{1,2})([-/.])([0-9]{1,2})\2([0-9]{4})")
_COMPACT = re.compile(r"((?:18|19|20)[0-9]{2})()([0-9]{2})([0-9]{2})")
_WITH_TIME = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})([T ])(?:[01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?(\.[0-9]+)?"
    r"(Z|[+-](?:0[0-9]|1[0-4]):?[0-5][0-9])?"
)
_DATE_SHAPES = (_YEAR_FIRST, _YEAR_LAST, _COMPACT, _WITH_TIME)
_MIXED = "; the dates are written in more than one format"
_ISO_PREFIXES = Prefixes((10, 7, 4))


@dataclass(frozen=True)
class _DateFormat:
    """The hierarchy that the format allows, and what a person should know about it."""

    hierarchy: HierarchySource | None
    note: str = ""


def _as_dates(values: Sequence[str]) -> _DateFormat | None:
    for shape in _DATE_SHAPES:
        matches = _all_matches(shape, values)
        if matches:
            return _format_with_time(matches) if shape is _WITH_TIME else _format_of_days(shape, matches)
    if not values or not all(any(shape.fullmatch(value) for shape in _DATE_SHAPES) for value in values):
        return None
    is_iso = all(re.match(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])", value) for value in values)
    return _DateFormat(_ISO_PREFIXES if is_iso else None, _MIXED)


def _all_matches(shape: re.Pattern[str], values: Sequence[str]) -> list[re.Match[str]]:
    """Return the match of every value, or nothing as soon as one does not match."""
    matches = []
    for value in values:
        match = shape.fullmatch(value)
        if match is None:
            return []
        matches.append(match)
    return matches


def _format_of_days(shape: re.Pattern[str], matches: list[re.Match[str]]) -> _DateFormat | None:
    separators = {match[2] for match in matches}
    if len(separators) > 1:
        return _DateFormat(None, _MIXED)
    mark, parts = separators.pop(), {(int(match[1]), int(match[3]), int(match[4])) for match in matches}
    if shape is not _YEAR_LAST:
        return _DateFormat(Dates(format=f"%Y{mark}%m{mark}%d")) if _exist(parts) else None
    day_first = _exist({(year, month, day) for day, month, year in parts})
    month_first = _exist({(year, month, day) for month, day, year in parts})
    if not day_first:
        return _DateFormat(Dates(format=f"%m{mark}%d{mark}%Y")) if month_first else None
    doubtful = month_first and mark != "."
    note = "; day and month cannot be told apart, so check the format" if doubtful else ""
    return _DateFormat(Dates(format=f"%d{mark}%m{mark}%Y"), note)


def _format_with_time(matches: list[re.Match[str]]) -> _DateFormat | None:
    if not _exist({(int(match[1]), int(match[2]), int(match[3])) for match in matches}):
        return None
    structures = {(match[4], bool(match[5]), bool(match[6]), bool(match[7])) for match in matches}
    if len(structures) > 1 or any(match[6] and (len(match[6]) > 7 or not match[5]) for match in matches):
        return _DateFormat(_ISO_PREFIXES)
    ((mark, seconds, fraction, zone),) = structures
    time = "%H:%M" + ":%S" * seconds + ".%f" * fraction + "%z" * zone
    return _DateFormat(Dates(format=f"%Y-%m-%d{mark}{time}"))


def _exist(days: Iterable[tuple[int, int, int]]) -> bool:
    try:
        for year, month, day in days:
            datetime.date(year, month, day)
    except ValueError:
        return False
    return True


# Missing values

_MISSING_BESIDE_NUMBERS = ("NA", "na", "None", "none", "-", "--", "\u2013")
_MISSING_ANYWHERE = ("?", "N/A", "n/a", "#N/A", "NULL", "null", "(null)", "<NA>", "NaN", "nan", ".")
_SPELLINGS = _MISSING_ANYWHERE + _MISSING_BESIDE_NUMBERS
_MISSING = frozenset(_SPELLINGS)
_DIGITS = re.compile(r"[0-9]+")
_FLAG = re.compile(r"[01jnymfwtd]|yes|no|ja|nein|oui|non|s[i\u00ed]|true|false|(?:fe)?male", re.IGNORECASE)


def _is_regular(values: Sequence[str]) -> bool:
    """Whether all are numbers, dates, codes of digits, ICD codes, e-mail addresses, or yes and no."""
    if not values:
        return False
    shapes = (_FLAG, _DIGITS, _ICD, _THOUSANDS, *(shape for shape, _ in _PERSONAL_SHAPES))
    return (
        any(all(map(shape.fullmatch, values)) for shape in shapes)
        or any(_as_numbers(values, mark) is not None for mark in ".,")
        or _as_dates(values) is not None
    )


# What a name tells

_LETTERS = str.maketrans({"ß": "ss", "æ": "ae", "ø": "o", "œ": "oe", "ł": "l", "Ł": "L", "Ø": "O"})
_PERSONS = (
    "patient(?:en|in)?|person(?:al|en)?|subject|participant|proband(?:en)?|teilnehmer|customer|client|kunden?"
    "|cliente|user|member|mitglied|mitarbeiter|employee|student|pupil|citizen|owner|insured"
)


@dataclass(frozen=True)
class _Topic:
    """What columns of certain names are about."""

    role: Role
    what: str
    pattern: re.Pattern[str]


def _topic(role: Role, what: str, words: str, *parts: str) -> _Topic:
    """Recognise whole words, and parts of words in which ``_`` is a gap that may be there."""
    whole = rf"\b(?:{'|'.join(words.split())})\b"
    inside = "|".join(" ".join(parts).split()).replace("_", " ?")
    return _Topic(role, what, re.compile(f"{whole}|{inside}" if inside else whole))


_AGE = _topic(
    "quasi-identifying",
    "an age or a birth",
    "age ages alter edad dob yob born jahrgang",
    "birth geburt naissance nacimiento age_group altersgruppe",
)
_POSTCODE = _topic(
    "quasi-identifying", "a postcode", "zip plz zcta", "zip_code post_code postal postleitzahl"
)
_PLACE = _topic(
    "quasi-identifying",
    "a place",
    "city town village ort ville commune state land county kreis landkreis pays pais nuts lat lon lng",
    "wohnort stadt ciudad municip gemeinde region bundesland bezirk provinc canton kanton country",
    "district distrito departement location neighbo latitude longitude",
)

# The first that matches counts. What others may know needs no list to be found, as everything unknown is
# treated so; its lists keep the name of a city or a hospital from being taken for the name of a person.
_TOPICS = (
    _topic(
        "identifying",
        "a person's name",
        "surname initials",
        "first_name last_name family_name full_name given_name middle_name maiden_name birth_name",
        "name_at_birth nick_name user_name vorname nachname familienname geburtsname prenom apellido",
        rf"(?:{_PERSONS})_names?",
    ),
    _topic(
        "identifying",
        "a way to reach a person",
        "tel fax handy mail",
        "e_mail courriel correo_electronico phone telefon telephon mobile_n(?:o|r|um)",
    ),
    _topic(
        "identifying",
        "an official or account number",
        "ssn iban mrn nhs nif dni cpf curp svnr imei uuid guid",
        "social_security securite_sociale seguridad_social sozialversicherung passport passeport",
        "reisepass passnummer ausweis driv(?:er|ers|ing)_licen licen[cs]e_plate kfz_kennzeichen tax_id",
        "fue?hrerschein steuer_id steuernummer credit_card kreditkarte medical_record aktenzeichen",
        "pasaporte matrikel ip_address mac_address",
        "(?:insurance|policy|account|card|case|file|record|membership|tax)_(?:numbers?|no|nr)\\b",
        "(?:versicherungs|versicherten|konto|fall|akten|mitglieds)_(?:nummer|nr)\\b",
        rf"(?:{_PERSONS})_(?:ids?|nr|nbr|no|num|numbers?|nummer|key|code)\b",
        rf"\b(?:id|nr|no|num|numero|code|codigo)_(?:{_PERSONS})\b",
    ),
    _AGE,
    _POSTCODE,
    _topic(
        "sensitive",
        "a matter of health",
        "condition conditions drug drugs mental aids operation died death tod",
        "diagnos disease illness krankheit erkrankung maladie enfermedad icd symptom treatment",
        "behandlung traitement tratamiento therap terapia medication medikament medicament",
        "wirkstoff comorbid cancer krebs tumou?r hiv diabet depress psych disab behinder handicap",
        "discapac pregnan schwanger grossesse embaraz abortion befund ergebnis result smok raucher",
        "alcohol alkohol alcool allerg surgery surgical procedure genotyp mutation vaccin impf outcome",
        "fumeur fumador medicacion prescription prognos blood blut health gesundheit sante salud cholester",
        "gluco hb_a_1_c patholog patolog",
    ),
    _topic(
        "sensitive",
        "income or wealth",
        "wage wages lohn pay bonus sueldo revenu revenus",
        "salar salaire income einkommen gehalt verdienst stundenlohn ingresos earning debt schulden",
        "deuda credit kredit loan wealth vermogen vermoegen patrimo",
    ),
    _topic(
        "sensitive",
        "a belief or a political opinion",
        "faith glaube vote voted party partei",
        "religi konfession politic politik politis politique trade_union gewerkschaft syndicat sindicato",
    ),
    _topic("sensitive", "sexual life", "orientation", "sexual sexuell sexuel"),
    _topic(
        "sensitive",
        "an offence or a punishment",
        "sentence offence offense delit delito haft",
        "crimin krimin arrest convict straf prison felony",
    ),
    _topic("quasi-identifying", "sex or gender", "sex gender sexe sexo geschlecht genre genero"),
    _PLACE,
    _topic(
        "quasi-identifying",
        "origin or language",
        "race raza native origin",
        "ethni nationalit nacionalidad staatsangeh staatsburg citizenship ciudadania herkunft migration",
        "language sprache langue idioma",
    ),
    _topic(
        "quasi-identifying",
        "family and household",
        "civil married spouse",
        "marital matrimon familienstand zivilstand relationship child kinder enfant hijos household",
        "haushalt hogar",
    ),
    _topic(
        "quasi-identifying",
        "education",
        "degree",
        "educa bildung school schul abschluss diplom escolar estudi etudes universi qualifi",
    ),
    _topic(
        "quasi-identifying",
        "work",
        "job jobs metier",
        "occupation ocupacion profession profesion beruf work_class employ arbeit emploi empleo trabajo",
        "industry branche tatigkeit taetigkeit hours_per_week",
    ),
    _topic(
        "quasi-identifying",
        "an institution",
        "ward station department abteilung",
        "hospital krankenhaus klini clini hopital insur versicher krankenkasse",
    ),
    _topic(
        "identifying",
        "a street address",
        "rue calle addr",
        "address adress anschrift street strasse domicil direccion hausnummer house_number",
    ),
)
_NAME = re.compile(r"\b(?:names?|namen|nom|noms|nombres?)\b")
_FREE_TEXT = re.compile(
    r"\b(?:comments?|notes?|notiz|notizen|remarks?|freitext)\b"
    "|free ?text|bemerkung|kommentar|commentaire|comentario|observacion"
)
_IDENTIFIER = re.compile(
    rf"\b(?:ids?|pid|uid|identifier|identifiant|identificador|kennung)\b|^(?:{_PERSONS})$"
)
_NUMBERED = re.compile(
    r"\b(?:codes?|nr|nbr|no|num|number|nummer|numero|index|idx|row|unnamed|key|ref|reference)\b"
)


def _folded(name: str) -> str:
    """Return a name as plain words: ``PatientenID``, ``Prénom``, ``date_of-birth`` without their dress."""
    plain = unicodedata.normalize("NFKD", name.translate(_LETTERS)).encode("ascii", "ignore").decode()
    return " ".join(re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+", plain)).lower()


# What name and values tell together

_ICD = re.compile(r"[A-Z][0-9][0-9A-Z](?:\.?[0-9A-Z]{1,4})?[-+*!\u2020]?")
_CODE_OF_PLACE = re.compile(r"[0-9]{4,6}")
_LONG_NUMBER = re.compile(r"[0-9]{9,}")
_PHONE = re.compile(r"[+(]?[0-9][0-9 ()/.\-]{5,18}[0-9]")
_PERSONAL_SHAPES = (
    (re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+"), "an e-mail address"),
    (re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"), "a universally unique identifier"),
    (re.compile(r"[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?"), "an account number"),
)
_POINTS = "so it points at one person"
_UNKNOWN = "unknown to us, so treated as knowable by others"


def _guess(column: _Evidence) -> Guess:
    role, reason = _role(column)
    kind, hierarchy = _kind_and_hierarchy(column)
    generalizes = role in ("quasi-identifying", "sensitive")
    note = column.dates.note if column.dates and generalizes else ""
    return Guess(
        name=column.name,
        role=role,
        kind=kind,
        hierarchy=hierarchy if generalizes else None,
        reason=f"{reason}{note}.",
        n_distinct=column.n_distinct,
        n_missing=column.n_missing,
        kind_in_table=column.kind_in_table,
    )


def _role(column: _Evidence) -> tuple[Role, str]:
    topic = column.topic
    if topic and topic.role == "identifying":
        return "identifying", f"Named like {topic.what}, {_POINTS}"
    if column.is_constant:
        return "insensitive", "The same in every record, so it tells nobody apart"
    pointing = _points_by_shape(column) or _points_by_name(column) or _points_by_uniqueness(column)
    if pointing:
        return "identifying", f"{pointing}, {_POINTS}"
    if topic and topic.role == "sensitive" and not column.dates:
        return "sensitive", f"Named like {topic.what}, which others should not learn"
    if topic and topic.role == "quasi-identifying":
        return "quasi-identifying", f"Named like {topic.what}, which others may know"
    return _role_by_values(column)


def _points_by_shape(column: _Evidence) -> str:
    shapes = (what for shape, what in _PERSONAL_SHAPES if column.looks_like(shape))
    return next((f"Written like {what}" for what in shapes), "")


def _points_by_name(column: _Evidence) -> str:
    """Return the reason to take a column for identifying by words that also occur in other names."""
    if column.dates:
        return ""
    if _IDENTIFIER.search(column.words):
        repeats = column.topic is None and column.n_distinct > 2 and not column.is_widely_shared
        return "Named like an identifier" if column.is_nearly_unique or repeats else ""
    if column.topic:
        return ""
    if column.numbers is None and _NAME.search(column.words):
        return "Named like a person's name"
    if column.numbers is None and _FREE_TEXT.search(column.words):
        return "Named like free text, which may name people"
    if column.n_distinct >= 10 and column.is_nearly_unique and _NUMBERED.search(column.words):
        return "Named like a running number or a code, with one of its own for nearly every record"
    return ""


def _points_by_uniqueness(column: _Evidence) -> str:
    """Return the reason to take values for identifying that (nearly) every record has for itself alone."""
    if column.topic or column.dates or column.is_icd or not column.is_nearly_unique:
        return ""
    if column.numbers is not None:
        return "A number of its own for every record" if _is_numbering(column, column.numbers) else ""
    if column.all_like(_THOUSANDS):
        return ""
    if column.looks_like(_PHONE):
        return "Written like a phone or account number of its own for nearly every record"
    return "A text of its own for nearly every record" if column.n_distinct >= 10 else ""


def _is_numbering(column: _Evidence, numbers: Floats) -> bool:
    """Whether records are numbered, without a gap or with many digits; a measurement is not like that."""
    if column.n_distinct < 20 or column.n_distinct < column.n_present:
        return False
    span = float(numbers.max()) - float(numbers.min())
    has_no_gap = bool((numbers % 1 == 0).all()) and span + 1 == len(numbers)
    return has_no_gap or (column.has_fixed_width and column.all_like(_LONG_NUMBER))


def _role_by_values(column: _Evidence) -> tuple[Role, str]:
    if column.dates:
        return "quasi-identifying", "Dates, which others may know"
    if column.is_icd:
        return "sensitive", "Written like ICD codes of diagnoses, which others should not learn"
    if column.numbers is not None:
        return "quasi-identifying", f"Numbers {_UNKNOWN}"
    if column.all_like(_THOUSANDS):
        return "quasi-identifying", f"Numbers with marks that cannot be read as they are, {_UNKNOWN}"
    if column.n_distinct <= 20:
        return "quasi-identifying", f"A few categories {_UNKNOWN}"
    return "quasi-identifying", f"Texts or codes that records share, {_UNKNOWN}"


# Kinds and hierarchies


def _kind_and_hierarchy(column: _Evidence) -> tuple[Kind, HierarchySource | None]:
    if column.dates:
        return "categorical", column.dates.hierarchy
    if column.topic is _POSTCODE or _is_code_of_place(column):
        width = max(map(len, column.values), default=0)
        lengths = tuple(range(min(width - 1, 5), 1, -1))
        return "categorical", Prefixes(lengths) if lengths else None
    if column.numbers is not None:
        return "numeric", _intervals(column, column.numbers)
    if column.all_like(_ICD) and (column.is_icd or "icd" in column.words):
        return "categorical", Prefixes((3, 1) if max(map(len, column.values)) > 3 else (1,))
    return "categorical", None


def _is_code_of_place(column: _Evidence) -> bool:
    """Whether these are four to six digits each, which the name or the leading zeros show to be a code."""
    is_code = column.topic is _PLACE or (column.topic is None and column.numbers is None)
    return is_code and column.has_fixed_width and column.all_like(_CODE_OF_PLACE)


def _intervals(column: _Evidence, numbers: Floats) -> Intervals | None:
    """Return widths that double from about a sixteenth of the range in which nearly all records lie."""
    low, high = (float(numbers.min()), float(numbers.max())) if len(numbers) else (0.0, 0.0)
    span, whole = high - low, bool((numbers % 1 == 0).all())
    if not 1e-9 * max(1.0, abs(low), abs(high)) < span < 1e15:
        return None  # one value, or a range in which widths could not be written in a few digits
    is_age = column.topic is _AGE and whole and 10 < span < 150
    if column.n_distinct < 8 and not is_age:
        return None
    narrowest = 5.0 if is_age else _rounded_width(_central_span(numbers, column.counts) / 16)
    doubled = (max(narrowest, float(whole)) * 2**step for step in range(5))
    widths = [_short(width) for width in doubled if width < span and (width >= 2 or not whole)][:4]
    return Intervals(tuple(widths)) if widths else None


def _central_span(numbers: Floats, counts: Integers) -> float:
    """Return the range of the records but for two in a hundred at either end, which may be outliers."""
    order = np.argsort(numbers)
    below = np.cumsum(counts[order])
    low, high = numbers[order][np.searchsorted(below, (0.02 * below[-1], 0.98 * below[-1]))]
    return float(high - low or numbers.max() - numbers.min())


def _rounded_width(width: float) -> float:
    """Return the nearest of 1, 2, 5, 10, 20, 50, … and their fractions.

    Examples
    --------
    >>> [_rounded_width(width) for width in (0.06, 1.2, 3.4, 6.1, 92_000.0)]
    [0.05, 1.0, 5.0, 5.0, 100000.0]
    """
    power = math.floor(math.log10(width))
    candidates = (float(f"{factor}e{power}") for factor in (1, 2, 5, 10))
    return min(candidates, key=lambda candidate: abs(math.log(candidate / width)))


def _short(width: float) -> float:
    return int(width) if width.is_integer() else float(f"{width:.12g}")


# The project file

_HEADER = """\
# A sfumato project: what to read, what to try, what to measure, and what must hold.
#
# The roles are guesses from names and values. Confirm the roles, then run: sfumato explore FILE
#   identifying        points at one person by itself and is never released
#   quasi-identifying  others may know it, and together with the rest it may point at one person
#   sensitive          what nobody should learn about one person
#   insensitive        none of these; it is released as it is
"""
_NO_SENSITIVE = """\
# No sensitive attribute was found. Measures of attribute disclosure (privacy-loss, knowledge-gain,
# accuracy-gain) and models such as t-closeness need one: give it role = "sensitive".
"""
_NO_QUASI_IDENTIFIER = """\
# No quasi-identifying attribute was found, so there is nothing to generalize: give one that role and
# add [[try]] with sanitizer = "mondrian".
"""
_SWEPT = "# Lists are swept: every combination is a candidate.\n"
_POLICY = """\
# [policy]                            # what must hold before anything may be published
# reidentification-risk = { at-most = 0.09 }
"""
_ATTRIBUTE_DISCLOSURE = ("privacy-loss", "knowledge-gain", "accuracy-gain", "reidentification-risk")
_IDENTITY_DISCLOSURE = ("reidentification-risk", "k-anonymity", "weighted-k")
_LOSSES = ("general-loss", "suppression-loss", "total-loss", "discernibility")
_K = (2, 3, 5, 10, 20, 50, 100, 200)
_K_BESIDE_T = (2, 5, 20)
_T = (0.1, 0.2, 0.3, 0.4, 0.5)


def project_text(
    data_path: str,
    guesses: Iterable[Guess],
    *,
    n_records: int,
    missing_values: Iterable[str] = (),
    decimal: str = ".",
    dialect: Mapping[str, str] | None = None,
) -> str:
    """Return the text of a commented project file that says what was guessed and tries the usual.

    Parameters
    ----------
    data_path
        The file with the records, as the project file should name it.
    guesses
        One for each column.
    n_records
        How many records there are, which decides the values of k to try.
    missing_values, decimal
        How the file spells missing values and decimal numbers.
    dialect
        ``separator``, ``encoding`` and ``quote`` where they should not be sniffed.

    Examples
    --------
    >>> table = Table.from_arrow({"age": ["31", "42", "57"], "diagnosis": ["E11.9", "I10", "E11.9"]})
    >>> written = project_text("patients.csv", guess(table), n_records=3)
    >>> 'role = "sensitive"' in written
    True
    """
    guesses = tuple(guesses)
    roles = {column.role for column in guesses}
    return "\n".join(
        [
            _HEADER,
            _data_section(data_path, tuple(missing_values), decimal, dialect or {}),
            *map(_attribute_section, guesses),
            *_tries(roles, n_records),
            _measure_section("sensitive" in roles),
            _POLICY,
        ]
    )


def _data_section(path: str, missing_values: Sequence[str], decimal: str, dialect: Mapping[str, str]) -> str:
    lines = ["[data]", f"path = {_toml(path)}"]
    lines += [f"{key} = {_toml(value)}" for key, value in dialect.items()]
    lines.append('missing = "category"                 # or "drop"')
    if missing_values:
        lines += ["# read as missing in every column:", f"missing-values = {_toml(missing_values)}"]
    if decimal != ".":
        lines.append(f"decimal = {_toml(decimal)}")
    return "\n".join(lines) + "\n"


def _attribute_section(column: Guess) -> str:
    reason = "".join(sign if sign.isprintable() else " " for sign in column.reason)
    lines = [f"# {reason}", f"[attributes.{_key(column.name)}]", f"role = {_toml(column.role)}"]
    if column.kind == "numeric" or column.kind != column.kind_in_table:
        lines.append(f"kind = {_toml(column.kind)}")
    match column.hierarchy:
        case Intervals(widths):
            lines.append(f"hierarchy = {{ intervals = {_toml(widths)} }}")
        case Prefixes(lengths):
            lines.append(f"hierarchy = {{ prefixes = {_toml(lengths)} }}")
        case Dates(units, format_):
            lines.append(f"hierarchy = {{ dates = {_toml(units)}, format = {_toml(format_)} }}")
    return "\n".join(lines) + "\n"


def _tries(roles: set[Role], n_records: int) -> list[str]:
    if "quasi-identifying" not in roles:
        return [_NO_QUASI_IDENTIFIER + _try("as-is")]
    blocks = [_SWEPT + _try("suppress-quasi-identifiers"), _try("as-is")]
    # with less than four classes to make there is hardly a choice, and with less than two none
    ks = [k for k in _K if k <= max(n_records / 4, 2)] if n_records >= 4 else []
    if ks:
        blocks.append(_try("mondrian", f"k-anonymity = {{ k = {_toml(ks)} }}"))
    if ks and "sensitive" in roles:
        few = [k for k in ks if k in _K_BESIDE_T]
        both = f"k-anonymity = {{ k = {_toml(few)} }}, t-closeness = {{ t = {_toml(_T)} }}"
        blocks.append(_try("mondrian", both))
    return blocks


def _try(sanitizer: str, model: str = "") -> str:
    return f"[[try]]\nsanitizer = {_toml(sanitizer)}\n" + (f"model = {{ {model} }}\n" if model else "")


def _measure_section(has_sensitive: bool) -> str:
    privacy = _ATTRIBUTE_DISCLOSURE if has_sensitive else _IDENTITY_DISCLOSURE
    note = "" if has_sensitive else _NO_SENSITIVE
    return f"{note}[measure]\nprivacy = {_toml(privacy)}\nutility = {_toml(_LOSSES)}\n"


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _toml(name)


def _toml(value: str | float | Sequence[str] | Sequence[float]) -> str:
    """Write a text, a number or a list of them in TOML, which shares its escapes with JSON but for one."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, (int, float)):
        return text(value) or ""
    return "[" + ", ".join(_toml(item) for item in value) + "]"
