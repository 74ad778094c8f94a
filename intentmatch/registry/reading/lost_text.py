"""Text that an author meant as part of a line, but YAML reads as a comment, a tag or an anchor."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import yaml

from intentmatch.registry.reading.comments import comments, split_lines
from intentmatch.registry.reading.line_parts import quoted, shown, take_apart
from intentmatch.registry.reading.nodes import LOADER
from intentmatch.text.normalize import language_code

# Keys whose value is a text for people.
_TEXT_KEYS = ("title", "description", "response", "ask", "text")
_LONGEST_LINE = 1000
_OPEN_BRACKET = re.compile(r"[\[{][^\]}]*[^\]},\s]\s*$")
# Most files have no line like these and are not scanned again.
_SUSPICIOUS = re.compile(r"#[^\s#!]|[ ]#[ ]\d|(?m:^[ ]*(?:-[ ]+)*(?:[^\s#:]+:[ ]+)?[!&])")


class Lost(NamedTuple):
    """A part of a line that is not in its text; line and column count from 1."""

    line: int
    column: int
    message: str
    hint: str
    certain: bool
    """Whether it is a mistake even if the rest of the line makes sense without it."""


def lost_text(text: str) -> dict[int, Lost]:
    """Return the lost part of each line of a valid YAML file, by line number."""
    if not any(sign in text for sign in "#!&") or _SUSPICIOUS.search(text) is None:
        return {}
    lines = split_lines(text)
    try:
        found = [*_in_comments(text, lines), *_in_properties(text, lines)]
    except yaml.YAMLError:
        return {}
    return {lost.line: lost for lost in found}


def _in_comments(text: str, lines: list[str]) -> Iterator[Lost]:
    """Yield comments without a space after `#`, or with a number after it, behind a text or in its place."""
    for comment in comments(text):
        line = lines[comment.line - 1]
        before, after = line[: comment.column - 1], line[comment.column :]
        if len(line) > _LONGEST_LINE or not before.strip() or not _looks_like_text(before, after):
            continue
        parts = take_apart(before)
        # Behind a number or a name, as in `threshold: 0.4 #low`, a comment is meant.
        if parts.key is not None and not _is_text(parts.key) and not _OPEN_BRACKET.search(before):
            continue
        last = before.rstrip()[-1]
        # No text can go on after a closed quote or bracket, so a comment is meant.
        if _ends_with_value(parts.value) or (last == "," and not parts.dashes):
            continue
        message = f"`#{after.rstrip()}` is a comment in YAML and no part of the text"
        advice = "put the text in double quotes"
        if parts.value[:1] not in ("[", "{"):
            advice += shown(line[: parts.start] + quoted(line[parts.start :].strip()))
        hint = f"{advice}. For a comment, write two spaces before `#` and one after it"
        yield Lost(comment.line, comment.column, message, hint, certain=last != ":")


def _in_properties(text: str, lines: list[str]) -> Iterator[Lost]:
    """Yield tags other than YAML's own, and anchors that no alias refers to."""
    tokens = list(yaml.scan(text, Loader=LOADER))
    used = {token.value for token in tokens if isinstance(token, yaml.AliasToken)}
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        mark = token.start_mark
        rest = lines[mark.line][mark.column :] if mark.line < len(lines) else ""
        word = rest.split(" ")[0]
        if isinstance(token, yaml.TagToken):
            is_text = isinstance(following, yaml.ScalarToken) and not following.plain
            # `!!str` is YAML's own way to mark a text, and `!` before quotes means the same.
            if rest.startswith("!!") or (word == "!" and is_text):
                continue
            message = f"`{word}` is a tag in YAML and no part of the text"
        elif isinstance(token, yaml.AnchorToken) and token.value not in used:
            message = f"`{word}` is an anchor in YAML and no part of the text"
        else:
            continue
        parts = take_apart(lines[mark.line])
        whole = parts.start == mark.column and not (parts.key and not _is_text(parts.key))
        advice = shown(lines[mark.line][: parts.start] + quoted(parts.value) + parts.comment) if whole else ""
        hint = f"put the text in double quotes{advice}"
        yield Lost(mark.line + 1, mark.column + 1, message, hint, certain=whole)


def _looks_like_text(before: str, after: str) -> bool:
    """Whether a `#` between two parts of a line belongs to a text: `#123`, `#word` after one space, or `# 5` after one.

    Comments mostly have a space after the `#`, or two before it.
    """
    if after[:1].isdigit():
        return True
    if before.endswith("  "):
        return False
    return after[:1].strip() not in ("", "#", "!") or re.match(r" \d", after) is not None


def _ends_with_value(value: str) -> bool:
    """Whether a value ends before a comment: a quoted text, brackets, or the sign of a block text."""
    return re.fullmatch(r"""(["']).*\1|[\[{].*[\]},]|[|>][-+\d]*""", value) is not None


def _is_text(key: str) -> bool:
    return key in _TEXT_KEYS or language_code(key) is not None
