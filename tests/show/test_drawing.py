"""What the drawing of a page holds, without a browser."""

from __future__ import annotations

import lacunet as lc
from lacunet.network.mechanisms import Mechanisms
from lacunet.show.pages.live_network import ShownNetwork, drawing, network_section, page_content


def test_what_decides_whether_a_row_is_recorded_is_drawn() -> None:
    network = lc.example("asia")
    number_of = {name: number for number, name in enumerate(network.variables)}
    text = "smoke -> R[xray]; R[xray], asia -> R[*]; dysp <-> R[*]"
    drawn = drawing(network, lc.MissingnessGraph.parse(text, network))
    xray, asia, dysp = (number_of[name] for name in ("xray", "asia", "dysp"))
    assert {"variable": None, "causes": [f"r{xray}", f"v{asia}"]} in drawn["mechanisms"]
    assert drawn["hidden_causes"] == [["r*", f"v{dysp}"]]
    for layout in drawn["drawn"]["layouts"]:
        assert layout["boxes"].keys() == {f"r{xray}", "r*"}
        into = [edge["ends"] for edge in layout["edges"] if "r*" in edge["ends"]]
        assert sorted(into) == sorted([[f"r{xray}", "r*"], [f"{asia}", "r*"], ["r*", f"{dysp}"]])
    assert "R[*]" in network_section({**drawn, "variables": []})


def test_nothing_is_set_where_variables_of_the_second_network_share_a_hidden_cause() -> None:
    network = lc.example("asia")
    other = network.with_mechanisms(Mechanisms("smoke <-> dysp", {}))
    sides = (network, network), (network, other), (other, network)
    shown = [(one, ShownNetwork("", two)) for one, two in sides]
    found = [page_content(one, other=two)["live"]["can_set"] for one, two in shown]
    assert found == [True, False, False]
