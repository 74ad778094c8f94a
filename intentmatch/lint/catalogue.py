"""Every rule id there is, with its severity and one line that says what it finds."""

from __future__ import annotations

from typing import NamedTuple

from intentmatch.core.errors import Location, Problem, Severity


class Rule(NamedTuple):
    """A kind of problem."""

    id: str
    severity: Severity
    says: str


BY_MEANING = (
    Rule("misplaced-utterance", "warning", "an utterance is far nearer to another intent than to its own"),
    Rule("overlapping-intents", "warning", "two intents claim each other's utterances"),
    Rule("near-conflict", "warning", "two intents have nearly the same utterance"),
    Rule("near-duplicate", "info", "an utterance says nearly what another of its intent says"),
    Rule("two-clusters", "info", "an intent falls into two halves with little in common"),
    Rule("few-utterances", "warning", "an intent has fewer than three utterances, or far fewer than is usual"),
    Rule("uniform-utterances", "info", "the utterances of an intent are much more alike than is usual"),
    Rule("other-language", "warning", "an utterance reads like another language of the registry than the declared one"),
    Rule("missing-language", "warning", "an intent has nothing in a language that most intents have"),
    Rule("language-not-covered", "warning", "the encoder was not trained on a language of the registry"),
    Rule("bad-suppression", "warning", "a comment or setting that should ignore a rule names none that it could"),
    Rule("unused-suppression", "info", "a comment ignores a rule that finds nothing there"),
)
"""What only `lint` finds."""

BY_FORM = (
    Rule("yaml-syntax", "error", "a file is no YAML"),
    Rule("alias-expansion", "error", "aliases multiply a file without end"),
    Rule("encoding", "error", "a file is not UTF-8"),
    Rule("unreadable", "error", "a file cannot be read"),
    Rule("not-found", "error", "there is no such file or folder"),
    Rule("no-files", "error", "a folder holds no YAML"),
    Rule("empty-file", "warning", "a file holds nothing"),
    Rule("version", "error", "a file is of a version of the grammar that is not known"),
    Rule("unknown-key", "error", "a key is not known"),
    Rule("duplicate-key", "error", "a key stands twice"),
    Rule("wrong-type", "error", "a value is not of the kind that its key takes"),
    Rule("language-code", "error", "a language code is none"),
    Rule("setting", "error", "a setting has an impossible value"),
    Rule("threshold", "error", "a threshold is no number from 0 to 1"),
    Rule("setting-redefined", "error", "two files give the same setting"),
    Rule("intent-redefined", "error", "an intent says the same thing about itself twice"),
    Rule("no-intents", "error", "there is no intent"),
    Rule("no-utterances", "error", "an intent has no utterances"),
    Rule("empty-utterance", "error", "an utterance has no words"),
    Rule("duplicate-utterance", "warning", "an utterance stands twice in one language of one intent"),
    Rule("conflicting-utterance", "error", "two intents have the same utterance"),
    Rule("contradicting-negative", "error", "an utterance of an intent is also what the intent is not"),
    Rule("bad-name", "error", "a rule or a slot has a name that no template can have in it"),
    Rule("bad-slot", "error", "a slot has a type or values that cannot be"),
    Rule("bad-pattern", "error", "a regular expression of a slot cannot be read"),
    Rule("duplicate-value", "warning", "a word stands for two values of a slot"),
    Rule("slot-redefined", "error", "an intent has two slots of one name"),
    Rule("unknown-slot", "error", "a template names a slot that is not declared"),
    Rule("unknown-rule", "error", "a template names a rule that is not there, or not in its language"),
    Rule("ambiguous-slot", "error", "a template names a slot that several other files declare"),
    Rule("ambiguous-rule", "error", "a template names a rule that several other files define"),
    Rule("recursive-rule", "error", "a rule uses itself"),
    Rule("oversized-template", "error", "sentences of templates are longer than can be"),
    Rule("unused-slot", "warning", "no intent uses a slot"),
    Rule("unused-rule", "warning", "nothing uses a rule"),
    Rule("unbalanced-template", "warning", "half a mark of a template is read as text"),
    Rule("sampled-template", "info", "a template stands for more sentences than are used"),
    Rule("incomplete-test", "error", "a test case has no message, or says nothing of what it should come to"),
    Rule("unknown-intent", "error", "a test case names an intent that is not there"),
)
"""What `validate` finds too. No registry loads with one of the errors, so none of them can be ignored."""

CATALOGUE = {rule.id: rule for rule in (*BY_MEANING, *BY_FORM)}
NOT_IGNORED = frozenset(rule.id for rule in BY_FORM if rule.severity == "error")


def problem(place: Location, rule: str, message: str, hint: str) -> Problem:
    """A finding with the severity of its rule."""
    return Problem(place, CATALOGUE[rule].severity, rule, message, hint)
