"use strict";
// Sorts and filters the tables of this page. It loads, stores and sends nothing, and writes names as text.
for (const table of document.querySelectorAll("main table")) {
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const heads = [...table.tHead.rows[0].cells];
  if (rows.length < 2) continue;
  // a number, a text, or null for nothing, which stands last in either direction
  const value = (row, at) => {
    const cell = row.cells[at];
    const number = Number(cell.dataset.value ?? NaN);
    if (Number.isFinite(number)) return number;
    return cell.textContent === "–" ? null : cell.textContent;
  };
  const compared = (a, b) => typeof a === "number" && typeof b === "number" ? a - b
    : String(a).localeCompare(String(b), "en", {numeric: true});
  heads.forEach((head, at) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const next = {ascending: "descending", descending: ""}[head.getAttribute("aria-sort")] ?? "ascending";
      for (const each of heads) each.removeAttribute("aria-sort");
      if (next) head.setAttribute("aria-sort", next);
      const known = next ? rows.filter(row => value(row, at) !== null) : rows;
      const sign = next === "descending" ? -1 : 1;
      const sorted = next ? [...known].sort((a, b) => sign * compared(value(a, at), value(b, at))) : rows;
      body.append(...sorted, ...rows.filter(row => !known.includes(row)));
    });
  });
  if (rows.length < 10 || heads.length < 2) continue;
  const label = document.createElement("label");
  const field = document.createElement("input");
  const found = document.createElement("output");
  field.type = "search";
  label.append("Filter ", field);
  const line = document.createElement("div");
  line.className = "filter";
  line.append(label, found);
  table.setAttribute("aria-labelledby", table.caption.firstElementChild.id);
  table.caption.append(line);
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/);
    for (const row of rows) {
      const text = [...row.cells].map(cell => cell.textContent).join(" ").toLowerCase();
      row.hidden = !words.every(word => text.includes(word));
    }
    found.value = words.join("") ? `${rows.filter(row => !row.hidden).length} of ${rows.length} rows` : "";
  });
}
