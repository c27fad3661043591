"use strict";
// The network and its CPTs, drawn from the data that the page carries. Names reach the page
// only as text, never as markup.
(() => {
  const { data, make, draw, name, shortened, layout, drawGraph, byId, save } = page;
  const SMALL = 60, OVERVIEW = 400, PAGE_ROWS = 24;
  const vars = data.variables;
  const place = new Map(vars.map((v, i) => [v.name, i]));
  const children = vars.map(() => []);
  vars.forEach((v, i) => v.parents.forEach(p => children[p].push(i)));
  const state = { chosen: data.weakest, whole: vars.length <= SMALL, zoom: 1, page: 0, folds: [], bare: false };
  let tables = null;

  const number = value => value === null ? "fewer than " + data.min_count
    : Number.isInteger(value) ? value.toLocaleString("en") : value.toLocaleString("en", { maximumFractionDigits: 1 });
  const percent = share => share === null ? "fewer than " + data.min_count + " rows" : (100 * share).toFixed(1) + "%";

  // The packed numbers: CPTs as multiples of 10^-digits, then support, then intervals in hundredths.
  function inflated(text) {
    const bytes = Uint8Array.from(atob(text), c => c.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate")));
  }
  async function unpack() {
    const buffer = await inflated(data.packed).arrayBuffer();
    const formulas = await inflated(data.formulas).json();
    const Kind = data.digits > 4 ? Uint32Array : Uint16Array, none = data.digits > 4 ? 0xffffffff : 0xffff;
    const scale = 10 ** data.digits, width = Kind.BYTES_PER_ELEMENT;
    let at = 0;
    const cells = size => {
      const raw = new Kind(buffer.slice(at, at + size * width));
      at += size * width;
      return Array.from(raw, value => value === none ? null : value / scale);
    };
    const configurations = i => vars[i].parents.reduce((size, p) => size * vars[p].states.length, 1);
    const sizes = vars.map((v, i) => configurations(i) * v.states.length);
    const cpts = sizes.map(cells);
    at = Math.ceil(at / 4) * 4;
    const support = vars.map((v, i) => {
      const raw = new Float32Array(buffer.slice(at, at + 4 * configurations(i)));
      at += raw.byteLength;
      return raw;
    });
    const bounds = data.has_intervals ? sizes.map(size => new Uint8Array(buffer, at, 2 * size, at += 2 * size)) : null;
    return { cpts, bounds, support, formulas };
  }

  // ---- the network
  const blanket = i => new Set([i, ...vars[i].parents, ...children[i], ...children[i].flatMap(c => vars[c].parents)]);

  const nodeText = i => shortened(vars[i].name) + (vars[i].warnings.length ? " !" : "");

  function ring(share) {
    const radius = 6, length = 2 * Math.PI * radius;
    return [draw("circle", { cx: 14, cy: 15, r: radius, class: "ring" }),
      draw("circle", { cx: 14, cy: 15, r: radius, class: "share", transform: "rotate(-90 14 15)",
        "stroke-dasharray": `${Math.min(share, 1) * length} ${length}` })];
  }
  function variableNode(i, box) {
    const v = vars[i];
    const left = v.effective === null ? 0 : 25;
    const label = draw("text", { x: left + (box.width - left) / 2, y: 19, "text-anchor": "middle" }, nodeText(i));
    const rect = draw("rect", { width: box.width, height: box.height });
    rect.style.fill = `color-mix(in srgb, var(--missing) ${Math.round(85 * v.missing)}%, var(--paper))`;
    const words = `${v.name}: ${percent(v.missing)} missing`
      + (v.effective === null ? "" : `, effective size ${number(v.effective)} of ${number(data.rows)} rows`)
      + (v.warnings.length ? `, ${v.warnings.length} warnings` : "");
    const g = draw("g", { class: "node" + (i === state.chosen ? " chosen" : ""), role: "button", "data-variable": i,
      tabindex: i === state.chosen ? 0 : -1, "aria-label": words, "aria-pressed": i === state.chosen,
      transform: `translate(${box.x - box.width / 2},${box.y - box.height / 2})` },
      draw("title", {}, words), rect, ...(v.effective === null ? [] : ring(v.effective / data.rows)), label);
    g.addEventListener("click", () => choose(i));
    g.addEventListener("keydown", event => walk(event, i));
    return g;
  }
  function drawNetwork(keepFocus) {
    const shown = state.whole ? new Set(vars.keys()) : blanket(state.chosen);
    const { svg, graph, width, height } = drawGraph(layout(shown, nodeText), variableNode);
    const room = byId("drawing").clientWidth - 4;
    const fit = Math.min(1, Math.max(room / width, 0.55)) * state.zoom;
    svg.setAttribute("width", width * fit);
    svg.setAttribute("height", height * fit);
    byId("drawing").replaceChildren(svg);
    byId("view").textContent = state.whole ? "the whole network"
      : `${vars[state.chosen].name} with its parents, children and their other parents (${shown.size} of ${vars.length} variables)`;
    const chosen = svg.querySelector(".chosen");
    if (chosen) {
      const box = graph.node("v" + state.chosen), frame = byId("drawing");
      frame.scrollTo(box.x * fit - frame.clientWidth / 2, box.y * fit - frame.clientHeight / 2);
    }
    if (chosen && keepFocus) chosen.focus({ preventScroll: true });
    markOverview(shown);
  }
  function walk(event, i) {
    const next = { ArrowUp: vars[i].parents[0], ArrowDown: children[i][0],
      ArrowLeft: (i + vars.length - 1) % vars.length, ArrowRight: (i + 1) % vars.length }[event.key];
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); byId("panel").focus(); return; }
    if (!event.key.startsWith("Arrow")) return;
    event.preventDefault();
    if (next !== undefined) choose(next, true);
  }
  let overview = null;
  function drawOverview() {
    if (vars.length <= SMALL || vars.length > OVERVIEW) return;
    const graph = layout(new Set(vars.keys()), nodeText, false), size = graph.graph();
    const svg = draw("svg", { viewBox: `0 0 ${size.width} ${size.height}`, preserveAspectRatio: "none", "aria-hidden": "true" });
    const rx = size.width / 250, ry = size.height / 40;
    overview = new Map();
    for (const key of graph.nodes()) {
      const i = Number(key.slice(1)), box = graph.node(key);
      const dot = draw("ellipse", { cx: box.x, cy: box.y, rx, ry, class: "dot" }, draw("title", {}, vars[i].name));
      dot.addEventListener("click", () => choose(i));
      overview.set(i, dot);
      svg.append(dot);
    }
    byId("overview").replaceChildren(svg);
    byId("overview").hidden = false;
    markOverview(blanket(state.chosen));
  }
  function markOverview(shown) {
    if (overview) overview.forEach((dot, i) => dot.setAttribute("class",
      "dot" + (i === state.chosen ? " chosen" : !state.whole && shown.has(i) ? " near" : "")));
  }

  // ---- one variable
  function choose(i, keepFocus = false) {
    Object.assign(state, { chosen: i, page: 0, folds: vars[i].parents.map(() => "each"), bare: false });
    history.replaceState(null, "", "#" + encodeURIComponent(vars[i].name));
    drawNetwork(keepFocus);
    drawPanel();
  }
  // The rows of a CPT as they are shown: parents fixed, listed, or folded into a mean that is
  // weighted by the rows behind each configuration.
  function visibleRows(i) {
    const v = vars[i], k = v.states.length, sizes = v.parents.map(p => vars[p].states.length);
    const cpt = tables.cpts[i], support = tables.support[i], bounds = tables.bounds && tables.bounds[i];
    const listed = new Map(), index = sizes.map(() => 0);
    for (let row = 0; row < support.length; row++) {
      let rest = row;
      for (let a = sizes.length - 1; a >= 0; a--) { index[a] = rest % sizes[a]; rest = Math.floor(rest / sizes[a]); }
      if (index.some((s, a) => Number.isInteger(state.folds[a]) && state.folds[a] !== s)) continue;
      const key = index.map((s, a) => state.folds[a] === "fold" ? "*" : s).join(",");
      const cells = cpt.slice(row * k, row * k + k);
      if (!state.folds.includes("fold")) {
        listed.set(key, { states: [...index], support: support[row], cells,
          ends: bounds && bounds.slice(2 * row * k, 2 * (row + 1) * k) });
        continue;
      }
      if (!listed.has(key)) listed.set(key, { states: index.map((s, a) => state.folds[a] === "fold" ? null : s), support: 0, cells: Array(k).fill(0), folded: true });
      const all = listed.get(key);
      if (cells[0] === null || support[row] < 0) all.held = true;
      else { all.support += support[row]; cells.forEach((p, x) => { all.cells[x] += p * support[row]; }); }
    }
    const rows = [...listed.values()];
    for (const row of rows) if (row.folded) row.cells = row.cells.map(sum => row.held || !row.support ? null : sum / row.support);
    return state.bare ? rows.filter(row => row.support === 0) : rows;
  }
  function cptRow(v, row) {
    const tr = make("tr", { class: row.support === 0 ? "unsupported" : "" });
    row.states.forEach((s, a) => tr.append(make("td", { class: "label" }, s === null ? "(mean)" : name(vars[v.parents[a]].states[s]))));
    row.cells.forEach((p, x) => {
      if (p === null) { tr.append(make("td", { class: "held" }, "–")); return; }
      const cell = make("td", { class: "cell" + (p > 0.5 ? " deep" : ""), "data-p": p }, p.toFixed(3));
      cell.style.setProperty("--p", p);
      if (row.ends) cell.append(make("small", {}, [0, 1].map(end => (row.ends[2 * x + end] / 100).toFixed(2)).join("–")));
      tr.append(cell);
    });
    const pseudo = v.states.length * (data.prior - 1);
    tr.append(make("td", {}, row.support < 0 ? "withheld" : row.support === 0 ? "no row" : number(row.support)));
    tr.append(make("td", {}, row.support < 0 ? "–" : row.folded || pseudo + row.support === 0 ? "–" : percent(pseudo / (pseudo + row.support))));
    return tr;
  }
  function drawTable() {
    const v = vars[state.chosen], rows = visibleRows(state.chosen);
    const pages = Math.max(Math.ceil(rows.length / PAGE_ROWS), 1);
    state.page = Math.min(Math.max(state.page, 0), pages - 1);
    const head = make("tr", {}, ...v.parents.map(p => make("th", { class: "label", scope: "col" }, name(vars[p].name))),
      ...v.states.map(s => make("th", { scope: "col" }, name(s))), make("th", { scope: "col", title: "rows that show this configuration of the parents together with the variable" }, "rows"),
      make("th", { scope: "col", title: "the most that the prior can weigh here: its pseudo-counts over pseudo-counts and rows" }, "prior ≤"));
    const body = rows.slice(state.page * PAGE_ROWS, (state.page + 1) * PAGE_ROWS).map(row => cptRow(v, row));
    byId("cpt").replaceChildren(make("table", { class: "cpt" }, make("thead", {}, head), make("tbody", {}, ...body)));
    const turn = by => () => { state.page += by; drawTable(); };
    byId("pages").replaceChildren(...(pages === 1 ? [] : [
      make("button", { type: "button", disabled: state.page === 0, on: { click: turn(-1) } }, "previous rows"),
      make("span", {}, `${state.page + 1} of ${pages} (${rows.length.toLocaleString("en")} rows)`),
      make("button", { type: "button", disabled: state.page === pages - 1, on: { click: turn(1) } }, "next rows")]));
  }
  function foldings(v) {
    return v.parents.map((p, a) => {
      const choices = [["each", "each state"], ["fold", "mean over it"], ...vars[p].states.map((s, k) => [k, s])];
      const select = make("select", { "aria-label": "rows for " + vars[p].name },
        ...choices.map(([value, text]) => make("option", { value }, text)));
      select.addEventListener("change", () => {
        state.folds[a] = select.value === "each" || select.value === "fold" ? select.value : Number(select.value);
        state.page = 0;
        drawTable();
      });
      return make("label", {}, name(vars[p].name), " ", select);
    });
  }
  // MathML made with the page; every name in it is escaped.
  const formula = markup => document.importNode(new DOMParser().parseFromString(markup, "text/html").body.firstChild, true);
  function drawPanel() {
    const v = vars[state.chosen], given = v.parents.flatMap((p, a) => [a ? ", " : " | ", name(vars[p].name)]);
    const facts = `${percent(v.missing)} missing · ${number(v.rows_shown)} rows show the family · `
      + (v.effective === null ? "" : `effective size ${number(v.effective)} · `)
      + (v.fallback_mass ? `${percent(v.fallback_mass)} fell back on ${v.fallback} · ` : "")
      + `${number(v.unsupported)} of ${number(tables.support[state.chosen].length)} parent configurations without a row`;
    const bare = make("label", {}, make("input", { type: "checkbox", on: { change: event => { state.bare = event.target.checked; state.page = 0; drawTable(); } } }), " only rows without support");
    const many = tables.support[state.chosen].length > 4;
    byId("panel").replaceChildren(
      make("h3", { id: "panel-title" }, "P(", name(v.name), ...given, ")"),
      make("p", {}, facts),
      ...(v.warnings.length ? [make("ul", {}, ...v.warnings.map(w => make("li", {}, w)))] : []),
      ...(many ? [make("div", { class: "bar" }, ...foldings(v), ...(v.unsupported ? [bare] : []))] : []),
      make("div", { class: "wide", id: "cpt", tabindex: 0, role: "region", "aria-labelledby": "panel-title" }),
      ...(data.has_intervals ? [make("p", { class: "soft" }, `Below each probability: its ${data.level ? 100 * data.level + "% " : ""}interval.`)] : []),
      make("div", { class: "bar", id: "pages" }),
      make("div", { class: "bar" }, make("button", { type: "button", on: { click: copyCsv } }, "copy as CSV"),
        make("button", { type: "button", on: { click: () => save(safeFile(v.name) + ".csv", cptCsv(state.chosen), "text/csv") } }, "save as CSV"),
        make("span", { id: "copied", role: "status", class: "soft" })),
      make("h3", {}, "What is estimated"),
      make("div", { class: "formula", tabindex: 0 }, formula(tables.formulas[state.chosen])));
    drawTable();
  }

  // ---- taking it away
  const quoted = text => /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  const safeFile = text => text.replace(/[^\w.-]+/g, "_").slice(0, 60) || "cpt";
  function cptCsv(i) {
    const v = vars[i], kept = state.folds, bare = state.bare;
    Object.assign(state, { folds: v.parents.map(() => "each"), bare: false });
    const rows = visibleRows(i);
    Object.assign(state, { folds: kept, bare });
    const head = [...v.parents.map(p => vars[p].name), ...v.states.map(s => v.name + "=" + s), "rows"];
    const lines = rows.map(row => [...row.states.map((s, a) => vars[v.parents[a]].states[s]),
      ...row.cells.map(p => p === null ? "" : p), row.support < 0 ? "" : row.support]);
    return [head, ...lines].map(line => line.map(cell => quoted(String(cell))).join(",")).join("\n") + "\n";
  }
  async function copyCsv() {
    const text = cptCsv(state.chosen);
    let done = false;
    try { await navigator.clipboard.writeText(text); done = true; } catch {
      const area = make("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      done = document.execCommand("copy");
      area.remove();
    }
    byId("copied").textContent = done ? "copied" : "the browser does not allow copying: save it instead";
  }
  // The network as lacunet's JSON: rows scaled to sum to one, as the page holds rounded numbers.
  function networkJson() {
    const nested = (cells, sizes) => {
      if (sizes.length === 1) { const sum = cells.reduce((a, b) => a + b, 0); return cells.map(p => p / sum); }
      const step = cells.length / sizes[0];
      return Array.from({ length: sizes[0] }, (_, s) => nested(cells.slice(s * step, (s + 1) * step), sizes.slice(1)));
    };
    const variables = vars.map((v, i) => ({ name: v.name, states: v.states, parents: v.parents.map(p => vars[p].name),
      cpt: nested(tables.cpts[i], [...v.parents.map(p => vars[p].states.length), v.states.length]) }));
    return JSON.stringify({ format: "lacunet network", version: 1, variables }, null, 1) + "\n";
  }
  function wire() {
    byId("save-network").addEventListener("click", () => save("network.json", networkJson(), "application/json"));
    byId("save-network").disabled = data.withheld > 0;
    byId("save-cpts").addEventListener("click", () => save("cpts.csv",
      vars.map((v, i) => quoted(v.name) + "\n" + cptCsv(i)).join("\n"), "text/csv"));
    byId("save-report").addEventListener("click", () => save("report.json",
      JSON.stringify({ ...data, packed: undefined, cpts: Object.fromEntries(vars.map((v, i) => [v.name, tables.cpts[i]])) }, null, 1) + "\n", "application/json"));
    const find = byId("find"), go = () => place.has(find.value) && place.get(find.value) !== state.chosen && choose(place.get(find.value));
    find.addEventListener("input", () => {
      const text = find.value.toLowerCase();
      document.querySelectorAll("#families tbody tr").forEach(tr => { tr.hidden = !vars[tr.dataset.variable].name.toLowerCase().includes(text); });
      go();
    });
    byId("names").append(...vars.map(v => make("option", { value: v.name })));
    const zoom = by => () => { state.zoom = by ? state.zoom * by : 1; drawNetwork(); };
    byId("larger").addEventListener("click", zoom(1.25));
    byId("smaller").addEventListener("click", zoom(0.8));
    byId("fit").addEventListener("click", zoom(0));
    const whole = byId("whole");
    whole.hidden = vars.length <= SMALL;
    whole.addEventListener("click", () => {
      state.whole = !state.whole;
      whole.textContent = state.whole ? "neighbours only" : "whole network";
      drawNetwork();
    });
    document.querySelectorAll("[data-choose]").forEach(element => element.addEventListener("click", event => {
      event.preventDefault();
      choose(Number(element.dataset.choose));
      byId("panel").scrollIntoView({ block: "nearest" });
      byId("panel").focus({ preventScroll: true });
    }));
    addEventListener("hashchange", fromAddress);
    addEventListener("resize", () => drawNetwork());
  }
  function fromAddress() {
    let named = "";
    try { named = decodeURIComponent(location.hash.slice(1)); } catch { return; }
    if (place.has(named) && place.get(named) !== state.chosen) choose(place.get(named));
  }
  unpack().then(found => {
    tables = found;
    state.folds = vars[state.chosen].parents.map(() => "each");
    wire();
    fromAddress();
    drawNetwork();
    drawPanel();
    setTimeout(drawOverview, 30);
    document.documentElement.dataset.ready = "yes";
  });
})();
