"""Crafted artefacts: values that no build writes are refused with `ArtefactError`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from intentmatch import Matcher, load_artefact, save_artefact
from intentmatch.core.errors import ArtefactError
from intentmatch.registry import starters
from intentmatch.storage.sealed import read_sealed, seal

YAML = """
intents:
  pizza:
    utterances: {en: ["order a {size} pizza", "I want a {size} pizza"]}
    slots: {size: {values: [small, large]}}
    not: [no pizza]
    threshold: 0.3
  forget_it:
    utterances: {en: [forget about it, never mind], de: [vergiss es]}
settings: {margin: 0.01}
"""
SHOP = Path(starters.__file__).parent / "shop.yaml"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built")
    (folder / "bot.yaml").write_text(YAML)
    (folder / "shop.yaml").write_bytes(SHOP.read_bytes())
    save_artefact(Matcher.load(folder, cache="off").artefact, folder / "bot.intentmatch")
    return folder / "bot.intentmatch"


Manifest = dict[str, Any]
Tensors = dict[str, Any]


def craft(built: Path, target: Path, change: Callable[[Manifest, Manifest, Tensors], None]) -> Path:
    """Write the artefact with changed values and a digest of its own."""
    found = read_sealed(built)
    manifest, tensors = json.loads(found.metadata["intentmatch"]), dict(found.tensors)
    registry = json.loads(tensors["registry"].tobytes())
    change(manifest, registry, tensors)
    if "registry" in tensors:
        tensors["registry"] = np.frombuffer(json.dumps(registry).encode(), dtype=np.uint8)
    target.write_bytes(seal(tensors, {"intentmatch": json.dumps(manifest)}))
    return target


def set_in(name: str, *keys: Any, value: Any) -> Callable[[Manifest, Manifest, Tensors], None]:
    """Return a change of one value of the manifest or the registry."""

    def change(manifest: Manifest, registry: Manifest, tensors: Tensors) -> None:
        inner: Any = {"manifest": manifest, "registry": registry}[name]
        for key in keys[:-1]:
            inner = inner[key]
        inner[keys[-1]] = value

    return change


def set_tensor(name: str, make: Callable[[Any], Any]) -> Callable[[Manifest, Manifest, Tensors], None]:
    def change(manifest: Manifest, registry: Manifest, tensors: Tensors) -> None:
        tensors[name] = make(tensors[name])

    return change


def with_number(value: float) -> Callable[[Any], Any]:
    def change(array: Any) -> Any:
        changed = array.copy()
        changed.flat[0] = value
        return changed

    return change


CRAFTED = {
    "unknown setting": set_in("manifest", "settings", "nonsense", value=1),
    "wrong setting": set_in("manifest", "settings", "margin", value="wide"),
    "settings as list": set_in("manifest", "settings", value=[]),
    "origins as list": set_in("manifest", "origins", value=[1]),
    "encoder as text": set_in("manifest", "encoder", value="static"),
    "fingerprint as number": set_in("manifest", "encoder", "fingerprint", value=3),
    "curve of text": set_in("manifest", "calibration", "curve", value="ab"),
    "curve of one": set_in("manifest", "calibration", "curve", value=[1.0]),
    "infinite curve": set_in("manifest", "calibration", "curve", value=[float("inf"), 1.0]),
    "sharpness NaN": set_in("manifest", "calibration", "sharpness", value=float("nan")),
    "cut without value": set_in("manifest", "calibration", "cut", value={}),
    "cut of text": set_in("manifest", "calibration", "by_language", value={"en": "low"}),
    "reranker as mapping": set_in("manifest", "settings", "reranker", value={}),
    "head without a curve": set_in("manifest", "calibration", "curve", value=None),
    "head without a foreign curve": set_in("manifest", "foreign", "curve", value=None),
    "no calibration": set_in("manifest", "calibration", value=None),
    "deep manifest": set_in("manifest", "foreign", value=json.loads("[" * 500 + "]" * 500)),
    "no intents": set_in("registry", "intents", value=[]),
    "intents as mapping": set_in("registry", "intents", value={"a": 1}),
    "name as number": set_in("registry", "intents", 0, "name", value=3),
    "name of no intent": set_in("registry", "intents", 0, "name", value=""),
    "same name": set_in("registry", "intents", 0, "name", value="forget_it"),
    "utterance as number": set_in("registry", "intents", 1, "utterances", 0, value=[3, "en", None]),
    "language as number": set_in("registry", "intents", 1, "utterances", 0, value=["a", 3, None]),
    "language zero": set_in("registry", "intents", 1, "utterances", 0, value=["a", 0, None]),
    "an utterance less": set_in("registry", "intents", 1, "utterances", value=[["a", "en", None]]),
    "title as list": set_in("registry", "intents", 0, "title", value=["a"]),
    "threshold as list": set_in("registry", "intents", 0, "threshold", value=[1]),
    "threshold too high": set_in("registry", "intents", 0, "threshold", value=7),
    "responses as list": set_in("registry", "intents", 0, "responses", value=["a"]),
    "when of numbers": set_in("registry", "intents", 0, "when", value=[3]),
    "slot out of range": set_in("registry", "intents", 0, "slots", value=[9]),
    "slot of no kind": set_in("registry", "all_slots", 0, 1, value="colour"),
    "unknown field": set_in("registry", "intents", 0, "colour", value="red"),
    "location of text": set_in("registry", "intents", 0, "location", value=["a", "b", "c"]),
    "line of a list": set_in("registry", "intents", 1, "utterances", 0, 2, value=["bot.yaml", [], 3]),
    "column of text": set_in("registry", "intents", 0, "negatives", 0, 2, value=["bot.yaml", 1, "3"]),
    "mark outside": set_in("registry", "intents", 0, "utterances", 0, 3, 0, 3, value=99),
    "NaN vector": set_tensor("utterances", with_number(float("nan"))),
    "huge vector": set_tensor("utterances", with_number(3e8)),
    "vectors of whole numbers": set_tensor("utterances", lambda array: array.astype(np.int32)),
    "vectors in one row": set_tensor("utterances", lambda array: array.reshape(-1)),
    "a vector less": set_tensor("utterances", lambda array: array[1:].copy()),
    "negatives of another size": set_tensor("negatives", lambda array: array[:, :-1].copy()),
    "labels of another size": set_tensor("labels", lambda array: array[:1].copy()),
    "infinite head": set_tensor("head", with_number(float("inf"))),
    "head of another size": set_tensor("head", lambda array: array[:-1].copy()),
    "rarity of another size": set_tensor("rarity", lambda array: array[:10].copy()),
    "background of another size": set_tensor("background", lambda array: array[:10].copy()),
    "negative piece": set_tensor("pieces", with_number(-5)),
    "piece out of range": set_tensor("pieces", with_number(2**31 - 2)),
    "counts that fill the memory": set_tensor("piece_counts", lambda array: np.full_like(array, 2**31 - 1)),
    "negative counts": set_tensor("piece_counts", with_number(-1)),
    "graph of numbers": lambda manifest, registry, tensors: tensors.update(graph=np.ones(3, dtype=np.float32)),
    "no vectors": lambda manifest, registry, tensors: tensors.pop("utterances"),
    "no registry": lambda manifest, registry, tensors: tensors.pop("registry"),
}


@pytest.mark.parametrize("name", CRAFTED)
def test_crafted_artefact_is_refused(built: Path, tmp_path: Path, name: str) -> None:
    file = craft(built, tmp_path / "crafted.intentmatch", CRAFTED[name])

    with pytest.raises(ArtefactError, match=r"crafted\.intentmatch"):
        load_artefact(file)


def test_unchanged_values_are_accepted(built: Path, tmp_path: Path) -> None:
    file = craft(built, tmp_path / "same.intentmatch", lambda *content: None)
    original, same = Matcher.load(built), Matcher.load(file)

    for message in ("a large pizza", "cancel it", "no pizza"):
        assert same.match(message) == original.match(message)
