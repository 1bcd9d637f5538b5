"""Messages arrive as they were sent, whatever their size; what is no message ends the conversation."""

from __future__ import annotations

import os
import pickle
import threading
from collections.abc import Iterator

import pytest

from sfumato.runtime.messages import Garbled, MessagePipes, Packed, pickled, unpickled


@pytest.fixture
def ends() -> Iterator[tuple[MessagePipes, MessagePipes]]:
    (a, b), (c, d) = os.pipe(), os.pipe()
    one = MessagePipes(os.fdopen(a, "rb", 0), os.fdopen(d, "wb", 0))
    other = MessagePipes(os.fdopen(c, "rb", 0), os.fdopen(b, "wb", 0))
    yield one, other
    one.close()
    other.close()


@pytest.mark.parametrize("size", [0, 1, 65_536, 5_000_000])
def test_a_message_of_any_size_arrives(ends: tuple[MessagePipes, MessagePipes], size: int) -> None:
    one, other = ends
    sending = threading.Thread(target=one.send, args=(b"x" * size,))
    sending.start()
    assert unpickled(other.receive_pickled()) == b"x" * size
    sending.join()


def test_the_end_in_the_middle_of_a_message_is_the_end(ends: tuple[MessagePipes, MessagePipes]) -> None:
    one, other = ends
    # it announces far more than there is memory
    one._write((1 << 60).to_bytes(8, "big") + b"abc")
    one.close()
    with pytest.raises(EOFError):
        other.receive_pickled()


@pytest.mark.parametrize("message", [b"", b"no pickle", pickled("text")[:-3], b"cno.module\nname\n."])
def test_what_cannot_be_unpickled_is_garbled(message: bytes) -> None:
    with pytest.raises(Garbled):
        unpickled(message)


def test_a_class_without_a_module_travels_with_its_code() -> None:
    class Own:
        number = 3

    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickled(Own())
    assert unpickled(pickled(Packed.of(Own()))).unpacked().number == 3
