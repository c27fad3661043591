"""How often 95% intervals of surveys cover the truth, with clusters told and not.

Thirty clusters in ten strata, of 20 to 60 rows each. Whether someone smokes and whether they are
ill go together within clusters: the effects of clusters are drawn anew for each data set, on the
scale of a normal variable that is cut, with the intra-cluster correlation given. Rows have
weights; of those who are ill or not, 20% do not say. The truth is that of the population:
P(Smokes), P(Ill | Smokes).

    python -m studies.statistics.design_coverage [--sets 300] [--seed 1]
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.stats import norm

import lacunet as lc

NETWORK = lc.Network({"Smokes": ["0", "1"], "Ill": ["0", "1"]}, {"Ill": ["Smokes"]})
SMOKES, ILL = 0.3, (0.25, 0.5)
STRATA, EACH = 10, 3
DESIGN = {"strata": "Stratum", "cluster": "Cluster"}


def drawn(rng: np.random.Generator, correlation: float) -> dict[str, np.ndarray]:
    cluster = np.repeat(np.arange(STRATA * EACH), rng.integers(20, 61, STRATA * EACH))
    rows = len(cluster)

    def uniform() -> np.ndarray:
        """Of each row, from zero to one, alike within clusters."""
        shared = rng.normal(size=STRATA * EACH)[cluster]
        own = rng.normal(size=rows)
        return np.asarray(norm.cdf(np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own))

    smokes = (uniform() < SMOKES).astype(int)
    ill = (uniform() < np.array(ILL)[smokes]).astype(int).astype(object)
    ill[rng.random(rows) < 0.2] = None
    return {
        "Stratum": cluster // EACH,
        "Cluster": cluster,
        "Weight": rng.lognormal(0, 0.4, rows),
        "Smokes": smokes,
        "Ill": ill,
    }


def covers(rows: dict[str, np.ndarray], method: str, design: dict[str, str]) -> list[bool]:
    used = {name: own for name, own in rows.items() if name in (*NETWORK.variables, "Weight")}
    used |= {column: rows[column] for column in design.values()}
    data = lc.Data(used, weight="Weight", **design)
    result = lc.learn(NETWORK, data, method, pseudo_counts=0, intervals=True)
    bounds = [result.interval("Smokes")[1], *result.interval("Ill")[:, 1]]
    truths = [SMOKES, *ILL]
    return [bool(low <= truth <= high) for (low, high), truth in zip(bounds, truths, strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print("| correlation | method | told | P(Smokes) | P(Ill given no) | P(Ill given yes) | all |")
    print("|---|---|---|---|---|---|---|")
    for correlation in (0.05, 0.2):
        for method, design in (("direct-mcar", {}), ("direct-mcar", DESIGN), ("em", DESIGN)):
            found = np.array(
                [
                    covers(
                        drawn(np.random.default_rng([options.seed, at]), correlation),
                        method,
                        design,
                    )
                    for at in range(options.sets)
                ]
            )
            told = "clusters in strata" if design else "weights alone"
            shares = " | ".join(f"{share:.3f}" for share in [*found.mean(axis=0), found.mean()])
            print(f"| {correlation} | {method} | {told} | {shares} |", flush=True)


if __name__ == "__main__":
    main()
