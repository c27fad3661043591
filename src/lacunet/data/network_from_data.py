"""Networks from data: edges say which variables there are, the columns say their states."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from lacunet.data.batches import encoded_column
from lacunet.data.bins import BinsError, bins_for_column, cuts_found, dates_by, numbers_in
from lacunet.data.column_rules import Reading, check_columns, panel_from, source_of_data
from lacunet.data.data import Data, as_data
from lacunet.data.delimited_text import delimiter_hint
from lacunet.data.errors import clipped, refuse_strangers, short_list
from lacunet.data.matching import with_points
from lacunet.data.panels import refuse_panel
from lacunet.data.proposals import proposals
from lacunet.data.raw_columns import refusal
from lacunet.data.skipped_questions import skips_of
from lacunet.data.source_parts import DataSource
from lacunet.data.states import (
    FirstRows,
    Seen,
    StatesError,
    WeightsError,
    codes_not_seen,
    look_at_columns,
    may_be_cut,
    note_on_missing_words,
    state_remarks,
    states_of,
)
from lacunet.errors import LacunetError, warn
from lacunet.network.dates import UNITS
from lacunet.network.dictionary import mentions, parsed_rule, when_and_state
from lacunet.network.edge_texts import are_edges, is_edges
from lacunet.network.edges import NEEDS_QUOTES, Edges, EdgesError, edges_of
from lacunet.network.interval_names import labels_of, spelled_cut
from lacunet.network.network import Network, Scope
from lacunet.network.spelling import number_of, spelled
from lacunet.network.waves import in_time, is_template, unrolled_edges
from lacunet.text import close_to, counted, first_of, in_shell, keyed, listed


@dataclass(frozen=True)
class FoundNetwork:
    """A network without CPTs, how its states were found, and what may surprise."""

    network: Network
    summary: str  # how many states were found in how many columns
    remarks: tuple[str, ...]  # what may surprise the user
    left_out: Mapping[str, str] = field(default_factory=dict)  # columns, each with why
    empty: tuple[str, ...] = ()  # those of them that hold no value


def find_network(data: Any, edges: Any) -> FoundNetwork:
    """What `Network.from_data` gives, with the notes as values instead of warnings."""
    if are_edges(data) and not are_edges(edges):
        raise EdgesError(
            "the arguments are swapped: the data come first, then the edges.",
            "as in lacunet.Network.from_data(data, edges).",
        )
    dataset = with_network_states(as_data(data))
    if dataset.is_panel:
        return _network_of_panel(dataset, edges)
    source = source_of_data(dataset)
    drawn = _edges_of_columns(edges, source, dataset)
    are_named = not is_of_all(edges)
    given = check_given_states(dataset.states)
    _check_names(drawn, source.columns, source.label, given)
    if are_named:
        refuse_strangers("latent", dataset.latent, drawn.variables, "the network")
    columns = [name for name in source.columns if name in drawn.variables]
    hidden = [name for name in drawn.variables if name not in source.columns]
    variables = (*columns, *hidden)
    check_columns(source, variables, dataset)
    _check_rules(dataset, variables, source)

    held = columns_held(source, dataset, columns, are_named=are_named)
    inferred = _inferred(held, drawn if are_named else None)
    network = held.network(variables, inferred, drawn.parents_of)
    network = network.with_reversible(drawn.reversible)
    if drawn.are_learned:  # from other rows, whose states may be others
        network = network.with_bootstrap([])
    remarks = (*_remarks_on(held, columns, inferred), *held.proposals(network))
    summary = _summary(network, inferred, hidden, source.label)
    return FoundNetwork(network, summary, remarks)


def _network_of_panel(data: Data, edges: Any) -> FoundNetwork:
    """The network of a template over all waves; a variable has the same states in each.

    CPTs that are the same wave by wave are one.
    """
    template = _checked_template(edges, data)
    panel = panel_from(data)
    unrolled, tied = unrolled_edges(template, panel.waves)
    panel.warn_of_gaps()
    names = _names_in_time(unrolled.variables)
    # Its states are those of all waves, stacked: one column for each name.
    stacked = replace(
        data,
        source=panel.stacked(),
        query=None,
        database=None,
        unit=None,
        time=None,
        waves=None,
        weight=None,
        counts=None,
    )
    of_names = find_network(stacked, dict.fromkeys(names, ()))
    base = of_names.network
    name_of = {variable: in_time(variable).name for variable in unrolled.variables}
    network = Network(
        {variable: base.states_of[name] for variable, name in name_of.items()},
        unrolled.parents_of,
        cuts={v: base.cuts_of[name] for v, name in name_of.items() if name in base.cuts_of},
        codes={v: base.codes_of[name] for v, name in name_of.items() if name in base.codes_of},
    )
    return replace(of_names, network=network.with_ties(tied))


def _checked_template(edges: Any, data: Data) -> Edges:
    """The edges of units in waves; refused where none has a wave, or a question has a rule."""
    template = edges_of(edges)
    if not is_template(template.variables):
        raise EdgesError(
            "the data are units in waves, and no variable has a wave in the edges.",
            "write H[t] for H in any wave, and H[t-1] for the wave before: H[t-1] -> H[t].",
        )
    if data.not_asked:
        raise EdgesError(
            "questions that are not asked of all (not_asked=) are not known for panels.",
            "leave them out: such cells are missing.",
        )
    return template


def _names_in_time(variables: Sequence[str]) -> list[str]:
    """The names of variables without their waves; refused where one is with and without."""
    nodes = [in_time(variable) for variable in variables]
    names = list(dict.fromkeys(node.name for node in nodes))
    with_wave = {node.name for node in nodes if node.wave is not None}
    if both := [name for name in names if name in with_wave and name in variables]:
        raise EdgesError(
            f"{both[0]!r} has a wave in some edges, and none in others.",
            f"write {both[0]}[t] everywhere, or nowhere if it is the same in all waves.",
        )
    return names


def _edges_of_columns(edges: Any, source: DataSource, data: Data) -> Edges:
    """The edges as they are drawn; no edges at all are those of every column that is a variable."""
    if is_of_all(edges):
        beside = {*data.beside, *data.aside, *data.without}
        return Edges(tuple(name for name in source.columns if name not in beside), {})
    return edges_of(edges)


def is_of_all(edges: Any) -> bool:
    """Whether there are no edges, which stands for all columns."""
    return isinstance(edges, list | tuple | Mapping) and not edges


def _inferred(held: ColumnsHeld, edges: Edges | None) -> dict[str, Scope]:
    """The states that columns show; one error names all columns that cannot be variables."""
    inferred: dict[str, Scope] = {}
    refused: dict[str, StatesError] = {}
    for v, column in held.uncut.items():
        try:
            inferred[v] = states_of(v, column, held.extra.get(v, ()), in_edges=True)
        except StatesError as error:
            refused[v] = error
    if refused:
        raise refusal(refused, held.data, edges)
    return inferred


@dataclass(frozen=True)
class ColumnsHeld:
    """What columns of data hold."""

    source: DataSource
    data: Data
    given: Mapping[str, Scope]  # states by hand, of intervals or of dates
    cuts: Mapping[str, Sequence[float]]
    seen: Mapping[str, Seen]  # columns without states by hand
    first: FirstRows  # what proposals are made from
    extra: Mapping[str, Sequence[str]]  # the states of questions that were not asked

    @property
    def uncut(self) -> dict[str, Seen]:
        """What is seen in the columns that nothing else gives states."""
        return {name: column for name, column in self.seen.items() if name not in self.given}

    def network(
        self,
        names: Sequence[str],
        inferred: Mapping[str, Scope],
        parents: Mapping[str, Sequence[str]] | None = None,
    ) -> Network:
        """The network of some columns, which knows what later data have to be told of them.

        It has the states found where none are given. Without parents, it has those that questions
        which were not asked require.
        """
        known = {**inferred, **self.given}
        states = {v: tuple(dict.fromkeys([*known[v], *self.extra.get(v, ())])) for v in names}
        rules = {v: rule for v, rule in self.data.not_asked.items() if v in states}
        if parents is None:
            when = {v: when_and_state(v, rule)[0] for v, rule in rules.items()}
            parents = {v: parsed_rule(text, states)[0] for v, text in when.items()}
        codes = {}
        for name in names:
            column = self.seen.get(name) or Seen.of(name, self.data)
            codes[name] = {
                code: meaning
                for code, meaning in column.missing_codes.items()
                if code in column.codes or code not in states[name]  # else the state is meant
            }
        cuts = {name: points for name, points in self.cuts.items() if name in names}
        return Network(states, parents, cuts=cuts, codes=codes, not_asked=rules)

    def proposals(self, network: Network) -> Iterator[str]:
        """What the first rows make one think of, as the network would read them.

        A rule is applied where all that it looks at has columns.
        """
        if not self.first:
            return proposals(network, {}, {})
        columns = {name: name for name in network.variables if name in self.source.columns}
        reading = Reading(
            network=network, source=self.source, data=self.data, column_of=columns, notes=()
        )
        pieces = [piece for piece, _ in self.first]
        shown = {name: encoded_column(reading, name, pieces)[0] for name in columns}
        for skips in skips_of(network, reading.sets_of):
            if {skips.name, *skips.rule.scope} <= shown.keys():
                shown[skips.name] = skips.applied(shown)
        numbers_of = {
            name: np.concatenate([numbers_in(piece, name, self.data) for piece in pieces])
            for name in network.cuts_of
        }
        copies = [counts for _, counts in self.first if counts is not None]
        return proposals(network, shown, numbers_of, np.concatenate(copies) if copies else None)


def columns_held(
    source: DataSource, data: Data, columns: Sequence[str], *, are_named: bool = False
) -> ColumnsHeld:
    """What some columns of data hold: they are read once, and once more for cut points."""
    given = check_given_states(data.states)
    if both := [name for name in columns if name in data.bins and name in given]:
        raise BinsError(f"both bins and states are given for {both}.", "give one of the two.")
    looked_up = [name for name in columns if name not in given]
    by_hand = [name for name in columns if name in given]
    seen, first = look_at_columns(source, looked_up, data, by_hand) if looked_up else ({}, ())
    bins_of: dict[str, Any] = {}  # of numbers
    for name, column in seen.items():
        bins = _bins_of_column(name, column, data, are_named=are_named)
        if isinstance(bins, str) and bins in UNITS:
            given[name] = dates_by(bins, name, column)
        elif bins is not None:
            bins_of[name] = bins
    cuts = cuts_found(source, bins_of, data)
    given |= {name: labels_of(points) for name, points in cuts.items()}
    extra = {v: [when_and_state(v, rule)[1]] for v, rule in data.not_asked.items()}
    return ColumnsHeld(
        source=source, data=data, given=given, cuts=cuts, seen=seen, first=first, extra=extra
    )


def _bins_of_column(name: str, column: Seen, data: Data, *, are_named: bool) -> Any:
    """How a column is cut; None where it is not.

    What bins say of all columns holds for identifiers and weights only where edges name them.
    """
    is_said_of_it = name in data.bins
    bins = data.bins[name] if is_said_of_it else data.bins.get(None)
    is_auto = isinstance(bins, str) and bins == "auto"
    if bins is None or (is_said_of_it and not is_auto):
        return bins
    if is_said_of_it or are_named or may_be_cut(name, column):
        return bins_for_column(bins, column)
    return None


def network_of_edges(
    edges: Any, states: Mapping[str, Sequence[str]] | None = None
) -> tuple[Network, list[str]]:
    """The network of edges without data, and the variables that are taken to have two states.

    These are all that ``states`` does not name.

    Examples
    --------
    >>> network, assumed = network_of_edges("Age -> Ill", {"Age": ["young", "middle", "old"]})
    >>> network.states("Ill"), assumed
    (('0', '1'), ['Ill'])
    """
    read = edges_of(edges)
    given = states or {}
    all_states = {name: given.get(name, ("0", "1")) for name in read.variables}
    return Network(all_states, read.parents_of), [name for name in all_states if name not in given]


def _outside(name: str, seen: Seen, cuts: Sequence[float], decimal: str) -> Iterator[str]:
    """That some numbers are in no interval."""
    numbers = {text: number_of(with_points(text, decimal)) for text in seen.cells}
    held = {text: number for text, number in numbers.items() if number is not None}
    if outside := [text for text, number in held.items() if not cuts[0] <= number <= cuts[-1]]:
        rows = counted(sum(seen.cells[text] for text in outside), "row")
        wider = [spelled_cut(cut) for cut in dict.fromkeys([-np.inf, *cuts, np.inf])]
        points = ", ".join(f"float({cut!r})" if "inf" in cut else cut for cut in wider)
        shell = in_shell(f"{keyed(name, '=')}={','.join(wider)}")
        yield (
            f"column {name!r} has numbers outside of the intervals {', '.join(labels_of(cuts))}: "
            f"{first_of(outside, 3)} ({rows}). Learning refuses them. To take them in, open the "
            f"ends: bins={{{name!r}: [{points}]}} (--bins {shell})."
        )


def rows_first(data: object, function: str) -> object:
    """The data of a ``function`` that takes a network after them, if they are not one."""
    is_network = isinstance(getattr(data, "network", data), Network)
    is_network = is_network and not hasattr(data, "__arrow_c_stream__")  # as simulated rows have
    if is_network or (isinstance(data, str) and is_edges(data)):
        kind = "network" if is_network else "edges"
        raise LacunetError(
            f"{function} takes the data first: {clipped(data) if kind == 'edges' else 'a network'} "
            "does not hold any.",
            f"write {function}(data), or {function}(data, {kind}).",
        )
    return data


def warned_network_of_columns(data: Data) -> tuple[FoundNetwork, Data]:
    """`network_of_columns`, its remarks as warnings; and the data, with no notes on the same."""
    columns = network_of_columns(data)
    for remark in columns.remarks:
        warn(remark)
    return columns, replace(data, aside=(*data.aside, *columns.left_out))


def network_of_columns(data: Any) -> FoundNetwork:
    """A network without edges of all columns but weights and the like.

    A column that has one value has one state; one without any, or with the name and the values of
    sampling weights, is left out with a remark. Questions that were not asked have the edges that
    their rules require.

    Raises
    ------
    StatesError
        Some columns cannot be variables as they are; or none is left.
    """
    dataset = with_network_states(as_data(data))
    refuse_panel(dataset, "a network of all columns")
    source = source_of_data(dataset)
    beside = {*dataset.beside, *dataset.without}
    columns = [name for name in source.columns if name not in beside]
    check_columns(source, columns, dataset)
    held = columns_held(source, dataset, columns)
    known, left_out = _states_or_left_out(held)
    kept = [name for name in columns if name not in left_out]
    if not kept:
        why = " ".join(dict.fromkeys(left_out.values())) or "there are no others."
        raise StatesError(f"no column of {source.label} is left to learn from: {why}")
    _check_rules(dataset, kept, source)
    network = held.network(kept, known)
    several = {name: states for name, states in known.items() if len(states) > 1}
    notes = [*dict.fromkeys(left_out.values())]
    notes += _remarks_on(held, kept, known)
    summary = _summary(network, several, (), source.label)
    empty = tuple(name for name in left_out if not held.uncut[name].cells)
    return FoundNetwork(network, summary, (*notes, *held.proposals(network)), left_out, empty)


def _states_or_left_out(held: ColumnsHeld) -> tuple[dict[str, Scope], dict[str, str]]:
    """The states of columns that nobody names, none or one among them; remarks on the others."""
    known: dict[str, Scope] = {}
    left_out: dict[str, str] = {}
    weights: list[str] = []
    refused: dict[str, StatesError] = {}
    for name, column in held.uncut.items():
        more = held.extra.get(name, ())
        values = len(column.cells) + len(column.labels) + len(more)
        is_odd = column.is_nested or column.is_free_text or column.texts_of_numbers
        try:
            if values < 2 and not column.order and not is_odd:
                known[name] = tuple(column.cells)
            else:
                known[name] = states_of(name, column, more)
        except WeightsError:
            weights.append(name)
        except StatesError as error:
            refused[name] = error
    if refused:
        raise refusal(refused, held.data)
    if weights:
        remark = (
            f"left out {listed(weights)}, by name sampling weights: weight={weights[0]!r}, "
            f"--weight {in_shell(weights[0])}; a variable is kept where its states or bins are "
            "given."
        )
        left_out |= dict.fromkeys(weights, remark)
    empty = [name for name, states in known.items() if not states and name not in held.extra]
    if empty:
        keep = "it" if len(empty) == 1 else "them"
        remark = f"left out {listed(empty)}: every cell is missing; give states to keep {keep}."
        left_out |= dict.fromkeys(empty, remark)
    return {name: states for name, states in known.items() if name not in left_out}, left_out


def _remarks_on(
    held: ColumnsHeld, columns: Sequence[str], inferred: Mapping[str, Scope]
) -> Iterator[str]:
    """What may surprise about the columns that are variables."""
    seen = {name: held.seen[name] for name in columns if name in held.seen}
    yield from note_on_missing_words(seen, inferred)
    for name, states in inferred.items():
        yield from state_remarks(name, seen[name], states)
    if len(seen) == len(columns):
        yield from codes_not_seen(seen)
    for name, points in held.cuts.items():
        yield from _outside(name, seen[name], points, held.data.decimal)


def _check_rules(data: Data, variables: Sequence[str], source: DataSource) -> None:
    """Refuse rules that look at columns which are not variables."""
    others = [name for name in source.columns if name not in variables]
    for name, rule in data.not_asked.items():
        when, _ = when_and_state(name, rule)
        if looked_at := [other for other in others if mentions(when, other)]:
            raise StatesError(
                f"the rule for {name!r}, {when!r}, looks at {looked_at}, which the edges do not "
                "name.",
                f"add {'; '.join(f'{other} -> {name}' for other in looked_at)}: who is asked "
                "depends on it.",
            )


def with_network_states(data: Data) -> Data:
    """The same, with the states, cut points and codes of a network in place of the network.

    Latent variables whose number of states is given have names for them.
    """
    network = data.states
    if not isinstance(network, Network):
        if not data.classes:
            return data
        return replace(data, states={**data.states_of_classes, **data.states})
    cuts = network.cuts_of
    codes = {
        name: {**network.codes_of.get(name, {}), **data.codes.get(name, {})}
        for name in dict.fromkeys((*network.codes_of, *data.codes))
    }
    return replace(
        data,
        states={
            **data.states_of_classes,
            **{name: states for name, states in network.states_of.items() if name not in cuts},
        },
        bins={**data.bins, **cuts},
        codes=codes,
        not_asked={**network.not_asked_of, **data.not_asked},
    )


def check_given_states(states_of: Mapping[str, Any]) -> dict[str, Scope]:
    """States as the user gives them, checked; numbers are spelled as those in data are."""
    checked = {}
    for name, states in states_of.items():
        is_list = isinstance(states, Iterable) and not isinstance(states, str | bytes)
        if not is_list or not (states := list(states)):
            raise StatesError(
                f"the states of {name!r} are given as {states!r}.",
                f"give a list: states={{{name!r}: ['no', 'yes']}}.",
            )
        checked[name] = tuple(spelled(float(s)) if isinstance(s, float) else str(s) for s in states)
    return checked


def _check_names(edges: Edges, columns: Scope, label: str, given: Mapping[str, object]) -> None:
    absent = [name for name in edges.variables if name not in columns and name not in given]
    if is_template(absent):
        raise EdgesError(
            f"the edges name {short_list(absent)}, and the data do not say what a wave is.",
            "if each row is a unit in a wave: lacunet.Data(data, unit='person', time='wave') "
            "(--unit person --time wave); if each is a unit: waves={'H': ['H1', 'H2']} "
            "(--waves H=H1,H2).",
        )
    if absent:
        close = {name: close_to(name, columns) for name in absent}
        meant = [f"{matches[0]!r} for {name!r}" for name, matches in close.items() if matches]
        hints = [f"did you mean {', '.join(meant)}?"] if meant else []
        unlike = [name for name, matches in close.items() if not matches]
        odd = [
            column
            for column in columns
            if NEEDS_QUOTES.search(column) and any(v in column for v in unlike)
        ]
        if odd:
            hints.append(f"quote the column {odd[0]!r} in the edges: '\"{odd[0]}\" -> ...'.")
        elif unlike:
            hidden = f"{unlike[0]}=2"
            hints.append(
                f"if {unlike[0]!r} is hidden, say how many states it has: lacunet.Data(data, "
                f"latent={{{unlike[0]!r}: 2}}) (--latent {in_shell(hidden)})."
            )
        raise StatesError(
            f"the edges name {short_list(absent)}, but {label} has the columns {list(columns)}.",
            delimiter_hint(columns) or _between_edges(absent, columns) or " Or: ".join(hints),
        )


SIGN = r"\s*[+*:]\s*"  # between variables of a formula
FORMULA = re.compile(r"([^~]*[^~\s])\s*~\s*([^~\s][^~]*)")


def _between_edges(absent: Sequence[str], columns: Scope) -> str:
    """How edges are written, where a formula or columns beside each other stand for a column."""
    if formulas := [*filter(None, map(FORMULA.fullmatch, absent))]:
        child, parents = formulas[0].groups()
        return f"edges have arrows: '{', '.join(re.split(SIGN, parents))} -> {child}'."
    several = [name.split() for name in absent if {*name.split()} <= {*columns}]
    if several:
        return f"separate edges by ;, as in '... -> {'; '.join(several[0])} -> ...'."
    return ""


def _summary(
    network: Network, inferred: Mapping[str, Scope], hidden: Sequence[str], label: str
) -> str:
    sizes = ", ".join(f"{name} {len(states)}" for name, states in inferred.items())
    total = counted(sum(map(len, inferred.values())), "state")
    columns = counted(len(inferred), "column")
    cut = [f"{name} {len(points) - 1}" for name, points in network.cuts_of.items()]
    others = [v for v in network.variables if v not in inferred and v not in network.cuts_of]
    alone = sum(network.cardinality(name) == 1 for name in others)
    sentences = {
        f"found {total} in {columns} of {label}: {sizes}.": len(inferred),
        f"{counted(len(cut), 'variable')} cut into intervals: {', '.join(cut)}.": len(cut),
        f"{counted(alone, 'variable')} with one state.": alone,
        f"{counted(len(others) - alone, 'variable')} with states given.": len(others) - alone,
        f"Hidden: {', '.join(hidden)}.": len(hidden),
    }
    return " ".join(sentence for sentence, number in sentences.items() if number)
