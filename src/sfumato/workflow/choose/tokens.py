"""Split the text of a small language into tokens, each with its position."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from sfumato.runtime.errors import ParameterError

_LONGEST = 2_000


class Misread(ParameterError):
    """A parse error with its position in the text.

    Parameters
    ----------
    message
        What was expected.
    start, end
        The letters that are not, from ``start`` up to before ``end``.
    """

    def __init__(self, message: str, start: int, end: int) -> None:
        super().__init__(message)
        self.start = start
        self.end = end


class TypedToken(NamedTuple):
    """A token: its kind, its text and its position."""

    kind: str
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Language:
    """The token syntax of a small language.

    Parameters
    ----------
    called
        What a text in it is called.
    example
        One, for messages.
    pattern
        One piece with the space before it; its named group is the kind.
    """

    called: str
    example: str
    pattern: re.Pattern[str]

    def tokens(self, text: str, offset: int = 0) -> list[TypedToken]:
        """Split a text into tokens; ``offset`` is its position within the whole input."""
        if len(text) > _LONGEST:
            said = f"the {self.called} has {len(text):,} letters, more than {_LONGEST:,}; {self._like()}"
            raise Misread(said, _LONGEST, len(text))
        found: list[TypedToken] = []
        place = 0
        while text[place:].strip():
            match = self.pattern.match(text, place)
            if match is None:
                sign = text[place:].split()[0][:20]
                start = offset + text.index(sign, place)
                said = f"cannot read {sign!r} in the {self.called}; {self._like()}"
                raise Misread(said, start, start + len(sign))
            kind = str(match.lastgroup)
            start, end = match.span(kind)
            found.append(TypedToken(kind, match.group(kind), offset + start, offset + end))
            place = match.end()
        return found

    def _like(self) -> str:
        return f"write it like: {self.example}"


class TokenReader:
    """Reads the tokens of a text one after the other.

    Parameters
    ----------
    language
        The language.
    text
        What was typed.
    """

    def __init__(self, language: Language, text: str) -> None:
        self._language = language
        self._tokens = [*language.tokens(text), TypedToken("end", "", len(text), len(text))]
        self._place = 0

    @property
    def _kind(self) -> str:
        return self._tokens[self._place].kind

    @property
    def _text(self) -> str:
        return self._tokens[self._place].text

    def _next(self) -> str:
        text = self._text
        self._place += 1
        return text

    def _takes(self, kind: str, text: str | None = None) -> bool:
        found = self._kind == kind and (text is None or self._text.casefold() == text)
        self._place += found
        return found

    def _unexpected(self, wanted: str) -> Misread:
        got = f"{self._text!r}" if self._kind != "end" else "the end"
        _, _, start, end = self._tokens[self._place]
        like = f"write a {self._language.called} like: {self._language.example}"
        return Misread(f"expected {wanted}, got {got}; {like}", start, end)
