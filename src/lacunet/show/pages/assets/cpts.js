"use strict";
// The CPT of the chosen variable as a heat map, with what is behind each row; and what can be
// taken away from the page. Names reach the page only as text, never as markup.
(() => {
  const { data, make, name, byId, save, inflated, restore, network } = page;
  const PAGE_ROWS = 24, FEW = 3;
  const vars = data.variables, panel = byId("panel");
  const shown = { variable: 0, page: 0, folds: [], unfolded: false };
  let tables = [], formulas = [];

  const whole = value => value.toLocaleString("en", { maximumFractionDigits: Number.isInteger(value) ? 0 : 1 });
  const percent = share => (100 * share).toFixed(1) + "%";
  const parentsOf = (i, at) => at ? data.other.parents[i] : vars[i].parents;

  // Rows that a rule fixes, in which the question was not asked: runs of rows, as [first, last].
  const ruledRows = (i, at) => new Set(at ? [] : (vars[i].ruled ?? []).flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, k) => from + k)));
  // The rows of a CPT as they are shown: parents fixed, listed, or folded into a mean that is
  // weighted by the rows behind each configuration.
  function listed(i, at, folds) {
    const k = vars[i].states.length, sizes = parentsOf(i, at).map(p => vars[p].states.length);
    const { cpts, bare, rows, ends } = tables[at], found = new Map(), index = sizes.map(() => 0), isFolded = folds.includes("fold");
    for (let row = 0; row < cpts[i].length / k; row++) {
      for (let a = sizes.length - 1, rest = row; a >= 0; a--) { index[a] = rest % sizes[a]; rest = Math.floor(rest / sizes[a]); }
      if (index.some((s, a) => Number.isInteger(folds[a]) && folds[a] !== s)) continue;
      const states = index.map((s, a) => folds[a] === "fold" ? null : s), key = states.join();
      const cells = Array.from(cpts[i].subarray(row * k, row * k + k)), behind = rows ? rows[i][row] : null, isBare = bare[i]?.[row] === 1, isRuled = ruledRows(i, at).has(row);
      if (!isFolded) { found.set(key, { states, cells, behind, isBare, isRuled, ends: ends?.[i].subarray(2 * row * k, 2 * (row + 1) * k) }); continue; }
      if (!found.has(key)) found.set(key, { states, cells: Array(k).fill(0), behind: 0, isFolded });
      const mean = found.get(key), weight = rows ? behind : 1;
      mean.behind += weight;
      cells.forEach((p, x) => { mean.cells[x] += p * weight; });
    }
    for (const row of found.values()) if (row.isFolded) {
      row.cells = row.cells.map(sum => !row.behind ? NaN : sum / row.behind);
      if (!rows) row.behind = null;
    }
    return [...found.values()];
  }
  function cptRow(i, at, row) {
    const v = vars[i], tr = make("tr", { class: row.isBare ? "unsupported" : "" });
    row.states.forEach((s, a) => tr.append(make("td", { class: "label" }, s === null ? "(mean)" : name(vars[parentsOf(i, at)[a]].states[s]))));
    row.cells.forEach((p, x) => {
      if (Number.isNaN(p)) { tr.append(make("td", { class: "held" }, "–")); return; }
      const cell = make("td", { class: "cell", "data-p": p }, p.toFixed(3));
      cell.style.setProperty("--p", p);
      if (row.ends) cell.append(make("small", {}, [0, 1].map(end => (row.ends[2 * x + end] / 10000).toFixed(3)).join("–")));
      tr.append(cell);
    });
    if (row.behind === null) return tr;
    const pseudo = v.states.length * data.pseudo_counts;
    tr.append(make("td", {}, row.isRuled ? "fixed by the rule" : row.behind === 0 ? "no row" : whole(row.behind)));
    if (data.pseudo_counts != null) tr.append(make("td", {}, row.isFolded || pseudo + row.behind === 0 ? "–" : percent(pseudo / (pseudo + row.behind))));
    return tr;
  }
  function drawTable(at) {
    const i = shown.variable, v = vars[i], all = listed(i, at, at ? parentsOf(i, 1).map(() => "each") : shown.folds);
    const bare = all.filter(row => row.isBare), ruled = all.filter(row => row.isRuled), isFew = bare.length <= FEW;
    const rows = all.filter(row => shown.unfolded || (isFew || !row.isBare) && !row.isRuled), hides = !shown.unfolded;
    const pages = Math.max(Math.ceil(rows.length / PAGE_ROWS), 1);
    shown.page = Math.min(Math.max(shown.page, 0), pages - 1);
    const hasRows = all[0].behind !== null, across = parentsOf(i, at).length + v.states.length + (hasRows ? data.pseudo_counts != null ? 2 : 1 : 0);
    const head = make("tr", {}, ...parentsOf(i, at).map(p => make("th", { class: "label", scope: "col" }, name(vars[p].name))),
      ...v.states.map(s => make("th", { scope: "col" }, name(s))),
      ...(hasRows ? [make("th", { scope: "col", title: "rows that show this configuration of the parents together with the variable" }, "rows")] : []),
      ...(hasRows && data.pseudo_counts != null ? [make("th", { scope: "col", title: "the most that pseudo-counts can weigh here: pseudo-counts over pseudo-counts and rows" }, "pseudo-counts ≤")] : []));
    const body = rows.slice(shown.page * PAGE_ROWS, (shown.page + 1) * PAGE_ROWS).map(row => cptRow(i, at, row));
    const unfold = make("button", { type: "button", on: { click: () => { shown.unfolded = !shown.unfolded; drawTables(); } } }, hides ? "show them" : "fold them");
    const line = (kind, some, text, ...more) => make("tr", { class: kind + "folded" }, make("td", { class: "label", colspan: across }, `${some.length.toLocaleString("en")} of ${all.length.toLocaleString("en")} parent configurations ${text} `, ...more));
    if (ruled.length) body.push(line("", ruled, "fixed by the rule ", name(vars[i].rule), " ", ...(isFew ? [unfold] : [])));
    if (!isFew) body.push(line("unsupported ", bare, "without data", unfold));
    byId("cpt" + (at || "")).replaceChildren(make("table", { class: "cpt" }, make("thead", {}, head), make("tbody", {}, ...body)));
    const turn = by => () => { shown.page += by; drawTables(); };
    if (!at) byId("pages").replaceChildren(...(pages === 1 ? [] : [
      make("button", { type: "button", disabled: shown.page === 0, on: { click: turn(-1) } }, "previous rows"),
      make("span", {}, `${shown.page + 1} of ${pages} (${rows.length.toLocaleString("en")} rows)`),
      make("button", { type: "button", disabled: shown.page === pages - 1, on: { click: turn(1) } }, "next rows")]));
  }
  const drawTables = () => tables.forEach((_, at) => drawTable(at));
  function foldings(v) {
    return v.parents.map((p, a) => {
      const choices = [["each", "each state"], ["fold", "mean over it"], ...vars[p].states.map((s, k) => [k, s])];
      const select = make("select", { "aria-label": "rows for " + vars[p].name },
        ...choices.map(([value, text]) => make("option", { value }, text)));
      select.addEventListener("change", () => {
        shown.folds[a] = select.value === "each" || select.value === "fold" ? select.value : Number(select.value);
        shown.page = 0;
        drawTables();
      });
      return make("label", {}, name(vars[p].name), " ", select);
    });
  }
  function facts(i) {
    const v = vars[i];
    if (v.missing === undefined) return [];
    return [make("p", {}, [`${percent(v.missing)} missing`,
      ...(v.rows_shown === undefined ? [] : [`${whole(v.rows_shown)} rows show the family`]),
      ...(v.effective ? [`effective size ${whole(Math.round(v.effective))}`] : []),
      ...(v.fallback_mass ? [`${percent(v.fallback_mass)} fell back on ${v.fallback}`] : []),
      `${whole(v.unsupported)} of ${whole(v.configurations)} parent configurations without a row`,
      ...(v.by_rule ? [`${whole(v.by_rule)} fixed by a rule`] : [])].join(" · "))];
  }
  // A CPT that is shared, and one with fewer parameters than a table.
  function kind(v) {
    const parts = [];
    if (v.tied) parts.push(make("p", {}, `One CPT of ${whole(v.tied.count)} variables (tied): `, name(v.tied.first), v.tied.count > 2 ? " to " : " and ", name(v.tied.last)));
    if (v.shape) parts.push(make("p", {}, `Its shape is ${v.shape.name}${v.shape.scale ? ` (${v.shape.scale})` : ""}: `, ...v.shape.parameters.flatMap(([text, value], a) => [a ? ", " : "", name(text), ` ${value}`]), ...[v.shape.legend, v.shape.beside].filter(Boolean).map(text => `; ${text}`)));
    return parts;
  }
  // What moves a state of the chosen variable most: for each other variable how far its states would take it.
  const MOST_MOVES = 10;
  function drawMoves() {
    const i = shown.variable, place = byId("moves"), k = Number(byId("moved-state").value);
    const p = network.beliefOf(i, k), found = p === undefined || network.state.seen[i] >= 0 ? [] : network.movesOf(i, k);
    const all = found.map(([u, given]) => {
      const known = given.map((value, x) => [value, x]).filter(([value]) => !Number.isNaN(value)).sort((a, b) => a[0] - b[0]);
      return { u, low: known[0], high: known.at(-1) };
    }).sort((a, b) => (b.high[0] - b.low[0]) - (a.high[0] - a.low[0])).slice(0, MOST_MOVES).filter(({ low, high }) => high[0] - low[0] > 5e-4);
    if (!all.length) { place.replaceChildren(network.state.seen[i] >= 0 ? "It is known." : p === undefined ? "Its belief is not worked out here." : "Nothing that is not known yet would move it."); return; }
    place.replaceChildren(...all.flatMap(({ u, low, high }) => {
      const bar = make("i"), tick = make("b"), [[from, x], [to, y]] = [low, high];
      Object.assign(bar.style, { left: 100 * from + "%", width: 100 * (to - from) + "%" });
      tick.style.left = 100 * p + "%";
      return [make("span", { class: "name" }, name(vars[u].name)), make("span", { class: "reach", role: "img", "aria-label": `from ${from.toFixed(3)} to ${to.toFixed(3)}` }, bar, tick),
        make("small", {}, `${from.toFixed(3)} if `, name(vars[u].states[x]), `, ${to.toFixed(3)} if `, name(vars[u].states[y]))];
    }));
  }
  function movesSection(v) {
    if (!data.live || data.other || vars.length < 2) return [];
    const select = make("select", { id: "moved-state", on: { change: drawMoves } }, ...v.states.map((state, k) => make("option", { value: k }, state)));
    const part = make("details", { id: "moving" }, make("summary", {}, "What would move it most, were it known"),
      make("p", { class: "soft" }, "Of each variable that is not known yet, how far its states would take the probability; the line is where it is now."),
      make("label", {}, name(v.name), " = ", select), make("div", { id: "moves" }));
    part.open = shown.moving === true;
    part.addEventListener("toggle", () => { shown.moving = part.open; if (part.open) drawMoves(); });
    return [part];
  }
  function warnings(v) {
    if (!v.warnings?.length) return [];
    const list = make("ul", {}, ...v.warnings.map(text => make("li", {}, text)));
    return [v.warnings.length <= FEW ? list : make("details", {}, make("summary", {}, `${v.warnings.length} warnings`), list)];
  }
  // MathML made with the page; every name in it is escaped.
  const formula = markup => document.importNode(new DOMParser().parseFromString(markup, "text/html").body.firstChild, true);
  const title = (i, at) => ["P(", name(vars[i].name), ...parentsOf(i, at).flatMap((p, a) => [a ? ", " : " | ", name(vars[p].name)]), ")"];
  function drawPanel(i, isAsked) {
    Object.assign(shown, { variable: i, page: 0, folds: vars[i].parents.map(() => "each"), unfolded: false });
    const v = vars[i], many = tables[0].cpts[i].length / v.states.length > 4;
    const region = at => make("div", { class: "wide", id: "cpt" + (at || ""), tabindex: 0, role: "region", "aria-label": "CPT of " + v.name + (data.labels ? ", " + data.labels[at] : "") });
    panel.replaceChildren(
      make("h3", { id: "panel-title" }, ...title(i, 0)),
      ...facts(i),
      ...kind(v),
      ...(many && !data.other ? [make("div", { class: "bar" }, ...foldings(v))] : []),
      ...(data.other ? [make("div", { class: "pair" }, ...data.labels.map((label, at) =>
        make("div", {}, make("h4", {}, name(label), ": ", ...title(i, at)), region(at))))] : [region(0)]),
      make("div", { class: "bar", id: "pages" }),
      ...movesSection(v),
      ...warnings(v),
      ...(data.has_intervals ? [make("p", { class: "soft" }, `Below each probability: its ${data.level ? Math.round(1000 * data.level) / 10 + "% " : ""}interval.`)] : []),
      make("div", { class: "bar" }, make("button", { type: "button", on: { click: copyCsv } }, "copy as CSV"),
        make("button", { type: "button", on: { click: () => save(safeFile(v.name) + ".csv", cptCsv(shown.variable), "text/csv") } }, "save as CSV"),
        make("button", { type: "button", on: { click: () => network.goTo(i) } }, "back to the network"),
        make("span", { id: "copied", role: "status", class: "soft" })),
      ...(formulas.length ? [make("h3", {}, "What is estimated"), make("div", { class: "formula", tabindex: 0 }, formula(formulas[i]))] : []));
    drawTables();
    if (byId("moving")?.open) drawMoves();
    if (network.isList() && isAsked) network.cards[i].after(panel); else byId("panel-place").append(panel);
    if (isAsked) { panel.focus({ preventScroll: true }); panel.scrollIntoView({ block: "nearest" }); }
  }

  // ---- taking it away
  // A cell that a spreadsheet would take for a formula gets an apostrophe.
  const tame = text => /^[=+\-@\t\r]/.test(text) ? "'" + text : text;
  const quoted = cell => {
    const text = typeof cell === "number" ? String(cell) : tame(cell);
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const safeFile = text => text.replace(/[^\w.-]+/g, "_").slice(0, 60) || "cpt";
  const line = cells => cells.map(quoted).join(",");
  function cptCsv(i) {
    const v = vars[i], rows = listed(i, 0, v.parents.map(() => "each")), hasRows = rows[0].behind !== null;
    const head = [...v.parents.map(p => vars[p].name), ...v.states.map(s => v.name + "=" + s), ...(hasRows ? ["rows"] : [])];
    const lines = rows.map(row => [...row.states.map((s, a) => vars[v.parents[a]].states[s]),
      ...row.cells.map(p => Number.isNaN(p) ? "" : p), ...(hasRows ? [row.behind] : [])]);
    return [head, ...lines].map(line).join("\n") + "\n";
  }
  async function copyCsv() {
    const text = cptCsv(shown.variable);
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
  // The network as lacunet's JSON; rows are scaled to sum to one where the page holds rounded numbers.
  function networkJson() {
    const nested = (cells, sizes) => {
      if (sizes.length === 1) { const sum = data.digits === null ? 1 : cells.reduce((a, b) => a + b, 0); return cells.map(p => p / sum); }
      const step = cells.length / sizes[0];
      return Array.from({ length: sizes[0] }, (_, s) => nested(cells.slice(s * step, (s + 1) * step), sizes.slice(1)));
    };
    const without = flags => {  // which rows, as "0 3-5"
      const runs = [];
      flags.forEach((flag, row) => {
        if (flag && runs.length && runs.at(-1)[1] === row - 1) runs.at(-1)[1] = row; else if (flag) runs.push([row, row]);
      });
      return runs.map(([from, to]) => from === to ? from : `${from}-${to}`).join(" ") || "none";
    };
    const variables = vars.map((v, i) => ({ name: v.name, states: v.states, parents: v.parents.map(p => vars[p].name),
      ...(data.has_support ? { unsupported: without(tables[0].bare[i]) } : {}),
      cpt: nested(Array.from(tables[0].cpts[i]), [...v.parents.map(p => vars[p].states.length), v.states.length]) }));
    return JSON.stringify({ format: "lacunet network", version: 1, variables }, null, 1) + "\n";
  }
  function wire() {
    const on = (id, action) => byId(id)?.addEventListener("click", action);
    on("save-network", () => save("network.json", networkJson(), "application/json"));
    on("save-cpts", () => save("cpts.csv", vars.map((v, i) => line([v.name]) + "\n" + cptCsv(i)).join("\n"), "text/csv"));
    on("save-report", () => save("report.json",
      JSON.stringify({ ...data, packed: undefined, cpts: Object.fromEntries(vars.map((v, i) => [v.name, Array.from(tables[0].cpts[i])])) }, null, 1) + "\n", "application/json"));
    network.onFind.push(text => document.querySelectorAll("#families tbody tr").forEach(tr => {
      tr.hidden = !vars[tr.dataset.place].name.toLowerCase().includes(text);
    }));
    network.onChoice.push(drawPanel);
    network.onBeliefs.push(() => { if (byId("moving")?.open) drawMoves(); });
  }
  async function start() {
    tables = await Promise.all([data, data.other].filter(Boolean).map(restore));
    if (data.formulas) formulas = await inflated(data.formulas).json();
    await network.start();
    wire();
    drawPanel(network.state.chosen, false);
    document.documentElement.dataset.ready = "yes";
  }
  start();
})();
