"""Lint a registry: read it, encode it, apply every rule, and drop what the author suppresses."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
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
from intentmatch.registry.checks import missing_extra
from intentmatch.registry.confinement import ReadLimits
from intentmatch.registry.reading.comments import Comment
from intentmatch.runtime import steps
from intentmatch.storage.vector_cache import VectorCache
from intentmatch.text.normalize import clean

SENTENCE_RULES: tuple[Callable[[Subject], Iterator[Problem]], ...] = (
    rules.near_conflict,
    rules.near_duplicate,
)
"""Rules that look at every sentence of a template."""

LINE_RULES: tuple[Callable[[Subject], Iterator[Problem]], ...] = (
    rules.misplaced_utterance,
    rules.overlapping_intents,
    shape.few_utterances,
    shape.uniform_utterances,
    shape.two_clusters,
    languages.other_language,
    languages.missing_language,
)
"""Rules that look at one sentence per line, the most typical one of a template."""


@dataclass(frozen=True)
class LintReport:
    """The findings of `lint` about a registry."""

    registry: Registry
    problems: tuple[Problem, ...]
    """Findings of `validate` and of `lint`, sorted by place, without ignored ones."""
    ignored: int
    """Number of problems that a comment or the setting `lint` suppresses."""
    overlaps: tuple[rules.Overlap, ...]
    """Pairs of intents that overlap, the pair with the most errors first; ignored pairs are included."""
    coverage: dict[str, dict[str, int]]
    """{intent: {language: number of utterances}}; "" stands for utterances without a language."""
    subject: Subject | None = field(default=None, repr=False, compare=False)
    """What the rules looked at; None without utterances."""


def lint(
    path: str | os.PathLike[str] | Registry = "intents",
    *,
    encoder: Encoder | str | None = None,
    progress: Progress | None = None,
    **settings: Any,
) -> LintReport:
    """Lint the registry in a folder or file of YAML, or a registry made in code.

    `settings` are fields of `Settings`; they override the environment and the YAML. `encoder` is the name of an
    encoder, or an encoder. `progress` is called with (texts encoded, texts in all).

    Problems of the YAML are reported and never raised. Raises SettingsError for an invalid setting, and
    UnavailableError if the encoder must be installed or downloaded first.
    """
    if encoder is not None:
        settings["encoder"] = encoder if isinstance(encoder, str) else encoder.name
    comments: dict[str, list[Comment]] = {}
    steps.report("reading the intents")
    if isinstance(path, Registry):
        registry, problems = path, check(path)
    else:
        limits = ReadLimits.from_settings(path, resolve(settings))
        registry, problems = examine(path, limits=limits)
        comments = read_comments(path, limits)
    problems += missing_extra(registry)
    chosen = resolve(settings, registry=registry.settings, locations=registry.setting_locations)
    overlaps: tuple[rules.Overlap, ...] = ()
    subject = None
    if registry.utterances:
        loaded = load_encoder(chosen) if encoder is None or isinstance(encoder, str) else encoder
        subject = _subject(ordered(registry), loaded, chosen, progress)
        steps.report("checking the rules")
        overlaps = tuple(rules.overlaps(subject.per_line))
        problems += [problem for rule in SENTENCE_RULES for problem in rule(subject)]
        problems += [problem for rule in LINE_RULES for problem in rule(subject.per_line)]
        problems += uncovered(registry, loaded)
    suppressions, bad_comments = suppress.read(comments)
    problems += bad_comments
    unsuppressed = suppress.apply(problems, suppressions)
    left, bad_settings = suppress.level(unsuppressed, chosen.lint, _place_of_setting(registry, chosen))
    # `apply` adds problems of its own, which are no ignored ones.
    ignored = len(problems) + sum(problem.rule == "unused-suppression" for problem in unsuppressed) - len(left)
    found = tuple(sorted([*left, *bad_settings]))
    return LintReport(registry, found, ignored, overlaps, languages.coverage(registry), subject)


def _subject(registry: Registry, encoder: Encoder, settings: Settings, progress: Progress | None) -> Subject:
    texts = [clean(line.text) for line in registry.utterances]
    vectors = encode_all(encoder, texts, "utterance", VectorCache.at(settings.cache), progress)
    return Subject(registry, vectors, settings.aggregation)


def _place_of_setting(registry: Registry, settings: Settings) -> Location:
    """Return the place of the setting `lint`: in the YAML, or the name of its origin."""
    place = registry.setting_locations.get("lint")
    return place if place is not None and place.short == settings.origin("lint") else Location(settings.origin("lint"))
