"""The prior as it is asked for: a number, pseudo-counts, or "learn"; checked at the door."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from numbers import Real
from typing import Any

import numpy as np

from lacunet.estimate.method import MethodError
from lacunet.estimate.prior import LEARN, AskedPrior, LearnedPrior
from lacunet.model.network import Cpt, Network
from lacunet.wording import did_you_mean, first_of

MOST_PRIOR = 1e15  # more pseudo-counts leave nothing of the rows
MOST_WRITTEN = 12  # cells that a hint writes out


def checked_prior(prior: Any, network: Network) -> AskedPrior:
    """The concentration of the prior, pseudo-counts that fit the network, or "learn"."""
    if isinstance(prior, str) and prior == LEARN:
        return LEARN
    if isinstance(prior, Mapping) and not isinstance(prior, LearnedPrior):
        return _given_pseudo_counts(prior, network)
    if isinstance(prior, LearnedPrior):
        shape_of = {name: network.shape(network.family(name)) for name in network.variables}
        if {name: pseudo.shape for name, pseudo in prior.items()} != shape_of:
            raise MethodError(
                "the prior was learned for a network with other variables, states or parents.",
                'learn it anew with prior="learn", or give pseudo-counts of some variables as a '
                f"mapping: {_pseudo_counts_example(network)}.",
            )
        return prior
    is_number = isinstance(prior, Real) and not isinstance(prior, bool)
    if not (is_number and 1 <= float(prior) <= MOST_PRIOR):
        raise MethodError(
            f"prior is {prior!r}, but must be a number from 1 to {MOST_PRIOR:g}, 'learn', the "
            "prior of a result, or a mapping from variables to pseudo-counts.",
            "prior=2 adds one pseudo-count to each cell of a CPT, prior=1 none (maximum "
            "likelihood); prior='learn' estimates them from the counts; "
            f"{_pseudo_counts_example(network)} gives them cell by cell. BDeu with an "
            "equivalent sample size of 10 has 10 / k in each of the k cells of a CPT. To let each "
            "CPT row of a network count as 20 rows of data: prior={v: 20 * net.cpt(v).table for v "
            "in net.variables}.",
        )
    return float(prior)


def _given_pseudo_counts(given: Mapping[str, Any], network: Network) -> LearnedPrior:
    """The pseudo-counts that were given of some variables, one per cell for all others."""
    pseudo_of = {name: np.ones(network.shape(network.family(name))) for name in network.variables}
    for name, pseudo in given.items():
        if name not in pseudo_of:
            hint = did_you_mean(str(name), network.variables)
            known = first_of([*network.variables], 10)
            raise MethodError(
                f"prior names {name!r}, which is not a variable of the network.",
                hint or f"the variables are {known}.",
            )
        family, shape = network.family(name), pseudo_of[name].shape
        try:
            cells = np.array(pseudo, float)
        except (TypeError, ValueError):
            cells = np.empty(0)  # which no CPT is like
        if cells.shape != shape:
            axes = ", then ".join(f"{v} ({first_of(network.states(v), 5)})" for v in family)
            raise MethodError(
                f"prior of {name!r} is {pseudo!r}, but must be one number for each cell, of the "
                f"shape {shape}.",
                f"its axes are {axes}: {_pseudo_counts_example(network, name)}.",
            )
        _check_labels(name, pseudo, network)
        fits = (cells >= 0) & (cells <= MOST_PRIOR)
        if not fits.all():
            raise MethodError(
                f"prior of {name!r} holds {cells[~fits][0]:g}, but pseudo-counts are from 0 to "
                f"{MOST_PRIOR:g}.",
                "a pseudo-count is how many rows it is worth; 0 adds nothing.",
            )
        pseudo_of[name] = cells
    kept = tuple(name for name in network.variables if name not in given)
    return LearnedPrior(pseudo_of, 0.0, kept, is_given=True)


def _check_labels(name: str, pseudo: Any, network: Network) -> None:
    """Refuse a CPT or a table of pandas whose axes or states are in another order."""
    family = network.family(name)
    is_cpt = isinstance(pseudo, Cpt)
    labels = pseudo.states if is_cpt else getattr(pseudo, "axes", ())
    every = {state for variable in family for state in network.states(variable)}
    for variable, axis in zip(family, labels, strict=False):
        given, states = tuple(map(str, axis)), network.states(variable)
        if given != states and every.issuperset(given):
            raise MethodError(
                f"prior of {name!r} has {list(given)} where the states of {variable!r} belong.",
                f"its axes are {', '.join(family)}, with the states in the order of the network: "
                f"{list(states)}.",
            )
    if is_cpt and pseudo.family != family:
        raise MethodError(
            f"prior of {name!r} has the axes {', '.join(pseudo.family)}.",
            f"put them in the order of the network: {', '.join(family)}.",
        )


def _pseudo_counts_example(network: Network, variable: str | None = None) -> str:
    """How the pseudo-counts of a variable are written; of one with a small CPT if none is named."""
    if variable is None:
        variable = min(network.variables, key=lambda v: prod(network.shape(network.family(v))))
    shape = network.shape(network.family(variable))
    written = str(np.ones(shape).tolist()) if prod(shape) <= MOST_WRITTEN else f"np.ones({shape})"
    return f"prior={{{variable!r}: {written}}}"
