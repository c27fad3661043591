"""UAI: the example of the format's own description, and what it cannot carry."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from examples import RAIN
from lacunet.cli import main
from lacunet.errors import LacunetWarning
from lacunet.network.formats import uai
from lacunet.network.formats.errors import FormatError
from lacunet.network.formats.files import read_network, write_network
from lacunet.network.formats.source import Source
from lacunet.network.network import Network

# The functions are out of order: the last variable of each scope is the child.
TEXT = """BAYES
3
2 2 3
3
1 0
2 1 2
2 0 1

2
 0.436 0.564

6
 0.210 0.333 0.457
 0.811 0.000 0.189

4
 0.128 0.872
 0.920 0.080
"""


def read(text: str) -> Network:
    return uai.parse(Source.of("net.uai", text))


def test_the_last_variable_of_a_scope_is_the_child_and_runs_fastest() -> None:
    network = read(TEXT)
    assert network.variables == ("X0", "X1", "X2")
    assert network.states("X2") == ("0", "1", "2")
    assert network.parents("X2") == ("X1",)
    np.testing.assert_array_equal(network.cpt("X1").table, [[0.128, 0.872], [0.92, 0.08]])
    np.testing.assert_array_equal(
        network.cpt("X2").table, [[0.21, 0.333, 0.457], [0.811, 0.0, 0.189]]
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("BAYES", "MARKOV", r"net.uai:1.*'MARKOV'"),
        ("BAYES", "", r"net.uai:2: found '3' where 'BAYES'"),
        ("2 2 3\n3", "2 2 3\n2", r"net.uai:4: found '2'.*3 variables"),
        ("2 2 3", "2 0 3", r"'X1'"),
        ("2 0 1\n", "2 0 3\n", r"net.uai:7: found '3'.*variable's.*most 2"),
        ("2 0 1\n", "2 1 1\n", r"net.uai:7: 'X1'"),
        ("2 0 1\n", "2 1 0\n", r"net.uai:7.*'X0'"),
        ("2 0 1\n", "0 0 1\n", r"net.uai:7: found '0'.*least 1"),
        ("\n6\n", "\n7\n", r"net.uai:12: the CPT of 'X2' has 7.*need 6"),
        ("0.811 ", "", r"net.uai:17: found '0.128 0.872'.*'X1'"),
        ("0.811", "x", r"6 numbers.*'X2'"),
        ("0.080\n", "0.080 1\n", r"net.uai:18: found '1'"),
        ("2 2 3", "2 2 999999999", r"net.uai:3: found '999999999'"),
    ],
)
def test_a_wrong_file_is_refused_with_line_and_names(old: str, new: str, message: str) -> None:
    assert old in TEXT
    with pytest.raises(FormatError, match=message):
        read(TEXT.replace(old, new))


def test_a_cycle_is_refused() -> None:
    with pytest.raises(FormatError, match="cycle"):
        read("BAYES 2 1 1 2 2 1 0 2 0 1 1 1.0 1 1.0")


def test_a_network_with_names_is_refused() -> None:
    with pytest.raises(FormatError, match=r"'Rain'.*'X0'"):
        uai.render(RAIN)
    with pytest.raises(FormatError, match="'yes' as '0'"):
        uai.render(Network({"X0": ["yes"]}, {}, {"X0": [1.0]}))


def test_names_are_replaced_by_numbers_if_asked(tmp_path: Path) -> None:
    path, target = tmp_path / "rain.bif", tmp_path / "rain.uai"
    write_network(RAIN, path)
    with pytest.raises(FormatError, match="--rename"):
        write_network(RAIN, target)
    with pytest.warns(LacunetWarning, match=f"'{RAIN.variables[0]}' is 'X0'"):
        write_network(RAIN, target, rename=True)
    found = read_network(target)
    assert found.variables == tuple(f"X{number}" for number in range(len(RAIN.variables)))
    for name, old in zip(found.variables, RAIN.variables, strict=True):
        np.testing.assert_array_equal(found.cpt(name).table, RAIN.cpt(old).table)
    assert main(["convert", str(path), "-o", str(tmp_path / "again.uai"), "--rename"]) == 0
    assert (tmp_path / "again.uai").read_bytes() == target.read_bytes()


def test_lines_that_begin_with_a_sign_are_comments() -> None:
    marked = "# of 2019\n" + TEXT.replace("\n2\n 0.436", "\n  # the tables\n2\n#first\n 0.436")
    assert read(marked) == read(TEXT)
    with pytest.raises(FormatError, match=r"net.uai:16: "):  # lines are counted all the same
        read(marked.replace("0.210", "x"))
