"""Turn the nodes of one file into values of `core.types`, and report every violation of the grammar.

`FILE_KEYS`, `INTENT_KEYS`, `QUESTION_KEYS` and `TEST_KEYS` list the keys of each part. Utterances, negatives and
rules are templates. This module neither expands them nor resolves the names in them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from intentmatch.core import settings
from intentmatch.core.errors import InputError, Location, Problem
from intentmatch.core.placeholders import placeholders
from intentmatch.core.threshold import Threshold, parse_threshold
from intentmatch.core.types import Case, Intent, Rule, TraitQuestion, Utterance
from intentmatch.registry.reading.file_content import FileContent, Reference, owner_of_lines
from intentmatch.registry.reading.line_parts import columns, quoted, shown
from intentmatch.registry.reading.misplaced import is_intent, keys_above, keys_below, keys_below_last, languages_below
from intentmatch.registry.reading.nodes import MAX_DEPTH, Mapping, Node, NodeError, Scalar
from intentmatch.registry.reading.nodes import Sequence as ListNode
from intentmatch.registry.reading.own_sections import read_own_sections
from intentmatch.registry.reading.page import ALIAS_HINT, NAME_HINT, Page, is_empty
from intentmatch.registry.reading.slot_grammar import SlotGrammar
from intentmatch.registry.templates.syntax import MARKS, Blank, Template, Use, is_name, parse
from intentmatch.text.normalize import language_code

GRAMMAR_VERSION = "1"
FILE_KEYS = (
    "version",
    "language",
    "include",
    "settings",
    "languages",
    "rules",
    "slots",
    "intents",
    "questions",
    "tests",
)
INTENT_KEYS = (
    "title", "description", "utterances", "not", "threshold", "response", "metadata", "slots", "when", "confirm",
)  # fmt: skip
QUESTION_KEYS = ("question", "answers")
TEST_KEYS = ("text", "intent", "language")
_OF_RASA = ("nlu", "stories")
_BY_LANGUAGE = ("title", "utterances", "not", "response")
OUT_OF_SCOPE = "out_of_scope"
"""The value of a test's `intent:` that expects no intent."""

# Numbers that a double can hold; longer ones remain text.
_JSON_LITERAL = re.compile(r"true|false|null|-?(0|[1-9][0-9]{0,99})(\.[0-9]{1,99})?([eE][+-]?[0-9]{1,2})?")
# All templates together may be this many times as long as the file; aliases repeat them.
_ALIASED = 8
_MARK = re.compile(f"[{re.escape(MARKS)}]")


class FileGrammar:
    """Reads the nodes of one file and collects problems."""

    def __init__(self, path: str, text: str) -> None:
        self._page = Page(path, text)
        self._slots = SlotGrammar(self._page)
        self._content = FileContent(path)

    @property
    def problems(self) -> list[Problem]:
        """Problems found so far."""
        return self._page.problems

    def read(self, root: Node | None) -> FileContent:
        """Return the content of the file without its invalid parts, which are in `problems`.

        Raises `NodeError` if aliases expand the file beyond its size limit.
        """
        page, content = self._page, self._content
        if root is None:
            page.warn(Location(page.path), "empty-file", "the file is empty", "add an `intents:` block or delete it")
        if root is None or self._is_foreign(root):
            return content
        root, stray = self._stray_intents(root)
        entries = {key.text: value for key, value in page.entries(root, "a file", FILE_KEYS)}
        self._head(entries)
        if "settings" in entries:
            content.settings = self._settings(entries["settings"])
        if "languages" in entries:
            content.own_sections = list(read_own_sections(entries["languages"], page))
        if "rules" in entries:
            content.rules = list(self._rules(entries["rules"]))
        if "slots" in entries:
            content.slots = list(self._slots.read(entries["slots"]))
        if "intents" in entries:
            content.intents = self._intents(entries["intents"])
        content.intents += [self._intent(*entry) for entry in stray]
        if "questions" in entries:
            content.questions = list(self._questions(entries["questions"]))
        if "tests" in entries:
            content.tests = list(self._tests(entries["tests"]))
        page.warn_of_lost_text()
        return content

    def _head(self, entries: dict[str, Node]) -> None:
        page = self._page
        if "version" in entries:
            self._version(entries["version"])
        if "language" in entries:
            page.language = page.language_code(entries["language"])
        if "include" in entries:
            named = page.texts(entries["include"], "`include`")
            self._content.includes = [(node.text, node.location) for node in named]

    def _is_foreign(self, root: Node) -> bool:
        """Report a file of Rasa; return whether it is one."""
        keys = [key for key, _ in root.entries if isinstance(key, Scalar)] if isinstance(root, Mapping) else []
        foreign = next((key for key in keys if key.text in _OF_RASA), None)
        if foreign is None or any(key.text == "intents" for key in keys):
            return False
        hint = "convert the bot with `intentmatch import FOLDER -o intents/`, and load what it writes"
        self._page.error(foreign.location, "foreign-file", f"this is a file of Rasa: `{foreign.text}`", hint)
        return True

    def _stray_intents(self, root: Node) -> tuple[Node, list[tuple[Scalar, Node]]]:
        """Report intents at the top level of a file; return the file without them, and them."""
        root, misplaced = keys_below_last(root, "intents", INTENT_KEYS)
        self._page.problems += misplaced
        if not isinstance(root, Mapping):
            return root, []
        rest: list[tuple[Node, Node]] = []
        stray: list[tuple[Scalar, Node]] = []
        for key, value in root.entries:
            if isinstance(key, Scalar) and key.text not in FILE_KEYS and is_intent(value, INTENT_KEYS):
                stray.append((key, value))
            else:
                rest.append((key, value))
        has_intents = any(isinstance(key, Scalar) and key.text == "intents" for key, _ in rest)
        # A file without `intents:` has one mistake, not one for each intent.
        for key, _ in stray if has_intents else stray[:1]:
            message = f"the intent {key.text!r} is at the top level of the file"
            hint = "indent it below `intents:`"
            if not has_intents:
                hint = "write a line `intents:` above the intents, and indent them below it"
            self._page.error(key.location, "wrong-indentation", message, hint)
        return replace(root, entries=tuple(rest)), stray

    def _version(self, node: Node) -> None:
        text = self._page.text(node, "`version`")
        if text is not None and text != GRAMMAR_VERSION:
            message = f"unsupported grammar version {text!r}"
            hint = f"write `version: {GRAMMAR_VERSION}`, or upgrade intentmatch"
            self._page.error(node.location, "version", message, hint)

    def _settings(self, node: Node) -> dict[str, tuple[Any, Location]]:
        page = self._page
        values: dict[str, tuple[Any, Location]] = {}
        for key, value_node in page.entries(node, "`settings`"):
            value = self._setting(value_node, key.text, lists=key.text in settings.WITH_LISTS)
            if value is None:
                continue
            if key.text in settings.OPERATORS:
                hint = f"set {settings.ENVIRONMENT_PREFIX}{key.text.upper()}, or pass it to Matcher.load or --set"
                page.error(key.location, "setting", f"{key.text} cannot be set in YAML, which it limits", hint)
                continue
            try:
                settings.parse(key.text, value)
            except InputError as error:
                page.error(key.location, "setting", str(error))
            else:
                values[key.text] = (value, key.location)
        return values

    def _setting(self, node: Node, name: str, *, lists: bool) -> Any:
        """Return a text, a mapping of texts or mappings, or a list where `lists` allows it; None for anything else."""
        page = self._page
        if lists and isinstance(node, ListNode):
            return [page.text(item, f"an item of `{name}`") or "" for item in page.items(node, f"`{name}`")]
        if not isinstance(node, Mapping):
            return page.text(node, f"`{name}`")
        entries = page.entries(node, f"`{name}`")
        values = ((key.text, self._setting(inner, key.text, lists=lists)) for key, inner in entries)
        return {name: "" if value is None else value for name, value in values}

    def _rules(self, node: Node) -> Iterator[Rule]:
        for key, value in self._page.entries(node, "`rules`"):
            name = key.text.strip()
            if not is_name(name):
                self._page.error(key.location, "bad-name", f"{name!r} is not a valid rule name", NAME_HINT)
                continue
            templates = self._page.texts_by_language(value, f"rule {name!r}", "template")
            for language, template in templates.items():
                parsed = self._parsed(template, fragment=True)
                self._content.rule_references += self._references(parsed, template, name, language or None)
            yield Rule(name, {language: template.text for language, template in templates.items()}, key.location)

    def _intents(self, node: Node) -> list[Intent]:
        node, misplaced = keys_below(node, INTENT_KEYS)
        self._page.problems += misplaced
        return [self._intent(*entry) for entry in self._page.entries(node, "`intents`")]

    def _intent(self, key: Scalar, node: Node) -> Intent:
        page, name = self._page, key.text.strip()
        before = len(page.problems)
        node, misplaced = languages_below(node, _BY_LANGUAGE, INTENT_KEYS)
        page.problems += misplaced
        node, misplaced = keys_above(node, _BY_LANGUAGE, INTENT_KEYS)
        page.problems += misplaced
        entries = {inner.text: value for inner, value in page.entries(node, f"intent {key.text!r}", INTENT_KEYS)}

        def text(key: str) -> str | None:
            return page.text(entries[key], f"`{key}`") if key in entries else None

        titles: dict[str, str] = {}
        if isinstance(entries.get("title"), Mapping):
            titles = page.localized(entries["title"], "`title`", "title")
        if "slots" in entries:
            self._content.intent_slots += [(name, e) for e in self._slots.read(entries["slots"], refine=True)]
        responses = page.variants(entries["response"], "`response`", "response") if "response" in entries else {}
        self._content.placeholders += self._placeholders(entries.get("response"), name)
        utterances: tuple[Utterance, ...] = ()
        if "utterances" in entries:
            utterances = tuple(self._utterances(entries["utterances"], "utterances", name))
        # Its utterances may stand in what could not be read: then `no-utterances` would be a second report of one
        # mistake.
        if not utterances and any(problem.severity == "error" for problem in page.problems[before:]):
            self._content.unread.add(name)
        return Intent(
            name=name,
            utterances=utterances,
            negatives=tuple(self._utterances(entries["not"], "not", name)) if "not" in entries else (),
            title=_first_title(titles, page.language) if titles else text("title"),
            description=text("description"),
            threshold=self._threshold(entries["threshold"]) if "threshold" in entries else None,
            responses={language: texts[0] for language, texts in responses.items()},
            metadata=self._metadata(entries["metadata"]) if "metadata" in entries else {},
            location=key.location,
            when=tuple(dict.fromkeys(tag.text.strip() for tag in page.texts(entries["when"], "`when`")))
            if "when" in entries
            else (),
            titles=titles,
            confirm=bool("confirm" in entries and page.boolean(entries["confirm"], "`confirm`", "wrong-type")),
            more_responses={language: texts[1:] for language, texts in responses.items() if len(texts) > 1},
        )

    def _questions(self, node: Node) -> Iterator[TraitQuestion]:
        for key, value in self._page.entries(node, "`questions`"):
            name, before = key.text.strip(), len(self._page.problems)
            entries = {
                inner.text: below for inner, below in self._page.entries(value, f"question {name!r}", QUESTION_KEYS)
            }
            text = self._page.text(entries["question"], "`question`") if "question" in entries else None
            answers = self._answers(entries["answers"], name) if "answers" in entries else {}
            # What is wrong with it is reported once.
            if any(problem.severity == "error" for problem in self._page.problems[before:]):
                continue
            yield TraitQuestion(name, answers, text, key.location)

    def _answers(self, node: Node, question: str) -> dict[str, tuple[Utterance, ...]]:
        what = f"`answers` of {question!r}"
        return {
            key.text.strip(): tuple(self._utterances(lines, key.text, owner_of_lines(question)))
            for key, lines in self._page.entries(node, what)
        }

    def _threshold(self, node: Node) -> Threshold | None:
        text = self._page.text(node, "`threshold`")
        if text is None:
            return None
        try:
            return parse_threshold(text)
        except ValueError as error:
            self._page.error(node.location, "threshold", f"invalid threshold {text!r}: {error}")
            return None

    def _utterances(self, node: Node, key: str, intent: str) -> Iterator[Utterance]:
        for language, lines in self._page.by_language(node, f"`{key}`"):
            of_languages = isinstance(lines, ListNode) and all(map(_is_of_language, lines.items))
            for item in self._page.items(lines, f"`{key}`"):
                if isinstance(item, Scalar):
                    if is_empty(item) and self._is_lost(item):
                        continue
                    if item.plain and not self._page.is_verbatim(item):
                        self._check_joined(item)
                    # Most lines have no mark and need no parsing.
                    marked = _MARK.search(item.text)
                    yield (
                        self._template(item, language, intent)
                        if marked
                        else Utterance(item.text, language, item.location)
                    )
                elif of_languages:
                    self._language_with_dash(item)
                else:
                    self._no_utterance(item)

    def _is_lost(self, item: Scalar) -> bool:
        """Report an empty utterance whose text YAML reads as something else; return whether it is one."""
        lost = self._page.take_lost(item)
        if lost is None:
            return False
        place = Location(self._page.path, lost.line, lost.column)
        self._page.error(place, "empty-utterance", f"the utterance is empty: {lost.message}", lost.hint)
        return True

    def _check_joined(self, item: Scalar) -> None:
        """Report an unquoted utterance of several lines: mostly, the second line lacks its dash."""
        if self._page.source(item)[1].startswith(("!", "&")):
            return
        following = self._page.next_line(item)
        if following is not None:
            place, line = following
            if line.startswith("- "):
                shift = item.location.column - len("- ") - place.column
                hint = f"the dash belongs {columns(shift)}"
            else:
                hint = f"begin it with a dash and a space{shown(f'- {line}')}; or put the whole text in double quotes"
            self._page.warn(place, "joined-lines", "YAML joins this line to the utterance above it", hint)

    def _language_with_dash(self, item: Node) -> None:
        """Report an item of a list in which each one begins with a language and a colon."""
        code = item.entries[0][0].text if isinstance(item, Mapping) and isinstance(item.entries[0][0], Scalar) else ""
        message = f"an utterance must be text: `{code}:` names a language, and languages have no dash"
        self._page.error(item.location, "wrong-type", message, f"write `{code}:` without the dash, and a list below it")

    def _no_utterance(self, item: Node) -> None:
        """Report a list or a mapping in place of an utterance, with the likely reason."""
        before, source = self._page.source(item)
        source = source.split(" #")[0].rstrip()
        message = "an utterance must be text"
        hint = 'put the whole line in double quotes: ": ", and [ or { at its start, have a meaning in YAML'
        if before.endswith("- "):
            hint = f"put the line in double quotes{shown(f'- {quoted(source)}')}"
            if source[:1] in ("[", "{"):
                what = "list" if source[0] == "[" else "mapping"
                message = f"{message}: a line that begins with `{source[0]}` is a {what} in YAML"
            elif source.startswith("? "):
                message = f"{message}: a line that begins with `? ` is a key in YAML"
            elif source.startswith("- "):
                message, hint = f"{message}: two dashes make a list within the list", "remove one of the dashes"
            elif isinstance(item, Mapping) and isinstance(key := item.entries[0][0], Scalar):
                message = f"{message}: YAML reads {key.text!r} before the colon as a key"
        self._page.error(item.location, "wrong-type", message, hint)

    def _template(self, node: Scalar, language: str | None, intent: str) -> Utterance:
        """Read a line with marks: as its single sentence if it has only one, otherwise as a template."""
        parsed = self._parsed(node)
        self._content.references += self._references(parsed, node, intent, language)
        if parsed.sentence is None:
            return Utterance(node.text, language, node.location, node.text)
        text, marks = parsed.sentence
        template = node.text if marks or text != node.text else None
        return Utterance(text, language, node.location, template, marks)

    def _parsed(self, node: Scalar, *, fragment: bool = False) -> Template:
        # An alias of a long template is short to write, but as slow to parse as the template itself.
        self._page.visit(node, len(node.text) // _ALIASED)
        parsed = parse(node.text, fragment=fragment)
        if parsed.flaw is not None:
            place = self._page.place(node, parsed.flaw.position)
            self._page.warn(place, "unbalanced-template", parsed.flaw.message, parsed.flaw.hint)
        return parsed

    def _references(self, parsed: Template, node: Scalar, owner: str, language: str | None) -> Iterator[Reference]:
        for named in parsed.nodes:
            if isinstance(named, Use):
                place = self._page.place(node, named.position)
                yield Reference("rule", named.rule, place, owner, language)
            elif isinstance(named, Blank):
                place = self._page.place(node, named.position)
                yield Reference("slot", named.slot, place, owner, language)

    def _placeholders(self, node: Node | None, intent: str) -> Iterator[Reference]:
        """Yield the words in braces of a response, or of a list or a mapping of responses."""
        if isinstance(node, Scalar):
            for name, position in placeholders(node.text):
                if is_name(name.strip()):
                    yield Reference("slot", name, self._page.place(node, position), intent, None)
        elif node is not None:
            values = [value for _, value in node.entries] if isinstance(node, Mapping) else node.items
            for value in values:
                yield from self._placeholders(value, intent)

    def _tests(self, node: Node) -> Iterator[Case]:
        if not is_empty(node):
            for item in self._page.items(node, "`tests`", "start each test with `- text: `"):
                yield from self._test(item)

    def _test(self, node: Node) -> Iterator[Case]:
        page = self._page
        entries = {key.text: value for key, value in page.entries(node, "a test", TEST_KEYS)}
        lacking = next((key for key in ("text", "intent") if key not in entries), None)
        if lacking is not None:
            # `entries` has already reported a value that is neither a mapping nor empty.
            if isinstance(node, Mapping) or (isinstance(node, Scalar) and not node.text):
                message = f"a test needs `text` and `intent`, but `{lacking}` is missing"
                hint = f"for an out-of-scope message, write `intent: {OUT_OF_SCOPE}`"
                page.error(node.location, "incomplete-test", message, hint)
            return
        text = page.text(entries["text"], "`text`")
        names = self._expected(entries["intent"])
        language = page.language_code(entries["language"]) if "language" in entries else page.language
        if text is not None and names:
            expected = None if names == (OUT_OF_SCOPE,) else names[0] if len(names) == 1 else names
            yield Case(text, expected, language, node.location)

    def _expected(self, node: Node) -> tuple[str, ...]:
        """Return the intents that a test expects; empty after reporting a problem."""
        if not isinstance(node, ListNode):
            name = self._page.text(node, "`intent`")
            return () if name is None else (name.strip(),)
        named = [self._page.text(item, "an intent") for item in self._page.items(node, "`intent`")]
        names = tuple(dict.fromkeys(name.strip() for name in named if name is not None))
        if None not in named and (len(names) < 2 or OUT_OF_SCOPE in names):
            message = "a list in `intent` must name two or more intents: the ones the bot should ask about"
            self._page.error(node.location, "wrong-type", message, "write a single name without brackets")
        return () if None in named or len(names) < 2 or OUT_OF_SCOPE in names else names

    def _metadata(self, node: Node) -> dict[str, Any]:
        if not isinstance(node, Mapping):
            hint = "write `key: value` lines below it"
            self._page.error(node.location, "wrong-type", "`metadata` must be a mapping", hint)
            return {}
        value = self._json(node)
        return value if isinstance(value, dict) else {}

    def _json(self, node: Node, level: int = 1) -> Any:
        """Convert metadata to JSON values: unquoted 3, 1.5, true, false and null; everything else is text."""
        if level > MAX_DEPTH:
            message = f"aliases nest `metadata` deeper than {MAX_DEPTH} levels"
            raise NodeError(Problem(node.location, "error", "alias-expansion", message, ALIAS_HINT))
        if isinstance(node, Mapping):
            return {key.text: self._json(value, level + 1) for key, value in self._page.entries(node, "`metadata`")}
        if isinstance(node, ListNode):
            items = list(self._page.items(node, "`metadata`"))
            return [self._json(item, level + 1) for item in items]
        return json.loads(node.text) if node.plain and _JSON_LITERAL.fullmatch(node.text) else node.text


def _first_title(titles: dict[str, str], language: str | None) -> str:
    """Return the default title: in the file's language, else English, else the first one."""
    return next(titles[code] for code in (language, "en", *titles) if code in titles)


def _is_of_language(item: Node) -> bool:
    """Return whether an item of a list is a mapping whose first key looks like the code of a language."""
    key = item.entries[0][0] if isinstance(item, Mapping) and item.entries else None
    return isinstance(key, Scalar) and len(key.text.partition("-")[0]) == 2 and language_code(key.text) is not None
