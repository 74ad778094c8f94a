"""Processes killed at random moments of an edit: every registry is whole, before or after the edit."""

from __future__ import annotations

import os
import random
import signal
import time
from multiprocessing import get_context
from pathlib import Path

import pytest

from intentmatch import read_registry
from intentmatch.registry.editing.edits import RenameIntent
from intentmatch.registry.editing.plan import plan

pytestmark = pytest.mark.end_to_end

FILES = ("a.yaml", "sub/b.yaml", "sub/c.yaml")
SEED = 21


def write_registry(folder: Path) -> None:
    for number, name in enumerate(FILES):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        lines = ["intents:", "  first:", "    utterances:", f"      - line {number} of a shared intent"]
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def rename_forever(folder: Path) -> None:
    names = ["first", "second"]
    while True:
        old, new = names if "first" in read_registry(folder) else names[::-1]
        plan(folder, [RenameIntent(old, new)]).write()


def kill_edits(folder: Path, rounds: int) -> None:
    """Check the registry after each kill; whoever forks often should be a small process."""
    moments = random.Random(SEED)
    for _ in range(rounds):
        child = os.fork()
        if child == 0:
            try:
                rename_forever(folder)
            finally:
                os._exit(1)
        time.sleep(moments.uniform(0.0, 0.06))
        os.kill(child, signal.SIGKILL)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL

        registry = read_registry(folder)
        assert len(registry) == 1
        assert len(registry.utterances) == len(FILES)
        texts = {(folder / name).read_text(encoding="utf-8").split()[1] for name in FILES}
        assert len(texts) == 1
        present = {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()}
        assert present == {*FILES}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.rounds(60, 2000)
def test_killed_edits_leave_a_whole_registry(tmp_path: Path, rounds: int) -> None:
    write_registry(tmp_path)
    killer = get_context("spawn").Process(target=kill_edits, args=(tmp_path, rounds))
    killer.start()
    killer.join()

    assert killer.exitcode == 0, "see standard error"
    registry = read_registry(tmp_path)
    plan(tmp_path, [RenameIntent(next(iter(registry)).name, "last")]).write()
