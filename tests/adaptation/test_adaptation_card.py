"""The model card of an adapted model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from intentmatch.adaptation.card import write_card
from intentmatch.adaptation.proof import BeforeAfter, Proof
from intentmatch.encoders import hub

PROOF = Proof((BeforeAfter("first candidate", 0.9, 0.95, 0.01), BeforeAfter("AUROC", 0.97, 0.98)), 1200, 300, 3)


def written(folder: Path, base: Path, name: str | None = None) -> str:
    details: dict[str, Any] = {"title": "An encoder", "what": "trained.", "recipe": {"seed": 3}}
    folder.mkdir()
    head = {"library_name": "sentence-transformers"}
    write_card(folder, base=name or str(base), base_folder=base, head=head, proof=PROOF, **details)
    return (folder / "README.md").read_text(encoding="utf-8")


def base_with(folder: Path, card: str) -> Path:
    folder.mkdir()
    (folder / "README.md").write_text(card, encoding="utf-8")
    return folder


def test_card_has_the_proof_the_recipe_and_the_metadata_of_the_base(tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    base = base_with(tmp_path / "secret" / "base", "---\nlanguage: [en, de]\nlicense: mit\n---\nBase.\n")

    text = written(tmp_path / "new", base)

    assert "| first candidate | 0.900 | 0.950 |" in text
    assert "| AUROC | 0.970 | 0.980 |" in text
    assert "1,200 held-out utterances and 300 utterances of intents that were left out, in 3 folds" in text
    assert "- seed: 3" in text
    assert yaml.safe_load(text.split("---")[1]) == {
        "library_name": "sentence-transformers",
        "base_model": "base",
        "language": ["en", "de"],
        "license": "mit",
    }
    assert hub.card_languages(tmp_path / "new") == {"en", "de"}
    assert "secret" not in text


def test_card_names_a_model_of_the_hub_in_full(tmp_path: Path) -> None:
    base = base_with(tmp_path / "base", "No metadata.")

    text = written(tmp_path / "new", base, "sentence-transformers/all-MiniLM-L6-v2")

    assert "base_model: sentence-transformers/all-MiniLM-L6-v2" in text
    assert "language" not in text
    assert "license" not in text


def test_licence_travels_with_the_weights(tmp_path: Path) -> None:
    base = base_with(tmp_path / "base", "The old card.")
    (base / "LICENSE.txt").write_text("Do as you like.", encoding="utf-8")
    (base / "notes.txt").write_text("Nothing.", encoding="utf-8")

    text = written(tmp_path / "new", base)

    assert sorted(file.name for file in (tmp_path / "new").iterdir()) == ["LICENSE.txt", "README.md"]
    assert "The old card." not in text
