"""The evaluation: the numbers, the worst intents and confusions, the learning curve, and the gates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from intentmatch.cli.render import output
from intentmatch.core.errors import counted

if TYPE_CHECKING:
    from intentmatch.evaluation.gate import Check
    from intentmatch.evaluation.metrics import IntentRow, LanguageRow
    from intentmatch.evaluation.outcomes import Outcome
    from intentmatch.evaluation.reports.report import Report, ReportPart
    from intentmatch.evaluation.robustness import RobustnessPart, TriedVariation
    from intentmatch.evaluation.second_opinion import SecondOpinion
    from intentmatch.evaluation.traits import TraitRow

_MOST_INTENTS = 10
_MOST_CONFUSIONS = 6
_EXAMPLES_PER_CONFUSION = 2
_MOST_HINTS = 8
_MISTAKES_PER_PART = 2
_ACCEPTED_PER_LIST = 4


def report(found: Report) -> None:
    """Print each part (held-out utterances, test cases), the robustness and the learning curve."""
    for number, part in enumerate(found.parts):
        if number:
            output.echo()
        _part(part)
    if found.questions:
        _questions(found.questions)
    if found.robustness:
        _robustness(found.robustness)
    _out_of_scope(found)
    if promise := found.facts.get("promise"):
        output.say(f"\n{promise[:1].upper()}{promise[1:]}.")
    if found.curve:
        _curve(found)


def _questions(rows: Sequence[TraitRow]) -> None:
    """Print how the held-out lines of each question are answered."""
    output.say("\n" + output.style("Questions: held-out lines", bold=True))
    output.table(
        ["question", "lines", "right", "wrong", "calibration error", "utterances with an answer"],
        [
            [
                row.question,
                str(row.lines),
                f"{row.right:.0%}",
                f"{row.wrong:.0%}",
                "" if row.ece is None else f"{row.ece:.2f}",
                "" if row.answered is None else f"{row.answered:.0%}",
            ]
            for row in rows
        ],
    )


def second_opinion(found: SecondOpinion) -> None:
    """Print what a reranker gains, how often it is asked, and what that costs."""
    from intentmatch.evaluation.reports.report import HELD_OUT, TITLES

    output.echo()
    output.say(output.style(f"With the reranker {found.name}", bold=True))
    for gain in found.gains:
        if gain.without is None or gain.with_it is None:
            continue
        points = 100.0 * (gain.with_it - gain.without)
        output.say(f"  {TITLES[gain.part]}: {gain.without:.1%} without, {gain.with_it:.1%} with ({points:+.1f})")
        outside = "left out with their intent" if gain.part == HELD_OUT else "out of scope"
        shares = {"in scope": gain.asked_in_scope, outside: gain.asked_out_of_scope}
        each = ", ".join(f"{share:.1%} of those {name}" for name, share in shares.items() if share is not None)
        output.say(f"    asked about {gain.asked or 0.0:.1%} of the messages: {each}")
    if found.unanswered:
        output.say(f"  {counted(found.unanswered, 'call')} without an answer: there the verdict stood")
        output.say(output.style(f"    {found.reason}", dim=True))
        if found.used_up:
            output.say(output.style("    raise it to measure all: --set reranker_budget=minute=5000", dim=True))
    cost = f"  {counted(found.calls, 'call')}, {found.seconds * 1000:.1f} ms each"
    if found.requests is not None:
        cost += f", {counted(found.requests, 'request')}"
    if found.tokens:
        cost += f", {counted(found.tokens, 'token')}"
    output.say(cost)


def gate(checks: Sequence[Check]) -> None:
    """Print the gates: passed ones to standard output, failed ones to standard error."""
    for check in checks:
        if check.passed:
            output.say("\n" + output.style("passed: ", fg="green", bold=True) + check.says)
        else:
            output.say(output.style("gate failed: ", fg="red", bold=True) + check.says, err=True)


def _part(part: ReportPart) -> None:
    """Print the numbers of one part, then languages, intents and confusions."""
    from intentmatch.evaluation.metrics import intent_rows, language_rows
    from intentmatch.evaluation.reports.report import HELD_OUT, TITLES

    n = part.numbers
    outside = "left out" if part.name == HELD_OUT else "out of scope"
    title = f"{TITLES[part.name].capitalize()}: {n.in_scope} in scope, {n.cases - n.in_scope} {outside}"
    title += " with their intent" if part.name == HELD_OUT else ""
    output.say(output.style(title, bold=True))
    output.table(["", "", ""], _numbers(part, outside))
    if part.not_asked:
        utterances = counted(part.not_asked, "utterance")
        output.say(f"  {utterances} not measured: without the held-out ones, the intent would have none.")
    if part.cross_fitted:
        output.say(
            f"  Share of out-of-scope messages and confidences are learned from {part.cross_fitted} of them. "
            "Each of these is answered by a matcher that learned from the others only."
        )
    if part.negatives:
        wrong = sum(negative.taken for negative in part.negatives)
        output.say(f"  {wrong} of {counted(len(part.negatives), 'negative utterance')} (`not:`) matched their intent.")
    languages = language_rows(part.outcomes)
    if len(languages) > 1:
        _languages(languages, outside)
    rows = [row for row in intent_rows(part.outcomes) if row.cases]
    if rows:
        _intents(sorted(rows, key=lambda row: (row.recall or 0.0, row.intent)))
    _confusions(part)


def _numbers(part: ReportPart, outside: str) -> list[list[str]]:
    """Return rows of name, value and meaning; `outside` names the cases without a right intent."""
    from intentmatch.evaluation.reports.number_format import decimal, percent
    from intentmatch.evaluation.reports.report import HELD_OUT

    n = part.numbers
    rows = [
        ["overall accuracy", percent(n.overall), f"right answers among all{_weighed(part)}"],
        ["accuracy", percent(n.accuracy), "right intents among those in scope"],
        ["macro F1", decimal(n.macro_f1), "mean over intents, among those in scope"],
        ["asked about", percent(n.asked), "of those in scope: ambiguous, with the right intent among the rivals"],
        ["lost", percent(n.lost), "of those in scope: wrongly refused"],
        ["another intent", percent(n.wrong), "of those in scope: a wrong intent matched"],
        ["out-of-scope recall", percent(n.oos_recall), f"of those {outside}: refused"],
        ["out-of-scope precision", percent(n.oos_precision), f"of the refused: {outside}"],
        ["AUROC", decimal(n.auroc), f"chance that one in scope ranks above one {outside}"],
        ["calibration error", decimal(n.ece), "of the confidence" + (", in scope" if part.name == HELD_OUT else "")],
        ["coverage", percent(n.coverage), f"matched; {percent(n.precision)} of these are right"],
    ]
    if part.latency is not None:
        timed = f"for one match, over {counted(part.latency.messages, 'message')}; p99 {part.latency.p99:,.0f} µs"
        rows.append(["latency p50", f"{part.latency.p50:,.0f} µs", timed])
    return rows


def _weighed(part: ReportPart) -> str:
    """Say which share of the messages counts as out of scope."""
    if part.out_of_scope_share is None:
        return ", out of scope included"
    return f", if {part.out_of_scope_share:.0%} of the messages are out of scope"


def _languages(rows: Sequence[LanguageRow], outside: str) -> None:
    from intentmatch.evaluation.reports.number_format import percent

    output.heading("Languages")
    output.table(
        ["language", "in scope", "accuracy", outside, "refused"],
        [
            [r.language or "not stated", str(r.in_scope), percent(r.accuracy), str(r.out_of_scope), percent(r.refused)]
            for r in rows
        ],
    )


def _intents(rows: Sequence[IntentRow]) -> None:
    from intentmatch.evaluation.reports.number_format import decimal, percent

    more = f", {_MOST_INTENTS} of {len(rows)}" if len(rows) > _MOST_INTENTS else ""
    output.heading(f"Intents, the worst first{more}")
    cells = [
        [
            r.intent,
            *map(str, (r.cases, r.right, r.asked, r.lost)),
            percent(r.precision),
            percent(r.recall),
            decimal(r.f1),
        ]
        for r in rows[:_MOST_INTENTS]
    ]
    output.table(["intent", "cases", "right", "asked", "lost", "precision", "recall", "F1"], cells)


def _confusions(part: ReportPart) -> None:
    from intentmatch.evaluation.metrics import confusions

    # Only matches can confuse two intents; the share of lost ones is among the numbers.
    matched = [o for o in part.outcomes if o.verdict == "matched"]
    found = confusions([o for o in matched if o.in_scope]) or confusions(matched)
    if not found:
        return
    output.heading("Worst confusions")
    for confusion in found[:_MOST_CONFUSIONS]:
        output.say(f"  {len(confusion.outcomes)} x {confusion.expected} answered with {confusion.answer}")
        for outcome in confusion.outcomes[:_EXAMPLES_PER_CONFUSION]:
            output.say(output.style(f"      {_line(outcome)}", dim=True))


def _line(outcome: Outcome) -> str:
    """Return the message of a case with its place, and the nearest utterance."""
    from intentmatch.evaluation.reports.number_format import place

    message = f"“{outcome.case.text}” {place(outcome.case.location)}".rstrip()
    if outcome.nearest is None:
        return message
    return f"{message}  nearest: “{outcome.nearest.text}” {place(outcome.nearest.location)}".rstrip()


def _robustness(parts: Sequence[RobustnessPart]) -> None:
    """Print the share of each part of the robustness, and its worst mistakes with their lines."""
    from intentmatch.evaluation.reports.number_format import percent
    from intentmatch.evaluation.robustness import LISTS, MEANINGS, TITLES, overall

    tried = [part for part in parts if part.trials]
    output.heading(f"Robustness: {percent(overall(parts))}, the mean of these shares")
    output.table(
        ["messages", "share", "as written", "number", "the share counts"],
        [
            [TITLES[p.name], percent(p.share), percent(p.share_before), str(len(p.trials)), MEANINGS[p.name]]
            for p in tried
        ],
    )
    for part in tried:
        # Shown with the out-of-scope messages.
        if part.name in LISTS:
            continue
        wrong = part.worst()
        if wrong:
            output.say(f"  {TITLES[part.name]}: {len(wrong)} wrong")
        for trial in wrong[:_MISTAKES_PER_PART]:
            output.say(output.style(f"      {_mistake(trial)}", dim=True))


def _out_of_scope(found: Report) -> None:
    """Print the share of out-of-scope messages that is assumed, and messages of the lists that are accepted."""
    from intentmatch.evaluation.reports.report import assumed
    from intentmatch.evaluation.robustness import LISTS, TITLES, accepted

    says = assumed(found)
    lists = [part for part in found.robustness if part.name in LISTS and part.trials]
    if says is None and not lists:
        return
    output.heading("Out-of-scope messages")
    if says is not None:
        output.say(f"  {says}.")
    for part in lists:
        wrong = accepted(part)
        output.say(
            f"  {TITLES[part.name]}: {len(wrong)} of {len(part.trials)} accepted, though no intent should answer"
        )
        for trial in wrong[:_ACCEPTED_PER_LIST]:
            output.say(output.style(f"      {_mistake(trial)}", dim=True))


def _mistake(trial: TriedVariation) -> str:
    """Return the message of a trial, the answer, and the line that it was made from or that it is nearest to."""
    from intentmatch.evaluation.reports.number_format import place

    outcome = trial.outcome
    answer = f"“{outcome.case.text}” answered with {outcome.answer}"
    if outcome.verdict == "matched" and outcome.confidence is not None:
        answer += f" ({outcome.confidence:.0%})"
    if trial.written:
        return f"{answer}  written as: “{trial.written}” {place(outcome.case.location)}".rstrip()
    nearest = outcome.nearest
    return f"{answer}  nearest: “{nearest.text}” {place(nearest.location)}".rstrip() if nearest else answer


def _curve(found: Report) -> None:
    """Print the learning curve and the intents that more utterances would help."""
    from intentmatch.evaluation.reports.number_format import percent

    output.heading("Learning curve")
    output.table(
        ["of each intent's utterances", "in all", "accuracy"],
        [[f"{point.share:.0%}", str(point.utterances), percent(point.accuracy)] for point in found.curve],
    )
    for hint in found.hints[:_MOST_HINTS]:
        gain = f"{100 * hint.gain:+.1f} points from the last doubling"
        output.say(f"  {hint.intent}: {percent(hint.accuracy)}, {gain}: {hint.says}")
