"use strict";
// The network: a card for every variable, with its beliefs where the page can work them out.
// Cards stand in a drawing, laid out when the page was made, or in a list; of a large network the
// chosen variable's neighbours are drawn and all others listed. A click on a state, Enter, or the
// address (#X=state&Y=state) says that it was seen; with Shift, or as #do(X)=state, that it was set; with
// Ctrl, or as #X=one&X=other, that it has one of several states; as #X~one=.8&X~other=.2, how likely what was observed
// is in each. Names reach the page only as text, never as markup.
page.network = (() => {
  const { data, make, draw, name, byId, restore } = page;
  const vars = data.variables, live = data.live, drawn = data.drawn;
  const GAP = drawn.card.between, widthOf = i => drawn.widths?.[i] ?? drawn.card.width;
  const place = new Map(vars.map((v, i) => [v.name, i]));
  const stateOf = vars.map(v => new Map((v.states ?? []).map((s, k) => [s, k])));
  const children = vars.map(() => []);
  vars.forEach((v, i) => v.parents.forEach(p => children[p].push(i)));
  const isLarge = vars.length > drawn.most;
  const state = { chosen: data.opens_on, whole: !isLarge, zoom: null, view: null, mechanisms: !drawn.with_mechanisms, seen: vars.map(() => -1), cut: vars.map(() => false), among: vars.map(() => null), wasChosen: false };
  const onChoice = [];

  // ---- cards
  const percent = share => (100 * share).toFixed(share < 0.0995 && share > 0 ? 1 : 0) + "%";
  const fixed = p => p === undefined ? "–" : p > 0 && p < 0.0005 ? "<.001" : p < 1 && p > 0.9995 ? ">.999" : p.toFixed(3);
  const sign = d => (d < 0 ? "−" : "+") + Math.abs(d).toFixed(3);
  function words(i) {
    const v = vars[i], parts = [v.name];
    if (v.missing !== undefined) parts.push(`${percent(v.missing)} missing`);
    if (v.effective) parts.push(`effective size ${Math.round(v.effective).toLocaleString("en")} of ${data.rows.toLocaleString("en")} rows`);
    if (v.warnings?.length) parts.push(v.warnings.length === 1 ? "1 warning" : `${v.warnings.length} warnings`);
    return parts.join(", ");
  }
  function bar() {
    const parts = ["fill", "bare", "whisker", "prior"].map(kind => make("i", { class: kind }));
    return make("span", { class: "track", "aria-hidden": "true" }, ...parts);
  }
  // Not where variables share a hidden common cause.
  const canSet = live?.can_set;
  function stateRow(i, k) {
    const v = vars[i], label = make("span", { class: "label" }, name(v.states[k]));
    const bars = make("span", { class: "tracks" }, bar(), ...(data.other ? [bar()] : []));
    bars.querySelectorAll(".whisker").forEach(mark => { mark.hidden = true; });  // until an interval is there
    const row = make("button", { type: "button", class: "state", tabindex: -1, "aria-pressed": "false",
      "data-variable": v.name, "data-state": v.states[k] }, label, bars, make("span", { class: "number" }));
    row.addEventListener("mousedown", event => { if (event.shiftKey) event.preventDefault(); });  // selects no text
    row.addEventListener("click", event => {
      const means = event.ctrlKey || event.metaKey ? "among" : event.shiftKey ? "do" : byId("click-means").value;
      if (means === "likely") askLikelihoods(i, row);
      else if (means === "among") toggleAmong(i, k);
      else toggle(i, k, canSet && means === "do");
    });
    return row;
  }
  const cards = vars.map((v, i) => {
    const missing = make("i", { class: "missing" });
    missing.style.width = 100 * (v.missing ?? 0) + "%";
    const note = v.warnings?.length ? make("b", { class: "warns", "aria-hidden": "true" }, "!") : "";
    const share = v.missing ? make("span", { class: "share" }, v.missing === null ? "" : percent(v.missing)) : "";
    const head = make("button", { type: "button", class: "head", tabindex: -1, title: words(i) },
      make("span", { class: "title" }, name(v.name)), share, note, missing);
    head.addEventListener("click", () => { if (!dragged) choose(i, true); });
    const states = live ? make("div", { class: "states", role: "group", "aria-label": "states of " + v.name }, ...v.states.map((_, k) => stateRow(i, k))) : "";
    const from = v.parents.length ? make("div", { class: "from" }, "from ", ...v.parents.flatMap((p, a) => [a ? ", " : "", name(vars[p].name)])) : "";
    const card = make("div", { class: "card" + (v.partial ? " partial" : ""), "data-card": i }, head, from, states);
    if (live) card.style.setProperty("--label", drawn.labels[i] + "px");
    card.style.setProperty("--card", widthOf(i) + "px");
    card.addEventListener("keydown", event => walk(event, i));
    head.addEventListener("pointerdown", event => drag(event, i));
    return card;
  });
  const rows = live ? cards.map(card => [...card.querySelectorAll(".state")]) : [];
  const heads = cards.map(card => card.querySelector(".head"));
  // R[*], whether a row was recorded at all, is the mechanism of no variable.
  const mechanismBoxes = (data.mechanisms ?? []).map(m => vars[m.variable]?.name).map(own => make("div", { class: "card mechanism", title: `whether ${own ?? "a row"} is recorded` },
    make("span", { class: "title" }, "R[", name(own ?? "*"), "]")));

  // ---- drawing
  const frame = byId("drawing"), list = byId("others");
  const canvas = make("div", { class: "canvas" });
  const room = () => byId("network").clientWidth - 2, PHONE = 460;
  const isList = () => state.view ? state.view === "list" : room() < PHONE && !isPrinting;
  const blanket = i => new Set([i, ...vars[i].parents, ...children[i], ...children[i].flatMap(c => vars[c].parents)]);
  function arrow({ path, kind, ends, strength }) {
    const edge = draw("path", { d: path, class: "edge " + kind, "marker-end": `url(#head-${kind || "plain"})`, "data-ends": ends.join(" ") });
    if (kind === "hidden") edge.setAttribute("marker-start", "url(#head-hidden)");
    if (strength !== undefined) {
      edge.style.strokeWidth = 0.8 + 3.2 * strength;
      edge.append(draw("title", {}, `in ${percent(strength)} of the bootstrap replicates`));
    }
    return edge;
  }
  function arrowheads() {
    return draw("defs", {}, ...["plain", "cause", "hidden", "extra"].map(kind => draw("marker", { id: "head-" + kind, viewBox: "0 0 8 8", refX: 7, refY: 4,
      markerWidth: 10, markerHeight: 10, markerUnits: "userSpaceOnUse", orient: "auto-start-reverse" }, draw("path", { d: "M0,0L8,4L0,8z", class: "arrow " + kind }))));
  }
  const heightOf = i => drawn.card.head + (live && !(isLarge && state.whole) ? drawn.card.row * Math.min(vars[i].states.length, drawn.card.most) : 0);
  // From the lower side of one box to the upper side of another, or to the lower one of what is higher up.
  function link([x1, y1, w1, h1], [x2, y2, w2, h2]) {
    if (y1 < y2 + h2 && y2 < y1 + h1) {  // beside one another
      const isRight = x2 > x1, [ax, bx, ay, by] = [isRight ? x1 + w1 : x1, isRight ? x2 : x2 + w2, y1 + h1 / 2, y2 + h2 / 2];
      return `M${ax},${ay}C${(ax + bx) / 2},${ay} ${(ax + bx) / 2},${by} ${bx},${by}`;
    }
    const [ax, bx] = [x1 + w1 / 2, x2 + w2 / 2], isDown = y2 >= y1 + h1, [ay, by] = isDown ? [y1 + h1, y2] : [y1, y2 + h2];
    return `M${ax},${ay}C${ax},${(ay + by) / 2} ${bx},${(ay + by) / 2} ${bx},${by}`;
  }
  // Neighbours in three bands: parents; the chosen variable with the other parents of its children; children.
  function neighbourhood(room) {
    const i = state.chosen, shown = blanket(i), parents = vars[i].parents, own = children[i];
    const others = [...shown].filter(j => j !== i && !parents.includes(j) && !own.includes(j)), half = Math.ceil(others.length / 2);
    const bands = [parents, [...others.slice(0, half), i, ...others.slice(half)], own], lines = [], corner = new Map();
    const across = line => line.reduce((sum, j) => sum + widthOf(j) + GAP, -GAP);
    for (const band of bands) band.forEach((j, at) => {
      if (!at || across([...lines.at(-1), j]) > room - 16) lines.push([]);
      lines.at(-1).push(j);
      lines.at(-1).ends = at === band.length - 1;
    });
    const width = Math.max(...lines.map(across));
    let y = 8;
    for (const line of lines) {
      let x = 8 + (width - across(line)) / 2;
      for (const j of line) { corner.set(j, [x, y]); x += widthOf(j) + GAP; }
      y += Math.max(...line.map(heightOf)) + (line.ends ? 46 : 14);
    }
    const rect = j => [...corner.get(j), widthOf(j), heightOf(j)], edges = [];
    for (const j of shown) for (const p of vars[j].parents) if (shown.has(p)) edges.push({ path: link(rect(p), rect(j)), kind: "", ends: [p, j] });
    return { width: width + 16, height: y - 38, corner, edges, boxes: {} };
  }
  // The drawing made for the room there is; without one, the narrowest, to be scaled. Cards that were moved
  // stay where they were put, with straight arrows.
  let isPrinting = false, moved = {}, current = null;
  const SHEETS = { upright: [690, 780], lying: [960, 560] };  // room on paper, for A4 and Letter
  const onSheet = ({ width, height }, sheet = "upright") => Math.min(1, SHEETS[sheet][0] / width, SHEETS[sheet][1] / height);
  const NAME = `lacunet cards: ${document.title} (${vars.length})`;
  const keep = use => { try { return use(localStorage); } catch { return null; /* a page inside another */ } };
  moved = JSON.parse(keep(store => store.getItem(NAME)) ?? "{}");
  function arrangement() {
    if (!state.whole) return neighbourhood(isPrinting ? drawn.layouts.at(-1).width : room());
    const layouts = state.mechanisms && drawn.with_mechanisms || drawn.layouts;
    const layout = isPrinting ? layouts.reduce((best, one) => onSheet(one) > onSheet(best) ? one : best)
      : layouts.find(one => one.width <= room()) ?? layouts.at(-1);
    const own = moved[layout.width] ?? {}, corner = new Map(vars.map((_, i) => [i, own[i] ?? layout.corners[i]]));
    const rect = key => { const box = layout.boxes[key]; return box ? [box[0], box[1], box[2], 28] : [...corner.get(Number(key)), widthOf(key), heightOf(key)]; };
    const edges = layout.edges.map(edge => edge.ends.some(end => own[end]) ? { ...edge, path: link(rect(edge.ends[0]), rect(edge.ends[1])) } : edge);
    const far = Object.entries(own).map(([i, [x, y]]) => [x + widthOf(i) + 8, y + heightOf(i) + 8]);
    return { key: layout.width, boxes: layout.boxes, corner, edges, rect, width: Math.max(layout.width, ...far.map(([x]) => x)), height: Math.max(layout.height, ...far.map(([, y]) => y)) };
  }
  let dragged = false;
  function drag(event, i) {
    dragged = false;
    if (event.button || event.pointerType === "touch" || !state.whole || !current || isList()) return;
    const { key, rect, edges } = current, zoom = shownZoom(), [left, top] = current.corner.get(i), from = [event.clientX, event.clientY];
    const step = moving => {
      const [dx, dy] = [moving.clientX - from[0], moving.clientY - from[1]];
      if (!dragged && Math.hypot(dx, dy) < 5) return;
      dragged = true;
      const corner = [Math.max(0, Math.round(left + dx / zoom)), Math.max(0, Math.round(top + dy / zoom))];
      current.corner.set(i, corner);
      Object.assign(cards[i].style, { left: corner[0] + "px", top: corner[1] + "px" });
      edges.forEach((edge, at) => { if (edge.ends.includes(String(i)) || edge.ends.includes(i)) frame.querySelectorAll(".edge")[at].setAttribute("d", link(rect(edge.ends[0]), rect(edge.ends[1]))); });
    };
    const end = () => {
      removeEventListener("pointermove", step);
      if (!dragged) return;
      moved = { ...moved, [key]: { ...moved[key], [i]: current.corner.get(i) } };
      keep(store => store.setItem(NAME, JSON.stringify(moved)));
      drawNetwork();
    };
    addEventListener("pointermove", step);
    addEventListener("pointerup", end, { once: true });
  }
  // Without a zoom of its own a drawing is made as small as the room is, down to where names can be read.
  const shownZoom = () => state.zoom ?? Math.max(0.5, Math.min(1, room() / (current?.width || 1)));
  function drawNetwork() {
    const focused = document.activeElement, asList = isList();
    byId("view").value = asList ? "list" : "graph";
    document.querySelectorAll(".graph-only").forEach(element => { element.hidden = asList; });
    frame.hidden = asList;
    if (asList) {
      list.replaceChildren(...listed(vars.map((_, i) => i)));
    } else {
      current = arrangement();
      const { width, height, corner, edges, boxes } = current, zoom = shownZoom();
      const svg = draw("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" }, arrowheads(), ...edges.map(arrow));
      const inside = [...corner].map(([i, [x, y]]) => Object.assign(cards[i].style, { left: x + "px", top: y + "px" }) && cards[i]);
      const boxed = Object.values(boxes).map(([x, y, width], k) => Object.assign(mechanismBoxes[k].style, { left: x + "px", top: y + "px", width: width + "px" }) && mechanismBoxes[k]);
      canvas.replaceChildren(svg, ...inside, ...boxed);
      canvas.classList.toggle("compact", isLarge && state.whole);
      Object.assign(canvas.style, { width: width + "px", height: height + "px", transform: `scale(${zoom})` });
      const size = make("div", { class: "sized" }, canvas);
      Object.assign(size.style, { width: width * zoom + "px", height: height * zoom + "px" });
      for (const sheet of Object.keys(SHEETS)) size.style.setProperty("--" + sheet, onSheet(current, sheet));
      size.style.setProperty("--across", width + "px");
      size.style.setProperty("--down", height + "px");
      frame.replaceChildren(size);
      list.replaceChildren(...listed(vars.map((_, i) => i).filter(i => !corner.has(i))));
    }
    byId("put-back").hidden = asList || !moved[current?.key];
    addSmallCards();
    list.hidden = !list.childElementCount;
    byId("others-title").hidden = asList || list.hidden;
    byId("shown").textContent = asList || state.whole ? "" : `${vars[state.chosen].name} with its parents, children and their other parents (${blanket(state.chosen).size} of ${vars.length} variables)`;
    if (focused?.closest?.(".card")) focused.focus({ preventScroll: true });
    markChosen();
  }
  // Of variables whose CPTs are tied the list has the first, and the others on demand.
  let showsTied = false;
  function listed(indices) {
    const tied = indices.filter(i => vars[i].head !== undefined && i !== state.chosen), hidden = new Set(showsTied || isPrinting ? [] : tied);
    const left = isPrinting ? indices.filter(i => vars[i].head === undefined).slice(0, MOST_PRINTED) : indices.filter(i => !hidden.has(i));
    const parts = left.map(i => cards[i]);
    if (tied.length && !isPrinting) parts.push(make("button", { type: "button", class: "tied", on: { click: () => { showsTied = !showsTied; drawNetwork(); } } },
      showsTied ? `hide the ${tied.length} whose CPTs are those of others` : `show ${tied.length} more, whose CPTs are those of others (tied)`));
    if (isPrinting && left.length < indices.length) parts.push(make("p", {}, `${indices.length - left.length} more variables are not printed; the page lists them.`));
    return parts;
  }
  function markChosen() {
    cards.forEach((card, i) => card.classList.toggle("chosen", i === state.chosen && (state.wasChosen || !state.whole)));
    heads.forEach((head, i) => { head.tabIndex = i === state.chosen ? 0 : -1; });
    rows.forEach((own, i) => own.forEach(row => { row.tabIndex = i === state.chosen ? 0 : -1; }));
    frame.querySelectorAll(".edge").forEach(edge => edge.classList.toggle("near", state.wasChosen && edge.dataset.ends.split(" ").includes(String(state.chosen))));
    markCut();
  }
  // Edges into what is set are faint: they do not count.
  function markCut() {
    cards.forEach((card, i) => card.classList.toggle("set", state.cut[i]));
    frame.querySelectorAll(".edge").forEach(edge => edge.classList.toggle("cut", Boolean(state.cut[edge.dataset.ends.split(" ")[1]])));
  }
  function choose(i, isAsked = false) {
    const redraws = !state.whole && i !== state.chosen && !isList();
    state.chosen = i;
    state.wasChosen = true;
    redraws ? drawNetwork() : markChosen();
    writeAddress();
    onChoice.forEach(act => act(i, isAsked));
  }
  // Arrow keys: from a heading along the network, from a state to the next one.
  function walk(event, i) {
    const k = live ? rows[i].indexOf(event.target) : -1, key = event.key;
    if (k >= 0 && (key === "ArrowUp" || key === "ArrowDown")) {
      event.preventDefault();
      (rows[i][k + (key === "ArrowDown" ? 1 : -1)] ?? heads[i]).focus();
      return;
    }
    if (k >= 0 && key === "Escape") { heads[i].focus(); return; }
    const next = { ArrowUp: vars[i].parents[0], ArrowDown: children[i][0],
      ArrowLeft: (i + vars.length - 1) % vars.length, ArrowRight: (i + 1) % vars.length }[key];
    if (!key.startsWith("Arrow")) return;
    event.preventDefault();
    if (next !== undefined) { choose(next); heads[next].focus(); }
  }

  // ---- beliefs
  let engines = [], priors = [], answers = [], pending = 0, intervalsOf = null, known = new Map();
  const nothing = () => ({ seen: vars.map(() => -1), cut: vars.map(() => false), among: vars.map(() => null) });
  const ask = (engine, question) => engine.answer(question, live.most_cells);
  // What is looked at first: the chosen variable and those around it.
  const looked = () => [state.chosen, ...blanket(state.chosen)];
  function toggle(i, k, isSet) {
    const isOff = state.seen[i] === k && state.cut[i] === isSet;
    state.seen[i] = isOff ? -1 : k;
    state.cut[i] = isSet && !isOff;
    state.among[i] = null;
    writeAddress();
    update();
  }
  // One state of several more, or one less; of one state that is that it was seen, of all nothing.
  function toggleAmong(i, k) {
    const before = areSeveral(state.among[i]) ? possible(state.among[i]) : state.seen[i] >= 0 && !state.cut[i] ? [state.seen[i]] : [];
    knowAmong(state, i, before.includes(k) ? before.filter(other => other !== k) : [...before, k]);
    writeAddress();
    update();
  }
  function knowAmong({ seen, cut, among }, i, states) {
    knowLikely({ seen, cut, among }, i, vars[i].states.map((_, k) => +states.includes(k)));
  }
  const possible = weights => weights.flatMap((weight, k) => weight > 0 ? [k] : []);
  const areSeveral = weights => weights !== null && weights.every(weight => weight === 0 || weight === 1);
  // How likely what was observed is in each state: of one state that is that it was seen, of none or all alike nothing.
  function knowLikely({ seen, cut, among }, i, weights) {
    const left = possible(weights), isNothing = weights.every(weight => weight === weights[0]);
    seen[i] = left.length === 1 ? left[0] : -1;
    cut[i] = false;
    among[i] = left.length === 1 || isNothing ? null : weights;
  }
  function askLikelihoods(i, row) {
    const begin = state.among[i] ?? vars[i].states.map((_, k) => +(state.seen[i] < 0 || state.seen[i] === k));
    const fields = begin.map((weight, k) => make("input", { type: "number", min: 0, step: "any", value: weight, required: true, "aria-label": vars[i].states[k] }));
    const end = weights => {
      dialog.close();
      dialog.remove();
      row.focus({ preventScroll: true });
      if (!weights) return;
      knowLikely(state, i, weights);
      writeAddress();
      update();
    };
    const take = () => {
      const weights = fields.map(field => Number(field.value));
      fields[0].setCustomValidity(weights.some(weight => weight > 0) ? "" : "give a number above 0 to a state");
      if (fields.every(field => field.reportValidity())) end(weights);
    };
    const dialog = make("dialog", { id: "likelihoods", "aria-labelledby": "likelihoods-title", on: { cancel: event => { event.preventDefault(); end(null); } } },
      make("p", { id: "likelihoods-title" }, "How likely is what was observed in each state of ", make("b", {}, name(vars[i].name)), "? Only ratios matter."),
      make("div", { class: "fields" }, ...fields.flatMap((field, k) => [make("span", { "aria-hidden": "true" }, name(vars[i].states[k])), field])),
      make("div", { class: "bar" }, make("button", { type: "button", id: "likelihoods-take", on: { click: take } }, "take"), make("button", { type: "button", on: { click: () => end(null) } }, "cancel")));
    dialog.addEventListener("keydown", event => {
      if (event.key !== "Enter" || event.target.tagName !== "INPUT") return;
      event.preventDefault();  // or the state that has the focus again is clicked
      take();
    });
    document.body.append(dialog);
    dialog.showModal();
  }
  function clear() {
    Object.assign(state, nothing());
    writeAddress();
    update();
  }
  function update() {
    clearTimeout(pending);
    markCut();
    const hasEvidence = state.seen.some(k => k >= 0) || state.among.some(Boolean);
    answers = hasEvidence ? engines.map(engine => ask(engine, state)) : priors;
    const question = hasEvidence ? { seen: [...state.seen], cut: [...state.cut], among: [...state.among] } : nothing();
    const all = vars.map((_, i) => i), paint = which => which.forEach(i => vars[i].states.forEach((_, k) => show(i, k, answers, hasEvidence)));
    paint(all);
    explained(null);
    // What is left of a large network, first without evidence, then with it; then what has no data behind it.
    const isLeft = answer => answer.found && !answer.isWhole && !answer.isDone, begin = performance.now();
    const work = [];
    for (const [at, prior] of priors.entries()) if (isLeft(prior)) work.push([prior, engines[at].others(nothing(), prior, live.most_cells, looked())]);
    if (hasEvidence) for (const [at, answer] of answers.entries()) if (isLeft(answer)) work.push([answer, engines[at].others(question, answer, live.most_cells, looked())]);
    const isLarger = work.length > 0;
    answers.forEach((answer, at) => { if (answer.found && live.has_bare[at]) work.push([null, hatch(at, answer)]); });
    known = new Map();  // the intervals given what is seen
    if (hasEvidence && intervalsOf && answers[0].isWhole) work.push([null, whisk(question)]);
    tell(answers, hasEvidence, isLarger);
    document.documentElement.dataset.hatched = work.length ? "no" : "yes";
    const go = () => {  // some work at a time, so that clicks are heard
      const until = performance.now() + 20;
      while (work.length) {
        if (performance.now() > until) { pending = setTimeout(go); return; }
        const [answer, steps] = work[0], { value, done } = performance.now() - begin > 1000 * live.seconds ? { done: true } : steps.next();
        if (answer && value) paint(value);
        if (!done) continue;
        work.shift();
        if (answer) answer.isDone = true;
        if (isLarger && !work.some(([left]) => left)) tell(answers, hasEvidence, false);
      }
      if (intervalsOf) tellSure();
      document.documentElement.dataset.hatched = "yes";
      onBeliefs.forEach(act => act());
    };
    go();
  }
  const onBeliefs = [];
  // The most probable states of all variables together.
  function explained(found) {
    byId("explained").hidden = found === null;
    rows.forEach((own, i) => own.forEach((row, k) => row.classList.toggle("explains", found !== null && found?.states?.[i] === k)));
    if (!found) { byId("explained").textContent = found === null ? "" : "The most probable explanation takes too many cells here, or there is none."; return; }
    const power = (found.log - (answers[0].log ?? 0)) / Math.LN10;
    byId("explained").replaceChildren("Most probable explanation: the states with a bar at their left; probability ", make("b", {}, power < -4 ? `10^${power.toFixed(1)}` : (10 ** power).toPrecision(3)), " given the evidence.");
  }
  const explainAll = () => explained(engines[0].explain(state, live.most_cells) ?? undefined);
  function* hatch(at, answer) {
    for (const part of engines[at].unsupported(state, answer, live.most_cells / 20)) {
      for (const [i, shares] of part) shares.forEach((share, k) => fillBar(i, k, at, answer.found[i][k], share));
      yield;
    }
  }
  function* whisk(question) {
    const bare = i => rows[i].reduce((sum, row) => sum + Number(row.dataset.unsupported ?? 0), 0);
    for (const made of intervalsOf(question, answers[0], live.most_cells, bare)) {
      if (made) {
        const [i, found] = made;
        known.set(i, found);
        rows[i].forEach((_, k) => whisker(i, k, found[k], true));
      }
      yield;
    }
  }
  // Where an interval ends, as a mark on its bar and in words.
  function whisker(i, k, ends, hasEvidence) {
    const row = rows[i][k], mark = row.querySelector(".whisker");
    mark.hidden = !ends;
    if (!ends) { delete row.dataset.low; delete row.dataset.high; return; }
    wide(mark, ...ends);
    [row.dataset.low, row.dataset.high] = ends;
    row.title += `, ${Math.round(1000 * data.level) / 10}% interval ${ends[0].toPrecision(3)} to ${ends[1].toPrecision(3)}`;
  }
  const wide = (element, from, to) => Object.assign(element.style, { left: 100 * from + "%", width: 100 * Math.max(to - from, 0) + "%" });
  function fillBar(i, k, at, p, share) {
    const [fill, bare] = rows[i][k].querySelectorAll(".track")[at].children;
    wide(fill, 0, p - (share ?? 0));
    wide(bare, p - (share ?? 0), p);
    if (at) return;
    if (share === undefined) delete rows[i][k].dataset.unsupported; else rows[i][k].dataset.unsupported = share;
  }
  function show(i, k, answers, hasEvidence) {
    const row = rows[i][k], isSeen = state.among[i] ? state.among[i][k] > 0 : state.seen[i] === k, numbers = [];
    row.setAttribute("aria-pressed", isSeen && state.among[i] && !areSeveral(state.among[i]) ? "mixed" : isSeen);
    row.classList.toggle("ruled-out", (state.seen[i] >= 0 || state.among[i] !== null) && !isSeen);
    row.querySelectorAll(".track").forEach((track, at) => {
      const p = answers[at].found?.[i]?.[k], prior = priors[at].found?.[i]?.[k], tick = track.children[3];
      fillBar(i, k, at, p ?? 0, live.has_bare[at] && state.seen[i] < 0 ? undefined : 0);
      numbers.push(make("span", { class: p === undefined || prior === undefined || !hasEvidence ? "" : p > prior + 0.0005 ? "more" : p < prior - 0.0005 ? "less" : "" }, fixed(p)));
      tick.hidden = !hasEvidence || prior === undefined;
      if (!tick.hidden) tick.style.left = 100 * prior + "%";
      const attribute = at ? "data-other-belief" : "data-belief";
      p === undefined ? row.removeAttribute(attribute) : row.setAttribute(attribute, p);
    });
    row.querySelector(".number").replaceChildren(...numbers);
    const p = answers[0].found?.[i]?.[k], prior = priors[0].found?.[i]?.[k];
    row.title = `${vars[i].name} = ${vars[i].states[k]}: ${p === undefined ? "not known" : p.toPrecision(4)}${isSeen && state.cut[i] ? ", set" : ""}`
      + (hasEvidence && p !== undefined && prior !== undefined ? `, ${sign(p - prior)} against ${prior.toPrecision(4)} without evidence` : "");
    whisker(i, k, !hasEvidence && live.intervals?.[i]?.[k], hasEvidence);
  }
  let tellSure = () => {};
  // What is known, how probable that is, and what it moved most.
  function tell(answers, hasEvidence, isWorking) {
    const { log, found, cells } = answers[0], output = byId("evidence-probability");
    byId("evidence-label").textContent = state.cut.includes(true) ? "P(evidence | do)" : "P(evidence)";
    output.dataset.evidenceProbability = log === undefined ? "" : Math.exp(log);
    const power = log / Math.LN10 + 1e-9;
    output.textContent = log === undefined ? "too large to work out here" : log === -Infinity ? "0: these states cannot occur together"
      : power < -4 ? `${(10 ** (power - Math.floor(power))).toFixed(2)} × 10^${Math.floor(power)}` : Math.exp(log).toPrecision(4);
    const takeBack = i => state.among[i] ? (knowAmong(state, i, []), writeAddress(), update()) : toggle(i, state.seen[i], state.cut[i]);
    const weighed = i => state.among[i].map((weight, k) => `${vars[i].states[k]}: ${weight}`).join(", "), several = i => possible(state.among[i]).map(k => vars[i].states[k]).join(", ");
    const means = i => !state.among[i] ? [" = ", name(vars[i].states[state.seen[i]])] : areSeveral(state.among[i]) ? [" in ", name(several(i))] : [" ~ ", name(weighed(i))];
    byId("evidence").replaceChildren(...state.seen.flatMap((k, i) => k < 0 && !state.among[i] ? [] : [make("button", { type: "button", class: "chip" + (state.cut[i] ? " set" : ""), title: "take back", on: { click: () => takeBack(i) } },
      ...(state.cut[i] ? ["do(", name(vars[i].name), ")"] : [name(vars[i].name)]), ...means(i), make("span", { "aria-hidden": "true" }, " ×"))]));
    byId("clear").disabled = !hasEvidence;
    const unknown = vars.flatMap((_, i) => found?.[i] ? [] : [i]), left = unknown.length;
    const given = state.seen.flatMap((k, i) => state.among[i] ? [areSeveral(state.among[i]) ? `${vars[i].name} in {${several(i)}}` : `${vars[i].name} ~ {${weighed(i)}}`] : k < 0 ? [] : [`${vars[i].name}=${vars[i].states[k]}`].map(text => state.cut[i] ? `do(${text})` : text)).join(",");
    byId("beyond").hidden = log === -Infinity || !left;
    const command = i => make("code", {}, `lacunet query ${live.file} "${vars[i].name}${given ? "|" + given : ""}"`);
    if (left) byId("beyond").replaceChildren(...(isWorking ? [`Working out ${left} of ${vars.length} variables, each exactly, for at most ${live.seconds} seconds.`]
      : [`${left} of ${vars.length} variables are not answered here: they take more than ${live.most_cells / 1e6} million cells each, or more than ${live.seconds} seconds in all. Every number that is shown is exact. Ask for one of the others with: `, command(unknown.includes(state.chosen) ? state.chosen : unknown[0])]));
    const open = [state.chosen, ...vars.keys()].filter(i => state.seen[i] < 0 && !state.among[i] && found?.[i]);
    // Which variable has no interval here though others have, and how it is asked for.
    tellSure = () => {
      const lacks = open.find(i => !known.has(i));
      byId("sure").hidden = !hasEvidence || !live.intervals || lacks === undefined;
      if (lacks !== undefined) byId("sure").textContent = `${intervalsOf ? "Not all intervals are known here" : "Intervals given what is seen are not known here"}: lacunet query ${live.file} "${vars[lacks].name}|${given}"`;
    };
    if (intervalsOf) byId("sure").hidden = true; else tellSure();
    const moved = !hasEvidence || !found ? [] : vars.flatMap((v, i) => {
      if (state.seen[i] >= 0 || !found[i] || !priors[0].found?.[i]) return [];
      const gaps = Array.from(found[i], (p, k) => p - priors[0].found[i][k]);
      const far = gap => Math.abs(gap) + (gap > 0 ? 1e-9 : 0), k = gaps.reduce((best, gap, at) => far(gap) > far(gaps[best]) ? at : best, 0);
      return Math.abs(gaps[k]) < 0.0005 ? [] : [{ i, k, gap: gaps[k] }];
    }).sort((a, b) => Math.abs(b.gap) - Math.abs(a.gap)).slice(0, 5);
    byId("moved").replaceChildren(...(moved.length ? ["moved most: "] : []), ...moved.flatMap(({ i, k, gap }, at) => [at ? ", " : "",
      make("a", { href: "#", on: { click: event => { event.preventDefault(); goTo(i); } } }, name(vars[i].name), " = ", name(vars[i].states[k])), ` ${sign(gap)}`]));
  }
  function goTo(i) {
    choose(i);
    cards[i].scrollIntoView({ block: "center", inline: "center" });
    heads[i].focus({ preventScroll: true });
  }

  // ---- the address: what is seen or set, then the chosen variable. Brackets and tildes within names
  // are escaped, so that a variable called do(X) is not taken for X, set.
  const encoded = text => encodeURIComponent(text).replace(/[()~]/g, c => "%" + c.charCodeAt(0).toString(16).toUpperCase());
  const DOING = /^do\((.*)\)$/s;
  function writeAddress() {
    const ofOne = i => areSeveral(state.among[i]) ? possible(state.among[i]).map(k => encoded(vars[i].name) + "=" + encoded(vars[i].states[k]))
      : state.among[i].map((weight, k) => `${encoded(vars[i].name)}~${encoded(vars[i].states[k])}=${weight}`);
    const parts = state.seen.flatMap((k, i) => state.among[i] ? ofOne(i) : k < 0 ? [] : [(state.cut[i] ? `do(${encoded(vars[i].name)})` : encoded(vars[i].name)) + "=" + encoded(vars[i].states[k])]);
    if (state.wasChosen) parts.push(encoded(vars[state.chosen].name));
    const end = parts.length ? "#" + parts.join("&") : "";
    try { history.replaceState(null, "", end || location.pathname + location.search); } catch { /* a page inside another */ }
    if (parent !== window) parent.postMessage({ question: end }, "*");
  }
  const decoded = text => { try { return decodeURIComponent(text); } catch { return text; } };
  // Which variable is meant, and whether it is set; programs that pass links on may escape brackets.
  function meant(left) {
    const inside = left.match(DOING), whole = decoded(left);
    if (inside) return [place.get(decoded(inside[1])), true];
    return place.has(whole) ? [place.get(whole), false] : [place.get(whole.match(DOING)?.[1]), true];
  }
  function readAddress() {
    const question = nothing(), { seen, cut, among } = question, unknown = [], weights = new Map();
    let chosen = null;
    for (const part of location.hash.slice(1).split("&").filter(Boolean)) {
      const [left, ...right] = part.split("="), [i, isSet] = meant(left), [of, ...weighed] = left.split("~");
      if (i === undefined && weighed.length) {  // how likely what was observed is in a state
        const at = place.get(decoded(of)), k = stateOf[at]?.get(decoded(weighed.join("~"))), weight = Number(right.join("="));
        if (k === undefined || !right.join("").trim() || !(weight >= 0 && weight < Infinity)) { unknown.push(decoded(part)); continue; }
        if (!weights.has(at)) weights.set(at, vars[at].states.map(() => 0));
        weights.get(at)[k] = weight;
        continue;
      }
      if (!right.length) { chosen = i ?? chosen; continue; }
      const k = i === undefined ? undefined : stateOf[i].get(decoded(right.join("=")));
      if (k === undefined || isSet && !canSet) unknown.push(decoded(part));
      else if (isSet || cut[i] || (seen[i] < 0 && !among[i])) [seen[i], cut[i], among[i]] = [k, isSet, null];
      else knowAmong(question, i, [...new Set([...among[i] ? possible(among[i]) : [seen[i]], k])]);
    }
    weights.forEach((own, at) => knowLikely(question, at, own));
    Object.assign(state, question);
    byId("unknown").hidden = !unknown.length;
    byId("unknown").textContent = `The address asks for ${unknown.join(", ")}, which this network does not have${canSet ? "" : " or cannot tell"}.`;
    return chosen;
  }

  // ---- wiring
  function wire() {
    const find = byId("find");
    byId("names").append(...vars.map(v => make("option", { value: v.name })));
    find.addEventListener("input", () => {
      const text = find.value.toLowerCase();
      cards.forEach((card, i) => card.classList.toggle("filtered", !vars[i].name.toLowerCase().includes(text)));
      onFind.forEach(act => act(text));
      if (place.has(find.value) && place.get(find.value) !== state.chosen) choose(place.get(find.value));
    });
    byId("view").addEventListener("change", event => { state.view = event.target.value; drawNetwork(); });
    const zoom = by => () => { state.zoom = by ? shownZoom() * by : Math.min(1, room() / canvas.offsetWidth, (innerHeight - 120) / canvas.offsetHeight); drawNetwork(); };
    byId("larger").addEventListener("click", zoom(1.25));
    byId("smaller").addEventListener("click", zoom(0.8));
    byId("fit").addEventListener("click", zoom(0));
    byId("actual").addEventListener("click", () => { state.zoom = 1; drawNetwork(); });
    byId("whole").hidden = !isLarge;
    byId("whole").addEventListener("click", () => {
      state.whole = !state.whole;
      byId("whole").textContent = state.whole ? "neighbours only" : "whole network";
      drawNetwork();
    });
    if (live) byId("clear").addEventListener("click", clear);
    document.querySelectorAll("[data-choose]").forEach(element => element.addEventListener("click", event => {
      event.preventDefault();
      choose(Number(element.dataset.choose), true);
    }));
    addEventListener("hashchange", () => {
      const chosen = readAddress();
      if (live) update();
      if (chosen !== null && chosen !== state.chosen) choose(chosen);
    });
    addEventListener("message", event => { if (event.source === parent && event.data === "network") scrollTo(0, byId("network").offsetTop); });
    byId("put-back").addEventListener("click", () => {
      delete moved[current.key];
      keep(store => store.setItem(NAME, JSON.stringify(moved)));
      drawNetwork();
    });
    byId("show-mechanisms")?.addEventListener("change", event => { state.mechanisms = event.target.checked; drawNetwork(); });
    byId("explain")?.addEventListener("click", explainAll);
    addEventListener("beforeprint", () => print(true));
    addEventListener("afterprint", () => print(false));
    let across = innerWidth;
    addEventListener("resize", () => { if (innerWidth !== across) { across = innerWidth; drawNetwork(); } });
  }
  // On paper: the drawing within one sheet, and where its words are small then, all cards below it.
  const MOST_PRINTED = 200, READABLE = 0.8;
  function print(isStart) {
    isPrinting = isStart;
    drawNetwork();
  }
  function addSmallCards() {
    const isSmall = isPrinting && !isList() && onSheet(current) < READABLE;
    if (isSmall) list.prepend(...[...current.corner.keys()].filter(i => vars[i].head === undefined).slice(0, MOST_PRINTED).map(i => cards[i].cloneNode(true)));
    byId("others-title").textContent = isSmall ? "All variables" : "All other variables";
  }
  const onFind = [];
  async function start() {
    const chosen = readAddress();
    wire();
    if (chosen !== null) Object.assign(state, { chosen, wasChosen: true });
    drawNetwork();
    if (live) {
      const held = await Promise.all([data, data.other].filter(Boolean).map(restore));
      engines = held.map(({ cpts, bare }, at) => beliefs({ sizes: vars.map(v => v.states.length), cpts, bare,
        parents: at ? data.other.parents : vars.map(v => v.parents), order: live.orders[at] }));
      live.has_bare = held.map(one => one.bare.some(rows => rows?.includes(1)));
      if (live.uncertainty) intervalsOf = await page.intervals(live.uncertainty, { sizes: vars.map(v => v.states.length), parents: vars.map(v => v.parents), cpts: held[0].cpts, bare: held[0].bare, order: live.orders[0] });
      const begin = () => { priors = engines.map(engine => ask(engine, nothing())); update(); };
      if (isLarge) requestAnimationFrame(() => setTimeout(begin)); else begin();
    }
  }
  // How far each variable would move a state of another, within a second.
  function movesOf(i, k) {
    const until = performance.now() + 1000;
    return !answers[0]?.found?.[i] ? [] : engines[0].moves(state, i, k, answers[0], live.most_cells, () => performance.now() > until);
  }
  const beliefOf = (i, k) => answers[0]?.found?.[i]?.[k];
  const endsOf = (i, k) => rows[i][k].dataset.low === undefined ? null : [rows[i][k].dataset.low, rows[i][k].dataset.high].map(Number);
  const picture = () => ({ ...current, heightOf, widthOf, beliefOf, endsOf });
  return { start, state, onChoice, onFind, onBeliefs, goTo, cards, isList, movesOf, beliefOf, picture };
})();
