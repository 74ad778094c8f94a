"""Registries whose vectors a test chooses, for the rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from intentmatch.core.errors import Location
from intentmatch.core.types import Intent, Registry, Utterance
from intentmatch.lint.subject import Subject

Line = tuple[str, str | None, Sequence[float]]


def subject(intents: Mapping[str, Sequence[Line]], aggregation: str = "mean2") -> Subject:
    """Make intents of (text, language, direction); intent n is at line 100 n of `bot.yaml`, its lines are below.

    The intents must be sorted by name, as by `ordered`.
    """
    assert list(intents) == sorted(intents)
    made, vectors = [], []
    for number, (name, lines) in enumerate(intents.items(), 1):
        made.append(
            Intent(
                name,
                tuple(
                    Utterance(text, language, Location("bot.yaml", 100 * number + below, 7))
                    for below, (text, language, _) in enumerate(lines, 1)
                ),
                location=Location("bot.yaml", 100 * number, 3),
            )
        )
        vectors += [_unit(direction) for _, _, direction in lines]
    return Subject(Registry(tuple(made)), np.array(vectors, dtype=np.float32), aggregation)


def around(centre: Sequence[float], count: int, spread: float, seed: int = 0) -> list[list[float]]:
    """Return random directions around a centre."""
    noise = np.random.default_rng(seed).normal(size=(count, len(centre)))
    return (np.asarray(centre, dtype=np.float64) + spread * noise).tolist()


def lines(name: str, directions: Sequence[Sequence[float]], language: str | None = "en") -> list[Line]:
    """Return a line with a text of its own for each direction."""
    return [(f"{name} {number}", language, direction) for number, direction in enumerate(directions)]


def _unit(direction: Sequence[float]) -> np.ndarray:
    length = float(np.linalg.norm(direction))
    return np.asarray(direction, dtype=np.float64) / (length or 1.0)
