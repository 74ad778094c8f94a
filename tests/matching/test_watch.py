"""Real files, real events: whatever way they are saved in, the whole of them answers, and nothing in between."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fakes import WordHashEncoder

from intentmatch.artefact.store import Artefact, save_artefact
from intentmatch.core.errors import InputError, MissingExtraError, Problem
from intentmatch.core.types import Intent, Registry, Utterance
from intentmatch.matching import loader, watch
from intentmatch.matching.matcher import Matcher

# Generous, for machines that are busy with other things; nothing waits longer than it must.
PATIENCE = 60.0

FIRST = "intents:\n  greet:\n    utterances:\n      - hello there\n"
SECOND = FIRST + "  leave:\n    utterances:\n      - goodbye then\n      - see you soon\n"
BROKEN = "intents:\n  greet:\n    uterances: [hello there]\n"


class Told:
    """A matcher that is being watched, and all that its watch told."""

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
def start() -> Iterator[Callable[[Path], Told]]:
    """Watches a path until the test is over."""
    begun: list[Told] = []

    def begin(path: Path) -> Told:
        begun.append(Told(path))
        return begun[-1]

    yield begin
    for told in begun:
        told.watch.stop()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "intents"
    folder.mkdir()
    (folder / "bot.yaml").write_text(FIRST, encoding="utf-8")
    return folder


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Longer moments of quiet, so that a busy machine's pauses are not taken for the end of a writing."""
    monkeypatch.setattr(watch, "_QUIET", 0.6)
    monkeypatch.setattr(watch, "_QUIET_WITHOUT", 1.5)


def until(condition: Callable[[], Any]) -> None:
    """Wait for a condition; fail when it takes unreasonably long."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it never came about"
        time.sleep(0.01)


def test_a_saved_file_answers(folder: Path, start: Callable[[Path], Told]) -> None:
    """And whoever wants to know is told the new registry."""
    told = start(folder)
    assert told.matcher.match("see you soon").intent is None

    (folder / "bot.yaml").write_text(SECOND, encoding="utf-8")

    until(lambda: told.matcher.match("see you soon").intent == "leave")
    until(lambda: [len(registry) for registry in told.loaded] == [2])
    assert told.problems == []


def in_place(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")


def renamed_over(file: Path, text: str) -> None:
    aside = file.with_name(f".{file.name}.tmp")
    aside.write_text(text, encoding="utf-8")
    aside.replace(file)


def with_a_backup(file: Path, text: str) -> None:
    """As vim does: the old one is moved away, the new one written in its place."""
    swap = file.with_name(f".{file.name}.swp")
    swap.write_bytes(b"b0VIM")
    backup = file.with_name(f"{file.name}~")
    file.rename(backup)
    file.write_text(text, encoding="utf-8")
    backup.unlink()
    swap.unlink()


def with_a_lock(file: Path, text: str) -> None:
    """As Emacs does: a link to nowhere says who edits, and the autosaved file stands beside it."""
    lock, auto = file.with_name(f".#{file.name}"), file.with_name(f"#{file.name}#")
    lock.symlink_to("me@host.123:456")
    auto.write_text(text[: len(text) // 2], encoding="utf-8")
    file.write_text(text, encoding="utf-8")
    auto.unlink()
    lock.unlink()


def emptied_first(file: Path, text: str) -> None:
    with file.open("w", encoding="utf-8") as out:
        out.flush()
        time.sleep(0.4)
        out.write(text)


def gone_first(file: Path, text: str) -> None:
    file.unlink()
    time.sleep(0.4)
    file.write_text(text, encoding="utf-8")


def in_pieces(file: Path, text: str) -> None:
    """Each of them a sound file."""
    lines = text.splitlines(keepends=True)
    with file.open("w", encoding="utf-8") as out:
        for line in lines:
            out.write(line)
            out.flush()
            time.sleep(0.05)


@pytest.mark.parametrize(
    "save", [in_place, renamed_over, with_a_backup, with_a_lock, emptied_first, gone_first, in_pieces]
)
@pytest.mark.usefixtures("patient")
def test_nothing_between_the_old_and_the_new_is_ever_loaded(
    folder: Path, start: Callable[[Path], Told], save: Callable[[Path, str], None]
) -> None:
    """The way a file is saved in makes no difference to what answers."""
    (folder / "other.yaml").write_text("intents: {other: {utterances: [something else]}}", encoding="utf-8")
    told = start(folder)

    save(folder / "bot.yaml", SECOND)
    until(lambda: "leave" in told.intents)
    until(lambda: told.loaded)

    assert [{intent.name for intent in registry} for registry in told.loaded] == [{"greet", "leave", "other"}]
    assert told.problems == []


def test_only_what_is_read_counts(folder: Path, start: Callable[[Path], Told]) -> None:
    """Dates, the same text once more, and files that are nobody's intents load nothing."""
    told = start(folder)
    file = folder / "bot.yaml"

    os.utime(file, (1, 1))
    file.write_text(FIRST, encoding="utf-8")
    renamed_over(file, FIRST)
    (folder / "notes.txt").write_text("intents: {no: {utterances: [no]}}", encoding="utf-8")
    (folder / ".hidden.yaml").write_text("intents: {no: {utterances: [no]}}", encoding="utf-8")
    time.sleep(0.5)
    file.write_text(SECOND, encoding="utf-8")
    until(lambda: told.loaded)

    assert len(told.loaded) == 1


def test_a_broken_file_is_told_with_its_places(
    folder: Path, start: Callable[[Path], Told], caplog: pytest.LogCaptureFixture
) -> None:
    """Once, in the log too; the last good registry answers, until the file is sound again, or as it was."""
    told = start(folder)
    file = folder / "bot.yaml"

    file.write_text(BROKEN, encoding="utf-8")
    until(lambda: told.problems)
    ((_, problem),) = told.problems
    assert (problem.location.path, problem.location.line, problem.location.column) == (str(file), 3, 5)
    assert f"{file}:3:5: error [unknown-key]" in caplog.text
    assert told.matcher.match("hello there").intent == "greet"

    file.write_text(FIRST, encoding="utf-8")
    until(lambda: len(told.loaded) == 1)
    file.write_text(BROKEN, encoding="utf-8")
    until(lambda: len(told.problems) == 2)
    file.write_text(SECOND, encoding="utf-8")
    until(lambda: len(told.loaded) == 2)
    assert told.intents == {"greet", "leave"}


def git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=me", "-c", "user.email=me@example.org")
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


def generation(folder: Path, number: int) -> None:
    """Thirty files that belong together; that of one generation and that of another make no sound registry."""
    for n in range(30):
        (folder / f"file{n}.yaml").write_text(
            f"intents:\n  topic{(n + number) % 30}:\n    utterances: [words about topic {n}]\n", encoding="utf-8"
        )


@pytest.mark.usefixtures("patient")
def test_a_checkout_is_one_change(tmp_path: Path, start: Callable[[Path], Told]) -> None:
    """Of a whole folder, back and forth: only ever one commit or the other."""
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
    told = start(folder)

    for branch, count in (("old", 30), ("new", 31)):
        git(folder, "checkout", "-q", branch)
        until(lambda count=count: len(told.matcher.registry) == count)

    until(lambda: len(told.loaded) == 2)
    assert told.problems == []


@pytest.mark.usefixtures("patient")
def test_a_slow_copy_is_one_change(tmp_path: Path, start: Callable[[Path], Told]) -> None:
    """File after file, with pauses between them."""
    folder, other = tmp_path / "intents", tmp_path / "other"
    for path, number in ((folder, 0), (other, 7)):
        path.mkdir()
        generation(path, number)
    told = start(folder)

    for file in sorted(other.iterdir()):
        (folder / file.name).write_bytes(file.read_bytes())
        time.sleep(0.02)
    until(lambda: told.loaded)

    assert told.problems == []
    assert told.loaded[0]["topic7"].utterances[0].text == "words about topic 0"


@pytest.mark.usefixtures("patient")
def test_a_folder_that_is_away_for_a_moment_is_not_missed(folder: Path, start: Callable[[Path], Told]) -> None:
    """Renamed away and back; and when another one stands there in the end, that one answers."""
    told = start(folder)
    elsewhere = folder.with_name("elsewhere")

    folder.rename(elsewhere)
    time.sleep(0.3)
    elsewhere.rename(folder)
    (folder / "bot.yaml").write_text(SECOND, encoding="utf-8")
    until(lambda: told.intents == {"greet", "leave"})

    new = folder.with_name("new")
    new.mkdir()
    (new / "bot.yaml").write_text(SECOND.replace("leave", "part"), encoding="utf-8")
    folder.rename(folder.with_name("old"))
    new.rename(folder)
    until(lambda: told.intents == {"greet", "part"})
    (folder / "bot.yaml").write_text(FIRST, encoding="utf-8")
    until(lambda: told.intents == {"greet"})
    assert told.problems == []


def test_a_folder_that_is_gone_is_told(folder: Path, start: Callable[[Path], Told]) -> None:
    """The intents go on answering, and one that comes back is taken up."""
    told = start(folder)

    folder.rename(folder.with_name("elsewhere"))
    until(lambda: told.problems)
    assert [problem.rule for problem in told.problems[0]] == ["not-found"]
    assert told.matcher.match("hello there").intent == "greet"

    folder.mkdir()
    (folder / "bot.yaml").write_text(SECOND, encoding="utf-8")
    until(lambda: told.loaded)
    assert told.intents == {"greet", "leave"}


def test_new_files_and_folders_are_watched(folder: Path, start: Callable[[Path], Told]) -> None:
    """However deep, and edits in them later."""
    told = start(folder)

    deep = folder / "a" / "b"
    deep.mkdir(parents=True)
    (deep / "more.yml").write_text("intents: {more: {utterances: [even more]}}", encoding="utf-8")
    until(lambda: told.intents == {"greet", "more"})
    (deep / "more.yml").write_text("intents: {less: {utterances: [even less]}}", encoding="utf-8")
    until(lambda: told.intents == {"greet", "less"})
    (deep / "more.yml").unlink()
    until(lambda: told.intents == {"greet"})


def swap(link: Path, target: str) -> None:
    """Let a link lead elsewhere, in one step."""
    aside = link.with_name(f"{link.name}_tmp")
    aside.symlink_to(target)
    aside.replace(link)


def test_a_mounted_config_map_is_watched(tmp_path: Path, start: Callable[[Path], Told]) -> None:
    """Files are links through `..data`, which is itself a link that is swapped; the old folder is then deleted."""
    for name, text in (("..2024_1", FIRST), ("..2024_2", SECOND)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "bot.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "..data").symlink_to("..2024_1")
    (tmp_path / "bot.yaml").symlink_to("..data/bot.yaml")
    told = start(tmp_path)
    assert told.intents == {"greet"}

    swap(tmp_path / "..data", "..2024_2")
    (tmp_path / "..2024_1" / "bot.yaml").unlink()
    until(lambda: told.intents == {"greet", "leave"})
    (tmp_path / "..2024_3").mkdir()
    (tmp_path / "..2024_3" / "bot.yaml").write_text(FIRST, encoding="utf-8")
    swap(tmp_path / "..data", "..2024_3")
    until(lambda: told.intents == {"greet"})
    assert told.problems == []


@pytest.mark.parametrize("what", ["folder", "folder above", "file"])
def test_links_on_the_way_are_watched(tmp_path: Path, start: Callable[[Path], Told], what: str) -> None:
    """A release is made current by swapping a link; and the file behind a link may be edited where it is."""
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
    told = start(path)

    swap(link, target.format("two"))
    until(lambda: told.intents == {"greet", "leave"})
    renamed_over(tmp_path / "two" / "intents" / "bot.yaml", FIRST)
    until(lambda: told.intents == {"greet"})


def test_links_that_lead_in_circles_do_no_harm(folder: Path, start: Callable[[Path], Told]) -> None:
    """They are no files, and nobody runs after them."""
    (folder / "a.yaml").symlink_to("b.yaml")
    (folder / "b.yaml").symlink_to("a.yaml")
    (folder / "inside").symlink_to(".")
    with pytest.raises(InputError):
        start(folder)
    (folder / "a.yaml").unlink()
    (folder / "b.yaml").unlink()
    told = start(folder)
    (folder / "b.yaml").symlink_to("b.yaml")
    until(lambda: told.problems)


def test_what_is_included_is_watched(folder: Path, start: Callable[[Path], Told]) -> None:
    """In another folder, and from the moment on that it is included."""
    other = folder.with_name("other")
    other.mkdir()
    (other / "more.yaml").write_text("intents: {more: {utterances: [even more]}}", encoding="utf-8")
    told = start(folder)

    (folder / "bot.yaml").write_text(f"include: ../other\n{FIRST}", encoding="utf-8")
    until(lambda: told.intents == {"greet", "more"})
    (other / "more.yaml").write_text("intents: {less: {utterances: [even less]}}", encoding="utf-8")
    until(lambda: told.intents == {"greet", "less"})
    (other / "again.yaml").write_text("intents: {again: {utterances: [once again]}}", encoding="utf-8")
    until(lambda: told.intents == {"greet", "less", "again"})


def test_an_artefact_is_watched(folder: Path, start: Callable[[Path], Told], tmp_path: Path) -> None:
    """A new build in its place is taken up; half of one is refused."""
    file = tmp_path / "bot.intentmatch"
    builds = []
    for text in (FIRST, SECOND):
        (folder / "bot.yaml").write_text(text, encoding="utf-8")
        save_artefact(Matcher.load(folder, encoder=WordHashEncoder()).artefact, file)
        builds.append(file.read_bytes())
    file.write_bytes(builds[0])
    told = start(file)
    assert told.intents == {"greet"}

    file.write_bytes(builds[1][:100])
    until(lambda: told.problems)
    assert told.intents == {"greet"}
    renamed_over_bytes(file, builds[1])
    until(lambda: told.intents == {"greet", "leave"})


def renamed_over_bytes(file: Path, held: bytes) -> None:
    aside = file.with_name("aside")
    aside.write_bytes(held)
    aside.replace(file)


def many(count: int) -> str:
    """Enough to learn from."""
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


def test_an_edit_answers_first_and_is_learned_from_then(
    folder: Path, start: Callable[[Path], Told], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thresholds are those from before until the new ones are there; in the end all is as if loaded anew."""
    (folder / "bot.yaml").write_text(many(4), encoding="utf-8")
    told = start(folder)
    before = told.matcher.artefact.calibration
    go_on = threading.Event()
    train = told.watch._reloader.train
    monkeypatch.setattr(told.watch._reloader, "train", lambda: go_on.wait(PATIENCE) and train())

    (folder / "bot.yaml").write_text(many(5), encoding="utf-8")
    until(lambda: told.loaded)
    assert told.matcher.match("my voucher is broken").intent == "voucher"
    assert told.matcher.artefact.calibration is before
    go_on.set()
    until(lambda: told.matcher.artefact.calibration is not before)

    anew = Matcher.load(folder, encoder=WordHashEncoder(), cache="off").artefact
    assert told.matcher.artefact.calibration == anew.calibration != before
    assert told.matcher.artefact.fingerprint == anew.fingerprint


@pytest.mark.parametrize("setting", ["scorer: cosine", "target: balance", "aggregation: max"])
def test_what_was_learned_for_something_else_is_not_used(
    folder: Path, start: Callable[[Path], Told], setting: str
) -> None:
    """Where an edit changes what is learned, it is learned at once."""
    (folder / "bot.yaml").write_text(many(4), encoding="utf-8")
    told = start(folder)
    before = told.matcher.artefact.calibration
    told.watch._reloader.train = lambda: None

    (folder / "settings.yaml").write_text(f"settings: {{{setting}}}\n", encoding="utf-8")
    until(lambda: told.loaded)

    assert told.matcher.artefact.calibration is not before


def test_the_next_edit_does_not_wait_for_what_the_last_one_teaches(
    folder: Path, start: Callable[[Path], Told], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It answers, what was learned for another registry is dropped, and in the end all is learned from the last one."""
    (folder / "bot.yaml").write_text(many(3), encoding="utf-8")
    told = start(folder)
    begun, go_on = threading.Event(), threading.Event()
    learned_again = loader.trained_again

    def slow(artefact: Artefact) -> Artefact:
        begun.set()
        go_on.wait(PATIENCE)
        return learned_again(artefact)

    monkeypatch.setattr(loader, "trained_again", slow)
    (folder / "bot.yaml").write_text(many(4), encoding="utf-8")
    assert begun.wait(PATIENCE)
    (folder / "bot.yaml").write_text(many(5), encoding="utf-8")
    until(lambda: told.matcher.match("my voucher is broken").intent == "voucher")
    go_on.set()

    anew = Matcher.load(folder, encoder=WordHashEncoder(), cache="off").artefact
    until(lambda: told.matcher.artefact.calibration == anew.calibration)
    assert told.matcher.registry.fingerprint == anew.registry.fingerprint


def test_what_cannot_be_learned_is_told(
    folder: Path, start: Callable[[Path], Told], caplog: pytest.LogCaptureFixture
) -> None:
    """The edit answers all the same, and so does the next one."""
    told = start(folder)
    told.watch._reloader.train = lambda: 1 / 0

    (folder / "bot.yaml").write_text(SECOND, encoding="utf-8")
    until(lambda: "the thresholds from before the edit stay in use: division by zero" in caplog.text)
    (folder / "bot.yaml").write_text(FIRST, encoding="utf-8")
    until(lambda: told.intents == {"greet"})


def test_an_edit_before_the_watch_began_is_not_missed(folder: Path) -> None:
    """What counts is what was loaded, not what was there when somebody began to look."""
    loaded = Matcher.load(folder, encoder=WordHashEncoder(), cache="off")
    (folder / "bot.yaml").write_text(SECOND, encoding="utf-8")
    with loaded.watch():
        until(lambda: len(loaded.registry) == 2)


def test_reloads_from_elsewhere_do_no_harm(folder: Path, start: Callable[[Path], Told]) -> None:
    """Many threads reload while files are saved; in the end the last text answers."""
    told = start(folder)
    stop = threading.Event()
    wrong: list[BaseException] = []

    def reload() -> None:
        while not stop.is_set():
            try:
                told.matcher.reload()
            except BaseException as error:  # noqa: BLE001 - any error at all is what this test looks for
                wrong.append(error)

    threads = [threading.Thread(target=reload) for _ in range(4)]
    for thread in threads:
        thread.start()
    for text in (SECOND, FIRST, SECOND):
        renamed_over(folder / "bot.yaml", text)
        time.sleep(0.1)
    until(lambda: told.intents == {"greet", "leave"})
    stop.set()
    for thread in threads:
        thread.join()

    assert wrong == []
    assert told.problems == []


def test_what_was_reloaded_elsewhere_is_not_loaded_again(folder: Path, start: Callable[[Path], Told]) -> None:
    """The watch knows what is in use."""
    told = start(folder)
    renamed_over(folder / "bot.yaml", SECOND)
    told.matcher.reload()
    time.sleep(0.5)
    renamed_over(folder / "bot.yaml", FIRST)
    until(lambda: told.intents == {"greet"})
    until(lambda: told.loaded)

    assert [len(registry) for registry in told.loaded] == [1]


def test_after_stop_nothing_is_reloaded(folder: Path) -> None:
    """Stopping is at once, twice does no harm, and a callback may do it."""
    loaded = Matcher.load(folder, encoder=WordHashEncoder(), cache="off")
    with loaded.watch() as watching:
        begun = time.monotonic()
    assert time.monotonic() - begun < PATIENCE / 2
    watching.stop()
    before = loaded.artefact
    (folder / "bot.yaml").write_text(SECOND, encoding="utf-8")
    time.sleep(0.5)
    assert loaded.artefact is before

    done = threading.Event()

    def stop(registry: Registry) -> None:
        watches[0].stop()
        done.set()

    watches = [loaded.watch(on_reload=stop)]
    assert done.wait(PATIENCE)


def test_callbacks_that_fail_are_not_the_end(
    folder: Path, caplog: pytest.LogCaptureFixture, start: Callable[[Path], Told]
) -> None:
    """Their mistake goes to the log, and the next edit is taken up."""

    def fail(registry: Registry) -> None:
        raise KeyError("mine")

    loaded = Matcher.load(folder, encoder=WordHashEncoder(), cache="off")
    with loaded.watch(on_reload=fail):
        (folder / "bot.yaml").write_text(SECOND, encoding="utf-8")
        until(lambda: "KeyError: 'mine'" in caplog.text)
        (folder / "bot.yaml").write_text(FIRST, encoding="utf-8")
        until(lambda: len(loaded.registry) == 1)


def test_a_reload_that_fails_unexpectedly_is_not_the_end(
    folder: Path, caplog: pytest.LogCaptureFixture, start: Callable[[Path], Told], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A defect is in the log with its traceback, is told, and the next edit is taken up."""
    told = start(folder)

    def fail(path: object, **_: object) -> Registry:
        raise MemoryError("secret")

    with monkeypatch.context() as patched:
        patched.setattr("intentmatch.matching.loader.read_registry", fail)
        (folder / "bot.yaml").write_text(SECOND, encoding="utf-8")
        until(lambda: told.problems)
    (problem,) = told.problems[0]
    assert (problem.rule, problem.location.path, "secret" in problem.message) == ("reload", str(folder), False)
    assert "MemoryError: secret" in caplog.text
    (folder / "bot.yaml").write_text(SECOND + "\n", encoding="utf-8")
    until(lambda: told.loaded)


def test_where_nothing_tells_of_changes_they_are_looked_for(
    folder: Path, start: Callable[[Path], Told], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Out of watches, say; it is said once, and edits are noticed a little later."""

    def refuse(*paths: str, **options: object) -> Iterator[set[Any]]:
        raise OSError("OS file watch limit reached")

    monkeypatch.setattr("watchfiles.watch", refuse)
    monkeypatch.setattr(watch, "_SECONDS_BETWEEN_LOOKS", 0.1)
    told = start(folder)
    for text, count in ((SECOND, 2), (FIRST, 1)):
        (folder / "bot.yaml").write_text(text, encoding="utf-8")
        until(lambda count=count: len(told.matcher.registry) == count)

    assert caplog.text.count("OS file watch limit reached") == 1


def test_where_events_get_lost_edits_are_found_all_the_same(
    folder: Path, start: Callable[[Path], Told], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on network drives: nothing is told, and nothing fails."""

    def silent(*paths: str, stop_event: threading.Event, **options: object) -> Iterator[set[Any]]:
        while not stop_event.wait(0.01):
            yield set()

    monkeypatch.setattr("watchfiles.watch", silent)
    monkeypatch.setattr(watch, "_SECONDS_BETWEEN_LOOKS", 0.1)
    told = start(folder)
    (folder / "bot.yaml").write_text(SECOND, encoding="utf-8")
    until(lambda: told.loaded)


def test_what_else_happens_beside_the_intents_is_not_looked_into(folder: Path) -> None:
    """A log or a database in the same folder does not keep the thread busy."""
    places = watch._Places.from_path(folder)

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
        ("import pathlib; matcher._reloader.source.__class__._read = lambda source: time.sleep(3600)\n"
         "pathlib.Path(sys.argv[1], 'more.yaml').write_text('intents: {b: {utterances: [c]}}'); time.sleep(1)", 0),
    ],
)  # fmt: skip
def test_a_watch_does_not_keep_the_process_alive(folder: Path, last: str, code: int) -> None:
    """A program ends when it is done, by itself and without a word, even in the middle of a reload."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM + last, str(folder)], timeout=PATIENCE, capture_output=True, check=False
    )

    assert (done.returncode, done.stderr) == (code, b"")


def test_a_registry_made_in_code_has_no_files() -> None:
    """There is nothing to watch, and it says so."""
    loaded = Matcher.load(Registry((Intent("a", (Utterance("one"),)),)), encoder=WordHashEncoder())
    with pytest.raises(InputError, match="no files to watch"):
        loaded.watch()


def test_a_missing_extra_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the line that installs it."""
    loaded = Matcher.load(folder, encoder=WordHashEncoder())
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    with pytest.raises(MissingExtraError, match=r'pip install "intentmatch\[watch\]"'):
        loaded.watch()


def test_watching_is_loaded_by_those_who_watch(folder: Path) -> None:
    """`match` does not wait for it."""
    program = "import sys, intentmatch; intentmatch.Matcher.load(sys.argv[1]).match('hello')\n"
    program += "assert not {'watchfiles', 'intentmatch.matching.watch', 'asyncio'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", program, str(folder)], check=True, timeout=PATIENCE)


def test_the_log_counts_what_was_loaded(
    folder: Path, start: Callable[[Path], Told], caplog: pytest.LogCaptureFixture
) -> None:
    """One line for each reload."""
    caplog.set_level(logging.INFO, "intentmatch")
    told = start(folder)
    (folder / "bot.yaml").write_text(SECOND, encoding="utf-8")
    until(lambda: told.loaded)

    fingerprint = told.matcher.registry.fingerprint
    assert f"reloaded: 2 intents, fingerprint {fingerprint}" in caplog.messages
