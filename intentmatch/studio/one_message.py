"""The first pane of Try: a verdict while you type, and everything that led to it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

from nicegui import ui

from intentmatch.core.errors import IntentMatchError
from intentmatch.core.result import Candidate, Entity, MatchResult, Stage, WordMatch
from intentmatch.registry.editing.edits import AddTest, AddUtterance, Edit
from intentmatch.studio.host import Bot
from intentmatch.studio.parts import BadgeKind, badge, card, empty, tag, words
from intentmatch.studio.places import intent_link, place, with_short_names
from intentmatch.studio.proposal import explained, propose
from intentmatch.studio.visit import Visit

DEBOUNCE_MS = 80
_MOST_CANDIDATES = 8
_GUESSED = "guessed"
_OUT_OF_SCOPE = "out_of_scope"
_VERDICTS: dict[str, tuple[str, BadgeKind]] = {
    "matched": ("matched", "good"),
    "ambiguous": ("asks back", "warn"),
    "out_of_scope": ("out of scope", "plain"),
}


class OneMessage:
    """The pane on one page."""

    def __init__(self, visit: Visit, message: str = "") -> None:
        self._visit = visit
        self._asked = 0
        self._result: MatchResult | None = None
        self._drawn: object = None
        languages = sorted({utterance.language or "" for utterance in visit.bot.matcher.registry.utterances} - {""})
        with card(), tag("div", classes="st-row st-top"):
            self._message = ui.input("Message", value=message, on_change=self.match)
            self._message.props(f'outlined debounce={DEBOUNCE_MS} dir="auto" clearable autofocus maxlength=10000')
            self._message.classes("st-grow st-message")
            self._language = ui.select([_GUESSED, *languages], value=_GUESSED, label="Language", on_change=self.match)
            self._language.props("outlined options-dense").classes("st-language")
        self._place = tag("div", classes="st-stack st-result")
        with self._place:
            empty("Type what a user might write.")
        visit.shortcut("/", "Write a message", self._focus)

    async def match(self) -> None:
        """Match what is written, and draw the answer unless a newer message is on its way."""
        self._asked += 1
        asked, text = self._asked, str(self._message.value or "")
        language = None if self._language.value == _GUESSED else str(self._language.value)
        if not text.strip():
            self._result = None
            self._place.clear()
            with self._place:
                empty("Type what a user might write.")
            return
        try:
            answer = await asyncio.to_thread(_answer, self._visit.bot, text, language)
        except IntentMatchError as error:
            self._place.clear()
            with self._place:
                tag("p", explained(error), "st-problem", role="alert")
            return
        if asked == self._asked and not self._place.is_deleted:
            self._draw(*answer)

    async def refresh(self) -> None:
        """Match again after a change of the files; an answer that is the same stays as it is."""
        shown = self._drawn
        if self._result is None:
            return
        language = None if self._language.value == _GUESSED else str(self._language.value)
        asked, text = self._asked, str(self._message.value or "")
        try:
            answer = await asyncio.to_thread(_answer, self._visit.bot, text, language)
        except IntentMatchError:
            return
        if asked == self._asked and not self._place.is_deleted and self._shown_of(*answer) != shown:
            self._draw(*answer)

    def _shown_of(self, result: MatchResult, found: tuple[WordMatch, ...], explanation: str, _: float) -> object:
        """Return what the page shows of an answer, without times."""
        names = tuple(intent.name for intent in self._visit.bot.matcher.registry)
        return replace(result, trace=replace(result.trace, stages=())), found, explanation, names

    def _focus(self) -> None:
        self._message.run_method("focus")

    def _draw(self, result: MatchResult, found: tuple[WordMatch, ...], explanation: str, milliseconds: float) -> None:
        self._result = result
        self._drawn = self._shown_of(result, found, explanation, milliseconds)
        self._place.clear()
        with self._place:
            self._verdict(result, explanation, milliseconds)
            with tag("div", classes="st-columns"):
                with tag("div", classes="st-stack st-gap"):
                    self._candidates(result)
                    if self._visit.may("author"):
                        self._actions(result)
                with tag("div", classes="st-stack st-gap"):
                    if result.entities or result.missing:
                        _slots(result)
                    if found:
                        _word_table(found)
                    _stages(result.trace.stages)
        self._visit.announce(f"{_VERDICTS[result.verdict][0]} {result.intent or ''}")

    def _verdict(self, result: MatchResult, explanation: str, milliseconds: float) -> None:
        text, kind = _VERDICTS[result.verdict]
        with card(classes="st-verdict"):
            with tag("div", classes="st-row"):
                badge(text, kind)
                if result.intent is not None:
                    intent_link(self._visit, result.intent)
                    title = result.candidates[0].title if result.candidates else None
                    if title:
                        words(title, "st-muted")
                for rival in result.rivals:
                    intent_link(self._visit, rival.intent)
                tag("span", f"{milliseconds:.1f} ms", "st-muted st-small st-push", title="Time of the match")
            _highlighted(result.message, result.entities)
            sentences = with_short_names(self._visit, explanation).splitlines()
            tag("p", sentences[0])
            with tag("ul", classes="st-list st-muted st-small"):
                for sentence in sentences[1:]:
                    tag("li", sentence, "st-words", dir="auto")
            if result.response:
                with tag("div", classes="st-response"):
                    tag("span", "Answers", "st-muted st-small")
                    words(result.response)

    def _candidates(self, result: MatchResult) -> None:
        with card("Candidates"):
            if not result.candidates:
                tag("p", "No intent comes near.", "st-muted")
                return
            trace = result.trace
            if trace.threshold_on == "in_scope" and result.in_scope is not None:
                _bar("in scope", result.in_scope, f"{result.in_scope:.0%}", trace.threshold, strong=True)
            for number, candidate in enumerate(result.candidates[:_MOST_CANDIDATES]):
                on_it = trace.threshold_on == ("score" if candidate.confidence is None else "confidence")
                self._candidate(candidate, trace.threshold if on_it and number == 0 else None)
            if trace.threshold is not None:
                shown = f"{trace.threshold:.2f}" if trace.threshold_on == "score" else f"{trace.threshold:.0%}"
                tag("p", f"The mark is the threshold: {shown} ({trace.threshold_origin}).", "st-muted st-small")

    def _candidate(self, candidate: Candidate, threshold: float | None) -> None:
        value = candidate.score if candidate.confidence is None else candidate.confidence
        with tag("div", classes="st-candidate"):
            with tag("div", classes="st-row"):
                intent_link(self._visit, candidate.intent)
                if self._visit.may("author"):
                    button = ui.button("belongs here", on_click=lambda: self._add(candidate.intent))
                    button.props("flat dense no-caps").classes("st-push st-small")
                    button.props["aria-label"] = f"The message belongs to {candidate.intent}"
            _bar(candidate.intent, value, candidate.measured, threshold, label=False)
            if candidate.utterance is not None:
                with tag("div", classes="st-row st-small"):
                    words(f"“{candidate.utterance.text}”", "st-muted")
                    place(self._visit, candidate.utterance.location)

    def _actions(self, result: MatchResult) -> None:
        names = [intent.name for intent in self._visit.bot.matcher.registry]
        with card("Teach it"):
            with tag("div", classes="st-row st-top"):
                target = ui.select(names, value=result.intent, label="This belongs to", with_input=True)
                target.props("outlined dense options-dense clearable").classes("st-grow")
                ui.button("Add the line", on_click=lambda: self._add(target.value)).props("unelevated")
            with tag("div", classes="st-row st-top"):
                expected = ui.select(
                    [_OUT_OF_SCOPE, *names], value=result.intent or _OUT_OF_SCOPE, label="Expect", with_input=True
                )
                expected.props("outlined dense options-dense").classes("st-grow")
                ui.button("Pin as test", on_click=lambda: self._pin(expected.value)).props("outline")

    async def _add(self, intent: object) -> None:
        if self._result is None or not intent:
            self._visit.tell("Choose an intent first.", "warning")
            return
        text, language = self._result.message.strip(), self._spoken()
        await self._propose(AddUtterance(str(intent), text, language), f"This belongs to {intent}", f"Add to {intent}")

    async def _pin(self, expected: object) -> None:
        if self._result is None or not expected:
            return
        intent = None if expected == _OUT_OF_SCOPE else str(expected)
        edit = AddTest(self._result.message.strip(), intent, self._spoken())
        await self._propose(edit, "Pin as a test", f"Add a test of {expected}")

    async def _propose(self, edit: Edit, title: str, note: str) -> None:
        if await propose(self._visit, [edit], title=title, note=note) is not None:
            await self.match()

    def _spoken(self) -> str | None:
        """The language of the message, if the registry has it."""
        result = self._result
        held = {utterance.language for utterance in self._visit.bot.matcher.registry.utterances}
        return result.language if result is not None and result.language in held else None


def segments(message: str, entities: Sequence[Entity]) -> Iterator[tuple[str, Entity | None]]:
    """Yield the parts of a message in order, each with the entity that it is; of overlapping ones, the first."""
    end = 0
    for entity in sorted(entities, key=lambda one: (one.start, -one.end)):
        if entity.start < end:
            continue
        if entity.start > end:
            yield message[end : entity.start], None
        yield message[entity.start : entity.end], entity
        end = entity.end
    if end < len(message):
        yield message[end:], None


def _answer(bot: Bot, text: str, language: str | None) -> tuple[MatchResult, tuple[WordMatch, ...], str, float]:
    with bot.answering() as snapshot:
        start = time.perf_counter()
        result = snapshot.match(text, language=language)
        milliseconds = (time.perf_counter() - start) * 1000
        return result, snapshot.word_matches(result), snapshot.explain(result), milliseconds


def _bar(
    name: str, value: float, shown: str, threshold: float | None, *, label: bool = True, strong: bool = False
) -> None:
    """Draw a value between 0 and 1 as a bar, with a mark at the threshold."""
    width = max(0.0, min(1.0, value))
    with tag("div", classes="st-bar-row"):
        if label:
            tag("span", name, "st-bar-label")
        meter = tag(
            "div", classes="st-meter", role="meter", aria_label=name, aria_valuemin="0", aria_valuemax="1",
            aria_valuenow=f"{width:.3f}", aria_valuetext=shown,
        )  # fmt: skip
        with meter:
            tag("div", classes=f"st-fill {'strong' if strong else ''}").style(f"width: {width:.1%}")
            if threshold is not None:
                mark = tag("div", classes="st-threshold", title=f"threshold {threshold:.2f}")
                mark.style(f"inset-inline-start: {max(0.0, min(1.0, threshold)):.1%}")
        tag("span", shown, "st-bar-value")


def _highlighted(message: str, entities: Sequence[Entity]) -> None:
    with tag("p", classes="st-words st-said", dir="auto"):
        for text, entity in segments(message, entities):
            if entity is None:
                tag("span", text)
            else:
                tag("mark", text, "st-slot", title=f"{entity.slot} = {entity.shown}")


def _slots(result: MatchResult) -> None:
    with card("Slots"), tag("dl", classes="st-pairs"):
        for entity in result.entities:
            tag("dt", entity.slot, "st-mono")
            words(f"{entity.shown}  (“{entity.text}”)", name="dd")
        for missing in result.missing:
            tag("dt", missing.slot, "st-mono")
            words(f"missing: {missing.question or 'no question'}", name="dd", classes="st-muted")


def _word_table(found: Sequence[WordMatch]) -> None:
    with card("Which word met which"), tag("table", classes="st-table"):
        with tag("thead"), tag("tr"):
            for head in ("message", "utterance", "similarity", "weight"):
                tag("th", head, scope="col")
        with tag("tbody"):
            for match in found:
                with tag("tr"):
                    words(match.word, name="td")
                    words(match.met, name="td")
                    with tag("td"):
                        _bar(
                            f"{match.word} and {match.met}",
                            match.similarity,
                            f"{match.similarity:.2f}",
                            None,
                            label=False,
                        )
                    tag("td", f"{match.weight:.0%}", "st-number")


def _stages(stages: Sequence[Stage]) -> None:
    total = sum(stage.microseconds for stage in stages)
    with card(f"Stages, {total / 1000:.2f} ms"), tag("table", classes="st-table"):
        with tag("thead"), tag("tr"):
            for head in ("stage", "found", "µs"):
                tag("th", head, scope="col")
        with tag("tbody"):
            for stage in stages:
                with tag("tr"):
                    tag("td", stage.name, "st-mono")
                    words(stage.says, name="td", classes="st-small")
                    tag("td", f"{stage.microseconds:.0f}", "st-number")
