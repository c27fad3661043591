"""Pages of CPTs that are shared, that have a shape, or rows that a rule fixes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from browsing import Opened, needs_browser

import lacunet as lc
from lacunet.network.network import Network
from lacunet.show.network_page import page
from lacunet.show.pages.kit import write_page

pytestmark = needs_browser


def panel(waves: int) -> Network:
    """Health in waves, each with a question."""
    states: dict[str, list[str]] = {f"H[{k}]": ["well", "ill"] for k in range(1, waves + 1)}
    states |= {f"Q[{k}]": ["no", "mild", "severe"] for k in range(1, waves + 1)}
    parents = {f"H[{k}]": [f"H[{k - 1}]"] for k in range(2, waves + 1)}
    parents |= {f"Q[{k}]": [f"H[{k}]"] for k in range(1, waves + 1)}
    tables: dict[str, Any] = {name: [[0.9, 0.1], [0.2, 0.8]] for name in states}
    tables |= {f"Q[{k}]": [[0.6, 0.3, 0.1], [0.1, 0.3, 0.6]] for k in range(1, waves + 1)}
    tables["H[1]"] = [0.7, 0.3]
    tied = [[f"H[{k}]" for k in range(2, waves + 1)], [f"Q[{k}]" for k in range(1, waves + 1)]]
    return Network(states, parents, tables).with_ties(tied)


def test_of_a_long_panel_a_card_is_listed_for_each_cpt(browser: Any, tmp_path: Path) -> None:
    write_page(tmp_path / "page.html", page(panel(50)))
    with Opened(browser, tmp_path / "page.html", after="#H%5B30%5D") as opened:
        opened.page.wait_for_selector("html[data-hatched=yes]")
        around = opened.page.locator("#drawing .card").count()
        assert around == 4  # the wave before, itself, the wave after and its question
        assert opened.page.locator("#others .card").count() == 3  # H[1], H[2] and Q[1]
        assert "H[2] to H[50]" in opened.page.inner_text("#panel")
        opened.page.click("#others .tied")
        assert opened.page.locator("#others .card").count() == 100 - around
        opened.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert opened.page.locator("#others .card").count() < 20
        assert "not printed" in opened.page.inner_text("#others")
        assert opened.page.locator("#listing tbody tr").count() == 3
        assert opened.faults == []


def test_a_result_tells_of_tied_variables_once(browser: Any, tmp_path: Path) -> None:
    network = panel(5)
    result = lc.learn(network, lc.simulate(network, 300, rng=1).table, method="em")
    result.report(tmp_path / "page.html")
    with Opened(browser, tmp_path / "page.html") as opened:
        assert "3 CPTs" in opened.page.inner_text("h1")
        names = opened.page.locator("#families tbody tr td:first-child").all_inner_texts()
        assert sorted(names) == ["H[1]", "H[2] to H[5]", "Q[1] to Q[5]"]


def test_a_shape_is_shown_with_its_parameters(browser: Any, tmp_path: Path) -> None:
    states = {"Flu": ["no", "yes"], "Fever": ["no", "yes"]}
    tables = {"Flu": [0.9, 0.1], "Fever": [[0.8, 0.2], [0.4, 0.6]]}
    network = Network(states, {"Fever": ["Flu"]}, tables).with_shapes({"Fever": "noisy-or"})
    write_page(tmp_path / "page.html", page(network))
    with Opened(browser, tmp_path / "page.html", after="#Fever") as opened:
        text = opened.page.inner_text("#panel")
        assert "noisy-or (probabilities): leak 0.2, link from Flu=yes 0.5" in text
    rows = lc.simulate(network, 200, rng=1).table
    learned = lc.learn(network, rows, shapes={"Fever": "noisy-or"}, method="em")
    assert "P(Fever | Flu) as noisy-or: probabilities" in str(learned)


def test_parameters_of_a_result_have_intervals_and_the_bic_of_the_table(
    browser: Any, tmp_path: Path
) -> None:
    states = {name: ["no", "yes"] for name in ("Flu", "Cold", "Fever")}
    rows = {name: ["no", "yes", "yes", "no", "no"] * 20 for name in states}
    rows["Cold"] = ["no", "no", "yes", "yes"] * 25
    network = Network(states, {"Fever": ["Flu", "Cold"]}).with_shapes({"Fever": "logistic"})
    result = lc.learn(network, rows, "em", intervals=True)
    first = result.parameters("Fever").parameters[0]
    assert first.interval is not None
    result.report(tmp_path / "page.html")
    with Opened(browser, tmp_path / "page.html", after="#Fever") as opened:
        text = opened.page.inner_text("#panel")
        low, high = first.interval
        assert f"{first.name} {first.value:.3g} ({low:.3g} to {high:.3g})" in text
        assert result.parameters("Fever").beside_table in text
        assert opened.faults == []


def test_rows_that_a_rule_fixes_are_one_line(browser: Any, tmp_path: Path) -> None:
    states = {"Smoked": ["never", "once", "often"], "Now": ["not_asked", "no", "yes"]}
    rows = {"Smoked": ["never", "once", "often"] * 30, "Now": [None, "no", "yes"] * 30}
    network = Network(states, {"Now": ["Smoked"]})
    data = lc.Data(rows, not_asked={"Now": ("Smoked=never", "not_asked")})
    lc.learn(network, data, method="em").report(tmp_path / "page.html")
    with Opened(browser, tmp_path / "page.html", after="#Now") as opened:
        text = opened.page.inner_text("#panel")
        assert "1 of 3 parent configurations fixed by the rule Smoked=never" in text
        assert "no row" not in text
        assert opened.page.locator("#cpt tbody tr:not(.folded)").count() == 2
        opened.page.click("#cpt tr.folded button")
        assert opened.page.locator("#cpt tbody tr:not(.folded)").count() == 3
        assert opened.faults == []


@pytest.mark.parametrize("share", [0.4, 1.0])
def test_an_arrow_is_as_wide_as_replicates_have_it(
    browser: Any, tmp_path: Path, share: float
) -> None:
    network = lc.example("cancer")
    other = Network(network.states_of, {}, {v: [0.5, 0.5] for v in network.variables})
    have = round(5 * share)
    write_page(
        tmp_path / "page.html",
        page(network.with_bootstrap([network] * have + [other] * (5 - have))),
    )
    with Opened(browser, tmp_path / "page.html") as opened:
        widths = opened.page.eval_on_selector_all(
            ".edge", "all => all.map(e => parseFloat(e.style.strokeWidth))"
        )
        assert widths == pytest.approx([0.8 + 3.2 * share] * len(network.edges))
        assert f"{100 * share:.0f}%" in opened.page.inner_html("#drawing")
