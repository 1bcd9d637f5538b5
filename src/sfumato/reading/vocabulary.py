"""The English, German, French and Spanish words in a column name that reveal its topic."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from sfumato.data.schema import Role

_LETTERS = str.maketrans({"ß": "ss", "æ": "ae", "ø": "o", "œ": "oe", "ł": "l", "Ł": "L", "Ø": "O"})
_PERSONS = (
    "patient(?:en|in)?|person(?:al|en)?|subject|participant|proband(?:en)?|teilnehmer|customer|client|kunden?"
    "|cliente|user|member|mitglied|mitarbeiter|employee|student|pupil|citizen|owner|insured"
)
_THINGS = (
    "movies?|films?|items?|products?|produkte?|productos?|produits?|articles?|artikel|articulos?|books?|songs?"
    "|tracks?|albums?|videos?|games?|posts?|pages?|courses?|devices?|sensors?|vehicles?|categor(?:y|ies)|brands?"
    "|shops?|stores?"
)
_NUMBERS = "ids?|nr|nbr|no|num|numbers?|nummer|key|code"


@dataclass(frozen=True)
class Topic:
    """The topic of columns with certain names."""

    role: Role
    what: str
    pattern: re.Pattern[str]


def _topic(role: Role, what: str, words: str, *parts: str) -> Topic:
    """Build a topic from whole words, and from parts of words in which ``_`` is an optional gap."""
    words_pattern = rf"\b(?:{'|'.join(words.split())})\b"
    inside = "|".join(" ".join(parts).split()).replace("_", " ?")
    return Topic(role, what, re.compile(f"{words_pattern}|{inside}" if inside else words_pattern))


AGE = _topic(
    "quasi-identifying",
    "an age or a birth",
    "age ages alter edad dob yob born jahrgang",
    "birth geburt naissance nacimiento age_group altersgruppe",
)
"""Ages and births, which come in years."""
POSTCODE = _topic("quasi-identifying", "a postcode", "zip plz zcta", "zip_code post_code postal postleitzahl")
"""Postcodes, which are codes though they look like numbers."""
YEAR = _topic("quasi-identifying", "a year", "year years yr jahr annee ano")
"""Years of something else than a birth."""
PLACE = _topic(
    "quasi-identifying",
    "a place",
    "city town village ort ville commune state land county kreis landkreis pays pais nuts lat lon lng",
    "wohnort stadt ciudad municip gemeinde region bundesland bezirk provinc canton kanton country",
    "district distrito departement location neighbo latitude longitude",
)
"""Places, by name, code or coordinates."""
SEX = _topic(
    "quasi-identifying",
    "sex or gender",
    "sex gender sexe sexo geschlecht genre genero female male weiblich mannlich",
)
"""Sex or gender."""
ORIGIN = _topic(
    "quasi-identifying",
    "origin or language",
    "race raza native origin black white hispanic latino",
    "ethni nationalit nacionalidad staatsangeh staatsburg citizenship ciudadania herkunft migration",
    "language sprache langue idioma",
)
"""Where somebody comes from."""
FAMILY = _topic(
    "quasi-identifying",
    "family and household",
    "civil married spouse family famsize",
    "marital matrimon familienstand zivilstand relationship child kinder enfant hijos household",
    "haushalt hogar",
)
"""With whom somebody lives."""
EDUCATION = _topic(
    "quasi-identifying",
    "education",
    "degree",
    "educ bildung school schul abschluss diplom escolar estudi etudes universi qualifi",
)
"""What somebody learned."""
WORK = _topic(
    "quasi-identifying",
    "work",
    "job jobs metier",
    "occupation ocupacion profession profesion beruf work_class employ arbeit emploi empleo trabajo",
    "industry branche tatigkeit taetigkeit hours_per_week",
)
"""What somebody does."""
OF_PEOPLE = (AGE, POSTCODE, PLACE, SEX, ORIGIN, FAMILY, EDUCATION, WORK)
"""What neighbours and registers know of a person."""

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
    AGE,
    POSTCODE,
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
        "gluco hb_a_1_c patholog patolog injur verletz hlth",
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
    SEX,
    PLACE,
    ORIGIN,
    FAMILY,
    EDUCATION,
    WORK,
    _topic(
        "quasi-identifying",
        "an institution",
        "ward station department abteilung",
        "hospital krankenhaus klini clini hopital insur versicher krankenkasse",
    ),
    YEAR,
    _topic(
        "identifying",
        "a street address",
        "rue calle addr",
        "address adress anschrift street strasse domicil direccion hausnummer house_number",
    ),
)
NAME = re.compile(r"\b(?:names?|namen|nom|noms|nombres?)\b")
"""Words for a name, a person's unless a topic says whose."""
FREE_TEXT = re.compile(
    r"\b(?:comments?|notes?|notiz|notizen|remarks?|freitext)\b"
    "|free ?text|bemerkung|kommentar|commentaire|comentario|observacion"
)
"""Words for free text."""
IDENTIFIER = re.compile(
    rf"\b(?:ids?|pid|uid|identifier|identifiant|identificador|kennung)\b|^(?:{_PERSONS})$"
)
"""Words for an identifier, or a person and nothing else."""
PERSON = re.compile(
    rf"\b(?:{_PERSONS}) ?(?:ids?|nr|nbr|no|num|numbers?|nummer|key|code)\b"
    rf"|\b(?:id|nr|no|num|numero|code|codigo) ?(?:{_PERSONS})\b"
    rf"|\b(?:ids?|pid|uid|mrn|ssn|nhs|svnr|identifier|identifiant|identificador|kennung)\b|^(?:{_PERSONS})$"
)
"""Words for the number of a person."""
NAMED_PERSON = re.compile(rf"\b(?:{_PERSONS})\b")
"""Words for a person, which tell more than *id* alone."""
THING = re.compile(
    rf"\b(?:{_THINGS}) ?(?:{_NUMBERS})\b|\b(?:id|nr|no|num|numero|code|codigo) ?(?:{_THINGS})\b"
)
"""Words for the number of a thing, which is nobody's own."""
HOUSEHOLD = re.compile(
    r"\b(?:households?|hh|hhid|haushalts?|famil(?:y|ies)|familien?|menage|hogar|dwelling|site|centre|center)\b"
)
"""Words for several people together."""
NUMBERED = re.compile(
    r"\b(?:codes?|nr|nbr|no|num|number|nummer|numero|index|idx|row|unnamed|key|ref|reference)\b"
)
"""Words for a running number or a code."""

SURVEY_WEIGHT = re.compile(
    r"\b(?:perwt|hhwt|wtfinl|asecwt|fnlwgt|pwgtp|wgtp|finalwt|pweight|pwt|wtmec2yr|wtint2yr|pspwght|dweight)\b"
    "|(?:survey|sampl(?:e|ing)|design|person|household|final|post ?stratification) ?(?:weight|wgt|wt)"
    "|expansion ?factor|factor ?(?:de )?expansion|hochrechnung|ponderation|ponderacion|poids ?de ?sondage"
)
"""Words for survey weights and nothing else."""
WEIGHT = re.compile(r"\b(?:weights?|wgt|wt|gewicht|gewichtung|poids|peso|pesos)\b")
"""Words for a weight, of a record or of a body."""
HOUSEHOLD_NUMBER = re.compile(
    r"\b(?:hh|household|haushalts?|menage|hogar|family|familien?) ?(?:ids?|no|nr|num|number|nummer|numero)\b"
    r"|\b(?:hhid|idhh|hhidp?n|haushaltsnummer|id ?(?:hogar|menage|haushalt|household))\b"
)
"""Words for the number of a household."""


def topic_of(words: str) -> Topic | None:
    """Return the first topic whose words occur in a name, in the form that `folded` returns."""
    return next((topic for topic in _TOPICS if topic.pattern.search(words)), None)


def folded(name: str) -> str:
    """Return a name as plain words, without case, accents and separators: ``PatientenID``, ``Prénom``."""
    plain = unicodedata.normalize("NFKD", name.translate(_LETTERS)).encode("ascii", "ignore").decode()
    return " ".join(re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+", plain)).lower()
