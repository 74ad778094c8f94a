"""From a path to a report: read, encode, ask every rule, leave out what the author does not want to hear."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from intentmatch.artefact.build import uncovered
from intentmatch.core.errors import Location, Problem
from intentmatch.core.settings import Settings, resolve
from intentmatch.core.types import Encoder, Registry
from intentmatch.encoders import load_encoder
from intentmatch.encoders.encode import Progress, encode_all
from intentmatch.lint import languages, rules, shape, suppress
from intentmatch.lint.subject import Subject, ordered
from intentmatch.registry import check, examine, read_comments
from intentmatch.registry.reading.comments import Comment
from intentmatch.storage.vector_cache import VectorCache
from intentmatch.text.normalize import clean

OF_SENTENCES: tuple[Callable[[Subject], Iterator[Problem]], ...] = (
    rules.near_conflict,
    rules.near_duplicate,
)
"""Rules that look at all sentences of a template; for the others, a line is its most typical sentence."""

RULES: tuple[Callable[[Subject], Iterator[Problem]], ...] = (
    rules.misplaced_utterance,
    rules.overlapping_intents,
    shape.few_utterances,
    shape.uniform_utterances,
    shape.two_clusters,
    languages.other_language,
    languages.missing_language,
)


@dataclass(frozen=True)
class Report:
    """The health of a registry."""

    registry: Registry
    problems: tuple[Problem, ...]
    """What `validate` finds and what only meaning shows, sorted by place, without what is ignored."""
    ignored: int
    """Problems that a comment or the setting `lint` left out."""
    overlaps: tuple[rules.Overlap, ...]
    """The pairs of intents that overlap, the one with the most errors first; ignored ones too."""
    coverage: dict[str, dict[str, int]]
    """Intent to language to how many utterances it has in it; "" stands for those that declare none."""


def lint(
    path: str | os.PathLike[str] | Registry = "intents",
    *,
    encoder: Encoder | str | None = None,
    progress: Progress | None = None,
    **settings: Any,
) -> Report:
    """The health of the registry in a folder or file of YAML, or of one made in code.

    `settings` are those of `Settings` and win over the environment and the YAML; `encoder` may also be a ready-made
    one. Never raises for what is wrong in the YAML; raises `SettingsError`, or an `UnavailableError` that says what to
    install or download.
    """
    if encoder is not None:
        settings["encoder"] = encoder if isinstance(encoder, str) else encoder.name
    comments: dict[str, list[Comment]] = {}
    if isinstance(path, Registry):
        registry, problems = path, check(path)
    else:
        registry, problems = examine(path)
        comments = read_comments(path)
    chosen = resolve(settings, registry=registry.settings, locations=registry.setting_locations)
    overlaps: tuple[rules.Overlap, ...] = ()
    if registry.utterances:
        judge = load_encoder(chosen) if encoder is None or isinstance(encoder, str) else encoder
        subject = _subject(ordered(registry), judge, chosen, progress)
        overlaps = tuple(rules.overlaps(subject.of_lines))
        problems += [problem for rule in OF_SENTENCES for problem in rule(subject)]
        problems += [problem for rule in RULES for problem in rule(subject.of_lines)]
        problems += uncovered(registry, judge)
    suppressions, found = suppress.read(comments)
    problems += found
    heard = suppress.apply(problems, suppressions)
    left, found = suppress.level(heard, chosen.lint, _place_of_setting(registry, chosen))
    ignored = len(problems) + sum(each.rule == "unused-suppression" for each in heard) - len(left)
    return Report(registry, tuple(sorted([*left, *found])), ignored, overlaps, languages.coverage(registry))


def _subject(registry: Registry, encoder: Encoder, settings: Settings, progress: Progress | None) -> Subject:
    texts = [clean(line.text) for line in registry.utterances]
    vectors = encode_all(encoder, texts, "utterance", VectorCache.at(settings.cache), progress)
    return Subject(registry, vectors, settings.aggregation)


def _place_of_setting(registry: Registry, settings: Settings) -> Location:
    """Where the setting `lint` stands."""
    place = registry.setting_locations.get("lint")
    return place if place is not None and place.short == settings.origin("lint") else Location(settings.origin("lint"))
