"""Columns of texts that are too long to be states take little memory, and are refused in words."""

from __future__ import annotations

import gzip
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

import lacunet as lc
from lacunet.data.data import as_data
from lacunet.data.network_from_data import network_of_columns
from lacunet.data.states import IdentifierError
from lacunet.show.studio.column_proposals import columns_as_data, columns_to_propose_for
from lacunet.structure.columns import find_columns

MIB = 2**20
READ_AHEAD = 256 * MIB  # blocks that Arrow holds, and a little more
LENGTHS = {"a few very long texts": (600, 10**6), "many long texts": (20_000, 3_000)}


@pytest.fixture(params=LENGTHS)
def essays(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A small file with a column of different texts, 600 megabytes or 60."""
    rows, length = LENGTHS[request.param]
    path = tmp_path / "essays.csv.gz"
    with gzip.open(path, "wt", compresslevel=1) as file:
        file.write("Essay,Passed,Year\n")
        for row in range(rows):
            file.write(f"{row}{'x' * length},{['no', 'yes'][row % 2]},{row % 3}\n")
    return path


def peak_of(call: Callable[[], object]) -> int:
    """The most bytes that Python held during a call."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_free_text_is_refused_and_takes_little_memory(essays: Path) -> None:
    def refused() -> None:
        with pytest.raises(IdentifierError, match="'Essay'"):
            network_of_columns(as_data(essays))

    assert peak_of(refused) < READ_AHEAD
    kept = network_of_columns(lc.Data(essays, without="Essay"))
    assert kept.network.variables == ("Passed", "Year")


def test_the_look_of_the_studio_proposes_to_leave_free_text_out(essays: Path) -> None:
    held = []
    look = peak_of(lambda: held.append(columns_as_data(columns_to_propose_for(as_data(essays)))))
    assert look < READ_AHEAD
    essay = held[0]["columns"][0]
    assert essay["proposal"] == "leave"
    assert "free text" in essay["why"]
    assert [column["states"] for column in held[0]["columns"][1:]] == [
        ["no", "yes"],
        ["0", "1", "2"],
    ]
    assert max(len(cell) for row in held[0]["first"] for cell in row) < 1000


def test_edges_and_structures_refuse_free_text_by_its_name(essays: Path) -> None:
    with pytest.raises(IdentifierError, match="'Essay' looks like free text"):
        lc.Network.from_data(essays, "Essay -> Passed")
    with pytest.raises(lc.LacunetError, match=r"(?s)'Essay' looks like free text.*without="):
        find_columns(essays)
    assert lc.Network.from_data(essays, "Year -> Passed").variables == ("Passed", "Year")


def test_few_long_labels_are_states(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    labels = [f"{k:02}" + "x" * 4000 for k in range(40)]
    path.write_text("A,B\n" + "".join(f"{label},{k % 2}\n" for k, label in enumerate(labels * 3)))
    assert lc.Network.from_data(path, "A -> B").states("A") == tuple(labels)


def test_the_word_none_is_no_state_of_free_text(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(f"A,B\n{'x' * 5000},0\nNone,1\n,1\n,0\n")
    with pytest.raises(IdentifierError, match="'A'"):
        network_of_columns(as_data(path))


def test_a_header_of_too_many_names_is_refused_by_their_number(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    names = ",".join(f"V{k}" for k in range(400_000))
    path.write_text(f"{names}\n{names}\n")

    def refused() -> None:
        with pytest.raises(lc.LacunetError, match="names 400,000 columns"):
            columns_to_propose_for(as_data(path))

    assert peak_of(refused) < 96 * MIB
