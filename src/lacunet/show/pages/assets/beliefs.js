"use strict";
// Exact beliefs by summing variables out along the order that the page carries, up a tree of
// cliques and down again. Evidence cuts its axis out of every table; CPTs of variables that are
// neither asked about nor ancestors of anything asked or seen are left out. So more evidence
// never makes larger cliques. What is set from outside, do(X), has no CPT: the edges into it are cut.
//
// A network is { sizes, parents, order, cpts, bare }: of every variable its number of states, its
// parents, its CPT (parents..., child; the last axis fastest) and, for each row of the CPT,
// whether no data are behind it (null if all rows have data). A question is { seen, cut, among }: `seen[v]`
// is a state of v, or -1; `cut[v]` says whether v was set to it; `among[v]` are several states, one of which
// v has, or null.
const beliefs = ({ sizes, parents, order, cpts, bare }) => {
  const rank = [], all = sizes.map((_, v) => v);
  order.forEach((v, at) => { rank[v] = at; });
  const byRank = (a, b) => rank[a] - rank[b];
  const families = parents.map((own, v) => [...own, v]);

  function withAncestors(start, cut) {
    const found = new Uint8Array(sizes.length), open = [...start];
    while (open.length) {
      const v = open.pop();
      if (!found[v]) { found[v] = 1; if (!cut[v]) open.push(...parents[v]); }
    }
    return found;
  }
  // The step from one cell to the next along each axis of a table.
  function steps(scope) {
    const found = new Map();
    let step = 1;
    for (let a = scope.length - 1; a >= 0; a--) { found.set(scope[a], step); step *= sizes[scope[a]]; }
    return found;
  }
  // Where the cells of a table over `scope` lie in another one: for all axes but the last, along
  // which the step is the same everywhere.
  function places(scope, step, start) {
    let found = Int32Array.of(start);
    const last = scope.length - 1;
    for (let a = 0; a < last; a++) {
      const n = sizes[scope[a]], by = step.get(scope[a]) ?? 0, next = new Int32Array(found.length * n);
      for (let i = 0, at = 0; i < found.length; i++) for (let k = 0; k < n; k++) next[at++] = found[i] + k * by;
      found = next;
    }
    return { found, n: sizes[scope[last]], by: step.get(scope[last]) ?? 0 };
  }
  function multiply(table, { found, n, by }, factor) {
    for (let i = 0, at = 0; i < found.length; i++) for (let k = 0, from = found[i]; k < n; k++, from += by) table[at++] *= factor[from];
  }
  function addUp(table, { found, n, by }, sums) {
    for (let i = 0, at = 0; i < found.length; i++) for (let k = 0, to = found[i]; k < n; k++, to += by) sums[to] += table[at++];
  }

  // Which cliques summing out makes, before any table is there: for each variable, itself and
  // `rest`, to whose first variable its message goes.
  const known = ({ seen, among }) => all.filter(v => seen[v] >= 0 || among[v]);
  function plan(question, wanted) {
    const { seen, cut } = question, relevant = withAncestors([...wanted, ...known(question)], cut);
    const around = all.map(() => new Set()), home = all.map(() => []), fixed = [], cliques = [];
    all.filter(v => relevant[v] && !cut[v]).forEach(v => {
      const [first, ...others] = families[v].filter(u => seen[u] < 0).sort(byRank);
      if (first === undefined) { fixed.push(v); return; }
      home[first].push(v);
      others.forEach(u => around[first].add(u));
    });
    let cells = 0;
    for (const v of order.filter(v => relevant[v] && seen[v] < 0)) {
      const rest = [...around[v]].sort(byRank), across = rest.reduce((size, u) => size * sizes[u], 1);
      rest.slice(1).forEach(u => around[rest[0]].add(u));
      cliques.push({ v, rest, across, cpts: home[v] });
      cells += across * sizes[v];
    }
    return { cliques, fixed, cells };
  }

  // The beliefs of all variables in the plan, and of each the logarithm of the sum over its own
  // part of the network; null if that is zero. CPTs in `masked` lose the rows without data.
  function calibrate({ cliques, fixed }, { seen, among }, masked) {
    const cpt = v => masked.has(v) ? cpts[v].map((p, at) => bare[v][Math.floor(at / sizes[v])] ? 0 : p) : cpts[v];
    const lie = (v, scope) => {
      const step = steps(families[v]);
      return places(scope, step, families[v].reduce((sum, u) => sum + Math.max(seen[u], 0) * step.get(u), 0));
    };
    const at = [];
    for (const clique of cliques) {
      const of = among[clique.v];
      clique.table = new Float64Array(clique.across * sizes[clique.v]).map((_, i) => !of || of.includes(Math.floor(i / clique.across)) ? 1 : 0);
      clique.log = 0;
      at[clique.v] = clique;
    }
    let log = 0;
    for (const v of fixed) log += Math.log(cpt(v)[lie(v, [v]).found[0]]);
    for (const clique of cliques) {
      const { v, rest, table, across } = clique, up = at[rest[0]];
      for (const u of clique.cpts) multiply(table, lie(u, [v, ...rest]), cpt(u));
      const message = clique.message = new Float64Array(across);
      for (let k = 0, i = 0; k < sizes[v]; k++) for (let j = 0; j < across; j++) message[j] += table[i++];
      clique.most = message.reduce((most, value) => Math.max(most, value), 0);
      clique.log += Math.log(clique.most);
      for (let j = 0; j < across; j++) message[j] /= clique.most;
      if (!up) { log += clique.log; continue; }
      up.log += clique.log;
      clique.within = places([up.v, ...up.rest], steps(rest), 0);
      multiply(up.table, clique.within, message);
    }
    if (!(log > -Infinity)) return null;
    const found = all.map(() => null), logs = all.map(() => 0);
    for (const clique of cliques.reverse()) {
      const { v, rest, table, across, message, most } = clique, up = at[rest[0]];
      const down = new Float64Array(across).fill(up ? 0 : 1), sums = found[v] = new Float64Array(sizes[v]);
      if (up) { addUp(up.table, clique.within, down); clique.log = up.log; }
      for (let j = 0; j < across; j++) if (down[j]) down[j] /= message[j] * most;
      for (let k = 0, i = 0; k < sizes[v]; k++) for (let j = 0; j < across; j++, i++) sums[k] += table[i] *= down[j];
      logs[v] = clique.log;
    }
    return { found, logs, log };
  }

  // The variables that can be answered with `most` cells, those that are cheapest alone first;
  // null if the evidence takes more by itself.
  const NOTHING = { seen: all.map(() => -1), cut: [], among: [] };
  let byCost = null;
  function affordable(question, most) {
    if (plan(question, []).cells > most) return null;
    byCost ??= all.map(v => [plan(NOTHING, [v]).cells, v]).sort((a, b) => a[0] - b[0]).map(([, v]) => v);
    let low = 0, high = all.length;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (plan(question, byCost.slice(0, middle)).cells <= most) low = middle; else high = middle - 1;
    }
    return byCost.slice(0, low);
  }
  // Beliefs given what is seen and set, and the logarithm of the probability of what is seen
  // (-Infinity: impossible): of all variables if `most` cells are enough for that, or else of those that `few` are enough for, or
  // `most` if the evidence takes more by itself. `cells` is what all variables would take.
  function answer(question, most, few = most) {
    const { seen, cut } = question, whole = plan(question, all), { cells } = whole;
    const wanted = cells <= most ? all : affordable(question, few) ?? affordable(question, most);
    if (!wanted) return { cells };
    const result = calibrate(cells <= most ? whole : plan(question, wanted), question, new Set());
    if (!result) return { cells, log: -Infinity };
    const found = result.found.map((belief, v) => seen[v] < 0 ? belief : Float64Array.from({ length: sizes[v] }, (_, k) => +(k === seen[v])));
    return { cells, log: known(question).some(v => !cut[v]) ? result.log : 0, found, logs: result.logs };
  }

  // The CPTs that the belief of v depends on, and of which some row that fits has no data.
  function bareCpts(v, question, isBare) {
    const { seen, cut } = question, relevant = withAncestors([v, ...known(question)], cut), part = all.slice();
    const root = u => { while (part[u] !== u) u = part[u] = part[part[u]]; return u; };
    const open = all.filter(u => relevant[u] && !cut[u]).map(u => [u, families[u].filter(w => seen[w] < 0)]);
    for (const [, scope] of open) scope.forEach(u => { part[root(u)] = root(scope[0]); });
    return open.filter(([u, scope]) => isBare[u] && scope.length && root(scope[0]) === root(v)).map(([u]) => u);
  }
  // Of every belief the share that passes through CPT rows without data, group by group: a
  // generator, so that the page can draw in between. `whole` is the answer for the same question;
  // what takes more than `most` cells is left out.
  function* unsupported(question, whole, most) {
    const { seen } = question;
    const isBare = all.map(v => bare[v] !== null && fitting(v, question).some(row => bare[v][row])), groups = new Map();
    for (const v of all.filter(v => seen[v] < 0 && whole.found[v])) {
      const masked = bareCpts(v, question, isBare), key = masked.join();
      if (!groups.has(key)) groups.set(key, { masked, members: [] });
      groups.get(key).members.push(v);
    }
    for (const { masked, members } of groups.values()) {
      const planned = plan(question, masked.length ? members : []);
      if (masked.length && planned.cells > most) { yield []; continue; }
      // Both from the same plan: in that of all variables, barren ones may join what evidence tells apart.
      const base = masked.length ? calibrate(plan(question, members), question, new Set()) : null;
      const rest = masked.length ? calibrate(planned, question, new Set(masked)) : null;
      yield members.map(v => {
        const kept = rest ? Math.exp(rest.logs[v] - base.logs[v]) : 0;
        return [v, whole.found[v].map((p, k) => masked.length ? Math.max(p - (rest ? kept * rest.found[v][k] : 0), 0) : 0)];
      });
    }
  }
  // The rows of a CPT that what is seen of the parents leaves.
  function fitting(v, { seen, among }) {
    return parents[v].reduce((rows, u) => rows.flatMap(row =>
      Array.from({ length: sizes[u] }, (_, k) => (seen[u] < 0 || seen[u] === k) && (!among[u] || among[u].includes(k)) ? row * sizes[u] + k : -1).filter(next => next >= 0)), [0]);
  }
  return { answer, unsupported };
};
