"""The states that are seen, set or asked about: values are read as those of data are."""

from __future__ import annotations

from collections.abc import Mapping

from lacunet.data.matching import known_matcher
from lacunet.model.network import Network, NetworkError

UNSEEN = "; leave the variable out if it was not observed"


def codes_seen(
    network: Network, evidence: Mapping[str, object], otherwise: str = UNSEEN
) -> dict[str, int]:
    """The place of each state seen; what is missing was not seen.

    ``otherwise`` is what to do where no state is meant, as the hint on an unknown one ends.
    """
    seen, sets = states_and_sets(network, evidence, otherwise)
    for name in sets:
        raise NetworkError(
            f"{evidence[name]!r} means one of several states of {name!r}.", "name one of them."
        )
    return seen


def states_and_sets(
    network: Network, evidence: Mapping[str, object], otherwise: str = UNSEEN
) -> tuple[dict[str, int], dict[str, tuple[int, ...]]]:
    """The same, and the places of the states that codes for one of several mean.

    Examples
    --------
    >>> ages = Network({"Age": ["<40", "40-49", "50+"]}, codes={"Age": {"40+": ["40-49", "50+"]}})
    >>> states_and_sets(ages, {"Age": "40+"}), states_and_sets(ages, {"Age": "50+"})
    (({}, {'Age': (1, 2)}), ({'Age': 2}, {}))
    """
    seen, sets = {}, {}
    for name, value in evidence.items():
        states = network.states(name)
        if type(value) is str and value in states:  # as it nearly always is
            seen[name] = states.index(value)
            continue
        codes = tuple(network.codes_of.get(name, {}).items())
        matcher = known_matcher(states, cuts=tuple(network.cuts_of.get(name, ())), codes=codes)
        match = matcher.match(value)
        if match.is_refused:
            raise NetworkError.no_such_state(name, str(value), states, otherwise)
        if match.code > len(states):
            sets[name] = matcher.sets[match.code - len(states) - 1]
        elif match.code < len(states):
            seen[name] = match.code
    return seen, sets


def places_seen(network: Network, evidence: Mapping[str, object]) -> dict[str, tuple[int, ...]]:
    """The places of the states that each variable seen may have: one, or those of a code."""
    seen, sets = states_and_sets(network, evidence)
    return {**{name: (code,) for name, code in seen.items()}, **sets}


def evidence_written(network: Network, evidence: Mapping[str, object]) -> dict[str, str]:
    """The states that evidence names, and its codes for several; not what was not seen."""
    return {
        name: network.states(name)[places[0]] if len(places) == 1 else str(evidence[name])
        for name, places in places_seen(network, evidence).items()
    }


def state_named(network: Network, variable: str, value: object) -> str:
    """The state that a value names, read as data and evidence are; what is missing names none."""
    code = codes_seen(network, {variable: value}, otherwise="").get(variable)
    if code is None:
        raise NetworkError.no_such_state(variable, str(value), network.states(variable))
    return network.states(variable)[code]
