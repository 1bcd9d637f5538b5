"""What can go wrong, as one tree.

::

    SfumatoError              anything that sfumato raises on purpose
    ├── UserError             exit 1: what was given cannot be used; the message names the remedy
    │   ├── DataError         a file or a column
    │   ├── SchemaError       a role, a kind or an attribute
    │   ├── HierarchyError    a hierarchy
    │   ├── ParameterError    a method's name or parameter
    │   ├── ProjectError      a key of the project file
    │   ├── StoreError        the store of candidates
    │   └── MethodFailed      a method that raises, or returns what cannot be used
    ├── Stopped               work that was asked to end early; never shown
    ├── PolicyNotMet          exit 2: the release exists but may not be published
    ├── VerificationFailed    exit 2: a published folder is not what its manifest says
    ├── Infeasible            exit 3: no release can satisfy what was asked
    └── CannotTell            exit 4: a published folder of a format that a later version of sfumato reads

A message is one line and never shows a record's value.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

MOST_OF_GIVEN = 200
"""So many characters of what was given are shown in a message."""
_MOST_OF_ALL = 1_000
_QUOTED = r"(?<!\w)(?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")(?!\w)"
_LONG = re.compile(
    rf"(?<!\w)(?:'(?:[^'\\]|\\.){{{MOST_OF_GIVEN - 1},}}'|\"(?:[^\"\\]|\\.){{{MOST_OF_GIVEN - 1},}}\")(?!\w)"
    rf"|\S{{{MOST_OF_GIVEN + 1},}}|[^,;:'\"()]{{{MOST_OF_GIVEN + 1},}}"
)
_LONG_LIST = re.compile(rf"(?:{_QUOTED}|[^\s,;:'\"]+)(?:, (?:{_QUOTED}|[^\s,;:'\"]+)){{4,}}")


def printable(text: str, *, kept: str = "") -> str:
    r"""Return a text in which what could steer a terminal, or cannot be seen, is an escape as in JSON.

    Parameters
    ----------
    text
        The text.
    kept
        Signs that stay as they are all the same.

    Examples
    --------
    >>> print(printable("b\x1b[2Jad\x7f\n"))
    b\u001b[2Jad\u007f\u000a
    """
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() or sign in kept else _escape(sign) for sign in text)


def _escape(sign: str) -> str:
    units = sign.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[place : place + 2].hex()}" for place in range(0, len(units), 2))


def shortened(text: str, given: Iterable[str] = ()) -> str:
    """Return a message with at most `MOST_OF_GIVEN` characters of each thing that was given.

    Nobody reads a name of a thousand letters, and it would push the remedy off the screen. What was given is
    in quotation marks, or a single word, or a list of words, or a name with blanks that is longer than any
    clause of ours. A message that is still too long can only consist of what was given.

    Parameters
    ----------
    text
        The message.
    given
        Texts that were given and may stand in the message without quotation marks.

    Examples
    --------
    >>> print(shortened("no column 'x" + "y" * 5000 + "z'; check the name")[:30])
    no column 'xyyyyyyyyyyyyyyyyyy
    >>> len(shortened("no column 'x" + "y" * 5000 + "z'; check the name"))
    226
    """
    for words in given:
        if len(words) > MOST_OF_GIVEN:
            text = text.replace(words, _cut(words))
    text = _LONG_LIST.sub(lambda match: _cut_list(match[0]), _LONG.sub(lambda match: _cut(match[0]), text))
    return text if len(text) <= _MOST_OF_ALL else _cut(text)


def _cut(given: str) -> str:
    """Keep the beginning and the end, which tell names apart."""
    return f"{given[: MOST_OF_GIVEN - 61]}…{given[-60:]}"


def _cut_list(given: str) -> str:
    return given if len(given) <= MOST_OF_GIVEN else f"{given[:MOST_OF_GIVEN].rpartition(', ')[0]}, …"


class SfumatoError(Exception):
    """Anything that sfumato raises on purpose."""

    exit_code = 1

    def __str__(self) -> str:
        """Return the message as one line, whatever the name of a file or a column holds."""
        return printable(shortened(super().__str__()))


class UserError(SfumatoError):
    """What was given cannot be used."""


class DataError(UserError):
    """A file or a column that cannot be used."""


class SchemaError(UserError):
    """A role, a kind or an attribute that does not fit the table."""


class HierarchyError(UserError):
    """A hierarchy that is not a tree or does not fit its attribute."""


class ParameterError(UserError):
    """An unknown method, or a parameter that it does not take."""


class ProjectError(UserError):
    """A key of the project file that is unknown, missing or wrong."""


class StoreError(UserError):
    """A store that cannot be opened, or a candidate that it does not hold."""


class MethodFailed(UserError):
    """A method that raises, or returns what cannot be used: told by kind, for its words may show a value."""


class Stopped(SfumatoError):
    """Work that ended early because whoever started it asked for that; it has no result."""


class PolicyNotMet(SfumatoError):
    """A release that the publisher's own policy forbids."""

    exit_code = 2


class VerificationFailed(SfumatoError):
    """A published folder that is not what its manifest says."""

    exit_code = 2


class Infeasible(SfumatoError):
    """A requirement that no release of this table can satisfy.

    Parameters
    ----------
    message
        One line.
    reached
        The level that was reached instead, where there is one.
    """

    exit_code = 3

    def __init__(self, message: str, reached: float | None = None) -> None:
        super().__init__(message)
        self.reached = reached

    def __reduce__(self) -> tuple[type[Infeasible], tuple[str, float | None]]:
        return type(self), (str(self), self.reached)


class CannotTell(SfumatoError):
    """A published folder that only a later version of sfumato can read."""

    exit_code = 4


@contextmanager
def words_before(words: str) -> Iterator[None]:
    """Put words before what is raised inside on purpose.

    Examples
    --------
    >>> with words_before("out was published"):
    ...     raise StoreError("the disk is full")
    Traceback (most recent call last):
    sfumato.runtime.errors.StoreError: out was published: the disk is full
    """
    try:
        yield
    except SfumatoError as error:
        raise type(error)(f"{words}: {error}") from None


def suggestion(given: str, allowed: Iterable[str]) -> str:
    """Return ``; did you mean 'x'?`` for the nearest allowed name, or an empty string.

    Examples
    --------
    >>> suggestion("mondrain", ["mondrian", "clustering"])
    "; did you mean 'mondrian'?"
    """
    near = difflib.get_close_matches(given, list(allowed), n=1, cutoff=0.6)
    return f"; did you mean {near[0]!r}?" if near else ""
