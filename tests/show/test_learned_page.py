from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from standins import HOSTILE, carried, hostile, learned, page_with, unpacked

import lacunet as lc
from golden import golden
from lacunet.counts.missing_values import missing_summary
from lacunet.data.read import read_table
from lacunet.errors import LacunetError
from lacunet.learning.plan import Ended
from lacunet.missingness.graph import MissingnessGraph
from lacunet.network.network import Network
from lacunet.show.pages.kit import asset, document, write_page
from lacunet.show.pages.numbers import largest_moves
from lacunet.show.pages.provenance import LIVE, SCRIPTS, SURE
from lacunet.show.results.page_sections import em_section
from lacunet.show.results.result_page import page
from lacunet.simulation.at_random import MAR
from lacunet.simulation.simulate import simulate


def test_the_cpts_in_the_page_are_the_learned_ones() -> None:
    case = golden("alarm-mar")
    result = learned(case.network, case.table)
    tables, support = unpacked(carried(page_with(result, case.table)), case.network)
    expected = case.cpts("factored-mar")
    for name, table, rows in zip(case.network.variables, tables, support, strict=True):
        np.testing.assert_array_equal(table, result.network.cpt(name).table)
        np.testing.assert_allclose(table, expected[name], rtol=0, atol=1e-12)
        assert (rows == result.families[name].support).all()  # type: ignore[attr-defined]


class Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.tags: set[str] = set()
        self.handlers: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.addresses += [v or "" for k, v in attrs if k in ("src", "href", "action", "data")]
        self.handlers += [k for k, _ in attrs if k.startswith("on") or k == "style"]


@pytest.mark.parametrize("method", ["factored-mar", "em"])
def test_the_page_names_no_other_address_and_hostile_names_stay_text(method: str) -> None:
    network, table = hostile()
    text = page_with(learned(network, table, method), table)
    elements = Elements()
    elements.feed(text)
    assert set(elements.addresses) <= {"#panel", "#learned", "data:,"}
    assert not elements.handlers
    assert not elements.tags & {"img", "iframe", "object", "embed", "form"}
    assert carried(text)["variables"][0]["name"] == HOSTILE
    assert text.count("</script>") == 7  # the data, and the page's own six


def test_the_policy_allows_only_what_the_page_itself_holds() -> None:
    text = document("a", ["<p>b</p>"])
    assert "default-src 'none'" in text
    assert "script-src 'none'" in text
    assert "unsafe" not in text


@pytest.mark.parametrize(("name", "limit"), [("alarm", 215_000), ("barley", 1_600_000)])
@pytest.mark.parametrize("rows", [1_000, 30_000])
def test_pages_stay_within_their_budget_with_intervals_too(
    name: str, limit: int, rows: int
) -> None:
    missing = MAR(share=0.9, beta=(0.5, 0.5))
    drawn = simulate(lc.example(name), rows, missing, rng=np.random.default_rng(3))
    result = lc.learn(drawn.network, drawn.table, method="direct-mcar", intervals=True)
    assert len(page_with(result, drawn.table, level=0.95).encode()) <= limit


def test_scripts_stay_within_their_budget() -> None:
    # Beliefs, cards, CPTs and pictures, without any library: less than the 74 kB of the layout
    # library that pages once carried.
    assert sum(len(asset(name).encode()) for name in (*SCRIPTS, *LIVE)) <= 72_000
    assert sum(len(asset(name).encode()) for name in SURE) <= 12_500  # intervals, where carried


def test_the_largest_move_is_where_the_complete_rows_mislead() -> None:
    network = Network(
        {"Age": ["young", "old"], "Ill": ["no", "yes"]},
        {"Ill": ["Age"]},
        {"Age": [0.5, 0.5], "Ill": [[0.75, 0.25], [0.25, 0.75]]},
    )
    # All the young answer, one in four of the old: complete rows say 80% are young.
    rows = {
        "Age": ["young"] * 40 + ["old"] * 40,
        "Ill": (["no"] * 30 + ["yes"] * 10) + (["no", "yes", "yes", "yes", *[None] * 12] * 3)[:40],
    }
    table = read_table(rows, network)
    summary = missing_summary(table, [("Age",), ("Age", "Ill")])
    moves = largest_moves(network, summary, True, 5)
    assert (moves[0].variable, moves[0].learned) == ("Age", 0.5)
    assert moves[0].complete == pytest.approx(40 / 52) or moves[0].complete == pytest.approx(
        12 / 52
    )
    assert moves[0].rows == 52


def test_intervals_are_carried_in_ten_thousandths() -> None:
    network = Network({"A": ["0", "1"]}, {})
    table = read_table({"A": ["0"] * 30 + ["1"] * 20}, network)
    result = lc.learn(network, table, method="direct-mcar", intervals=True)
    data = carried(page_with(result, table, level=0.9))
    assert data["level"] == 0.9
    unpacked(data, network)
    ends = result.interval("A", 0.9)
    expected = np.stack([np.floor(1e4 * ends[..., 0]), np.ceil(1e4 * ends[..., 1])], -1)
    np.testing.assert_array_equal(data["ends"][0], expected)


def test_intervals_of_marginals_are_those_of_query() -> None:
    case = golden("asia-mar")
    result = lc.learn(case.network, case.table, method="em", intervals=True)
    live = carried(page_with(result, case.table, level=0.8))["live"]
    for name, ends in zip(case.network.variables, live["intervals"], strict=True):
        expected = result.uncertainty.query(name).interval(0.8)  # type: ignore[union-attr]
        np.testing.assert_allclose(ends, expected, rtol=0, atol=5.1e-7)


def test_the_page_knows_which_cpt_rows_no_data_support_as_query_does() -> None:
    rows = {"Age": ["kid"] * 40 + ["adult"] * 60, "MI": [None] * 40 + ["no"] * 57 + ["yes"] * 3}
    network = Network({"Age": ["kid", "adult"], "MI": ["no", "yes"]}, {"MI": ["Age"]})
    result = lc.learn(network, rows, "em", intervals=True)
    expected = result.query("MI", unsupported="ignore").interval
    carried_ones = carried(page(result, level=0.95))["live"]["intervals"]
    np.testing.assert_allclose(
        carried_ones[result.network.variables.index("MI")], expected, atol=1e-6
    )


def test_the_page_says_what_was_assumed_and_where_intervals_come_from() -> None:
    rows = {"A": ["0", "1", None, "1"] * 10, "B": ["0", None, "1", "0"] * 10}
    result = lc.learn("A -> B", rows, "em", intervals=True)
    text = page(result, level=0.975)
    assert f"{result.assumption}" in text
    assert "97.5%" in text
    assert "It assumes" not in page(lc.learn("A", {"A": ["0", "1"]}, "em"))


def test_an_effective_size_that_is_not_known_is_not_made_up() -> None:
    case = golden("asia-mar")
    result = learned(case.network, case.table)
    families = {v: replace(one, effective_sizes=None) for v, one in result.families.items()}
    text = page_with(replace(result, families=families), case.table)
    assert all(fact["effective"] is None for fact in carried(text)["variables"])
    assert "&lt; 0" not in text


def test_mechanisms_and_hidden_causes_are_carried() -> None:
    network = lc.example("asia")
    graph = MissingnessGraph.parse(
        "smoke -> R[lung]; R[lung] -> R[xray]; bronc <-> R[dysp]", network
    )
    rows = {n: [network.states(n)[0]] * 9 + ["no"] for n in network.variables}
    rows |= {n: [*rows[n][:9], None] for n in ("lung", "xray", "dysp")}
    table = read_table(rows, network)
    data = carried(page_with(learned(network, table), table, missingness=graph))
    place = {name: k for k, name in enumerate(network.variables)}
    causes = {m["variable"]: m["causes"] for m in data["mechanisms"]}
    assert causes[place["lung"]] == [f"v{place['smoke']}"]
    assert causes[place["xray"]] == [f"r{place['lung']}"]
    assert data["hidden_causes"] == [sorted([f"v{place['bronc']}", f"r{place['dysp']}"])]


def test_a_page_that_cannot_be_written_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(LacunetError, match="written"):
        write_page(tmp_path / "no" / "page.html", "text")


def test_a_page_is_refused_where_the_name_promises_another_file(tmp_path: Path) -> None:
    result = lc.learn(lc.example("screening"), lc.example_data("screening"))
    path = tmp_path / "a.pdf"
    for write in (result.report, result.show().write):
        with pytest.raises(LacunetError, match=r"a\.pdf"):
            write(path)
    assert not path.exists()


def test_a_climb_that_is_not_all_of_em_is_called_the_last_part(tmp_path: Path) -> None:
    network, data = lc.example("screening"), lc.example_data("screening").slice(0, 2_000)
    for pseudo_counts, says in (
        (1, "The climb of EM on all rows."),
        ("learn", "those before learned"),
    ):
        result = lc.learn(
            network, data, lc.EM(start="random", restarts=1), pseudo_counts=pseudo_counts
        )
        assert result.ended is not None
        result.report(tmp_path / "page.html")
        assert says in (tmp_path / "page.html").read_text()


def test_of_two_states_that_mirror_each_other_one_is_told() -> None:
    network = Network({"A": ["0", "1"], "B": ["0", "1"]}, {"B": ["A"]})
    rows = {"A": ["0", "1"] * 40 + [None] * 9, "B": ["0", "1", "1", "1"] * 20 + ["0"] * 9}
    table = read_table(rows, network)
    result = lc.learn(network, table, method="em")
    moves = largest_moves(result.network, missing_summary(table, network.families), True, 9)
    told = [(move.variable, move.states[:-1]) for move in moves]
    assert told
    assert len(told) == len(set(told))


def test_starts_that_agree_are_told_in_words_alone() -> None:
    ended = Ended("converged", 3, 0.1, -10.0, -11.0, trace=(), starts=(-11.0, -11.0001))
    assert "<svg" not in em_section(ended, has_learned_pseudo_counts=False)
    apart = em_section(replace(ended, starts=(-11.0, -14.0)), has_learned_pseudo_counts=False)
    assert apart.count("<circle") == 2
    assert "s0-0" not in apart  # points that have no order are not joined
