"""Small files that ask for much time or memory."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from lacunet.network.formats import bif, dsc, net, xdsl
from lacunet.network.formats.errors import FormatError
from lacunet.network.formats.files import read_network
from lacunet.network.formats.source import Source
from lacunet.network.network import Network
from operations import Counted, calls_in

TWO = "variable A { type discrete [ 2 ] { a, b }; }\nvariable B { type discrete [ 2 ] { a, b }; }\n"


def test_a_default_row_alone_stands_for_all_rows() -> None:
    text = TWO + "probability ( A ) { default 0.5, 0.5; } probability ( B | A ) { default 1, 0; }"
    network = bif.parse(Source.of("net.bif", text))
    np.testing.assert_array_equal(network.cpt("A").table, [0.5, 0.5])
    np.testing.assert_array_equal(network.cpt("B").table, [[1, 0], [1, 0]])


def many_defaults(families: int) -> str:
    """Families of 2^22 cells (32 MiB) each, by one line each."""
    parents = [f"P{at}" for at in range(21)]
    children = [f"C{at}" for at in range(families)]
    declared = [f"variable {name} {{ type discrete [ 2 ] {{ a, b }}; }}" for name in parents]
    declared += [f"variable {name} {{ type discrete [ 2 ] {{ a, b }}; }}" for name in children]
    roots = [f"probability ( {name} ) {{ table 0.5, 0.5; }}" for name in parents]
    given = ", ".join(parents)
    return "\n".join(
        [
            *declared,
            *roots,
            *(f"probability ( {name} | {given} ) {{ default 0.5, 0.5; }}" for name in children),
        ]
    )


def test_the_cpts_of_a_network_have_a_limit_together_that_can_be_raised(tmp_path: Path) -> None:
    path = tmp_path / "large.bif"
    path.write_text(many_defaults(3))
    with pytest.raises(FormatError, match=r"64.*48 MiB"):
        read_network(path, limit=48 * 2**20)
    assert read_network(path).cpt("C2").table.size == 2**22
    path.write_text(many_defaults(40))
    with pytest.raises(FormatError, match="256 MiB"):
        read_network(path)


def test_a_gzip_file_unpacks_to_a_limit_that_can_be_raised(tmp_path: Path) -> None:
    path = tmp_path / "bomb.bif.gz"
    text = TWO + "probability ( A ) { table 1, 0; } probability ( B ) { table 1, 0; }"
    path.write_bytes(gzip.compress(text.encode() + b" " * 10**6))
    with pytest.raises(FormatError, match=r"bomb\.bif\.gz.*97\.7 KiB"):
        read_network(path, limit=10**5)
    assert isinstance(read_network(path), Network)


SLOW = {
    "comments that never close": (bif, "/*" * 60_000),
    "strings that never close": (bif, '"' + '\\"' * 60_000),
    "strings of NET that never close": (net, '"' + '\\"' * 60_000),
    "comments of DSC that never close": (dsc, "/*\n" * 40_000),
    "a name of many quotes": (bif, "variable " + '"" ' * 40_000 + "{"),
    "one family of many parents": (
        xdsl,
        '<smile><nodes><cpt id="A"><state id="a"/><parents>'
        + "A " * 100_000
        + "</parents></cpt></nodes></smile>",
    ),
}


@pytest.mark.parametrize("kind", SLOW)
def test_a_file_of_100_kb_is_refused_at_once(kind: str) -> None:
    form, text = SLOW[kind]

    def refused() -> None:
        with pytest.raises(FormatError):
            form.parse(Source.of("net", text))

    assert calls_in(refused) < 20 * len(text)


def wide_bif(states: int) -> str:
    """A variable with many states, and another that has it as a parent."""
    named = " ".join(f'"{at}"' for at in range(states))
    text = f"variable A {{ type discrete [ {states} ] {{ {named} }}; }}\n"
    text += "variable B { type discrete [ 1 ] { a }; }\nprobability ( A ) { table "
    text += f"{1 / states!r} " * states + "; }\nprobability ( B | A ) {\n"
    return text + "".join(f"({at}) 1;\n" for at in range(states)) + "}"


def test_many_states_cost_as_many_operations() -> None:
    def calls(states: int) -> int:
        source = Source.of("net.bif", wide_bif(states))
        return calls_in(lambda: bif.parse(source))

    assert bif.parse(Source.of("net.bif", wide_bif(20_000))).cardinality("A") == 20_000
    assert calls(4000) < 2.2 * calls(2000)


@pytest.mark.parametrize("shape", ["many children", "many parents"])
def test_many_variables_cost_as_many_comparisons(shape: str) -> None:
    def operations(number: int) -> int:
        names = [Counted(f"V{at}") for at in range(number)]
        parents = {name: [names[0]] for name in names[1:]}
        if shape == "many parents":
            parents = {names[0]: names[1:]}
        Counted.operations = 0
        Network({name: ["a"] for name in names}, parents)
        return Counted.operations

    assert operations(4000) < 2.2 * operations(2000)


def test_control_characters_of_a_file_never_reach_the_terminal() -> None:
    named = "a\x1b[2J\x00\x07"
    text = f'{{"format": "lacunet network", "version": 1, "variables": [{{"name": "x{named}"'
    for form, file in [
        (bif, TWO.replace("a, b", f"{named}, b") + "probability ( A ) { table 1, 1; }"),
        (bif, TWO.replace("a, b", f"{named}, b") + "probability ( B | A ) { }"),
        (
            bif,
            TWO.replace("a, b", f"{named}, b")
            + f"probability ( A ) {{ table 1, 0; }} probability ( B | A ) {{ ({named}) 1, 1; }}",
        ),
        (net, named),
        (dsc, named),
        (xdsl, named),
        (bif, text),
    ]:
        with pytest.raises(FormatError) as refusal:
            form.parse(Source.of(f"file{named}", file))
        assert not set(str(refusal.value)) & set("\x00\x07\x1b")
