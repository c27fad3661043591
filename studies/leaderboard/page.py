"""The results as a page."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from math import inf, isfinite
from statistics import median

import numpy as np
from scipy.stats import rankdata

import lacunet as lc
from studies.leaderboard.cases import NETWORKS, cells_of
from studies.leaderboard.run import Line

AVAILABLE = sum(1 for _ in NETWORKS.glob("*.json.gz"))
ENOUGH = 0.9  # the share of cases that a learner must finish to be ranked
REFERENCE = "lacunet default (auto, learned prior)"
INTRODUCTION = """# Leaderboard

Published networks (bnRep 0.0.2, in `studies/leaderboard/networks`), rows drawn from them, values
hidden, and every learner on the same rows. The prior is one pseudo-count per cell for all but
`lacunet default`, which learns it (lacunet's closed forms add it to what their shares make of all
rows, the others to the rows that they count). Methods that need to know why values are missing
(`informed-*`, `mgraph`) do not take part, and neither does pgmpy's EM: it drops rows with a
missing value.

- **MCAR**: half of the variables lose 30% of their values, completely at random.
- **MAR**: half of the variables lose values with probabilities that depend on variables that are
  always observed, drawn from Beta(1, 0.5).

*KL* is the Kullback-Leibler divergence from the true network, the median over cases that all
ranked learners finished; *rank* is the mean place among them by KL (1 is closest; equals share a
place). Learners that finished less than nine tenths of the cases are not ranked.
*To default* is the median of a learner's KL divided by that of `lacunet default`, over all cases
that both finished. *Seconds* are processor time for learning,
the median, with intervals where a learner has them. *Coverage* is the share of CPT entries whose
95% interval contains the truth, entries of 0 and 1 left out. *n* is the number of cases that a
learner finished within {limit} s of processor time, the same limit for all, of those that it was
given: networks with few CPT cells come first, and a learner that often goes to the limit may not
have been run on the larger ones.
"""
ADDING = """
## Add a learner

One file in `studies/leaderboard/entries`, with a `NAME` and a function `learn(network, rows)`;
nothing else changes.
This is `uniform.py`, whole:

<!-- not run: a file of the repository; tests/studies/test_leaderboard.py runs it -->
```python
{toy}```

<!-- not run: takes minutes to hours; goes on where it stopped -->
```console
$ python -m studies.leaderboard run studies/leaderboard/results.csv --seconds 3600
$ python -m studies.leaderboard page studies/leaderboard/results.csv
```
"""


def page(lines: Sequence[Line], toy: str, limit: int = 10) -> str:
    """Tables, one for each setting and number of rows."""
    parts = [INTRODUCTION.format(limit=limit)]
    for setting, rows in sorted({(line.setting, line.rows) for line in lines}):
        chosen = [line for line in lines if (line.setting, line.rows) == (setting, rows)]
        parts.append(_section(f"{setting}, {rows:,} rows", chosen))
    networks = {line.network for line in lines}
    largest = max(cells_of(name) for name in networks)
    parts.append(
        f"\n## What was not finished\n\n{_unfinished(lines)}\n"
        f"Measured with lacunet {lc.__version__} on {len(networks)} of {AVAILABLE} networks, with "
        f"{min(cells_of(name) for name in networks)} to {largest:,} CPT cells, one draw of rows "
        "each, on a machine that was busy with other work: compare times with each other only. All "
        "results are in `studies/leaderboard/results.csv`; the commands below add to them.\n"
    )
    return "".join([*parts, ADDING.format(toy=toy)])


def _unfinished(lines: Sequence[Line]) -> str:
    """Which learners ended without a network, how often, and why; and who was not given all."""
    cases = {(line.network, line.setting, line.rows, line.repetition) for line in lines}
    told = []
    for name in sorted({line.entry for line in lines}):
        own = [line for line in lines if line.entry == name]
        why = Counter(line.problem.partition(":")[0] for line in own if line.problem)
        of_all = f"given {len(own)} of {len(cases)} cases, not run on the others"
        given = of_all if len(own) < len(cases) else ""
        problems = [f"{problem} ({count})" for problem, count in why.most_common()]
        if given or problems:
            told.append(f"- {name}: {'; '.join(filter(None, [given, *problems]))}\n")
    return "".join(told) or "Every learner finished every case.\n"


def _section(title: str, lines: Sequence[Line]) -> str:
    of_case: dict[tuple[str, int], dict[str, Line]] = defaultdict(dict)
    for line in lines:
        of_case[line.network, line.repetition][line.entry] = line
    entries = {line.entry for line in lines}
    finished = Counter(line.entry for line in lines if isfinite(line.kl))
    ranked = [name for name in entries if finished[name] >= ENOUGH * len(of_case)]
    shared = [
        [case[name].kl for name in ranked]
        for case in of_case.values()
        if all(name in case and isfinite(case[name].kl) for name in ranked)
    ]
    kls = dict(zip(ranked, np.array(shared).T.tolist(), strict=True)) if shared else {}
    places = [rankdata(case) for case in shared]  # equals share the mean place
    ranks = dict(zip(ranked, np.mean(places, axis=0).tolist(), strict=True)) if shared else {}
    table = []
    for name in entries:
        own = [line for line in lines if line.entry == name]
        done = [line for line in own if not line.problem]
        intervals = sum(line.intervals for line in done)
        covered = sum(line.covered for line in done)
        ratios = [
            case[name].kl / case[REFERENCE].kl
            for case in of_case.values()
            if {name, REFERENCE} <= set(case) and isfinite(case[name].kl / case[REFERENCE].kl)
        ]
        table.append(
            (
                ranks.get(name, inf),
                name,
                f"{median(kls[name]):.4f}" if name in kls else "-",
                f"{ranks[name]:.1f}" if name in ranks else "-",
                f"{median(ratios):.2f}" if ratios else "-",
                f"{median(line.seconds for line in done):.2g}" if done else "-",
                f"{covered / intervals:.3f}" if intervals else "-",
                f"{len(done)} of {len(own)}",
            )
        )
    rows = [
        f"| {name} | {kl} | {rank} | {ratio} | {seconds} | {share} | {count} |\n"
        for _, name, kl, rank, ratio, seconds, share, count in sorted(table)
    ]
    head = "| learner | KL | rank | to default | seconds | coverage | n |\n" + "|---" * 7 + "|\n"
    head = head.replace("---", "---:").replace("---:", "---", 1)
    told = f"{len(shared)} of {len(of_case)} cases were finished by all ranked learners."
    return f"\n## {title}\n\n{told}\n\n{head}{''.join(rows)}"
