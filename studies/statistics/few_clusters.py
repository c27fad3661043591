"""How often 95% intervals cover the truth where rows come from a few clusters.

X -> Y -> Z, all binary; clusters have effects of their own on X and Y, normal on the logit scale
with the intra-cluster correlation given. Y and Z go missing by X. Data set k comes from the
seed [seed, k]; the truth is that of a million rows of 4,000 clusters.

    python -m studies.statistics.few_clusters direct-mar 150 12 25 0.1 5
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pandas as pd

import lacunet as lc

NETWORK = lc.Network({name: ["0", "1"] for name in "XYZ"}, {"Y": ["X"], "Z": ["Y"]})
ANSWERS: list[tuple[str, dict[str, str]]] = [
    ("Y", {}),
    ("Z", {}),
    ("Y", {"Z": "1"}),
    ("X", {"Z": "1"}),
]
EFFECTS = "YZ"  # of X


def drawn(rng: np.random.Generator, clusters: int, each: int, correlation: float) -> pd.DataFrame:
    """Complete rows of some clusters."""
    spread = np.sqrt(correlation / (1 - correlation) * np.pi**2 / 3)
    parts = []
    for cluster in range(clusters):
        on_x, on_y = rng.normal(0, spread, 2)
        x = (rng.random(each) < 1 / (1 + np.exp(0.4 - on_x * 0.7))).astype(int)
        y = (rng.random(each) < 1 / (1 + np.exp(0.8 - 0.9 * x - on_y))).astype(int)
        z = (rng.random(each) < np.where(y == 1, 0.7, 0.25)).astype(int)
        parts.append(pd.DataFrame({"X": x, "Y": y, "Z": z, "cluster": cluster}))
    return pd.concat(parts, ignore_index=True)


def hidden(rows: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """The rows with Y and Z missing by X."""
    rows = rows.astype({"Y": "Int64", "Z": "Int64"})
    for name in ("Y", "Z"):
        rows.loc[rng.random(len(rows)) < np.where(rows["X"] == 1, 0.4, 0.15), name] = pd.NA
    return rows


def main() -> None:
    """Print the coverage of entries, of answers and of effects."""
    method, *numbers, correlation, seed = sys.argv[1:]
    sets, clusters, each = map(int, numbers)
    warnings.simplefilter("ignore")
    everyone = drawn(np.random.default_rng(99), 4000, 250, float(correlation))
    truth = lc.learn(NETWORK, everyone, "direct-mcar", pseudo_counts=0.0).network
    covered = []
    for index in range(sets):
        rng = np.random.default_rng([int(seed), index])
        rows = hidden(drawn(rng, clusters, each, float(correlation)), rng)
        result = lc.learn(NETWORK, lc.Data(rows, cluster="cluster"), method, intervals=True)
        own: list[bool] = []
        for name in NETWORK.variables:
            low, high = np.moveaxis(result.interval(name)[..., 1, :], -1, 0)
            true = truth.cpt(name).table[..., 1]
            own += np.ravel((low <= true) & (true <= high)).tolist()
        for target, evidence in ANSWERS:
            low, high = result.query(target, evidence).interval[1]
            own.append(low <= np.asarray(truth.query(target, evidence))[1] <= high)
        for target in EFFECTS:
            _, low, high = result.effect(target, do="X").contrasts[0].difference
            true = truth.effect(target, do="X").contrasts[0].difference.value
            own.append(low <= true <= high)
        covered.append(own)
    shares = np.mean(covered, axis=0)
    for what, part in (("entries", shares[:5]), ("answers", shares[5:9]), ("effects", shares[9:])):
        print(f"{method}, {clusters} clusters of {each}, {what}: {part.mean():.3f} {part.round(3)}")


if __name__ == "__main__":
    main()
