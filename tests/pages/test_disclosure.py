"""An attack on pages with ``min_count``: work the withheld counts out from all that is told.

The attacker has the page and nothing else, knows the network and how lacunet rounds, and solves
for the table of the data: one unknown for each combination of states, missing included, tied by
everything on the page (integer programming, HiGHS). A count is protected if at least half of the
values below the threshold are possible.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, milp
from standins import SOURCE, carried, page_with, unpacked

import lacunet as lc
from lacunet.data.read import read_table
from lacunet.data.table import EncodedTable
from lacunet.model.network import Network
from lacunet.pages.disclosure import STEPS, Disclosure
from lacunet.report.diagnosed import page as diagnosed_page
from lacunet.statistics.missing import missing_summary

Cells = np.ndarray  # zeros and ones: which combinations a count adds up


@dataclass
class Attack:
    """The attacker's equations over the counts of all combinations of states."""

    network: Network
    min_count: int
    rows: int
    tied: list[tuple[np.ndarray, float, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        sizes = [self.network.cardinality(v) + 1 for v in self.network.variables]
        self.combinations = list(product(*map(range, sizes)))
        self.tie(np.ones(len(self.combinations)), self.rows, self.rows)

    def tie(self, weights: np.ndarray, low: float, high: float) -> None:
        """What the attacker learns: a weighted sum of counts lies in a range."""
        self.tied.append((weights, low, high))

    def where(self, **states: int | str) -> Cells:
        """The combinations in which variables have these states ("missing" and "shown" too)."""
        found = np.ones(len(self.combinations))
        for name, state in states.items():
            at, size = self.network.variables.index(name), self.network.cardinality(name)
            for k, one in enumerate(self.combinations):
                is_there = {"missing": one[at] == size, "shown": one[at] < size}
                found[k] *= is_there.get(str(state), one[at] == state)
        return found

    def told_count(self, cells: Cells, told: float | None) -> None:
        """A count of rows as the page tells it: rounded, or too small, or zero."""
        k = self.min_count
        if told is None:
            self.tie(cells, 1, k - 1)
        elif told == 0:
            self.tie(cells, 0, 0)
        elif told == self.rows:
            self.tie(cells, self.rows - k + 1, self.rows)
        else:
            self.tie(cells, max(told - k / 2, k), told + k / 2)

    def told_ratio(self, part: Cells, whole: Cells, told: float, step: float) -> None:
        """A probability told in steps: (part + 1) / (whole + 2), with two states and prior 2."""
        low, high = told - step / 2 - 6e-4, told + step / 2 + 6e-4
        self.tie(part - low * whole, 2 * low - 1, np.inf)
        self.tie(part - high * whole, -np.inf, 2 * high - 1)

    def read(self, text: str, table: EncodedTable) -> None:
        """Take all of a learned page with two-state variables."""
        data, names = carried(text), self.network.variables
        assert set(data["variables"][0]) == {
            *("name", "states", "parents", "missing", "unsupported", "configurations"),
        }
        assert not data["has_rows"]
        assert "<svg" not in text[: text.index('id="page-data"')]
        for fact in data["variables"]:
            gone = fact["missing"]
            self.told_count(
                self.where(**{fact["name"]: "missing"}), gone and round(gone * self.rows)
            )
        for name, cpt, bare in zip(names, *unpacked(data, self.network), strict=True):
            self.read_cpt(name, cpt, bare, table)

    def read_cpt(self, name: str, cpt: np.ndarray, bare: np.ndarray, table: EncodedTable) -> None:
        """Probabilities, and how many rows they rest on: by the step, which is a present.

        ``table`` is looked at only to know the step that was used.
        """
        parents = self.network.parents(name)
        for states in np.ndindex(*bare.shape):
            given = dict(zip(parents, states, strict=True))
            cells = [self.where(**given, **{name: k}) for k in range(cpt.shape[-1])]
            whole = self.where(**given, **{name: "shown"})
            if bare[states]:
                self.tie(whole, 0, 0)
                continue
            if np.isnan(cpt[states]).any():
                self.tie(whole, 1, self.rows)  # withheld: some cell is small
                continue
            held = np.all([table.columns[v] == s for v, s in given.items()], axis=0)
            rows = int((held & (table.columns[name] < 2)).sum())
            step = float(STEPS[np.searchsorted(STEPS, self.min_count / rows - 1e-12)])
            finer = max((one for one in STEPS if one < step), default=0.0)
            self.tie(
                whole, self.min_count / step - 1e-6, self.min_count / finer if finer else np.inf
            )
            for part, told in zip(cells, cpt[states], strict=True):
                self.told_ratio(part, whole, float(told), step)

    def patterns(self) -> Iterator[tuple[str, ...]]:
        names = self.network.variables
        for size in range(len(names) + 1):
            yield from (tuple(sorted(p)) for p in combinations(names, size))

    def pattern(self, missing: Sequence[str]) -> Cells:
        kinds = {v: "missing" if v in missing else "shown" for v in self.network.variables}
        return self.where(**kinds)

    def range_of(self, cells: Cells) -> tuple[int, int]:
        """The lowest and the highest value that a count may have, by all that is known."""
        weights, low, high = zip(*self.tied, strict=True)
        known = LinearConstraint(np.array(weights), np.array(low) - 1e-6, np.array(high) + 1e-6)
        ends = []
        for sign in (1, -1):
            found = milp(sign * cells, constraints=known, integrality=np.ones(len(cells)))
            assert found.success, found.message  # the truth itself fits what is told
            ends.append(round(sign * found.fun))
        return ends[0], ends[1]


def small_counts(attack: Attack, table: EncodedTable) -> dict[str, tuple[Cells, int]]:
    """Every count from 1 to below the threshold that the page could have told."""
    network = attack.network
    codes = np.stack([table.columns[v] for v in network.variables], 1)
    counts = np.zeros(len(attack.combinations))
    place = {combination: k for k, combination in enumerate(attack.combinations)}
    for row in codes.tolist():
        counts[place[tuple(row)]] += 1
    asked: dict[str, Cells] = {}
    for name in network.variables:
        asked[f"{name} missing"] = attack.where(**{name: "missing"})
        asked[f"{name} shown"] = attack.where(**{name: "shown"})
        family = network.family(name)
        for states in np.ndindex(*network.shape(family)):
            asked[f"{family} {states}"] = attack.where(**dict(zip(family, states, strict=True)))
    for pattern in attack.patterns():
        asked[f"pattern {pattern}"] = attack.pattern(pattern)
        asked[f"not pattern {pattern}"] = 1 - attack.pattern(pattern)
    for one, two in combinations(network.variables, 2):
        asked[f"{one}, {two} missing"] = attack.where(**{one: "missing", two: "missing"})
    found = {what: (cells, int(cells @ counts)) for what, cells in asked.items()}
    return {w: both for w, both in found.items() if 0 < both[1] < attack.min_count}


CHAIN = Network(
    {name: ["a", "b"] for name in "XYZ"},
    {"Y": ["X"], "Z": ["Y"]},
    {"X": [0.3, 0.7], "Y": [[0.95, 0.05], [0.4, 0.6]], "Z": [[0.8, 0.2], [0.1, 0.9]]},
)


def drawn_table(seed: int, rows: int) -> EncodedTable:
    missing = lc.MCAR(share=0.67, rate=0.04)
    return lc.simulate(CHAIN, rows, missing, rng=seed).table


@pytest.mark.parametrize(("seed", "rows", "min_count"), [(0, 200, 10), (1, 400, 10), (2, 150, 6)])
def test_withheld_counts_cannot_be_worked_out_from_a_page(
    seed: int, rows: int, min_count: int
) -> None:
    shares = possible_shares(seed, rows, min_count)
    assert len(shares) >= 3
    assert min(shares) >= 0.5


@pytest.mark.slow
def test_withheld_counts_cannot_be_worked_out_from_many_pages() -> None:
    shares = [
        share
        for seed in range(60)
        for share in possible_shares(seed, 80 + 60 * (seed % 7), 5 + seed % 8)
    ]
    assert len(shares) > 300
    assert min(shares) >= 0.5
    assert np.mean(np.array(shares) == 1) > 0.95


def possible_shares(seed: int, rows: int, min_count: int) -> list[float]:
    """Of each small count, the share of the values below the threshold that it may have."""
    table = drawn_table(seed, rows)
    result = lc.learn(CHAIN, table, method="direct-mcar", prior=2)
    attack = Attack(CHAIN, min_count, rows)
    attack.read(page_with(result, table, min_count=min_count), table)
    shares = []
    for what, (cells, count) in small_counts(attack, table).items():
        low, high = attack.range_of(cells)
        assert low <= count <= high, what
        possible = min(high, min_count - 1) - max(low, 1) + 1
        shares.append(possible / (min_count - 1))
    return shares


def test_the_attack_works_out_counts_that_are_not_protected() -> None:
    # The same attack on what the page would tell if only small counts themselves were withheld.
    table = drawn_table(0, 200)
    attack = Attack(CHAIN, 10, 200)
    codes = {v: table.columns[v] for v in CHAIN.variables}
    for name in CHAIN.variables:
        gone = int((codes[name] == 2).sum())
        if gone >= 10 and 200 - gone >= 10:
            attack.tie(attack.where(**{name: "missing"}), gone, gone)
        family = CHAIN.family(name)
        for states in np.ndindex(*CHAIN.shape(family)):
            held = np.all([codes[v] == s for v, s in zip(family, states, strict=True)], axis=0)
            if not 0 < (number := int(held.sum())) < 10:
                cells = attack.where(**dict(zip(family, states, strict=True)))
                attack.tie(cells, number, number)
    complete = int(np.all([codes[v] < 2 for v in CHAIN.variables], axis=0).sum())
    attack.tie(attack.pattern(()), complete, complete)
    found = [attack.range_of(cells) for cells, _ in small_counts(attack, table).values()]
    assert any(low == high for low, high in found)


def test_a_small_complement_is_not_told() -> None:
    # 996 of 1,000 rows are complete: neither the 996 nor a share of 99.6% may be read anywhere.
    network = Network({"A": ["0", "1"], "B": ["0", "1"]}, {"B": ["A"]})
    rows = {"A": ["0", "1"] * 500, "B": [*(["0", "0", "1", "1"] * 249), *[None] * 4]}
    result = lc.learn(network, rows, method="direct-mcar")
    table = read_table(rows, network)
    summary = missing_summary(table, network.families)
    found = lc.diagnose(network, rows)
    for text in (
        page_with(result, table, min_count=10),
        diagnosed_page(found, summary, SOURCE, 10),
    ):
        body = re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
        assert "996" not in body
        assert "99.6" not in body
        assert "fewer than 10 rows" in body
        assert not re.search(
            r"\b(996|0\.996|4|0\.004)\b",
            str(
                carried(text)["variables"]
                if "variables" in carried(text)
                else carried(text)["missing"]
            ),
        )
    assert "99.6" in page_with(result, table)


def test_probabilities_are_told_in_steps_of_the_threshold() -> None:
    told = Disclosure(10, 1_000)
    values = told.probability(np.array([[0.237, 0.763]]), np.array([100.0]))
    np.testing.assert_allclose(values, [[0.2, 0.8]])
    ends = told.interval(np.array([[[0.21, 0.29]]]), np.array([100.0]))
    np.testing.assert_allclose(ends, [[[0.2, 0.3]]])


def test_pages_with_a_threshold_name_no_hash_of_the_data() -> None:
    table = drawn_table(3, 200)
    result = lc.learn(CHAIN, table, method="direct-mcar")
    assert "ab12" in page_with(result, table)
    assert "ab12" not in page_with(result, table, min_count=5)
    found = lc.diagnose(CHAIN, table)
    limited = diagnosed_page(found, missing_summary(table, []), SOURCE, 5)
    assert "ab12" not in limited
    assert carried(limited)["min_count"] == 5
