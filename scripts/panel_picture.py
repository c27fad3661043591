"""The picture of dropout in docs/tutorials/panels.md: errors of four estimates in 100 trials each.

    python scripts/panel_picture.py

The trial is that of the page itself.
"""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import lacunet as lc

DOCS = Path(__file__).parent.parent / "docs"
EDGES = "Arm -> Ill[t]; Ill[t-1] -> Ill[t]"
GRAPH = "Ill[t] -> R[Ill[t]]; R[Ill[t]] <= R[Ill[t-1]]"
TRIALS = 100
NAMES = ("completers", "last value carried forward", "lacunet, missing at random", "lacunet, graph")


def page_function() -> Any:
    """The function of the page that draws a trial."""
    text = (DOCS / "tutorials" / "panels.md").read_text(encoding="utf-8")
    block = next(b for b in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "def trial" in b)
    names: dict[str, Any] = {}
    exec(block.partition("\nrows, truth =")[0], names)
    return names["trial"]


def estimates(rows: dict[str, list[Any]]) -> list[float]:
    """How many are ill at the last visit under the drug, in four ways."""
    last: dict[int, tuple[int, str]] = {}
    for patient, visit, arm, ill in zip(*rows.values(), strict=True):
        if arm == "drug":
            last[patient] = visit, ill
    completers = [ill == "yes" for visit, ill in last.values() if visit == 4]
    carried = [ill == "yes" for _, ill in last.values()]
    data = lc.Data(rows, unit="patient", time="visit")
    asked = "Ill[4]=yes | Arm=drug"
    at_random = lc.learn(EDGES, data, "em").query(asked)["yes"]
    by_graph = lc.learn(EDGES, data, "em", missingness=GRAPH).query(asked)["yes"]
    return [float(np.mean(completers)), float(np.mean(carried)), at_random, by_graph]


def main() -> None:
    """Draw the errors of 100 trials for each kind of dropout."""
    warnings.simplefilter("ignore", lc.LacunetWarning)
    trial = page_function()
    figure, axes = plt.subplots(1, 2, figsize=(8, 2.6), sharey=True, layout="constrained")
    titles = {
        "last visit": "the ill leave, by the last visit",
        "this visit": "the ill leave, by the one they miss",
    }
    for axis, (leaves_by, title) in zip(axes, titles.items(), strict=True):
        errors = []
        for seed in range(TRIALS):
            rows, truth = trial(seed, leaves_by)
            errors.append([value - truth for value in estimates(rows)])
        low, middle, high = np.quantile(errors, [0.025, 0.5, 0.975], axis=0)
        places = np.arange(len(NAMES))[::-1]
        axis.hlines(places, low, high, color="#5b7083", linewidth=2)
        axis.plot(middle, places, "o", color="#1b6ca8")
        axis.axvline(0, color="#999999", linewidth=1, linestyle="dashed")
        axis.set_title(title, fontsize=10)
        axis.set_xlabel("estimate less truth", fontsize=9)
        axis.set_yticks(places, NAMES, fontsize=9)
        axis.spines[["top", "right", "left"]].set_visible(False)
        axis.tick_params(left=False, labelsize=9)
        print(title, dict(zip(NAMES, middle.round(3).tolist(), strict=True)))
    figure.savefig(DOCS / "pictures" / "panel-dropout.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
