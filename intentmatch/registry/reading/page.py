"""Read texts, lists, keys and languages from the nodes of one file, and report unexpected ones."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from intentmatch.core.errors import Location, Problem, suggest
from intentmatch.languages.country_codes import LANGUAGE_OF, language_named
from intentmatch.registry.reading.comments import split_lines
from intentmatch.registry.reading.lost_text import Lost, lost_text
from intentmatch.registry.reading.nodes import Mapping, Node, NodeError, Scalar
from intentmatch.registry.reading.nodes import Sequence as ListNode
from intentmatch.text.normalize import language_code

NAME_HINT = "start with a letter, then use letters, digits, _, - and ."
# Words of other tools for keys of this grammar.
_OTHER_WORDS = {
    "examples": "utterances",
    "messages": "utterances",
    "patterns": "utterances",
    "phrases": "utterances",
    "questions": "utterances",
    "samples": "utterances",
    "sentences": "utterances",
    "training_phrases": "utterances",
    "answer": "response",
    "answers": "response",
    "reply": "response",
    "exclude": "not",
    "negatives": "not",
    "entities": "slots",
    "parameters": "slots",
    "contexts": "when",
    "kind": "type",
    "options": "values",
    "choices": "values",
    "regex": "pattern",
    "question": "ask",
    "prompt": "ask",
    "expect": "intent",
    "expected": "intent",
    "label": "intent",
    "message": "text",
    "utterance": "text",
}
# Keys whose value is a list or a mapping.
_COLLECTIONS = frozenset({"utterances", "not", "slots", "intents", "rules", "tests", "settings", "metadata", "values"})
# Keys of a file that authors write into an intent.
_OF_FILES = frozenset({"tests", "settings", "rules", "include", "version", "intents"})
_LISTS_OF_FILES = frozenset({"tests", "include"})
_COMMA_HINT = "a comma in braces begins a new key: put a text that has one in double quotes"
ALIAS_HINT = "write the lines out instead of using aliases"


class Page:
    """One file that is being read; `problems` collects its mistakes."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self._text = text
        self.problems: list[Problem] = []
        self.language: str | None = None
        """Language of every text in the file that does not declare its own."""
        # A file cannot hold more nodes than characters, unless aliases multiply them.
        self._visits_left = len(text)

    def text(self, node: Node, what: str) -> str | None:
        """Return the text of a scalar node; report anything else and return None."""
        # An empty value without quotes was forgotten; with quotes it is meant.
        if isinstance(node, Scalar) and (node.text.strip() or not node.plain):
            return node.text
        hint = "write the text after the colon"
        if isinstance(node, Scalar) and (lost := self.take_lost(node)) is not None:
            hint = lost.hint
        self.error(node.location, "wrong-type", f"{what} must be text, not {found(node)}", hint)
        return None

    def boolean(self, node: Node, what: str, rule: str) -> bool | None:
        """Return the value of `true` or `false`; report anything else under a rule and return None."""
        if isinstance(node, Scalar) and node.text in ("true", "false"):
            return node.text == "true"
        self.error(node.location, rule, f"{what} must be true or false", "write `true` or `false`")
        return None

    def items(self, node: Node, what: str, hint: str = "start each line with `- `") -> Iterator[Node]:
        """Yield the items of a list node; report anything else."""
        if not isinstance(node, ListNode):
            if (without_colon := self._without_colon(node)) is not None:
                place = replace(node.location, column=node.location.column + len(without_colon))
                message, hint = f"the colon after `{without_colon}` is missing", f"write `{without_colon}:`"
                self.error(place, "wrong-type", message, hint)
                return
            # `-text` is a text for YAML.
            if isinstance(node, Scalar) and re.match(r"-\S", node.text):
                hint = "write a space after each dash"
            elif isinstance(node, Scalar) and not node.plain and (sign := self.source(node)[1][:1]) in ("|", ">"):
                hint = f"remove the `{sign}`, which makes one text of all lines, and start each line with `- `"
            self.error(node.location, "wrong-type", f"{what} must be a list", hint)
            return
        for item in node.items:
            self.visit(item)
            yield item

    def _without_colon(self, node: Node) -> str | None:
        """Return the word on the first line of a text if a list follows below: it is a key without its colon."""
        if not (isinstance(node, Scalar) and node.plain) or self.is_verbatim(node):
            return None
        word, following = self.source(node)[1].strip(), self.next_line(node)
        is_key = re.fullmatch(r"[\w-]+", word) and not self.source(node)[0].strip()
        return word if is_key and following is not None and following[1].startswith("- ") else None

    def texts(self, node: Node, what: str) -> list[Scalar]:
        """Return the texts of a node that is one text or a list of texts."""
        items = [node] if isinstance(node, Scalar) else list(self.items(node, what, "write a text, or a list of them"))
        return [item for item in items if self.text(item, what) is not None and isinstance(item, Scalar)]

    def entries(self, node: Node, what: str, known: Sequence[str] | None = None) -> Iterator[tuple[Scalar, Node]]:
        """Yield the keys and values of a mapping; report and skip repeated, unknown and non-text keys."""
        if is_empty(node):
            return
        if not isinstance(node, Mapping):
            self._no_mapping(node, what, known or ())
            return
        seen: dict[str, Location] = {}
        for key, value in node.entries:
            self.visit(key)
            if not isinstance(key, Scalar) or not key.text.strip():
                self.error(key.location, "wrong-type", f"a key in {what} must be text")
            elif key.text in seen:
                hint = f"the first one is on line {seen[key.text].line}; merge the two or rename one"
                self.error(key.location, "duplicate-key", f"duplicate key {key.text!r} in {what}", hint)
            elif known is not None and key.text not in known:
                seen[key.text] = key.location
                meant = self._unknown_key(key, value, what, known)
                # Read under the key that was meant, so that one misspelling is one problem.
                if meant is not None and not any(isinstance(k, Scalar) and k.text == meant for k, _ in node.entries):
                    yield replace(key, text=meant), value
            else:
                seen[key.text] = key.location
                yield key, value

    def _no_mapping(self, node: Node, what: str, known: Sequence[str]) -> None:
        """Report a node that is not a mapping, with the likely reason."""
        message, hint, place = f"{what} must be a mapping", "write `key: value` lines", node.location
        if isinstance(node, ListNode) and what == "`slots`":
            hint = "write the name of each slot and a colon, and its keys below, without dashes"
        elif isinstance(node, ListNode) and "utterances" in known:
            hint = "write `utterances:` above the list"
        elif isinstance(node, ListNode) and what == "`intents`":
            hint = "write the name of each intent and a colon, and its keys below, without dashes"
        elif isinstance(node, ListNode) and what.startswith("`answers`"):
            hint = "write the name of each answer and a colon, and a list of messages that give it below"
        elif "answers" in known:
            hint = "write `answers:` below it, and below that each answer with a list of messages that give it"
        elif isinstance(node, Scalar) and node.plain:
            key = re.match(r"\w+", node.text)
            if key is not None and key[0] in known:
                after = node.text[key.end() :]
                if after[:1] == ":":
                    message, hint = f"a space is missing after `{key[0]}:`", f"write `{key[0]}: {after[1:]}`"
                else:
                    message, hint = f"the colon after `{key[0]}` is missing", f"write `{key[0]}:`"
                place = replace(place, column=place.column + key.end() + (after[:1] == ":"))
        self.error(place, "wrong-type", message, hint)

    def _unknown_key(self, key: Scalar, value: Node, what: str, known: Sequence[str]) -> str | None:
        """Report an unknown key; return the known key that it stands for, if the value suits that key."""
        nearest = suggest(key.text, known)
        word = key.text.lower()
        if _OTHER_WORDS.get(word) in known:
            nearest = _OTHER_WORDS[word]
        elif "utterances" in known and (language_code(key.text) is not None or word in _OF_FILES):
            nearest = None
        is_list_in_file = what == "a file" and isinstance(value, ListNode) and nearest not in _LISTS_OF_FILES
        if is_list_in_file:
            nearest = None
        if is_empty(value) and self._follows_comma(key):
            nearest, hint = None, f"{_COMMA_HINT}, and a list in square brackets"
        elif nearest is not None:
            hint = f"did you mean `{nearest}`?"
        elif "answers" in known:
            hint = f"if {key.text!r} is an answer, write it below `answers:`; known keys: {', '.join(known)}"
        elif is_list_in_file:
            hint = f"if {key.text!r} is an intent, write it below `intents:`, and `utterances:` above its list"
        elif "utterances" in known and word in _OF_FILES:
            hint = f"`{word}` belongs at the top level of a file, without indentation"
        elif "utterances" in known and language_code(key.text) is not None:
            hint = f"a language belongs below `utterances:`, `not:`, `title:` or `response:`; indent `{key.text}` there"
        else:
            hint = f"known keys: {', '.join(known)}"
        self.error(key.location, "unknown-key", f"unknown key {key.text!r} in {what}", hint)
        return nearest if nearest is not None and isinstance(value, Scalar) != (nearest in _COLLECTIONS) else None

    def _follows_comma(self, key: Scalar) -> bool:
        """Return whether an unquoted key stands behind a comma in braces, as the end of a text with a comma does."""
        before = self.source(key)[0]
        return key.plain and "{" in before and before.rstrip().endswith(",")

    def by_language(self, node: Node, what: str) -> Iterator[tuple[str | None, Node]]:
        """Yield language and node: one pair per key of a mapping, or the node itself in the file's language."""
        if not isinstance(node, Mapping):
            yield self.language, node
            return
        for code, value in self.entries(node, what):
            yield self.canonical(code), value

    def localized(self, node: Node, what: str, one: str) -> dict[str, str]:
        """Return texts by language, from one text or a mapping; "" is the key of a text without a language."""
        return {language: text.text for language, text in self.texts_by_language(node, what, one).items()}

    def variants(self, node: Node, what: str, one: str) -> dict[str, tuple[str, ...]]:
        """Return the texts of a list by language, each once; a single text is a list of one."""
        variants: dict[str, tuple[str, ...]] = {}
        for code, value in self.entries(node, what) if isinstance(node, Mapping) else [(None, node)]:
            language = (self.language or "") if code is None else self.canonical(code)
            if language is None and is_empty(value):
                continue
            texts = tuple(dict.fromkeys(text.text for text in self.texts(value, what if code is None else f"a {one}")))
            if isinstance(value, ListNode) and not value.items:
                self.error(value.location, "wrong-type", f"a list of {one}s must not be empty", "write a text in it")
            if code is not None and language in variants:
                self.error(code.location, "duplicate-key", f"there are two {one}s for {language}", "keep one of them")
            elif language is not None and texts:
                variants[language] = texts
        return variants

    def texts_by_language(self, node: Node, what: str, one: str) -> dict[str, Scalar]:
        """Return the nodes of the texts that `localized` returns."""
        texts: dict[str, Scalar] = {}
        if not isinstance(node, Mapping):
            if self.text(node, what) is not None and isinstance(node, Scalar):
                texts[self.language or ""] = node
            return texts
        for code, value in self.entries(node, what):
            language = self.canonical(code)
            if language is None and is_empty(value):
                continue
            text = self.text(value, f"a {one}")
            if language in texts:
                message = f"there are two {one}s for {language}"
                self.error(code.location, "duplicate-key", message, "keep one of them")
            elif language is not None and text is not None and isinstance(value, Scalar):
                texts[language] = value
        return texts

    def language_code(self, node: Node) -> str | None:
        """Return the BCP-47 code in a node; report anything else and return None."""
        text = self.text(node, "`language`")
        return self.canonical(node) if isinstance(node, Scalar) and text is not None else None

    def canonical(self, node: Scalar) -> str | None:
        """Return a BCP-47 code in its usual case; report an invalid one and return None."""
        code = language_code(node.text)
        # `pt_BR` is POSIX's form and not BCP-47's, but clear enough to say what to write.
        if code is None or "_" in node.text:
            hint = f"write {code}" if code else "use a BCP-47 code such as en, pt-BR or zh-Hant"
            if (named := language_named(node.text)) is not None:
                hint = f"did you mean `{named}`?"
            elif " " in node.text and self._follows_comma(node):
                hint = _COMMA_HINT
            self.error(node.location, "language-code", f"{node.text!r} is not a language code", hint)
            return None
        if (language := LANGUAGE_OF.get(code)) is not None:
            message = f"{code!r} is the code of a country and not of its language"
            self.warn(node.location, "country-code", message, f"did you mean `{language}`?")
        return code

    def place(self, node: Scalar, position: int) -> Location:
        """Locate a character of a text; return the start of a text that is folded or holds escapes."""
        path, line, column = node.location.path, node.location.line, node.location.column
        source = self.source(node)[1]
        quote = source[:1] if not node.plain else ""
        verbatim = source.startswith(f"{quote}{node.text}{quote}")
        return Location(path, line, column + len(quote) + position) if verbatim else node.location

    def source(self, node: Node) -> tuple[str, str]:
        """Return the source line of a node: the part before the node, and the part from the node on."""
        line = self._lines[node.location.line - 1]
        return line[: node.location.column - 1], line[node.location.column - 1 :]

    def is_verbatim(self, node: Scalar) -> bool:
        """Return whether an unquoted text stands on one line as it is."""
        place = node.location
        return self._lines[place.line - 1].startswith(node.text, place.column - 1)

    def next_line(self, node: Node) -> tuple[Location, str] | None:
        """Return the next line with content after a node's first line: its place and its text."""
        for number in range(node.location.line, len(self._lines)):
            bare = self._lines[number].strip()
            if bare:
                column = self._lines[number].index(bare) + 1
                return Location(self.path, number + 1, column), bare
        return None

    def take_lost(self, node: Node) -> Lost | None:
        """Return the lost text on a node's line, once: the caller reports it."""
        return self._lost.pop(node.location.line, None)

    def warn_of_lost_text(self) -> None:
        """Report the lost text that no other problem has reported."""
        for lost in self._lost.values():
            if lost.certain:
                self.warn(Location(self.path, lost.line, lost.column), "lost-text", lost.message, lost.hint)

    @cached_property
    def _lost(self) -> dict[int, Lost]:
        return lost_text(self._text)

    @cached_property
    def _lines(self) -> list[str]:
        return split_lines(self._text)

    def visit(self, node: Node, cost: int = 1) -> None:
        """Count a node. Raises `NodeError` if aliases expand the file beyond its size limit."""
        self._visits_left -= cost
        if self._visits_left < 0:
            message = "aliases expand this file beyond its size limit"
            raise NodeError(Problem(node.location, "error", "alias-expansion", message, ALIAS_HINT))

    def error(self, location: Location, rule: str, message: str, hint: str = "") -> None:
        """Report an error: the registry cannot be loaded."""
        self.problems.append(Problem(location, "error", rule, message, hint))

    def warn(self, location: Location, rule: str, message: str, hint: str = "") -> None:
        """Report a likely mistake."""
        self.problems.append(Problem(location, "warning", rule, message, hint))


def is_empty(node: Node) -> bool:
    """Return whether a key has no value."""
    return isinstance(node, Scalar) and node.plain and not node.text


def found(node: Node) -> str:
    """Name what a node holds in place of a text, for error messages."""
    return "empty" if isinstance(node, Scalar) else "a list" if isinstance(node, ListNode) else "a mapping"
