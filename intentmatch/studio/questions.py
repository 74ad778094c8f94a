"""Questions beside the intent: what a message says to them, on the screen Try, and their lines, on the screen Edit."""

from __future__ import annotations

from collections.abc import Mapping

from intentmatch.core.result import MORE_LIKELY_THAN_NOT, Trait
from intentmatch.core.types import Registry, TraitQuestion
from intentmatch.studio import drawing
from intentmatch.studio.drawing import Node, bar, node, region
from intentmatch.studio.parts import card, tag, words
from intentmatch.studio.places import place, place_node
from intentmatch.studio.visit import Visit

_TITLE = "Questions beside the intent"
_MOST_QUESTIONS = 8
_MOST_ANSWERS = 3
_MOST_LINES = 10


def traits_node(visit: Visit, traits: Mapping[str, Trait]) -> Node:
    """Return a box with the likeliest answers of a message; the questions with the surest answers come first."""
    questions = {question.name: question for question in visit.bot.matcher.registry.questions}
    ranked = sorted(traits, key=lambda name: -traits[name].confidence)
    inside = [_trait_node(visit, name, questions.get(name), traits[name]) for name in ranked[:_MOST_QUESTIONS]]
    says = f"The mark, {MORE_LIKELY_THAN_NOT:.0%}, is what an answer takes."
    if len(ranked) > _MOST_QUESTIONS:
        says += f" The other {len(ranked) - _MOST_QUESTIONS} questions have less sure answers."
    return region(_TITLE, *inside, node("p", says, classes="st-muted st-small"))


def _trait_node(visit: Visit, name: str, question: TraitQuestion | None, trait: Trait) -> Node:
    answer = node("span", "does not say", classes="st-muted")
    if trait.answer is not None:
        answer = drawing.badge(trait.answer, "primary")
    head = [node("span", name, classes="st-mono", dir="auto"), answer]
    # None if the registry was loaded anew after the match.
    if question is not None:
        head += [drawing.words(question.text, "st-muted st-small")] if question.text else []
        head += [node("span", *place_node(visit, question.location), classes="st-push st-small")]
    likeliest = sorted(trait.confidences.items(), key=lambda item: -item[1])[:_MOST_ANSWERS]
    bars = [
        bar(shown, confidence, f"{confidence:.0%}", None if number else MORE_LIKELY_THAN_NOT)
        for number, (shown, confidence) in enumerate(likeliest)
    ]
    return node("div", node("div", *head, classes="st-row"), *bars, classes="st-trait")


def questions_card(visit: Visit, registry: Registry) -> None:
    """Draw the questions of a registry with the lines of their answers, and links to the files that hold them."""
    if not registry.questions:
        return
    with card(_TITLE):
        tag("p", "Every message is asked these, too. The links open the files, where you edit them.", "st-muted")
        for question in registry.questions:
            with tag("div", classes="st-trait"):
                with tag("div", classes="st-row"):
                    tag("span", question.name, "st-mono", dir="auto")
                    if question.text:
                        words(question.text, "st-muted")
                    with tag("span", classes="st-push st-small"):
                        place(visit, question.location)
                for answer, lines in question.answers.items():
                    with tag("details", classes="st-fold st-small"):
                        tag("summary", f"{answer}: {len(lines):,} lines", dir="auto")
                        with tag("ul", classes="st-plain st-muted"):
                            for line in lines[:_MOST_LINES]:
                                words(line.template or line.text, name="li")
                            if len(lines) > _MOST_LINES:
                                tag("li", f"and {len(lines) - _MOST_LINES:,} more")
