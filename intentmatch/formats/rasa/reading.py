"""Read Rasa's files: NLU and domain YAML of versions 2 and 3, JSON of version 0 and Markdown of version 1."""

from __future__ import annotations

import re
from collections.abc import Iterator

from intentmatch.core.errors import Location
from intentmatch.formats.kit.draft import Draft
from intentmatch.formats.kit.source import File
from intentmatch.formats.kit.tree import Value
from intentmatch.formats.rasa.bot import UTTER, RasaBot
from intentmatch.formats.rasa.marks import Annotation
from intentmatch.registry.reading.nodes import Scalar

KINDS = ("intent", "synonym", "regex", "lookup")
_RESPONSES = ("responses", "templates")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_SECTION = re.compile(r"[ \t]*#{1,6}[ \t]*(?P<kind>intent|synonym|regex|lookup)[ \t]*:[ \t]*(?P<name>.*?)[ \t]*")
_ITEM = re.compile(r"[ \t]*[-*+][ \t]+(?P<text>.*?)[ \t]*")


def is_nlu(root: Value) -> bool:
    """Return whether a YAML root has training data, which may be empty."""
    items = root["nlu"].items()
    return "nlu" in root.keys and (not items or any(kind in item.keys for item in items for kind in KINDS))


def is_domain(root: Value) -> bool:
    """Return whether a YAML root has responses with Rasa's names."""
    return any(name.startswith(UTTER) for key in _RESPONSES for name in root[key].keys)


def is_json(root: Value) -> bool:
    """Return whether a JSON root is NLU data."""
    return root["rasa_nlu_data"].is_mapping


def is_markdown(file: File) -> bool:
    """Return whether a file has a Markdown heading of training data."""
    return any(_SECTION.fullmatch(line) for line in _COMMENT.sub("", "\n".join(file.lines)).split("\n"))


def read_yaml(file: File, root: Value, bot: RasaBot) -> None:
    """Read `nlu:` and `responses:`."""
    for item in root["nlu"].items():
        _read_item(item, file, bot)
    for key in _RESPONSES:
        for action, variants in root[key].entries():
            for variant in variants.items():
                _read_response(action, variant, bot)
    language = root["language"].text() if root["pipeline"] else None
    if language:
        hint = f"to use it, import with --language {language}"
        message = f"the language {language!r} of the pipeline is not imported"
        bot.draft.note(root["language"].location, "language", message, hint)


def read_json(file: File, root: Value, bot: RasaBot) -> None:
    """Read `rasa_nlu_data:`."""
    data = root["rasa_nlu_data"]
    for key in ("common_examples", "intent_examples", "entity_examples"):
        for example in data[key].items():
            text = example["text"].text()
            name = example["intent"].text()
            if text is None or name is None:
                bot.draft.warn(example.location, "incomplete-example", "an example without text or intent is skipped")
            else:
                bot.labelled(name, text, _entities(example, text), example["text"].location)
    for synonym in data["entity_synonyms"].items():
        synonyms = [text for line in synonym["synonyms"].items() if (text := line.text()) is not None]
        bot.synonyms(synonym["value"].text() or "", synonyms, synonym.location)
    for regex in data["regex_features"].items():
        pattern = regex["pattern"].text()
        if pattern:
            bot.patterns(regex["name"].text() or "", [pattern], regex.location)
    for table in data["lookup_tables"].items():
        name, elements = table["name"].text() or "", table["elements"]
        if elements.is_text:
            bot.lookup_file(name, elements.text() or "", file, elements.location)
        else:
            bot.lookup(name, filter(None, (line.text() for line in elements.items())), table.location)


def read_markdown(file: File, bot: RasaBot) -> None:
    """Read Markdown sections with headings such as `## intent:greet`."""
    kind = name = ""
    place = file.location
    values: list[str] = []
    # Replace comments by their line breaks, so that line numbers stay correct.
    text = _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), file.text.replace("\r\n", "\n"))
    for number, line in enumerate(text.split("\n"), 1):
        here = Location(file.place, number, len(line) - len(line.lstrip()) + 1)
        heading, item = _SECTION.fullmatch(line), _ITEM.fullmatch(line)
        if heading is not None or line.startswith("#"):
            _end_section(kind, name, values, place, bot)
            kind, name = (heading["kind"], heading["name"]) if heading else ("", "")
            place, values = here, []
            if heading is None:
                bot.draft.warn(here, "unknown-section", "a section that is not training data is skipped")
        elif item is not None and kind == "intent":
            bot.say(name, item["text"], Location(file.place, number, item.start("text") + 1))
        elif item is not None:
            values.append(item["text"])
        # In Markdown, a lookup table may be the path of a file, without a dash.
        elif line.strip() and kind == "lookup":
            bot.lookup_file(name, line.strip(), file, here)
        elif line.strip() and kind:
            bot.draft.warn(here, "unread-line", "a line that does not begin with a dash is skipped")
    _end_section(kind, name, values, place, bot)


def _end_section(kind: str, name: str, values: list[str], place: Location, bot: RasaBot) -> None:
    if kind and not name:
        bot.draft.warn(place, "no-name", f"a section {kind!r} without a name is skipped")
    elif kind == "synonym":
        bot.synonyms(name, values, place)
    elif kind == "regex":
        bot.patterns(name, values, place)
    elif kind == "lookup" and values:
        bot.lookup(name, values, place)
    elif kind == "intent":
        bot.declare(name, place)


def _read_item(item: Value, file: File, bot: RasaBot) -> None:
    kind = next((kind for kind in KINDS if kind in item.keys), None)
    if kind is None:
        bot.draft.warn(item.location, "unknown-key", f"an item without {', '.join(KINDS[:-1])} or lookup is skipped")
        return
    name = ((item[kind].text() if item[kind].is_text else None) or "").strip()
    if not name:
        place = item[kind].location
        bot.draft.warn(place, "no-name", f"`{kind}` must be a name; the item is skipped", "write it after the colon")
        return
    if kind == "intent":
        _read_intent(name, item, file, bot)
        return
    lines = [text for text, _ in examples(item["examples"], file, bot.draft)]
    if kind == "synonym":
        bot.synonyms(name, lines, item.location)
    elif kind == "regex":
        bot.patterns(name, lines, item.location)
    else:
        bot.lookup(name, lines, item.location)


def _read_intent(name: str, item: Value, file: File, bot: RasaBot) -> None:
    bot.declare(name, item["intent"].location, item["metadata"])
    if not item["examples"]:
        bot.draft.warn(
            item.location,
            "no-examples",
            f"{name!r} has no `examples`",
            "write `examples: |` and lines that begin with `- `",
        )
    for line, place in examples(item["examples"], file, bot.draft):
        bot.say(name, line, place)


def examples(value: Value, file: File, draft: Draft) -> Iterator[tuple[str, Location]]:
    """Yield the lines of a text block or the items of a list, with their locations."""
    if isinstance(value.node, Scalar):
        yield from _lines(value.node, file, draft)
        return
    for item in value.items():
        text = item
        if item.is_mapping:
            text = item["text"]
            if item["metadata"]:
                draft.not_expressed(item["metadata"].location, "metadata of single examples is not imported")
        line = text.text()
        if line is not None:
            yield line.strip().removeprefix("- "), text.location


def _lines(block: Scalar, file: File, draft: Draft) -> Iterator[tuple[str, Location]]:
    """Yield each line that begins with a dash. A text block begins on the line below its `|`."""
    for number, line in enumerate(block.text.split("\n"), block.location.line + 1):
        written = file.lines[number - 1] if number <= len(file.lines) else ""
        bare = line.strip()
        # The lines of quoted or folded text differ from those of the file.
        there = written.strip() == bare
        start = len(written) - len(written.lstrip()) + 1
        place = Location(file.place, number, start) if there else block.location
        if bare.startswith("-"):
            text = bare[1:].lstrip()
            yield text, Location(place.path, place.line, start + len(bare) - len(text)) if there else place
        elif bare:
            draft.warn(place, "unread-line", "a line that does not begin with a dash is skipped")


def _read_response(action: str, variant: Value, bot: RasaBot) -> None:
    if variant.is_text:
        bot.response(action, variant.text() or "", variant.location)
        return
    text = variant["text"].text()
    if text is not None:
        bot.response(action, text, variant["text"].location)
    others = sorted(set(variant.keys) - {"text"})
    if others:
        bot.draft.not_expressed(variant.location, f"of responses only the text is imported, not {', '.join(others)}")


def _entities(example: Value, text: str) -> Iterator[Annotation]:
    for entity in example["entities"].items():
        name, start, end = entity["entity"].text(), entity["start"].integer(), entity["end"].integer()
        value = entity["value"].text()
        if name is None or start is None or end is None:
            if entity.note is not None:
                entity.note(entity.location, "bad-label", "an entity without a name, start or end is skipped", "")
        else:
            other = value if value != text[max(start, 0) : max(end, 0)] else None
            yield Annotation(name, start, end, other, entity["role"].text(), entity["group"].text())
