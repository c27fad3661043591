"""The pictures of docs/tutorials/panels.md.

    python scripts/panel_picture.py

One is of Muscatine: the tied transition as a table and as logistic. The other has the errors of
four estimates in 100 trials each; the trial is that of the page itself.
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
    """Draw both."""
    warnings.simplefilter("ignore", lc.LacunetWarning)
    draw_muscatine()
    draw_dropout()


def draw_muscatine() -> None:
    """Draw who is obese two years later, by age, sex and obesity now."""
    waves = {"Obese": ["Obese1", "Obese2", "Obese3"]}
    data = lc.Data(lc.example_data("muscatine"), counts="Count", waves=waves)
    template = "Sex, Age -> Obese[t]; Obese[t-1] -> Obese[t]"
    table = lc.learn(template, data, pseudo_counts=0, intervals=True)
    logistic = lc.learn(template, data, shapes={"Obese": "logistic"}, intervals=True)
    low, high = np.moveaxis(table.interval("Obese[2]")[..., 1, :], -1, 0)
    learned = table.cpt("Obese[2]").table[..., 1]
    lines = logistic.cpt("Obese[2]").table[..., 1]
    ages = np.arange(len(table.network.states("Age")))
    figure, axes = plt.subplots(1, 2, figsize=(8, 2.6), layout="constrained")
    for now, axis in enumerate(axes):
        for sex, color in enumerate(["#b34700", "#1b6ca8"]):
            name = {"F": "girls", "M": "boys"}[table.network.states("Sex")[sex]]
            at = ages + 0.12 * (sex - 0.5)
            axis.vlines(at, low[sex, :, now], high[sex, :, now], color=color, linewidth=1)
            axis.plot(at, learned[sex, :, now], "o", color=color, markersize=4)
            axis.plot(ages, lines[sex, :, now], color=color, label=name)
        axis.set_title(("not obese now", "obese now")[now], fontsize=10)
        axis.set_xticks(ages, table.network.states("Age"), fontsize=9)
        axis.set_xlabel("age in 1977", fontsize=9)
        axis.spines[["top", "right"]].set_visible(False)
        axis.tick_params(labelsize=9)
    axes[0].set_ylabel("P(obese two years later)", fontsize=9)
    axes[1].legend(frameon=False, fontsize=9, loc="upper right")
    figure.savefig(DOCS / "pictures" / "panel-muscatine.svg", metadata={"Date": None})


def draw_dropout() -> None:
    """Draw the errors of 100 trials for each kind of dropout."""
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
