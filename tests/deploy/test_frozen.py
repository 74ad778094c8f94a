"""PyInstaller finds the hook; `tests/integrations/test_pyinstaller.py` freezes a program with it."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path


def test_entry_point_leads_to_the_folder_of_the_hook() -> None:
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    declared = text.split("[project.entry-points.pyinstaller40]\n")[1].splitlines()[0]
    name, value = (part.strip().strip('"') for part in declared.split("="))
    (folder,) = EntryPoint(name, value, "pyinstaller40").load()()

    assert name == "hook-dirs"
    assert (Path(folder) / "hook-intentmatch.py").is_file()
