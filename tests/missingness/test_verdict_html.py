"""A verdict in a notebook."""

from lacunet.missingness.graph import MissingnessGraph
from lacunet.network.network import Network


def test_a_verdict_shows_itself_with_its_names_escaped() -> None:
    network = Network({"<b>": ["0", "1"], "Y": ["0", "1"]}, {"Y": ["<b>"]})
    graph = MissingnessGraph(network, {"Y": ["<b>"]})
    shown = graph.recover(["Y"], given=["<b>"])._repr_html_()
    assert "<b>recoverable</b>" in shown
    assert "P(Y | &quot;&lt;b&gt;&quot;)" in shown
    assert shown.count("<b>") == 1
