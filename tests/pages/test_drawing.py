"""What the drawing of a page holds, without a browser."""

from __future__ import annotations

import lacunet as lc
from lacunet.model.mechanisms import Mechanisms
from lacunet.pages.live import carried, drawing


def test_a_hidden_cause_of_being_recorded_leaves_the_rest_of_the_drawing_as_it_was() -> None:
    network = lc.example("asia")
    texts = "smoke -> R[xray]", "smoke -> R[xray]; dysp <-> R[*]; R[xray] <-> R[*]"
    one, two = (drawing(network, lc.MissingnessGraph.parse(text, network)) for text in texts)
    assert one == two


def test_nothing_is_set_where_variables_of_the_second_network_share_a_hidden_cause() -> None:
    network = lc.example("asia")
    other = network.with_mechanisms(Mechanisms("smoke <-> dysp", {}))
    sides = (network, network), (network, other), (other, network)
    found = [carried(one, other=two)["live"]["can_set"] for one, two in sides]
    assert found == [True, False, False]
