"""Every rule id, with its severity and one line that says what the rule finds."""

from __future__ import annotations

from typing import NamedTuple

from intentmatch.core.errors import Location, Problem, Severity


class Rule(NamedTuple):
    """A rule of `lint`."""

    id: str
    severity: Severity
    says: str


BY_MEANING = (
    Rule("misplaced-utterance", "warning", "an utterance is much nearer to another intent than to its own"),
    Rule("overlapping-intents", "warning", "many utterances of two intents are nearer to the other intent"),
    Rule("near-conflict", "warning", "two intents have nearly the same utterance"),
    Rule("near-duplicate", "info", "an utterance is nearly the same as another one of its intent"),
    Rule("two-clusters", "info", "the utterances of an intent form two groups with little in common"),
    Rule("few-utterances", "warning", "an intent has fewer than three utterances, or far fewer than is usual"),
    Rule("uniform-utterances", "info", "the utterances of an intent are much more alike than is usual"),
    Rule("other-language", "warning", "an utterance reads like another language of the registry than the declared one"),
    Rule("missing-language", "warning", "an intent has no utterances in a language that most intents have"),
    Rule("language-not-covered", "warning", "the encoder was not trained on a language of the registry"),
    Rule("bad-suppression", "warning", "a comment or setting ignores a rule that does not exist or cannot be ignored"),
    Rule("unused-suppression", "info", "a comment ignores a rule that finds nothing there"),
)
"""Rules of `lint` alone."""

BY_FORM = (
    Rule("yaml-syntax", "error", "a file is not valid YAML"),
    Rule("wrong-indentation", "error", "a key belongs to another mapping than the one that it stands in"),
    Rule("lost-text", "warning", "YAML reads a part of a line as a comment, a tag or an anchor"),
    Rule("joined-lines", "warning", "YAML joins a line without a dash to the utterance above it"),
    Rule("alias-expansion", "error", "aliases expand a file beyond its limit"),
    Rule("encoding", "error", "a file is not UTF-8"),
    Rule("unreadable", "error", "a file cannot be read"),
    Rule("not-found", "error", "a file or folder does not exist"),
    Rule("no-files", "error", "a folder has no YAML file"),
    Rule("empty-file", "warning", "a file is empty"),
    Rule("foreign-file", "error", "a file belongs to another program, such as Rasa"),
    Rule("version", "error", "a file has an unknown version of the grammar"),
    Rule("unknown-key", "error", "a key is unknown"),
    Rule("duplicate-key", "error", "a mapping has the same key twice"),
    Rule("wrong-type", "error", "a value has the wrong type for its key"),
    Rule("language-code", "error", "a language code is not BCP-47"),
    Rule("language-section", "error", "a section of a language is unknown, has a wrong form, or is given twice"),
    Rule("country-code", "warning", "the code of a country stands in place of the code of its language"),
    Rule("setting", "error", "a setting has an invalid value"),
    Rule("threshold", "error", "a threshold is neither a number from 0 to 1 nor a percentage"),
    Rule("setting-redefined", "error", "two files define the same setting"),
    Rule("intent-redefined", "error", "an intent defines the same property twice"),
    Rule("reserved-name", "warning", "an intent is named `out_of_scope`, which tests use for no intent"),
    Rule("no-intents", "error", "the registry has no intent"),
    Rule("no-utterances", "error", "an intent has neither utterances nor a description"),
    Rule("description-only", "warning", "an intent has a description, but no utterances"),
    Rule("empty-utterance", "error", "an utterance has no words"),
    Rule("duplicate-utterance", "warning", "an intent has the same utterance twice in one language"),
    Rule("conflicting-utterance", "error", "two intents that `when` does not tell apart have the same utterance"),
    Rule("contradicting-negative", "error", "an utterance of an intent is also in its `not:`"),
    Rule("bad-name", "error", "a rule or a slot has a name that a template cannot contain"),
    Rule("bad-slot", "error", "a slot has an invalid type or invalid values"),
    Rule("bad-pattern", "error", "a regular expression of a slot is invalid"),
    Rule("missing-extra", "error", "a slot has a type that needs an extra which is not installed"),
    Rule("duplicate-value", "warning", "a word belongs to two values of a slot"),
    Rule("slot-redefined", "error", "an intent has two slots of the same name"),
    Rule("unknown-slot", "error", "a template names an undeclared slot"),
    Rule("unknown-rule", "error", "a template names a rule that does not exist, or not in its language"),
    Rule("ambiguous-slot", "error", "a template names a slot that several other files declare"),
    Rule("ambiguous-rule", "error", "a template names a rule that several other files define"),
    Rule("recursive-rule", "error", "a rule uses itself"),
    Rule("oversized-template", "error", "the sentences of a template are too long"),
    Rule("unused-slot", "warning", "no intent uses a slot"),
    Rule("unknown-placeholder", "warning", "a response names a slot that its intent does not have"),
    Rule("unused-rule", "warning", "no template uses a rule"),
    Rule("unbalanced-template", "warning", "an unbalanced bracket of a template is read as text"),
    Rule("sampled-template", "info", "a template stands for more sentences than are used"),
    Rule("bad-question", "error", "a question has fewer than two answers, an answer without lines, or too many"),
    Rule("question-redefined", "error", "two files have the same question"),
    Rule("slot-in-question", "error", "a line of a question names a slot"),
    Rule("conflicting-answer", "error", "two answers of a question have the same line"),
    Rule("few-lines", "warning", "an answer of a question has fewer than five lines"),
    Rule("incomplete-test", "error", "a test case has no message or no expected answer"),
    Rule("unknown-intent", "error", "a test case names an intent that does not exist"),
)
"""Rules of `validate`. A registry with one of the errors does not load, so the errors cannot be ignored."""

CATALOGUE = {rule.id: rule for rule in (*BY_MEANING, *BY_FORM)}
NOT_IGNORED = frozenset(rule.id for rule in BY_FORM if rule.severity == "error")


def problem(place: Location, rule: str, message: str, hint: str) -> Problem:
    """Return a problem with the severity of its rule."""
    return Problem(place, CATALOGUE[rule].severity, rule, message, hint)
