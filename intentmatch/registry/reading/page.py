"""Read texts, lists, keys and languages from the nodes of one file, and report unexpected ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from intentmatch.core.errors import Location, Problem, suggest
from intentmatch.registry.reading.comments import LINE_BREAK
from intentmatch.registry.reading.nodes import Mapping, Node, NodeError, Scalar
from intentmatch.registry.reading.nodes import Sequence as ListNode
from intentmatch.text.normalize import language_code

NAME_HINT = "start with a letter, then use letters, digits, _, - and ."
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
        if isinstance(node, Scalar) and (node.text.strip() or not node.plain):
            return node.text
        hint = "write the text after the colon"
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
            self.error(node.location, "wrong-type", f"{what} must be a list", hint)
            return
        for item in node.items:
            self.visit(item)
            yield item

    def texts(self, node: Node, what: str) -> list[Scalar]:
        """Return the texts of a node that is one text or a list of texts."""
        items = [node] if isinstance(node, Scalar) else list(self.items(node, what, "write a text, or a list of them"))
        return [item for item in items if self.text(item, what) is not None and isinstance(item, Scalar)]

    def entries(self, node: Node, what: str, known: Sequence[str] | None = None) -> Iterator[tuple[Scalar, Node]]:
        """Yield the keys and values of a mapping; report and skip repeated, unknown and non-text keys."""
        if is_empty(node):
            return
        if not isinstance(node, Mapping):
            self.error(node.location, "wrong-type", f"{what} must be a mapping", "write `key: value` lines")
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
                nearest = suggest(key.text, known)
                hint = f"did you mean `{nearest}`?" if nearest else f"known keys: {', '.join(known)}"
                self.error(key.location, "unknown-key", f"unknown key {key.text!r} in {what}", hint)
            else:
                seen[key.text] = key.location
                yield key, value

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

    def texts_by_language(self, node: Node, what: str, one: str) -> dict[str, Scalar]:
        """Return the nodes of the texts that `localized` returns."""
        texts: dict[str, Scalar] = {}
        if not isinstance(node, Mapping):
            if self.text(node, what) is not None and isinstance(node, Scalar):
                texts[self.language or ""] = node
            return texts
        for code, value in self.entries(node, what):
            language = self.canonical(code)
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
        if code is None or "_" in node.text:
            hint = f"write {code}" if code else "use a BCP-47 code such as en, pt-BR or zh-Hant"
            self.error(node.location, "language-code", f"{node.text!r} is not a language code", hint)
            return None
        return code

    def place(self, node: Scalar, position: int) -> Location:
        """Locate a character of a text; return the start of a text that is folded or holds escapes."""
        path, line, column = node.location.path, node.location.line, node.location.column
        source = self._lines[line - 1][column - 1 :]
        quote = source[:1] if not node.plain else ""
        verbatim = source.startswith(f"{quote}{node.text}{quote}")
        return Location(path, line, column + len(quote) + position) if verbatim else node.location

    @cached_property
    def _lines(self) -> list[str]:
        return LINE_BREAK.split(self._text)

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
