"""The second pane of Try: paste or upload messages, and get a table to sort, filter, export and pin as tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from nicegui import ui
from nicegui.events import GenericEventArguments

from intentmatch.core.errors import InputError, IntentMatchError
from intentmatch.registry.editing.edits import AddTest
from intentmatch.studio.host import Bot
from intentmatch.studio.message_table import COLUMNS, Asked, MessageRow, chosen, read, row_of, to_csv
from intentmatch.studio.parts import card, in_thread, tag
from intentmatch.studio.proposal import explained, propose
from intentmatch.studio.visit import Visit
from intentmatch.studio.wording import NO_INTENT, answer_in_words

ROWS_PER_PAGE = 25
MOST_BYTES = 900_000
"""Bytes of an uploaded file: it comes as one message of a WebSocket, which takes a million."""
_TOGETHER = 200
_MOST_PINNED = 200
_TITLES = {"number": "#", "text": "message", "right": "as expected"}
_VERDICTS = {
    "": "every verdict",
    "matched": "matched",
    "ambiguous": "asks back",
    "out_of_scope": NO_INTENT,
    "wrong": "not as expected",
}


_READ_FILE = f"""async (event) => {{
    const file = event.target.files[0];
    event.target.blur();
    if (file) emit(file.size > {MOST_BYTES} ? null : await file.text());
}}"""


class ManyMessages:
    """The pane on one page. Rows stay on the server; the browser holds one page of them."""

    def __init__(self, visit: Visit) -> None:
        self._visit = visit
        self._rows: list[MessageRow] = []
        self._shown: list[MessageRow] = []
        self._sort, self._descending = "number", False
        with card("Messages"):
            self._text = ui.textarea("One message per line, or a CSV with a column text").props("outlined rows=5")
            self._text.props('input-class="st-words" maxlength=900000').classes("st-wide")
            with tag("div", classes="st-row"):
                self._run = ui.button("Match all", on_click=self._match_text).props("unelevated")
                # Not `ui.upload`: the route that it adds to the app outlives its page.
                with tag("label", classes="st-upload"):
                    tag("span", "or a CSV:")
                    tag("input", type_="file", accept=".csv,.tsv,.txt").on("change", self._take, js_handler=_READ_FILE)
            self._state = tag("p", "", "st-muted st-small", role="status")
        self._results = card("Answers")
        self._results.set_visibility(False)
        with self._results:
            self._summary = tag("p", "", "st-muted")
            self._tools()
            self._table = self._empty_table()

    def _tools(self) -> None:
        with tag("div", classes="st-row"):
            self._words = ui.input("Filter", on_change=self._show).props("outlined dense clearable debounce=150")
            self._verdict = ui.select(_VERDICTS, value="", label="Verdict", on_change=self._show)
            self._verdict.props("outlined dense options-dense").classes("st-filter")
            ui.button("Export CSV", icon="download", on_click=self._export).props("flat").classes("st-push")
            if self._visit.may("author"):
                ui.button("Pin selected as tests", on_click=self._pin).props("outline")

    def _empty_table(self) -> ui.table:
        columns = [
            {"name": name, "label": _TITLES.get(name, name), "field": name, "sortable": True, "align": "left"}
            for name in COLUMNS
        ]
        table = ui.table(columns=columns, rows=[], row_key="number", selection="multiple", pagination=ROWS_PER_PAGE)
        table.props('flat dense wrap-cells binary-state-sort :rows-per-page-options="[25]" aria-label="Answers"')
        table.classes("st-wide st-answers")
        for name in ("text", "nearest"):
            table.add_slot(
                f"body-cell-{name}", f'<q-td :props="props"><span dir="auto">{{{{ props.row.{name} }}}}</span></q-td>'
            )
        # With this event the browser leaves sorting and paging to the server.
        table.on("request", self._page)
        return table

    async def _take(self, event: GenericEventArguments) -> None:
        if event.args is None:
            self._state.set_text(f"The file is larger than {MOST_BYTES:,} bytes.")
        else:
            await self._match(str(event.args))

    async def _match_text(self) -> None:
        await self._match(str(self._text.value or ""))

    async def _match(self, text: str) -> None:
        try:
            asked = read(text)
        except InputError as error:
            self._state.set_text(explained(error))
            return
        self._run.disable()
        try:
            rows: list[MessageRow] = []
            # In parts, so that progress is seen and the bot answers others in between.
            for start in range(0, len(asked), _TOGETHER):
                rows += await in_thread(_answers, self._visit.bot, asked[start : start + _TOGETHER], start + 1)
                self._state.set_text(f"{len(rows):,} of {len(asked):,} messages")
        except IntentMatchError as error:
            self._state.set_text(explained(error))
            return
        finally:
            self._run.enable()
        self._rows, self._state.text = rows, ""
        self._summary.set_text(_summary(rows))
        self._results.set_visibility(True)
        self._show()

    def _show(self) -> None:
        self._shown = chosen(
            self._rows,
            str(self._words.value or ""),
            str(self._verdict.value or ""),
            sort=self._sort,
            descending=self._descending,
        )
        self._draw(1)

    def _page(self, event: GenericEventArguments) -> None:
        asked = event.args["pagination"]
        self._sort, self._descending = asked.get("sortBy") or "number", bool(asked.get("descending"))
        self._shown = chosen(
            self._rows,
            str(self._words.value or ""),
            str(self._verdict.value or ""),
            sort=self._sort,
            descending=self._descending,
        )
        self._draw(int(asked.get("page") or 1))

    def _draw(self, page: int) -> None:
        start = (page - 1) * ROWS_PER_PAGE
        self._table.rows = [
            {**asdict(row), "verdict": row.says, "expected": _expects(row), "right": row.right}
            for row in self._shown[start : start + ROWS_PER_PAGE]
        ]
        self._table.props["pagination"] = {
            "page": page, "rowsPerPage": ROWS_PER_PAGE, "rowsNumber": len(self._shown),
            "sortBy": self._sort, "descending": self._descending,
        }  # fmt: skip
        self._visit.announce(f"{len(self._shown)} messages")

    def _export(self) -> None:
        ui.download.content(to_csv(self._shown), "answers.csv", "text/csv")

    async def _pin(self) -> None:
        # By number: the browser sends rows back, and could send any text.
        picked = {row["number"] for row in self._table.selected}
        rows = [row for row in self._rows if row.number in picked][:_MOST_PINNED]
        if not rows:
            self._visit.tell("Select messages first.", "warning")
            return
        edits = [AddTest(row.text, _expected(row)) for row in rows]
        done = await propose(self._visit, edits, title=f"Pin {len(rows)} tests", note=f"Add {len(rows)} tests")
        if done is not None:
            self._table.selected = []


def _expects(row: MessageRow) -> str:
    """Return what the list expects in the words of the other screens; the exported file has the names of the API."""
    return answer_in_words(row.expected) if row.expected else ""


def _expected(row: MessageRow) -> str | None:
    """What a test of this row expects: what the list says, or else the present answer."""
    wanted = row.expected or (row.intent if row.verdict == "matched" else "out_of_scope")
    return None if wanted == "out_of_scope" else wanted


def _answers(bot: Bot, asked: Sequence[Asked], first: int) -> list[MessageRow]:
    with bot.snapshot_for() as snapshot:
        results = snapshot.match_many([one.text for one in asked])
    return [row_of(first + place, one, result) for place, (one, result) in enumerate(zip(asked, results, strict=True))]


def _summary(rows: Sequence[MessageRow]) -> str:
    counts = {
        verdict: sum(row.verdict == verdict for row in rows) for verdict in ("matched", "ambiguous", "out_of_scope")
    }
    text = f"{len(rows):,} messages: {counts['matched']:,} matched, {counts['ambiguous']:,} asked back, "
    text += f"{counts['out_of_scope']:,} without an intent"
    judged = [row for row in rows if row.right]
    return f"{text}; {sum(row.right == 'yes' for row in judged) / len(judged):.1%} as expected" if judged else text
