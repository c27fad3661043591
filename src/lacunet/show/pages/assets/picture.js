"use strict";
// The drawing as it stands, with its beliefs, as a picture of its own: SVG, or PNG at twice the size.
(() => {
  const { data, byId, save, network } = page;
  const vars = data.variables, card = data.drawn.card, FONT = "Helvetica, Arial, sans-serif";
  const COLOUR = { ink: "#1b1f24", soft: "#57606a", panel: "#f6f8fa", track: "#e3e8ee", fill: "#3f7fbf", missing: "#d9730d", cause: "#a84300" };
  const pen = document.createElement("canvas").getContext("2d");
  const escaped = text => text.replace(/[&<>"]/g, sign => `&#${sign.charCodeAt(0)};`);
  function fitted(text, room, weight) {
    pen.font = `${weight} 12px ${FONT}`;
    let kept = text;
    while (kept.length > 1 && pen.measureText(kept).width > room) kept = kept.slice(0, kept.endsWith("…") ? -2 : -1) + "…";
    return kept;
  }
  const words = (x, y, text, more = "") => `<text x="${x}" y="${y}" ${more}>${escaped(text)}</text>`;
  const box = (x, y, width, height, fill, more = "") => `<rect x="${x}" y="${y}" width="${Math.max(width, 0).toFixed(1)}" height="${height}" fill="${fill}" ${more}/>`;
  function cardMarkup(i, [x, y], { widthOf, heightOf, beliefOf, endsOf }) {
    const v = vars[i], width = widthOf(i), tall = heightOf(i), { seen, cut } = network.state;
    const parts = [box(x, y, width, tall, COLOUR.panel, `stroke="${COLOUR.soft}" rx="5"`),
      words(x + 8, y + 20, fitted(v.name, width - (v.missing ? 54 : 16), "bold"), 'font-weight="bold"')];
    if (v.missing) parts.push(words(x + width - 8, y + 20, `${Math.round(100 * v.missing)}%`, `text-anchor="end" fill="${COLOUR.soft}"`), box(x, y + 30, width * v.missing, 4, COLOUR.missing));
    if (tall <= card.head) return parts.join("");
    const label = data.drawn.labels[i], left = x + 8 + label + 6, across = width - label - 14 - 50;
    const first = Math.max(0, Math.min(seen[i] - card.most + 1, v.states.length - card.most));  // what is seen is among those shown
    v.states.slice(first, first + card.most).forEach((state, place) => {
      const k = place + first, p = beliefOf(i, k), top = y + card.head - 2 + 24 * place, isSeen = seen[i] === k, ink = isSeen ? "#fff" : COLOUR.ink;
      if (isSeen) parts.push(box(x, top, width, 24, cut[i] ? COLOUR.cause : COLOUR.ink));
      parts.push(words(x + 8, top + 16, fitted(state, label, "normal"), `fill="${ink}"`), box(left, top + 6, across, 11, isSeen ? COLOUR.soft : COLOUR.track));
      if (p !== undefined) parts.push(box(left, top + 6, across * p, 11, isSeen ? "#fff" : COLOUR.fill));
      const ends = endsOf(i, k);
      if (ends) parts.push(box(left + across * ends[0], top + 10.5, across * (ends[1] - ends[0]), 1.5, COLOUR.ink), ...ends.map(end => box(left + across * end - 0.5, top + 8, 1, 7, COLOUR.ink)));
      parts.push(words(x + width - 8, top + 16, p === undefined ? "–" : p.toFixed(3), `text-anchor="end" fill="${ink}"`));
    });
    if (v.states.length > card.most) parts.push(words(x + width / 2, y + tall + 10, `+ ${v.states.length - card.most} states`, `text-anchor="middle" font-size="10" fill="${COLOUR.soft}"`));
    return parts.join("");
  }
  function markup() {
    const drawing = network.picture(), { width, height, corner, edges, boxes } = drawing, dash = kind => kind === "extra" ? "2 3" : kind ? "5 3" : "";
    const head = (id, fill) => `<marker id="${id}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="10" markerHeight="10" markerUnits="userSpaceOnUse" orient="auto-start-reverse"><path d="M0,0L8,4L0,8z" fill="${fill}"/></marker>`;
    const lines = edges.map(({ path, kind, strength }) => `<path d="${path}" fill="none" stroke="${kind ? COLOUR.cause : COLOUR.soft}" stroke-width="${strength === undefined ? 1.2 : 0.8 + 3.2 * strength}"`
      + ` ${dash(kind) ? `stroke-dasharray="${dash(kind)}"` : ""} marker-end="url(#${kind ? "cause" : "plain"})" ${kind === "hidden" ? 'marker-start="url(#cause)"' : ""}/>`);
    const mechanisms = Object.values(boxes).map(([x, y, across], k) => box(x, y, across, 28, "#fff", `stroke="${COLOUR.cause}" stroke-dasharray="4 2" rx="4"`)
      + words(x + across / 2, y + 18, `R[${vars[data.mechanisms[k].variable]?.name ?? "*"}]`, 'text-anchor="middle"'));
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="${FONT}" font-size="12" fill="${COLOUR.ink}">`
      + `<title>${escaped(document.title)}</title><defs>${head("plain", COLOUR.soft)}${head("cause", COLOUR.cause)}</defs>${box(0, 0, width, height, "#fff")}`
      + lines.join("") + [...corner].map(([i, at]) => cardMarkup(i, at, drawing)).join("") + mechanisms.join("") + "</svg>\n";
  }
  byId("save-svg").addEventListener("click", () => save("network.svg", markup(), "image/svg+xml"));
  byId("save-png").addEventListener("click", () => {
    const { width, height } = network.picture(), image = new Image();
    image.addEventListener("load", () => {
      const canvas = document.createElement("canvas");
      Object.assign(canvas, { width: 2 * width, height: 2 * height });
      canvas.getContext("2d").drawImage(image, 0, 0, 2 * width, 2 * height);
      canvas.toBlob(blob => save("network.png", blob, "image/png"));
    });
    image.src = "data:image/svg+xml," + encodeURIComponent(markup());
  });
})();
