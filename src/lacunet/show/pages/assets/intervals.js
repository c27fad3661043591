"use strict";
// Intervals of beliefs given what is seen. The page carries how sure the CPTs are, in a form that depends on
// no question (learning/portable_intervals.py); what is done with it is what lacunet's queries do
// (learning/uncertainty/delta.py): the variance of a belief by its derivatives by all CPT entries.
page.intervals = async (sure, network, ends) => {
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
  const brought = take(Float32Array, total), known = take(Float32Array, rowsOf.reduce((sum, own) => sum + own, 0)), rates = take(Float32Array, total), isOpen = take(Uint8Array, total);
  const cell = take(Int32Array, free), reference = take(Int32Array, free), error = take(Float32Array, free), correlation = take(Int16Array, free * (free + 1) / 2);
  const scales = take(Float64Array, sure.replicates), drawn = Array.from(scales, () => take(Float32Array, total));
  const tableOf = (flat, v) => flat.subarray(begins[v], begins[v] + cpts[v].length);
  // Each row in proportion to weights; as it is in the CPT where these are zero.
  const shares = (weights, v) => cpts[v].map((p, c) => {
    const start = c - c % sizes[v];
    let sum = 0;
    for (let k = 0; k < sizes[v]; k++) sum += weights[start + k];
    return sum > 0 ? weights[c] / sum : p;
  });
  const engine = tableFor => beliefs({ ...network, cpts: all.map(tableFor) });
  // What a rule excludes stays excluded; other zeros are moved off by a hair.
  const rule = new Map(sure.rules.map(([v, state, fixed]) => [v, { state, fixed: new Set(fixed.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, k) => from + k))) }]));
  const isPossible = (v, c) => !rule.has(v) || (rule.get(v).fixed.has(Math.floor(c / sizes[v])) ? cpts[v][c] > 0 : c % sizes[v] !== rule.get(v).state);
  const offZero = all.map(v => shares(cpts[v].map((p, c) => p || (isPossible(v, c) ? 1e-12 : 0)), v)), near = engine(v => offZero[v]);
  const byRows = engine(v => shares(tableOf(rates, v), v));
  const byShown = isOpen.includes(1) ? engine(v => shares(tableOf(rates, v).map((p, c) => isOpen[begins[v] + c] ? 0 : p), v)) : null;
  const even = rule.size ? engine(v => shares(cpts[v].map((_, c) => +isPossible(v, c)), v)) : null;
  const replicates = drawn.map(flat => engine(v => tableOf(flat, v)));

  // The derivatives of a belief by all entries, its variance, and what pseudo-counts know of that; and the
  // CPT entry that it is, if nothing else moves it.
  const gradient = new Float64Array(total);
  function moved(p, chance, after, before, members, k) {
    let variance = 0, prior = 0;
    const entries = [];
    gradient.fill(0);
    for (const u of members) for (let start = 0; start < cpts[u].length; start += sizes[u]) {
      let mean = 0, isMoved = false;
      for (let c = start; c < start + sizes[u]; c++) {
        const slope = gradient[begins[u] + c] = offZero[u][c] ? chance * (after[u][c] - before[u][c]) / offZero[u][c] : 0;
        mean += cpts[u][c] * slope;
      }
      const rounding = c => cpts[u][c] > 1e-9 ? 1e-9 : 1e-2;
      for (let c = start; c < start + sizes[u]; c++) {
        const apart = gradient[begins[u] + c] - mean;
        variance += brought[begins[u] + c] * apart ** 2;
        prior += known[firstRow[u] + start / sizes[u]] * cpts[u][c] * apart ** 2;
        isMoved ||= Math.abs(apart) > rounding(c);
      }
      if (!isMoved) continue;
      const isEntry = x => {
        for (let c = start; c < start + sizes[u]; c++) if (isPossible(u, c) && Math.abs(+(c === x) - cpts[u][x] - gradient[begins[u] + c] + mean) > rounding(c)) return false;
        return Math.abs(cpts[u][x] - p) <= 1e-9;
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
  function interval(p, rate, rows, atZero, atOne) {
    const settled = rate < 1e-12 ? 0 : rate > 1 - 1e-12 ? 1 : rate, n = rows * sure.shrink, yes = n * settled, no = n * (1 - settled), far = sure.z ** 2;
    const low = yes === 0 || atZero && yes < far * (1 - settled) ? 0 : quantile(yes + 0.5, no + 0.5, (1 - sure.level) / 2);
    const high = no === 0 || atOne && no < far * settled ? 1 : quantile(yes + 0.5, no + 0.5, (1 + sure.level) / 2);
    return [Math.min(low, p), Math.max(high, p)];
  }
  // The intervals of the beliefs in all variables, one variable after the other; of what rests on CPT rows
  // without data none, for there more than this would have to be known. `bare` says how much that is.
  return function* (question, answer, most, bare) {
    const before = near.joints(question), ask = other => other?.answer(question, most).found;
    const [rows, shown, evens] = [byRows, byShown, even].map(ask), others = replicates.map(ask);
    if (!before || others.includes(undefined)) return;
    for (const v of all) {
      if (question.seen[v] >= 0 || question.among[v] || !answer.found[v] || bare(v) >= sure.noted) continue;
      const members = near.relevant(question, v), found = Array.from(answer.found[v], (p, k) => {
        const isDecided = even && (p === 0 || p === 1) && (evens[v][k] === 0 || evens[v][k] === 1), chance = before.found[v][k];
        if (isDecided || sizes[v] === 1) return [p, p];
        const given = { seen: [...question.seen], cut: question.cut, among: question.among };
        given.seen[v] = k;
        const after = chance ? near.joints(given) : null, by = after ? moved(p, chance, after.tables, before.tables, members, k) : { variance: 0, prior: 0 };
        if (by.entry) { const [u, c] = by.entry; return [ends[u][2 * c] / 10000, ends[u][2 * c + 1] / 10000]; }
        const centre = sure.by_design ? p : others.reduce((sum, one) => sum + one[v][k], 0) / others.length;
        const variance = others.reduce((sum, one, r) => sum + scales[r] * (one[v][k] - centre) ** 2, by.variance), left = variance > 0 ? 1 - Math.min(by.prior / variance, 1) : 1;
        const isRest = (own, k) => own.every((q, x) => x === k || q === 0);
        return interval(p, rows ? rows[v][k] : p, size(p, left > 0 ? variance / left : Infinity), shown ? shown[v][k] === 0 : false, shown ? isRest(shown[v], k) : false);
      });
      yield [v, found];
    }
  };
};
