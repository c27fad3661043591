// Searches a built book as a browser does, with the scripts of its page of results.
//
//   node scripts/search_book.js build/docs "sampling weights"     prints the first results
//   node scripts/search_book.js build/docs docs/searches.txt      checks every line of the file
//
// A line is "query -> page#section": one of the first three results must lead there. Without a
// section any place on the page will do; "a | b" names two that answer it.
"use strict";
const fs = require("fs"), path = require("path"), vm = require("vm");

const [book, asked] = process.argv.slice(2);
const context = vm.createContext({
  document: { getElementById: () => null, addEventListener() {}, readyState: "loading" },
  localStorage: { setItem() {} },
  SPHINX_HIGHLIGHT_ENABLED: false,
  _: (text) => text,
});
vm.runInContext("var window = globalThis", context);
const page = fs.readFileSync(path.join(book, "search.html"), "utf8");
for (const [, script] of page.matchAll(/<script[^>]*src="([^"?]+)/g))
  if (/(sections|searchtools|language_data|searchindex)\.js$/.test(script)) {
    const code = fs.readFileSync(path.join(book, script), "utf8");
    vm.runInContext(code.replace("_ready(Search.init);", ""), context);
  }

function results(query) {
  context.query = query;
  const found = vm.runInContext("Search._performSearch(...Search._parseQuery(query))", context);
  return found.reverse().map(([page, title, anchor, , score]) => ({ to: page + anchor, title, score }));
}

if (!fs.existsSync(asked)) {
  for (const { to, title, score } of results(asked).slice(0, 8))
    console.log(`${score.toFixed(1).padStart(6)}  ${title}  (${to})`);
} else {
  const lines = fs.readFileSync(asked, "utf8").split("\n").filter((line) => line.includes(" -> "));
  let lost = 0;
  for (const line of lines) {
    const [query, answers] = line.split(" -> ");
    const first = results(query.trim()).slice(0, 3).map(({ to }) => to);
    const leads = (to, answer) => to === answer || to.startsWith(answer + "#");
    if (answers.split(" | ").some((answer) => first.some((to) => leads(to, answer.trim())))) continue;
    lost += 1;
    console.error(`${query.trim()}: not ${answers.trim()}, but ${first.join(", ") || "nothing"}`);
  }
  console.log(`${lines.length - lost} of ${lines.length} searches lead to their answer`);
  process.exit(lost ? 1 : 0);
}
