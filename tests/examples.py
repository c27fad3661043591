"""Tiny networks and tables that several tests share."""

from __future__ import annotations

from itertools import product

import numpy as np

from lacunet.data.table import EncodedTable
from lacunet.inference.sampling import sample_codes
from lacunet.network.catalogue import example
from lacunet.network.network import Network

# Patients of a screening test; verified are mostly those with symptoms and a positive test.
SCREENING = example("screening")
NOT_VERIFIED = {"Disease": [[0.95, 0.2], [0.5, 0.05]]}  # given Symptoms, Test

RAIN = Network(
    {"Rain": ["no", "yes"], "Sprinkler": ["off", "on"], "Wet": ["no", "yes"]},
    {"Sprinkler": ["Rain"], "Wet": ["Rain", "Sprinkler"]},
    {
        "Rain": [0.8, 0.2],
        "Sprinkler": [[0.6, 0.4], [0.99, 0.01]],
        "Wet": [[[1.0, 0.0], [0.1, 0.9]], [[0.2, 0.8], [0.01, 0.99]]],
    },
)

# The network of the paper's appendix example: X and Y partially observed, W and Z always seen.
APPENDIX = Network(
    {name: ["0", "1"] for name in "XYWZ"},
    {"X": ["W", "Z"], "Y": ["X", "Z"]},
)


def appendix_rows() -> list[tuple[str | None, ...]]:
    """The 36 rows over X, Y, W, Z of the paper's Table 1, in its order."""
    both = list(product("01", "01", "01", "01"))
    x_only = [(x, None, w, z) for x, w, z in product("01", "01", "01")]
    y_only = [(None, y, w, z) for y, w, z in product("01", "01", "01")]
    neither = [(None, None, w, z) for w, z in product("01", "01")]
    return [*both, *x_only, *y_only, *neither]


def appendix_table() -> EncodedTable:
    """The paper's Table 1, encoded."""
    columns = {
        name: np.array([2 if cell is None else int(cell) for cell in column], dtype=np.uint8)
        for name, column in zip("XYWZ", zip(*appendix_rows(), strict=True), strict=True)
    }
    return EncodedTable(dict.fromkeys("XYWZ", 2), columns)


# H is the common cause of three alike variables.
TWINS = Network({name: ["0", "1"] for name in "HABC"}, {name: ["H"] for name in "ABC"}).with_tables(
    {"H": [0.5, 0.5]} | {name: [[0.9, 0.1], [0.1, 0.9]] for name in "ABC"}
)


def twins_with(shown: list[int]) -> EncodedTable:
    """Rows that show H only where A, B, C are 0, 1, 0, and there in this order."""
    drawn = sample_codes(TWINS, 400, np.random.default_rng(0)).columns
    alike = (drawn["A"] == 0) & (drawn["B"] == 1) & (drawn["C"] == 0)
    columns = {**drawn, "H": np.full(400, 2, np.uint8)}
    columns["H"][np.flatnonzero(alike)[: len(shown)]] = shown
    return EncodedTable(dict.fromkeys("HABC", 2), columns)
