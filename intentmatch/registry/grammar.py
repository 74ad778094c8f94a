"""Positioned nodes of one file to the values of `types`, noting every departure from the grammar on the way.

A file has the keys `version`, `language`, `settings`, `intents` and `tests`; an intent has `title`, `description`,
`utterances`, `not`, `threshold`, `response` and `metadata`; a test has `text`, `intent` and `language`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from intentmatch import settings
from intentmatch.errors import InputError, Location, Problem, suggest
from intentmatch.registry.nodes import MAX_DEPTH, Mapping, Node, NodeError, Scalar
from intentmatch.registry.nodes import Sequence as ListNode
from intentmatch.text import language_code
from intentmatch.types import Case, Intent, Utterance

GRAMMAR_VERSION = "1"
FILE_KEYS = ("version", "language", "settings", "intents", "tests")
INTENT_KEYS = ("title", "description", "utterances", "not", "threshold", "response", "metadata")
TEST_KEYS = ("text", "intent", "language")
OUT_OF_SCOPE = "out_of_scope"
"""Stands for the name of an intent in a test."""

# Numbers that a double can hold; longer ones stay text.
_JSON_LITERAL = re.compile(r"true|false|null|-?(0|[1-9][0-9]{0,99})(\.[0-9]{1,99})?([eE][+-]?[0-9]{1,2})?")


@dataclass
class FileContent:
    """What one file holds."""

    intents: list[Intent] = field(default_factory=list)
    settings: dict[str, tuple[Any, Location]] = field(default_factory=dict)
    tests: list[Case] = field(default_factory=list)


class FileGrammar:
    """Reads the nodes of one file; `problems` fills up as it goes."""

    def __init__(self, path: str, characters: int) -> None:
        self.path = path
        self.problems: list[Problem] = []
        self._language: str | None = None
        # A file cannot hold more nodes than characters, unless aliases multiply them without end.
        self._visits_left = characters

    def read(self, root: Node | None) -> FileContent:
        """The content of the file; what could not be understood is left out and stands in `problems`.

        Raises `NodeError` where aliases blow the file up.
        """
        content = FileContent()
        if root is None:
            self._warn(Location(self.path), "empty-file", "the file is empty", "add an `intents:` block or delete it")
            return content
        entries = {key.text: value for key, value in self._entries(root, "a file", FILE_KEYS)}
        if "version" in entries:
            self._version(entries["version"])
        if "language" in entries:
            self._language = self._language_code(entries["language"])
        if "settings" in entries:
            content.settings = self._settings(entries["settings"])
        if "intents" in entries:
            for name, node in self._entries(entries["intents"], "`intents`"):
                content.intents.append(self._intent(name, node))
        if "tests" in entries:
            content.tests = list(self._tests(entries["tests"]))
        return content

    def _version(self, node: Node) -> None:
        text = self._text(node, "`version`")
        if text is not None and text != GRAMMAR_VERSION:
            message = f"version {text!r} of the file grammar is not known here"
            hint = f"write `version: {GRAMMAR_VERSION}`, or upgrade intentmatch"
            self._error(node.location, "version", message, hint)

    def _settings(self, node: Node) -> dict[str, tuple[Any, Location]]:
        values: dict[str, tuple[Any, Location]] = {}
        for key, value_node in self._entries(node, "`settings`"):
            if isinstance(value_node, Mapping):
                entries = self._entries(value_node, f"`{key.text}`")
                value: Any = {inner.text: self._text(v, f"`{inner.text}`") or "" for inner, v in entries}
            else:
                value = self._text(value_node, f"`{key.text}`")
            if value is None:
                continue
            try:
                settings.parse(key.text, value)
            except InputError as error:
                self._error(key.location, "setting", str(error))
            else:
                values[key.text] = (value, key.location)
        return values

    def _intent(self, name: Scalar, node: Node) -> Intent:
        entries = {key.text: value for key, value in self._entries(node, f"intent {name.text!r}", INTENT_KEYS)}

        def text(key: str) -> str | None:
            return self._text(entries[key], f"`{key}`") if key in entries else None

        return Intent(
            name=name.text.strip(),
            utterances=self._utterances(entries["utterances"], "utterances") if "utterances" in entries else (),
            negatives=self._utterances(entries["not"], "not") if "not" in entries else (),
            title=text("title"),
            description=text("description"),
            threshold=self._threshold(entries["threshold"]) if "threshold" in entries else None,
            responses=self._responses(entries["response"]) if "response" in entries else {},
            metadata=self._metadata(entries["metadata"]) if "metadata" in entries else {},
            location=name.location,
        )

    def _threshold(self, node: Node) -> float | None:
        text = self._text(node, "`threshold`")
        if text is None:
            return None
        try:
            return settings.fraction(text)
        except ValueError as error:
            self._error(node.location, "threshold", f"threshold {text!r} is not usable: {error}")
            return None

    def _utterances(self, node: Node, key: str) -> tuple[Utterance, ...]:
        if isinstance(node, Mapping):
            return tuple(
                utterance
                for code, lines in self._entries(node, f"`{key}`")
                for utterance in self._lines(lines, key, self._canonical(code))
            )
        return tuple(self._lines(node, key, self._language))

    def _lines(self, node: Node, key: str, language: str | None) -> Iterator[Utterance]:
        if not isinstance(node, ListNode):
            self._error(node.location, "wrong-type", f"`{key}` must be a list", "start each line with `- `")
            return
        for item in node.items:
            self._visit(item)
            if isinstance(item, Scalar):
                yield Utterance(item.text, language, item.location)
            else:
                hint = 'put the whole line in double quotes: ": " inside and [ or { in front are marks of YAML'
                self._error(item.location, "wrong-type", "an utterance must be text", hint)

    def _tests(self, node: Node) -> Iterator[Case]:
        if isinstance(node, Scalar) and node.plain and not node.text:
            return
        if not isinstance(node, ListNode):
            self._error(node.location, "wrong-type", "`tests` must be a list", "start each test with `- text: `")
            return
        for item in node.items:
            self._visit(item)
            yield from self._test(item)

    def _test(self, node: Node) -> Iterator[Case]:
        entries = {key.text: value for key, value in self._entries(node, "a test", TEST_KEYS)}
        lacking = next((key for key in ("text", "intent") if key not in entries), None)
        if lacking is not None:
            # What is neither a mapping nor empty has been complained of already.
            if isinstance(node, Mapping) or (isinstance(node, Scalar) and not node.text):
                message = f"a test needs `text` and `intent`, and this has no `{lacking}`"
                hint = f"for a message that no intent should answer, write `intent: {OUT_OF_SCOPE}`"
                self._error(node.location, "incomplete-test", message, hint)
            return
        text = self._text(entries["text"], "`text`")
        names = self._expected(entries["intent"])
        language = self._language_code(entries["language"]) if "language" in entries else self._language
        if text is not None and names:
            expected = None if names == (OUT_OF_SCOPE,) else names[0] if len(names) == 1 else names
            yield Case(text, expected, language, node.location)

    def _expected(self, node: Node) -> tuple[str, ...]:
        """The intents that a test names; none with a problem noted."""
        if not isinstance(node, ListNode):
            name = self._text(node, "`intent`")
            return () if name is None else (name.strip(),)
        for item in node.items:
            self._visit(item)
        named = [self._text(item, "an intent") for item in node.items]
        names = tuple(dict.fromkeys(name.strip() for name in named if name is not None))
        if None not in named and (len(names) < 2 or OUT_OF_SCOPE in names):
            message = "a list in `intent` must name two or more intents: those that the bot should ask about"
            self._error(node.location, "wrong-type", message, "write a single name without brackets")
        return () if None in named or len(names) < 2 or OUT_OF_SCOPE in names else names

    def _responses(self, node: Node) -> dict[str, str]:
        if not isinstance(node, Mapping):
            text = self._text(node, "`response`")
            return {} if text is None else {self._language or "": text}
        responses: dict[str, str] = {}
        for code, value in self._entries(node, "`response`"):
            language = self._canonical(code)
            text = self._text(value, "a response")
            if language in responses:
                self._error(
                    code.location, "duplicate-key", f"there are two responses for {language}", "keep one of them"
                )
            elif language is not None and text is not None:
                responses[language] = text
        return responses

    def _metadata(self, node: Node) -> dict[str, Any]:
        if not isinstance(node, Mapping):
            self._error(
                node.location, "wrong-type", "`metadata` must be a mapping", "write `key: value` lines below it"
            )
            return {}
        value = self._json(node)
        return value if isinstance(value, dict) else {}

    def _json(self, node: Node, level: int = 1) -> Any:
        """Metadata as JSON would read it: 3, 1.5, true, false and null unquoted; everything else is text."""
        if level > MAX_DEPTH:
            message = f"aliases nest `metadata` deeper than {MAX_DEPTH} levels"
            raise NodeError(Problem(node.location, "error", "alias-expansion", message, "write the lines out"))
        if isinstance(node, Mapping):
            return {key.text: self._json(value, level + 1) for key, value in self._entries(node, "`metadata`")}
        if isinstance(node, ListNode):
            for item in node.items:
                self._visit(item)
            return [self._json(item, level + 1) for item in node.items]
        return json.loads(node.text) if node.plain and _JSON_LITERAL.fullmatch(node.text) else node.text

    def _language_code(self, node: Node) -> str | None:
        text = self._text(node, "`language`")
        return self._canonical(node) if isinstance(node, Scalar) and text is not None else None

    def _canonical(self, node: Scalar) -> str | None:
        """A BCP-47 code in its usual case, or None with a problem noted."""
        code = language_code(node.text)
        if code is None or "_" in node.text:
            hint = f"write {code}" if code else "use a BCP-47 code such as en, pt-BR or zh-Hant"
            self._error(node.location, "language-code", f"{node.text!r} is not a language code", hint)
            return None
        return code

    def _text(self, node: Node, what: str) -> str | None:
        if isinstance(node, Scalar) and (node.text.strip() or not node.plain):
            return node.text
        found = "empty" if isinstance(node, Scalar) else "a list" if isinstance(node, ListNode) else "a mapping"
        hint = "write the text after the colon"
        self._error(node.location, "wrong-type", f"{what} must be text, and is {found}", hint)
        return None

    def _entries(self, node: Node, what: str, known: Sequence[str] | None = None) -> Iterator[tuple[Scalar, Node]]:
        """Key and value of a mapping; repeated, unknown and non-text keys are noted and left out."""
        if isinstance(node, Scalar) and node.plain and not node.text:
            return
        if not isinstance(node, Mapping):
            self._error(node.location, "wrong-type", f"{what} must be a mapping", "write `key: value` lines")
            return
        seen: dict[str, Location] = {}
        for key, value in node.entries:
            self._visit(key)
            if not isinstance(key, Scalar) or not key.text.strip():
                self._error(key.location, "wrong-type", f"a key in {what} must be text")
            elif key.text in seen:
                hint = f"the first one is in line {seen[key.text].line}; merge the two or rename one"
                self._error(key.location, "duplicate-key", f"{key.text!r} stands twice in {what}", hint)
            elif known is not None and key.text not in known:
                seen[key.text] = key.location
                nearest = suggest(key.text, known)
                hint = f"did you mean `{nearest}`?" if nearest else f"known are {', '.join(known)}"
                self._error(key.location, "unknown-key", f"unknown key {key.text!r} in {what}", hint)
            else:
                seen[key.text] = key.location
                yield key, value

    def _visit(self, node: Node) -> None:
        self._visits_left -= 1
        if self._visits_left < 0:
            message = "aliases multiply the content of this file without end"
            raise NodeError(Problem(node.location, "error", "alias-expansion", message, "write the lines out"))

    def _error(self, location: Location, rule: str, message: str, hint: str = "") -> None:
        self.problems.append(Problem(location, "error", rule, message, hint))

    def _warn(self, location: Location, rule: str, message: str, hint: str = "") -> None:
        self.problems.append(Problem(location, "warning", rule, message, hint))
