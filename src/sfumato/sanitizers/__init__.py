"""Sanitizers: each turns a bound table into a release."""

from sfumato.sanitizers.base import Sanitizer, sanitize
from sfumato.sanitizers.full_domain import FullDomain
from sfumato.sanitizers.mondrian import Mondrian
from sfumato.sanitizers.trivial import AsIs, SuppressQuasiIdentifiers, SuppressSensitive

__all__ = [
    "AsIs",
    "FullDomain",
    "Mondrian",
    "Sanitizer",
    "SuppressQuasiIdentifiers",
    "SuppressSensitive",
    "sanitize",
]
