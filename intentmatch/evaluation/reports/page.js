(() => {
  "use strict";
  const FEWEST_ROWS_TO_FILTER = 6;

  const value = (cell) => {
    const text = cell.textContent.trim();
    const number = Number(text.replace(/,/g, "").replace(/ ?(%|µs)$/, ""));
    return text === "" || text === "–" ? null : Number.isNaN(number) ? text.toLowerCase() : number;
  };

  const compare = (a, b) =>
    typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));

  const sort = (body, column, descending) => {
    const rows = [...body.rows].map((row) => [value(row.cells[column]), row]);
    // Empty cells stay at the end, whatever the direction.
    rows.sort(([a], [b]) =>
      a === null || b === null ? (a === null) - (b === null) : (descending ? -1 : 1) * compare(a, b));
    body.append(...rows.map(([, row]) => row));
  };

  const makeSortable = (table) => {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      if (!head.textContent.trim()) return;
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      button.addEventListener("click", () => {
        const descending = head.getAttribute("aria-sort") === "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", descending ? "descending" : "ascending");
        sort(table.tBodies[0], column, descending);
      });
      head.replaceChildren(button);
    });
  };

  const makeFilterable = (table, place) => {
    const rows = [...table.tBodies[0].rows];
    if (rows.length < FEWEST_ROWS_TO_FILTER) return;
    const label = document.createElement("label");
    const input = document.createElement("input");
    const count = document.createElement("output");
    label.className = "filter";
    input.type = "search";
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
        shown += row.hidden ? 0 : 1;
      }
      count.textContent = words.length ? `${shown} of ${rows.length}` : "";
    });
    label.append("Filter ", input, " ", count);
    place.before(label);
  };

  for (const place of document.querySelectorAll("div.scroll")) {
    const table = place.querySelector("table");
    if (!table || table.tBodies[0].rows.length < 2) continue;
    makeSortable(table);
    makeFilterable(table, place);
  }

  // A link to something inside a closed part opens it.
  const open = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let part = target; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
  };
  addEventListener("hashchange", open);
  open();
})();
