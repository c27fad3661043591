"""Damaged network files of every format, held against independent readers."""

from __future__ import annotations

import gzip
import json
import math
import random
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any
from xml.etree import ElementTree

import numpy as np

from damage import damaged
from lacunet.errors import LacunetError
from lacunet.network.catalogue import example
from lacunet.network.formats.files import FORMATS, parse_content
from lacunet.network.network import Network

LIMIT = 2**22
CONTROL = set(map(chr, (*range(9), *range(11, 32), *range(127, 160))))

RAIN = Network(
    {"Rain": ["no", "yes"], "Sprinkler": ["off", "on", "broken"], "Wet": ["no", "yes"]},
    {"Sprinkler": ["Rain"], "Wet": ["Rain", "Sprinkler"]},
    {
        "Rain": [0.8, 0.2],
        "Sprinkler": [[0.5, 0.375, 0.125], [0.99, 0.01, 0.0]],
        "Wet": [[[1.0, 0.0], [0.1, 0.9], [0.3, 0.7]], [[0.2, 0.8], [0.01, 0.99], [0.6, 0.4]]],
    },
)
ODD = Network(
    {"very low": ["<5", "c(d)", "table"], "default": ["-1.5", "a,b"], "x|y": ['"', "//"]},
    {"x|y": ["default", "very low"]},
    {
        "very low": [0.25, 0.5, 0.25],
        "default": [1.0, 0.0],
        "x|y": [[[0.5, 0.5]] * 3, [[0.25, 0.75]] * 3],
    },
)
LONE = Network({"A": ["only"]}, {}, {"A": [1.0]})


def rendered(network: Network, suffix: str) -> bytes:
    """The content of a file with this ending that describes the network."""
    text: str = import_module(f"lacunet.network.formats.{FORMATS[suffix]}").render(network)
    return text.encode()


def numbered(network: Network) -> Network:
    """The same network under the names that a UAI file gives."""
    name = {variable: f"X{at}" for at, variable in enumerate(network.variables)}
    return Network(
        {name[v]: [str(at) for at in range(network.cardinality(v))] for v in network.variables},
        {name[v]: [name[parent] for parent in network.parents(v)] for v in network.variables},
        network.tables_of and {name[v]: network.cpt(v).table for v in network.variables},
    )


def prepared(seed: int) -> Callable[[int], str]:
    """What reads the file of a number: all bases are rendered beforehand."""
    warnings.simplefilter("ignore")
    bases = []
    for network in (RAIN, RAIN, ODD, LONE, RAIN.with_tables(None), example("survey")):
        for suffix in FORMATS:
            own = numbered(network) if suffix == ".uai" else network
            try:
                bases.append((suffix, rendered(own, suffix)))
            except LacunetError:
                continue
    bases += [(suffix, content) for suffix, content in _of_other_programs() for _ in range(3)]

    def check(number: int) -> str:
        rng = random.Random(f"{seed} {number}")
        suffix, content = rng.choice(bases)
        name = f"file{suffix}"
        if rng.random() < 0.02:
            name, content = f"{name}.gz", gzip.compress(content, mtime=0)
        content = damaged(content, rng)
        try:
            network, _ = parse_content(name, content, LIMIT)
        except LacunetError as error:
            assert str(error).startswith(name), f"no place: {error}"
            assert not CONTROL & set(str(error)), f"control characters: {error!r}"
            return "refused"
        _hold(network, suffix, content if not name.endswith(".gz") else b"")
        return "read"

    return check


def _of_other_programs() -> list[tuple[str, bytes]]:
    """A default row, a class of Hugin's, and files as pyAgrum writes them."""
    net = rendered(RAIN, ".net").partition(b"}\n")[2]
    uai = rendered(numbered(RAIN), ".uai").splitlines(keepends=True)
    scopes = [line.replace(b"\n", b"   # name\n") for line in uai[4:7]]
    return [
        (".bif", rendered(RAIN, ".bif").replace(b"(no, off)", b"default", 1)),
        (".net", b"class Rain\n{\n  inputs = ();\n  outputs = (Wet);\n" + net + b"}\n"),
        (".uai", b"".join([*uai[:4], *scopes, *uai[7:]])),
        (".xdsl", rendered(RAIN, ".xdsl").replace(b'app="lacunet"', b'app="aGrUM 3.3.1"')),
    ]


def _hold(network: Network, suffix: str, content: bytes) -> None:
    for form in (".json", suffix):
        try:
            text = rendered(network, form)
        except LacunetError as error:
            assert "cannot carry" in str(error) and form != ".json", f"not written: {error}"
            continue
        back, _ = parse_content(f"back{form}", text, LIMIT)
        assert back == network, f"another network came back by {form}"
    is_plain = content and not (suffix == ".uai" and b"#" in content)  # pyAgrum's has comments
    if is_plain and suffix in READERS and network.tables_of is not None:
        numbers = READERS[suffix](content)
        own = [network.cpt(name).table.ravel() for name in network.variables]
        assert len(numbers) == len(own), "an independent reader finds another number of CPTs"
        for given, table in zip(numbers, own, strict=True):
            assert len(given) == len(table), "an independent reader finds other lengths"
            # Rows are rescaled if they are off by a hundredth at most.
            assert np.allclose(given, table, rtol=0.02, atol=1e-9), "other numbers"


def _json_numbers(content: bytes) -> list[list[float]]:
    def flat(value: Any) -> list[float]:
        return [one for part in value for one in flat(part)] if isinstance(value, list) else [value]

    return [flat(one["cpt"]) for one in json.loads(content.decode("utf-8-sig"))["variables"]]


def _xmlbif_numbers(content: bytes) -> list[list[float]]:
    # A colon has a meaning to this reader that the format does not give it.
    root = ElementTree.fromstring(content.replace(b":", b"_"))
    order = [
        one.text.strip(" \t\r\n") for one in root.iterfind("NETWORK/VARIABLE/NAME") if one.text
    ]
    table_of = {
        str(one.findtext("FOR")).strip(" \t\r\n"): str(one.findtext("TABLE")).replace(",", " ")
        for one in root.iterfind("NETWORK/DEFINITION")
    }
    return [[float(word) for word in table_of[name].split()] for name in order]


def _uai_numbers(content: bytes) -> list[list[float]]:
    words = iter(content.decode("utf-8-sig").split()[1:])
    sizes = [int(next(words)) for _ in range(int(next(words)))]
    scopes = [[int(next(words)) for _ in range(int(next(words)))] for _ in range(int(next(words)))]
    tables = {}
    for scope in scopes:
        count = int(next(words))
        assert count == math.prod(sizes[at] for at in scope), "the sizes differ"
        tables[scope[-1]] = [float(next(words)) for _ in range(count)]
    return [tables[at] for at in range(len(sizes))]


READERS: dict[str, Callable[[bytes], list[list[float]]]] = {
    ".json": _json_numbers,
    ".xmlbif": _xmlbif_numbers,
    ".xml": _xmlbif_numbers,
    ".bifxml": _xmlbif_numbers,
    ".uai": _uai_numbers,
}
