"""Write posteriors.json.gz: what pyAgrum's exact inference says of four published networks.

Run with pyagrum (3.3.1 when the file was made) and lacunet in one environment. Kept of each
posterior: variable and probabilities, in the network's order of states.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np

from lacunet.network.catalogue import example
from lacunet.network.network import Network

NAMES = ("alarm", "insurance", "hailfinder", "win95pts")
EVIDENCE_SIZES = (0, 1, 3, 6)


def converted(network: Network) -> Any:
    import pyagrum

    other = pyagrum.BayesNet()
    for name in network.variables:
        other.add(pyagrum.LabelizedVariable(name, name, list(network.states(name))))
    for name in network.variables:
        for parent in network.parents(name):
            other.addArc(parent, name)
    for name in network.variables:
        axes = [network.family(name).index(axis) for axis in reversed(other.cpt(name).names)]
        other.cpt(name).fillWith(network.cpt(name).table.transpose(axes).ravel().tolist())
    return other


def likely_evidence(network: Network, size: int, rng: np.random.Generator) -> dict[str, int]:
    """States of random variables in one configuration drawn from the network."""
    codes: dict[str, int] = {}
    for name in network.order:
        row = network.cpt(name).table[tuple(codes[parent] for parent in network.parents(name))]
        codes[name] = int(rng.choice(len(row), p=row / row.sum()))
    return {
        name: codes[name] for name in sorted(rng.choice(network.variables, size, replace=False))
    }


def cases(name: str) -> list[dict[str, object]]:
    import pyagrum

    network = example(name)
    other = converted(network)
    rng = np.random.default_rng(11)
    found: list[dict[str, object]] = []
    for size in EVIDENCE_SIZES:
        evidence = likely_evidence(network, size, rng)
        engine = pyagrum.LazyPropagation(other)
        engine.addAllTargets()
        engine.setEvidence(evidence)
        engine.makeInference()
        found.append(
            {
                "network": name,
                "evidence": {v: network.states(v)[code] for v, code in evidence.items()},
                "posteriors": {v: engine.posterior(v).tolist() for v in network.variables},
            }
        )
    return found


if __name__ == "__main__":
    text = json.dumps([case for name in NAMES for case in cases(name)])
    target = Path(__file__).with_name("posteriors.json.gz")
    target.write_bytes(gzip.compress(text.encode(), mtime=0))
