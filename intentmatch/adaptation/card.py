"""Write the model card of an adapted model in the format of Hugging Face."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from intentmatch.adaptation.proof import Proof
from intentmatch.encoders import hub

_LEGAL = frozenset({"LICENSE", "LICENCE", "NOTICE"})


def write_card(
    folder: Path,
    *,
    base: str,
    base_folder: Path,
    head: Mapping[str, Any],
    title: str,
    what: str,
    proof: Proof,
    recipe: Mapping[str, Any],
) -> None:
    """Write `README.md` with the proof, and copy the licence files of the base model.

    `base` is the hub name or folder of the base model; of a folder only its name is written. `head` is the metadata
    beside language, licence and base model, `what` says how the model was trained, and `recipe` with which parameters.
    """
    # The path to a model says where its author keeps files, and a card is published.
    name = Path(base).resolve().name if Path(base).is_dir() else base
    metadata: dict[str, Any] = {**head, "base_model": name}
    for key in ("language", "license"):
        if values := hub.card_entry(base_folder, key):
            metadata[key] = values if key == "language" else values[0]
    parts = [
        f"---\n{yaml.safe_dump(metadata, sort_keys=False)}---\n\n# {title}\n",
        f"{name}, {what}\n",
        "## Held-out messages\n",
        f"{proof.messages:,} held-out utterances and {proof.out_of_scope:,} utterances of intents that were left out, "
        f"in {proof.folds} folds. The models of the folds were trained like this one, without these utterances.\n",
        "| | before | after |\n|---|--:|--:|",
        *(f"| {row.name} | {row.before:.3f} | {row.after:.3f} |" for row in proof.rows),
        "\n## Recipe\n",
        *(f"- {name}: {value}" for name, value in recipe.items()),
    ]
    (folder / "README.md").write_text("\n".join(parts) + "\n", encoding="utf-8")
    for file in base_folder.iterdir():
        if file.is_file() and file.stem.upper() in _LEGAL:
            shutil.copyfile(file, folder / file.name)
