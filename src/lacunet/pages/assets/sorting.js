"use strict";
// A click on a heading sorts its table: numbers by value, anything else by text.
document.querySelectorAll("table.sortable").forEach(table => {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") !== "descending";
      heads.forEach(other => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const value = row => row.cells[column].dataset.value ?? row.cells[column].textContent;
      const order = (a, b) => {
        const x = Number(value(a)), y = Number(value(b));
        return Number.isNaN(x) || Number.isNaN(y) ? value(a).localeCompare(value(b)) : x - y;
      };
      const body = table.tBodies[0];
      body.append(...[...body.rows].sort((a, b) => down ? order(b, a) : order(a, b)));
    });
  });
});
