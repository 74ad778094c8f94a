"""Artefacts with right digests and changed values, as forgers write them: `ArtefactError`, or a working matcher."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fakes import WordHashEncoder

from intentmatch import Dialogue, IntentMatchError, Matcher, load_artefact, save_artefact
from intentmatch.core.errors import ArtefactError
from intentmatch.storage.sealed import read_sealed, seal

EVERY_SLOT = Path(__file__).with_name("every_slot.yaml")
SEED = 21
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2, 1e308, float("nan"), float("inf"), -0.5, 0.5, "", "x", "en", "\ud800", "\0",
    "(a+)+$", [], [[]], {}, {"a": 1}, [1, 2], ["a"], 10**30, "x" * 1000, {"en": []}, "9999-99-99",
)  # fmt: skip
DTYPES = (np.float16, np.float64, np.int64, np.int32, np.uint8, np.bool_)
MESSAGES = (
    "hello there",
    "order 3 pizzas tomorrow at 5pm for 2 hours",
    "my mail is a@b.com",
    "",
    "nein",
    "42 euro, large",
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value inside another one."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*path, key)
        yield from places(inner, (*path, key))


def inside(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def changed_json(value: Any, chosen: random.Random) -> Any:
    """Return a copy with one or two values deleted, added, repeated, or replaced by another one."""
    value = copy.deepcopy(value)
    for _ in range(chosen.randint(1, 2)):
        everywhere = list(places(value))
        *path, key = chosen.choice(everywhere)
        parent = inside(value, tuple(path))
        kind = chosen.randrange(5)
        if kind == 0:
            del parent[key]
        elif kind == 1 and isinstance(parent, dict):
            parent["more"] = chosen.choice(VALUES)
        elif kind == 1:
            parent.append(copy.deepcopy(parent[key]))
        elif kind == 2:
            parent[key] = copy.deepcopy(inside(value, chosen.choice(everywhere)))
        else:
            parent[key] = copy.deepcopy(chosen.choice(VALUES))
    return value


def changed_tensor(array: Any, chosen: random.Random) -> Any:
    """Return other numbers, or the same in another type, shape or count."""
    match chosen.randrange(5):
        case 0:
            with np.errstate(all="ignore"):
                return array.astype(chosen.choice(DTYPES))
        case 1:
            return array[:-1].copy()
        case 2:
            return np.concatenate([array, array])
        case 3:
            return array.reshape(-1).copy() if array.ndim > 1 else array[None].copy()
        case _:
            other = array.copy()
            wrong = [0, 1, 100, 127] if array.dtype.kind in "iu" else [np.nan, np.inf, 1e30, -5.0]
            if other.size:
                other.flat[chosen.randrange(other.size)] = chosen.choice(wrong)
            return other


def use(matcher: Matcher) -> None:
    dialogue = Dialogue(matcher)
    for message in MESSAGES:
        matcher.match(message)
        dialogue.take(message, "anna")
        for intent in matcher.registry:
            matcher.fill(message, intent.name)


@pytest.mark.rounds(150, 10_000)
def test_crafted_artefact_is_refused_or_works(tmp_path: Path, rounds: int) -> None:
    file, encoder, chosen = tmp_path / "bot.intentmatch", WordHashEncoder(), random.Random(SEED)
    save_artefact(Matcher.load(EVERY_SLOT, encoder=encoder, cache="off").artefact, file)
    whole = read_sealed(file)
    manifest = json.loads(whole.metadata["intentmatch"])
    registry = json.loads(whole.tensors["registry"].tobytes())
    refused = 0
    for _ in range(rounds):
        tensors: dict[str, Any] = dict(whole.tensors)
        crafted, part = manifest, chosen.choice(["manifest", "registry", "registry", "tensor"])
        if part == "manifest":
            crafted = changed_json(manifest, chosen)
        elif part == "registry":
            text = json.dumps(changed_json(registry, chosen))
            tensors["registry"] = np.frombuffer(text.encode("utf-8", "surrogatepass"), dtype=np.uint8)
        else:
            name = chosen.choice(sorted(tensors))
            tensors[name] = changed_tensor(tensors[name], chosen)
        file.write_bytes(seal(tensors, {"intentmatch": json.dumps(crafted)}))
        try:
            load_artefact(file)
        except ArtefactError:
            refused += 1
            continue
        try:
            use(Matcher.load(file, encoder=encoder))
        except IntentMatchError:  # such as another encoder's name
            continue
    assert 0.5 * rounds < refused < rounds
