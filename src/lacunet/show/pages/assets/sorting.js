"use strict";
// A click on a heading sorts its table: numbers by value; labels, and anything else, by text.
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
      const text = row => row.cells[column].textContent;
      const isLabel = head.classList.contains("label");
      const order = (a, b) => {
        const [x, y] = [a, b].map(row => isLabel ? NaN : parseFloat(text(row).replace(/[<,]/g, "")));
        return Number.isNaN(x) && Number.isNaN(y) ? text(a).localeCompare(text(b)) : (x || 0) - (y || 0);
      };
      const body = table.tBodies[0];
      body.append(...[...body.rows].sort((a, b) => down ? order(b, a) : order(a, b)));
    });
  });
});
