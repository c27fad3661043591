r"""How values go missing: one CPT for each mechanism.

A mechanism :math:`R_X` looks at its parents in the missingness graph and hides :math:`X`
with the probability that its CPT holds for what it sees. Parents are variables, other
mechanisms (index 0: the value is missing, 1: it is shown) and the hidden causes behind
bidirected edges (two values, even odds).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.separation.mixed import HiddenCause
from lacunet.network.network import FloatArray, Network, Scope
from lacunet.network.nodes import Mechanism, Node, node_text
from lacunet.text import conditional, counted
from lacunet.text_tables import Displayed, TextTable

Parent = Node | HiddenCause


@dataclass(frozen=True, repr=False)
class MechanismCpt(Displayed):
    r"""The probability that ``variable`` is missing, :math:`\Pr(R_X = \mathsf{mis} \mid u)`.

    ``missing`` has one axis for each parent, in their order.
    """

    variable: str
    parents: tuple[Parent, ...]
    missing: FloatArray

    def __repr__(self) -> str:
        return f"<MechanismCpt: {self._title}>"

    def _parts(self) -> list[object]:
        rates = [f"{rate:.4f}" for rate in np.ravel(self.missing)]
        header = [*map(node_name, self.parents), "missing"]
        states = [map(str, cell) for cell in np.ndindex(self.missing.shape)]
        rows = [[*cell, rate] for cell, rate in zip(states, rates, strict=True)]
        note = ["parents by the numbers of their states, from 0"] if self.parents else []
        return [self._title, TextTable(header, rows, left=len(self.parents)), *note]

    @property
    def _title(self) -> str:
        return conditional(f"{node_name(self.node)}=0", list(map(node_name, self.parents)))

    @property
    def node(self) -> Mechanism:
        """The mechanism in the missingness graph."""
        return Mechanism(self.variable)


@dataclass(frozen=True)
class HiddenCauseCpt:
    """The probability that the coin of a hidden cause falls on 0, given what it caused.

    The cause comes first in nature, but last here: complete rows are there already, so the coin is
    drawn from its distribution given the row (see `lacunet.simulation.by_graph`).
    """

    cause: HiddenCause
    parents: tuple[Parent, ...]  # what it caused
    zero: FloatArray  # the probability, an axis for each of these


@dataclass(frozen=True, repr=False)
class Missingness(Displayed):
    """A missingness graph with all its parameters.

    ``mechanisms`` are keyed by the variable they hide, parents before children, and so are
    the ``causes``. ``separator`` are fully observed variables that separate the missing
    values from all mechanisms, None where the way of making them promises none.
    """

    graph: MissingnessGraph
    mechanisms: Mapping[str, MechanismCpt]
    causes: tuple[HiddenCauseCpt, ...] = ()
    separator: Scope | None = None

    def __repr__(self) -> str:
        return f"<Missingness: {counted(len(self.mechanisms), 'mechanism')}>"

    def _parts(self) -> Iterator[object]:
        yield self.graph
        for cpt in self.mechanisms.values():
            yield ""
            yield cpt

    def draw(self, network: Network, rng: np.random.Generator) -> Missingness:  # noqa: ARG002
        """Itself: it is drawn already, and can stand where a way of drawing is asked for."""
        return self


def parameters(missingness: Missingness) -> dict[str, object]:
    """All of a missingness as texts, lists and numbers, ready for JSON.

    ``graph`` is the text that `MissingnessGraph.parse` reads, and the ``missing`` of every
    mechanism the table that `MissingByGraph` takes; ``latent``, if there are any, the variables
    that no row shows.
    """
    latent = missingness.graph.latent
    return {
        "graph": str(missingness.graph),
        **({"latent": list(latent)} if latent else {}),
        "separator": missingness.separator,
        "mechanisms": {
            name: {"parents": list(map(node_name, cpt.parents)), "missing": cpt.missing.tolist()}
            for name, cpt in missingness.mechanisms.items()
        },
        "hidden causes": {
            node_name(cpt.cause): {
                "given": list(map(node_name, cpt.parents)),
                "zero": cpt.zero.tolist(),
            }
            for cpt in missingness.causes
        },
    }


def node_name(node: Parent) -> str:
    """A node as a text; names are quoted, so none meet."""
    if isinstance(node, HiddenCause):
        return f"{node_text(node.one)} <-> {node_text(node.two)}"
    return node_text(node)
