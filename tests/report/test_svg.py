"""SVG: one clean element, text that stays text, and no traces in matplotlib's settings."""

from __future__ import annotations

import re
import threading
from typing import Any
from xml.etree import ElementTree

from sfumato.report.svg import draw_svg

SVG = "{http://www.w3.org/2000/svg}"


def draw(axes: Any) -> None:
    axes.scatter([1, 2, 3], [3, 1, 2])
    axes.set_xlabel("between <ends> & $x$")


def drawn(name: str = "example", description: str = "Three points") -> str:
    return draw_svg(name, description, 2.0, draw)


def test_a_drawing_is_one_element_without_prolog_links_or_style_sheet() -> None:
    svg = drawn()
    root = ElementTree.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    assert set(root.attrib) == {"viewBox", "role", "aria-label", "stroke-linejoin"}
    for unwanted in ("<?xml", "<!DOCTYPE", "<style", "xlink", "<metadata"):
        assert unwanted not in svg
    assert svg.count("http") == 1, "only the namespace"


def test_text_stays_text_in_the_reader_s_font() -> None:
    texts = list(ElementTree.fromstring(drawn()).iter(f"{SVG}text"))
    assert "between <ends> & $x$" in [text.text for text in texts]
    assert all(text.get("font-family", "").startswith("system-ui") for text in texts)


def test_a_page_that_forbids_styles_shows_it_all_the_same() -> None:
    svg = drawn()
    assert "style=" not in svg
    assert ' fill="' in svg


def test_the_description_is_read_out_as_it_is() -> None:
    odd = '"><script>alert(1)</script> & more'
    assert ElementTree.fromstring(drawn(description=odd)).get("aria-label") == odd
    assert "<script" not in drawn(description=odd)


def test_places_have_two_decimals_at_most() -> None:
    root = ElementTree.fromstring(drawn())
    places = [element.get(name, "") for element in root.iter() for name in ("d", "x", "y")]
    assert any(places)
    assert not any(re.search(r"\.\d{3}", place) for place in places)


def test_ids_are_their_own_in_drawings_of_different_names() -> None:
    first, second = (set(re.findall(r' id="([^"]+)"', drawn(name))) for name in ("first", "second"))
    assert first
    assert not first & second


def test_drawing_leaves_the_settings_of_others_alone() -> None:
    import matplotlib

    matplotlib.rcParams["font.size"] = 31
    try:
        before = dict(matplotlib.rcParams)
        first = drawn()
        assert dict(matplotlib.rcParams) == before
    finally:
        matplotlib.rcdefaults()
    assert drawn() == first, "nor do they matter"


def test_several_threads_may_draw() -> None:
    done: list[str] = []
    threads = [threading.Thread(target=lambda: done.append(drawn())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(done) == {drawn()}
    assert len(done) == 4
