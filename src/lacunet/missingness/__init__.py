"""Missingness graphs: categories, separators, recoverability, tests.

`graph` has the noun. Below it: `graph_text` (how one is written), `separation/` (what it
separates), `formulas/` (what is estimated, as values), `recover/` (is there an estimand?),
`refute/` (is there a proof that there is none?), `identified/` (and for the states at hand?),
`verdict_rows` (the rows that it takes), `population` (laws from elsewhere), `verdict` (the answer,
and the estimate). On top of it: `implications` (what data can refute, tested by `independence/`),
`mechanism_cpts` (graphs with their parameters), `learned/` (graphs from data), `augmented_network`
(mechanisms as nodes of a network), `confounding` (what hidden causes leave of a network's answers).
`limits` has how far the searches for estimands and for proofs go.
"""
