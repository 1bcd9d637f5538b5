"""The owner's memory of a project: candidates, measurements, decisions, and what made them."""

from sfumato.store.base import IN_MEMORY, Mark, Store, is_being_explored

__all__ = ["IN_MEMORY", "Mark", "Store", "is_being_explored"]
