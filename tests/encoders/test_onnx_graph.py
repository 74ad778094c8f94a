"""Writing and tidying ONNX graphs; the exports' own tests run them as a whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from intentmatch.core.errors import InputError
from intentmatch.encoders.onnx_graph import copy_card, megabytes, origin_of_weights, write_graph


def test_unsupported_operation_is_an_input_error(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("onnxscript", reason="needs the extra [onnx-export]")

    class Branches(torch.nn.Module):
        def forward(self, ids: object) -> object:
            return ids if ids.sum() > 3 else -ids

    with pytest.raises(InputError, match="odd cannot be exported; torch says"):
        write_graph(Branches(), {"ids": torch.ones(2, 4)}, tmp_path / "m.onnx", output="out", name="odd")


def test_card_and_licence_are_copied_and_nothing_else(tmp_path: Path) -> None:
    source, target = tmp_path / "model", tmp_path / "target"
    source.mkdir()
    target.mkdir()
    for name in ("README.md", "LICENSE", "NOTICE.txt", "weights.bin"):
        (source / name).write_text("x" * 1000, encoding="utf-8")

    copy_card(source, target)

    assert sorted(file.name for file in target.iterdir()) == ["LICENSE", "NOTICE.txt", "README.md"]
    assert megabytes(target) == pytest.approx(0.003)


def test_origin_names_a_hub_model_in_full_and_a_folder_by_its_last_part(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("---\nlicense: mit\n---\n", encoding="utf-8")

    assert origin_of_weights("org/model", tmp_path) == {"model": "org/model", "licence": ["mit"]}
    assert origin_of_weights(str(tmp_path), tmp_path)["model"] == tmp_path.name
