"""Watching real files through real file system events, however an editor saves them."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fakes import WordHashEncoder

from intentmatch.artefact.artefact import Artefact
from intentmatch.artefact.store import save_artefact
from intentmatch.core.errors import InputError, MissingExtraError, Problem
from intentmatch.core.types import Encoder, Intent, Registry, Utterance
from intentmatch.matching import loader, watch
from intentmatch.matching.matcher import Matcher
from intentmatch.storage.vector_cache import VectorCache

# Seconds; generous, because the machine may be busy.
PATIENCE = 60.0

FIRST = "intents:\n  greet:\n    utterances:\n      - hello there\n"
SECOND = FIRST + "  leave:\n    utterances:\n      - goodbye then\n      - see you soon\n"
BROKEN = "intents:\n  greet:\n    uterances: [hello there]\n"


class Clock:
    """The time by which a watch sees how long files have been stable.

    It stands still while a test writes, except for the pauses that the test asks for: a slow machine then looks like a
    quick one.
    """

    def __init__(self) -> None:
        self._lost = 0.0
        self._held: float | None = None

    def monotonic(self) -> float:
        return time.monotonic() - self._lost if self._held is None else self._held

    @contextmanager
    def held(self) -> Iterator[None]:
        self._held = self.monotonic()
        try:
            yield
        finally:
            self._lost, self._held = time.monotonic() - self._held, None

    def pause(self, seconds: float) -> None:
        """Let the watch see this pause of a writer, step by step, however long it takes."""
        steps = max(1, round(seconds / 0.05))
        for _ in range(steps):
            time.sleep(seconds / steps)
            assert self._held is not None
            self._held += seconds / steps


clock = Clock()


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "time", SimpleNamespace(monotonic=clock.monotonic))


class Watched:
    """A matcher with a watch, and what its callbacks received."""

    def __init__(self, path: Path) -> None:
        self.matcher = Matcher.load(path, encoder=WordHashEncoder(), cache="off")
        self.loaded: list[Registry] = []
        self.problems: list[tuple[Problem, ...]] = []
        self.watch = self.matcher.watch(
            on_reload=self.loaded.append, on_error=lambda problems: self.problems.append(tuple(problems))
        )

    @property
    def intents(self) -> set[str]:
        return {intent.name for intent in self.matcher.registry}


@pytest.fixture
def start() -> Iterator[Callable[[Path], Watched]]:
    """Start a watch on a path; it is stopped after the test."""
    started: list[Watched] = []

    def begin(path: Path) -> Watched:
        started.append(Watched(path))
        return started[-1]

    yield begin
    for watched in started:
        watched.watch.stop()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "intents"
    folder.mkdir()
    (folder / "bot.yaml").write_text(FIRST, encoding="utf-8")
    return folder


def until(condition: Callable[[], Any]) -> None:
    """Wait for a condition; fail after `PATIENCE` seconds."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "the condition never became true"
        time.sleep(0.01)


def write(file: Path, text: str) -> None:
    """Write as a quick machine does: nobody sees the file empty for long."""
    with clock.held():
        file.write_text(text, encoding="utf-8")


def test_saved_file_is_loaded_and_on_reload_called(folder: Path, start: Callable[[Path], Watched]) -> None:
    watched = start(folder)
    assert watched.matcher.match("see you soon").intent is None

    (folder / "bot.yaml").write_text(SECOND, encoding="utf-8")

    until(lambda: watched.matcher.match("see you soon").intent == "leave")
    until(lambda: [len(registry) for registry in watched.loaded] == [2])
    assert watched.problems == []


def in_place(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")


def renamed_over(file: Path, text: str) -> None:
    aside = file.with_name(f".{file.name}.tmp")
    aside.write_text(text, encoding="utf-8")
    aside.replace(file)


def with_a_backup(file: Path, text: str) -> None:
    """Save as vim does: rename the old file, write a new one in its place."""
    swap = file.with_name(f".{file.name}.swp")
    swap.write_bytes(b"b0VIM")
    backup = file.with_name(f"{file.name}~")
    file.rename(backup)
    file.write_text(text, encoding="utf-8")
    backup.unlink()
    swap.unlink()


def with_a_lock(file: Path, text: str) -> None:
    """Save as Emacs does: with a dangling link as a lock, and an autosave file beside the original."""
    lock, auto = file.with_name(f".#{file.name}"), file.with_name(f"#{file.name}#")
    lock.symlink_to("me@host.123:456")
    auto.write_text(text[: len(text) // 2], encoding="utf-8")
    file.write_text(text, encoding="utf-8")
    auto.unlink()
    lock.unlink()


def emptied_first(file: Path, text: str) -> None:
    with file.open("w", encoding="utf-8") as out:
        out.flush()
        clock.pause(0.4)
        out.write(text)


def gone_first(file: Path, text: str) -> None:
    file.unlink()
    clock.pause(0.4)
    file.write_text(text, encoding="utf-8")


def in_pieces(file: Path, text: str) -> None:
    """Write line by line; the file is valid after each line."""
    lines = text.splitlines(keepends=True)
    with file.open("w", encoding="utf-8") as out:
        for line in lines:
            out.write(line)
            out.flush()
            clock.pause(0.05)


@pytest.mark.parametrize(
    "save", [in_place, renamed_over, with_a_backup, with_a_lock, emptied_first, gone_first, in_pieces]
)
def test_intermediate_content_is_never_loaded(
    folder: Path, start: Callable[[Path], Watched], save: Callable[[Path, str], None]
) -> None:
    (folder / "other.yaml").write_text("intents: {other: {utterances: [something else]}}", encoding="utf-8")
    watched = start(folder)

    with clock.held():
        save(folder / "bot.yaml", SECOND)
    until(lambda: "leave" in watched.intents)
    until(lambda: watched.loaded)

    assert [{intent.name for intent in registry} for registry in watched.loaded] == [{"greet", "leave", "other"}]
    assert watched.problems == []


def test_irrelevant_changes_do_not_reload(folder: Path, start: Callable[[Path], Watched]) -> None:
    """Modification times, unchanged text, and files that are not read."""
    watched = start(folder)
    file = folder / "bot.yaml"

    with clock.held():
        os.utime(file, (1, 1))
        file.write_text(FIRST, encoding="utf-8")
        renamed_over(file, FIRST)
        (folder / "notes.txt").write_text("intents: {no: {utterances: [no]}}", encoding="utf-8")
        (folder / ".hidden.yaml").write_text("intents: {no: {utterances: [no]}}", encoding="utf-8")
    time.sleep(0.5)
    write(file, SECOND)
    until(lambda: watched.loaded)

    assert len(watched.loaded) == 1


def test_invalid_file_is_reported_and_old_registry_stays(
    folder: Path, start: Callable[[Path], Watched], caplog: pytest.LogCaptureFixture
) -> None:
    """One report for each invalid version; the next valid version is loaded."""
    watched = start(folder)
    file = folder / "bot.yaml"

    write(file, BROKEN)
    until(lambda: watched.problems)
    ((problem,),) = watched.problems
    assert (problem.location.path, problem.location.line, problem.location.column) == (str(file), 3, 5)
    assert f"{file}:3:5: error [unknown-key]" in caplog.text
    assert watched.matcher.match("hello there").intent == "greet"

    write(file, FIRST)
    until(lambda: len(watched.loaded) == 1)
    write(file, BROKEN)
    until(lambda: len(watched.problems) == 2)
    write(file, SECOND)
    until(lambda: len(watched.loaded) == 2)
    assert watched.intents == {"greet", "leave"}


def git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=me", "-c", "user.email=me@example.org")
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


def generation(folder: Path, number: int) -> None:
    """Write thirty files that are valid together; files of two generations conflict."""
    for n in range(30):
        (folder / f"file{n}.yaml").write_text(
            f"intents:\n  topic{(n + number) % 30}:\n    utterances: [words about topic {n}]\n", encoding="utf-8"
        )


def test_git_checkout_is_loaded_as_one_change(tmp_path: Path, start: Callable[[Path], Watched]) -> None:
    folder = tmp_path / "intents"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "old")
    generation(folder, 0)
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "old")
    git(folder, "checkout", "-q", "-b", "new")
    generation(folder, 7)
    (folder / "more").mkdir()
    (folder / "more" / "extra.yaml").write_text("intents: {extra: {utterances: [one more]}}", encoding="utf-8")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "new")
    watched = start(folder)

    for branch, count in (("old", 30), ("new", 31)):
        with clock.held():
            git(folder, "checkout", "-q", branch)
        until(lambda count=count: len(watched.matcher.registry) == count)

    until(lambda: len(watched.loaded) == 2)
    assert watched.problems == []


def test_slow_copy_is_loaded_as_one_change(tmp_path: Path, start: Callable[[Path], Watched]) -> None:
    folder, other = tmp_path / "intents", tmp_path / "other"
    for path, number in ((folder, 0), (other, 7)):
        path.mkdir()
        generation(path, number)
    watched = start(folder)

    with clock.held():
        for file in sorted(other.iterdir()):
            (folder / file.name).write_bytes(file.read_bytes())
            clock.pause(0.02)
    until(lambda: watched.loaded)

    assert watched.problems == []
    assert watched.loaded[0]["topic7"].utterances[0].text == "words about topic 0"


def test_folder_may_be_renamed_and_replaced(folder: Path, start: Callable[[Path], Watched]) -> None:
    """A folder that is missing for a moment causes no error."""
    watched = start(folder)
    elsewhere = folder.with_name("elsewhere")

    with clock.held():
        folder.rename(elsewhere)
        clock.pause(0.3)
        elsewhere.rename(folder)
        (folder / "bot.yaml").write_text(SECOND, encoding="utf-8")
    until(lambda: watched.intents == {"greet", "leave"})

    new = folder.with_name("new")
    new.mkdir()
    (new / "bot.yaml").write_text(SECOND.replace("leave", "part"), encoding="utf-8")
    with clock.held():
        folder.rename(folder.with_name("old"))
        new.rename(folder)
    until(lambda: watched.intents == {"greet", "part"})
    write(folder / "bot.yaml", FIRST)
    until(lambda: watched.intents == {"greet"})
    assert watched.problems == []


def test_new_file_that_is_still_empty_is_not_loaded(folder: Path, start: Callable[[Path], Watched]) -> None:
    """Its writer gets as much time as one that empties a file first."""
    watched = start(folder)
    file = folder / "more.yaml"

    with clock.held(), file.open("w", encoding="utf-8") as out:
        clock.pause(0.4)
        out.write("intents: {more: {utterances: [even more]}}")
    until(lambda: watched.loaded)

    assert [len(registry) for registry in watched.loaded] == [2]


def test_deleted_folder_is_reported_and_old_registry_stays(folder: Path, start: Callable[[Path], Watched]) -> None:
    """The folder is loaded again when it comes back."""
    watched = start(folder)

    folder.rename(folder.with_name("elsewhere"))
    until(lambda: watched.problems)
    assert [problem.rule for problem in watched.problems[0]] == ["not-found"]
    assert watched.matcher.match("hello there").intent == "greet"

    with clock.held():
        folder.mkdir()
        (folder / "bot.yaml").write_text(SECOND, encoding="utf-8")
    until(lambda: watched.loaded)
    assert watched.intents == {"greet", "leave"}


def test_new_files_and_folders_are_watched(folder: Path, start: Callable[[Path], Watched]) -> None:
    watched = start(folder)

    deep = folder / "a" / "b"
    deep.mkdir(parents=True)
    write(deep / "more.yml", "intents: {more: {utterances: [even more]}}")
    until(lambda: watched.intents == {"greet", "more"})
    write(deep / "more.yml", "intents: {less: {utterances: [even less]}}")
    until(lambda: watched.intents == {"greet", "less"})
    (deep / "more.yml").unlink()
    until(lambda: watched.intents == {"greet"})


def swap(link: Path, target: str) -> None:
    """Replace a link in one step."""
    aside = link.with_name(f"{link.name}_tmp")
    aside.symlink_to(target)
    aside.replace(link)


def test_mounted_config_map_is_watched(tmp_path: Path, start: Callable[[Path], Watched]) -> None:
    """Kubernetes links the files through `..data`, a link that it replaces before it deletes the old folder."""
    for name, text in (("..2024_1", FIRST), ("..2024_2", SECOND)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "bot.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "..data").symlink_to("..2024_1")
    (tmp_path / "bot.yaml").symlink_to("..data/bot.yaml")
    watched = start(tmp_path)
    assert watched.intents == {"greet"}

    swap(tmp_path / "..data", "..2024_2")
    (tmp_path / "..2024_1" / "bot.yaml").unlink()
    until(lambda: watched.intents == {"greet", "leave"})
    (tmp_path / "..2024_3").mkdir()
    (tmp_path / "..2024_3" / "bot.yaml").write_text(FIRST, encoding="utf-8")
    swap(tmp_path / "..data", "..2024_3")
    until(lambda: watched.intents == {"greet"})
    assert watched.problems == []


@pytest.mark.parametrize("what", ["folder", "folder above", "file"])
def test_links_in_the_path_are_watched(tmp_path: Path, start: Callable[[Path], Watched], what: str) -> None:
    """A deployment swaps a link to the current release; the linked file may also be edited in place."""
    for name, text in (("one", FIRST), ("two", SECOND)):
        (tmp_path / name / "intents").mkdir(parents=True)
        (tmp_path / name / "intents" / "bot.yaml").write_text(text, encoding="utf-8")
    current = tmp_path / "current"
    links = {
        "folder": (current, "{}/intents", current),
        "folder above": (current, "{}", current / "intents"),
        "file": (current / "bot.yaml", "../{}/intents/bot.yaml", current),
    }
    link, target, path = links[what]
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(target.format("one"))
    watched = start(path)

    swap(link, target.format("two"))
    until(lambda: watched.intents == {"greet", "leave"})
    renamed_over(tmp_path / "two" / "intents" / "bot.yaml", FIRST)
    until(lambda: watched.intents == {"greet"})


def test_circular_links_are_reported(folder: Path, start: Callable[[Path], Watched]) -> None:
    (folder / "a.yaml").symlink_to("b.yaml")
    (folder / "b.yaml").symlink_to("a.yaml")
    (folder / "inside").symlink_to(".")
    with pytest.raises(InputError):
        start(folder)
    (folder / "a.yaml").unlink()
    (folder / "b.yaml").unlink()
    watched = start(folder)
    (folder / "b.yaml").symlink_to("b.yaml")
    until(lambda: watched.problems)


def test_included_files_are_watched(folder: Path, start: Callable[[Path], Watched]) -> None:
    """Files of another folder are watched as soon as they are included."""
    other = folder.with_name("other")
    other.mkdir()
    write(other / "more.yaml", "intents: {more: {utterances: [even more]}}")
    watched = start(folder)

    write(folder / "bot.yaml", f"include: ../other\n{FIRST}")
    until(lambda: watched.intents == {"greet", "more"})
    write(other / "more.yaml", "intents: {less: {utterances: [even less]}}")
    until(lambda: watched.intents == {"greet", "less"})
    write(other / "again.yaml", "intents: {again: {utterances: [once again]}}")
    until(lambda: watched.intents == {"greet", "less", "again"})


def test_artefact_is_watched(folder: Path, start: Callable[[Path], Watched], tmp_path: Path) -> None:
    """A truncated artefact is refused."""
    file = tmp_path / "bot.intentmatch"
    builds = []
    for text in (FIRST, SECOND):
        (folder / "bot.yaml").write_text(text, encoding="utf-8")
        save_artefact(Matcher.load(folder, encoder=WordHashEncoder()).artefact, file)
        builds.append(file.read_bytes())
    file.write_bytes(builds[0])
    watched = start(file)
    assert watched.intents == {"greet"}

    file.write_bytes(builds[1][:100])
    until(lambda: watched.problems)
    assert watched.intents == {"greet"}
    renamed_over_bytes(file, builds[1])
    until(lambda: watched.intents == {"greet", "leave"})


def renamed_over_bytes(file: Path, content: bytes) -> None:
    aside = file.with_name("aside")
    aside.write_bytes(content)
    aside.replace(file)


def many(count: int) -> str:
    """Return a registry large enough to train on."""
    topics = ["order", "parcel", "refund", "invoice", "address", "account", "card", "voucher", "shop", "hours"]
    ways = [
        "where is my {}",
        "cancel the {} please",
        "I want to change my {}",
        "tell me about the {}",
        "my {} is broken",
    ]
    lines = (f"  {topic}: {{utterances: [{', '.join(way.format(topic) for way in ways[:count])}]}}" for topic in topics)
    return "\n".join(["intents:", *lines, ""])


def train_only_after(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Return an event that the training of the next edits waits for."""
    go_on = threading.Event()
    train = watched.watch._reloader.train
    monkeypatch.setattr(watched.watch._reloader, "train", lambda: go_on.wait(PATIENCE) and train())
    return go_on


def test_edit_is_loaded_before_training(
    folder: Path, start: Callable[[Path], Watched], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old calibration is used until training ends; the result equals a fresh load."""
    (folder / "bot.yaml").write_text(many(4), encoding="utf-8")
    watched = start(folder)
    before = watched.matcher.artefact.calibration
    go_on = train_only_after(watched, monkeypatch)

    write(folder / "bot.yaml", many(5))
    until(lambda: watched.loaded)
    assert watched.matcher.match("my voucher is broken").intent == "voucher"
    assert watched.matcher.artefact.calibration is before
    go_on.set()
    until(lambda: watched.matcher.artefact.calibration is not before)

    fresh = Matcher.load(folder, encoder=WordHashEncoder(), cache="off").artefact
    assert watched.matcher.artefact.calibration == fresh.calibration != before
    assert watched.matcher.artefact.fingerprint == fresh.fingerprint


def test_reload_of_a_watch_does_not_wait_for_training(
    folder: Path, start: Callable[[Path], Watched], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "bot.yaml").write_text(many(4), encoding="utf-8")
    watched = start(folder)
    before = watched.matcher.artefact.calibration
    go_on = train_only_after(watched, monkeypatch)

    write(folder / "bot.yaml", many(5))
    watched.watch.reload()

    assert watched.matcher.match("my voucher is broken").intent == "voucher"
    assert watched.matcher.artefact.calibration is before
    assert watched.matcher.is_training
    go_on.set()
    until(lambda: not watched.matcher.is_training)
    assert watched.matcher.artefact.calibration is not before


@pytest.mark.parametrize("setting", ["scorer: cosine", "target: balance", "aggregation: max"])
def test_changed_training_setting_trains_before_reload(
    folder: Path, start: Callable[[Path], Watched], setting: str
) -> None:
    (folder / "bot.yaml").write_text(many(4), encoding="utf-8")
    watched = start(folder)
    before = watched.matcher.artefact.calibration
    watched.watch._reloader.train = lambda: None

    write(folder / "settings.yaml", f"settings: {{{setting}}}\n")
    until(lambda: watched.loaded)

    assert watched.matcher.artefact.calibration is not before


def test_next_edit_does_not_wait_for_training(
    folder: Path, start: Callable[[Path], Watched], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Training on an outdated registry is dropped; the last registry is trained in the end."""
    (folder / "bot.yaml").write_text(many(3), encoding="utf-8")
    watched = start(folder)
    training_started, go_on = threading.Event(), threading.Event()
    original = loader.trained_again

    def slow(artefact: Artefact, encoder: Encoder, *cache: VectorCache) -> Artefact:
        training_started.set()
        go_on.wait(PATIENCE)
        return original(artefact, encoder, *cache)

    monkeypatch.setattr(loader, "trained_again", slow)
    write(folder / "bot.yaml", many(4))
    assert training_started.wait(PATIENCE)
    write(folder / "bot.yaml", many(5))
    until(lambda: watched.matcher.match("my voucher is broken").intent == "voucher")
    go_on.set()

    fresh = Matcher.load(folder, encoder=WordHashEncoder(), cache="off").artefact
    until(lambda: watched.matcher.artefact.calibration == fresh.calibration)
    assert watched.matcher.registry.fingerprint == fresh.registry.fingerprint


def test_training_error_is_logged_and_edit_stays(
    folder: Path, start: Callable[[Path], Watched], caplog: pytest.LogCaptureFixture
) -> None:
    watched = start(folder)
    watched.watch._reloader.train = lambda: 1 / 0

    write(folder / "bot.yaml", SECOND)
    until(lambda: "the thresholds from before the edit stay in use: division by zero" in caplog.text)
    write(folder / "bot.yaml", FIRST)
    until(lambda: watched.intents == {"greet"})


def test_edit_between_load_and_watch_is_loaded(folder: Path) -> None:
    loaded = Matcher.load(folder, encoder=WordHashEncoder(), cache="off")
    write(folder / "bot.yaml", SECOND)
    with loaded.watch():
        until(lambda: len(loaded.registry) == 2)


def test_reload_in_other_threads_while_watching(folder: Path, start: Callable[[Path], Watched]) -> None:
    watched = start(folder)
    stop = threading.Event()
    errors: list[BaseException] = []

    def reload() -> None:
        while not stop.is_set():
            try:
                watched.matcher.reload()
            except BaseException as error:  # noqa: BLE001 - the test fails on any error
                errors.append(error)

    threads = [threading.Thread(target=reload) for _ in range(4)]
    for thread in threads:
        thread.start()
    for text in (SECOND, FIRST, SECOND):
        renamed_over(folder / "bot.yaml", text)
        time.sleep(0.1)
    until(lambda: watched.intents == {"greet", "leave"})
    stop.set()
    for thread in threads:
        thread.join()

    assert errors == []
    assert watched.problems == []


def test_watch_does_not_repeat_an_explicit_reload(folder: Path, start: Callable[[Path], Watched]) -> None:
    watched = start(folder)
    with clock.held():
        renamed_over(folder / "bot.yaml", SECOND)
        watched.matcher.reload()
    time.sleep(0.5)
    renamed_over(folder / "bot.yaml", FIRST)
    until(lambda: watched.intents == {"greet"})
    until(lambda: watched.loaded)

    assert [len(registry) for registry in watched.loaded] == [1]


def test_stop_ends_reloading(folder: Path) -> None:
    """It returns soon, may be called twice, and may be called by a callback."""
    loaded = Matcher.load(folder, encoder=WordHashEncoder(), cache="off")
    with loaded.watch() as watching:
        before_stop = time.monotonic()
    assert time.monotonic() - before_stop < PATIENCE / 2
    watching.stop()
    before = loaded.artefact
    write(folder / "bot.yaml", SECOND)
    time.sleep(0.5)
    assert loaded.artefact is before

    done = threading.Event()

    def stop(registry: Registry) -> None:
        watches[0].stop()
        done.set()

    watches = [loaded.watch(on_reload=stop)]
    assert done.wait(PATIENCE)


def test_callback_error_is_logged_and_watch_continues(
    folder: Path, caplog: pytest.LogCaptureFixture, start: Callable[[Path], Watched]
) -> None:
    def fail(registry: Registry) -> None:
        raise KeyError("mine")

    loaded = Matcher.load(folder, encoder=WordHashEncoder(), cache="off")
    with loaded.watch(on_reload=fail):
        write(folder / "bot.yaml", SECOND)
        until(lambda: "KeyError: 'mine'" in caplog.text)
        write(folder / "bot.yaml", FIRST)
        until(lambda: len(loaded.registry) == 1)


def test_unexpected_reload_error_is_logged_and_watch_continues(
    folder: Path, caplog: pytest.LogCaptureFixture, start: Callable[[Path], Watched], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log has the traceback; the problem does not show the message."""
    watched = start(folder)

    def fail(path: object, **_: object) -> Registry:
        raise MemoryError("secret")

    with monkeypatch.context() as patched:
        patched.setattr("intentmatch.matching.loader.read_registry", fail)
        write(folder / "bot.yaml", SECOND)
        until(lambda: watched.problems)
    (problem,) = watched.problems[0]
    assert (problem.rule, problem.location.path, "secret" in problem.message) == ("reload", str(folder), False)
    assert "MemoryError: secret" in caplog.text
    write(folder / "bot.yaml", SECOND + "\n")
    until(lambda: watched.loaded)


def test_watch_polls_if_events_are_unavailable(
    folder: Path, start: Callable[[Path], Watched], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """One warning is logged."""

    def refuse(*paths: str, **options: object) -> Iterator[set[Any]]:
        raise OSError("OS file watch limit reached")

    monkeypatch.setattr("watchfiles.watch", refuse)
    monkeypatch.setattr(watch, "_SECONDS_BETWEEN_LOOKS", 0.1)
    watched = start(folder)
    for text, count in ((SECOND, 2), (FIRST, 1)):
        write(folder / "bot.yaml", text)
        until(lambda count=count: len(watched.matcher.registry) == count)

    assert caplog.text.count("OS file watch limit reached") == 1


def test_edit_is_found_if_events_are_lost(
    folder: Path, start: Callable[[Path], Watched], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Network drives send no events and no error."""

    def silent(*paths: str, stop_event: threading.Event, **options: object) -> Iterator[set[Any]]:
        while not stop_event.wait(0.01):
            yield set()

    monkeypatch.setattr("watchfiles.watch", silent)
    monkeypatch.setattr(watch, "_SECONDS_BETWEEN_LOOKS", 0.1)
    watched = start(folder)
    write(folder / "bot.yaml", SECOND)
    until(lambda: watched.loaded)


def test_other_files_in_the_folder_are_ignored(folder: Path) -> None:
    places = watch._Places.of(folder, watch.content(folder))

    for name in ("server.log", "inbox.sqlite-wal", "bot.yaml~", ".bot.yaml.swp", "4913"):
        assert not places.matters(str(folder / name)), name
    for path in (folder / "bot.yaml", folder / "new.YML", folder):
        assert places.matters(str(path)), path
    assert not places.matters(str(folder.parent / "README.md"))


PROGRAM = """
import sys, time
from intentmatch import Matcher
matcher = Matcher.load(sys.argv[1], cache="off")
watch = matcher.watch()
"""


@pytest.mark.parametrize(
    ("last", "code"),
    [
        ("print('done')", 0),
        ("sys.exit(7)", 7),
        ("import pathlib, threading; began = threading.Event()\n"
         "matcher._reloader.source.__class__._read = lambda source: began.set() or time.sleep(3600)\n"
         "pathlib.Path(sys.argv[1], 'more.yaml').write_text('intents: {b: {utterances: [c]}}'); assert began.wait(60)",
         0),
    ],
)  # fmt: skip
def test_watch_does_not_keep_the_process_alive(folder: Path, last: str, code: int) -> None:
    """The process ends with its own exit code and no output, even during a reload."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM + last, str(folder)], timeout=3 * PATIENCE, capture_output=True, check=False
    )

    assert (done.returncode, done.stderr) == (code, b"")


def test_registry_made_in_code_cannot_be_watched() -> None:
    loaded = Matcher.load(Registry((Intent("a", (Utterance("one"),)),)), encoder=WordHashEncoder())
    with pytest.raises(InputError, match="no files to watch"):
        loaded.watch()


def test_missing_extra_names_the_pip_command(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = Matcher.load(folder, encoder=WordHashEncoder())
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    with pytest.raises(MissingExtraError, match=r'pip install "intentmatch\[watch\]"'):
        loaded.watch()


def test_match_does_not_import_watching(folder: Path) -> None:
    program = "import sys, intentmatch; intentmatch.Matcher.load(sys.argv[1]).match('hello')\n"
    program += "assert not {'watchfiles', 'intentmatch.matching.watch', 'asyncio'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", program, str(folder)], check=True, timeout=PATIENCE)


def test_reload_logs_intents_and_fingerprint(
    folder: Path, start: Callable[[Path], Watched], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "intentmatch")
    watched = start(folder)
    write(folder / "bot.yaml", SECOND)
    until(lambda: watched.loaded)

    fingerprint = watched.matcher.registry.fingerprint
    assert f"reloaded: 2 intents, fingerprint {fingerprint}" in caplog.messages


def test_intents_that_a_reload_loses_are_named_in_the_log(tmp_path, caplog):
    for name in ("orders", "visits"):
        write(tmp_path / f"{name}.yaml", f"intents:\n  {name}:\n    utterances: [all about {name}, my {name}]\n")
    matcher = Matcher.load(tmp_path, encoder=WordHashEncoder(), cache="off")
    with matcher.watch() as watching:
        (tmp_path / "orders.yaml").write_text("", encoding="utf-8")
        watching.reload()

    assert "no longer in the files: orders" in caplog.messages
