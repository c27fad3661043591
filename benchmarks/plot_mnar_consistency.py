"""Draw benchmarks/mnar_consistency.csv: error against rows, one panel a graph.

python benchmarks/plot_mnar_consistency.py docs/mnar-consistency.svg
"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from pathlib import Path

import matplotlib.pyplot as plt

plt.switch_backend("svg")
plt.rcParams["svg.hashsalt"] = "lacunet"

STYLE = {"mgraph": "o-", "em": "s--", "direct-mcar": "^:"}
errors: dict[str, dict[str, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
with open(Path(__file__).with_name("mnar_consistency.csv"), newline="") as file:
    for row in csv.DictReader(file):
        errors[row["graph"]][row["method"]][int(row["rows"])] = float(row["error"])

figure, panels = plt.subplots(1, len(errors), figsize=(16, 3.4), sharey=True)
for panel, (graph, methods) in zip(panels, errors.items(), strict=True):
    for method, curve in methods.items():
        panel.loglog(list(curve), list(curve.values()), STYLE[method], label=method)
    first = next(iter(methods["mgraph"].items()))
    guide = {rows: first[1] * (first[0] / rows) ** 0.5 for rows in methods["mgraph"]}
    panel.loglog(list(guide), list(guide.values()), color="0.7", lw=1, label="$N^{-1/2}$")
    panel.set_title(graph, fontsize=9)
    panel.set_xlabel("rows")
panels[0].set_ylabel("mean error of a CPT row")
panels[-1].legend(fontsize=8)
figure.tight_layout()
figure.savefig(sys.argv[1], metadata={"Date": None})
