"use strict";
// What the scripts of all pages share: the data that the page carries, elements made from text,
// and files to save. Names reach the page only as text, never as markup.
const page = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  const byId = id => document.getElementById(id);
  const data = JSON.parse(byId("page-data").textContent);

  function make(tag, attributes = {}, ...inside) {
    const element = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) {
      if (key === "on") for (const [event, action] of Object.entries(value)) element.addEventListener(event, action);
      else if (value === true) element.setAttribute(key, "");
      else if (value !== false && value !== undefined) element.setAttribute(key, value);
    }
    element.append(...inside);
    return element;
  }
  function draw(tag, attributes = {}, ...inside) {
    const element = document.createElementNS(SVG, tag);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...inside);
    return element;
  }
  const name = text => make("bdi", {}, text);

  function inflated(text) {
    const bytes = Uint8Array.from(atob(text), c => c.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate")));
  }
  // The packed numbers of a network: CPTs, in full or as multiples of 10^-digits; then, if they are
  // known, which CPT rows have no data, the rows behind each, and the ends of
  // intervals, in ten thousandths.
  const restored = new Map();
  function restore(packed) {
    if (!restored.has(packed)) restored.set(packed, unpacked(packed));
    return restored.get(packed);
  }
  async function unpacked({ packed, digits, has_support: hasSupport, has_rows: hasRows, has_intervals: hasIntervals, parents }) {
    const buffer = await inflated(packed).arrayBuffer(), vars = data.variables;
    const above = i => (parents ?? vars.map(v => v.parents))[i];
    const configurations = vars.map((_, i) => above(i).reduce((size, p) => size * vars[p].states.length, 1));
    const sizes = vars.map((v, i) => configurations[i] * v.states.length);
    let at = 0;
    const take = (Kind, lengths) => {
      at = Math.ceil(at / 8) * 8;
      return lengths.map(length => {
        const part = new Kind(buffer, at, length);
        at += part.byteLength;
        return part;
      });
    };
    const cpts = digits === null ? take(Float64Array, sizes)
      : take(Uint16Array, sizes).map(cells => Float64Array.from(cells, cell => cell / 10 ** digits));
    const bare = hasSupport ? take(Uint8Array, configurations) : configurations.map(() => null);
    const rows = hasRows ? take(Float32Array, configurations) : null;
    const ends = hasIntervals ? take(Uint16Array, sizes.map(size => 2 * size)) : null;
    return { cpts, rows, ends, bare };
  }

  function save(file, text, type) {
    const address = URL.createObjectURL(new Blob([text], { type }));
    const link = make("a", { href: address, download: file });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  }
  document.querySelectorAll("[data-save]").forEach(button => button.addEventListener("click",
    () => save(button.dataset.save, JSON.stringify(data, null, 1) + "\n", "application/json")));
  // Paper has nothing to open.
  addEventListener("beforeprint", () => document.querySelectorAll("details:not([open])").forEach(part => { part.open = true; part.dataset.closed = "yes"; }));
  addEventListener("afterprint", () => document.querySelectorAll("details[data-closed]").forEach(part => { part.open = false; delete part.dataset.closed; }));
  document.querySelectorAll(".scripted").forEach(element => { element.hidden = false; });
  return { data, make, draw, name, byId, save, inflated, restore };
})();
