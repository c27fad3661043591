/* The order of search results: what users read before notes for developers and long tables. */
var Scorer = {
  score: ([page, title, anchor, description, score]) =>
    score -
    (/^(decisions|architecture|paper$|experiments)/.test(page) ? 8 : 0) -
    (/^(reference\/cli|upgrading)/.test(page) ? 3 : 0),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
