"""Read hassil files into a draft: rules and lists of all files first, then sentences, responses and tests.

There are two layouts. A file names its intents under `intents:`; or, as in Home Assistant's repository since 2026, each
file has the sentences of one intent under `data:`, and its folder has the name of the intent.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import PurePath

from intentmatch.formats.hassil.blocks import Blocks
from intentmatch.formats.hassil.language import Language, Scope
from intentmatch.formats.hassil.syntax import TemplateError, names
from intentmatch.formats.kit.draft import Draft, IntentDraft
from intentmatch.formats.kit.format import Sure
from intentmatch.formats.kit.roles import Roles
from intentmatch.formats.kit.source import File
from intentmatch.formats.kit.tree import Value
from intentmatch.registry.templates.syntax import parse

_KEYS = frozenset({"language", "intents", "data", "lists", "expansion_rules", "responses", "tests"})
_BESIDE = frozenset({"lists", "expansion_rules", "skip_words", "responses"})
_LIST = frozenset({"values", "range", "wildcard"})
# Entities of the house in which a test is run.
_FIXTURES = frozenset({"entities", "areas", "floors", "timers", "media"})
_DEFAULT = "default"


def recognise(file: File) -> Sure:
    """Recognise blocks of sentences; or shared lists, rules and tests by their keys and a language."""
    root = file.root
    intents = [intent for _, intent in root["intents"].entries()] if root["intents"].is_mapping else []
    if "language" in root.keys:
        intents.append(root)
    if any("sentences" in block.keys for intent in intents if intent["data"].is_list for block in _blocks(intent)):
        return Sure.CERTAIN
    lists = root["lists"].entries() if set(root.keys) == {"lists"} and root["lists"].is_mapping else []
    if lists and all(_LIST & set(values.keys) for _, values in lists):
        return Sure.LIKELY
    tests = root["tests"].items() if root["tests"].is_list else []
    has_tests = any("sentences" in test.keys for test in tests)
    return Sure.LIKELY if "language" in root.keys and (has_tests or _BESIDE & set(root.keys)) else Sure.NO


def read(files: Sequence[File], draft: Draft) -> None:
    """Read all files. Rules and lists are shared by the files of a language."""
    reader = _Reader(draft)
    roots = [draft.root(file) for file in files]
    for root in roots:
        reader.shared(root)
    # Before any sentence is read, so that `{area:name}` does not take the name of the list `name`.
    for file, root in zip(files, roots, strict=True):
        reader.reserve(root, file)
    reader.read_shared()
    for file, root in zip(files, roots, strict=True):
        reader.intents(root, file)
    reader.blocks.finish()
    for file, root in zip(files, roots, strict=True):
        reader.responses(root)
        reader.tests(root, file)


class _Reader:
    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._roles = Roles(draft)
        self._languages: dict[str | None, Language] = {}
        self._lists: dict[str, Value] = {}
        """Lists of files without a language, which all languages share."""
        self.blocks = Blocks(draft)

    def shared(self, root: Value) -> None:
        """Collect the shared rules and lists of a file."""
        # Home Assistant keeps lists for all languages in files of their own.
        if "language" not in root.keys and "intents" not in root.keys:
            self._lists.update(root["lists"].entries())
            return
        language = self._language(root)
        for name, rule in root["expansion_rules"].entries():
            language.rules.setdefault(name, rule)
        for name, values in root["lists"].entries():
            language.lists.setdefault(name, values)
        words = [word for item in root["skip_words"].items() if (word := item.text())]
        if words:
            message = f"`skip_words` are not imported: {', '.join(words)}"
            self._draft.not_expressed(
                root["skip_words"].location, message, "filler words hardly change the vector of a message"
            )
        for key, value in root.entries():
            if key not in _KEYS and key != "skip_words" and not (key in _FIXTURES and root["tests"]):
                self._draft.not_expressed(value.location, f"`{key}` is not imported")

    def read_shared(self) -> None:
        """Read the rules and lists of all languages into the draft."""
        for language in self._languages.values():
            language.lists = {**self._lists, **language.lists}
            language.read_shared()

    def reserve(self, root: Value, file: File) -> None:
        """Reserve the names of slots that are named like their list."""
        self._reserve(rule for _, rule in root["expansion_rules"].entries())
        for _, written in _intents(root, file):
            for block in _blocks(written):
                own = block["lists"].keys
                self._reserve(block["sentences"].items(), own)
                self._reserve((rule for _, rule in block["expansion_rules"].entries()), own)

    def _reserve(self, lines: Iterable[Value], but: Collection[str] = ()) -> None:
        for line in lines:
            named = names(line.text() or "")[0] if line.is_text else ()
            for name in sorted(set(named) - set(but)):
                if ":" not in name and "@" not in name:
                    self._roles.reserve(name)

    def intents(self, root: Value, file: File) -> None:
        """Read the sentences of a file."""
        language = self._language(root)
        for name, written in _intents(root, file):
            intent = self._draft.intent(name, written.location)
            for block in _blocks(written):
                scope = language.scope(block, name)
                for line in block["sentences"].items():
                    self._sentence(line, intent, scope)
                self.blocks.add(intent, block)

    def _sentence(self, line: Value, intent: IntentDraft, scope: Scope) -> None:
        code = scope.language.code
        try:
            template = scope.template((line.text() or "").strip(), line.location)
        except TemplateError as error:
            self._draft.warn(line.location, "bad-template", f"a sentence is skipped: {error}")
            return
        plain = parse(template).sentence
        if plain is None:
            intent.template(template, line.location, code)
        elif plain.text:
            intent.say(plain.text, line.location, code)

    def responses(self, root: Value) -> None:
        """Read the default response of each intent. Home Assistant chooses other responses by the outcome."""
        language = self._language(root)
        for key, value in root["responses"].entries():
            if key != "intents":
                self._draft.not_expressed(value.location, f"`responses: {key}` is not imported")
        for name, responses in root["responses"]["intents"].entries():
            for key, response in responses.entries():
                text = response.text() if key == _DEFAULT and name in self._draft.intents else None
                if text is None:
                    message = f"only `{_DEFAULT}` responses of intents in these files are imported"
                    self._draft.not_expressed(response.location, message)
                else:
                    self._draft.intents[name].respond(text, response.location, language.code)

    def tests(self, root: Value, file: File) -> None:
        """Read tests: messages with their expected intent. The folder may name the intent."""
        language = self._language(root)
        for test in root["tests"].items():
            intent = test["intent"]
            name = (intent["name"] if intent.is_mapping else intent).text() or _folder(file)
            # `intent: null` says that no intent should match.
            expected = None if "intent" in test.keys and not intent else name
            if expected is not None and expected not in self._draft.intents:
                self._draft.warn(
                    test.location, "unknown-intent", "tests of intents that are not in these files are skipped"
                )
                continue
            if intent["slots"] or test["slots"]:
                self._draft.not_expressed(test.location, "slots that tests expect are not imported")
            for line in test["sentences"].items():
                if text := line.text():
                    self._draft.test(text, expected, line.location, language.code)

    def _language(self, root: Value) -> Language:
        code = root["language"].text()
        # BCP-47's code for an undetermined language, which exports write for text without one.
        known = self._draft.language(None if code == "und" else code, root["language"].location)
        return self._languages.setdefault(known, Language(known, self._draft, self._roles))


def _blocks(intent: Value) -> Iterator[Value]:
    yield from intent["data"].items()


def _intents(root: Value, file: File) -> list[tuple[str, Value]]:
    """Return the intents of a file with their blocks."""
    return root["intents"].entries() + ([(_folder(file), root)] if root["data"] else [])


def _folder(file: File) -> str:
    return PurePath(file.place).parent.name
