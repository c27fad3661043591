"use strict";
// Exact beliefs by summing variables out along the order that the page carries, up a tree of
// cliques and down again. Evidence cuts its axis out of every table; CPTs of variables that are
// neither asked about nor ancestors of anything asked or seen are left out. So more evidence
// never makes larger cliques. What is set from outside, do(X), has no CPT: the edges into it are cut.
// A network whose cliques are too large as a whole is asked variable by variable: of each only its
// ancestors and those of the evidence count, as far as they are connected, in an order of their own.
//
// A network is { sizes, parents, order, cpts, bare }: of every variable its number of states, its
// parents, its CPT (parents..., child; the last axis fastest) and, for each row of the CPT,
// whether no data are behind it (null if all rows have data). A question is { seen, cut, among }: `seen[v]`
// is a state of v, or -1; `cut[v]` says whether v was set to it; `among[v]` is how likely what was observed is in
// each state of v (1 and 0 where v has one of several states), or null.
const beliefs = ({ sizes, parents, order, cpts, bare }) => {
  const all = sizes.map((_, v) => v);
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

  // Where the cells of a table over `scope` lie in a CPT of which some variables were seen.
  const liesIn = seen => (v, scope) => {
    const step = steps(families[v]);
    return places(scope, step, families[v].reduce((sum, u) => sum + Math.max(seen[u], 0) * step.get(u), 0));
  };

  // An order for some families: always the variable whose clique is smallest, with few new edges.
  function greedy(scopes) {
    const around = new Map();
    for (const scope of scopes) for (const u of scope) {
      if (!around.has(u)) around.set(u, new Set());
      scope.forEach(w => { if (w !== u) around.get(u).add(w); });
    }
    const cost = u => { let sum = Math.log(sizes[u]); around.get(u).forEach(w => { sum += Math.log(sizes[w]); }); return sum; };
    const costs = new Map([...around.keys()].map(u => [u, cost(u)])), found = [];
    while (costs.size) {
      let best = -1, least = Infinity;
      for (const [u, c] of costs) if (c < least) { least = c; best = u; }
      const beside = around.get(best);
      found.push(best);
      costs.delete(best);
      for (const u of beside) {
        around.get(u).delete(best);
        beside.forEach(w => { if (w !== u) around.get(u).add(w); });
      }
      beside.forEach(u => costs.set(u, cost(u)));
    }
    return found;
  }
  // The families that are connected with some variables.
  function connected(scopes, wanted) {
    const part = new Map();
    const root = u => { while (part.has(u) && part.get(u) !== u) u = part.get(u); return u; };
    for (const scope of scopes) for (const u of scope) part.set(root(u), root(scope[0]));
    const roots = new Set(wanted.map(root));
    return scopes.map(scope => !scope.length || roots.has(root(scope[0])));
  }

  // Which cliques summing out makes, before any table is there: for each variable, itself and
  // `rest`, to whose first variable its message goes. In an order of its own: of what counts alone.
  const known = ({ seen, among }) => all.filter(v => seen[v] >= 0 || among[v]);
  function plan(question, wanted, isOwn = false) {
    const { seen, cut } = question, relevant = withAncestors([...wanted, ...known(question)], cut);
    let members = all.filter(v => relevant[v] && !cut[v]), scopes = members.map(v => families[v].filter(u => seen[u] < 0));
    if (isOwn && wanted.length) {
      const counts = connected(scopes, wanted);
      members = members.filter((_, at) => counts[at]);
      scopes = scopes.filter((_, at) => counts[at]);
    }
    const mine = new Set(scopes.flat()), line = isOwn ? greedy(scopes) : order.filter(v => mine.has(v));
    const rank = new Map(line.map((v, at) => [v, at])), byRank = (a, b) => rank.get(a) - rank.get(b);
    const around = all.map(() => new Set()), home = all.map(() => []), fixed = [], cliques = [];
    members.forEach((v, at) => {
      const [first, ...others] = scopes[at].sort(byRank);
      if (first === undefined) { fixed.push(v); return; }
      home[first].push(v);
      others.forEach(u => around[first].add(u));
    });
    let cells = 0;
    for (const v of line) {
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
    const lie = liesIn(seen), at = [];
    for (const clique of cliques) {
      const of = among[clique.v];
      clique.table = new Float64Array(clique.across * sizes[clique.v]).map((_, i) => of ? of[Math.floor(i / clique.across)] : 1);
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

  // The most probable state of every variable together, given the question, and the logarithm of
  // its probability along with what is seen; null if that takes more than `most` cells.
  function explain(question, most) {
    const { seen, among } = question, whole = plan(question, all), planned = whole.cells <= most ? whole : plan(question, all, true);
    if (planned.cells > most) return null;
    const at = [], states = all.map(v => seen[v]), lie = liesIn(seen);
    let log = 0;
    for (const v of planned.fixed) log += Math.log(cpts[v][lie(v, [v]).found[0]]);
    for (const clique of planned.cliques) {
      const of = among[clique.v];
      clique.table = new Float64Array(clique.across * sizes[clique.v]).map((_, i) => of ? of[Math.floor(i / clique.across)] : 1);
      at[clique.v] = clique;
    }
    for (const clique of planned.cliques) {
      const { v, rest, table, across } = clique, up = at[rest[0]], message = new Float64Array(across);
      for (const u of clique.cpts) multiply(table, lie(u, [v, ...rest]), cpts[u]);
      clique.best = new Int32Array(across);
      for (let k = 0, i = 0; k < sizes[v]; k++) for (let j = 0; j < across; j++, i++) if (table[i] > message[j]) { message[j] = table[i]; clique.best[j] = k; }
      const highest = message.reduce((high, value) => Math.max(high, value), 0);
      log += Math.log(highest);
      for (let j = 0; j < across; j++) message[j] /= highest;
      if (up) multiply(up.table, places([up.v, ...up.rest], steps(rest), 0), message);
    }
    if (!(log > -Infinity)) return null;
    for (const { v, rest, best } of planned.cliques.reverse()) {
      const step = steps(rest);
      states[v] = best[rest.reduce((sum, u) => sum + states[u] * step.get(u), 0)];
    }
    return { states, log };
  }

  // The beliefs in the configurations of every family that is not cut, as tables like the CPTs; null if
  // what is seen cannot be.
  function joints(question) {
    const planned = plan(question, all), result = calibrate(planned, question, new Set()), lie = liesIn(question.seen);
    if (!result) return null;
    const tables = all.map(() => null), empty = v => tables[v] = new Float64Array(cpts[v].length);
    for (const v of planned.fixed) empty(v)[lie(v, [v]).found[0]] = 1;
    for (const { v, rest, table, cpts: own } of planned.cliques) for (const u of own) addUp(table, lie(u, [v, ...rest]), empty(u));
    return { tables, found: result.found };
  }
  // Whose CPTs a belief depends on, given what is known.
  const relevant = (question, v) => { const found = withAncestors([v, ...known(question)], question.cut); return all.filter(u => found[u] && !question.cut[u]); };

  // Beliefs given what is seen and set, and the logarithm of the probability of what is seen
  // (-Infinity: impossible; none if that alone takes too much). `cells` is what all variables
  // together would take; if that is more than `most`, those found here are the evidence's
  // ancestors, and `others` finds the rest.
  function answer(question, most) {
    const { seen, cut } = question, whole = plan(question, all), { cells } = whole, isWhole = cells <= most;
    const planned = isWhole ? whole : plan(question, [], true);
    if (planned.cells > most) return { cells };
    const result = calibrate(planned, question, new Set());
    if (!result) return { cells, log: -Infinity };
    const found = result.found.map((belief, v) => seen[v] < 0 ? belief : Float64Array.from({ length: sizes[v] }, (_, k) => +(k === seen[v])));
    return { cells, isWhole, log: known(question).some(v => !cut[v]) ? result.log : 0, found };
  }
  // What `answer` left, some variables at a time, those that are to be `first` before the others:
  // each exactly, as far as `most` cells are enough for it alone.
  function* others(question, { found }, most, first) {
    const below = all.map(() => 0);
    all.forEach(v => parents[v].forEach(p => { below[p]++; }));
    const leaves = all.filter(v => !below[v]), line = [...first, ...leaves, ...all.slice().reverse()];
    for (const limit of [most / 12, most]) for (const v of line) if (!found[v]) {
      const planned = plan(question, [v], true);
      if (planned.cells > limit) continue;
      const result = calibrate(planned, question, new Set());
      const fresh = all.filter(u => result.found[u] && !found[u]);
      fresh.forEach(u => { found[u] = result.found[u]; });
      yield fresh;
    }
  }
  // How far each other variable would move the probability of a state of v, were it known: for each
  // variable the probabilities given each of its states. P(v | x) is P(x | v) P(v) / P(x).
  function moves(question, v, k, prior, most, isOver) {
    const given = { seen: [...question.seen], cut: question.cut, among: [...question.among] };
    given.seen[v] = k;
    given.among[v] = null;
    const turned = answer(given, most);
    if (!turned.found) return [];
    if (!turned.isWhole) for (const _ of others(given, turned, most, [])) if (isOver()) break;
    return all.filter(u => u !== v && question.seen[u] < 0 && turned.found[u] && prior.found[u]).map(u => [u,
      Array.from(turned.found[u], (p, x) => prior.found[u][x] > 0 ? Math.min(p * prior.found[v][k] / prior.found[u][x], 1) : NaN)]);
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
    const { seen } = question, isOwn = !whole.isWhole;
    const isBare = all.map(v => bare[v] !== null && fitting(v, question).some(row => bare[v][row])), groups = new Map();
    for (const v of all.filter(v => seen[v] < 0 && whole.found[v])) {
      const masked = bareCpts(v, question, isBare), key = masked.join() + (isOwn ? ` ${v}` : "");
      if (!groups.has(key)) groups.set(key, { masked, members: [] });
      groups.get(key).members.push(v);
    }
    for (const { masked, members } of groups.values()) {
      const planned = plan(question, masked.length ? members : [], isOwn);
      if (masked.length && planned.cells > most) { yield []; continue; }
      // Both from the same plan: in that of all variables, barren ones may join what evidence tells apart.
      const base = masked.length ? calibrate(plan(question, members, isOwn), question, new Set()) : null;
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
      Array.from({ length: sizes[u] }, (_, k) => (seen[u] < 0 || seen[u] === k) && (!among[u] || among[u][k] > 0) ? row * sizes[u] + k : -1).filter(next => next >= 0)), [0]);
  }
  return { answer, others, explain, moves, unsupported, joints, relevant, bareCpts };
};
