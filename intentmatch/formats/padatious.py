"""Padatious files of OVOS and Mycroft: a file for each intent with a template per line, and one for each value list.

The folder names the language: `locale/en-us/order.intent`. The format has no way to escape a bracket.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path, PurePosixPath

from intentmatch.core.errors import NOWHERE, Location, Problem
from intentmatch.core.types import Registry, Utterance
from intentmatch.formats.hassil.syntax import TemplateError, from_template, literal, to_template
from intentmatch.formats.kit.by_language import utterances_in
from intentmatch.formats.kit.draft import NOT_EXPRESSED, Draft
from intentmatch.formats.kit.format import Feature, Files, Format, Sure
from intentmatch.formats.kit.losses import empty_intent_losses
from intentmatch.formats.kit.slot_mentions import all_slots
from intentmatch.formats.kit.source import File
from intentmatch.formats.kit.unroll import is_template
from intentmatch.registry.templates.sentences import Wordings
from intentmatch.registry.templates.syntax import parse

_INTENT, _ENTITY = ".intent", ".entity"
# `fr`, `en-us`, `zh-Hant`, `sr-Latn-RS`. A folder of three letters without more may be anything.
_LANGUAGE = re.compile(r"[a-z]{2}|[a-z]{2,3}[-_]([A-Z][a-z]{3}|([A-Za-z]{4}[-_])?[A-Za-z]{2})")
_MARKS = "()[]{}|"
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
# Signs of hassil that are plain text in Padatious. A slot may have two pairs of braces.
_TEXT = re.compile(r"[;<>@\\]")
_DOUBLE = re.compile(r"\{\{([^{}]*)\}\}")
# The choices of a line of values multiply: ten of two words each are a thousand values.
_MAX_VALUES = 64
_SAYS: frozenset[Feature] = frozenset({"languages", "templates", "blanks", "lists"})


def _recognise(file: File) -> Sure:
    return Sure.LIKELY if file.suffix in (_INTENT, _ENTITY) and file.lines else Sure.NO


def _read(files: Sequence[File], draft: Draft) -> None:
    # Value lists first, so that a type is located where its values are and not where an intent uses it.
    for file in sorted(files, key=lambda file: file.suffix):
        name, language = PurePosixPath(file.name).stem, _language(file)
        for template, place in _templates(file, draft):
            if file.suffix == _ENTITY:
                wordings = Wordings.from_template(parse(template), {})
                for sentence in wordings.sentences(limit=_MAX_VALUES):
                    draft.type(name, place).add(sentence.text)
                continue
            plain = parse(template).sentence
            if plain is None:
                draft.intent(name, file.location).template(template, place, language)
            else:
                draft.intent(name, file.location).say(plain.text, place, language)


def _language(file: File) -> str | None:
    """Return the language that the folder below `locale` names, or else one of the nearest two folders."""
    folders = [folder.name for folder in Path(file.place).absolute().parents]
    below_locale = [name for name, above in pairwise(folders) if above == "locale"]
    return next((name for name in below_locale + folders[:2] if _LANGUAGE.fullmatch(name)), None)


def _templates(file: File, draft: Draft) -> Iterator[tuple[str, Location]]:
    """Yield each line that is not a comment as an intentmatch template."""
    for number, line in enumerate(file.text.splitlines(), 1):
        place = Location(file.place, number)

        def slot(name: str, place: Location = place) -> str:
            known = draft.slot(name.strip(), place)
            known.like = draft.type(name.strip(), place)
            return f"{{{known.name}}}"

        text = line.strip()
        if not text or text.startswith("#"):
            continue
        try:
            yield to_template(_TEXT.sub(r"\\\g<0>", _DOUBLE.sub(r"{\1}", text)), slot, str), place
        except TemplateError as error:
            draft.warn(place, "bad-template", f"a line is skipped: {error}")


def _write(registry: Registry, problems: list[Problem]) -> Files:
    files: dict[str, str] = {}
    lists = [slot for slot in all_slots(registry).values() if slot.kind == "list"]
    stems = _stems(registry, problems)
    problems += empty_intent_losses(registry)
    for code in dict.fromkeys(line.language for line in registry.utterances) or [None]:
        folder = f"{code}/" if code else ""
        for intent in registry:
            lines = [_line(line, problems) for line in utterances_in(intent, code)]
            if lines:
                files[f"{folder}{stems[intent.name]}{_INTENT}"] = _text(lines)
        for slot in lists:
            files[f"{folder}{slot.name}{_ENTITY}"] = _text(value.value for value in slot.values)
    return files


def _stems(registry: Registry, problems: list[Problem]) -> dict[str, str]:
    """Return a file name for each intent, unique also on file systems that ignore case."""
    stems: dict[str, str] = {}
    taken: set[str] = set()
    for intent in registry:
        stem = re.sub(r"[^\w.-]+", "_", intent.name).strip(".") or "_"
        while stem.lower() in taken:
            stem += "_"
        taken.add(stem.lower())
        stems[intent.name] = stem
        if stem != intent.name:
            message = f"the intent {intent.name!r} is renamed to {stem!r}, a valid file name"
            problems.append(Problem(intent.location or NOWHERE, "warning", NOT_EXPRESSED, message))
    return stems


def _line(line: Utterance, problems: list[Problem]) -> str:
    escaped = from_template(parse(line.text)) if is_template(line) else literal(line.text)
    lost = any(sign in _MARKS for sign in _ESCAPED.findall(escaped))
    plain = _ESCAPED.sub(r"\1", escaped).strip()
    written = " ".join(plain.split())
    # A line that begins with `#` is a comment.
    if lost or written != plain or written.startswith("#"):
        message = f"“{line.text}” will be read differently: this format has no way to escape it"
        problems.append(Problem(line.location or NOWHERE, "warning", NOT_EXPRESSED, message))
    return written


def _text(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


FORMAT = Format(
    "padatious", "Padatious: .intent and .entity files of OVOS", _recognise, _read, _write, _SAYS, needs_folder=True
)
