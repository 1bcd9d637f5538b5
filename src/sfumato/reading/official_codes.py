"""Recognize columns of official codes and of ages in words, and supply their hierarchies."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sfumato.data.hierarchy import HierarchySource, Nested, Prefixes
from sfumato.data.schema import Role


@dataclass(frozen=True)
class Code:
    """What a column of codes contains.

    Parameters
    ----------
    role
        The usual role of such codes.
    what
        Their name, as the end of a sentence that begins with "Written like".
    hierarchy
        How they generalize.
    """

    role: Role
    what: str
    hierarchy: HierarchySource | None


def code_of(words: str, values: Sequence[str]) -> Code | None:
    """Return the official codes that a column holds, by its name and all of its values, if any."""
    if not values:
        return None
    matches = (recognised(words, values) for recognised in _KINDS)
    return next((code for code in matches if code is not None), None)


# Medicines and industries

_ATC = re.compile(r"[A-DGHJLMNPRSV][0-9]{2}[A-Z]{2}[0-9]{2}")
_INDUSTRY_NAME = re.compile(r"\b(?:nace|isic|naics|noga|sic|wz|isco|soc|kldb)\b")
_INDUSTRY = re.compile(r"[A-U]?[0-9]{1,6}|[A-U]?[0-9]{2}\.[0-9]{1,2}")
_FIPS_NAME = re.compile(r"\b(?:fips|geoid)\b")
_FIPS = re.compile(r"[0-9]{5}")


def _medicines(words: str, values: Sequence[str]) -> Code | None:
    if not all(map(_ATC.fullmatch, values)):
        return None
    what = "ATC codes of medicines, which others should not learn"
    return Code("sensitive", what, Prefixes((5, 4, 3, 1)))


def _industries(words: str, values: Sequence[str]) -> Code | None:
    if not _INDUSTRY_NAME.search(words) or not all(map(_INDUSTRY.fullmatch, values)):
        return None
    lengths = tuple(range(max(map(len, values)) - 1, 0, -1))
    what = "official codes of industries or occupations, which others may know"
    return Code("quasi-identifying", what, Prefixes(lengths) if lengths else None)


def _counties(words: str, values: Sequence[str]) -> Code | None:
    if not _FIPS_NAME.search(words) or not all(map(_FIPS.fullmatch, values)):
        return None
    return Code("quasi-identifying", "FIPS codes of counties, which others may know", Prefixes((2,)))


# Countries, by the codes of ISO 3166 and the regions of the United Nations' M49

_REGIONS = {
    "Africa": """
        DZ DZA AO AGO BJ BEN BW BWA BF BFA BI BDI CV CPV CM CMR CF CAF TD TCD KM COM CG COG CD COD
        CI CIV DJ DJI EG EGY GQ GNQ ER ERI SZ SWZ ET ETH GA GAB GM GMB GH GHA GN GIN GW GNB KE KEN
        LS LSO LR LBR LY LBY MG MDG MW MWI ML MLI MR MRT MU MUS YT MYT MA MAR MZ MOZ NA NAM NE NER
        NG NGA RE REU RW RWA SH SHN ST STP SN SEN SC SYC SL SLE SO SOM ZA ZAF SS SSD SD SDN TZ TZA
        TG TGO TN TUN UG UGA EH ESH ZM ZMB ZW ZWE""",
    "Americas": """
        AI AIA AG ATG AR ARG AW ABW BS BHS BB BRB BZ BLZ BM BMU BO BOL BQ BES BR BRA VG VGB CA CAN
        KY CYM CL CHL CO COL CR CRI CU CUB CW CUW DM DMA DO DOM EC ECU SV SLV FK FLK GF GUF GL GRL
        GD GRD GP GLP GT GTM GY GUY HT HTI HN HND JM JAM MQ MTQ MX MEX MS MSR NI NIC PA PAN PY PRY
        PE PER PR PRI BL BLM KN KNA LC LCA MF MAF PM SPM VC VCT SX SXM SR SUR TT TTO TC TCA US USA
        VI VIR UY URY VE VEN""",
    "Asia": """
        AF AFG AM ARM AZ AZE BH BHR BD BGD BT BTN BN BRN KH KHM CN CHN CY CYP GE GEO HK HKG IN IND
        ID IDN IR IRN IQ IRQ IL ISR JP JPN JO JOR KZ KAZ KW KWT KG KGZ LA LAO LB LBN MO MAC MY MYS
        MV MDV MN MNG MM MMR NP NPL KP PRK OM OMN PK PAK PS PSE PH PHL QA QAT KR KOR SA SAU SG SGP
        LK LKA SY SYR TW TWN TJ TJK TH THA TL TLS TR TUR TM TKM AE ARE UZ UZB VN VNM YE YEM""",
    "Europe": """
        AX ALA AL ALB AD AND AT AUT BY BLR BE BEL BA BIH BG BGR HR HRV CZ CZE DK DNK EE EST FO FRO
        FI FIN FR FRA DE DEU GI GIB GR GRC GG GGY VA VAT HU HUN IS ISL IE IRL IM IMN IT ITA JE JEY
        LV LVA LI LIE LT LTU LU LUX MT MLT MD MDA MC MCO ME MNE NL NLD MK MKD NO NOR PL POL PT PRT
        RO ROU RU RUS SM SMR RS SRB SK SVK SI SVN ES ESP SJ SJM SE SWE CH CHE UA UKR GB GBR XK XKX""",
    "Oceania": """
        AS ASM AU AUS CK COK FJ FJI PF PYF GU GUM KI KIR MH MHL FM FSM NR NRU NC NCL NZ NZL NU NIU
        NF NFK MP MNP PW PLW PG PNG PN PCN WS WSM SB SLB TK TKL TO TON TV TUV VU VUT WF WLF""",
}
_REGION_OF = {code: region for region, codes in _REGIONS.items() for code in codes.split()}


def _countries(words: str, values: Sequence[str]) -> Code | None:
    n_known = sum(value in _REGION_OF for value in values)
    if n_known < len(values) or len(values) < 3 or len({len(value) for value in values}) > 1:
        return None
    what = "ISO codes of countries, which others may know"
    return Code("quasi-identifying", what, Nested(_grouped(values, _REGION_OF.__getitem__)))


def _grouped(values: Sequence[str], group_of: Callable[[str], str]) -> Mapping[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for value in values:
        groups.setdefault(group_of(value), []).append(value)
    return groups


# Ages in words

_YEARS = re.compile(r"([0-9]{1,3}) ?(?:y|yo|yrs?|years?(?: old)?|j\.?|jahre?|ans?|a\u00f1os?)", re.IGNORECASE)
_BAND = re.compile(
    r"(?:(?:<=?|>=?|under|over|unter|\u00fcber|ab|bis) ?)?([0-9]{1,3})"
    r"(?: ?(?:-|\u2013|to|bis) ?[0-9]{1,3}| ?\+)?(?: (?:y|yrs?|years?|jahre?))?",
    re.IGNORECASE,
)
_OLDEST = 130


def _ages(words: str, values: Sequence[str]) -> Code | None:
    """Recognize ``31 years``, and bands such as ``20-29`` and ``65+`` if the name mentions an age."""
    in_years = _all(_YEARS, values)
    bands = _all(_BAND, values) if in_years is None and re.search(r"\b(?:age|alter|edad)", words) else None
    numbers = in_years or bands
    if numbers is None or max(numbers) > _OLDEST or all(value.isdecimal() for value in values):
        return None
    ordered = [value for _, value in sorted(zip(numbers, values, strict=True))]
    if in_years:
        decade_of = {value: number // 10 * 10 for value, number in zip(values, numbers, strict=True)}
        tree = _grouped(ordered, lambda value: f"{decade_of[value]} to {decade_of[value] + 9} years")
    else:
        tree = _pairs(ordered)
    return Code("quasi-identifying", "ages in words, which others may know", Nested(tree) if tree else None)


def _all(shape: re.Pattern[str], values: Sequence[str]) -> list[int] | None:
    matches = [shape.fullmatch(value) for value in values]
    return [int(match[1]) for match in matches if match] if all(matches) else None


def _pairs(ordered: Sequence[str]) -> Mapping[str, list[str]]:
    """Merge neighbours in pairs; with fewer than four bands there is no level in between."""
    if len(ordered) < 4:
        return {}
    pairs = [list(ordered[first : first + 2]) for first in range(0, len(ordered) - len(ordered) % 2, 2)]
    pairs[-1] += ordered[len(ordered) - len(ordered) % 2 :]
    return {f"{pair[0]} or {pair[-1]}": pair for pair in pairs}


_KINDS = (_medicines, _industries, _counties, _countries, _ages)
