"""What is counted, and by whom; all of it adds up.

`distinct` packs configurations into keys, `counts` are the result, `count` the in-memory engine;
`groups` are rows that agree on some variables, `family_sums` what they say of a family,
`distinct_rows` the rows over a few variables, `folds` divides rows between samples, `units` are
those of a survey, `missing_values` sums up what is missing; `em_problems/` compiles rows for EM.
`gather` makes what a plan needs of all of these: `Needs` in, `Statistics` out. `observations` are
the rows to gather from, wherever they are: held, read in passes (`passes`, `streaming`), or on
`spark`. `open_rows` opens a network and its data together: the one door of all that learns, counts
or asks.
"""
