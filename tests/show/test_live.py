"""Beliefs in the browser against the library's own inference, brute force and d-separation."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import networkx as nx
import numpy as np
import pytest
from browsing import Opened, needs_browser
from standins import SOURCE

import lacunet as lc
from lacunet.network.mechanisms import Mechanisms
from lacunet.network.network import Network
from lacunet.show.network_page import page
from lacunet.show.pages.kit import write_page
from lacunet.show.results.result_page import page as learned_page
from lacunet.show.studio.commands import question_in_address

pytestmark = needs_browser
BNREP = Path(__file__).parents[1] / "cases" / "bnrep"
PATHS = {path.name.removesuffix(".json.gz"): path for path in sorted(BNREP.glob("*.gz"))}
SMALL = ("asia", "cancer", "child", "earthquake", "fire-alarm", "sachs", "survey")
MIDDLE = ("alarm", "hailfinder", "hepar2", "insurance", "win95pts")
LARGE = ("barley", "munin1", "water")


def network_named(name: str) -> Network:
    return lc.read_network(PATHS[name]) if name in PATHS else lc.example(name)


def some_evidence(network: Network, rng: np.random.Generator, number: int) -> dict[str, str]:
    """States of some variables that occur together: those of one sampled row."""
    row = lc.simulate(network, 1, rng=rng).table
    names = rng.choice(network.variables, min(number, len(network.variables)), replace=False)
    return {str(name): network.states(name)[int(row.columns[name][0])] for name in names}


def probability_of(network: Network, evidence: dict[str, str]) -> float:
    row = {name: [evidence.get(name)] for name in network.variables}
    return float(np.exp(network.log_likelihood(row)))


def compared(opened: Opened, network: Network, evidence: dict[str, str]) -> int:
    """How many variables the page has beliefs of, after all of them were held against ours."""
    opened.ask(evidence)
    shown = {name: states for name, states in opened.numbers().items() if states}
    answers = network.marginals(evidence, variables=list(shown))
    for name, states in shown.items():
        assert list(states) == list(network.states(name))
        np.testing.assert_allclose(list(states.values()), answers[name], rtol=0, atol=1e-9)
    expected = probability_of(network, evidence)
    np.testing.assert_allclose(opened.evidence_probability, expected, rtol=1e-9)
    return len(shown)


@pytest.mark.parametrize("name", [*SMALL[:2], "alarm", "dioxins", "softwarelogs1"])
def test_beliefs_equal_those_of_query(browser: Any, tmp_path: Path, name: str) -> None:
    check_beliefs(browser, tmp_path, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*SMALL[2:], *MIDDLE[1:], "GDIpathway2", "cng", "propellant"])
def test_beliefs_equal_those_of_query_on_all_networks(
    browser: Any, tmp_path: Path, name: str
) -> None:
    check_beliefs(browser, tmp_path, name)


def check_beliefs(browser: Any, tmp_path: Path, name: str) -> None:
    network, rng = network_named(name), np.random.default_rng(25)
    write_page(tmp_path / "net.html", page(network))
    with Opened(browser, tmp_path / "net.html") as opened:
        for number in (0, 1, 3, len(network.variables) // 2):
            evidence = some_evidence(network, rng, number)
            assert compared(opened, network, evidence) == len(network.variables)
        assert opened.faults == []


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
def test_a_large_network_answers_what_it_can_and_names_the_command_for_the_rest(
    browser: Any, tmp_path: Path, name: str
) -> None:
    network, rng = network_named(name), np.random.default_rng(3)
    write_page(tmp_path / "net.html", page(network, SOURCE))
    with Opened(browser, tmp_path / "net.html") as opened:
        for number in (0, 2):
            shown = compared(opened, network, some_evidence(network, rng, number))
            assert shown > 0
            assert opened.page.is_visible("#beyond") == (shown < len(network.variables))
            if shown < len(network.variables):
                check_rest(opened, network)
        assert opened.faults == []


def check_rest(opened: Opened, network: Network) -> None:
    """Those without beliefs are counted, and the command that is named asks for one of them."""
    shown = {name for name, states in opened.numbers().items() if states}
    text = opened.page.inner_text("#beyond")
    assert f"{len(network.variables) - len(shown)} of {len(network.variables)}" in text
    command = opened.page.inner_text("#beyond code")
    assert command.split('"')[1].split("|")[0] not in shown


def test_a_large_network_is_answered_variable_by_variable(browser: Any, tmp_path: Path) -> None:
    # Its cliques have 2e8 cells as a whole; 75 of 186 variables were left out when they had to fit.
    network = lc.example("munin1")
    write_page(tmp_path / "net.html", page(network, SOURCE))
    with Opened(browser, tmp_path / "net.html") as opened:
        for evidence in ({}, {"R_MED_ALLCV_EW": "M_S60"}):
            opened.ask(evidence)
            shown = opened.numbers()
            assert all(shown.values())
            for name in ("R_MED_AMP_WA", "R_APB_MUSIZE", "R_APB_VOL_ACT"):
                expected = network.query(name, evidence).probabilities
                np.testing.assert_allclose([*shown[name].values()], expected, rtol=0, atol=1e-9)
        assert not opened.page.is_visible("#beyond")
        assert opened.faults == []


@pytest.mark.parametrize("chosen", ["HISTORY", "CATECHOL"])
def test_the_example_of_what_is_not_answered_is_not_answered(
    browser: Any, tmp_path: Path, chosen: str
) -> None:
    network = lc.example("alarm")
    text = page(network, SOURCE)
    assert '"most_cells":12000000' in text
    (tmp_path / "net.html").write_text(text.replace('"most_cells":12000000', '"most_cells":60'))
    for evidence in ("", "CVP=LOW&"):
        with Opened(browser, tmp_path / "net.html", after=f"#{evidence}{chosen}") as opened:
            opened.page.wait_for_selector("html[data-hatched=yes]")
            shown = {name: states for name, states in opened.numbers().items() if states}
            assert 0 < len(shown) < 37
            check_rest(opened, network)
            given = {"CVP": "LOW"} if evidence else {}
            for name in [*shown][:4]:
                expected = network.query(name, given).probabilities
                np.testing.assert_allclose([*shown[name].values()], expected, rtol=0, atol=1e-9)
            assert opened.faults == []


def joint(network: Network, row: dict[str, str]) -> float:
    """The probability of a state of every variable."""
    cells = [
        cpt.table[tuple(network.states(v).index(row[v]) for v in cpt.family)]
        for cpt in network.cpts
    ]
    return float(np.prod(cells))


def test_the_most_probable_explanation_is_that_of_all_combinations(
    browser: Any, asia: Path
) -> None:
    network = lc.example("asia")
    with Opened(browser, asia, after="#dysp=yes&xray=no&bronc=no&bronc=yes") as opened:
        opened.page.click("#explain")
        marked = opened.page.eval_on_selector_all(
            ".state.explains", "all => all.map(r => [r.dataset.variable, r.dataset.state])"
        )
        best, highest = {}, 0.0
        for states in product(*network.states_of.values()):
            row = dict(zip(network.variables, states, strict=True))
            if row["dysp"] == "yes" and row["xray"] == "no":
                weight = joint(network, row)
                best, highest = (row, weight) if weight > highest else (best, highest)
        assert dict(marked) == best
        shown = float(opened.page.inner_text("#explained b"))
        assert shown == pytest.approx(highest / opened.evidence_probability, rel=5e-3)
        opened.bar("smoke", "yes").click()
        assert not opened.page.is_visible("#explained")
        assert opened.faults == []


def test_what_would_move_a_state_is_what_query_says(browser: Any, asia: Path) -> None:
    network = lc.example("asia")
    with Opened(browser, asia, after="#smoke=yes&dysp") as opened:
        opened.page.click("#moving summary")
        opened.page.select_option("#moved-state", label="yes")
        names = opened.page.locator("#moves .name").all_inner_texts()
        ranges = opened.page.eval_on_selector_all(
            "#moves .reach", "all => all.map(e => e.getAttribute('aria-label'))"
        )
        for name, words in zip(names, ranges, strict=True):
            given = [
                network.query("dysp", {"smoke": "yes", name: state})["yes"]
                for state in network.states(name)
            ]
            _, low, _, high = words.split()
            assert [float(low), float(high)] == pytest.approx([min(given), max(given)], abs=6e-4)
        assert names[0] == "bronc"  # which dysp hangs on most
        opened.bar("bronc", "yes").click()
        assert "bronc" not in opened.page.locator("#moves .name").all_inner_texts()
        assert opened.faults == []


SHOWN = "smoke -> R[lung]; smoke -> R[dysp]; R[asia]; R[either]"


def compared_intervals(opened: Opened, result: lc.Result, evidence: dict[str, str]) -> int:
    """How many variables have intervals, after all were held against those of queries."""
    opened.page.wait_for_selector("html[data-hatched=yes]")
    opened.ask(evidence)
    low, high = opened.numbers("low"), opened.numbers("high")
    number = 0
    for name in result.network.variables:
        if name not in evidence and low[name]:
            ends = np.stack([[*low[name].values()], [*high[name].values()]], -1)
            expected = result.query(name, evidence).interval
            np.testing.assert_allclose(ends, expected, rtol=0, atol=2e-5)
            number += 1
    return number


@pytest.mark.filterwarnings("ignore:.*rests on CPT rows")
@pytest.mark.parametrize(
    ("method", "missingness"),
    [("em", None), ("direct-mcar", None), ("factored-mar", None), ("mgraph", SHOWN)],
)
def test_intervals_given_evidence_are_those_of_query(
    browser: Any, tmp_path: Path, method: str, missingness: str | None
) -> None:
    network = lc.example("asia")
    rows = lc.simulate(network, 800, lc.MAR(0.3), rng=3).table
    options: dict[str, Any] = {} if missingness is None else {"missingness": missingness}
    result = lc.learn(network, rows, method, intervals=True, **options)
    write_page(tmp_path / "net.html", learned_page(result, level=0.95))
    with Opened(browser, tmp_path / "net.html") as opened:
        for evidence in ({"dysp": "yes"}, {"xray": "yes", "smoke": "no"}):
            assert compared_intervals(opened, result, evidence) == 8 - len(evidence)
        assert opened.faults == []


@pytest.mark.filterwarnings("ignore:.*rests on CPT rows")
def test_intervals_given_evidence_allow_for_rules_and_for_cpt_rows_without_data(
    browser: Any, tmp_path: Path
) -> None:
    rng = np.random.default_rng(6)
    smokes = rng.choice(["no", "yes"], 300)
    rows = {
        "Smokes": smokes.tolist(),
        "PerDay": [str(rng.poisson(9)) if one == "yes" else None for one in smokes],
        "Ill": [None if rng.random() < 0.3 else str(rng.random() < 0.4) for _ in smokes],
        "Age": ["old"] * 300,
        "Test": [None if rng.random() < 0.2 else str(rng.random() < 0.4) for _ in smokes],
    }
    data = lc.Data(
        rows,
        bins={"PerDay": 3},
        not_asked={"PerDay": "Smokes=no"},
        states={"Age": ["young", "old"]},
    )
    network = lc.Network.from_data(data, "Smokes -> PerDay; Smokes -> Ill; Ill, Age -> Test")
    result = lc.learn(network, data, "em", intervals=True)
    write_page(tmp_path / "net.html", learned_page(result, level=0.95))
    with Opened(browser, tmp_path / "net.html") as opened:
        assert compared_intervals(opened, result, {"Ill": "True", "Age": "old"}) == 3
        assert compared_intervals(opened, result, {"Smokes": "yes", "Age": "old"}) == 3
        # Nobody is young: what follows for the test rests on no row.
        assert compared_intervals(opened, result, {"Age": "young"}) == 4
        assert compared_intervals(opened, result, {"Ill": "True"}) == 4
        assert opened.page.locator("#sure").is_hidden()
        assert opened.faults == []


def test_a_card_stays_where_it_was_put(browser: Any, asia: Path) -> None:
    corner = "e => [e.style.left, e.style.top].map(parseFloat)"
    card = ".card:has(> .head[title^='xray'])"
    paths = "all => all.map(e => e.getAttribute('d'))"
    with Opened(browser, asia) as opened:
        before = opened.page.eval_on_selector(card, corner)
        arrows = opened.page.eval_on_selector_all(".edge", paths)
        box = opened.page.locator(f"{card} .head").bounding_box()
        opened.page.mouse.move(box["x"] + 20, box["y"] + 10)
        opened.page.mouse.down()
        opened.page.mouse.move(box["x"] + 60, box["y"] + 40, steps=4)
        opened.page.mouse.up()
        after = opened.page.eval_on_selector(card, corner)
        assert after == [before[0] + 40, before[1] + 30]
        assert opened.page.locator(".card.chosen").count() == 0  # a drag is no click
        moved = opened.page.eval_on_selector_all(".edge", paths)
        assert sum(a != b for a, b in zip(arrows, moved, strict=True)) == 1
        opened.page.reload()
        opened.page.wait_for_selector("html[data-ready=yes]")
        opened.page.wait_for_selector("#put-back:visible")  # drawn as it was left
        assert opened.page.eval_on_selector(card, corner) == after
        opened.page.click("#put-back")
        assert opened.page.eval_on_selector(card, corner) == before
        assert opened.faults == []


def test_the_picture_that_is_saved_has_the_beliefs(browser: Any, asia: Path) -> None:
    with Opened(browser, asia, after="#smoke=yes") as opened:
        with opened.page.expect_download() as download:
            opened.page.click("#save-svg")
        root = ElementTree.fromstring(download.value.path().read_text())
        words = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
        assert {*lc.example("asia").variables} <= {*words}
        for states in opened.numbers().values():
            assert {f"{value:.3f}" for value in states.values()} <= {*words}
        with opened.page.expect_download() as download:
            opened.page.click("#save-png")
        picture = download.value.path().read_bytes()
        assert picture[:4] == b"\x89PNG"
        assert int.from_bytes(picture[16:20]) == 2 * math.ceil(float(root.get("width", "0")))
        assert opened.faults == []


@pytest.fixture(scope="module")
def asia(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("live") / "asia.html"
    write_page(path, page(lc.example("asia")))
    return path


def test_a_click_sets_evidence_and_a_second_one_takes_it_back(browser: Any, asia: Path) -> None:
    network = lc.example("asia")
    with Opened(browser, asia) as opened:
        before = opened.numbers()
        opened.bar("dysp", "yes").click()
        assert opened.numbers()["dysp"] == {"yes": 1.0, "no": 0.0}
        np.testing.assert_allclose(
            opened.numbers()["bronc"]["yes"],
            network.query("bronc", {"dysp": "yes"}).probabilities[0],
            rtol=1e-12,
        )
        assert opened.bar("dysp", "yes").get_attribute("aria-pressed") == "true"
        assert opened.page.evaluate("location.hash") == "#dysp=yes"
        opened.bar("dysp", "no").click()  # another state of the same variable
        assert opened.numbers()["dysp"] == {"yes": 0.0, "no": 1.0}
        opened.bar("dysp", "no").click()
        assert opened.numbers() == before
        assert opened.evidence_probability == 1
        opened.bar("xray", "yes").click()
        opened.page.click("#clear")
        assert opened.numbers() == before
        assert opened.faults == []


def test_the_keyboard_sets_evidence(browser: Any, asia: Path) -> None:
    with Opened(browser, asia) as opened:
        opened.bar("smoke", "yes").focus()
        opened.page.keyboard.press("Enter")
        assert opened.numbers()["smoke"]["yes"] == 1
        opened.page.keyboard.press("ArrowDown")
        assert opened.page.evaluate("document.activeElement.dataset.state") == "no"
        opened.page.keyboard.press("Space")
        assert opened.numbers()["smoke"]["no"] == 1
        opened.page.keyboard.press("Escape")
        assert opened.page.evaluate("document.activeElement.className") == "head"


def test_the_tab_key_reaches_the_states_of_the_chosen_variable(browser: Any, asia: Path) -> None:
    with Opened(browser, asia, after="#tub") as opened:
        opened.page.focus(".card.chosen .head")
        opened.page.keyboard.press("Tab")
        focused = opened.page.evaluate("Object.values({...document.activeElement.dataset})")
        assert focused[:2] == ["tub", "yes"]


def test_the_address_carries_a_question_and_says_what_it_does_not_know(
    browser: Any, asia: Path
) -> None:
    network = lc.example("asia")
    with Opened(browser, asia, after="#smoke=yes&xray=no&either") as opened:
        expected = network.query("lung", {"smoke": "yes", "xray": "no"})
        np.testing.assert_allclose(list(opened.numbers()["lung"].values()), expected, atol=1e-12)
        assert "P(either" in opened.page.inner_text("#panel-title")
        opened.page.evaluate("location.hash = '#smoke=never&cough=yes'")
        opened.page.wait_for_selector("#unknown:visible")
        assert "smoke=never, cough=yes" in opened.page.inner_text("#unknown")
        assert opened.evidence_probability == 1
        assert opened.faults == []


def test_impossible_evidence_is_said_to_be_impossible(browser: Any, asia: Path) -> None:
    with Opened(browser, asia, after="#lung=yes&either=no") as opened:
        assert opened.evidence_probability == 0
        assert "cannot occur" in opened.page.inner_text("#evidence-probability")
        assert opened.numbers()["xray"] == {}
        opened.bar("either", "no").click()
        assert opened.evidence_probability == pytest.approx(0.055)
        assert opened.numbers()["either"]["yes"] == 1
        assert opened.faults == []


def test_what_moved_is_told_against_the_beliefs_without_evidence(browser: Any, asia: Path) -> None:
    network = lc.example("asia")
    move = (
        network.query("tub", {"asia": "yes"}).probabilities[0]
        - network.query("tub").probabilities[0]
    )
    with Opened(browser, asia, after="#asia=yes") as opened:
        assert opened.page.inner_text("#moved").startswith(f"moved most: tub = yes +{move:.3f}")
        before = opened.bar("tub", "yes").locator(".prior")
        assert float(before.evaluate("e => parseFloat(e.style.left)")) == pytest.approx(1.04)


def test_a_long_improbable_question_does_not_underflow(browser: Any, tmp_path: Path) -> None:
    names = [f"X{k}" for k in range(60)]
    rare = Network({v: ["a", "b"] for v in names}, {}, {v: [1e-9, 1 - 1e-9] for v in names})
    write_page(tmp_path / "rare.html", page(rare))
    with Opened(browser, tmp_path / "rare.html") as opened:
        opened.ask(dict.fromkeys(names, "a"))
        assert "× 10^-540" in opened.page.inner_text("#evidence-probability")
        assert opened.numbers()["X0"] == {"a": 1.0, "b": 0.0}


def random_network(rng: np.random.Generator, size: int) -> Network:
    names = [f"V{k}" for k in range(size)]
    parents = {
        name: [str(p) for p in rng.choice(names[:at], min(at, int(rng.integers(0, 3))), False)]
        for at, name in enumerate(names)
    }
    states = {name: [f"s{k}" for k in range(int(rng.integers(2, 4)))] for name in names}
    shapes = {n: [len(states[v]) for v in (*parents[n], n)] for n in names}
    tables = {n: rng.dirichlet(np.ones(s[-1]), s[:-1]) for n, s in shapes.items()}
    return Network(states, parents, tables)


def unsupported_share(
    network: Network, bare: dict[str, np.ndarray], target: str, evidence: dict[str, str]
) -> np.ndarray:
    """By enumeration: P(target, a CPT row without data among those it depends on | evidence).

    The answer depends on the CPT of a variable if a further parent of it would not be
    d-separated from the target.
    """
    graph = nx.DiGraph(list(network.edges))
    graph.add_nodes_from(network.variables)
    needed = []
    for name in network.variables:
        more = graph.copy()
        more.add_edge("further", name)
        if not nx.is_d_separator(more, {"further"}, {target}, set(evidence)):
            needed.append(name)
    whole, passing = np.zeros(network.cardinality(target)), np.zeros(network.cardinality(target))
    for cell in np.ndindex(*network.shape(network.variables)):
        state = dict(zip(network.variables, cell, strict=True))
        if any(network.states(v).index(s) != state[v] for v, s in evidence.items()):
            continue
        p = np.prod([
            network.cpt(v).table[tuple(state[u] for u in network.family(v))]
            for v in network.variables
        ])  # fmt: skip
        whole[state[target]] += p
        if any(bare[v][tuple(state[u] for u in network.parents(v))] for v in needed):
            passing[state[target]] += p
    return passing / whole.sum()


def test_the_hatched_share_passes_through_cpt_rows_without_data(
    browser: Any, tmp_path: Path
) -> None:
    rng = np.random.default_rng(8)
    hatched = 0
    for number in range(4):
        network = random_network(rng, 6)
        rows = {
            v: rng.integers(0, 3, network.shape(network.parents(v))).astype(float)
            for v in network.variables
        }
        supported = network.with_support(rows)
        write_page(tmp_path / "net.html", page(supported))
        with Opened(browser, tmp_path / "net.html") as opened:
            evidence = some_evidence(network, rng, number % 3)
            opened.ask(evidence)
            bare = {v: own == 0 for v, own in rows.items()}
            for target in set(network.variables) - set(evidence):
                expected = unsupported_share(network, bare, target, evidence)
                shown = opened.numbers("unsupported")[target]
                np.testing.assert_allclose(list(shown.values()), expected, rtol=0, atol=1e-9)
                answer = supported.query(target, evidence, unsupported="ignore")
                np.testing.assert_allclose(sum(shown.values()), answer.unsupported, atol=1e-9)
                hatched += expected.sum() > 0.01
            widths = opened.page.eval_on_selector_all(
                ".track .bare", "all => all.map(e => parseFloat(e.style.width))"
            )
            shares = [s for v in opened.numbers("unsupported").values() for s in v.values()]
            np.testing.assert_allclose(widths, [100 * share for share in shares], atol=1e-3)
            assert opened.faults == []
    assert hatched > 10


def test_the_hatched_share_does_not_depend_on_evidence_elsewhere(
    browser: Any, tmp_path: Path
) -> None:
    """Two parts of a network that only a barren variable joins, each with evidence."""
    states = {name: ["0", "1"] for name in ("A", "C", "SeenA", "B", "SeenB", "Barren")}
    parents = {"SeenA": ["A", "C"], "SeenB": ["B"], "Barren": ["A", "B"]}
    tables: dict[str, Any] = {name: [0.3, 0.7] for name in ("A", "B", "C")}
    tables |= {"SeenA": [[[0.9, 0.1], [0.4, 0.6]]] * 2, "SeenB": [[0.9, 0.1], [0.4, 0.6]]}
    network = Network(states, parents, {**tables, "Barren": np.full((2, 2, 2), 0.5)})
    rows: dict[str, Any] = {"A": 9, "B": 9, "C": 9, "SeenA": [[9, 9], [0, 9]], "SeenB": [9, 9]}
    network = network.with_support({**rows, "Barren": [[9, 9], [9, 0]]})
    write_page(tmp_path / "net.html", page(network))
    evidence = {"SeenA": "1", "SeenB": "1"}
    answer = network.query("A", evidence, unsupported="ignore")
    with Opened(browser, tmp_path / "net.html") as opened:
        opened.ask(evidence)
        shares = opened.numbers("unsupported")["A"]
        # P(A=1, C=0 | e) = .7 * .3 * .1 / (.3 * .1 + .7 * .6)
        assert shares == pytest.approx({"0": 0, "1": 0.021 / 0.45}, abs=1e-9)
        assert answer.unsupported == pytest.approx(0.021 / 0.45)


def intervened(network: Network, do: dict[str, str]) -> Network:
    return network.intervened({name: network.states(name).index(do[name]) for name in do})


def some_doing(
    network: Network, rng: np.random.Generator, number: int, then: int = 3
) -> tuple[dict[str, str], dict[str, str]]:
    """What to set, and what can be seen after that."""
    names = rng.choice(network.variables, number + 1, replace=False)[:number]
    do = {str(name): str(rng.choice(network.states(name))) for name in names}
    seen = some_evidence(intervened(network, do), rng, then)
    return do, {name: state for name, state in seen.items() if name not in do}


def brute_force(
    network: Network, target: str, evidence: dict[str, str], do: dict[str, str]
) -> np.ndarray:
    """The truncated factorisation, cell by cell: no CPT of what is set has a part in it."""
    sums = np.zeros(network.cardinality(target))
    for cell in np.ndindex(*network.shape(network.variables)):
        state = dict(zip(network.variables, cell, strict=True))
        if any(network.states(v).index(s) != state[v] for v, s in (evidence | do).items()):
            continue
        sums[state[target]] += np.prod([
            network.cpt(v).table[tuple(state[u] for u in network.family(v))]
            for v in network.variables if v not in do
        ])  # fmt: skip
    return sums / sums.sum()


@pytest.mark.parametrize("name", ["asia", "alarm", "dioxins"])
def test_beliefs_after_doing_equal_those_of_query(browser: Any, tmp_path: Path, name: str) -> None:
    network, rng = network_named(name), np.random.default_rng(24)
    write_page(tmp_path / "net.html", page(network))
    with Opened(browser, tmp_path / "net.html") as opened:
        for number in (1, 1, 2, 4):
            do, evidence = some_doing(network, rng, number)
            for seen in ({}, evidence):
                opened.ask(seen, do)
                answers = network.marginals(seen, do=do)
                for variable, states in opened.numbers().items():
                    got = list(states.values())
                    np.testing.assert_allclose(got, answers[variable], rtol=0, atol=1e-9)
                expected = probability_of(intervened(network, do), seen | do)
                np.testing.assert_allclose(opened.evidence_probability, expected, rtol=1e-9)
            target = next(v for v in network.variables if v not in do | evidence)
            got = list(opened.numbers()[target].values())
            exact = network.query(target, evidence, do=do)
            np.testing.assert_allclose(got, exact, rtol=0, atol=1e-9)
        assert opened.faults == []


def test_doing_and_what_of_it_has_no_data_by_brute_force(browser: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    hatched = differs = 0
    for number in (1, 1, 2, 2):
        network = random_network(rng, 6)
        rows = {
            v: rng.integers(0, 3, network.shape(network.parents(v))).astype(float)
            for v in network.variables
        }
        supported = network.with_support(rows)
        write_page(tmp_path / "net.html", page(supported))
        do, evidence = some_doing(network, rng, number, then=number)
        with Opened(browser, tmp_path / "net.html") as opened:
            opened.ask(evidence, do)
            for target in set(network.variables) - set(evidence) - set(do):
                expected = brute_force(network, target, evidence, do)
                shown = list(opened.numbers()[target].values())
                np.testing.assert_allclose(shown, expected, rtol=0, atol=1e-9)
                seen = brute_force(network, target, evidence | do, {})
                differs += bool(np.abs(expected - seen).max() > 0.01)
                answer = supported.query(target, evidence, do=do, unsupported="ignore")
                share = sum(opened.numbers("unsupported")[target].values())
                np.testing.assert_allclose(share, answer.unsupported, atol=1e-9)
                hatched += share > 0.01
            assert opened.faults == []
    assert hatched > 3
    assert differs > 2


@pytest.mark.parametrize("name", ["child", "alarm"])
def test_beliefs_given_one_of_several_states_equal_those_of_query(
    browser: Any, tmp_path: Path, name: str
) -> None:
    network, rng = network_named(name), np.random.default_rng(3)
    rows = {
        v: rng.integers(0, 3, network.shape(network.parents(v))).astype(float)
        for v in network.variables
    }
    supported = network.with_support(rows)
    write_page(tmp_path / "net.html", page(supported))
    wide = [v for v in network.variables if network.cardinality(v) > 2]
    several = 0
    with Opened(browser, tmp_path / "net.html") as opened:
        for number in (1, 2, 3):
            do, seen = some_doing(network, rng, number % 2, then=2)
            evidence: dict[str, Any] = dict(seen)
            for v in rng.choice([v for v in wide if v not in do], number, replace=False):
                others = [state for state in network.states(v) if state != evidence.get(v)]
                evidence[str(v)] = [evidence.get(v, others.pop()), others[0]]
                several += 1
            opened.ask(evidence, do)
            answers = supported.marginals(evidence, do=do, unsupported="ignore")
            shares = opened.numbers("unsupported")
            for variable, states in opened.numbers().items():
                answer = answers[variable]
                np.testing.assert_allclose([*states.values()], answer, rtol=0, atol=1e-9)
                if variable not in {*seen, *do} or isinstance(evidence.get(variable), list):
                    share = sum(shares[variable].values())
                    assert share == pytest.approx(answer.unsupported, abs=1e-9)
        assert opened.faults == []
    assert several > 4


def test_one_of_several_states_is_chosen_by_clicks_with_control_and_by_a_control(
    browser: Any, tmp_path: Path
) -> None:
    network = lc.example("survey")
    write_page(tmp_path / "net.html", page(network))
    one, other, last = network.states("A")
    with Opened(browser, tmp_path / "net.html") as opened:
        before = opened.numbers()
        opened.bar("A", other).click()
        opened.bar("A", one).click(modifiers=["Control"])
        assert opened.page.evaluate("location.hash") == f"#A={one}&A={other}"
        assert opened.page.inner_text(".chip").startswith(f"A in {one}, {other}")
        answer = network.query("T", {"A": [one, other]})
        np.testing.assert_allclose([*opened.numbers()["T"].values()], answer, atol=1e-12)
        sums = network.query("A").probabilities[:2].sum()
        assert opened.evidence_probability == pytest.approx(sums, rel=1e-9)
        assert opened.bar("A", one).get_attribute("aria-pressed") == "true"
        assert opened.bar("A", last).get_attribute("aria-pressed") == "false"
        clicked = opened.numbers()
        opened.page.reload()
        opened.page.wait_for_selector("html[data-hatched=yes]")
        assert opened.numbers() == clicked
        opened.page.select_option("#click-means", "among")
        opened.bar("A", other).click()  # one state is left
        assert opened.page.evaluate("location.hash") == f"#A={one}"
        assert opened.numbers()["A"][one] == 1
        opened.bar("A", other).click()
        opened.bar("A", last).click()  # all of them: nothing is known
        assert opened.numbers() == before
        opened.bar("A", one).click()
        opened.bar("A", last).click()
        opened.page.click(".chip")
        assert opened.numbers() == before
        for state in (one, last):
            opened.bar("A", state).focus()
            opened.page.keyboard.press("Enter")
        assert opened.page.evaluate("location.hash") == f"#A={one}&A={last}"
        assert opened.faults == []


@pytest.mark.parametrize("name", ["child", "alarm"])
def test_beliefs_given_likelihoods_equal_those_of_query(
    browser: Any, tmp_path: Path, name: str
) -> None:
    network, rng = network_named(name), np.random.default_rng(4)
    rows = {
        v: rng.integers(0, 3, network.shape(network.parents(v))).astype(float)
        for v in network.variables
    }
    supported = network.with_support(rows)
    write_page(tmp_path / "net.html", page(supported))
    with Opened(browser, tmp_path / "net.html") as opened:
        for number in (1, 2, 3):
            do, seen = some_doing(network, rng, number % 2, then=2)
            evidence: dict[str, Any] = dict(seen)
            free = [v for v in network.variables if v not in {*do, *seen}]
            for v in rng.choice(free, number, replace=False):
                weights = rng.random(network.cardinality(str(v))).round(3) * 5
                weights[-1] = 0 if len(weights) > 2 else weights[-1]
                evidence[str(v)] = dict(zip(network.states(str(v)), weights.tolist(), strict=True))
            opened.ask(evidence, do)
            answers = supported.marginals(evidence, do=do, unsupported="ignore")
            shares = opened.numbers("unsupported")
            for variable, states in opened.numbers().items():
                answer = answers[variable]
                np.testing.assert_allclose([*states.values()], answer, rtol=0, atol=1e-9)
                if variable not in {*seen, *do}:
                    share = sum(shares[variable].values())
                    assert share == pytest.approx(answer.unsupported, abs=1e-9)
        assert opened.faults == []


def test_likelihoods_are_typed_into_a_dialog_and_kept_in_the_address(
    browser: Any, tmp_path: Path
) -> None:
    states = {"A~b": ["x~y", "do(z)", "w"], "B": ["0", "1"]}
    tables = {"A~b": [0.2, 0.3, 0.5], "B": [[0.9, 0.1], [0.4, 0.6], [0.3, 0.7]]}
    network = Network(states, {"B": ["A~b"]}, tables)
    write_page(tmp_path / "net.html", page(network))
    with Opened(browser, tmp_path / "net.html") as opened:
        before = opened.numbers()
        opened.page.select_option("#click-means", "likely")
        opened.bar("A~b", "w").click()
        fields = opened.page.locator("#likelihoods input")
        assert [fields.nth(k).input_value() for k in range(3)] == ["1", "1", "1"]
        for k, weight in enumerate(("0.5", "-1", "0")):
            fields.nth(k).fill(weight)
        opened.page.click("#likelihoods-take")
        assert opened.page.locator("#likelihoods").count() == 1  # what is below zero is not taken
        fields.nth(1).fill("2")
        fields.nth(1).press("Enter")
        assert opened.page.locator("#likelihoods").count() == 0
        answer = network.query("B", {"A~b": {"x~y": 0.5, "do(z)": 2, "w": 0}})
        np.testing.assert_allclose([*opened.numbers()["B"].values()], answer, atol=1e-12)
        assert opened.page.inner_text(".chip").startswith("A~b ~ x~y: 0.5, do(z): 2, w: 0")
        assert opened.evidence_probability == pytest.approx(0.2 * 0.5 + 0.3 * 2, rel=1e-9)
        assert opened.bar("A~b", "do(z)").get_attribute("aria-pressed") == "mixed"
        assert opened.bar("A~b", "w").get_attribute("aria-pressed") == "false"
        clicked, address = opened.numbers(), opened.page.evaluate("location.hash")
        assert address == "#A%7Eb~x%7Ey=0.5&A%7Eb~do%28z%29=2&A%7Eb~w=0"
        assert question_in_address(address, network.variables)[1] == {
            "A~b": {"x~y": 0.5, "do(z)": 2, "w": 0}
        }
        opened.page.reload()
        opened.page.wait_for_selector("html[data-hatched=yes]")
        assert opened.numbers() == clicked
        opened.page.select_option("#click-means", "likely")
        opened.bar("A~b", "w").click()
        opened.page.keyboard.press("Escape")
        assert opened.numbers() == clicked
        opened.page.click(".chip")
        assert opened.numbers() == before
        opened.bar("B", "1").click()
        for k, weight in enumerate(("0", "3")):
            opened.page.locator("#likelihoods input").nth(k).fill(weight)
        opened.page.click("#likelihoods-take")  # one state alone: it was seen
        assert opened.page.evaluate("location.hash") == "#B=1"
        assert opened.faults == []


def test_a_state_is_set_by_a_click_with_shift_by_keys_and_by_a_control(
    browser: Any, asia: Path
) -> None:
    network = lc.example("asia")
    after = network.query("smoke", do={"bronc": "yes"}).probabilities[0]
    seen = network.query("smoke", {"bronc": "yes"}).probabilities[0]
    assert abs(after - seen) > 0.1

    with Opened(browser, asia) as opened:
        hash_of = "decodeURI(location.hash)"
        before = opened.numbers()
        opened.bar("bronc", "yes").click(modifiers=["Shift"])
        assert opened.numbers()["smoke"]["yes"] == pytest.approx(after, abs=1e-12)
        assert opened.page.evaluate(hash_of) == "#do(bronc)=yes"
        assert opened.page.evaluate("String(getSelection())") == ""
        assert opened.page.inner_text(".chip").startswith("do(bronc) = yes")
        assert opened.page.inner_text("#evidence-label") == "P(evidence | do)"
        assert opened.page.locator(".edge.cut").count() == 1  # that from smoke
        assert "set" in str(opened.bar("bronc", "yes").get_attribute("title")).split(", ")

        opened.bar("bronc", "yes").click()  # now it was seen
        assert opened.numbers()["smoke"]["yes"] == pytest.approx(seen, abs=1e-12)
        assert opened.page.evaluate(hash_of) == "#bronc=yes"
        assert opened.page.locator(".edge.cut").count() == 0
        opened.bar("bronc", "yes").focus()
        opened.page.keyboard.press("Shift+Enter")
        assert opened.page.evaluate(hash_of) == "#do(bronc)=yes"
        opened.page.keyboard.press("Shift+Enter")
        assert opened.numbers() == before

        opened.page.focus("#click-means")
        opened.page.keyboard.press("ArrowDown")
        opened.bar("bronc", "no").focus()
        opened.page.keyboard.press("Enter")
        assert opened.page.evaluate(hash_of) == "#do(bronc)=no"
        opened.page.click(".chip")
        assert opened.numbers() == before
        opened.bar("dysp", "no").click()
        opened.page.click("#clear")
        assert opened.numbers() == before
        assert opened.page.locator(".edge.cut").count() == 0
        assert opened.faults == []


def test_nothing_is_set_where_variables_share_a_hidden_common_cause(
    browser: Any, tmp_path: Path
) -> None:
    network = lc.example("asia").with_mechanisms(Mechanisms("smoke <-> dysp", {}))
    path = tmp_path / "hidden.html"
    write_page(path, page(network))
    with Opened(browser, path) as opened:
        opened.bar("bronc", "yes").click(modifiers=["Shift"])
        seen = network.query("smoke", {"bronc": "yes"}).probabilities[0]
        assert opened.numbers()["smoke"]["yes"] == pytest.approx(seen, abs=1e-12)
        assert opened.page.locator("option[value=do]").is_disabled()
        assert opened.faults == []


def test_the_address_tells_a_variable_called_do_from_doing(browser: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    names = ["Z", "X", "do(X)"]
    parents = {"X": ["Z"], "do(X)": ["Z", "X"]}
    tables = {v: rng.dirichlet([1, 1], (2,) * k) for k, v in enumerate(names)}
    network = Network({v: ["a", "b"] for v in names}, parents, tables)
    write_page(tmp_path / "net.html", page(network))
    with Opened(browser, tmp_path / "net.html") as opened:
        for variable, shift in (("X", True), ("X", False), ("do(X)", True), ("do(X)", False)):
            opened.bar(variable, "a").click(modifiers=["Shift"] if shift else [])
            clicked = opened.numbers()
            given = {variable: "a"}
            expected = network.marginals({} if shift else given, do=given if shift else {})
            np.testing.assert_allclose(list(clicked["Z"].values()), expected["Z"], atol=1e-12)
            opened.page.reload()
            opened.page.wait_for_selector("html[data-hatched=yes]")
            assert opened.numbers() == clicked
            opened.page.click("#clear")
    with Opened(browser, tmp_path / "net.html", after="#do%28Z%29=b") as opened:
        assert opened.page.inner_text(".chip").startswith("do(Z) = b")  # by a mail program
        opened.page.evaluate("location.hash = '#do(Y)=a'")
        opened.page.wait_for_selector("#unknown:visible")
        assert "do(Y)=a" in opened.page.inner_text("#unknown")
        assert opened.faults == []


@pytest.mark.slow
def test_the_example_of_children_who_were_never_asked(browser: Any, tmp_path: Path) -> None:
    network = Network({"Age": ["kid", "adult"], "MI": ["no", "yes"]}, {"MI": ["Age"]})
    rows = {
        "Age": ["kid"] * 400 + ["adult"] * 600,
        "MI": [None] * 400 + ["no"] * 570 + ["yes"] * 30,
    }
    result = lc.learn(network, rows, pseudo_counts=0, method="direct-mcar")
    write_page(tmp_path / "page.html", learned_page(result))
    with Opened(browser, tmp_path / "page.html") as opened:
        opened.ask({})
        share = opened.numbers("unsupported")
        assert sum(share["MI"].values()) == pytest.approx(0.4)
        assert sum(share["Age"].values()) == 0
        opened.ask({"Age": "adult"})
        assert sum(opened.numbers("unsupported")["MI"].values()) == 0
        opened.ask({"Age": "kid"})
        assert sum(opened.numbers("unsupported")["MI"].values()) == pytest.approx(1)


def test_a_structure_without_cpts_is_drawn_and_says_that_it_has_no_beliefs(
    browser: Any, tmp_path: Path
) -> None:
    bare = lc.example("asia").with_tables(None)
    write_page(tmp_path / "bare.html", page(bare))
    with Opened(browser, tmp_path / "bare.html") as opened:
        assert opened.page.locator("#drawing .card").count() == 8
        assert "no CPTs" in opened.page.inner_text("#why-not-live")
        assert opened.numbers() == {}
        opened.page.locator(".head").first.click()
        assert opened.faults == []


@pytest.mark.slow
def test_cpts_that_are_too_large_to_carry_are_shown_rounded_and_not_live(
    browser: Any, tmp_path: Path
) -> None:
    names = [f"P{k}" for k in range(5)]
    states = {name: [f"s{k}" for k in range(10)] for name in names} | {"X": [*"abcdefghijk"]}
    rng = np.random.default_rng(4)
    tables = {name: rng.dirichlet(np.ones(10)) for name in names}
    tables["X"] = rng.dirichlet(np.ones(11), (10,) * 5)  # 1.1 million cells
    network = Network(states, {"X": names}, tables)
    write_page(tmp_path / "large.html", page(network))
    with Opened(browser, tmp_path / "large.html") as opened:
        assert "large" in opened.page.inner_text("#why-not-live")
        assert opened.numbers() == {}
        opened.choose("P0")
        np.testing.assert_allclose(opened.shown_cpt(), [tables["P0"]], atol=5.001e-4)
        assert opened.faults == []
