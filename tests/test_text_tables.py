"""Tables keep to the terminal, whatever it is that they show."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

import lacunet as lc
from lacunet.cli import main
from lacunet.cli.show import catalogue_as_text
from lacunet.network.catalogue import catalogue
from lacunet.text_tables import TextTable, cells, elide, terminal_width

WIDTHS = (60, 80, 120)
each_width = pytest.mark.parametrize("width", WIDTHS)


def many_states(states: int) -> lc.Network:
    names = {"Ward": ["north", "south"], "Code": [f"code number {k}" for k in range(states)]}
    table = np.full((2, states), 1 / states)
    return lc.Network(names, {"Code": ["Ward"]}, {"Ward": [0.5, 0.5], "Code": table})


def widest(text: str) -> int:
    return max(map(cells, text.splitlines()))


@each_width
@pytest.mark.parametrize("name", ["alarm", "munin1"])
def test_a_network_and_its_cpts_keep_to_the_terminal(
    name: str, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    network = lc.example(name)
    assert widest(str(network)) <= width
    for cpt in network.cpts:
        _, table = str(cpt).split("\n", 1)  # below the title
        assert widest(table) <= width


@each_width
def test_results_keep_to_the_terminal(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    network = lc.example("alarm")
    rows = lc.hide(network, network.sample(200, rng=1), lc.MCAR(0.2, share=0.3), rng=1)
    result = lc.learn(network, rows, "direct-mcar", intervals=True)
    header = "variable  "
    table = str(result)[str(result).index(header) :].split("\nand ")[0]
    assert widest(table) <= width
    assert widest(str(result.table("BP"))) <= width
    assert widest(str(network.effect("BP", do="TPR")).rsplit("\n", 1)[0]) <= width
    assert widest(catalogue_as_text(catalogue())) <= width


@pytest.mark.parametrize("shape", ["cpt", "answer"])
def test_a_variable_with_many_states_is_printed_upright(shape: str) -> None:
    network = many_states(40)
    cpt, answer = network.cpt("Code"), network.query("Code", {"Ward": "north"})
    text = str(cpt if shape == "cpt" else answer)
    assert widest(text) < 60
    for k in range(40):
        assert f"code number {k} " in text
    few = many_states(4)
    assert str(few.cpt("Code")).count("\n") == 3  # side by side


def test_long_tables_say_how_many_rows_are_left() -> None:
    text = str(many_states(60).cpt("Code"))
    assert text.count("north") == 60
    assert "south" not in text
    assert "... and 1 row more; to_frame()" in text.splitlines()[-1]


def test_characters_of_double_width_count_as_two() -> None:
    table = TextTable(["変数", "n"], [["年齢", "1"], ["Age", "22"]])
    lines = str(table).splitlines()
    assert {cells(line) for line in lines} == {8}
    assert elide("性別年齢職業収入", 9) == "性別…収入"
    assert cells(elide("性別年齢職業収入", 8)) <= 8
    assert all(cells(line) <= 20 for line in TextTable(["a" * 30], [["年" * 30]]).text(20).split())


def test_numbers_are_never_elided() -> None:
    numbers = [["a" * 90, "0.123456 [0.1234, 0.2345]", "1.234567"]]
    table = TextTable(["name", "h" * 40, "i" * 40], numbers)
    for width in (45, 60, 80):
        text = table.text(width)
        assert widest(text) <= width
        assert "0.123456 [0.1234, 0.2345]" in text
        assert "1.234567" in text


def test_without_a_terminal_nothing_is_elided(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert terminal_width() is None
    assert main(["show", "munin1"]) == 0
    printed = capsys.readouterr().out
    assert "…" not in printed
    monkeypatch.setattr("sys.stdout", None)
    assert terminal_width() is None
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr("sys.stdout", closed)
    assert terminal_width() is None


def test_the_command_line_keeps_to_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "70")
    for words in (["show", "munin1"], ["show"], ["query", "munin1", "R_APB_REPSTIM_CMAPAMP"]):
        assert main(words) == 0
        assert widest(capsys.readouterr().out) <= 70


def test_structures_and_evaluations_keep_to_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    rows = lc.simulate(lc.example("asia"), 400, lc.MCAR(0.2, share=0.5), rng=3).table
    found = lc.learn_structure(rows, strengths=20, rng=1)
    assert widest(str(found).split("\n", 1)[1]) <= 60
    lc.learn(lc.example("asia"), rows, "direct-mcar").write(tmp_path / "learned.json")
    capsys.readouterr()
    assert main(["evaluate", "asia", str(tmp_path / "learned.json")]) == 0
    assert widest(capsys.readouterr().out) <= 60


def test_titles_are_broken_between_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    network = lc.example("munin1")
    assert widest(str(network.cpt("R_MED_ALLCV_EW"))) <= 40
    assert "R_MED_RDLDCV_EW" in str(network.cpt("R_MED_ALLCV_EW"))


def test_an_effect_of_many_states_keeps_to_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    effect = many_states(9).effect("Code", do="Ward")
    assert widest(str(effect).rsplit("\n", 1)[0]) <= 60


def test_sentences_are_broken_between_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    network = lc.example("munin1")
    rows = lc.simulate(network, 60, lc.MCAR(0.1), rng=1).table
    for value in (lc.explain(network, rows, "direct-mcar"), lc.diagnose(rows, network)):
        longest = max(str(value).splitlines(), key=cells)
        assert cells(longest) <= 60, longest


def test_many_states_are_no_long_line(monkeypatch: pytest.MonkeyPatch) -> None:
    states = [f"state_{number}" for number in range(40)]
    network = lc.Network({"A": states})
    assert max(map(len, str(network).splitlines())) < 100
    assert all(state in str(network) for state in states)
    monkeypatch.setenv("COLUMNS", "80")
    assert "(40 states)" in str(network)


def test_variables_that_share_a_cpt_are_listed_once() -> None:
    waves = [f"H[{number}]" for number in range(1, 501)]
    network = lc.Network({wave: ["no", "yes"] for wave in waves}).with_ties([waves])
    assert str(network).splitlines()[2:] == ["H[1] to H[500]  -        no, yes"]
