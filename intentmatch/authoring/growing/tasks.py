"""What a chat model is asked to write: for one intent and language, lines like those that it is shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from intentmatch.core.errors import UnknownNameError
from intentmatch.core.types import Intent, Registry
from intentmatch.inbox import Cluster
from intentmatch.text.redact import redact

Kind = Literal["paraphrase", "translate", "inbox"]

# Lines or messages that the model is shown of one intent: enough to see what it is about.
_MOST_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Task:
    """One request for lines."""

    kind: Kind
    intent: str
    language: str | None
    """BCP-47 code of the lines to write; None if the author names no languages."""
    title: str
    description: str | None
    shown: tuple[str, ...]
    """Lines of the author, or redacted messages for "inbox"; none if the intent has only a description."""

    def __str__(self) -> str:
        """The task as shown to users: `cancel_order, de: translate`."""
        return f"{self.intent}{f', {self.language}' if self.language else ''}: {self.kind}"


def paraphrases(registry: Registry, intents: Collection[str] = ()) -> list[Task]:
    """Return a task for each intent and language with lines, those with the fewest lines first.

    An intent that has only a description is written for in the language that its description counts as. `intents` are
    the names to write for; empty: all. Raises `UnknownNameError` for an unknown name.
    """
    found = [
        (len(lines), _task("paraphrase", intent, language, lines))
        for intent in _chosen(registry, intents)
        for language, lines in (_lines(registry, intent) or {one.language: [] for one in intent.described}).items()
    ]
    return [task for _, task in sorted(found, key=lambda item: item[0])]


def translations(registry: Registry, intents: Collection[str] = (), languages: Sequence[str] = ()) -> list[Task]:
    """Return a task for each intent and language that the intent has no lines in.

    `languages` are the codes to translate to. Empty: those that more than half of the intents have lines in, as the
    rule `missing-language` of `lint` counts. The model is shown the lines of the language with the most lines. An
    intent with lines without a language is left out, unless `languages` are given. Raises `UnknownNameError` for an
    unknown name.
    """
    written = {intent.name: _lines(registry, intent) for intent in registry}
    counts = Counter(code for lines in written.values() for code in lines if code)
    common = [code for code in registry.languages if counts[code] * 2 > len(written)]
    found = []
    for intent in _chosen(registry, intents):
        lines = written[intent.name]
        # Lines without a language may already be in the wanted one.
        if not lines or (None in lines and not languages):
            continue
        shown = max(lines.values(), key=len)
        found += [_task("translate", intent, code, shown) for code in languages or common if code not in lines]
    return found


def from_clusters(registry: Registry, clusters: Iterable[Cluster], intents: Collection[str] = ()) -> list[Task]:
    """Return a task for each group of the inbox that belongs to an intent for sure.

    A group that may belong to an intent counts if `intents` names the intent. Personal data in the messages is
    redacted. Raises `UnknownNameError` for an unknown name.
    """
    chosen = {intent.name: intent for intent in _chosen(registry, intents)}
    found = []
    for cluster in clusters:
        name = _intent_of(cluster, is_named=bool(intents))
        if name in chosen:
            # A group may mix languages, since it is one by meaning.
            code = Counter(message.language for message in cluster.messages).most_common(1)[0][0]
            language = code if any(line.language for line in chosen[name].utterances) else None
            shown = [redact(message.text or "") for message in cluster.messages]
            found.append(_task("inbox", chosen[name], language, shown))
    return found


def _intent_of(cluster: Cluster, *, is_named: bool) -> str | None:
    proposal = cluster.proposal
    if proposal.action == "add" and (proposal.sure or is_named):
        return proposal.intent
    return proposal.nearest[0] if proposal.action == "ask" and proposal.nearest and is_named else None


def _chosen(registry: Registry, names: Collection[str]) -> list[Intent]:
    for name in names:
        if name not in registry:
            raise UnknownNameError("intent", name, [intent.name for intent in registry])
    return [intent for intent in registry if not names or intent.name in names]


def _task(kind: Kind, intent: Intent, language: str | None, lines: Sequence[str]) -> Task:
    title = intent.title_in(language) or intent.label
    return Task(kind, intent.name, language, title, intent.description, tuple(lines[:_MOST_SHOWN]))


def _lines(registry: Registry, intent: Intent) -> dict[str | None, list[str]]:
    """Return the lines of an intent by language; a template counts as one line, with its first sentence."""
    found: dict[str | None, list[str]] = {}
    before = None
    for line in intent.utterances:
        if before is None or not line.same_line(before):
            found.setdefault(line.language, []).append(line.text)
        before = line
    return found
