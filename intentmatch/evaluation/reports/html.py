"""Render a report as one self-contained HTML page: styles, script and SVG plots inline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape

from intentmatch.core.errors import counted
from intentmatch.evaluation import metrics
from intentmatch.evaluation.gate import Check
from intentmatch.evaluation.outcomes import Outcome
from intentmatch.evaluation.reports import svg_plots as plots
from intentmatch.evaluation.reports.number_format import decimal, percent, place
from intentmatch.evaluation.reports.page import Section, page, paragraph, table
from intentmatch.evaluation.reports.report import HELD_OUT, TITLES, Report, ReportPart, assumed
from intentmatch.evaluation.robustness import LISTS, MEANINGS, RobustnessPart, accepted, overall
from intentmatch.evaluation.robustness import TITLES as ROBUSTNESS_TITLES
from intentmatch.evaluation.traits import TraitRow

_CONFUSIONS = 25
_EXAMPLES = 8
_TRIALS = 25

EXPLAINED = {
    "held_out": (
        "Cross-validation: each utterance was evaluated twice. First the registry was built without the utterance and "
        "its near-duplicates. Then it was built without the whole intent, so the utterance was out of scope and had to "
        "be refused. Such utterances resemble the other intents, so real out-of-scope messages are easier to refuse."
    ),
    "tests": "Test cases, evaluated on the whole registry.",
}


def to_html(report: Report, checks: Sequence[Check] = ()) -> str:
    """Render the page; `checks` are the results of the pass/fail checks."""
    facts = report.facts
    shown = [f"{key} {value}" for key, value in facts.items() if not isinstance(value, list)]
    intro = "<h1>Evaluation report</h1>" + paragraph(", ".join(shown), "dim")
    intro += "".join(paragraph(("Passed: " if c.passed else "Failed: ") + c.says, _verdict(c)) for c in checks)
    sections = [_part(part) for part in report.parts]
    sections += [_questions(report.questions)] if report.questions else []
    sections += [section] if (section := _out_of_scope(report)) else []
    sections += [_robustness(report.robustness)] if report.robustness else []
    sections += [_learning(report)] if report.curve else []
    return page("intentmatch eval", intro, sections)


def _part(part: ReportPart) -> Section:
    outcomes, numbers = part.outcomes, part.numbers
    curve = metrics.coverage_curve(outcomes)
    reliability = metrics.bins(part.calibrated_on)
    figures = [("Precision by coverage", plots.coverage_plot(curve, numbers.coverage, numbers.precision))]
    if reliability:
        figures.append(("Reliability of the confidence", plots.reliability_plot(reliability)))
    rows = metrics.intent_rows(outcomes)
    body = paragraph(EXPLAINED[part.name]) + _tiles(part)
    if part.not_asked:
        body += paragraph(
            f"Not held out: {counted(part.not_asked, 'utterance')}. Without it, an intent would have no utterance left."
        )
    body += '<div class="plots">' + "".join(_figure(caption, svg) for caption, svg in figures) + "</div>"
    parts = [*_languages(outcomes), *_intents(rows), *_confusions(outcomes)]
    parts += [_negatives(part)] if part.negatives else []
    return Section(TITLES[part.name].capitalize(), body, tuple(parts))


def _tiles(part: ReportPart) -> str:
    n = part.numbers
    tiles = [
        (percent(n.overall), f"overall accuracy: right, or correctly refused{_weighed(part)}"),
        (percent(n.accuracy), f"accuracy of {n.in_scope} in scope"),
        (decimal(n.macro_f1), "macro F1"),
        (percent(n.asked), "asked about, with the right intent among the choices"),
        (percent(n.lost), "lost: in scope, but refused"),
        (percent(n.wrong), "matched with a wrong intent"),
        (percent(n.oos_recall), f"out-of-scope recall: refused, of {n.cases - n.in_scope}"),
        (percent(n.oos_precision), "out-of-scope precision: share of the refused"),
        (decimal(n.auroc), "AUROC, in scope against out of scope"),
        (decimal(n.ece), "calibration error" + (", in scope" if part.name == HELD_OUT else "")),
    ]
    if part.latency:
        tiles.append((f"{part.latency.p50:,.0f} µs", f"latency p50 of {counted(part.latency.messages, 'match')}"))
        tiles.append((f"{part.latency.p99:,.0f} µs", "latency p99"))
    drawn = "".join(f'<div class="tile"><b>{value}</b><span>{escape(what)}</span></div>' for value, what in tiles)
    return f'<div class="tiles">{drawn}</div>'


def _weighed(part: ReportPart) -> str:
    """Say which share of the messages counts as out of scope."""
    share = part.out_of_scope_share
    return "" if share is None else f", if {share:.0%} of the messages are out of scope"


def _languages(outcomes: Sequence[Outcome]) -> Iterator[Section]:
    rows = [
        [
            row.language or "not stated",
            str(row.in_scope),
            percent(row.accuracy),
            str(row.out_of_scope),
            percent(row.refused),
        ]
        for row in metrics.language_rows(outcomes)
    ]
    if len(rows) > 1:
        yield Section("Languages", table(["language", "in scope", "accuracy", "out of scope", "refused"], rows))


def _intents(rows: Sequence[metrics.IntentRow]) -> Iterator[Section]:
    if not rows:
        return
    cells = [
        [row.intent, str(row.cases), str(row.right), percent(row.precision), percent(row.recall), decimal(row.f1)]
        for row in rows
    ]
    drawn = table(["intent", "cases", "right", "precision", "recall", "F1"], cells)
    bars = f'{_key(plots.KINDS)}<div class="wide">{plots.intent_bars(rows)}</div>'
    yield Section("Intents, worst first", f"{bars}<details><summary>All intents as a table</summary>{drawn}</details>")


def _key(kinds: Mapping[str, str]) -> str:
    """Render the legend of bars."""
    return f"""<p class="key dim">{"".join(f'<i class="{kind}"></i>{what}' for kind, what in kinds.items())}</p>"""


def _confusions(outcomes: Sequence[Outcome]) -> Iterator[Section]:
    inside = [o for o in outcomes if o.in_scope]
    confused, matched = metrics.confusions(inside), metrics.confusions([o for o in outcomes if not o.in_scope])
    if confused:
        drawn = plots.heat_map(inside)
        body = f'<div class="wide heatmap">{drawn}</div>' if drawn else ""
        yield Section("Confusions", body + "".join(map(_confusion, confused[:_CONFUSIONS])) + _rest(confused))
    else:
        yield Section("Confusions", paragraph("None."))
    if matched:
        body = "".join(map(_confusion, matched[:_CONFUSIONS])) + _rest(matched)
        yield Section("Out of scope, but answered", body)


def _confusion(confusion: metrics.Confusion) -> str:
    shown = confusion.outcomes[:_EXAMPLES]
    rows = [[o.case.text, place(o.case.location), f"{o.score:.2f}", _nearest(o)] for o in shown]
    more = len(confusion.outcomes) - len(rows)
    title = f"{confusion.expected} answered with {confusion.answer}: {len(confusion.outcomes)}"
    drawn = table(["message", "where", "score", "nearest utterance"], rows)
    rest = paragraph(f"and {more} more", "dim") if more else ""
    return f"<details><summary>{escape(title)}</summary>{drawn}{rest}</details>"


def _rest(confusions: Sequence[metrics.Confusion]) -> str:
    left = len(confusions) - _CONFUSIONS
    return paragraph(f"and {left} rarer confusions", "dim") if left > 0 else ""


def _negatives(part: ReportPart) -> Section:
    taken = [negative for negative in part.negatives if negative.taken]
    count = f"{len(taken)} of {len(part.negatives)} held-out negative utterances"
    rows = [[n.outcome.case.text, place(n.outcome.case.location), n.owner] for n in taken]
    drawn = table(["message", "where", "matched intent"], rows) if rows else ""
    return Section("Negative utterances", paragraph(f"{count} matched the intent that excludes them.") + drawn)


def _questions(rows: Sequence[TraitRow]) -> Section:
    cells = [
        [row.question, str(row.lines), percent(row.right), percent(row.wrong), decimal(row.ece), percent(row.answered)]
        for row in rows
    ]
    body = paragraph(
        "Each line was answered by what the lines in other words teach. The last column is the share of the intents' "
        "utterances that have an answer, right or wrong."
    )
    body += f'{_key(plots.ANSWER_KINDS)}<div class="wide">{plots.question_bars(rows)}</div>'
    head = ["question", "lines", "right", "wrong", "calibration error", "utterances with an answer"]
    return Section("Questions", body + table(head, cells))


def _out_of_scope(report: Report) -> Section | None:
    """Say which share of the messages is assumed to be out of scope, and which ones of the lists are accepted."""
    says = assumed(report)
    lists = [part for part in report.robustness if part.name in LISTS and part.trials]
    if says is None and not lists:
        return None
    body = paragraph(f"{says}. Confidences and learned thresholds are made for this share.") if says else ""
    if lists:
        body += paragraph(
            "No intent should answer the messages of these lists: everyday talk in the languages of your intents, and "
            "noise. Some everyday messages may be your bot's business; those do not count against it."
        )
    return Section("Out-of-scope messages", body, tuple(map(_accepted, lists)))


def _accepted(part: RobustnessPart) -> Section:
    wrong = accepted(part)
    title = f"{ROBUSTNESS_TITLES[part.name].capitalize()}: {len(wrong)} of {len(part.trials)} accepted"
    outcomes = [trial.outcome for trial in wrong[:_TRIALS]]
    rows = [[o.case.text, o.case.language or "", o.answer, _confidence(o), _nearest(o)] for o in outcomes]
    rest = paragraph(f"and {len(wrong) - len(rows)} more", "dim") if len(wrong) > len(rows) else ""
    head = ["message", "language", "answer", "confidence", "nearest utterance"]
    return Section(title, (table(head, rows) if rows else paragraph("None.")) + rest)


def _robustness(parts: Sequence[RobustnessPart]) -> Section:
    tried = [part for part in parts if part.trials]
    rows = [
        [
            ROBUSTNESS_TITLES[part.name],
            percent(part.share),
            percent(part.share_before),
            str(len(part.trials)),
            MEANINGS[part.name],
        ]
        for part in tried
    ]
    head = ["messages", "share right", "as written", "number", "right is"]
    body = paragraph(
        f"{percent(overall(parts))}: the mean of the shares below. Your own messages were typed otherwise, and "
        "messages that no intent should answer were added. “As written” is the share of the same messages before they "
        "were changed."
    )
    bars = f'<div class="wide">{plots.robustness_bars(tried)}</div>'
    body += _figure("Share of messages answered rightly", bars) + table(head, rows)
    return Section("Robustness", body + "".join(map(_mistakes, tried)))


def _mistakes(part: RobustnessPart) -> str:
    wrong = part.worst()
    if not wrong:
        return ""
    shown = [trial.outcome for trial in wrong[:_TRIALS]]
    rest = paragraph(f"and {len(wrong) - len(shown)} more", "dim") if len(wrong) > len(shown) else ""
    title = f"{ROBUSTNESS_TITLES[part.name].capitalize()}: {len(wrong)} answered wrongly"
    if part.share_before is None:
        rows = [[o.case.text, o.answer, _confidence(o), _nearest(o)] for o in shown]
        drawn = table(["message", "answer", "confidence", "nearest utterance"], rows)
    else:
        written = (trial.written for trial in wrong)
        rows = [
            [o.case.text, text, place(o.case.location), o.answer, _confidence(o)]
            # Only the first of the wrong trials are shown, and `written` goes on after them.
            for o, text in zip(shown, written, strict=False)
        ]
        drawn = table(["message", "written as", "where", "answer", "confidence"], rows)
    return f"<details><summary>{escape(title)}</summary>{drawn}{rest}</details>"


def _confidence(outcome: Outcome) -> str:
    return "–" if outcome.confidence is None else f"{outcome.confidence:.0%}"


def _learning(report: Report) -> Section:
    rows = [[h.intent, percent(h.accuracy), f"{100 * h.gain:+.1f}", h.says] for h in report.hints]
    head = ["intent", "accuracy", "points gained by the last doubling", "advice"]
    return Section(
        "Would more utterances help?",
        _figure("Learning curve", plots.learning_plot(report.curve))
        + (table(head, rows) if rows else paragraph("There is no advice for a single intent.")),
    )


def _nearest(outcome: Outcome) -> str:
    if outcome.nearest is None:
        return ""
    return f"“{outcome.nearest.text}” {place(outcome.nearest.location)}".rstrip()


def _verdict(check: Check) -> str:
    return "passed" if check.passed else "failed"


def _figure(caption: str, svg: str) -> str:
    return f"<figure><figcaption>{escape(caption)}</figcaption>{svg}</figure>"
