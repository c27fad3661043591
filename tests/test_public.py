"""The public face: what `lacunet` lists, and that importing it stays cheap."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lacunet
from lacunet.plots import cpt_heatmap

ROWS = {name: ["yes", "no"] for name in lacunet.example("asia").variables} | {"smoke": [None, "no"]}
WHOLE = lacunet.sample("asia", 5, rng=1)
TAKE_A_NETWORK: list[Callable[[Any], object]] = [
    lambda network: lacunet.learn(network, ROWS, "direct-mcar").network,
    lambda network: lacunet.count(network, ROWS, "direct-mcar").rows,
    lambda network: lacunet.predict(network, ROWS, "lung"),
    lambda network: lacunet.impute(network, ROWS),
    lambda network: lacunet.query(network, "lung").tolist(),
    lambda network: lacunet.marginals(network)["lung"].tolist(),
    lambda network: lacunet.log_likelihood(network, ROWS),
    lambda network: lacunet.kl_divergence(network, network),
    lambda network: lacunet.diagnose(network, ROWS).conclusions,
    lambda network: str(lacunet.learn_missingness(network, ROWS)),
    lambda network: lacunet.sample(network, 5, 1)["lung"].tolist(),
    lambda network: lacunet.hide(network, WHOLE, lacunet.MCAR(1, 0.5), rng=1),
    lambda network: lacunet.simulate(network, 5, rng=1).complete.columns["lung"].tolist(),
    lambda network: lacunet.to_pgmpy(network).nodes(),
    lambda network: cpt_heatmap(network, "lung").words,
]


@pytest.mark.parametrize("asked", TAKE_A_NETWORK)
def test_a_network_is_given_as_itself_or_by_a_result_a_path_or_a_name(
    asked: Callable[[Any], object], tmp_path: Path
) -> None:
    asia = lacunet.example("asia")
    lacunet.write_network(asia, tmp_path / "copy.json")
    has_network = type("Result", (), {"network": asia})()
    expected = str(asked(asia))
    for given in (has_network, "asia", str(tmp_path / "copy.json"), tmp_path / "copy.json"):
        assert str(asked(given)) == expected


def test_what_is_not_a_network_is_refused_with_the_ways_to_give_one() -> None:
    with pytest.raises(lacunet.LacunetError, match=r"a network is needed, not dict.*\nHint: give"):
        lacunet.query({"A": ["0", "1"]}, "A")  # type: ignore[arg-type]


def test_every_public_name_can_be_used() -> None:
    assert len(lacunet.__all__) <= 80
    assert sorted(lacunet.__all__) == sorted(lacunet._HOME_OF)
    for name in lacunet.__all__:
        assert getattr(lacunet, name).__name__ == name
        assert name in dir(lacunet)


def test_importing_loads_no_heavy_library() -> None:
    heavy = "{'numpy', 'scipy', 'pyarrow', 'pandas', 'networkx', 'narwhals', 'polars', 'duckdb'}"
    code = f"import lacunet, sys; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("method", ["auto", "em", "factored-mar"])
def test_learning_from_a_file_loads_only_what_it_needs(tmp_path: Path, method: str) -> None:
    (tmp_path / "rows.csv").write_text("A,B\n" + "0,\n,1\n1,1\n" * 100)
    code = (
        "import lacunet as lc, sys; "
        "network = lc.Network({'A': ['0', '1'], 'B': ['0', '1']}, {'B': ['A']}); "
        f"lc.learn(network, {str(tmp_path / 'rows.csv')!r}, {method!r}); "
        "print(sorted({'pandas', 'polars', 'duckdb', 'matplotlib', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_few_rows_are_learned_without_what_only_others_need(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("A,B\n0,1\n1,\n0,0\n1,1\n")
    others = [
        "pyarrow.compute",
        "multiprocessing",
        "concurrent.futures",
        "lacunet.missingness.verdict",
        "lacunet.statistics.spark",
        "lacunet.inference.expectation.plan",
    ]
    code = (
        "import lacunet as lc, sys; "
        "network = lc.Network({'A': ['0', '1'], 'B': ['0', '1']}, {'B': ['A']}); "
        f"lc.learn(network, {str(tmp_path / 'rows.csv')!r}); "
        f"print(sorted({{*{others!r}}} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
