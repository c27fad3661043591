"use strict";
// The network with its mechanisms; a variable that can be hidden is shaded.
(() => {
  const { data, draw, shortened, layout, drawGraph, byId } = page;
  const text = i => shortened(data.variables[i].name);
  const hidden = new Set(data.mechanisms.map(m => m.variable));
  const node = (i, box) => {
    const rect = draw("rect", { width: box.width, height: box.height });
    rect.style.fill = hidden.has(i) ? "color-mix(in srgb, var(--missing) 30%, var(--paper))" : "var(--paper)";
    return draw("g", { class: "node fixed", transform: `translate(${box.x - box.width / 2},${box.y - box.height / 2})` },
      draw("title", {}, data.variables[i].name), rect,
      draw("text", { x: box.width / 2, y: 19, "text-anchor": "middle" }, text(i)));
  };
  // Of a large network only what the mechanisms touch.
  const near = [...hidden, ...data.mechanisms.flatMap(m => m.causes).filter(c => c[0] === "v").map(c => Number(c.slice(1)))];
  const all = data.variables.length <= 60 || !near.length;
  const shown = new Set(all ? data.variables.keys() : near);
  const { svg, width, height } = drawGraph(layout(shown, text), node);
  const fit = Math.min(1, Math.max((byId("drawing").clientWidth - 4) / width, 0.55));
  svg.setAttribute("width", width * fit);
  svg.setAttribute("height", height * fit);
  byId("drawing").replaceChildren(svg);
  document.documentElement.dataset.ready = "yes";
})();
