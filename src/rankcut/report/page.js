// Tabs and sortable tables. Without it the page shows everything, one section below the other.
"use strict";

function tabs(list) {
  const buttons = [...list.querySelectorAll("[role=tab]")];
  const panels = buttons.map((button) => document.getElementById(button.getAttribute("aria-controls")));
  const show = (chosen) => {
    buttons.forEach((button, i) => {
      const on = i === chosen;
      button.setAttribute("aria-selected", String(on));
      button.tabIndex = on ? 0 : -1;
      panels[i].classList.toggle("away", !on);
    });
  };
  buttons.forEach((button, i) => {
    button.addEventListener("click", () => show(i));
    button.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = (i + step + buttons.length) % buttons.length;
      show(next);
      buttons[next].focus();
    });
  });
  const wanted = panels.findIndex((panel) => "#" + panel.id === location.hash);
  list.hidden = false;
  show(Math.max(0, wanted));
}

function number(cell) {
  const text = cell.textContent.replaceAll("−", "-").replaceAll(",", "").replace("< ", "");
  const found = text.match(/^[-+]?\d*\.?\d+(e[-+]?\d+)?/i);
  return found ? Number(found[0]) : null;
}

function sortable(table) {
  const body = table.tBodies[0];
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement("button");
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      const rows = [...body.rows].map((row) => [number(row.cells[column]), row.cells[column].textContent, row]);
      const numeric = rows.every(([value, text]) => value !== null || text === "–");
      rows.sort((a, b) => (numeric ? (a[0] ?? -Infinity) - (b[0] ?? -Infinity) : a[1].localeCompare(b[1])));
      if (down) rows.reverse();
      [...head.parentNode.cells].forEach((each) => each.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      body.append(...rows.map(([, , row]) => row));
    });
  });
}

document.querySelectorAll("[role=tablist]").forEach(tabs);
document.querySelectorAll("table.sortable").forEach(sortable);
