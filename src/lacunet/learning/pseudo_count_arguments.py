"""Pseudo-counts as they are asked for: a number, a mapping, "learn", or what experts know."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from numbers import Real
from typing import Any

import numpy as np

from lacunet.learning.plan import MethodError
from lacunet.learning.pseudo_counts import LEARN, AskedPseudoCounts, PseudoCounts
from lacunet.network.cpt import Cpt
from lacunet.network.network import Network
from lacunet.text import did_you_mean, first_of

MOST = 1e15  # more pseudo-counts leave nothing of the rows
MOST_WRITTEN = 12  # cells that a hint writes out


def checked_pseudo_counts(pseudo_counts: Any, network: Network) -> AskedPseudoCounts:
    """The number that is added to each cell, pseudo-counts that fit the network, or "learn"."""
    if isinstance(pseudo_counts, str) and pseudo_counts == LEARN:
        return LEARN
    if isinstance(pseudo_counts, Mapping) and not isinstance(pseudo_counts, PseudoCounts):
        return _given_pseudo_counts(pseudo_counts, network)
    if isinstance(pseudo_counts, PseudoCounts):
        shape_of = {name: network.shape(network.family(name)) for name in network.variables}
        if {name: pseudo.shape for name, pseudo in pseudo_counts.items()} != shape_of:
            raise MethodError(
                "the pseudo-counts are of a network with other variables, states or parents.",
                'learn them anew with pseudo_counts="learn", or give those of some variables as a '
                f"mapping: {_pseudo_counts_example(network)}.",
            )
        return pseudo_counts
    is_number = isinstance(pseudo_counts, Real) and not isinstance(pseudo_counts, bool)
    if not (is_number and 0 <= float(pseudo_counts) <= MOST):
        raise MethodError(
            f"pseudo_counts is {pseudo_counts!r}, but must be a number from 0 to {MOST:g}, "
            "'learn', those of a result, or a mapping from variables to arrays.",
            "pseudo_counts=1 adds one to each cell of a CPT, pseudo_counts=0 none (maximum "
            "likelihood); pseudo_counts='learn' estimates them from the counts; "
            f"{_pseudo_counts_example(network)} gives them cell by cell. BDeu with an "
            "equivalent sample size of 10 has 10 / k in each of the k cells of a CPT. experts=20 "
            "lets each CPT row that the network brings count as 20 rows.",
        )
    return float(pseudo_counts)


def pseudo_counts_of_experts(
    rows: Any, pseudo_counts: Any, experts: Network, network: Network
) -> PseudoCounts:
    """What the CPTs of experts add, where each of their rows counts as so many rows of data.

    Parameters
    ----------
    pseudo_counts
        What was asked for beside, which is nothing.
    experts
        The network as it was given, with CPTs.
    network
        The one that is learned, with the rules of the data: what they exclude, experts do not add.
    """
    if pseudo_counts is not None:
        raise MethodError(
            "experts and pseudo_counts were both given.",
            "experts=20 adds the CPTs of the network as pseudo-counts; leave one of both out, or "
            "add them yourself: "
            "pseudo_counts={v: 20 * net.cpt(v).table + 1 for v in net.variables}.",
        )
    is_number = isinstance(rows, Real) and not isinstance(rows, bool)
    if not (is_number and 0 < float(rows) <= MOST):
        raise MethodError(
            f"experts is {rows!r}, but must be a number above 0, up to {MOST:g}.",
            "experts=20 lets each CPT row that the network brings count as 20 rows of data.",
        )
    if experts.tables_of is None:
        raise MethodError(
            "experts says how much the CPTs of the network count, but the network has none.",
            "give a network with CPTs, or write what experts know as pseudo-counts: "
            f"{_pseudo_counts_example(network)}.",
        )
    pseudo_of = {}
    for name, table in experts.tables_of.items():
        possible = np.where(network.possible(name), table, 0.0)
        sums = possible.sum(axis=-1, keepdims=True)
        pseudo_of[name] = float(rows) * np.divide(
            possible, sums, out=np.zeros_like(possible), where=sums > 0
        )
    return PseudoCounts(pseudo_of, 0.0, is_given=True, experts=float(rows))


def _given_pseudo_counts(given: Mapping[str, Any], network: Network) -> PseudoCounts:
    """The pseudo-counts that were given of some variables, one per cell for all others."""
    pseudo_of = {name: np.ones(network.shape(network.family(name))) for name in network.variables}
    for name, pseudo in given.items():
        if name not in pseudo_of:
            hint = did_you_mean(str(name), network.variables)
            known = first_of([*network.variables], 10)
            raise MethodError(
                f"pseudo_counts names {name!r}, which is not a variable of the network.",
                hint or f"the variables are {known}.",
            )
        family = network.family(name)
        shape = pseudo_of[name].shape
        try:
            cells = np.array(pseudo, float)
        except (TypeError, ValueError):
            cells = np.empty(0)  # which no CPT is like
        if cells.shape != shape:
            axes = ", then ".join(f"{v} ({first_of(network.states(v), 5)})" for v in family)
            raise MethodError(
                f"pseudo_counts of {name!r} is {pseudo!r}, but must be one number for each cell, "
                f"of the shape {shape}.",
                f"its axes are {axes}: {_pseudo_counts_example(network, name)}.",
            )
        _check_labels(name, pseudo, network)
        fits = (cells >= 0) & (cells <= MOST)
        if not fits.all():
            raise MethodError(
                f"pseudo_counts of {name!r} holds {cells[~fits][0]:g}, but pseudo-counts are from "
                f"0 to {MOST:g}.",
                "a pseudo-count is how many rows it is worth; 0 adds nothing.",
            )
        pseudo_of[name] = cells
    kept = tuple(name for name in network.variables if name not in given)
    return PseudoCounts(pseudo_of, 0.0, kept, is_given=True)


def _check_labels(name: str, pseudo: Any, network: Network) -> None:
    """Refuse a CPT or a table of pandas whose axes or states are in another order."""
    family = network.family(name)
    is_cpt = isinstance(pseudo, Cpt)
    labels = pseudo.states if is_cpt else getattr(pseudo, "axes", ())
    every = {state for variable in family for state in network.states(variable)}
    for variable, axis in zip(family, labels, strict=False):
        given = tuple(map(str, axis))
        states = network.states(variable)
        if given != states and every.issuperset(given):
            raise MethodError(
                f"pseudo_counts of {name!r} has {list(given)} where the states of "
                f"{variable!r} belong.",
                f"its axes are {', '.join(family)}, with the states in the order of the network: "
                f"{list(states)}.",
            )
    if is_cpt and pseudo.family != family:
        raise MethodError(
            f"pseudo_counts of {name!r} has the axes {', '.join(pseudo.family)}.",
            f"put them in the order of the network: {', '.join(family)}.",
        )


def _pseudo_counts_example(network: Network, variable: str | None = None) -> str:
    """How the pseudo-counts of a variable are written; of one with a small CPT if none is named."""
    if variable is None:
        variable = min(network.variables, key=lambda v: prod(network.shape(network.family(v))))
    shape = network.shape(network.family(variable))
    written = str(np.ones(shape).tolist()) if prod(shape) <= MOST_WRITTEN else f"np.ones({shape})"
    return f"pseudo_counts={{{variable!r}: {written}}}"
