"""Load the HTML templates of sfumato. All values are escaped and shown as text."""

from __future__ import annotations

import jinja2
from markupsafe import Markup


def html_templates(*packages: str) -> jinja2.Environment:
    """Return the templates that lie in these packages, the first one's before the others'."""
    return jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(package) for package in packages]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def inline_picture(svg: str) -> Markup:
    """Take one of our charts into a page, where an element needs no namespace."""
    return Markup(svg.replace(' xmlns="http://www.w3.org/2000/svg"', "", 1))
