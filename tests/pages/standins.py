"""Results for the tests of pages, with the support of every parent configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

import lacunet as lc
from lacunet.data.table import EncodedTable
from lacunet.estimate.learn import Result
from lacunet.estimate.method import FamilyReport
from lacunet.model.network import FloatArray, Network
from lacunet.pages.provenance import Provenance
from lacunet.statistics.count import count

SOURCE = Provenance("lacunet learn a.bif <b>.csv", "2026-11-15 09:00:00", 7, (("a.bif", "ab12"),))


@dataclass(frozen=True)
class Supported(FamilyReport):
    """A report as every method makes it: with the support of the parents' configurations."""

    support: FloatArray = None  # type: ignore[assignment]
    unsupported: int = 0


def learned(network: Network, table: EncodedTable, method: Any = "factored-mar") -> Result:
    result = lc.learn(network, table, method=method)
    if "support" in {field.name for field in fields(FamilyReport)}:
        return result
    counts = count(table, [network.family(name) for name in network.variables])
    families: Mapping[str, FamilyReport] = {
        name: _with(report, counts[network.family(name)].dense().sum(axis=-1))
        for name, report in result.families.items()
    }
    return replace(result, families=families)


def _with(report: FamilyReport, support: FloatArray) -> FamilyReport:
    values = {field.name: getattr(report, field.name) for field in fields(report)}
    return Supported(**values, support=support, unsupported=int(np.sum(support == 0)))
