"""Tiers of tests: what runs when.

| tier | marker | runs with | holds |
|---|---|---|---|
| default | none | `pytest` | behaviour and contracts: a few inputs, and what exactly must come of them |
| end to end | `end_to_end` | `pytest --end-to-end` | the whole program: guide pages, screens, processes |
| accuracy | `accuracy` | `pytest --accuracy` | measurements: corpora in full, benchmarks, the studio at size |
| full length | `full_length` | `pytest --full-length` | attacks and soaks that repeat themselves for minutes |

A test of a corpus that also belongs to the default tier takes its rows from `rows_of`: a fixed tenth there, all of them
with `--accuracy`. Each flag runs the default tier too; `-m accuracy --accuracy` runs the accuracy tier alone. The
default tier keeps a few pages and screens of what is tested end to end.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import TypeVar

import pytest

_Row = TypeVar("_Row")

_FLAGS = {"end_to_end": "--end-to-end", "accuracy": "--accuracy", "full_length": "--full-length"}
_FEWEST = 20
_chosen: set[str] = set()


def add_options(parser: pytest.Parser) -> None:
    """Add a flag for each tier besides the default one."""
    for tier, flag in _FLAGS.items():
        parser.addoption(flag, action="store_true", help=f"run the tests marked {tier} too")


def choose(config: pytest.Config) -> None:
    """Remember which tiers run, before the test files are read."""
    _chosen.clear()
    _chosen.update(tier for tier, flag in _FLAGS.items() if config.getoption(flag))


def deselect(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Remove the tests of tiers that do not run; pytest's last line counts them as deselected."""
    left_out = _FLAGS.keys() - _chosen
    deselected = [item for item in items if any(item.get_closest_marker(tier) for tier in left_out)]
    if deselected:
        config.hook.pytest_deselected(items=deselected)
        gone = set(map(id, deselected))
        items[:] = [item for item in items if id(item) not in gone]


def rows_of(corpus: Sequence[_Row]) -> list[_Row]:
    """Return all rows of a corpus in the accuracy tier, otherwise a fixed tenth, in order.

    A tenth is the rows whose text has the lowest checksums: an added row changes little else. It has at least 20 rows.
    """
    if "accuracy" in _chosen:
        return list(corpus)
    places = sorted(range(len(corpus)), key=lambda place: zlib.crc32(repr(corpus[place]).encode("utf-8", "replace")))
    return [corpus[place] for place in sorted(places[: max(_FEWEST, len(corpus) // 10)])]


def share_of(most: int, corpus: Sequence[object], rows: Sequence[object]) -> int:
    """Return what `most` of a whole corpus comes to in some of its rows, rounded up."""
    return -(-most * len(rows) // len(corpus))
