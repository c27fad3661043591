"""Missingness graphs: categories, separators, recoverability, tests.

`graph` has the public class. Below it: `text` (how a graph is written), `separation/` (what it
separates), `recover/` (is there an estimand?), `refute/` (is there a proof that there is none?),
`identified/` (and for the states at hand?), `gathered` (the rows that it takes), `population`
(laws from elsewhere), `verdict` (the answer, and the estimate). On top of it: `implications` (what
data can refute, tested by `independence`), `mechanisms` and `fitted` (graphs with their
parameters), `learn` (graphs from any data), `augmented` (mechanisms as nodes of a network),
`confounding` (what hidden causes leave of a network's answers). `limits` has how far the searches
for estimands and for proofs go.
"""
