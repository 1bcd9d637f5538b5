"""Attribute an exception to the plug-in that raised it, without showing its message."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sfumato.registry import methods
from sfumato.runtime.errors import DataError, HierarchyError, MethodFailed, SfumatoError


class MethodFails(UserWarning):
    """A method that fails; whatever does not need it goes on."""


@contextmanager
def blamed_on(method: object, *expected: type[Exception]) -> Iterator[None]:
    """Turn what a method raises, or its ``exit``, into one line that names it.

    What a method says of its own exception may show a record's value, so only the kind is told. In Python
    the exception itself is kept as the cause.

    Parameters
    ----------
    method
        What is at work. Another method that it uses is named instead, where that is at fault.
    expected
        Exceptions that are no faults, beside those that sfumato raises on purpose.

    Examples
    --------
    >>> from sfumato.sanitizers import Mondrian
    >>> with blamed_on(Mondrian()):
    ...     raise ValueError("Ann is 31")
    Traceback (most recent call last):
    ...
    sfumato.runtime.errors.MethodFailed: the sanitizer 'mondrian' raises ValueError; ...
    """
    try:
        yield
    except SfumatoError as error:
        if isinstance(error, _OF_THE_DATA) and methods.is_plugged_in(type(method)):
            raise failed(type(method), f"raises {type(error).__name__}") from error
        raise
    except (Exception, SystemExit) as error:
        if isinstance(error, expected):
            raise
        culprit = _culprit(error) or type(method)
        raise failed(culprit, f"raises {type(error).__name__}") from error


def failed(cls: type[Any], does: str) -> MethodFailed:
    """Return the exception that says what a method does, and the remedy.

    Parameters
    ----------
    cls
        The method.
    does
        What it does, beginning with a verb.
    """
    remedy = "repair or uninstall its plug-in" if methods.is_plugged_in(cls) else _OURS
    return MethodFailed(f"{named(cls)} {does}; {remedy}")


_OF_THE_DATA = (DataError, HierarchyError)
"""What no sound method meets in a table that was read and bound; these words may come from anywhere."""
_OURS = "report this fault of sfumato"


def named(cls: type[Any]) -> str:
    """Return what a method is and its name.

    Examples
    --------
    >>> from sfumato.models import KAnonymity
    >>> named(KAnonymity)
    "the model 'k-anonymity'"
    """
    return f"the {methods.kind_of(cls) or 'method'} {methods.name_of(cls)!r}"


def _culprit(error: BaseException) -> type[Any] | None:
    """Return the innermost method on the way to an exception, one that somebody else wrote before ours."""
    found: list[type[Any]] = []
    step = error.__traceback__
    while step is not None:
        cls = type(step.tb_frame.f_locals.get("self"))
        if methods.kind_of(cls) is not None:
            found.append(cls)
        step = step.tb_next
    plugged = [cls for cls in found if methods.is_plugged_in(cls)]
    return next(reversed(plugged or found), None)
