"""The laws of a `Format`, as functions that the tests of any format can call.

A package that adds a format can run them too: `for law in LAWS: law(Subject(my_format, example_files), empty_folder)`.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from intentmatch import formats
from intentmatch.core.errors import IntentMatchError
from intentmatch.core.types import Case, Intent, Mark, Registry, Rule, Slot, SlotKind, SlotValue, Utterance
from intentmatch.formats.kit import losses
from intentmatch.formats.kit.draft import NOT_EXPRESSED
from intentmatch.formats.kit.format import Feature, Format

TEXTS = [
    "where is my order?",
    "no",
    "12:30",
    "007",
    "# not a comment",
    "- dashed",
    "* starred",
    "> quoted",
    "a: b",
    'she said "hello", twice',
    "it's 'quoted'",
    "`ticks` ~ and ~ tildes",
    "back\\slash \\n",
    "100% {sure}",
    "[brackets](and parentheses)",
    "<angles> | (pipes) [x]",
    "a=b @at $dollar %percent% ^caret !bang &and",
    "semi;colon, comma",
    "wo ist mein Paket? äöüß",
    "我的包裹在哪里",
    "أين طردي؟",
    "שלום עולם",
    "👩‍👩‍👧 family 🇩🇪",
    "e\u0301te\u0301",
    "tab\tinside",
    "line\nbreak",
    "null",
    "=1+1",
]
"""Texts of users that a format must keep or report."""

NAMES = ["order_status", "orders/status", "Order status", "größe", "a.b-c", "yes", "1", "a: b", "#x", "你好"]

LAWS: list[Callable[[Subject, Path], None]] = []


@dataclass(frozen=True)
class Subject:
    """A format under test, with a small example of its files for `put_files`."""

    format: Format
    files: Mapping[str, Any] = field(default_factory=dict)
    entry: str | None = None
    """The file to read; None to read the folder."""
    language: str | None = None
    """The language of all texts, if the format has no texts without a language."""

    def __str__(self) -> str:
        return self.format.name


def put_files(folder: Path, files: Mapping[str, Any]) -> Path:
    """Write files by their relative paths into a folder, and return it; what is not text or bytes becomes JSON."""
    for name, content in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str | bytes) else json.dumps(content)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
    return folder


def read_files(folder: Path, files: Mapping[str, Any]) -> formats.Imported:
    """Import files that are written into a folder."""
    return formats.read(put_files(folder, files))


def messages(found: formats.Imported) -> str:
    """The messages of all problems, a line each."""
    return "\n".join(problem.message for problem in found.problems)


def law(check: Callable[[Subject, Path], None]) -> Callable[[Subject, Path], None]:
    LAWS.append(check)
    return check


def contract(*subjects: Subject, ids: Sequence[str] | None = None) -> Callable[..., None]:
    """Return a test, to be named `test_obeys_contract`: a format obeys every law with each of its examples."""

    @pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
    @pytest.mark.parametrize("subject", subjects, ids=ids or str)
    def test_obeys_contract(law: Callable[[Subject, Path], None], subject: Subject, tmp_path: Path) -> None:
        law(subject, tmp_path)

    return test_obeys_contract


def registry(*lines: str | Utterance, **more: Any) -> Registry:
    """Two intents, the first with these lines and fields."""
    utterances = tuple(line if isinstance(line, Utterance) else Utterance(line) for line in lines)
    return Registry((Intent("first", utterances, **more), Intent("second", (Utterance("something else"),))))


def in_language(code: str, lines: Registry) -> Registry:
    """Give everything without a language this one, except texts of slot values, which count in all languages."""

    def spoken(value: Any) -> Any:
        return replace(value, language=value.language or code)

    def keyed(texts: Mapping[str, Any]) -> dict[str, Any]:
        return {key or code: text for key, text in texts.items()}

    def asked(slots: tuple[Slot, ...]) -> tuple[Slot, ...]:
        return tuple(replace(slot, questions=keyed(slot.questions)) for slot in slots)

    intents = (
        replace(
            intent,
            utterances=tuple(map(spoken, intent.utterances)),
            negatives=tuple(map(spoken, intent.negatives)),
            responses=keyed(intent.responses),
            more_responses=keyed(intent.more_responses),
            slots=asked(intent.slots),
        )
        for intent in lines
    )
    return replace(lines, intents=tuple(intents), tests=tuple(map(spoken, lines.tests)), slots=asked(lines.slots))


_CITY = Slot(
    "city", "list", (SlotValue("Berlin"), SlotValue("New York City", (Utterance("NYC"), Utterance("new york"))))
)
_PLAIN_CITY = replace(_CITY, values=(SlotValue("Berlin"), SlotValue("Rome")))
_CODE = Slot("code", "pattern", patterns=(r"[A-Z]{2}\d+",))
_PERSONS = Slot("persons", "number")
_TO_BERLIN = Utterance("to Berlin, please", None, None, "to {city=Berlin}, please", (Mark("city", 3, 9),))

_FLIGHT = Utterance("flight AB12", None, None, "flight {code=AB12}", (Mark("code", 7, 11),))


def _with_slot(slot: Slot, line: Utterance) -> Registry:
    return replace(registry(line, slots=(slot,)), slots=(slot,))


def _template(line: str) -> Utterance:
    return Utterance(line, template=line)


FEATURES: Mapping[Feature, Registry] = {
    "languages": Registry(
        (
            Intent("first", (Utterance("hello", "en"), Utterance("hallo", "de"), Utterance("olá", "pt-BR"))),
            Intent("second", (Utterance("goodbye", "en"), Utterance("tschüss", "de"))),
        )
    ),
    "marks": _with_slot(_PLAIN_CITY, _TO_BERLIN),
    "templates": registry(_template("(hi|hello) [my|dear] friend[s]")),
    "rules": replace(registry(_template("<hello> there")), rules=(Rule("hello", {"": "hi|hello"}),)),
    "blanks": _with_slot(_PLAIN_CITY, _template("to {city}")),
    "negatives": registry("hello", negatives=(Utterance("hello there"),)),
    "responses": registry("hello", responses={"": "Hello to you"}),
    "variants": registry("hello", responses={"": "Hello to you"}, more_responses={"": ("Hi", "Good day")}),
    "titles": registry("hello", title="A greeting", titles={"de": "Ein Gruß", "en": "A greeting"}),
    "descriptions": registry("hello", description="Says hello."),
    "thresholds": registry("hello", threshold=0.25),
    "confirm": registry("hello", confirm=True),
    "metadata": registry("hello", metadata={"team": "one", "count": 3, "deep": {"list": [1.5, True, None, "x"]}}),
    "when": registry("hello", when=("morning",)),
    "tests": replace(registry("hello"), tests=(Case("hey", "first"), Case("what a day", None))),
    "settings": replace(registry("hello"), settings={"threshold": "0.5"}),
    "lists": _with_slot(_PLAIN_CITY, _TO_BERLIN),
    "synonyms": _with_slot(_CITY, _TO_BERLIN),
    "patterns": _with_slot(_CODE, _FLIGHT),
    "kinds": _with_slot(_PERSONS, Utterance("for 4", None, None, "for {persons=4}", (Mark("persons", 4, 5),))),
    "examples": _with_slot(replace(_CODE, examples=(Utterance("AB12"),)), _FLIGHT),
    "questions": _with_slot(replace(_PLAIN_CITY, questions={"": "Which city?"}), _TO_BERLIN),
    "required": replace(registry(_TO_BERLIN, slots=(replace(_PLAIN_CITY, required=True),)), slots=(_PLAIN_CITY,)),
}
"""A registry for each feature, which uses it."""


def bare(lines: Registry) -> Registry:
    """A copy of a registry without locations."""

    def bared(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(bared, value))
        if hasattr(value, "__dataclass_fields__"):
            changes = {name: bared(getattr(value, name)) for name in value.__dataclass_fields__}
            return replace(value, **{**changes, **({"location": None} if "location" in changes else {})})
        return value

    return replace(bared(lines), setting_locations={})


def alike(lines: Registry) -> Registry:
    """Reduce a registry to what must survive a round trip, whatever the file layout of the format.

    Lines are sorted by language, because some formats have a file per language. Required slots and their questions are
    compared in the intents alone, because some formats have them per intent and some for all.
    """

    def in_order(utterances: tuple[Utterance, ...]) -> tuple[Utterance, ...]:
        return tuple(sorted(utterances, key=lambda utterance: utterance.language or ""))

    intents = (
        replace(intent, utterances=in_order(intent.utterances), negatives=in_order(intent.negatives))
        for intent in lines
    )
    slots = (replace(slot, required=False, questions={}) for slot in lines.slots)
    return replace(lines, intents=tuple(intents), slots=tuple(slots))


def round_trip(subject: Subject, lines: Registry, folder: Path) -> tuple[Registry, list[Any]]:
    """Write a registry and read it back; return it with the problems of both."""
    target = folder / f"written{len(list(folder.iterdir()))}"
    target.mkdir()
    problems = formats.write(lines, subject.format.name, target)
    found = formats.read(target, subject.format.name)
    return bare(found.registry), [*problems, *found.problems]


@law
def has_identity_and_known_features(subject: Subject, folder: Path) -> None:
    """It has a name by which it is found and a title, reads or writes, and names existing features."""
    found = subject.format
    assert found.name
    assert found.title
    assert found.read or found.write
    assert found.says <= set(get_args(Feature))
    assert formats.by_name(found.name) == found


@law
def is_recognised_by_its_content(subject: Subject, folder: Path) -> None:
    """Its example and its own output are recognised without a name, as files, in a folder and in a zip."""
    for path in _examples(subject, folder):
        found = formats.read(path)
        assert found.format == subject.format.name
        assert found == formats.read(path, subject.format.name)
        assert found.registry.intents


@law
def locates_intents_and_utterances(subject: Subject, folder: Path) -> None:
    """Each intent and utterance has a location: one of the files, and a line that exists."""
    for path in _examples(subject, folder):
        if path.suffix == ".zip":
            continue
        found = formats.read(path).registry
        for thing in (*found.intents, *found.utterances):
            assert thing.location is not None
            file = Path(thing.location.path)
            assert file.is_relative_to(folder)
            if file.is_file():
                assert 1 <= thing.location.line <= len(file.read_text(encoding="utf-8").splitlines())


@law
def keeps_unusual_texts_or_reports_them(subject: Subject, folder: Path) -> None:
    """Each text comes back unchanged, or there is a problem; its neighbours come back in any case."""
    if subject.format.write is None:
        return
    for text in TEXTS:
        found, problems = round_trip(subject, registry("before", text, "after"), folder)
        texts = [utterance.text for utterance in found["first"].utterances]
        assert "before" in texts
        assert "after" in texts
        assert (texts == ["before", text, "after"]) or problems, text


@law
def keeps_unusual_names_or_reports_them(subject: Subject, folder: Path) -> None:
    """Each intent name comes back unchanged, or there is a problem."""
    if subject.format.write is None:
        return
    for name in NAMES:
        lines = Registry((Intent(name, (Utterance("hello"),)), Intent("second", (Utterance("goodbye"),))))
        found, problems = round_trip(subject, lines, folder)
        assert {intent.name for intent in found} == {name, "second"} or problems, name


@law
def round_trips_what_it_can_express(subject: Subject, folder: Path) -> None:
    """A registry comes back equal except for features that the format lacks, each of which is a problem."""
    if subject.format.write is None:
        return
    says = subject.format.says
    for feature, neutral in FEATURES.items():
        lines = in_language(subject.language, neutral) if subject.language else neutral
        expressible, _ = losses.without_unsupported(lines, says)
        found, problems = round_trip(subject, lines, folder)
        assert alike(found) == alike(bare(expressible)), feature
        lost = any(problem.rule == NOT_EXPRESSED for problem in problems)
        assert lost == (expressible != lines), feature


@law
def reports_unused_slots_and_empty_intents_that_it_loses(subject: Subject, folder: Path) -> None:
    """A slot that no utterance mentions and an intent without utterances come back, or each is a problem."""
    if subject.format.write is None:
        return
    others = (Slot(f"of_{kind}", kind) for kind in get_args(SlotKind) if kind not in ("list", "pattern"))
    slots = (_PLAIN_CITY, _CODE, *others)
    lines = Registry((*registry("hello").intents, Intent("empty", ())), slots=slots)
    found, problems = round_trip(subject, in_language(subject.language or "en", lines), folder)
    messages = " ".join(problem.message for problem in problems if problem.rule == NOT_EXPRESSED)
    names = {intent.name for intent in found} | {slot.name for slot in found.slots}
    for name in ("empty", *(slot.name for slot in slots)):
        assert name in names or repr(name) in messages, name


@law
def writes_deterministically(subject: Subject, folder: Path) -> None:
    """The same registry gives the same bytes."""
    if subject.format.write is None:
        return
    for lines in FEATURES.values():
        kept, _ = losses.without_unsupported(lines, subject.format.says)
        assert subject.format.write(kept, []) == subject.format.write(kept, [])


@law
def refuses_truncated_files(subject: Subject, folder: Path) -> None:
    """A truncated file raises no other errors than `IntentMatchError`."""
    for path in _example_files(subject, folder):
        whole = path.read_bytes()
        for length in {0, 1, *range(0, len(whole), max(1, len(whole) // 20))}:
            path.write_bytes(whole[:length])
            _read_or_refuse(path, None)
            _read_or_refuse(path, subject.format.name)
        path.write_bytes(whole)


@law
def refuses_wrong_types(subject: Subject, folder: Path) -> None:
    """JSON and YAML with any one value replaced raise no other errors than `IntentMatchError`."""
    for path in _example_files(subject, folder):
        if path.suffix not in (".json", ".yml", ".yaml"):
            continue
        whole = path.read_text(encoding="utf-8")
        documents = list(yaml.safe_load_all(whole))
        for changed in _altered(documents):
            # JSON is also YAML; anything but a list of documents is a single document.
            rest = changed if isinstance(changed, list) and changed else [changed]
            path.write_text("\n---\n".join(map(json.dumps, rest[: 1 if path.suffix == ".json" else None])))
            _read_or_refuse(path, subject.format.name)
        path.write_text(whole, encoding="utf-8")


@law
def refuses_random_bytes(subject: Subject, folder: Path) -> None:
    """Random bytes and texts raise no other errors than `IntentMatchError`."""
    examples = _example_files(subject, folder)
    path = examples[0]

    @settings(max_examples=60, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")))
    def noise(data: bytes) -> None:
        path.write_bytes(data)
        _read_or_refuse(path, None)
        _read_or_refuse(path, subject.format.name)

    noise()


def _examples(subject: Subject, folder: Path) -> Iterator[Path]:
    """The given example and what the format writes itself, each as files and zipped."""
    given = put_files(folder / "example", subject.files)
    if subject.files:
        yield given / subject.entry if subject.entry else given
        yield _zipped(given, folder / "example.zip")
    if subject.format.write is not None:
        written = put_files(folder / "written", subject.format.write(registry("hello", "hi"), []))
        yield written
        yield _zipped(written, folder / "written.zip")


def _example_files(subject: Subject, folder: Path) -> list[Path]:
    """The files of the examples, unpacked."""
    paths = list(_examples(subject, folder))
    files = {file for path in paths for file in (path.rglob("*") if path.is_dir() else [path])}
    return sorted(file for file in files if file.is_file() and file.suffix != ".zip")


def _zipped(folder: Path, target: Path) -> Path:
    with zipfile.ZipFile(target, "w") as archive:
        for file in sorted(folder.rglob("*")):
            archive.write(file, file.relative_to(folder))
    return target


def _read_or_refuse(path: Path, name: str | None) -> None:
    with suppress(IntentMatchError):
        formats.read(path, name)


def _altered(value: Any) -> Iterator[Any]:
    """Copies of a value, each with one value in it replaced."""
    yield from (None, 3, "x", [], {}, [[]], [{}], {"x": None}, True)
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield from ([*value[:number], other, *value[number + 1 :]] for other in _altered(item))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from ({**value, key: other} for other in _altered(item))
            yield {other: inner for other, inner in value.items() if other != key}
