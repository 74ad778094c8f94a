"""A matcher of a small registry, with a fake encoder."""

from __future__ import annotations

import pytest
from answers import LINES, NEGATIVES, registry_of
from fakes import WordHashEncoder

from intentmatch import Matcher


@pytest.fixture
def encoder() -> WordHashEncoder:
    return WordHashEncoder()


@pytest.fixture
def matcher(encoder: WordHashEncoder) -> Matcher:
    return Matcher.load(registry_of(LINES, NEGATIVES), encoder=encoder, cache="off")
