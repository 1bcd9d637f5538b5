"""Report a method that fails by its name and the kind of its exception, never by the exception's words."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from sfumato.registry import methods
from sfumato.runtime.errors import DataError, HierarchyError, MethodFailed, SfumatoError


class MethodFails(UserWarning):
    """A method that fails; whatever does not need it goes on."""


class OwnMethodFailed(MethodFailed):
    """A method of sfumato itself that fails; where a plug-in called it, the plug-in may be the reason."""


def blamed_on(method: object, *expected: type[Exception]) -> AbstractContextManager[None]:
    """Turn what a method raises, or its ``exit``, into one line that names it.

    The message of an exception may show a record's value, so only its kind is reported. In Python the
    exception itself is kept as the cause. The calls of a method within another one are wrapped as well:
    the innermost one is named, but a plug-in rather than the method of sfumato that it called.

    Parameters
    ----------
    method
        What is at work.
    expected
        Exceptions that are no faults, beside those that sfumato raises on purpose.

    Examples
    --------
    >>> from sfumato.sanitizers import Mondrian
    >>> with blamed_on(Mondrian()):
    ...     raise ValueError("Ann is 31")
    Traceback (most recent call last):
    ...
    sfumato.registry.plugin_errors.OwnMethodFailed: the sanitizer 'mondrian' raises ValueError; ...
    """
    return _Blame(method, expected)


class _Blame(AbstractContextManager[None]):
    """The context of `blamed_on`: a class, since a generator costs as much as the scores of a few classes."""

    __slots__ = ("_expected", "_method")

    def __init__(self, method: object, expected: tuple[type[Exception], ...]) -> None:
        self._method, self._expected = method, expected

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if error is None:
            return
        cls = type(self._method)
        if isinstance(error, SfumatoError):
            if isinstance(error, _NO_SOUND_METHOD_RAISES) and methods.is_plugged_in(cls):
                cause = error.__cause__ if isinstance(error, OwnMethodFailed) else None
                raise failed(cls, f"raises {type(cause or error).__name__}") from error
        elif isinstance(error, (Exception, SystemExit)) and not isinstance(error, self._expected):
            raise failed(cls, f"raises {type(error).__name__}") from error


def failed(cls: type[Any], does: str) -> MethodFailed:
    """Return the exception that says what a method does, and the remedy.

    Parameters
    ----------
    cls
        The method.
    does
        What it does, beginning with a verb.
    """
    if methods.is_plugged_in(cls):
        return MethodFailed(f"{named(cls)} {does}; repair or uninstall its plug-in")
    return OwnMethodFailed(f"{named(cls)} {does}; report this fault of sfumato")


_NO_SOUND_METHOD_RAISES = (DataError, HierarchyError, OwnMethodFailed)
"""What no sound plug-in meets in a table that was read and bound; these words may come from anywhere."""


def named(cls: type[Any]) -> str:
    """Return what a method is and its name.

    Examples
    --------
    >>> from sfumato.models import KAnonymity
    >>> named(KAnonymity)
    "the model 'k-anonymity'"
    """
    return f"the {methods.kind_of(cls) or 'method'} {methods.name_of(cls)!r}"
