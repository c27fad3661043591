r"""The CPTs of mechanisms whose causes every row shows, by counts.

Such a mechanism is ignorable: it changes no CPT of the network, and EM leaves it out. But it is
part of how values went missing. A new row may miss a cause, or a cause may be what is to be
predicted; then whether the row shows the variable says something about the cause. Its CPT needs no
expectation, since every row shows its family:

.. math::
    \Pr(r \mid \mathrm{pa}(R)) \propto n(\mathrm{pa}(R), r) + (\alpha - 1)

A prior that is learned is that of variables; as with EM, mechanisms then have one pseudo-count per
cell. A variable that every row shows says nothing about when it goes missing: its mechanism is
left out unless another one has it as a cause.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import prod

import numpy as np

from lacunet.errors import LacunetError
from lacunet.estimate.cpts import posterior_mode
from lacunet.estimate.method import Learned, Setting, Stage
from lacunet.estimate.prior import ONE_PER_CELL
from lacunet.missingness.augmented import Augmented, augmented
from lacunet.missingness.graph import MissingnessGraph
from lacunet.model.network import Cpt, Network, Scope
from lacunet.model.nodes import SELECTION, Mechanism
from lacunet.statistics.counts import added_up
from lacunet.statistics.gather import Needs, Statistics
from lacunet.wording import listed

SHARE_OF_MEMORY = 1 / 8  # that the CPT of one mechanism may take
BYTES_PER_CELL = 24  # counts, weights and CPT
NAME = "mechanisms by counts"


@dataclass(frozen=True)
class CountedMechanism:
    """A mechanism whose causes every row shows: its node in a network, and its causes."""

    variable: str
    node: str
    network: Network
    causes: Scope
    mechanisms: tuple[Mechanism, ...]

    @property
    def columns(self) -> Scope:
        """The columns that its CPT is counted from."""
        others = (mechanism.variable for mechanism in self.mechanisms)
        return tuple(dict.fromkeys((*self.causes, *others, self.variable)))

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of its CPT."""
        return self.network.shape(self.network.family(self.node))


def mechanism_stages_alone(graph: MissingnessGraph, partially: Scope) -> tuple[Stage, ...]:
    """`mechanism_stages` without EM: where EM would leave out all mechanisms, else none.

    Some of them alone would complete rows neither by the graph nor as if missing at random.
    """
    try:
        augmentation = augmented(graph, partially)
    except LacunetError:  # hidden causes that no network with mechanisms has
        return ()
    return () if augmentation.name_of else mechanism_stages(graph, partially, augmentation)


def mechanism_stages(
    graph: MissingnessGraph, partially: Scope, augmentation: Augmented
) -> tuple[Stage, ...]:
    """The stage that counts the mechanisms that EM on the graph leaves out, if there are any."""
    whole = augmented(graph, partially, leave_out_ignorable=False)
    causes_of = augmentation.graph.causes
    needed = _with_causes(causes_of, {*partially} & {*augmentation.ignorable})
    counted = [
        CountedMechanism(
            variable,
            whole.name_of[variable],
            whole.network,
            tuple(cause for cause in causes_of[variable] if isinstance(cause, str)),
            tuple(cause for cause in causes_of[variable] if isinstance(cause, Mechanism)),
        )
        for variable in augmentation.ignorable
        if variable in needed
    ]
    needs = Needs(graph.network.families, rows=tuple(mechanism.columns for mechanism in counted))
    stage = Stage(NAME, {}, needs, partial(_solved, graph, counted))
    return (stage,) if counted else ()


def _with_causes(causes_of: Mapping[str, Iterable[object]], chosen: set[str]) -> set[str]:
    """The variables, and those whose mechanisms are causes of theirs."""
    reached, waiting = set(chosen), list(chosen)
    while waiting:
        causes = causes_of.get(waiting.pop(), ())
        fresh = {cause.variable for cause in causes if isinstance(cause, Mechanism)} - reached
        reached |= fresh
        waiting += fresh
    return reached


def _solved(
    graph: MissingnessGraph,
    counted: list[CountedMechanism],
    statistics: Statistics,
    learned: Learned,
    setting: Setting,
) -> Learned:
    """The same with the mechanisms that are counted; a note on those that are too large."""
    statistics = statistics.sample(0)
    most = SHARE_OF_MEMORY * setting.memory
    too_large = {
        mechanism.variable for mechanism in counted if prod(mechanism.shape) * BYTES_PER_CELL > most
    }
    among = {mechanism.variable: mechanism.mechanisms for mechanism in counted}
    left = {name for name in among if too_large & _with_causes(among, {name})}
    concentration = setting.prior if isinstance(setting.prior, float | int) else ONE_PER_CELL
    cpt_of = dict(learned.mechanisms)
    for mechanism in counted:
        if mechanism.variable not in left:
            cpt_of[mechanism.variable] = _cpt(mechanism, statistics, float(concentration))
    notes = learned.notes
    if left:
        notes += (
            f"the mechanisms of {listed(sorted(left))} were not learned: their CPTs do not fit in "
            "memory. Rows that miss their causes are completed without them",
        )
    names = (*graph.partially_observed, SELECTION.variable)
    in_order = {name: cpt_of[name] for name in names if name in cpt_of}
    return replace(learned, mechanisms=in_order, notes=notes)


def _cpt(mechanism: CountedMechanism, statistics: Statistics, concentration: float) -> Cpt:
    rows = statistics.distinct[mechanism.columns]
    shown = rows.is_shown(mechanism.causes)
    cells = rows.cells(
        mechanism.causes, shown, (*mechanism.mechanisms, Mechanism(mechanism.variable))
    )
    counts = added_up(cells, rows.weights[shown], prod(mechanism.shape)).reshape(mechanism.shape)
    table, _ = posterior_mode(np.asarray(counts), 1.0, concentration)
    *parents, _ = family = mechanism.network.family(mechanism.node)
    return Cpt(mechanism.node, tuple(parents), table, tuple(map(mechanism.network.states, family)))
