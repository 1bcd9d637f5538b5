"""The writer of SVG: what it escapes, how it writes numbers, and bytes that depend on nothing else."""

from __future__ import annotations

import locale
import os
import re
import subprocess
import sys
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.workflow.report.charts.svg import (
    INK,
    MARKERS,
    Label,
    Marker,
    Style,
    decimal,
    element,
    escaped,
    text_width,
)

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=y>',
    "' onload='alert(1)",
    "a & b &amp; c",
    "]]><!--",
    "line\nbreak\tand\rmore",
    "\u202eright to left \u0645\u0631\u062d\u0628\u0627",
    "\u65e5\u672c\u8a9e \U0001f642",
)


@pytest.mark.parametrize("text", HOSTILE)
def test_attributes_and_texts_are_read_back_as_they_were_given(text: str) -> None:
    read = ElementTree.fromstring(element("text", {"data-name": text}, escaped(text)))
    assert read.get("data-name") == text
    assert (read.text or "").replace("\n", "") == re.sub(r"\r", "", text).replace("\n", "")
    assert list(read) == []


def test_characters_that_no_document_may_contain_are_replaced() -> None:
    read = ElementTree.fromstring(
        element("g", {"aria-label": "a\x00b\x1b\ud800\ufffe"}, escaped("\x07\uffff"))
    )
    assert read.get("aria-label") == "a\ufffdb\ufffd\ufffd\ufffd"
    assert read.text == "\ufffd\ufffd"


@given(st.floats(-1e6, 1e6))
def test_a_number_has_two_decimals_at_most_and_no_exponent(value: float) -> None:
    written = decimal(value)
    assert re.fullmatch(r"-?\d+(\.\d?[1-9])?", written)
    assert written != "-0"
    assert abs(float(written) - value) <= 0.005 + 1e-9


def test_what_is_not_drawn_is_not_written() -> None:
    assert Style().attributes == {"fill": "none"}
    assert Style(stroke=INK, width=2, dashes="6 2", opacity=0.5).attributes == {
        "fill": "none",
        "stroke": INK,
        "stroke-width": 2,
        "stroke-dasharray": "6 2",
        "opacity": 0.5,
    }


@pytest.mark.parametrize("shape", [*MARKERS, "<", ">", "X", "x", "bar"])
def test_a_marker_is_drawn_around_its_point_with_its_tooltip(shape: str) -> None:
    drawn = Marker(shape, 3, Style()).draw((20, 30.125), "a <title>")
    read = ElementTree.fromstring(drawn)
    assert read.get("transform") == "translate(20 30.12)"
    assert read[0].tag == "title"
    assert read[0].text == "a <title>"
    outline = [float(number) for number in re.findall(r"-?[\d.]+", read.get("d").replace("0 1 0", ""))]
    assert 2.4 < max(map(abs, outline)) <= 6


def test_markers_differ_from_each_other() -> None:
    outlines = {Marker(shape, 3, Style()).draw((0, 0)) for shape in (*MARKERS, "<", ">", "X", "x")}
    assert len(outlines) == len(MARKERS) + 4


def test_a_text_says_only_what_is_special_about_it() -> None:
    assert Label("a", (1, 2)).draw() == '<text x="1" y="5.42">a</text>'
    special = ElementTree.fromstring(Label("a", (1, 2), "end", INK, -90, has_halo=True).draw())
    assert special.attrib == {
        "x": "1",
        "y": "5.42",
        "transform": "rotate(-90 1 2)",
        "text-anchor": "end",
        "fill": INK,
        "stroke": "#ffffff",
        "stroke-width": "3",
        "paint-order": "stroke",
    }


@given(st.text(), st.text())
def test_the_width_of_a_text_is_that_of_its_letters(first: str, second: str) -> None:
    assert text_width(first + second) == pytest.approx(text_width(first) + text_width(second))
    assert text_width("iii") < text_width("nnn") < text_width("WWW") <= text_width("\u65e5\u672c\u8a9e")


DRAWING = """
import hashlib, locale, os, sys
locale.setlocale(locale.LC_ALL, os.environ["LC_ALL"])
from sfumato.workflow.report.charts.class_size_curves import class_size_curves, class_sizes_chart
drawn = class_sizes_chart([2, 5, 5, 80]) + class_size_curves({"b": range(1, 3000), "a": [7]})
print(hashlib.sha256(drawn.encode()).hexdigest())
"""


def test_bytes_depend_neither_on_the_locale_nor_on_the_hash_seed() -> None:
    names = ["C", "C.UTF-8"] + [name for name in ("de_DE.UTF-8", "tr_TR.UTF-8") if _is_known(name)]
    runs = {
        subprocess.run(
            [sys.executable, "-c", DRAWING],
            env={**os.environ, "LC_ALL": name, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed, name in enumerate(names)
    }
    assert len(runs) == 1


def _is_known(name: str) -> bool:
    before = locale.setlocale(locale.LC_ALL)
    try:
        locale.setlocale(locale.LC_ALL, name)
    except locale.Error:
        return False
    finally:
        locale.setlocale(locale.LC_ALL, before)
    return True
