/* Search by sections (see docs/search.py), ranked by BM25. Sphinx puts this file after its own. */
var Scorer = {
  // What users read comes before notes for developers and long tables.
  score: ([page, title, anchor, description, score]) =>
    score *
    (/^(decisions|architecture|paper$|experiments)/.test(page) ? 0.5 : 1) *
    (/^reference\/cli/.test(page) ? 0.8 : 1) *
    (/^#lacunet\.\w+\.\w/.test(anchor ?? "") ? 0.7 : 1), // a member of a class
  objNameMatch: 11,
  objPartialMatch: 1,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 20,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};

/* Words that readers use for what the book calls otherwise. */
const OTHER_WORDS = {
  confidence: "interval",
  credible: "interval",
  significance: "interval",
  uncertainty: "interval sure",
  ci: "interval",
  alpha: "level prior",
  reproducible: "seed rng same",
  reproduce: "seed rng same",
  deterministic: "seed rng same",
  random_state: "seed rng",
  ram: "memory",
  gb: "memory",
  gigabyte: "memory",
  huge: "large size",
  big: "large size",
  speed: "time seconds",
  slow: "time seconds",
  convert: "to_pyagrum to_pgmpy",
  export: "write",
  save: "write keep",
  load: "read",
  import: "from read",
  continuous: "numbers bins cut",
  numeric: "numbers bins cut",
  discretize: "discretise bins cut",
  bin: "bins cut",
  nan: "missing",
  na: "missing",
  null: "missing",
  unknown: "missing codes",
  refused: "missing codes",
  nonignorable: "mnar",
  self: "itself own",
  causal: "effect do",
  intervention: "effect do",
  latent: "hidden",
  unobserved: "hidden missing",
  dag: "edges structure",
  smoothing: "prior",
  laplace: "prior",
  dirichlet: "prior",
  pseudocount: "prior",
  changelog: "changed",
  migrate: "changed",
  percent: "level",
  release: "version changed",
  citation: "cite",
  bibtex: "cite",
  license: "licence",
  breaking: "changed",
  optimum: "starts optima",
  plot: "figure",
  graph: "edges",
  privacy: "small counts",
  disclosure: "small counts",
  bug: "report versions",
  mice: "imputation",
  imputed: "impute",
  sample: "draw simulate",
};

/* Words that say little of what is looked for: left out if there are others. */
const WEAK = "set use get make give want need since find show new any work";

/* For each stem the weight that its words have in each section. */
const stemmer = new Stemmer();
const placesOf = () => {
  const places = new Map();
  for (const [word, own] of Object.entries(SECTIONS.places)) {
    const stem = stemmer.stemWord(word);
    if (!places.has(stem)) places.set(stem, new Map());
    const weights = places.get(stem);
    for (let k = 0; k < own.length; k += 2)
      weights.set(own[k], (weights.get(own[k]) ?? 0) + own[k + 1]);
  }
  return places;
};

/* Sections that have the words, the best first; a word that only stands for another weighs less. */
Search.performTermsSearch = (words, excluded) => {
  const { sections } = SECTIONS, places = placesOf();
  const mean = sections.reduce((sum, section) => sum + section[3], 0) / sections.length;
  const others = {};
  for (const [word, said] of Object.entries(OTHER_WORDS))
    others[stemmer.stemWord(word)] = said.split(" ").map((other) => stemmer.stemWord(other));

  const ways = (word) => {
    // each stem that stands for the word, and how well
    const known = (others[word] ?? []).filter((other) => places.has(other));
    const found = new Map(known.map((other) => [other, 0.6]));
    if (places.has(word)) found.set(word, 1);
    else if (word.length > 2)
      for (const stem of places.keys()) if (stem.startsWith(word)) found.set(stem, 0.5);
    return found;
  };

  const weak = new Set(WEAK.split(" ").map((word) => stemmer.stemWord(word)));
  const strong = [...words].filter((word) => !weak.has(word));
  const asked = strong.length ? strong : [...words];
  const scores = new Map();
  let most = 0;
  for (const word of asked) {
    const best = new Map(); // what the word adds to a section: by the way that adds most
    let rarest = 0;
    for (const [stem, share] of ways(word)) {
      const weights = places.get(stem), n = weights.size;
      const idf = Math.log(1 + (sections.length - n + 0.5) / (n + 0.5));
      rarest = Math.max(rarest, idf);
      for (const [section, weight] of weights) {
        const length = 0.4 + 0.6 * (sections[section][3] / mean);
        const added = (share * idf * weight * 2.2) / (weight + 1.2 * length);
        best.set(section, Math.max(best.get(section) ?? 0, added));
      }
    }
    most += 2.2 * rarest;
    for (const [section, added] of best) {
      const [sum, hits] = scores.get(section) ?? [0, 0];
      scores.set(section, [sum + added, hits + 1]);
    }
  }
  for (const word of excluded)
    for (const section of places.get(word)?.keys() ?? []) scores.delete(section);

  return [...scores]
    .map(([section, [sum, hits]]) => [section, (20 * sum * (hits / asked.length)) / most])
    .sort((a, b) => b[1] - a[1])
    .slice(0, 30)
    .map(([section, score]) => {
      const [page, title, anchor] = sections[section];
      return [page, title, anchor, null, score, page, SearchResultKind.text];
    });
};

/* Names as they are typed, such as result.query, Result.report or learn_structure(). */
const named = (query) => {
  const name = query.trim().toLowerCase().replace(/^lc\./, "").replace(/\(.*$/, "");
  if (!/[._(]/.test(query.trim()) || !name) return [];
  const ending = (end) => SECTIONS.sections.filter(([, , anchor]) => anchor.toLowerCase().endsWith(end));
  const whole = ending("." + name);
  // A result has methods of a class that it shares with networks: then the method alone will do.
  return (whole.length ? whole : ending("." + name.split(".").pop()))
    .sort((a, b) => b[2].length - a[2].length)
    .map(([page, title, anchor]) => [page, title, anchor, null, 50, page, SearchResultKind.object]);
};

/* One result for one address: a section may be found by its title, its words and its name. */
const allResults = Search._performSearch;
Search._performSearch = (query, ...more) => {
  const seen = new Set();
  return [...allResults(query, ...more), ...named(query)]
    .reverse()
    .filter(([page, , anchor]) => !seen.has(page + anchor) && seen.add(page + anchor))
    .reverse();
};

/* The summary below a documented name is that of the name: Sphinx looks for no id with a dot. */
const textOf = Search.htmlToText;
Search.htmlToText = (html, anchor) => {
  const named = anchor?.includes(".")
    ? new DOMParser().parseFromString(html, "text/html").getElementById(anchor.slice(1))
    : null;
  return named ? named.parentElement.textContent.replaceAll("¶", "") : textOf(html, anchor);
};
