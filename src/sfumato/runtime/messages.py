"""Messages between a process and its children: one pickle after the other, through a pipe.

Unpickling runs whatever a pickle says. So this is the only module that unpickles, and it reads from pipes
only: a parent from a child that it has started, and a child from its parent. Nothing here takes a path.
"""

from __future__ import annotations

import io
import pickle
import struct
import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

_LENGTH = struct.Struct("!Q")
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Packed:
    """A value that travels with the code of its class, and is unpacked where it is used.

    A class of a script or a notebook has no module that another process could import.
    """

    pickled: bytes

    @classmethod
    def of(cls, value: object) -> Packed:
        """Pack a value."""
        import cloudpickle

        return cls(bytes(cloudpickle.dumps(value)))

    def unpacked(self) -> Any:
        """Return the value; this may import, and so raise, anything."""
        return pickle.loads(self.pickled)


class MessagePipes:
    """One end of two pipes.

    Parameters
    ----------
    reading, writing
        The pipes, unbuffered: what lies in a buffer would be seen by one thread alone.
    """

    def __init__(self, reading: io.FileIO, writing: io.FileIO) -> None:
        self._reading, self._writing = reading, writing
        self._lock = threading.Lock()

    def send(self, message: object) -> None:
        """Send a message; threads do so in turn. `OSError` where nobody reads it."""
        self.send_pickled(pickled(message))

    def send_pickled(self, message: bytes) -> None:
        """Send a message that was pickled before, for several to whom the same is said."""
        with self._lock:
            self._write(_LENGTH.pack(len(message)))
            self._write(message)

    def receive_pickled(self) -> bytes | bytearray:
        """Wait for the next message; `EOFError` where the other end has gone."""
        (length,) = _LENGTH.unpack(self._read(_LENGTH.size))
        return self._read(length)

    def hang_up(self) -> None:
        """Say nothing more: the other end learns that nobody speaks to it any longer."""
        with suppress(OSError):
            self._writing.close()

    def close(self) -> None:
        """Close both pipes."""
        self.hang_up()
        with suppress(OSError):
            self._reading.close()

    def _write(self, message: bytes) -> None:
        rest = memoryview(message)
        while rest:
            rest = rest[self._writing.write(rest) or 0 :]

    def _read(self, length: int) -> bytearray:
        # a process that was damaged may announce more than there is memory: take what comes, as it comes
        message = bytearray()
        while len(message) < length:
            piece = self._reading.read(min(length - len(message), _CHUNK))
            if not piece:
                raise EOFError
            message += piece
        return message


def pickled(message: object) -> bytes:
    """Return a message as it is sent."""
    return pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)


def unpickled(message: bytes | bytearray) -> Any:
    """Return a message that came through a pipe; `Garbled` where it is none."""
    try:
        return pickle.loads(message)
    except Exception as error:  # a pickle runs what it names, which may raise anything
        raise Garbled(type(error).__name__, getattr(error, "name", None)) from error


class Garbled(Exception):
    """A message that cannot be unpickled here, as one of a class that this process cannot import.

    Parameters
    ----------
    kind
        The kind of the exception behind it.
    name
        The module or the attribute that is lacking, where it is that.
    """

    def __init__(self, kind: str, name: str | None = None) -> None:
        super().__init__(kind, name)
        self.kind, self.name = kind, name
