"""The answers of an adapted encoder to messages that it was not trained on, in a file beside the model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from fakes import WordHashEncoder

from intentmatch.core.errors import ModelUnavailableError
from intentmatch.encoders.unseen_messages import (
    FILE,
    UnseenMessages,
    digests_of,
    read_unseen_messages,
    unseen_messages_of,
)


@pytest.fixture
def messages() -> UnseenMessages:
    return UnseenMessages(
        lines=np.sort(digests_of(["where is it", "wo ist es"])),
        ranked=np.array([[2.5, 1.0, -np.inf], [0.5, 0.25, 0.0]]),
        place=np.array([0, 3]),
        known=np.array([True, False]),
        scoring="head max",
    )


def test_file_is_read_as_it_was_written(messages: UnseenMessages, tmp_path: Path) -> None:
    messages.save(tmp_path)

    read = read_unseen_messages(tmp_path)

    assert read is not None
    assert all(np.array_equal(one, other) for one, other in zip(read, messages, strict=True))
    assert read.digest == messages.digest


def test_folder_without_the_file_has_none(tmp_path: Path) -> None:
    assert read_unseen_messages(tmp_path) is None
    assert unseen_messages_of(WordHashEncoder()) is None


def test_digest_tells_other_messages(messages: UnseenMessages) -> None:
    others = [messages._replace(place=messages.place[::-1]), messages._replace(scoring="cosine max")]

    assert len({messages.digest, *(one.digest for one in others)}) == 3


def test_damaged_file_is_named_with_advice(messages: UnseenMessages, tmp_path: Path) -> None:
    messages.save(tmp_path)
    content = bytearray((tmp_path / FILE).read_bytes())
    content[-1] ^= 1
    (tmp_path / FILE).write_bytes(content)

    with pytest.raises(ModelUnavailableError, match=f"{FILE} is damaged .*adapt the encoder again"):
        read_unseen_messages(tmp_path)


def test_parts_of_different_lengths_are_damage(messages: UnseenMessages, tmp_path: Path) -> None:
    messages._replace(known=np.array([True])).save(tmp_path)

    with pytest.raises(ModelUnavailableError, match="different lengths"):
        read_unseen_messages(tmp_path)


def test_lines_are_told_by_their_digests() -> None:
    assert np.array_equal(digests_of(["a", "b"]), digests_of(["a", "b"]))
    assert digests_of(["a"])[0] != digests_of(["b"])[0]
    assert len(digests_of([])) == 0
