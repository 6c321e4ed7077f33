"use strict";
// Sorting, linked lines, the choice of a warp view, light and dark. Without it the page shows everything.

const cellValue = (row, column) => {
  const cell = row.cells[column];
  return cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value);
};

const compare = (a, b) => {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
  return a.localeCompare(b, undefined, { numeric: true });
};

for (const table of document.querySelectorAll("table.sortable")) {
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => {
    heading.firstElementChild.addEventListener("click", () => {
      const down = heading.getAttribute("aria-sort") === "ascending";
      headings.forEach((other) => other.setAttribute("aria-sort", "none"));
      heading.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...table.tBodies[0].rows];
      rows.sort((a, b) => (down ? -1 : 1) * compare(cellValue(a, column), cellValue(b, column)));
      table.tBodies[0].append(...rows);
    });
  });
}

for (const panes of document.querySelectorAll(".panes")) {
  const rows = [...panes.querySelectorAll("tbody tr")];
  const pick = (chosen) => {
    const { key, ptx } = chosen.dataset;
    const fromSource = ptx === undefined;
    rows.forEach((row) => {
      const same = fromSource
        ? row.dataset.key === key
        : row === chosen || (row.dataset.ptx === undefined ? key && row.dataset.key === key : row.dataset.ptx === ptx);
      row.classList.toggle("picked", Boolean(same));
    });
    panes.querySelectorAll(".line").forEach((button) => {
      button.setAttribute("aria-pressed", String(button.closest("tr") === chosen));
    });
    const own = chosen.closest(".pane");
    for (const pane of panes.querySelectorAll(".pane")) {
      const first = pane.querySelector("tr.picked");
      if (pane !== own && first) pane.scrollTop = Math.max(0, first.offsetTop - pane.clientHeight / 3);
    }
  };
  panes.addEventListener("click", (event) => {
    const button = event.target.closest(".line");
    if (button) pick(button.closest("tr"));
  });
}

for (const views of document.querySelectorAll(".views")) {
  const choice = views.querySelector(".view-choice");
  const figures = [...views.querySelectorAll("figure")];
  const show = () => figures.forEach((figure) => { figure.hidden = figure.id !== choice.value; });
  choice.hidden = false;
  choice.addEventListener("change", show);
  show();
}

const theme = document.getElementById("theme");
theme.hidden = false;
theme.addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme
    ? root.dataset.theme === "dark"
    : window.matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
});

window.addEventListener("beforeprint", () => {
  document.querySelectorAll("details").forEach((one) => { one.open = true; });
});
