r"""How values go missing: one CPT for each mechanism, and the table they leave behind.

A mechanism :math:`R_X` looks at its parents in the missingness graph and hides :math:`X`
with the probability that its CPT holds for what it sees. Parents are variables, other
mechanisms (index 0: the value is missing, 1: it is shown) and the hidden causes behind
bidirected edges (two values, even odds).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lacunet.data.table import Codes, EncodedTable
from lacunet.missingness.exchange import HiddenCause
from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.nodes import Mechanism, Node, named
from lacunet.model.network import Cpt, FloatArray, Scope
from lacunet.simulate.errors import SimulationError
from lacunet.simulate.sampling import draw_columns

Parent = Node | HiddenCause


@dataclass(frozen=True)
class MechanismCpt:
    r"""The probability that ``variable`` is missing, :math:`\Pr(R_X = \mathsf{mis} \mid u)`.

    ``missing`` has one axis for each parent, in their order.
    """

    variable: str
    parents: tuple[Parent, ...]
    missing: FloatArray

    @property
    def node(self) -> Mechanism:
        """The mechanism in the missingness graph."""
        return Mechanism(self.variable)


@dataclass(frozen=True)
class HiddenCauseCpt:
    """The probability that the coin of ``cause`` falls on 0, given what it caused.

    The cause comes first in nature, but last here: complete rows are there already, so the
    coin is drawn from its distribution given the row (see `lacunet.simulate.mnar`).
    """

    cause: HiddenCause
    parents: tuple[Parent, ...]
    zero: FloatArray


@dataclass(frozen=True)
class Missingness:
    """A missingness graph with all its parameters.

    ``mechanisms`` are keyed by the variable they hide, parents before children, and so are
    the ``causes``. ``separator`` are fully observed variables that separate the missing
    values from all mechanisms, None where the way of making them promises none.
    """

    graph: MissingnessGraph
    mechanisms: Mapping[str, MechanismCpt]
    causes: tuple[HiddenCauseCpt, ...] = ()
    separator: Scope | None = None


def hide(
    complete: EncodedTable, missingness: Missingness, rng: np.random.Generator
) -> EncodedTable:
    """Hide values of complete rows as the mechanisms say.

    Parameters
    ----------
    complete
        The rows; what the mechanisms look at must be shown in every one.
    missingness
        The mechanisms and their parameters.
    rng
        Where the randomness comes from; one seed hides the same cells.

    Returns
    -------
    The rows with every other cell as it was, weights and row numbers too.

    Raises
    ------
    SimulationError
        A variable that a mechanism looks at is missing somewhere already.
    """
    cpts = _cpts(missingness)
    _check_shown(complete, cpts)
    given = {named(name): column for name, column in complete.columns.items()}
    drawn = draw_columns(cpts, given, complete.rows, rng)
    columns = dict(complete.columns)
    for name, one in missingness.mechanisms.items():
        columns[name] = _hidden(columns[name], drawn[str(one.node)], complete.cardinality_of[name])
    return EncodedTable.of(
        complete.cardinality_of, columns, complete.weights, complete.notes, complete.row_numbers
    )


def parameters(missingness: Missingness) -> dict[str, object]:
    """All of a missingness as texts, lists and numbers, ready for JSON.

    ``graph`` is the text that `MissingnessGraph.parse` reads, and the ``missing`` of every
    mechanism the table that `MissingByGraph` takes.
    """
    return {
        "graph": str(missingness.graph),
        "separator": missingness.separator,
        "mechanisms": {
            name: {"parents": list(map(_name, one.parents)), "missing": one.missing.tolist()}
            for name, one in missingness.mechanisms.items()
        },
        "hidden causes": {
            _name(one.cause): {"given": list(map(_name, one.parents)), "zero": one.zero.tolist()}
            for one in missingness.causes
        },
    }


def check_beta(shapes: tuple[float, float]) -> None:
    """Refuse shape parameters that no Beta distribution has."""
    for shape in shapes:
        if not 0 < shape < np.inf:
            raise SimulationError.not_positive("a shape parameter of the Beta", shape)


def _cpts(missingness: Missingness) -> list[Cpt]:
    """Every coin and mechanism as a CPT with two states; names are quoted, so none meet."""
    coins = [_cpt(one.cause, one.parents, one.zero) for one in missingness.causes]
    hiding = [_cpt(one.node, one.parents, one.missing) for one in missingness.mechanisms.values()]
    return coins + hiding


def _cpt(node: Parent, parents: tuple[Parent, ...], first: FloatArray) -> Cpt:
    return Cpt(_name(node), tuple(map(_name, parents)), np.stack([first, 1 - first], axis=-1))


def _name(node: Parent) -> str:
    if isinstance(node, HiddenCause):
        return f"{named(node.one)} <-> {named(node.two)}"
    return named(node)


def _check_shown(complete: EncodedTable, cpts: list[Cpt]) -> None:
    seen = {parent for cpt in cpts for parent in cpt.parents}
    incomplete = [name for name in complete.partially_observed if named(name) in seen]
    if incomplete:
        raise SimulationError.already_incomplete(incomplete)


def _hidden(codes: Codes, mechanism: Codes, missing: int) -> Codes:
    hidden = codes.copy()
    hidden[mechanism == 0] = missing
    return hidden
