"""Networks from data: edges say which variables there are, the columns say their states."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lacunet.building.bins import Bins, BinsError, cuts_found
from lacunet.building.edges import Edges, edges_of
from lacunet.building.states import StatesError, remarks, seen_in, states_of
from lacunet.data.given import data_given
from lacunet.data.matching import spelled
from lacunet.data.reading import source_from
from lacunet.data.text import delimiter_hint
from lacunet.errors import warn
from lacunet.model.intervals import labels_of
from lacunet.model.network import Network, Scope
from lacunet.wording import close_to, counted

__all__ = ["FoundNetwork", "Network", "find_network", "network_from"]


@dataclass(frozen=True)
class FoundNetwork:
    """A network without CPTs, how its states were found, and what may surprise."""

    network: Network
    summary: str
    remarks: tuple[str, ...]


def network_from(
    data: Any,
    edges: Any,
    states: Mapping[str, Sequence[object]] | None = None,
    missing: Any = (),
    bins: Mapping[str, Bins] | None = None,
) -> Network:
    """A network without CPTs: structure from edges, states from the columns of the data.

    Also to be had as ``Network.from_data``. The network has the variables that the edges name,
    in the order of the columns; other columns are left alone.

    Parameters
    ----------
    data
        Whatever `lacunet.learn` takes: a path, a dataframe, a dict of lists, `lacunet.Data`.
    edges
        Pairs ``(parent, child)``, a text such as ``"Age -> Disease; Disease -> Test"``, DOT,
        dagitty, bnlearn's ``"[A][B|A]"``, a graph of networkx, a mapping from child to parents.
    states
        The states of some of the variables, in order, where the data do not show them all. A
        variable that has no column needs them: it is hidden.
    missing
        Further values that mean "not observed": one, a list, or a mapping from columns to them.
    bins
        How to cut columns of numbers: 5 for five intervals with equally many rows each,
        ``("width", 5)`` for five equally wide ones, or the cut points ``[18, 40, 65]``. The
        network keeps them, so that numbers in later data are cut the same way.

    Raises
    ------
    EdgesError, StatesError, NetworkError
        The edges cannot be read, or a column does not say its states; named, with the way out.

    Examples
    --------
    >>> rows = {"Age": [30, 9, 41], "Ill": ["no", "yes", None], "Id": ["a", "b", "c"]}
    >>> network = network_from(rows, "Age -> Ill")
    >>> network.states("Age"), network.states("Ill"), network.parents("Ill")
    (('9', '30', '41'), ('no', 'yes'), ('Age',))
    """
    found = find_network(data, edges, states, missing, bins)
    for remark in found.remarks:
        warn(remark)
    return found.network


def find_network(
    data: Any,
    edges: Any,
    states: Mapping[str, Sequence[object]] | None = None,
    missing: Any = (),
    bins: Mapping[str, Bins] | None = None,
) -> FoundNetwork:
    """The same, with the notes as values instead of warnings."""
    said = data_given(data, missing=missing)
    source = source_from(said)
    drawn = edges_of(edges)
    given = {name: _given_states(name, own) for name, own in (states or {}).items()}
    _check_names(drawn, source.columns, source.label, given)
    cuts = cuts_found(source, bins or {}, said)
    _check_bins(drawn, cuts, given)
    given |= {name: labels_of(own) for name, own in cuts.items()}
    looked_up = [name for name in source.columns if name in drawn.variables and name not in given]
    seen = seen_in(source, looked_up, said) if looked_up else {}
    found = {name: states_of(name, own) for name, own in seen.items()}
    columns = [name for name in source.columns if name in drawn.variables]
    hidden = [name for name in drawn.variables if name not in source.columns]
    network = Network(
        {name: given.get(name) or found[name] for name in (*columns, *hidden)},
        drawn.parents_of,
        cuts=cuts,
    )
    return FoundNetwork(
        network,
        _summary(network, found, hidden, source.label),
        tuple(note for name, own in seen.items() for note in remarks(name, own, found[name])),
    )


def _check_bins(edges: Edges, cuts: Mapping[str, object], given: Mapping[str, object]) -> None:
    if strangers := [name for name in cuts if name not in edges.variables]:
        raise BinsError(f"bins are given for {strangers}, which the edges do not name.")
    if both := [name for name in cuts if name in given]:
        raise BinsError(f"both bins and states are given for {both}.", "give one of the two.")


def _given_states(name: str, states: Any) -> Scope:
    """States as the user gives them; numbers are spelled as those in data are."""
    if isinstance(states, str | bytes) or not isinstance(states, Iterable):
        raise StatesError(
            f"the states of {name!r} are given as {states!r}.",
            f"give a list: states={{{name!r}: ['no', 'yes']}}.",
        )
    found = tuple(spelled(float(s)) if isinstance(s, float) else str(s) for s in states)
    if not found:
        raise StatesError(f"the list of states of {name!r} is empty.", "give at least one.")
    return found


def _check_names(edges: Edges, columns: Scope, label: str, given: Mapping[str, object]) -> None:
    if strangers := [name for name in given if name not in edges.variables]:
        raise StatesError(
            f"states are given for {strangers}, which the edges do not name.",
            "add a variable without edges by its bare name: 'A -> B; C'.",
        )
    absent = [name for name in edges.variables if name not in columns and name not in given]
    if absent:
        close = {name: close_to(name, columns) for name in absent}
        meant = [f"{own[0]!r} for {name!r}" for name, own in close.items() if own]
        hint = f"did you mean {', '.join(meant)}? " if meant else ""
        hidden = f"A hidden variable needs its states: states={{{absent[0]!r}: [...]}}."
        raise StatesError(
            f"the edges name {absent}, but {label} has the columns {list(columns)}.",
            delimiter_hint(columns) or hint + hidden,
        )


def _summary(
    network: Network, found: Mapping[str, Scope], hidden: Sequence[str], label: str
) -> str:
    sizes = ", ".join(f"{name} {len(states)}" for name, states in found.items())
    total = counted(sum(map(len, found.values())), "state")
    note = f"found {total} in {counted(len(found), 'column')} of {label}: {sizes}." if found else ""
    if by_hand := len(network.variables) - len(found):
        note += f" {counted(by_hand, 'variable')} with states given."
    return (note + (f" Hidden: {', '.join(hidden)}." if hidden else "")).strip()


Network.from_data = staticmethod(network_from)  # the model is below the data: see Network
