"use strict";
// Intervals of beliefs given what is seen. The page carries how sure the CPTs are, in a form that depends on
// no question (learning/portable_intervals.py); what is done with it is what lacunet's queries do
// (learning/uncertainty/delta.py): the variance of a belief by its derivatives by all CPT entries. What rests on
// CPT rows without data stays within what these could make of it, as far as that can be tried.
page.intervals = async (sure, network) => {
  const { sizes, parents, cpts } = network, all = sizes.map((_, v) => v);
  const buffer = await (await page.inflated(sure.packed)).arrayBuffer();
  let at = 0;
  const take = (Kind, length) => {
    at = Math.ceil(at / 8) * 8;
    const part = new Kind(buffer, at, length);
    at += part.byteLength;
    return part;
  };
  const begins = [], total = cpts.reduce((sum, table, v) => { begins[v] = sum; return sum + table.length; }, 0), free = sure.free;
  const rowsOf = all.map(v => cpts[v].length / sizes[v]), firstRow = all.map((_, v) => rowsOf.slice(0, v).reduce((sum, own) => sum + own, 0));
  const brought = take(Float32Array, total), known = take(Float32Array, rowsOf.reduce((sum, own) => sum + own, 0)), rates = take(Float32Array, total), rowsBehind = take(Float32Array, total), openEnds = take(Uint8Array, total);
  const cell = take(Int32Array, free), reference = take(Int32Array, free), error = take(Float32Array, free), correlation = take(Int16Array, free * (free + 1) / 2);
  const scales = take(Float64Array, sure.replicates), drawn = Array.from(scales, () => take(Float32Array, total));
  // Each row in proportion to weights; as it is in a table where these are zero.
  const shares = (table, v, weigh) => {
    const weights = table.map((p, c) => weigh(c, p));
    return table.map((p, c) => {
      const start = c - c % sizes[v];
      let sum = 0;
      for (let k = 0; k < sizes[v]; k++) sum += weights[start + k];
      return sum > 0 ? weights[c] / sum : p;
    });
  };
  const engine = tableFor => beliefs({ ...network, cpts: all.map(tableFor) });
  const rule = new Map(sure.rules.map(([v, state, fixed]) => [v, { state, fixed: new Set(fixed.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, k) => from + k))) }]));
  const rowOf = (v, c) => Math.floor(c / sizes[v]);
  const isPossible = (v, c) => !rule.has(v) || (rule.get(v).fixed.has(rowOf(v, c)) ? cpts[v][c] > 0 : c % sizes[v] !== rule.get(v).state);
  const even = rule.size ? engine(v => shares(cpts[v], v, c => +isPossible(v, c))) : null;
  // What the CPTs are, or would be with some rows taken as known: `chosen` says which state has all of them.
  function variant(chosen) {
    const isKnown = (v, c) => chosen.has(`${v} ${rowOf(v, c)}`);
    const tables = chosen.size ? all.map(v => cpts[v].map((p, c) => isKnown(v, c) ? +(chosen.get(`${v} ${rowOf(v, c)}`) === c % sizes[v]) : p)) : cpts;
    const withKnown = (v, weigh) => shares(tables[v], v, (c, p) => isKnown(v, c) ? p : weigh(c, p));
    // What a rule excludes stays excluded; other zeros are moved off by a hair.
    const offZero = all.map(v => withKnown(v, (c, p) => p || (isPossible(v, c) ? 1e-12 : 0)));
    const rate = (v, c) => rates[begins[v] + c], hasOpen = openEnds.some((ends, c) => ends & 1 && rates[c] > 0);
    return { tables, offZero, isKnown, exact: engine(v => tables[v]), near: engine(v => offZero[v]), byRows: engine(v => withKnown(v, c => rate(v, c))),
      byShown: hasOpen ? engine(v => withKnown(v, c => openEnds[begins[v] + c] & 1 ? 0 : rate(v, c))) : null,
      replicates: drawn.map(flat => engine(v => tables[v].map((p, c) => isKnown(v, c) ? p : flat[begins[v] + c]))) };
  }
  const asIs = variant(new Map());

  // The derivatives of a belief by all entries, its variance, and what pseudo-counts know of that; and the
  // CPT entry that it is, if nothing else moves it.
  const gradient = new Float64Array(total);
  function moved({ tables, offZero, isKnown }, p, chance, after, before, members) {
    let variance = 0, prior = 0;
    const entries = [];
    gradient.fill(0);
    for (const u of members) for (let start = 0; start < cpts[u].length; start += sizes[u]) {
      if (isKnown(u, start)) continue;
      let mean = 0, isMoved = false;
      for (let c = start; c < start + sizes[u]; c++) {
        const slope = gradient[begins[u] + c] = offZero[u][c] ? chance * (after[u][c] - before[u][c]) / offZero[u][c] : 0;
        mean += tables[u][c] * slope;
      }
      const rounding = c => tables[u][c] > 1e-9 ? 1e-9 : 1e-2;
      for (let c = start; c < start + sizes[u]; c++) {
        const apart = gradient[begins[u] + c] - mean;
        variance += brought[begins[u] + c] * apart ** 2;
        prior += known[firstRow[u] + start / sizes[u]] * tables[u][c] * apart ** 2;
        isMoved ||= Math.abs(apart) > rounding(c);
      }
      if (!isMoved) continue;
      const isEntry = x => {
        for (let c = start; c < start + sizes[u]; c++) if (isPossible(u, c) && Math.abs(+(c === x) - tables[u][x] - gradient[begins[u] + c] + mean) > rounding(c)) return false;
        return Math.abs(tables[u][x] - p) <= 1e-9;
      };
      const own = Array.from({ length: sizes[u] }, (_, x) => start + x).find(isEntry);
      entries.push(own === undefined ? null : [u, own]);
    }
    for (let i = 0, c = 0; i < free; i++) {
      const a = (gradient[cell[i]] - gradient[reference[i]]) * error[i];
      for (let j = 0; j <= i; j++, c++) if (a && correlation[c]) variance += (i === j ? 1 : 2) * a * correlation[c] / 32767 * (gradient[cell[j]] - gradient[reference[j]]) * error[j];
    }
    return { variance, prior, entry: entries.length === 1 ? entries[0] : null };
  }
  function size(p, variance) {
    const agree = variance > 0 ? Math.sqrt(0.5 / variance) - 0.5 : Infinity, isAlone = variance === 0 || p * (1 - p) * Math.min(p, 1 - p) < 0.5 * variance;
    const rows = isAlone ? Math.min(Math.max(agree, 0), sure.total) : p * (1 - p) / variance;
    return rows < 1e-6 ? 0 : rows;
  }
  // The quantiles of a Beta distribution, by bisection of its continued fraction.
  function logGamma(x) {
    const terms = [76.18009172947146, -86.50532032941677, 24.01409824083091, -1.231739572450155, 0.001208650973866179, -0.000005395239384953];
    return (x + 0.5) * Math.log(x + 5.5) - x - 5.5 + Math.log(2.5066282746310005 * terms.reduce((sum, term, k) => sum + term / (x + 1 + k), 1.000000000190015) / x);
  }
  function below(x, a, b, logBeta) {
    if (x <= 0 || x >= 1) return +(x >= 1);
    if (x > (a + 1) / (a + b + 2)) return 1 - below(1 - x, b, a, logBeta);
    const part = value => Math.abs(value) < 1e-300 ? 1e-300 : value;
    let c = 1, d = 1 / part(1 - (a + b) * x / (a + 1)), found = d;
    for (let m = 1; m < 2000; m++) {
      for (const term of [m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)), -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))]) {
        d = 1 / part(1 + term * d);
        c = part(1 + term / c);
        found *= c * d;
      }
      if (Math.abs(c * d - 1) < 1e-14) break;
    }
    return Math.exp(a * Math.log(x) + b * Math.log1p(-x) - logBeta) * found / a;
  }
  function quantile(a, b, share) {
    const logBeta = logGamma(a) + logGamma(b) - logGamma(a + b);
    let low = 0, high = 1;
    for (let step = 0; step < 50; step++) { const middle = (low + high) / 2; if (below(middle, a, b, logBeta) < share) low = middle; else high = middle; }
    return (low + high) / 2;
  }
  function interval({ p, rate, rows, ends: [atZero, atOne], shrink = sure.shrink }) {
    if (rows === Infinity) return [p, p];
    const settled = rate < 1e-12 ? 0 : rate > 1 - 1e-12 ? 1 : rate, n = rows * shrink, yes = n * settled, no = n * (1 - settled), far = sure.z ** 2;
    const low = yes === 0 || atZero && yes < far * (1 - settled) ? 0 : quantile(yes + 0.5, no + 0.5, (1 - sure.level) / 2);
    const high = no === 0 || atOne && no < far * settled ? 1 : quantile(yes + 0.5, no + 0.5, (1 + sure.level) / 2);
    return [Math.min(low, p), Math.max(high, p)];
  }
  // All that a question has in one set of CPTs; null where it cannot be answered in each of them.
  function posed(tables, question, most) {
    const before = tables.near.joints(question), ask = other => other?.answer(question, most).found;
    const [answer, rows, shown, evens] = [tables.exact, tables.byRows, tables.byShown, even].map(ask), others = tables.replicates.map(ask);
    return !before || !answer || others.includes(undefined) ? null : { tables, question, before, answer, rows, shown, evens, others };
  }
  // How sure each belief in a variable is: what the rows say, and from how many they say it.
  function spreads({ tables, question, before, answer, rows, shown, evens, others }, v) {
    const members = tables.near.relevant(question, v), found = Array.from(answer[v], (p, k) => {
      const isDecided = even && (p === 0 || p === 1) && (evens[v][k] === 0 || evens[v][k] === 1), chance = before.found[v][k];
      if (isDecided || sizes[v] === 1) return { p, rate: p, rows: Infinity, ends: [false, false] };
      const given = { seen: [...question.seen], cut: question.cut, among: question.among };
      given.seen[v] = k;
      const after = chance ? tables.near.joints(given) : null, by = after ? moved(tables, p, chance, after.tables, before.tables, members) : { variance: 0, prior: 0 };
      if (by.entry) {
        const [u, c] = by.entry, at = begins[u] + c;
        return { p: cpts[u][c], rate: rates[at], rows: rowsBehind[at], ends: [Boolean(openEnds[at] & 1), Boolean(openEnds[at] & 2)], shrink: sure.shrink_of[u], isEntry: true };
      }
      const centre = sure.by_design ? p : others.reduce((sum, one) => sum + one[v][k], 0) / others.length;
      const variance = others.reduce((sum, one, r) => sum + scales[r] * (one[v][k] - centre) ** 2, by.variance), left = variance > 0 ? 1 - Math.min(by.prior / variance, 1) : 1;
      const isRest = shown && shown[v].every((q, x) => x === k || q === 0);
      return { p, rate: rows ? rows[v][k] : p, rows: size(p, left > 0 ? variance / left : Infinity), ends: [Boolean(shown) && shown[v][k] === 0, Boolean(isRest)] };
    });
    const isNear = found.some(({ rate, rows, isEntry }) => !isEntry && Math.min(rate, 1 - rate) < 50 / Math.max(rows, 1));
    return isNear ? found : found.map(one => one.isEntry ? one : { ...one, ends: [false, false] });
  }
  // The CPT rows without data that a belief can pass through, those with most weight first, and their states.
  function bareRows(question, v) {
    const weight = asIs.exact.joints(question), reach = engine(u => cpts[u].map((p, c) => network.bare[u]?.[rowOf(u, c)] ? +isPossible(u, c) : p)).joints(question), found = [];
    const inRow = (table, u, row) => table.subarray(row * sizes[u], (row + 1) * sizes[u]).reduce((sum, p) => sum + p, 0);
    for (const u of asIs.exact.bareCpts(v, question, all.map(u => network.bare[u] !== null))) for (let row = 0; row < rowsOf[u]; row++) if (network.bare[u][row] && reach && inRow(reach.tables[u], u, row) > 0)
      found.push({ key: `${u} ${row}`, weight: inRow(weight.tables[u], u, row), states: Array.from({ length: sizes[u] }, (_, k) => k).filter(k => isPossible(u, row * sizes[u] + k)) });
    return found.sort((a, b) => b.weight - a.weight);
  }
  const MOST_CHOICES = 4096;  // of states for these rows: more are not looked at
  // The choices of states that make each belief lowest and highest, of all variables that pass through the same
  // rows; null if there are too many.
  function* extremes(question, v, most, tried) {
    const rows = bareRows(question, v), number = rows.reduce((product, { states }) => product * states.length, 1), id = rows.map(({ key }) => key).join();
    if (number > MOST_CHOICES) return null;
    if (tried.has(id)) return tried.get(id)[v];
    const ends = sizes.map(n => Array.from({ length: n }, () => ({ low: [Infinity], high: [-Infinity] })));
    tried.set(id, ends);
    for (let choice = 0; choice < number; choice++) {
      if (choice % 8 === 7) yield null;
      const chosen = new Map();
      let rest = choice;
      for (const { key, states } of [...rows].reverse()) { chosen.set(key, states[rest % states.length]); rest = Math.floor(rest / states.length); }
      const tables = all.map(u => rows.some(({ key }) => key.startsWith(`${u} `)) ? cpts[u].map((p, c) => chosen.has(`${u} ${rowOf(u, c)}`) ? +(chosen.get(`${u} ${rowOf(u, c)}`) === c % sizes[u]) : p) : cpts[u]);
      engine(u => tables[u]).answer(question, most).found?.forEach((belief, u) => belief?.forEach((p, k) => {
        if (p < ends[u][k].low[0]) ends[u][k].low = [p, choice, chosen];
        if (p > ends[u][k].high[0]) ends[u][k].high = [p, choice, chosen];
      }));
    }
    return ends[v];
  }
  function* bounded(base, v, question, most, tried) {
    const ends = yield* extremes(question, v, most, tried), made = new Map();
    if (!ends) return base.map(interval);
    const at = ([, choice, chosen], k) => {
      if (!made.has(choice)) { const asked = posed(variant(chosen), question, most); made.set(choice, asked && spreads(asked, v)); }
      return made.get(choice)?.[k];
    };
    const found = base.map((one, k) => {
      const low = at(ends[k].low, k), high = at(ends[k].high, k);
      if (!low || !high) return undefined;
      const [least, most] = interval({ ...one, ends: [one.ends[0] || low.ends[0], one.ends[1] || high.ends[1]] });
      return [Math.max(least, interval(low)[0]), Math.min(most, interval(high)[1])];
    });
    return found.includes(undefined) ? undefined : found;
  }
  // The intervals of the beliefs in all variables, one variable after the other, with nothing in between where
  // there is more to try. `bare` says how much of a belief rests on CPT rows without data.
  return function* (question, answer, most, bare) {
    const asked = posed(asIs, question, most), tried = new Map();
    const open = all.filter(v => question.seen[v] < 0 && !question.among[v] && answer.found[v]), isBare = v => bare(v) >= sure.noted;
    if (asked) for (const v of [...open.filter(v => !isBare(v)), ...open.filter(isBare)]) {
      const base = spreads(asked, v), found = isBare(v) ? yield* bounded(base, v, question, most, tried) : base.map(interval);
      if (found) yield [v, found];
    }
  };
};
