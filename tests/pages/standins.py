"""Results for the tests of pages, with the support of every parent configuration."""

from __future__ import annotations

from typing import Any

import lacunet as lc
from lacunet.data.table import EncodedTable
from lacunet.estimate.learn import Result
from lacunet.model.network import Network
from lacunet.pages.provenance import Provenance

SOURCE = Provenance(
    "lacunet learn a.bif <b>.csv",
    "2026-11-15 09:00:00",
    7,
    (("a.bif", "ab12"),),
    network="a.bif",
    data="<b>.csv",
)


def learned(network: Network, table: EncodedTable, method: Any = "factored-mar") -> Result:
    return lc.learn(network, table, method=method)
