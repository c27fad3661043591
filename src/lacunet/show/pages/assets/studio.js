"use strict";
// The studio: what the user says is one project, kept by the server after every change; what is
// shown is drawn from it. The step is the end of the address, so that a reload comes back to it.
(() => {
  const { data, make, draw, name, byId, save: download } = page;
  const STEPS = ["table", "states", "graph", "learn", "ask", "code"];
  const token = data.token;
  let project = {}, version = 0, files = [], methods = [], examples = {}, runs = [], job = null;
  let table = null, sketch = { variables: [], mechanisms: [], edges: [], verdicts: [], wrong: [] };
  const clear = (element, ...inside) => element.replaceChildren(...inside);
  const percent = share => (share ? (share < 0.001 ? "<0.1" : (100 * share).toFixed(1)) : "0") + "%";
  const option = (value, text = value) => make("option", { value }, text);

  // ---- asking the server
  const textOf = async path => (await fetch(path, { headers: { "X-Studio-Token": token } })).text();
  async function ask(path, body, more = {}, headers = body === undefined ? {} : { "Content-Type": "application/json" }) {
    const answer = await fetch(path, { method: body === undefined ? "GET" : "POST", body: body === undefined || body instanceof Blob ? body : JSON.stringify(body),
      headers: { "X-Studio-Token": token, ...headers }, ...more });
    const found = await answer.json();
    if (!answer.ok) throw Object.assign(new Error(found.hint ? `${found.error}\n${found.hint}` : found.error), { status: answer.status });
    return found;
  }
  const say = (id, text) => { byId(id).hidden = !text; byId(id).textContent = text; };
  const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
  const isTouched = matchMedia("(pointer: coarse)").matches, click = isTouched ? "tap" : "click";
  const sentence = text => text.replace(/^./gmu, first => first.toUpperCase());  // each line is one
  const complain = text => { say("trouble-words", text); byId("trouble").hidden = !text; };
  const trouble = error => complain(error ? error.message === "Failed to fetch" ? "The studio does not answer: is it still running?" : sentence(error.message) : "");

  // ---- keeping the project: one save at a time, the latest wins
  let saving = Promise.resolve(), kept = "", waiting = 0;
  const past = [], future = [], ASKED = ["run", "asked"];  // projects to go back to, and to come back to
  function change(said, more = {}) {
    const isNew = Object.keys(said).some(key => !ASKED.includes(key) && !same(said[key], project[key]));
    if (isNew && !more.isStep) {
      // What is typed in one go is taken back in one go.
      if (!(more.typed && past.at(-1)?.typed && Date.now() - past.at(-1).when < 2000)) past.push({ project, typed: more.typed });
      past.at(-1).when = Date.now();
      future.length = 0;
    }
    project = { ...project, ...said };
    byId("undo").disabled = !past.length;
    byId("redo").disabled = !future.length;
    if (isNew) clear(byId("planned"));
    clearTimeout(waiting);
    waiting = setTimeout(() => keep().catch(trouble), 150);
    describe();
    if (more.reads) look();
    if (more.draws) drawGraph();
  }
  function keep(more = {}) {
    clearTimeout(waiting);
    saving = saving.catch(() => {}).then(async () => {
      const text = JSON.stringify(project);
      if (text === kept) return;
      ({ version } = await ask("/project", { project, version }, more));
      kept = text;
      trouble(null);
    });
    return saving;
  }

  // Back to the project before the last change, or forth again; the question and its result stay.
  function travel(from, to) {
    const step = from.pop();
    if (!step) return;
    to.push({ project });
    const { run, asked, ...settings } = step.project;
    change(settings, { isStep: true });
    showProject();
    look();
    byId("text").value = project.draft || project.graph;
    editing = editing.then(() => drawGraph()).then(() => project.draft && drawGraph(project.draft));
  }
  function showProject() {
    listFiles();
    showReading(byId("reading").open);
    drawLearn();
    drawRules();
  }

  // ---- steps
  const step = () => STEPS.includes(location.hash.slice(1)) ? location.hash.slice(1) : "table";
  function go() {
    for (const key of STEPS) {
      byId(key).hidden = key !== step();
      key === step() ? byId(`to-${key}`).setAttribute("aria-current", "step") : byId(`to-${key}`).removeAttribute("aria-current");
    }
    scrollTo(0, 0);
    if (step() === "graph") drawBoard();
    if (step() === "ask") showPage();
    if (step() === "code") showCode();
    byId(step()).focus({ preventScroll: true });
  }
  // Variables and roles that name columns which this table does not have, such as those of the table before.
  function drawStrangers() {
    const columns = new Set(table?.columns.map(column => column.name));
    const variables = table ? sketch.variables.filter(variable => !columns.has(variable.name)) : [];
    const roles = table ? ["weight", "counts", "strata", "cluster"].filter(role => project[role] && !columns.has(project[role])) : [];
    const names = [...new Set([...variables.map(variable => variable.name), ...roles.map(role => project[role])])];
    const kept = mapping => Object.fromEntries(Object.entries(mapping).filter(([column]) => !column || columns.has(column)));
    byId("strangers").hidden = !names.length;
    clear(byId("strangers"), ...names.flatMap((own, k) => [k ? ", " : "", name(own)]), names.length > 1 ? " are not columns of this table. " : " is not a column of this table. ",
      make("button", { type: "button", id: "without-strangers", on: { click: () => {
        use(variables, false, { ...Object.fromEntries(roles.map(role => [role, ""])), missing: kept(project.missing), states: kept(project.states), bins: kept(project.bins), not_asked: kept(project.not_asked) });
      } } }, names.length > 1 ? "take them out" : "take it out"));
  }
  function describe() {
    drawStrangers();
    const used = sketch.variables.length, learned = shownRun();
    const words = { table: project.data.split("/").at(-1), states: used ? `${used} variables` : "", graph: sketch.category || "",
      learn: learned ? titleOf(learned) : "", ask: "", code: "" };
    for (const key of STEPS) byId(`to-${key}`).querySelector("span").textContent = words[key];
  }

  const titleOf = run => run.label ? `${run.label} (run ${run.name})` : `run ${run.name}`;
  const shownRun = () => runs.find(run => run.name === String(project.run));

  // ---- 1 table
  function listFiles() {
    clear(byId("file"), option("", files.length ? "choose a table" : "no table here"), ...files.map(file => option(file)));
    byId("no-tables").hidden = files.length > 0;
    byId("examples-part").open ||= !files.length;
    clear(byId("examples"), ...Object.entries(examples).map(([own, words]) => make("p", { class: "rule" }, make("button", { type: "button", "data-example": own, on: { click: () => tryExample(own).catch(trouble) } }, `try ${own}`), ` ${words}`)));
    byId("file").value = project.data;
  }
  // Another table, read as it seems to be written; what was said otherwise of the one before is forgotten.
  async function choose(name) {
    const reading = name ? await ask("/reading", { data: name }) : {};
    table = null;
    change({ data: name, ...reading }, { reads: true });
    showReading(Object.keys(reading).some(key => reading[key] !== { delimiter: "", encoding: "utf-8", decimal: "." }[key]));
  }
  // A bundled table is copied into the folder; with it comes what is known of its graph.
  async function tryExample(own) {
    const { data: brought, graph } = await ask("/example", { name: own });
    ({ files } = await ask("/state"));
    table = null;
    change({ data: brought, ...await ask("/reading", { data: brought }), missing: {}, states: {}, bins: {}, not_asked: {}, weight: "", counts: "", strata: "", cluster: "", graph, draft: "" });
    byId("text").value = graph;
    showProject();
    await Promise.all([look(), drawGraph()]);
    drawColumns();
  }
  function showReading(isOpen) {
    for (const id of ["delimiter", "encoding", "decimal"]) byId(id).value = project[id];
    byId("reading").open = isOpen;
  }
  async function upload(file) {
    if (!file) return;
    clear(byId("table-facts"), make("p", { class: "soft" }, `bringing ${file.name} ...`));
    try {
      const { data: brought } = await ask("/upload", file, {}, { "X-Studio-Name": encodeURIComponent(file.name) });
      ({ files } = await ask("/state"));
      await choose(brought);
      listFiles();
    } catch (error) { await look(); trouble(error); }
    byId("upload").value = "";
  }
  async function look() {
    const asked = JSON.stringify([project.data, project.delimiter, project.encoding, project.decimal, project.missing]);
    if (!project.data) { table = null; clear(byId("table-facts")); drawColumns(); return; }
    if (!table) clear(byId("table-facts"), make("p", { class: "soft" }, "reading the table ..."));
    try {
      const found = await ask("/look", { project });
      if (asked !== JSON.stringify([project.data, project.delimiter, project.encoding, project.decimal, project.missing])) return;
      table = found;
      const missing = found.columns.reduce((sum, column) => sum + column.missing, 0) / Math.max(1, found.rows * found.columns.length);
      clear(byId("table-facts"), make("div", { class: "tiles" }, ...[["rows", found.rows.toLocaleString("en")], ["columns", found.columns.length], ["missing", percent(missing)],
        ["complete columns", found.columns.filter(column => !column.missing).length]].map(([label, value]) => make("div", { class: "tile" }, make("span", {}, label), make("b", {}, String(value))))),
      make("div", { class: "wide", tabindex: 0 }, make("table", { id: "first-rows" }, make("caption", {}, "The first rows"), make("thead", {}, make("tr", {}, ...found.columns.map(column => make("th", { class: "label", scope: "col" }, name(column.name))))),
        make("tbody", {}, ...found.first.map(row => make("tr", {}, ...row.map(cell => make("td", { class: "label" }, cell ? name(cell) : make("span", { class: "soft" }, "–")))))))));
      trouble(null);
    } catch (error) {
      table = null;
      clear(byId("table-facts"), make("pre", { class: "warning" }, error.message));
    }
    clear(byId("column-names"), ...(table?.columns ?? []).map(column => option(column.name)));
    drawColumns();
    drawVerdicts();  // they name columns with missing values that have no mechanism
  }

  // ---- 2 states
  const roleOf = column => ["weight", "counts", "strata", "cluster"].find(role => project[role] === column.name) ?? "variable";
  const isUsed = column => sketch.variables.some(variable => variable.name === column.name);
  const howOf = column => project.bins[column.name] !== undefined ? "bins" : project.states[column.name] ? "by hand" : "states";
  const without = (mapping, key) => Object.fromEntries(Object.entries(mapping).filter(([own]) => own !== key));
  const listed = text => text.split(",").map(part => part.trim()).filter(Boolean);
  function setMissing(key, codes) {
    change({ missing: codes.length ? { ...project.missing, [key]: codes } : without(project.missing, key) }, { reads: true });
  }
  function use(columns, isWanted, also = {}) {
    const bins = { ...(also.bins ?? project.bins) };
    for (const column of isWanted ? columns : []) if (column.proposal === "bins" && !bins[column.name] && !project.states[column.name]) bins[column.name] = "4";
    const said = { ...also, bins }, keys = new Set(columns.map(column => column.key));
    const drawing = isWanted ? edit(() => ({ said, nodes: [...lone(), ...columns.filter(column => !isUsed(column)).map(column => column.key)] }))
      : edit(() => ({ said, nodes: lone().filter(key => !keys.has(key)), edges: sketch.edges.filter(edge => ![edge[0], edge[2]].some(key => keys.has(key) || columns.some(column => key === `R[${column.key}]`))),
        gone: columns.flatMap(column => [column.key, `R[${column.key}]`]) }));
    drawing.then(() => { drawColumns(); drawRules(); });
  }
  function drawColumns() {
    const focused = document.activeElement?.id;
    clear(byId("columns").tBodies[0], ...(table?.columns ?? []).map(columnRow));
    byId("missing-anywhere").value = (project.missing[""] ?? []).join(", ");
    if (focused && document.activeElement?.id !== focused) byId(focused)?.focus();
    describe();
  }
  function columnRow(column, at) {
    const how = howOf(column), id = key => `c${at}-${key}`, label = text => `${text} of ${column.name}`;
    const check = make("input", { type: "checkbox", id: id("use"), checked: isUsed(column), "aria-label": `use ${column.name}`, disabled: roleOf(column) !== "variable",
      on: { change: event => use([column], event.target.checked) } });
    const values = column.values.flatMap(([value, count], k) => [k ? ", " : "", name(value), ` ${count.toLocaleString("en")}`]);
    const select = make("select", { id: id("how"), "aria-label": label("states"), on: { change: event => {
      const bins = without(project.bins, column.name), states = without(project.states, column.name);
      if (event.target.value === "bins") bins[column.name] = "4";
      if (event.target.value === "by hand") states[column.name] = column.states.length ? column.states : column.values.map(([value]) => value);
      change({ bins, states }, { draws: true });
      drawColumns();
    } } }, option("states", `as found${column.states.length ? ` (${column.states.length})` : ""}`), option("bins", "cut numbers"), option("by hand", "by hand"));
    select.value = how;
    const shown = make("small", {}), isVariable = roleOf(column) === "variable";
    const parts = isVariable ? [select] : [];
    if (isVariable && how === "bins") {
      const input = make("input", { id: id("bins"), size: 10, value: project.bins[column.name], "aria-label": label("cut points"),
        on: { change: event => { change({ bins: { ...project.bins, [column.name]: event.target.value } }); cut(column, event.target.value, shown); } } });
      parts.push(" ", input, shown);
      cut(column, project.bins[column.name], shown);
    } else if (isVariable && how === "by hand") {
      parts.push(make("textarea", { id: id("states"), rows: Math.min(5, project.states[column.name].length + 1), "aria-label": `${label("states")}, one a line`,
        on: { change: event => change({ states: { ...project.states, [column.name]: event.target.value.split("\n").map(text => text.trim()).filter(Boolean) } }, { draws: true }) } }, project.states[column.name].join("\n")));
    } else if (isVariable && column.why) parts.push(make("small", {}, column.why));
    const codes = project.missing[column.name] ?? [];
    const missing = [make("input", { id: id("missing"), size: 8, value: codes.join(", "), "aria-label": label("codes for not observed"), on: { change: event => setMissing(column.name, listed(event.target.value)) } })];
    if (column.codes.length) missing.push(" ", make("button", { type: "button", on: { click: () => setMissing(column.name, [...codes, ...column.codes]) } }, `${column.codes.join(", ")} too?`));
    if (column.tokens.length) missing.push(make("small", {}, `taken as missing: ${column.tokens.map(([token, count]) => `${token} (${count})`).join(", ")}`));
    const role = make("select", { id: id("role"), "aria-label": label("role"), on: { change: event => {
      const before = roleOf(column), said = before === "variable" ? {} : { [before]: "" };
      if (event.target.value !== "variable") { said[event.target.value] = column.name; if (isUsed(column)) use([column], false); }
      change(said);
      drawColumns();
    } } }, option("variable"), option("weight", "weight of the row"), option("counts", "number of rows"), option("strata", "stratum"), option("cluster"));
    role.value = roleOf(column);
    const skipped = table.skipped[column.name] ?? 0, share = (column.missing - skipped) / Math.max(1, table.rows), bar = make("span", { class: "share" });
    bar.style.setProperty("--part", `${100 * share}%`);
    return make("tr", { class: isUsed(column) ? "" : "unused", "data-column": column.name },
      make("td", { class: "label" }, check), make("td", { class: "label" }, make("b", {}, name(column.name))), make("td", { "data-title": "missing" }, percent(share), bar, ...(skipped ? [make("small", {}, `not asked: ${percent(skipped / table.rows)}`)] : [])),
      make("td", { class: "label", "data-title": "values" }, make("span", { class: "values" }, ...values, column.different > column.values.length ? `, ... (${column.different.toLocaleString("en")} different)` : "")),
      make("td", { class: "label", "data-title": "states" }, ...parts), make("td", { class: "label", "data-title": "not observed" }, ...(isVariable ? missing : [])), make("td", { class: "label", "data-title": "is" }, role));
  }
  const cuts = new Map();  // asked for once
  async function cut(column, bins, shown) {
    const key = JSON.stringify([column.name, bins, project.data, project.delimiter, project.encoding, project.decimal, project.missing, project.counts]);
    if (!cuts.has(key)) cuts.set(key, ask("/intervals", { project, column: column.name, bins }));
    try {
      shown.textContent = (await cuts.get(key)).labels.join("  ");
    } catch (error) { shown.textContent = error.message; }
  }

  // Questions that were not asked of everybody: rules that are said, and such as the data suggest.
  let skips = [];
  function drawRules() {
    const said = Object.entries(project.not_asked);
    const open = skips.filter(skip => !project.not_asked[skip.variable]);
    const take = (taken, attributes, words) => make("button", { type: "button", ...attributes, on: { click: () => takeRules(taken) } }, words);
    clear(byId("rules"), ...said.map(([variable, rule]) => make("p", { class: "rule" }, name(variable), " was not asked where ", name(rule), " ",
      make("button", { type: "button", "aria-label": `forget the rule of ${variable}`, on: { click: () => { change({ not_asked: without(project.not_asked, variable) }, { reads: true, draws: true }); drawRules(); } } }, "×"))),
    ...open.map(skip => make("p", { class: "rule" }, name(skip.variable), ` is empty in all ${skip.rows.toLocaleString("en")} rows where `, name(skip.rule), `, and in ${percent(skip.elsewhere)} of the others. `,
      take([skip], { "data-skip": skip.variable }, "it was not asked there"))),
    ...(open.length > 1 ? [make("div", { class: "bar" }, take(open, { id: "take-all" }, `take all ${open.length}`))] : []));
  }
  // Who is asked depends on what a rule looks at, so its arrows are drawn with it.
  function takeRules(taken) {
    edit(() => {
      const edges = [...sketch.edges], not_asked = { ...project.not_asked };
      for (const skip of [...taken].sort((a, b) => b.rows - a.rows)) {
        // Of two variables that seem to decide on each other, the rule for more rows is taken.
        if (taken.length > 1 && skip.edges.some(([tail, sign, head]) => edges.some(own => same(own, [head, sign, tail])))) continue;
        not_asked[skip.variable] = skip.rule;
        edges.push(...skip.edges.filter(edge => !edges.some(own => same(own, edge))));
      }
      return { said: { not_asked }, edges };
    }).then(() => { drawRules(); look(); });
  }
  async function findSkips() {
    try {
      ({ skips } = await ask("/skips", { project }));
      drawRules();
      if (!skips.length && !byId("rules").querySelector(".soft")) byId("rules").append(make("p", { class: "soft" }, "No more questions look as if they were not asked of everybody."));
      trouble(null);
    } catch (error) { trouble(error); }
  }

  // ---- 3 graph: edits change the text, the server reads it and answers with the drawing
  let from = null, chosen = null, asked = 0;
  const lone = () => {
    const joined = new Set(sketch.edges.flatMap(edge => [edge[0], edge[2]]));
    return [...sketch.variables, ...sketch.mechanisms].map(node => node.key).filter(key => !joined.has(key));
  };
  let editing = Promise.resolve();
  function edit(changed) {  // after the answer to the edit before, which it builds on
    editing = editing.then(() => carryOut(changed()));
    return editing;
  }
  function carryOut({ nodes = lone(), edges = sketch.edges, gone = [], said = {} }) {
    // A node whose last edge goes stays, unless it is to go itself.
    const joined = new Set(edges.flatMap(edge => [edge[0], edge[2]])), left = new Set(gone);
    const stay = [...sketch.variables, ...sketch.mechanisms].map(node => node.key).filter(key => !left.has(key) && sketch.edges.some(edge => edge[0] === key || edge[2] === key));
    const keys = [...new Set([...nodes, ...stay])].filter(key => !joined.has(key) && !left.has(key));
    change({ ...said, graph: [...keys, ...edges.map(edge => edge.join(" "))].join("\n"), draft: "" });
    byId("text").value = project.graph;
    return drawGraph();
  }
  // What is typed becomes the graph once it can be read; until then it is kept beside the last that could.
  async function readText() {
    const text = byId("text").value, isRead = await drawGraph(text);
    if (text === byId("text").value && isRead !== undefined) change(isRead ? { graph: text, draft: "" } : { draft: text }, { typed: true });
  }
  async function drawGraph(text = project.graph) {
    const number = ++asked;
    try {
      const found = await ask("/graph", { project: { ...project, graph: text } });
      if (number !== asked) return undefined;
      sketch = found;
      say("graph-error", sketch.error ? `${sentence(sketch.error)}\nTake a red arrow out: ${click} it, or × below the drawing.` : "");
    } catch (error) {
      if (number !== asked) return undefined;
      say("graph-error", sentence(error.message));
      return false;
    }
    if (!sketch.edges.some(edge => edge.join(" ") === chosen)) chosen = null;
    if (![...sketch.variables, ...sketch.mechanisms].some(node => node.key === from)) from = null;
    drawBoard();
    drawVerdicts();
    document.documentElement.dataset.drawn = number;
    byId("columns").querySelectorAll("tr[data-column]").forEach(row => {
      const isIn = sketch.variables.some(variable => variable.name === row.dataset.column);
      row.classList.toggle("unused", !isIn);
      row.querySelector("input[type=checkbox]").checked = isIn;
    });
    describe();
    return true;
  }
  const keyOf = text => /^[\p{L}\p{N}_.]+$/u.test(text) ? text : `"${text.replace(/[\\"]/g, "\\$&")}"`;
  const mechanismOf = key => `R[${key}]`;
  function pick(key) {
    chosen = null;
    if (from === null) from = key;
    else if (from === key) from = null;
    else { connect(from, key); from = null; }
    drawBoard();
  }
  function connect(tail, head) {
    const kind = byId("kind").value;
    const isSame = edge => edge[1] === kind && (edge[0] === tail && edge[2] === head || kind === "<->" && edge[0] === head && edge[2] === tail);
    edit(() => ({ edges: sketch.edges.some(isSame) ? sketch.edges : [...sketch.edges, [tail, kind, head]] }));
  }
  function removeNode(key) {
    const gone = [key, mechanismOf(key)];
    from = null;
    edit(() => ({ nodes: lone().filter(own => !gone.includes(own)), edges: sketch.edges.filter(edge => !gone.includes(edge[0]) && !gone.includes(edge[2])), gone }));
  }
  const MARKS = { recoverable: ["✓", "yes"], "not recoverable": ["✗", "no"], undecided: ["?", "open"] };
  function mark(status) {
    const [sign, kind] = MARKS[status];
    return make("span", { class: `mark ${kind}`, title: status }, sign);
  }
  // A click on an arrow chooses it; what becomes of it is said by buttons, or Delete.
  function chooseEdge(key) { chosen = chosen === key ? null : key; from = null; drawBoard(); }
  const removeEdge = key => { chosen = null; edit(() => ({ edges: sketch.edges.filter(own => own.join(" ") !== key) })); };
  const turnEdge = key => { chosen = null; edit(() => ({ edges: sketch.edges.map(own => own.join(" ") === key ? [own[2], own[1], own[0]] : own) })); };
  const canTurn = edge => edge[1] === "->" && !edge[2].startsWith("R[");
  function arrow(path, isOwn, line) {
    const own = sketch.edges.find(isOwn), drawn = draw("path", line);
    if (!own) {  // by a rule alone
      drawn.append(draw("title", {}));
      drawn.firstChild.textContent = "by the rule of when the question is asked";
      return [drawn];
    }
    const key = own.join(" "), grip = draw("path", { class: "grip", d: path });
    drawn.classList.toggle("chosen", key === chosen);
    grip.addEventListener("click", () => chooseEdge(key));
    return [grip, drawn];
  }
  function bowed(layout, tail, head) {
    const frame = key => layout.corners[key] ? [...layout.corners[key], sketch.card.width, sketch.card.head] : layout.boxes[key] ? [...layout.boxes[key], 28] : null;
    const from = frame(tail), to = frame(head);
    if (!from || !to) return null;
    const [x, y, across, high] = from, right = Math.max(x + across, to[0] + to[2]);
    if (tail === head) return `M${x + across * 0.6},${y}c0,-22 30,-22 30,0`;
    return `M${x + across},${y + high / 2}C${right + 30},${y + high / 2} ${right + 30},${to[1] + to[3] / 2} ${to[0] + to[2]},${to[1] + to[3] / 2}`;
  }
  function drawBoard() {
    const board = byId("board"), focused = document.activeElement?.dataset?.key, wasToggle = document.activeElement?.classList?.contains("toggle");
    const title = key => [...sketch.variables, ...sketch.mechanisms.map(own => ({ key: own.key, name: `R[${own.variable}]` }))].find(node => node.key === key)?.name ?? key;
    const signs = { "->": " → ", "<->": " ↔ " }, words = edge => `${title(edge[0])}${signs[edge[1]] ?? " ≤ "}${title(edge[2])}`;
    const edge = sketch.edges.find(own => own.join(" ") === chosen);
    byId("hint").textContent = from !== null ? `From ${title(from)}: ${click} where the arrow leads, or ${click} it again to stop.${isTouched ? "" : " Delete removes it."}`
      : edge ? `${words(edge)}: take it out${canTurn(edge) ? " or turn it round" : ""}, or ${click} it again to leave it.`
      : sketch.variables.length ? `${isTouched ? "Tap one card and then another to draw an arrow." : "Drag from one card to another, or click one and then the other."} R says that a variable may be missing; draw arrows to R[X] from what decides whether X is recorded. ${sentence(click)} an arrow to take it out or turn it round.` : "";
    byId("remove").hidden = from === null && !edge;
    byId("remove").textContent = edge ? `take ${words(edge)} out` : from === null ? "" : `remove ${title(from)}`;
    byId("turn").hidden = !edge || !canTurn(edge);
    const chips = [...byId("edges").querySelectorAll("button")], chip = chips.indexOf(document.activeElement);
    const isWrong = edge => sketch.wrong.some(own => own.join(" ") === edge.join(" "));
    clear(byId("edges"), ...sketch.edges.map(edge => {
      const key = edge.join(" "), button = (kind, attributes, act, ...inside) => make("button", { type: "button", class: `${kind}${isWrong(edge) ? " wrong" : ""}`, ...attributes, on: { click: () => act(key) } }, ...inside);
      return make("span", {}, button("edge", { "aria-pressed": String(key === chosen) }, chooseEdge, name(title(edge[0])), signs[edge[1]] ?? " ≤ ", name(title(edge[2]))),
        ...(canTurn(edge) ? [button("turn", { title: "turn round", "aria-label": `turn ${words(edge)} round` }, turnEdge, "⇄")] : []), button("out", { title: "take out", "aria-label": `take ${words(edge)} out` }, removeEdge, "×"));
    }));
    const left = byId("edges").querySelectorAll("button");  // where one was pressed, the next has the focus
    if (chip >= 0) (left[Math.min(chip, left.length - 1)] ?? byId("add-name")).focus({ preventScroll: true });
    if (!sketch.layouts) {
      clear(board, make("p", { class: "empty" }, "Choose columns as variables, add one by its name above, or type the graph: X -> Y; X -> R[Y]"));
      return;
    }
    const room = board.clientWidth - 4, layout = sketch.layouts.find(one => one.width <= room) ?? sketch.layouts.at(-1);
    const svg = draw("svg", { width: layout.width, height: layout.height, viewBox: `0 0 ${layout.width} ${layout.height}` },
      draw("defs", {}, ...["", "wrong"].map(kind => draw("marker", { id: `head${kind}`, viewBox: "0 0 8 8", refX: 8, refY: 4, markerWidth: 12, markerHeight: 12, markerUnits: "userSpaceOnUse", orient: "auto-start-reverse" }, draw("path", { class: `arrow ${kind}`, d: "M0,0L8,4L0,8Z" })))),
      ...layout.edges.flatMap(edge => {
        const line = { class: `line ${edge.kind}`, d: edge.path, "marker-end": "url(#head)", ...(edge.kind === "hidden" ? { "marker-start": "url(#head)" } : {}) };
        const sign = edge.kind === "hidden" ? "<->" : "->", ends = edge.kind === "hidden" ? [edge.ends, [...edge.ends].reverse()] : [edge.ends];
        return arrow(edge.path, own => own[1] === sign && ends.some(([tail, head]) => own[0] === tail && own[2] === head), line);
      }),
      // What makes it no graph: a bow from card to card, or beside the card where both ends are one.
      ...sketch.wrong.flatMap(edge => {
        const path = bowed(layout, edge[0], edge[2]);
        return path ? arrow(path, own => own.join(" ") === edge.join(" "), { class: "line wrong", d: path, "marker-end": "url(#headwrong)", ...(edge[1] === "<->" ? { "marker-start": "url(#headwrong)" } : {}) }) : [];
      }));
    const partial = new Set(sketch.mechanisms.map(own => own.variable)), verdictOf = new Map(sketch.verdicts.map(verdict => [verdict.variable, verdict]));
    const nodes = sketch.variables.map(variable => {
      const verdict = verdictOf.get(variable.name), [x, y] = layout.corners[variable.key];
      const whole = make("button", { type: "button", class: "whole", "data-key": variable.key, title: verdict ? `${verdict.query}: ${verdict.standing}. ${verdict.why}` : variable.name }, name(variable.name));
      if (verdict) whole.append(" ", mark(verdict.status));
      const toggle = make("button", { type: "button", class: "toggle", "data-key": variable.key, "aria-pressed": String(partial.has(variable.name)), title: `${variable.name} may be missing`, on: { click: () => {
        const own = mechanismOf(variable.key);
        partial.has(variable.name) ? edit(() => ({ nodes: lone().filter(key => key !== own), edges: sketch.edges.filter(edge => edge[0] !== own && edge[2] !== own), gone: [own] })) : edit(() => ({ nodes: [...lone(), own] }));
      } } }, "R");
      const node = make("div", { class: `node${partial.has(variable.name) ? " partial" : ""}`, "data-node": variable.key }, whole, toggle);
      Object.assign(node.style, { left: `${x}px`, top: `${y}px`, width: `${sketch.card.width}px`, height: `${sketch.card.head}px` });
      return node;
    });
    const boxes = sketch.mechanisms.map(own => {
      const [x, y, width] = layout.boxes[own.key];
      const node = make("div", { class: "node box", "data-node": own.key }, make("button", { type: "button", class: "whole", "data-key": own.key }, "R[", name(own.variable), "]"));
      Object.assign(node.style, { left: `${x}px`, top: `${y}px`, width: `${width}px`, height: "28px" });
      return node;
    });
    [...nodes, ...boxes].forEach(wireNode);
    const inside = make("div", { class: "inside" }, svg, ...nodes, ...boxes);
    Object.assign(inside.style, { width: `${layout.width}px`, height: `${layout.height}px` });
    clear(board, inside);
    if (focused) board.querySelector(`${wasToggle ? ".toggle" : ".whole"}[data-key="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  }
  // A click picks a node; a drag pulls an arrow to another one.
  function wireNode(node) {
    const key = node.dataset.node, whole = node.querySelector(".whole");
    node.classList.toggle("from", key === from);
    let wasDragged = false;
    whole.addEventListener("click", () => { if (!wasDragged) pick(key); wasDragged = false; });
    whole.addEventListener("keydown", event => {
      if (event.key === "Delete") removeNode(key);
      if (event.key === "Escape" && from !== null) pick(from);
    });
    for (const event of ["pointerenter", "focusin"]) node.addEventListener(event, () => nearVerdict(key));
    whole.addEventListener("pointerdown", event => {
      if (event.button || event.pointerType === "touch") return;
      const svg = node.parentElement.querySelector("svg"), frame = svg.getBoundingClientRect();
      const start = [node.offsetLeft + node.offsetWidth / 2, node.offsetTop + node.offsetHeight / 2];
      let line = null;
      const move = at => {
        const [x, y] = [at.clientX - frame.left, at.clientY - frame.top];
        if (!line && Math.hypot(at.clientX - event.clientX, at.clientY - event.clientY) < 6) return;
        line ??= svg.appendChild(draw("line", { class: "pulled", x1: start[0], y1: start[1] }));
        line.setAttribute("x2", x);
        line.setAttribute("y2", y);
      };
      const end = at => {
        removeEventListener("pointermove", move);
        removeEventListener("pointerup", end);
        line?.remove();
        const target = document.elementFromPoint(at.clientX, at.clientY)?.closest?.("[data-node]");
        if (!line) return;
        wasDragged = target === node;
        if (target && target !== node) { from = null; connect(key, target.dataset.node); }
      };
      addEventListener("pointermove", move);
      addEventListener("pointerup", end);
    });
  }
  const formula = markup => document.importNode(new DOMParser().parseFromString(markup, "text/html").body.firstChild, true);
  function drawVerdicts() {
    if (sketch.error) {
      clear(byId("verdicts"), make("p", { class: "soft" }, "What can be recovered is said once this is a graph again."));
      return;
    }
    if (!sketch.category) {
      clear(byId("verdicts"), ...lacking(), make("p", { class: "soft" }, sketch.variables.length ? "No mechanisms are drawn: values are taken as missing at random. Press R on a variable that may be missing, and see what can be recovered." : ""), ...undrawn());
      return;
    }
    const count = sketch.verdicts.filter(verdict => verdict.status === "recoverable").length;
    clear(byId("verdicts"), ...lacking(), make("p", {}, make("b", { id: "category" }, sketch.category), sketch.why.startsWith(sketch.category) ? sketch.why.slice(sketch.category.length) : `: ${sketch.why}`), ...undrawn(), make("p", { class: "soft" }, `${count} of ${sketch.verdicts.length} CPTs can be recovered.`),
      ...sketch.verdicts.map(verdict => make("details", { class: "verdict", "data-variable": verdict.variable, "data-status": verdict.status, open: verdict.status !== "recoverable" || sketch.verdicts.length <= 4 },
        make("summary", {}, mark(verdict.status), " ", name(verdict.query), ` ${verdict.standing}`), make("p", { class: "soft" }, verdict.why),
        ...(verdict.mathml ? [make("div", { class: "formula", tabindex: 0 }, formula(verdict.mathml))] : []))));
  }
  // Arrows that rules need: without them nothing can be learned.
  function lacking() {
    if (!sketch.lacking?.length) return [];
    return [make("p", { class: "warning" }, ...sketch.lacking.flatMap((edge, k) => [k ? ", " : "", name(edge[0]), " → ", name(edge[2])]), sketch.lacking.length > 1 ? " are not drawn, though rules" : " is not drawn, though a rule", " of who was asked in ", make("a", { href: "#states" }, "States"), sketch.lacking.length > 1 ? " need them. " : " needs it. ",
      make("button", { type: "button", id: "draw-lacking", on: { click: () => edit(() => ({ edges: [...sketch.edges, ...sketch.lacking] })) } }, sketch.lacking.length > 1 ? "draw them" : "draw it"))];
  }
  // Columns with missing values for which no mechanism is drawn, though there are some.
  function undrawn() {
    const partial = new Set(sketch.mechanisms.map(own => own.variable));
    const left = sketch.variables.filter(variable => !partial.has(variable.name) && (table?.columns.find(column => column.name === variable.name)?.missing ?? 0) > (table?.skipped[variable.name] ?? 0));
    if (!left.length) return [];
    const whole = sketch.variables.filter(variable => !partial.has(variable.name) && !left.includes(variable));
    const add = (id, words, causes) => make("button", { type: "button", id, on: { click: () => edit(() => ({ nodes: [...lone(), ...left.map(variable => mechanismOf(variable.key))],
      edges: [...sketch.edges, ...left.flatMap(variable => causes.map(cause => [cause.key, "->", mechanismOf(variable.key)]))] })) } }, words);
    const mechanisms = left.length > 1 ? "an R for each of them" : "an R for it";
    return [make("p", { class: sketch.category ? "warning" : "soft" }, ...left.flatMap((variable, k) => [k ? ", " : "", name(variable.name)]), left.length > 1 ? " have" : " has", ` missing values, and the graph does not say why. Add ${mechanisms}:`),
      make("div", { class: "bar" }, ...(whole.length ? [add("add-from-complete", "that depends on the complete variables (MAR)", whole)] : []), add("add-mechanisms", "that depends on nothing (MCAR)", [])),
      make("p", { class: "soft" }, "MCAR is the stronger claim: that whoever is missing is like everybody else. Take out or draw arrows as you know better", ...(table ? [", or test what they depend on in ", make("a", { href: "#states" }, "States")] : []), ".")];
  }
  function nearVerdict(key) {
    const variable = sketch.variables.find(own => own.key === key)?.name ?? sketch.mechanisms.find(own => own.key === key)?.variable;
    byId("verdicts").querySelectorAll(".verdict").forEach(verdict => verdict.classList.toggle("near", verdict.dataset.variable === variable));
  }

  // ---- 4 learn
  const KINDS = { learn: "learning", diagnose: "testing what is missing", structure: "searching for arrows", beside: "setting side by side", explain: "planning" };
  const JOB_PLACES = { diagnose: "diagnosed", structure: "proposed" };
  async function start(kind, more = {}) {
    try {
      if (byId("text").value !== project.graph) await readText();
      await keep();
      await ask("/run", { kind, version, ...more });
      trouble(null);
      watch();
    } catch (error) { trouble(error); }
  }
  async function watch() {
    for (;;) {
      try { job = await ask("/job"); } catch (error) { trouble(error); return; }
      drawJob();
      if (job?.status !== "running") break;
      await new Promise(done => setTimeout(done, 300));
    }
    if (job) await ended().catch(trouble);
  }
  async function ended() {
    ({ runs } = await ask("/state"));
    if (job.status === "done" && (job.kind === "learn" || job.kind === "beside")) change({ run: Number(job.name), asked: job.kind === "learn" && project.asked || "" });
    if (job.status === "done" && job.kind === "structure") {
      const { graph } = await ask("/adopt", { name: job.name, kind: "structure" });
      change({ graph, draft: "" });
      byId("text").value = project.graph;
      await drawGraph();
      const arrows = sketch.edges.filter(edge => !edge[0].startsWith("R[") && !edge[2].startsWith("R[") && edge[1] === "->").length;
      clear(byId("proposed"), make("p", {}, arrows ? `The data speak for ${arrows} arrow${arrows > 1 ? "s" : ""} (${job.seconds} s). Their direction is often a guess: turn those that you know better round with ⇄ below the drawing.` : `The data speak for no arrows (${job.seconds} s).`));
    }
    if (job.status === "done" && job.kind === "explain") await drawPlan();
    if (job.status === "done" && job.kind === "learn") clear(byId("planned"));  // what was learned takes its place
    drawRuns();
    describe();
    if (step() === "ask") showPage();  // where somebody was faster than this
    byId(JOB_PLACES[job.kind] ?? "job").scrollIntoView({ block: "nearest" });
  }
  // The plan of the project as it is: a change takes it off.
  async function drawPlan() {
    const plan = JSON.parse(await textOf(`/run/${job.name}/output.txt`)), families = Object.entries(plan.families);
    const soft = text => make("p", { class: "soft" }, sentence(text)), hasNotes = families.some(([, family]) => family.note);
    const parts = text => { const [, left, sign, right] = text.match(/^(.*?) ([=∝]) (.*)$/s) ?? [, text, "=", text]; return [left, left === right ? "read off directly" : (sign === "=" ? "" : "∝ ") + right]; };
    clear(byId("planned"), make("div", { id: "plan" }, make("p", {}, make("b", {}, plan.method), ` on ${plan.rows.toLocaleString("en")} rows, by ${plan.stages.map(stage => stage.name).join(", then ")}.`),
      ...[plan.category, plan.refusal, `It assumes that ${plan.assumption}.`].filter(Boolean).map(text => make("p", {}, text)),
      make("div", { class: "wide", tabindex: 0 }, make("table", {}, make("thead", {}, make("tr", {}, ...["CPT", "estimated as", "verdict", "rows that show it", ...(hasNotes ? ["note"] : [])].map(text => make("th", { class: "label", scope: "col" }, text)))),
        make("tbody", {}, ...families.map(([variable, family]) => make("tr", { "data-variable": variable }, make("th", { class: "label", scope: "row" }, name(parts(family.estimand)[0])), make("td", { class: "label" }, name(parts(family.estimand)[1])), make("td", { class: "label" }, family.verdict || "–"),
          make("td", {}, `${family.rows_shown.toLocaleString("en")} (${percent(family.rows_shown / Math.max(1, plan.rows))})`), ...(hasNotes ? [make("td", { class: "label" }, family.note)] : [])))))),
      ...plan.stages.flatMap(stage => stage.branches.map(branch => soft(`${stage.name}: ${branch}`))),
      soft(`pseudo-counts: ${plan.pseudo_counts}`), ...(plan.intervals ? [soft(plan.intervals)] : []), ...plan.notes.map(soft)));
  }
  function drawJob() {
    const isRunning = job?.status === "running", { stage = "", done = 0, total = null, note = "" } = job?.progress ?? {};
    byId("running").hidden = !isRunning;
    byId("running-words").textContent = isRunning ? `${KINDS[job.kind]}: ${stage}${note ? `, ${note}` : ""} (${job.seconds} s)` : "";
    if (total) Object.assign(byId("running-bar"), { value: done, max: total }); else byId("running-bar").removeAttribute("value");
    for (const id of ["learn-now", "explain", "diagnose", "structure", "beside"]) byId(id).disabled = isRunning;
    document.documentElement.dataset.job = job?.status ?? "none";
    const place = JOB_PLACES[job?.kind] ?? "job";
    for (const id of ["job", "diagnosed", "proposed"]) clear(byId(id));
    const next = place === "job" && job?.kind !== "explain" ? [make("button", { type: "button", class: "go", on: { click: () => { location.hash = "ask"; } } }, "Next: ask")] : [];
    if (job?.status === "failed") byId(place).append(make("pre", { class: "warning" }, job.message));
    if (job?.status === "cancelled") byId(place).append(make("p", {}, `Cancelled ${job.seconds ? `after ${job.seconds} s` : "at once"}; nothing was changed.`));
    if (job?.status === "done") byId(place).append(make("p", {}, `Done in ${job.seconds} s. `, ...next));
  }
  const runFile = (run, file) => `/run/${run.name}/${file}?key=${run.key}`;
  // What is otherwise than in the result before, by the names that the steps use.
  const SAID = { data: "table", missing: "codes for not observed", states: "states", bins: "cuts", not_asked: "rules", graph: "graph", method: "method", pseudo_counts: "pseudo-counts", level: "intervals", seed: "seed" };
  function unlike(run) {
    const before = runs.find(own => own.kind === "learn" && Number(own.name) < Number(run.name));
    if (run.kind !== "learn" || !before) return "";
    const other = Object.keys(run.project).filter(key => !["asked", "run", "draft"].includes(key) && JSON.stringify(run.project[key]) !== JSON.stringify(before.project[key]));
    return other.length ? `; unlike run ${before.name}: ${other.map(key => SAID[key] ?? key).join(", ")}` : `; settings as in run ${before.name}`;
  }
  function drawRuns() {
    const shown = runs.filter(run => run.kind === "learn" || run.kind === "beside"), chosen = new Set();
    byId("runs-title").hidden = !shown.length;
    byId("beside-bar").hidden = runs.filter(run => run.kind === "learn").length < 2;
    clear(byId("runs"), ...shown.map(run => {
      const box = make("input", { type: "checkbox", "aria-label": `${titleOf(run)} side by side`, on: { change: event => { event.target.checked ? chosen.add(run.name) : chosen.delete(run.name); } } });
      const label = make("input", { class: "label", value: run.label ?? "", placeholder: "name it", size: 14, maxLength: 60, "aria-label": `name of run ${run.name}`, on: { change: event => ask("/rename", { name: run.name, label: event.target.value }).then(reloadRuns).catch(trouble) } });
      // Asked twice, since nothing brings the files back.
      const away = make("button", { type: "button", class: "delete", "aria-label": `delete run ${run.name}`, on: { click: () => {
        if (away.textContent === "delete") { away.textContent = "delete for good"; away.setAttribute("aria-label", `delete run ${run.name} for good`); }
        else removeRun(run).catch(trouble);
      }, blur: () => { away.textContent = "delete"; } } }, "delete");
      return make("div", { class: `run${run === shownRun() ? " shown" : ""}`, "data-run": run.name }, ...(run.kind === "learn" ? [box] : []), make("b", {}, `run ${run.name}`), label, make("span", {}, name(run.words)), make("span", { class: "soft" }, `${run.made.slice(0, 16)}, ${run.seconds} s${unlike(run)}`),
        make("button", { type: "button", class: "look", on: { click: () => { change({ run: Number(run.name), asked: "" }); drawRuns(); location.hash = "ask"; } } }, "look and ask"), away,
        make("details", {}, make("summary", {}, "commands and notes"), make("pre", {}, [...run.commands, ...run.notes].join("\n"))));
    }));
    drawSummary();
    byId("beside").onclick = () => chosen.size === 2 ? start("beside", { runs: [...chosen].map(Number).sort((a, b) => a - b) }) : trouble(new Error("Tick two results first."));
    const last = runs.find(run => run.kind === "diagnose");
    if (last) byId("diagnosed").append(make("p", {}, make("a", { href: runFile(last, "page.html"), target: "_blank", rel: "noopener" }, `what is missing, and what it depends on`), " ",
      make("button", { type: "button", on: { click: async () => { try { const { graph } = await ask("/adopt", { name: last.name, kind: "diagnose" }); change({ graph, draft: "" }); byId("text").value = graph; await drawGraph(); location.hash = "graph"; } catch (error) { trouble(error); } } } }, "take its mechanisms into the graph")));
  }
  async function reloadRuns() {
    ({ runs } = await ask("/state"));
    drawRuns();
    describe();
  }
  async function removeRun(run) {
    await ask("/delete", { name: run.name });
    if (String(project.run) === run.name) change({ run: Number(runs.find(own => own !== run && own.kind === "learn")?.name ?? 0), asked: "" });
    shownPage = 0;
    await reloadRuns();
  }
  // The CPTs of the result that is shown, with their intervals.
  let summed = "";
  async function drawSummary() {
    const run = shownRun(), key = run?.kind === "learn" ? run.name + run.made + (run.label ?? "") : "";
    if (key === summed) return;
    summed = key;
    if (!key) { clear(byId("summary")); return; }
    try {
      const found = await ask("/summary", { name: run.name });
      if (key !== summed) return;
      const tile = ([label, value]) => make("div", { class: "tile" }, make("span", {}, label), make("b", {}, value));
      const cell = (p, ends) => make("td", {}, p.toFixed(3), ...(ends ? [make("small", {}, `${ends[0].toFixed(3)}–${ends[1].toFixed(3)}`)] : []));
      clear(byId("summary"), make("h3", {}, `What ${titleOf(run)} learned`), make("div", { class: "tiles" }, ...found.facts.map(tile)), ...found.warnings.map(text => make("p", { class: "warning" }, text)),
        ...(found.level && found.cpts.some(cpt => cpt.rows.some(row => row[2])) ? [make("p", { class: "soft" }, `Below each probability is its ${+(100 * found.level).toFixed(1)}% interval.`)] : []),
        make("div", { class: "cpts" }, ...found.cpts.map(cpt => make("details", { class: cpt.states.length + cpt.parents.length > 4 ? "cpt broad" : "cpt", "data-variable": cpt.variable, open: found.cpts.length <= 8 }, make("summary", {}, make("b", {}, name(cpt.title)), ...(cpt.shape ? [`, ${cpt.shape}`] : []), ...(cpt.tied.length ? [`, shared with ${cpt.tied.join(", ")}`] : [])),
          make("p", { class: "soft" }, [cpt.rests_on && `${cpt.rests_on} show it`, cpt.effective && cpt.effective !== "-" && `the weakest row is as precise as from ${cpt.effective} complete rows`, cpt.unsupported && `${cpt.unsupported} rows of the CPT without data`].filter(Boolean).join("; ")),
          ...(cpt.parameters?.parameters.length ? [make("p", { class: "soft" }, `${cpt.parameters.scale}: `, ...cpt.parameters.parameters.flatMap(([text, value], a) => [a ? ", " : "", name(text), ` ${value}`]), ...[cpt.parameters.legend, cpt.parameters.beside].filter(Boolean).map(text => `; ${text}`))] : []),
          make("div", { class: "wide", tabindex: 0 }, make("table", {}, make("thead", {}, make("tr", {}, ...cpt.parents.map(parent => make("th", { class: "label", scope: "col" }, name(parent))), ...cpt.states.map(state => make("th", { scope: "col" }, name(state))))),
            make("tbody", {}, ...cpt.rows.map(([given, row, ends]) => make("tr", {}, ...given.map(state => make("th", { class: "label", scope: "row" }, name(state))), ...row.map((p, k) => cell(p, ends?.[k]))))))),
          ...(cpt.left ? [make("p", { class: "soft" }, `and ${cpt.left.toLocaleString("en")} more rows: on the page of the result`)] : [])))),
        ...(found.left ? [make("p", { class: "soft" }, `and ${found.left.toLocaleString("en")} more CPTs: on the page of the result`)] : []));
    } catch (error) { if (key === summed) clear(byId("summary"), make("p", { class: "soft" }, sentence(error.message))); }
  }
  // Two results: which bar is whose, and the entries of their CPTs that are most apart.
  async function drawDifferences(run) {
    const place = byId("differences"), both = (run?.beside ?? []).map(own => runs.find(other => other.name === own));
    place.hidden = both.length !== 2 || both.includes(undefined);
    if (place.hidden) return;
    const [first, second] = both, key = (kind, words) => make("span", { class: "key" }, make("span", { class: `swatch ${kind}` }), words);
    const legend = make("p", { class: "legend" }, key("first", `${titleOf(first)}: ${first.words}`), key("second", `${titleOf(second)}: ${second.words}`));
    if (place.dataset.of === run.name) { place.firstChild.replaceWith(legend); return; }
    place.dataset.of = run.name;
    clear(place, legend);
    try {
      const found = await ask("/compare", { runs: run.beside });
      if (place.dataset.of !== run.name) return;
      const cell = ([p, ends]) => make("td", {}, p.toFixed(3), ...(ends ? [make("small", {}, ` ${ends[0].toFixed(3)}–${ends[1].toFixed(3)}`)] : []));
      const isApart = ([one, other]) => one[1] && other[1] && (one[1][0] > other[1][1] || other[1][0] > one[1][1]);
      place.append(make("h3", {}, "Where they differ most"), found.rows.length ? make("div", { class: "wide", tabindex: 0 }, make("table", {}, make("thead", {}, make("tr", {}, ...["of each CPT, the entry most apart", `run ${first.name}`, `run ${second.name}`, "difference"].map((text, k) => make("th", { class: k ? "" : "label", scope: "col" }, text)))),
        make("tbody", {}, ...found.rows.map(row => make("tr", {}, make("th", { class: "label", scope: "row" }, name(row.entry)), ...row.both.map(cell), make("td", {}, `${(row.both[1][0] - row.both[0][0] > 0 ? "+" : "−")}${Math.abs(row.both[1][0] - row.both[0][0]).toFixed(3)}`, ...(isApart(row.both) ? [make("small", {}, " intervals apart")] : []))))))) : make("p", {}, found.compared ? "They agree in every entry of the CPTs that both have." : "They have no CPT of the same family in common."),
        ...found.others.map(text => make("p", { class: "soft" }, sentence(text))));
    } catch (error) { place.append(make("p", { class: "soft" }, sentence(error.message))); }
  }
  function drawLearn() {
    clear(byId("method"), option("", "by the graph, or auto without mechanisms"), ...methods.map(method => option(method)));
    byId("method").value = project.method;
    const isNumber = typeof project.pseudo_counts === "number";
    byId("pseudo-counts-kind").value = isNumber ? "number" : project.pseudo_counts;
    byId("pseudo-counts-number").hidden = !isNumber;
    byId("pseudo-counts").value = isNumber ? project.pseudo_counts : 1;
    byId("has-intervals").checked = project.level > 0;
    byId("level").value = project.level || 0.95;
    byId("seed").value = project.seed;
  }

  // ---- 5 ask: the page of the result itself
  let shownPage = 0, scrolling = 0;
  function showPage() {
    const frame = byId("asked-page"), run = shownRun();
    frame.hidden = !run;
    clear(byId("ask-words"), ...(run ? [run.kind === "learn" ? `${sentence(titleOf(run))}: ${run.words}. ${sentence(click)} a state to say that it was seen. ` : `${sentence(click)} a state to say that it was seen, in both results. `, make("a", { href: runFile(run, "page.html"), target: "_blank", rel: "noopener" }, "open as a page of its own")] : ["There is no result yet: learn first."]));
    drawAnswers();
    drawDifferences(run);
    if (!run || shownPage === project.run) return;
    shownPage = project.run;
    // The page takes a moment to listen; until then it may not hear that its network is wanted.
    clearTimeout(scrolling);
    const toNetwork = waits => { frame.contentWindow.postMessage("network", "*"); if (waits.length) scrolling = setTimeout(toNetwork, waits[0], waits.slice(1)); };
    if (run.kind === "learn") frame.addEventListener("load", () => toNetwork([100, 200, 400, 800]), { once: true });
    frame.src = runFile(run, "page.html") + project.asked;
  }
  // The page is in a sandbox: it cannot be looked into, and says itself what it is asked.
  function keepQuestion(event) {
    const question = event.data?.question;
    if (event.source !== byId("asked-page").contentWindow || typeof question !== "string") return;
    clearTimeout(scrolling);
    if (shownPage !== project.run || question === project.asked) return;
    change({ asked: question });
    drawAnswers();
  }
  // The answers to what is clicked on the page, with intervals: these the page itself cannot work out.
  let answering = 0;
  async function drawAnswers() {
    const number = ++answering, run = shownRun(), place = byId("answers");
    place.hidden = run?.kind !== "learn";
    if (place.hidden) return;
    const soft = text => make("p", { class: "soft" }, text);
    try {
      const { level, chance, evidence, answers } = await ask("/answers", { number: project.run, asked: project.asked });
      if (number !== answering) return;
      const given = Object.entries(evidence).map(([variable, state]) => Array.isArray(state) ? `${variable} in ${state.join(", ")}` : typeof state === "object" ? `${variable} ~ ${Object.entries(state).map(pair => pair.join(": ")).join(", ")}` : `${variable} = ${state}`).join(", ");
      const range = (low, high) => low === null ? "" : `${low.toFixed(3)}–${high.toFixed(3)}`;
      clear(place, soft(!answers.length ? `${sentence(click)} a state in the network, and the answers are given here${level ? " with their intervals" : ""}.` : `${given ? `Given ${given}` : "Given nothing"}: probability${level ? ` and its ${+(100 * level).toFixed(1)}% interval` : ". Learn with intervals to see how sure it is"}.`),
        ...answers.map(answer => make("table", { "data-answer": answer.name }, make("caption", {}, name(answer.name)), make("tbody", {}, ...answer.rows.map(([state, p, low, high]) => make("tr", { "data-state": state }, make("th", { class: "label", scope: "row" }, name(state)), make("td", {}, p.toFixed(3)), make("td", {}, range(low, high))))))),
        ...[...new Set([...answers.flatMap(answer => answer.notes), answers.length ? chance : ""])].filter(Boolean).map(soft));
    } catch (error) { if (number === answering) clear(place, soft(sentence(error.message))); }
  }

  // ---- 6 code
  const FILES = { "page.html": "the page of the result: answers questions in any browser, without lacunet", "learned.json": "all that was learned, intervals included: lacunet.read_result, lacunet query",
    "network.json": "variables, states and arrows before learning", "graph.txt": "the mechanisms as text", "methods.txt": "the paragraph above", "network.svg": "the network as a figure", "network.pdf": "the same for a paper", "output.txt": "what the command printed" };
  let codes = [];
  function drawCode() {
    const code = codes[Math.max(byId("code-of").selectedIndex, 0)], other = codes.find(own => own !== code);
    for (const key of ["shell", "python"]) byId(key).textContent = code?.[key] ?? "";
    byId("code-of-bar").hidden = codes.length < 2;
    byId("of-run").textContent = code?.title ?? "what is chosen";
    say("code-note", [code?.note, code && code === codes[0] && other ? "The settings were changed since: learn again, or choose them here, for their commands." : ""].filter(Boolean).join("\n"));
  }
  async function showCode() {
    try {
      await keep();
      ({ codes } = await ask("/export"));
      say("code-error", "");
    } catch (error) {
      codes = [];
      say("code-error", error.message);
    }
    clear(byId("code-of"), ...codes.map(code => option(code.title)));
    drawCode();
    const run = shownRun();
    clear(byId("files"), ...(run ? run.files.map(file => make("p", { class: "rule" }, make("a", { href: runFile(run, file), download: file }, file), make("span", { class: "soft" }, ` ${FILES[file]}`))) : [make("p", { class: "soft" }, "No result yet: learn first.")]));
    byId("files-of").textContent = run ? `Files of run ${run.name}` : "Files";
    byId("methods-part").hidden = !run?.files.includes("methods.txt");
    if (!byId("methods-part").hidden) byId("methods").textContent = await textOf(`/run/${run.name}/methods.txt`);
  }

  // ---- wiring
  function wire() {
    addEventListener("hashchange", () => { trouble(null); go(); });
    document.querySelectorAll("[data-go]").forEach(button => button.addEventListener("click", () => { location.hash = button.dataset.go; }));
    byId("file").addEventListener("change", event => choose(event.target.value).catch(trouble));
    byId("upload").addEventListener("change", event => upload(event.target.files[0]));
    const hasFiles = event => step() === "table" && event.dataTransfer?.types.includes("Files");
    addEventListener("dragover", event => { if (hasFiles(event)) { event.preventDefault(); byId("drop").classList.add("over"); } });
    addEventListener("dragleave", event => { if (!event.relatedTarget) byId("drop").classList.remove("over"); });
    addEventListener("drop", event => {
      byId("drop").classList.remove("over");
      if (hasFiles(event)) { event.preventDefault(); upload(event.dataTransfer.files[0]); }
    });
    for (const id of ["delimiter", "encoding", "decimal"]) byId(id).addEventListener("change", event => change({ [id]: event.target.value }, { reads: true }));
    byId("missing-anywhere").addEventListener("change", event => setMissing("", listed(event.target.value)));
    byId("use-all").addEventListener("click", () => use((table?.columns ?? []).filter(column => column.proposal !== "leave" && roleOf(column) === "variable"), true));
    byId("use-none").addEventListener("click", () => use(table?.columns ?? [], false));
    byId("find-skips").addEventListener("click", findSkips);
    byId("diagnose").addEventListener("click", () => start("diagnose"));
    const add = () => {
      const text = byId("add-name").value.trim();
      if (!text || sketch.variables.some(variable => variable.name === text)) return;
      byId("add-name").value = "";
      edit(() => ({ nodes: [...lone(), keyOf(text)] }));
    };
    byId("add").addEventListener("click", add);
    byId("add-name").addEventListener("keydown", event => { if (event.key === "Enter") add(); });
    byId("remove").addEventListener("click", () => chosen === null ? removeNode(from) : removeEdge(chosen));
    byId("turn").addEventListener("click", () => turnEdge(chosen));
    byId("trouble-close").addEventListener("click", () => trouble(null));
    byId("undo").addEventListener("click", () => travel(past, future));
    byId("redo").addEventListener("click", () => travel(future, past));
    addEventListener("keydown", event => {
      if (event.target.closest("input:not([type=checkbox]), textarea")) return;  // these undo what is typed
      const key = event.key.toLowerCase(), isRedo = key === "y" || key === "z" && event.shiftKey;
      if ((event.ctrlKey || event.metaKey) && (key === "z" || key === "y")) { event.preventDefault(); isRedo ? travel(future, past) : travel(past, future); }
      if (step() !== "graph" || chosen === null) return;
      if (event.key === "Delete" || event.key === "Backspace") { event.preventDefault(); removeEdge(chosen); }
      if (event.key === "Escape") chooseEdge(chosen);
    });
    byId("structure").addEventListener("click", () => start("structure"));
    let typing = 0;
    byId("text").addEventListener("input", event => {
      change({ draft: event.target.value }, { typed: true });
      clearTimeout(typing);
      typing = setTimeout(readText, 100);
    });
    byId("method").addEventListener("change", event => change({ method: event.target.value }));
    byId("pseudo-counts-kind").addEventListener("change", event => { change({ pseudo_counts: event.target.value === "number" ? Number(byId("pseudo-counts").value) : event.target.value }); drawLearn(); });
    byId("pseudo-counts").addEventListener("change", event => change({ pseudo_counts: Number(event.target.value) || 0 }));
    byId("seed").addEventListener("change", event => change({ seed: Math.max(0, Math.round(Number(event.target.value) || 0)) }));
    for (const id of ["has-intervals", "level"]) byId(id).addEventListener("change", () => {
      const field = byId("level"), typed = Number(field.value);
      if (typed > 1) field.value = typed / 100;  // 95 is 95%
      if (field.reportValidity()) change({ level: byId("has-intervals").checked ? Number(field.value) || 0.95 : 0 });
    });
    byId("code-of").addEventListener("change", drawCode);
    byId("explain").addEventListener("click", () => start("explain"));
    byId("learn-now").addEventListener("click", () => start("learn"));
    byId("cancel").addEventListener("click", () => ask("/cancel", {}).catch(trouble));
    document.querySelectorAll("[data-copy]").forEach(button => button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(byId(button.dataset.copy).textContent);
      button.textContent = "copied";
    }));
    document.querySelectorAll("[data-keep]").forEach(button => button.addEventListener("click", () => download(button.dataset.file, byId(button.dataset.keep).textContent, "text/plain")));
    addEventListener("pagehide", () => { keep({ keepalive: true }).catch(() => {}); });
    addEventListener("message", keepQuestion);
    let across = innerWidth;
    addEventListener("resize", () => { if (innerWidth !== across && step() === "graph") { across = innerWidth; drawBoard(); } });
  }
  async function begin() {
    ({ project, version, files, methods, examples, runs, job } = await ask("/state").then(state => { byId("folder").textContent = state.folder; return state; }));
    kept = JSON.stringify(project);
    listFiles();
    showReading(false);
    byId("text").value = project.draft || project.graph;
    drawLearn();
    wire();
    await look();
    await drawGraph();
    if (project.draft) await readText();
    drawJob();
    drawRuns();
    drawColumns();
    drawRules();
    go();
    if (job?.status === "running") watch();
    document.documentElement.dataset.ready = "yes";
  }
  begin().catch(trouble);
})();
