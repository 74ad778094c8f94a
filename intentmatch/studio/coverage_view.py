"""See: how many utterances each intent has in each language."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from intentmatch.core.types import Registry
from intentmatch.lint.languages import coverage
from intentmatch.studio.parts import card, empty, tag
from intentmatch.studio.visit import Visit

_ROWS = 25
# A cell is darker the more utterances it has, up to this many.
_FULL = 20
_CELL = """
<q-td :props="props" :class="props.value === 0 ? 'st-none' : ''"
      :style="props.value > 0 ? {'--share': Math.min(props.value / %d, 1)} : {}">
  <span class="st-cell">{{ props.value || '–' }}</span>
</q-td>
"""
_NAME = """
<q-td :props="props"><a class="st-link st-mono" dir="auto" :href="props.row.url">{{ props.value }}</a></q-td>
"""


def coverage_view(visit: Visit, registry: Registry) -> None:
    """Draw the matrix of intents and languages; gaps come first on request."""
    counts = coverage(registry)
    codes = list(next(iter(counts.values()), {}))
    if not codes:
        empty("There are no utterances yet.")
        return
    gaps = sum(count == 0 for row in counts.values() for count in row.values())
    says = f"{len(counts)} intents in {len(codes)} languages"
    rows: list[dict[str, Any]] = [
        {
            "intent": name,
            "url": visit.url("edit", intent=name),
            "missing": sum(count == 0 for count in row.values()),
            "total": sum(row.values()),
            **{f"in {code}": count for code, count in row.items()},
        }
        for name, row in counts.items()
    ]
    with card(f"{says}; {gaps} gaps" if gaps else f"{says}, without a gap"):
        filtered = ui.input("Filter by intent").props("outlined dense clearable").classes("st-filter")
        columns = [
            {"name": "intent", "label": "intent", "field": "intent", "align": "left", "sortable": True},
            *(
                {"name": key, "label": code or "none", "field": key, "sortable": True, "align": "center"}
                for code in codes
                for key in [f"in {code}"]
            ),
            {"name": "missing", "label": "gaps", "field": "missing", "sortable": True, "align": "right"},
            {"name": "total", "label": "lines", "field": "total", "sortable": True, "align": "right"},
        ]
        first = {"rowsPerPage": _ROWS, "sortBy": "missing", "descending": True}
        table = ui.table(rows=rows, columns=columns, row_key="intent", pagination=first)
        table.classes("st-coverage").props("flat dense wrap-cells")
        for code in codes:
            table.add_slot(f"body-cell-in {code}", _CELL % _FULL)
        table.add_slot("body-cell-intent", _NAME)
        table.bind_filter_from(filtered, "value")
    tag("p", "A dash is a gap: people who write in that language do not reach the intent.", "st-muted st-small")
