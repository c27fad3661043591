"""Results for the tests of pages, and what a page carries."""

from __future__ import annotations

import json
import re
import zlib
from base64 import b64decode
from typing import Any

import numpy as np

import lacunet as lc
from lacunet.counts.observations import missing_in_data
from lacunet.data.read import read_table
from lacunet.data.table import EncodedTable
from lacunet.learning.result import Result
from lacunet.network.network import Network
from lacunet.show.pages.provenance import Provenance
from lacunet.show.results.result_page import page

SOURCE = Provenance(
    "lacunet learn a.bif <b>.csv",
    "2026-11-15 09:00:00",
    7,
    (("a.bif", "ab12"),),
    network="a.bif",
    data="<b>.csv",
    learned="learned.json",
)


def learned(network: Network, table: EncodedTable, method: Any = "factored-mar") -> Result:
    return lc.learn(network, table, method=method, pseudo_counts=1)


HOSTILE = '</script><img src=x onerror="alert(1)">\u202e\'&"'


def carried(text: str) -> dict[str, Any]:
    match = re.search(r'id="page-data">(.*?)</script>', text, re.DOTALL)
    assert match
    return json.loads(match[1])


def unpacked(data: dict[str, Any], network: Network) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """CPTs and rows behind as the page holds them; where rows are withheld, if there are none."""
    raw = zlib.decompress(b64decode(data["packed"]))
    at = 0

    def part(kind: str, shapes: list[tuple[int, ...]]) -> list[np.ndarray]:
        nonlocal at
        found = []
        for shape in shapes:
            size = int(np.prod(shape))
            found.append(np.frombuffer(raw, kind, size, at).astype(float).reshape(shape))
            at += size * np.dtype(kind).itemsize
        at += -at % 8
        return found

    shapes = [network.shape(network.family(name)) for name in network.variables]
    tables = part("<f8" if data["digits"] is None else "<u2", shapes)
    if data["digits"] is not None:
        tables = [np.where(t == 65535, np.nan, t) / 10 ** data["digits"] for t in tables]
    above = [shape[:-1] for shape in shapes]
    rows = bare = part("u1", above)
    if data["has_rows"]:
        rows = part("<f4", above)
        assert all((b == (r == 0)).all() for b, r in zip(bare, rows, strict=True))
    if data["has_intervals"]:
        data["ends"] = part("<u2", [(*shape, 2) for shape in shapes])
    assert at == len(raw)
    return tables, rows


def hostile() -> tuple[Network, EncodedTable]:
    network = Network({HOSTILE: ["<b>", "'\"&"], "B": ["no", "yes"]}, {"B": [HOSTILE]})
    rows = {HOSTILE: ["<b>", "'\"&", None] * 20, "B": ["no", "yes", "yes", None] * 15}
    return network, read_table(rows, network)


def page_with(result: Result, rows: object, **said: Any) -> str:
    """The page of a result with what its rows do not show."""
    families = result.network.families
    return page(result, missing_in_data(rows, result.network, families), SOURCE, **said)
