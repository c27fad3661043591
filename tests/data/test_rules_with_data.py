"""A rule of what is not asked is the same whether network, data or counted rows bring it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import lacunet as lc
from lacunet.cli import main
from lacunet.missingness.errors import MissingnessGraphError

STATES = {"A": ["y", "o"], "S": ["no", "yes"], "N": ["a", "b", "not_asked"], "I": ["0", "1"]}
PARENTS = {"N": ["S", "A"], "I": ["N"]}
RULE = {"N": "S=no"}
GRAPH = "A -> R[N]; R[S]; R[I]"
BARE, RULED = lc.Network(STATES, PARENTS), lc.Network(STATES, PARENTS, not_asked=RULE)
EVEN = {  # CPTs that do not obey the rule
    "A": [0.5, 0.5],
    "S": [0.5, 0.5],
    "N": np.full((2, 2, 3), 1 / 3),
    "I": np.full((3, 2), 0.5),
}


def survey(rows: int = 200) -> dict[str, list[Any]]:
    rng = np.random.default_rng(0)
    found: dict[str, Any] = {
        name: rng.choice(states, rows).astype(object) for name, states in STATES.items()
    }
    found["N"] = rng.choice(["a", "b"], rows).astype(object)
    found["N"][(found["S"] == "no") | (rng.random(rows) < (found["A"] == "o") * 0.4)] = None
    found["I"][rng.random(rows) < 0.2] = None
    found["S"][rng.random(rows) < 0.1] = None
    return {name: list(own) for name, own in found.items()}


ROWS = survey()
ASKED: dict[str, Callable[[lc.Network, Any], object]] = {
    "learn": lambda net, data: lc.learn(net, data, "em").network,
    "learn on a graph": lambda net, data: (
        lc.learn(net, data, missingness=GRAPH, otherwise="em").network
    ),
    "explain": lambda net, data: str(lc.explain(net, data, "em")),
    "diagnose": lambda net, data: str(lc.diagnose(data, net)),
    "learn_missingness": lambda net, data: str(lc.learn_missingness(data, net)),
    "sensitivity": lambda net, data: str(lc.sensitivity(net, data, "I=1 | A=o", "N", method="em")),
    "worst_case": lambda net, data: str(lc.worst_case(net, data, "I | N")),
}


@pytest.mark.filterwarnings("ignore::lacunet.LacunetWarning")
@pytest.mark.parametrize("what", ASKED)
def test_it_does_not_matter_where_a_rule_comes_from(what: str, tmp_path: Path) -> None:
    with_rule, path = lc.Data(ROWS, not_asked=RULE), tmp_path / "rows.parquet"
    pq.write_table(lc.count(BARE, with_rule), path)
    expected = ASKED[what](RULED, ROWS)
    for network in (BARE, lc.Network(STATES, PARENTS, EVEN)):
        for data in (with_rule, path):
            assert ASKED[what](network, data) == expected


def test_cpts_that_obey_the_rules_of_counted_rows_stay() -> None:
    learned = lc.learn(RULED, ROWS, "direct-mcar").network
    plain = lc.Network(learned.states_of, learned.parents_of, learned.tables_of)
    expected = learned.log_likelihood(ROWS)
    assert plain.log_likelihood(lc.count(RULED, ROWS)) == pytest.approx(expected)


def test_an_estimate_by_a_graph_that_does_not_know_the_rule_is_refused() -> None:
    verdict = lc.MissingnessGraph.parse(GRAPH, BARE).recover(["N"], given=["A"])
    data = lc.Data(ROWS, not_asked=RULE)
    for given in (data, lc.count(BARE, data)):
        with pytest.raises(MissingnessGraphError, match="'N'"):
            verdict.estimate(given)


@pytest.mark.parametrize(
    "words",
    [
        ["recover", GRAPH, "--query", "N|A", "--data", "rows.csv"],
    ],
    ids=["recover"],
)
def test_a_command_takes_a_rule_with_the_data(
    words: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    cells = zip(*ROWS.values(), strict=True)
    lines = [",".join(row) for row in [[*ROWS], *([cell or "" for cell in row] for row in cells)]]
    Path("rows.csv").write_text("\n".join([*lines, ""]))
    BARE.write("bare.json")
    RULED.write("ruled.json")
    found = []
    for network, more in (("ruled.json", []), ("bare.json", ["--not-asked", "N: S=no"])):
        assert main([words[0], network, *words[1:], *more]) == 0
        out = capsys.readouterr().out
        found.append(re.sub(r'"seconds": \{.*?\}', "", out))
    assert found[0] == found[1]


def test_a_page_of_counted_rows_knows_their_rules_and_latent_variables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    network = lc.Network({**STATES, "H": ["0", "1"]}, {**PARENTS, "I": ["N", "H"]})
    network.write(tmp_path / "net.json")
    counted = lc.count(network, lc.Data(ROWS, not_asked=RULE, latent=["H"]))
    pq.write_table(counted, tmp_path / "rows.parquet")
    words = ["learn", str(tmp_path / "net.json"), str(tmp_path / "rows.parquet")]
    assert main([*words, "-o", str(tmp_path / "plain.json")]) == 0
    more = ["-o", str(tmp_path / "paged.json"), "--report", str(tmp_path / "page.html")]
    assert main([*words, *more]) == 0
    assert "no row shows 'H'" not in capsys.readouterr().err
    assert lc.read_network(tmp_path / "paged.json") == lc.read_network(tmp_path / "plain.json")
