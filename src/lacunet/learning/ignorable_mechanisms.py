r"""The CPTs of mechanisms whose causes every row shows, by counts.

Such a mechanism is ignorable: it changes no CPT of the network, and EM leaves it out. But it is
part of how values went missing. A new row may miss a cause, or a cause may be what is to be
predicted; then whether the row shows the variable says something about the cause. Its CPT needs no
expectation, since every row shows its family:

.. math::
    \Pr(r \mid \mathrm{pa}(R)) \propto n(\mathrm{pa}(R), r) + A

Rows that hide a cause are left out: they are of those in which an order of mechanisms,
:math:`R_B \le R_A`, leaves no choice.

Pseudo-counts that are learned are those of variables; as with EM, mechanisms then have one per
cell. A variable that every row shows says nothing about when it goes missing: its mechanism is
left out unless another one has it as a cause.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from math import prod

import numpy as np

from lacunet.counts.counts import added_up
from lacunet.counts.gather import Needs, Statistics
from lacunet.errors import LacunetError
from lacunet.learning.cpts import cells_of, posterior_mode
from lacunet.learning.plan import Learned, Setting, Stage
from lacunet.learning.pseudo_counts import ONE_PER_CELL
from lacunet.missingness.augmented_network import Augmented, augment
from lacunet.missingness.graph import MissingnessGraph
from lacunet.network.cpt import Cpt
from lacunet.network.network import Scope
from lacunet.network.nodes import SELECTION, Mechanism, Node, variable_of
from lacunet.text import listed

SHARE_OF_MEMORY = 1 / 8  # that the CPT of one mechanism may take
BYTES_PER_COUNTED_CELL = 24  # counts, weights and CPT
NAME = "mechanisms by counts"
MISSING_INDEX = 0  # the first state of a mechanism
CERTAINLY_MISSING = (1.0, 0.0)


def mechanism_stages_alone(graph: MissingnessGraph, partially: Scope) -> tuple[Stage, ...]:
    """`mechanism_stages` without EM: where EM would leave out all mechanisms, else none.

    Some of them alone would complete rows neither by the graph nor as if missing at random.
    """
    try:
        augmentation = augment(graph, partially)
    except LacunetError:  # hidden causes that no network with mechanisms has
        return ()
    if augmentation.name_of:
        return ()
    return mechanism_stages(graph, partially, augmentation)


def mechanism_stages(
    graph: MissingnessGraph, partially: Scope, augmentation: Augmented
) -> tuple[Stage, ...]:
    """The stage that counts the mechanisms that EM on the graph leaves out, if there are any."""
    whole = augment(graph, partially, leave_out_ignorable=False)
    causes_of = augmentation.graph.causes
    needed = _with_causes(causes_of, {*partially} & {*augmentation.ignorable})
    counted = {name: causes_of[name] for name in augmentation.ignorable if name in needed}
    rows = tuple(_columns(name, causes) for name, causes in counted.items())
    needs = Needs(graph.network.families, rows=rows)
    stage = Stage(NAME, {}, needs, partial(_solved, graph, whole, counted))
    return (stage,) if counted else ()


def _split(causes: Iterable[Node]) -> tuple[Scope, tuple[Mechanism, ...]]:
    """The variables among causes, and the mechanisms."""
    names = tuple(cause for cause in causes if isinstance(cause, str))
    return names, tuple(cause for cause in causes if isinstance(cause, Mechanism))


def _columns(variable: str, causes: Iterable[Node]) -> Scope:
    """The columns that the CPT of a variable's mechanism is counted from."""
    names, mechanisms = _split(causes)
    nodes: tuple[Node, ...] = (*names, *mechanisms, variable)
    return tuple(dict.fromkeys(map(variable_of, nodes)))


def _with_causes(causes_of: Mapping[str, Iterable[Node]], chosen: set[str]) -> set[str]:
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
    whole: Augmented,
    counted: Mapping[str, Iterable[Node]],
    statistics: Statistics,
    learned: Learned,
    setting: Setting,
) -> Learned:
    """The same with the mechanisms that are counted; a note on those that are too large."""
    statistics = statistics.sample(0)
    network = whole.network
    most = SHARE_OF_MEMORY * setting.memory / BYTES_PER_COUNTED_CELL
    too_large = {name for name in counted if cells_of(network, whole.name_of[name]) > most}
    left = {name for name in counted if too_large & _with_causes(counted, {name})}
    asked = setting.pseudo_counts
    added = float(asked) if isinstance(asked, float | int) else ONE_PER_CELL
    cpt_of = dict(learned.mechanisms)
    for name, causes in counted.items():
        if name in left:
            continue
        # Its frequencies among the rows that show its causes; every row tells mechanisms.
        family = network.family(whole.name_of[name])
        variables, mechanisms = _split(causes)
        rows = statistics.distinct[_columns(name, causes)]
        shape = network.shape(family)
        shown = rows.is_shown(variables)
        cells = rows.cells(variables, shown, (*mechanisms, Mechanism(name)))
        counts = added_up(cells, rows.weights[shown], prod(shape)).reshape(shape)
        table, _ = posterior_mode(np.asarray(counts), 1.0, added)

        *parents, node = family
        for later, earlier in graph.monotone:
            if later == name:  # never shown where the earlier one is missing
                axis = parents.index(whole.name_of[earlier])
                np.moveaxis(table, axis, 0)[MISSING_INDEX] = CERTAINLY_MISSING
        cpt_of[name] = Cpt(node, tuple(parents), table, tuple(map(network.states, family)))

    notes = learned.notes
    if left:
        notes += (
            f"the mechanisms of {listed(sorted(left))} were not learned: their CPTs do not fit in "
            "memory. Rows that miss their causes are completed without them",
        )
    names = (*graph.partially_observed, SELECTION.variable)
    in_order = {name: cpt_of[name] for name in names if name in cpt_of}
    return replace(learned, mechanisms=in_order, notes=notes)
