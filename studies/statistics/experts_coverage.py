"""How often 95% credible intervals hold a truth that is drawn from the prior.

The CPTs of a bundled network are the experts', and each of their rows counts as 20 rows: the CPTs
of the truth are drawn from these Dirichlet distributions, anew for each data set. Rows are drawn
from the truth, and 30% of all cells are hidden completely at random. EM learns with the same
experts. Intervals of all CPT entries that the experts do not rule out; and of answers: of every
variable, alone and given the first one's likeliest state.

    python -m studies.statistics.experts_coverage [--sets 100] [--seed 1]
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np

import lacunet as lc
from lacunet import Network

WEIGHT, HIDDEN = 20.0, 0.3
NETWORKS, SIZES = ("survey", "asia", "cancer"), (100, 300, 1_000)


def drawn_truth(experts: Network, rng: np.random.Generator) -> Network:
    """A network with CPT rows drawn from the Dirichlet distributions of the experts."""
    tables = {}
    for name in experts.variables:
        gammas = rng.standard_gamma(WEIGHT * experts.cpt(name).table)
        tables[name] = gammas / gammas.sum(axis=-1, keepdims=True)
    return experts.with_tables(tables)


def covered(experts: Network, rows: int, seed: list[int]) -> tuple[list[bool], list[bool]]:
    """Which intervals of one data set hold the truth: of entries, and of answers."""
    rng = np.random.default_rng(seed)
    truth = drawn_truth(experts, rng)
    hidden = lc.MCAR(HIDDEN)
    drawn = lc.simulate(truth, rows, hidden, rng=int(rng.integers(2**31)))
    result = lc.learn(experts, drawn.table, "em", experts=WEIGHT, intervals=True)
    entries: list[bool] = []
    for name in experts.variables:
        low, high = np.moveaxis(result.interval(name), -1, 0)
        value, is_open = truth.cpt(name).table, experts.cpt(name).table % 1 > 0
        entries += ((low <= value) & (value <= high))[is_open].tolist()
    first = experts.variables[0]
    likely = experts.states(first)[int(np.argmax(experts.cpt(first).table))]
    answers: list[bool] = []
    asked = [(name, {}) for name in experts.variables]
    asked += [(name, {first: likely}) for name in experts.variables if name != first]
    for name, evidence in asked:
        answer, exact = result.query(name, evidence), truth.query(name, evidence)
        assert answer.interval is not None
        low, high = answer.interval.T
        value = np.asarray(exact)
        answers += ((low <= value) & (value <= high)).tolist()
    return entries, answers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    warnings.simplefilter("ignore", lc.LacunetWarning)  # answers that rest on the experts alone
    print("| network | rows | entries of CPTs | answers |")
    print("|---|---:|---|---|")
    for index, name in enumerate(NETWORKS):
        experts = lc.example(name)
        for rows in SIZES:
            seeds = [[options.seed, index, rows, at] for at in range(options.sets)]
            found = [covered(experts, rows, seed) for seed in seeds]
            cells = []
            for kind in (0, 1):
                shares = np.array([np.mean(own[kind]) for own in found])
                error = shares.std(ddof=1) / np.sqrt(len(shares))
                cells.append(f"{shares.mean():.3f} ± {error:.3f}")
            print(f"| {name} | {rows:,} | {cells[0]} | {cells[1]} |", flush=True)


if __name__ == "__main__":
    main()
