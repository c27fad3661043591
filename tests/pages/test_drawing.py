"""What the drawing of a page holds, without a browser."""

from __future__ import annotations

import lacunet as lc
from lacunet.pages.live import drawing


def test_a_hidden_cause_of_being_recorded_leaves_the_rest_of_the_drawing_as_it_was() -> None:
    network = lc.example("asia")
    texts = "smoke -> R[xray]", "smoke -> R[xray]; dysp <-> R[*]; R[xray] <-> R[*]"
    one, two = (drawing(network, lc.MissingnessGraph.parse(text, network)) for text in texts)
    assert one == two
