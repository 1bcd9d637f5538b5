"""Load the HTML templates of sfumato. All values are escaped and shown as text."""

from __future__ import annotations

import jinja2
from markupsafe import Markup


def html_templates(*packages: str) -> jinja2.Environment:
    """Return the templates in these packages; those of the first package take precedence."""
    return jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(package) for package in packages]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def inline_picture(svg: str) -> Markup:
    """Prepare one of our charts for a page, where an element needs no namespace."""
    return Markup(svg.replace(' xmlns="http://www.w3.org/2000/svg"', "", 1))
