"""What is hidden is what the mechanisms say, and nothing else changes."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import lacunet as lc
from examples import RAIN
from lacunet.data.read import read_table
from lacunet.data.table import EncodedTable
from lacunet.errors import LacunetError
from lacunet.inference.sampling import SimulationError, sample_codes
from lacunet.missingness.errors import MissingnessGraphError
from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.mechanism_cpts import MechanismCpt, Missingness
from lacunet.network.errors import NetworkError
from lacunet.network.labelled_tables import Library
from lacunet.network.network import Network
from lacunet.show.simulation_text import simulation_as_text
from lacunet.simulation.at_random import MAR, MCAR, InformedMAR, Missing
from lacunet.simulation.by_graph import MissingByGraph
from lacunet.simulation.simulate import Simulation, hide_cells, simulate
from strategies import networks
from studies.problems.generators import random_network

SEEDS = st.integers(0, 2**32 - 1)


@st.composite
def simulations(draw: st.DrawFn) -> Simulation:
    network = draw(networks(max_variables=6))
    observed = len(network.variables) - max(len(network.variables) // 2, 1)
    missing: Any = draw(
        st.sampled_from(
            [
                MCAR(0.5, share=0.5),
                MAR(share=0.5, parents=min(2, observed), beta=(0.5, 0.5)),
                InformedMAR(
                    share=0.5, separator=observed, parents=min(2, observed), beta=(0.5, 0.5)
                ),
                MissingByGraph(_self_censoring(network)),
            ]
        )
    )
    return simulate(network, 30, missing, rng=np.random.default_rng(draw(SEEDS)))


def _self_censoring(network: Network) -> MissingnessGraph:
    return MissingnessGraph(network, {network.variables[-1]: [network.variables[-1]]})


@settings(deadline=None)
@given(simulations())
def test_variables_without_a_mechanism_stay_fully_observed(made: Simulation) -> None:
    assert set(made.table.partially_observed) <= set(made.mechanisms)
    assert made.complete.partially_observed == ()
    assert made.graph.partially_observed == tuple(
        name for name in made.network.variables if name in made.mechanisms
    )


@settings(deadline=None)
@given(simulations())
def test_shown_cells_are_those_of_the_complete_rows(made: Simulation) -> None:
    assert made.table.variables == made.complete.variables == made.network.variables
    for name, column in made.table.columns.items():
        shown = made.table.is_shown([name])
        np.testing.assert_array_equal(column[shown], made.complete.columns[name][shown])
        assert column.dtype == made.complete.columns[name].dtype
        assert (column[~shown] == made.network.cardinality(name)).all()


@settings(deadline=None)
@given(networks(max_variables=6), SEEDS)
def test_cells_are_hidden_exactly_where_a_mechanism_of_zeros_and_ones_says(
    network: Network, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    hidden, *others = network.variables
    seen = tuple(others[:2])
    decided = rng.integers(0, 2, network.shape(seen)).astype(float)
    graph = MissingnessGraph(network, {hidden: seen})
    made = simulate(network, 40, MissingByGraph(graph, {hidden: decided}), rng=rng)
    expected = decided[tuple(made.complete.columns[name] for name in seen)] == 0
    np.testing.assert_array_equal(made.table.is_shown([hidden]), np.broadcast_to(expected, 40))


def deviations(made: Simulation, one: MechanismCpt) -> tuple[float, int]:
    """Pearson's statistic of one mechanism against its table, and its degrees of freedom."""
    seen = [made.complete.columns[str(parent)] for parent in one.parents]
    at = np.ravel_multi_index(seen, one.missing.shape) if seen else np.zeros(made.table.rows, int)
    rows = np.bincount(at, minlength=one.missing.size)
    hidden = np.bincount(at[~made.table.is_shown([one.variable])], minlength=one.missing.size)
    rate = one.missing.ravel()
    variance = rows * rate * (1 - rate)
    often = variance >= 5  # the normal approximation holds
    deviation = (hidden - rows * rate)[often] ** 2 / variance[often]
    return float(deviation.sum()), len(deviation)


@pytest.mark.parametrize(
    "missing",
    [
        MCAR(0.7, share=0.3),
        MAR(share=0.3, parents=2, beta=(1.0, 0.5)),
        MAR(share=0.9, parents=2, beta=(0.5, 0.5)),
        InformedMAR(share=0.3, separator=3, parents=2, beta=(1.0, 0.5)),
    ],
)
def test_rates_of_missing_values_agree_with_the_mechanisms(missing: Missing) -> None:
    network = random_network(30, np.random.default_rng(41), states=(2, 4))
    made = simulate(network, 100_000, missing, rng=np.random.default_rng(42))
    found = [deviations(made, one) for one in made.mechanisms.values()]
    statistic, freedom = (sum(values) for values in zip(*found, strict=True))
    assert freedom >= len(made.mechanisms)
    assert stats.chi2(freedom).sf(statistic) > 0.001
    assert stats.chi2(freedom).cdf(statistic) > 0.001  # nor too good to be true


def test_cells_of_different_mechanisms_are_hidden_independently() -> None:
    network = random_network(4, np.random.default_rng(43))
    made = simulate(network, 100_000, MCAR(0.5), rng=np.random.default_rng(44))
    shown = [made.table.is_shown([name]) for name in network.variables]
    patterns = np.bincount(sum(column * 2**at for at, column in enumerate(shown)), minlength=16)
    assert stats.chisquare(patterns).pvalue > 0.001


@settings(deadline=None)
@given(networks(), SEEDS)
def test_one_seed_gives_one_simulation(network: Network, seed: int) -> None:
    one, two = (simulate(network, 20, MCAR(0.5), rng=np.random.default_rng(seed)) for _ in "ab")
    for name in network.variables:
        np.testing.assert_array_equal(one.table.columns[name], two.table.columns[name])


def test_the_complete_rows_do_not_depend_on_what_is_hidden() -> None:
    kinds: list[Any] = [None, MCAR(0.5), MAR(share=0.4, parents=2, beta=(1.0, 0.5))]
    made = [simulate(RAIN, 50, kind, rng=np.random.default_rng(45)) for kind in kinds]
    for name in RAIN.variables:
        for other in made[1:]:
            np.testing.assert_array_equal(
                made[0].complete.columns[name], other.complete.columns[name]
            )


def test_the_mechanisms_do_not_depend_on_the_number_of_rows() -> None:
    few, many = (
        simulate(
            RAIN, rows, MAR(share=0.4, parents=2, beta=(1.0, 0.5)), rng=np.random.default_rng(46)
        )
        for rows in (5, 50)
    )
    assert few.graph == many.graph
    for name, one in few.mechanisms.items():
        np.testing.assert_array_equal(one.missing, many.mechanisms[name].missing)


def test_pandas_frames_can_be_written_to() -> None:
    for frame in (RAIN.sample(9, rng=0), simulate(RAIN, 9, rng=0).to_frame()):
        frame.loc[frame.index < 3, "Rain"] = None
        assert frame["Rain"].isna().sum() == 3


def test_nothing_is_hidden_where_nothing_is_asked_for() -> None:
    made = simulate(RAIN, 10, None, rng=np.random.default_rng(47))
    assert made.table is made.complete
    assert made.missingness is None
    assert made.mechanisms == {}
    assert made.graph.partially_observed == ()


def test_hiding_keeps_weights_and_row_numbers_and_changes_no_input() -> None:
    codes = np.array([0, 1, 0], np.uint8)
    weights, numbers = np.array([1.0, 2.0, 3.0]), np.array([1, 4, 9])
    table = EncodedTable({"Rain": 2}, {"Rain": codes}, weights, ("note",), numbers)
    rain = Network({"Rain": ["no", "yes"]})
    always = MechanismCpt("Rain", (), np.array(1.0))
    missingness = Missingness(MissingnessGraph(rain, {"Rain": ()}), {"Rain": always})
    hidden = hide_cells(table, missingness, np.random.default_rng(0))
    assert hidden.columns["Rain"].tolist() == [2, 2, 2]
    assert codes.tolist() == [0, 1, 0]
    assert hidden.weights is weights
    assert hidden.row_numbers is numbers
    assert hidden.notes == ("note",)


def test_a_mechanism_cannot_look_at_what_is_missing_already() -> None:
    codes = np.array([0, 2], np.uint8)
    table = EncodedTable({"Rain": 2, "Wet": 2}, {"Rain": codes, "Wet": codes})
    graph = MissingnessGraph(RAIN, {"Wet": ["Rain"]})
    drawn = MissingByGraph(graph).draw(RAIN, np.random.default_rng(0))
    with pytest.raises(SimulationError, match=r"\['Rain'\]"):
        hide_cells(table, drawn, np.random.default_rng(0))


def test_what_is_missing_already_stays_missing() -> None:
    codes = np.array([0, 2], np.uint8)
    table = EncodedTable({"Wet": 2}, {"Wet": codes})
    drawn = MissingByGraph(MissingnessGraph.parse("R[Wet]", RAIN), {"Wet": 0.0}).draw(
        RAIN, np.random.default_rng(0)
    )
    assert hide_cells(table, drawn, np.random.default_rng(0)).columns["Wet"].tolist() == [0, 2]


FRAMES = {
    "pandas": lambda rows: pd.DataFrame(rows, index=[7, 7, *range(len(rows["day"]) - 2)]),
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
}


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_sample_is_a_dataframe_of_the_rows_that_are_drawn(library: Library) -> None:
    frame = RAIN.sample(50, rng=3, library=library)
    assert type(frame).__module__.split(".")[0] == library
    assert list(nw.from_native(frame, eager_only=True).columns) == list(RAIN.variables)
    codes, drawn = read_table(frame, RAIN), sample_codes(RAIN, 50, np.random.default_rng(3))
    for name in RAIN.variables:
        np.testing.assert_array_equal(codes.columns[name], drawn.columns[name])


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_simulation_gives_dataframes_that_can_be_learned_from(library: Library) -> None:
    made = lc.simulate(RAIN, 200, lc.MAR(share=0.4, parents=2, beta=(1.0, 0.5)), rng=48)
    frame = made.to_frame(library)
    assert type(frame).__module__.split(".")[0] in ("pandas", "polars", "pyarrow")
    for complete, table in ((False, made.table), (True, made.complete)):
        read = read_table(made.to_frame(library, complete=complete), RAIN)
        for name in RAIN.variables:
            np.testing.assert_array_equal(read.columns[name], table.columns[name])
    learned, same = (lc.learn(RAIN, data, "factored-mar") for data in (frame, made.table))
    assert learned.network == same.network


def test_a_seed_is_as_good_as_a_generator() -> None:
    one, two = (
        lc.simulate(RAIN, 50, lc.MCAR(0.7, share=0.3), rng=r) for r in (7, np.random.default_rng(7))
    )
    assert one.to_frame("pyarrow").equals(two.to_frame("pyarrow"))


def test_mechanisms_that_are_drawn_already_can_be_used_again() -> None:
    first = lc.simulate(RAIN, 20, lc.MAR(share=0.4, parents=2, beta=(1.0, 0.5)), rng=1)
    again = lc.simulate(RAIN, 30, first.missingness, rng=2)
    assert again.missingness is first.missingness


def test_an_unknown_library_lists_the_known() -> None:
    for unknown in ("excel", "arrow"):
        with pytest.raises(LacunetError, match=f"{unknown!r}"):
            lc.simulate(RAIN, 5, rng=0).to_frame(unknown)  # type: ignore[arg-type]


@pytest.mark.parametrize("library", FRAMES)
def test_values_of_ones_own_rows_are_hidden_and_nothing_else_changes(library: str) -> None:
    complete = lc.simulate(RAIN, 60, rng=49).to_frame("pyarrow", complete=True).to_pydict()
    frame = FRAMES[library]({**complete, "day": list(range(60))})
    graph = lc.MissingnessGraph.parse("Rain -> R[Wet]", RAIN)
    missing = lc.MissingByGraph(graph, {"Wet": [0.0, 1.0]})
    hidden = lc.hide(RAIN, frame, missing, rng=3)
    assert type(hidden) is type(frame)
    rows = nw.from_native(hidden, eager_only=True)
    for name in ("Rain", "Sprinkler", "day"):
        assert rows[name].to_list() == nw.from_native(frame, eager_only=True)[name].to_list()
    wet = [None if cell is None or cell != cell else cell for cell in rows["Wet"].to_list()]
    expected = [
        w if rain == "no" else None
        for w, rain in zip(complete["Wet"], complete["Rain"], strict=True)
    ]
    assert wet == expected
    assert nw.from_native(frame, eager_only=True)["Wet"].null_count() == 0  # the input is whole


def test_numbers_that_are_states_stay_readable_when_some_are_hidden() -> None:
    dice = Network({"Die": ["1", "2", "3"]})
    frame = pd.DataFrame({"Die": [1, 2, 3] * 20})
    hidden = lc.hide(dice, frame, lc.MCAR(0.5), rng=0)
    read = read_table(hidden, dice)
    shown = read.is_shown(["Die"])
    assert 0 < shown.sum() < 60
    np.testing.assert_array_equal(read.columns["Die"][shown], np.array([0, 1, 2] * 20)[shown])


def test_the_same_seed_hides_the_same_cells_in_every_library() -> None:
    complete = lc.simulate(RAIN, 60, rng=49).to_frame("pyarrow", complete=True)
    kinds = [complete, complete.to_pandas(), pl.from_arrow(complete)]
    tables = [
        read_table(lc.hide(RAIN, one, lc.MAR(share=0.4, parents=2, beta=(1.0, 0.5)), rng=5), RAIN)
        for one in kinds
    ]
    for other in tables[1:]:
        np.testing.assert_array_equal(tables[0].columns["Wet"], other.columns["Wet"])


def test_a_dataframe_before_the_network_is_refused() -> None:
    with pytest.raises(NetworkError, match="network"):
        lc.hide(RAIN.sample(5), RAIN, lc.MCAR(0.7, share=0.3), rng=0)


def test_values_of_files_and_of_dicts_are_hidden_as_those_of_frames_are(tmp_path: Path) -> None:
    rows = lc.simulate(RAIN, 60, rng=49).to_frame("pandas").astype(str).assign(day=range(60))
    rows.to_csv(tmp_path / "rows.csv", index=False)
    for graph in ("Rain -> R[Wet]", "Rain -> R[Wet]; Rain -> R[*]"):
        hidden = lc.hide(RAIN, rows, graph, rng=3)
        cells = hidden.astype(object).where(hidden.notna(), None).to_dict("list")
        assert 0 < cells["Wet"].count(None) < len(cells["Wet"])
        assert lc.hide(RAIN, rows.to_dict("list"), graph, rng=3) == cells
        from_file = lc.hide(RAIN, lc.Data(tmp_path / "rows.csv", without="day"), graph, rng=3)
        assert from_file["Wet"].to_pylist() == cells["Wet"]
        assert [*map(int, from_file["day"].to_pylist())] == cells["day"]


def test_a_simulation_is_data() -> None:
    drawn = lc.simulate(RAIN, 300, lc.MCAR(0.3), rng=4)
    expected = lc.learn(RAIN, drawn.to_frame(), "direct-mcar").cpt("Wet").table
    for network in (RAIN, RAIN.edges):
        learned = lc.learn(network, drawn, "direct-mcar")
        np.testing.assert_array_equal(learned.cpt("Wet").table, expected)
    assert "300 rows" in str(lc.diagnose(drawn))
    assert pl.DataFrame(drawn).equals(drawn.to_frame("polars"))
    assert lc.hide(RAIN, lc.simulate(RAIN, 50, rng=1), lc.MCAR(0.5), rng=2).num_rows == 50


def test_a_missingness_graph_says_by_itself_how_values_go_missing() -> None:
    graph = lc.MissingnessGraph.parse("Rain -> R[Wet]", RAIN)
    made, same = (lc.simulate(RAIN, 50, way, rng=6) for way in (graph, lc.MissingByGraph(graph)))
    assert made.to_frame("pyarrow").equals(same.to_frame("pyarrow"))
    with pytest.raises(SimulationError, match="'often'"):
        lc.simulate(RAIN, 50, "often", rng=6)
    with pytest.raises(SimulationError, match=re.escape("lacunet.MCAR(0.2)")):
        lc.simulate(RAIN, 50, 0.2, rng=6)  # type: ignore[arg-type]


def test_the_text_of_a_missingness_graph_says_how_values_go_missing() -> None:
    text = "Rain -> R[Wet]"
    graph = lc.MissingnessGraph.parse(text, RAIN)
    rows = RAIN.sample(50, rng=1, library="pyarrow")
    for way in (text, lc.MissingByGraph(text)):
        made, same = (lc.simulate(RAIN, 50, own, rng=6).to_frame("pyarrow") for own in (way, graph))
        assert made.equals(same)
        assert lc.hide(RAIN, rows, way, rng=7).equals(lc.hide(RAIN, rows, graph, rng=7))
    with pytest.raises(SimulationError, match=r"\['Rain'\]"):
        lc.hide(RAIN, rows, lc.MissingByGraph(text, {"Rain": 0.5}))
    with pytest.raises(SimulationError, match="Network"):
        lc.MissingByGraph(RAIN)  # type: ignore[arg-type]
    with pytest.raises(MissingnessGraphError, match="Snow"):
        lc.hide(RAIN, rows, "Snow -> R[Wet]")


@pytest.mark.parametrize("rows", [1.5, "10", None, True])
def test_rows_that_cannot_be_counted_are_refused(rows: Any) -> None:
    with pytest.raises(lc.LacunetError, match="number"):
        lc.simulate("asia", rows)


def test_a_seed_that_is_none_is_refused() -> None:
    with pytest.raises(lc.LacunetError, match="'x'"):
        lc.simulate("asia", 3, rng="x")  # type: ignore[arg-type]


def test_simulations_can_be_compared() -> None:
    one, two = (lc.simulate("asia", 3, rng=0) for _ in range(2))
    assert one != two
    assert one == one


def test_one_variable_is_not_called_variables() -> None:
    data = {"rows": 1, "variables": 2, "missing": {"A": 1}, "category": None, "graph": ""}
    told = simulation_as_text(data)
    assert told == "1 row of 2 variables; 1 of 2 cells (50.0%) are hidden, in 1 variable"


def test_rates_of_variables_are_answered_with_the_whole_call() -> None:
    with pytest.raises(SimulationError) as refused:
        simulate(lc.example("asia"), 400, {"xray": 0.3}, rng=0)  # type: ignore[arg-type]
    assert "lacunet.MissingByGraph('R[xray]', {'xray': 0.3})" in str(refused.value)
    drawn = simulate(lc.example("asia"), 400, MissingByGraph("R[xray]", {"xray": 0.3}), rng=0)
    assert 80 < drawn.table.missing_of["xray"] < 160  # of 400, four standard errors


@pytest.mark.parametrize("text", ["R[Smoke]", "R[Smoke]; R[*]"])
def test_codes_of_several_states_and_of_missing_values_stay_where_nothing_is_hidden(
    text: str,
) -> None:
    codes = {"Smoke": {"some": ["few", "many"], "9": None}}
    network = Network({"Smoke": ["none", "few", "many"]}, codes=codes)
    values = ["none", "some", "9", "many", None] * 20
    probabilities = {"Smoke": 0.0} | ({"*": 0.5} if "*" in text else {})
    found = lc.hide(network, pl.DataFrame({"Smoke": values}), MissingByGraph(text, probabilities))
    assert {*found["Smoke"]} == {*values}


def test_mechanisms_of_another_network_are_refused_with_the_variables_that_differ() -> None:
    asia = lc.example("asia")
    drawn = lc.simulate(asia, 5, "smoke -> R[xray]", rng=0).missingness
    with pytest.raises(SimulationError, match="smoke"):
        lc.simulate(lc.example("alarm"), 5, drawn, rng=0)
    longer = lc.Network({**asia.states_of, "smoke": ["yes", "no", "at times"]}, asia.parents_of)
    rows = asia.sample(5, rng=0)
    with pytest.raises(SimulationError, match="states"):
        lc.hide(longer, rows, drawn, rng=0)


@pytest.mark.parametrize("kind", [lc.MCAR, lc.MAR, lc.MissingByGraph])
def test_a_kind_of_mechanism_without_its_options_is_refused(kind: Any) -> None:
    with pytest.raises(SimulationError, match=rf"{kind.__name__}.*\n.*MCAR\(0\.2\)"):
        lc.simulate(lc.example("asia"), 5, kind)


@pytest.mark.parametrize("tables", [None, [0.3], "Income"])
def test_tables_that_are_no_mapping_are_refused(tables: Any) -> None:
    with pytest.raises(SimulationError, match="mapping"):
        lc.MissingByGraph("R[Income]", tables)


@pytest.mark.parametrize("view", [pa.string_view(), pa.binary_view()], ids=str)
def test_views_of_arrow_are_hidden_and_stay_views(view: pa.DataType) -> None:
    plain = pa.string() if view == pa.string_view() else pa.binary()
    cells = pa.array(["no", "yes"] * 50).cast(plain)
    table = pa.table({"Rain": cells.cast(view), "Note": cells.cast(view)})
    network = Network({"Rain": ["no", "yes"]})
    for missing in (MCAR(0.5), "R[Rain]; Rain -> R[*]"):
        hidden = lc.hide(network, table, missing, rng=3)
        assert hidden.schema == table.schema
        assert not hidden["Note"].null_count
        assert 0 < hidden["Rain"].null_count < hidden.num_rows
        for shown, note in zip(hidden["Rain"].to_pylist(), hidden["Note"].to_pylist(), strict=True):
            assert shown is None or shown == note


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: lc.simulate(RAIN, 4000, rng=rng).to_frame(),
        lambda rng: RAIN.sample(4000, rng=rng),
    ],
)
@pytest.mark.parametrize("seed", [1, 5])
def test_rows_and_what_is_hidden_of_them_do_not_depend_on_each_other_under_one_seed(
    draw: Callable[[int], Any], seed: int
) -> None:
    rows = draw(seed)
    hidden = lc.hide(RAIN, rows, lc.MCAR(0.3), rng=seed)
    for name in RAIN.variables:
        is_missing = hidden[name].isna()
        for state in RAIN.states(name):
            of_state = is_missing[rows[name] == state]
            error = np.sqrt(0.3 * 0.7 / max(len(of_state), 1))
            assert abs(of_state.mean() - 0.3) < 4 * error, (name, state)
