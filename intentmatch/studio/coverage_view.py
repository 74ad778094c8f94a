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
# One template for each row instead of one for each cell, which would be a component of its own for the browser.
_ROW = """
<q-tr :props="props">
  <q-td v-for="col in props.cols" :key="col.name" :props="props"
        :class="col.value === 0 && col.name.startsWith('in ') ? 'st-none' : ''"
        :style="col.value > 0 && col.name.startsWith('in ') ? {'--share': Math.min(col.value / %d, 1)} : {}">
    <a v-if="col.name === 'intent'" class="st-link st-mono" dir="auto" :href="props.row.url">{{ col.value }}</a>
    <span v-else-if="col.name.startsWith('in ')" class="st-cell">{{ col.value || '–' }}</span>
    <template v-else>{{ col.value }}</template>
  </q-td>
</q-tr>
"""


def coverage_view(visit: Visit, registry: Registry) -> None:
    """Draw the matrix of intents and languages; gaps come first on request."""
    counts = coverage(registry)
    codes = list(next(iter(counts.values()), {}))
    if not codes:
        empty("There are no examples yet.")
        return
    gaps = sum(count == 0 for row in counts.values() for count in row.values())
    says = f"{len(counts)} intents in {len(codes)} languages"
    rows: list[dict[str, Any]] = [
        {
            "intent": name,
            "url": visit.url("edit", intent=name),
            "missing": sum(count == 0 for count in row.values()),
            "total": sum(row.values()),
            # With a prefix, by which `_ROW` tells them from the other columns.
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
        table.add_slot("body", _ROW % _FULL)
        table.bind_filter_from(filtered, "value")
    tag("p", "A dash is a gap: people who write in that language do not reach the intent.", "st-muted st-small")
