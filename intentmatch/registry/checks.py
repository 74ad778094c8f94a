"""Rules that every registry must follow, from files or from code. Each function is named after its rule id."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import groupby

from intentmatch.core import plugins
from intentmatch.core.errors import NOWHERE, Location, Problem, pip_line, suggest
from intentmatch.core.shared_lines import may_share
from intentmatch.core.threshold import parse_threshold
from intentmatch.core.types import DAY_KINDS, Case, Intent, Registry, TraitQuestion, Utterance, first_of_line
from intentmatch.text.normalize import fold

Rule = Callable[[Registry], Iterator[Problem]]

FEWEST_LINES = 5
"""Lines of an answer below which there is a warning. With three, few answers are confident."""
MOST_QUESTIONS, MOST_ANSWERS, MOST_LINES = 100, 255, 5000


def check(registry: Registry) -> list[Problem]:
    """Return the problems of all rules, sorted by location; intents made in code are located at `registry`."""
    return sorted(problem for rule in RULES for problem in rule(registry))


def no_intents(registry: Registry) -> Iterator[Problem]:
    """Report a registry without intents: it can match nothing."""
    if not registry.intents:
        yield Problem(NOWHERE, "error", "no-intents", "there are no intents", "add one below `intents:`")


def intent_redefined(registry: Registry) -> Iterator[Problem]:
    """Report two intents of one name. For YAML, the reader has already merged an intent's files."""
    seen: set[str] = set()
    for intent in registry:
        if intent.name in seen:
            hint = "rename one of them, or merge their utterances"
            message = f"there are two intents named {intent.name!r}"
            yield Problem(_place(intent), "error", "intent-redefined", message, hint)
        seen.add(intent.name)


def reserved_name(registry: Registry) -> Iterator[Problem]:
    """Report an intent with the name that means no intent in tests."""
    for intent in registry:
        if intent.name == "out_of_scope":
            message = "an intent is named `out_of_scope`, which means in `tests:` that no intent should answer"
            hint = "rename it, or write its lines as `tests:` with `intent: out_of_scope` in place of an intent"
            yield Problem(_place(intent), "warning", "reserved-name", message, hint)


def threshold(registry: Registry) -> Iterator[Problem]:
    """Report thresholds outside 0 to 1 or 0% to 100%. For YAML, the grammar has already checked them."""
    for intent in registry:
        if intent.threshold is None:
            continue
        try:
            parse_threshold(intent.threshold)
        except ValueError as error:
            message = f"invalid threshold {intent.threshold} of {intent.name!r}: {error}"
            yield Problem(_place(intent), "error", "threshold", message)


def no_utterances(registry: Registry) -> Iterator[Problem]:
    """Report intents without utterances: they can never match."""
    for intent in registry:
        if not intent.all_utterances:
            message = f"intent {intent.name!r} has no utterances"
            hint = "list example messages below `utterances:`"
            yield Problem(_place(intent), "error", "no-utterances", message, hint)


def description_only(registry: Registry) -> Iterator[Problem]:
    """Report intents that have a description in place of utterances: a few lines are worth much more."""
    for intent in registry:
        if intent.described and not intent.utterances:
            message = f"intent {intent.name!r} has no utterances, only its description"
            hint = "list example messages below `utterances:`; three of them say more than any description"
            yield Problem(_place(intent), "warning", "description-only", message, hint)


def empty_utterance(registry: Registry) -> Iterator[Problem]:
    """Report utterances, and sentences of templates, that hold nothing but punctuation."""
    # The folded texts are computed once for the registry, and rarely is one of them empty.
    if "" not in registry.folded and all(fold(negative.text) for negative in registry.negatives):
        return
    for intent in registry:
        lines: list[Utterance] = []
        for utterance in (*intent.utterances, *intent.negatives):
            # A template is one line of its author, and so one problem, however many of its sentences are empty.
            if not fold(utterance.text) and not any(utterance.same_line(other) for other in lines):
                lines.append(utterance)
                message = f"the utterance {utterance.text!r} of {intent.name!r} has no words"
                hint = "add words, or remove the line"
                if utterance.template is not None:
                    message = f"a sentence of the template {utterance.template!r} has no words"
                    hint = "make at least one word of the template required"
                yield Problem(_place(utterance, intent), "error", "empty-utterance", message, hint)


def duplicate_utterance(registry: Registry) -> Iterator[Problem]:
    """Report an utterance that an intent has twice in one language."""
    for intent, repeated in _repeated(registry):
        seen: dict[tuple[str, str | None], Utterance] = {}
        pairs = _ReportedPairs()
        for folded, utterance in repeated:
            first = seen.setdefault((folded, utterance.language), utterance)
            # Two wordings of one template may read the same: the author has not written a line twice.
            if first is not utterance and not first.same_line(utterance) and pairs.add(first, utterance):
                message = f"“{utterance.text}” is already at {_place(first, intent).short}"
                yield Problem(_place(utterance, intent), "warning", "duplicate-utterance", message, _hint(utterance))


def conflicting_utterance(registry: Registry) -> Iterator[Problem]:
    """Report an utterance that two intents share although no tag of `when` tells them apart."""
    owners: dict[str, list[tuple[Intent, Utterance]]] = {}
    for intent, repeated in _repeated(registry):
        pairs = _ReportedPairs()
        for folded, utterance in repeated:
            known = owners.setdefault(folded, [])
            rivals = (pair for pair in known if pair[0].name != intent.name and not may_share(pair[0], intent))
            if (rival := next(rivals, None)) is None:
                # A line with a rival does not become an owner: the same line in three intents is two problems.
                known.append((intent, utterance))
                continue
            owner, first = rival
            if pairs.add(first, utterance, owner.name):
                message = f"“{utterance.text}” already belongs to {owner.name!r} ({_place(first, owner).short})"
                hint = f"{_hint(utterance)}, or merge the intents"
                if common := [tag for tag in intent.when if tag in owner.when]:
                    message += f", and both may answer while `{common[0]}` is active"
                    hint = f"{_hint(utterance)}, or give the intents different tags"
                yield Problem(_place(utterance, intent), "error", "conflicting-utterance", message, hint)


def contradicting_negative(registry: Registry) -> Iterator[Problem]:
    """Report negatives of an intent that are also its utterances."""
    for intent in (intent for intent in registry if intent.negatives):
        wanted = dict(_worded(intent.utterances))
        pairs = _ReportedPairs()
        for folded, negative in _worded(intent.negatives):
            if (utterance := wanted.get(folded)) is not None and pairs.add(utterance, negative):
                where = _place(utterance, intent).short
                message = f"“{negative.text}” is also an utterance of {intent.name!r} ({where})"
                yield Problem(_place(negative, intent), "error", "contradicting-negative", message, _hint(negative))


def unknown_intent(registry: Registry) -> Iterator[Problem]:
    """Report tests that expect an intent which does not exist."""
    yield from check_tests(registry.tests, {intent.name for intent in registry})


def check_tests(tests: Sequence[Case], known: Collection[str]) -> Iterator[Problem]:
    """Report each intent that a test expects and that is not in `known`."""
    for case in tests:
        names = (case.expected,) if isinstance(case.expected, str) else case.expected or ()
        for name in names:
            if name not in known:
                nearest = suggest(name, known)
                hint = f"did you mean `{nearest}`?" if nearest else "write the name of an intent, or `out_of_scope`"
                message = f"the test “{case.text}” expects {name!r}, which is not an intent"
                yield Problem(case.location or NOWHERE, "error", "unknown-intent", message, hint)


def unknown_encoder(registry: Registry) -> Iterator[Problem]:
    """Report an encoder in the settings that nothing provides.

    Not among `RULES`: an environment variable or an argument may name another encoder before the registry is used.
    """
    name = registry.settings.get("encoder")
    kind = name.partition(":")[0].strip() if isinstance(name, str) else ""
    # Built-in encoders first: the names of others are read from the metadata of every installed package.
    if kind and kind not in plugins.BUILT_IN["encoders"] and kind not in (known := plugins.names("encoders")):
        place = registry.setting_locations.get("encoder", NOWHERE)
        nearest = suggest(kind, known)
        hint = f"for a model of that name write `sentence_transformer:{name}`"
        if nearest:
            hint = f"did you mean `{nearest}`?"
        yield Problem(place, "error", "setting", f"unknown encoder {name!r}: known are {', '.join(known)}", hint)


def missing_extra(registry: Registry) -> Iterator[Problem]:
    """Report slots of intents whose kind needs a package that is not installed.

    Not among `RULES`: whoever loads such a registry gets a `MissingExtraError`.
    """
    dated = {(slot.name, slot.location): slot for intent in registry for slot in intent.slots if slot.kind in DAY_KINDS}
    for slot in () if plugins.installed("dateparser") else dated.values():
        missing = "needs an extra that is not installed: the registry cannot be loaded"
        message = f"the slot {slot.name!r} of type {slot.kind} {missing}"
        yield Problem(slot.location or NOWHERE, "error", "missing-extra", message, f"run: {pip_line('dates')}")


def bad_question(registry: Registry) -> Iterator[Problem]:
    """Report questions that cannot be learned."""
    seen: set[str] = set()
    for question in registry.questions:
        place = question.location or NOWHERE
        empty = [name for name, lines in question.answers.items() if not any(fold(line.text) for line in lines)]
        message = hint = ""
        if question.name in seen:
            message, hint = f"there are two questions {question.name!r}", "rename one of them"
        elif not question.name or "" in question.answers:
            message, hint = (
                f"the question {question.name!r} or an answer of it has no name",
                "write one before the colon",
            )
        elif len(question.answers) < 2:
            message = f"the question {question.name!r} needs two or more answers"
            hint = "list example messages of each answer below `answers:`, such as `yes:` and `no:`"
        elif len(question.answers) > MOST_ANSWERS or len(question.lines) > MOST_LINES:
            message = (
                f"the question {question.name!r} has {len(question.answers)} answers and {len(question.lines)} lines"
            )
            hint = f"a question may have {MOST_ANSWERS} answers and {MOST_LINES:,} lines"
        elif empty:
            message = f"the answer {empty[0]!r} of the question {question.name!r} has no lines"
            hint = f"list at least {FEWEST_LINES} example messages below it"
        if message:
            yield Problem(place, "error", "bad-question", message, hint)
        seen.add(question.name)
    if len(registry.questions) > MOST_QUESTIONS:
        message = f"there are {len(registry.questions)} questions; a registry may have {MOST_QUESTIONS}"
        yield Problem(NOWHERE, "error", "bad-question", message, "leave out those that no program reads")


def few_lines(registry: Registry) -> Iterator[Problem]:
    """Report answers with too few lines to tell how sure the answer is."""
    for question in registry.questions:
        for name, lines in question.answers.items():
            count = len(set(first_of_line(lines, [0] * len(lines))))
            if 0 < count < FEWEST_LINES:
                message = f"the answer {name!r} of the question {question.name!r} has {count} line{'s'[: count != 1]}"
                hint = f"add {FEWEST_LINES - count} or more, in other words: from so few the bot is seldom sure"
                yield Problem(_place_of_line(lines[0], question), "warning", "few-lines", message, hint)


def conflicting_answer(registry: Registry) -> Iterator[Problem]:
    """Report a line that two answers of a question have."""
    for question in registry.questions:
        owners: dict[str, tuple[str, Utterance]] = {}
        for name, lines in question.answers.items():
            pairs = _ReportedPairs()
            for folded, line in _worded(lines):
                owner, first = owners.setdefault(folded, (name, line))
                if owner != name and pairs.add(first, line, owner):
                    where = _place_of_line(first, question).short
                    message = f"“{line.text}” is already a line of the answer {owner!r} ({where})"
                    place = _place_of_line(line, question)
                    yield Problem(place, "error", "conflicting-answer", message, _hint(line))


def _place_of_line(line: Utterance, question: TraitQuestion) -> Location:
    return line.location or question.location or NOWHERE


RULES: tuple[Rule, ...] = (
    no_intents,
    intent_redefined,
    reserved_name,
    threshold,
    no_utterances,
    description_only,
    empty_utterance,
    duplicate_utterance,
    conflicting_utterance,
    contradicting_negative,
    unknown_intent,
    bad_question,
    few_lines,
    conflicting_answer,
)


class _ReportedPairs:
    """Pairs of lines already reported; two templates may share many sentences but are reported once."""

    def __init__(self) -> None:
        self._seen: set[tuple[object, ...]] = set()

    def add(self, first: Utterance, second: Utterance, *more: object) -> bool:
        """Add a pair and return whether it is new; pairs without a template are always new."""
        if first.template is None and second.template is None:
            return True
        pair = *((one.location, one.template or one.text) for one in (first, second)), *more
        known = pair in self._seen
        self._seen.add(pair)
        return not known


def _hint(utterance: Utterance) -> str:
    return "remove one of the two" if utterance.template is None else "change one of the two templates"


def _repeated(registry: Registry) -> Iterator[tuple[Intent, list[tuple[str, Utterance]]]]:
    """Yield each intent with the folded text and utterance of its lines that also occur elsewhere in the registry."""
    for owner, rows in groupby(registry.repeated, registry.owners.__getitem__):
        yield registry.intents[owner], [(registry.folded[row], registry.utterances[row]) for row in rows]


def _worded(utterances: tuple[Utterance, ...]) -> Iterator[tuple[str, Utterance]]:
    """Yield folded text and utterance; skip lines without words, which `empty_utterance` reports."""
    for utterance in utterances:
        if folded := fold(utterance.text):
            yield folded, utterance


def _place(thing: Intent | Utterance, owner: Intent | None = None) -> Location:
    return thing.location or (owner and owner.location) or NOWHERE
