"""The golden cases: data and the CPTs that the paper's authors' own program gives for them.

``direct-mcar``, ``factored-mcar``, ``direct-mar`` and ``factored-mar`` come from that
program; the informed methods from an independent implementation of the paper's formula.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lacunet.data.table import EncodedTable, code_type
from lacunet.network.network import Network

FOLDER = Path(__file__).parent / "cases" / "golden"
NAMES = sorted(path.name.removesuffix(".json.gz") for path in FOLDER.glob("*.json.gz"))
SYMBOLS = "0123456789abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Golden:
    network: Network
    table: EncodedTable
    expected: dict[str, Any]
    expected_em: dict[str, Any] | None

    def cpts(self, method: str) -> dict[str, np.ndarray]:
        return {v: np.array(cpt["table"]) for v, cpt in self.expected["cpts"][method].items()}

    def texts(self) -> dict[str, list[str | None]]:
        """The data as states, None where missing."""
        return {
            name: [
                None if c == self.network.cardinality(name) else self.network.states(name)[c]
                for c in column
            ]
            for name, column in self.table.columns.items()
        }


def golden(name: str) -> Golden:
    case = json.loads(gzip.decompress((FOLDER / f"{name}.json.gz").read_bytes()))
    network = Network(case["states"], case["parents"])
    columns: dict[str, Any] = {}
    for variable, text in case["columns"].items():
        size = network.cardinality(variable)
        columns[variable] = np.array(
            [size if sign == "." else SYMBOLS.index(sign) for sign in text], dtype=code_type(size)
        )
    table = EncodedTable({v: network.cardinality(v) for v in network.variables}, columns)
    return Golden(network, table, case["expected"], case.get("expected_em"))
