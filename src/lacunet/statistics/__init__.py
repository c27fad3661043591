"""What is counted, and by whom; all of it adds up.

`distinct` packs configurations into keys, `counts` are the result, `count` the in-memory engine;
`groups` are rows that agree on some variables, `rows` distinct rows, `folds` divides rows
between samples, `missing` sums up what is missing; `problems/` compiles rows for EM. `gather` makes
what a plan needs of all of these: `Needs` in, `Statistics` out. `observations` are the rows to
gather from, wherever they are: held, `streamed` (in `passes`), on `spark`,
or counted before and `saved`.
"""
