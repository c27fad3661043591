"""A discrete Bayesian network: variables with ordered states, a DAG and, if known, CPTs.

A network is a value: it is checked once, when it is made, and never changes. Names and
states are arbitrary texts; the order of the states is the order of the axes of every table.
A CPT has one axis for each parent, in the order of the parents, and the child's axis last.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from math import prod
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lacunet.errors import warn
from lacunet.network.arguments import clear_arguments
from lacunet.network.askable import Askable
from lacunet.network.checks import (
    check_ties,
    checked_cuts,
    checked_parents,
    checked_states,
    checked_support,
    checked_tables,
    refuse_unknown_variables,
    topological_order,
)
from lacunet.network.cpt import Cpt
from lacunet.network.dictionary import CodesOf, NotAsked, StatesOf, checked_codes, checked_rules
from lacunet.network.errors import NetworkError
from lacunet.text import (
    counted,
    did_you_mean,
    first_of,
    in_quotes,
)
from lacunet.text_tables import TextTable, fitting, terminal_width

if TYPE_CHECKING:
    import networkx as nx

    from lacunet.network.mechanisms import Mechanisms
    from lacunet.network.shapes.shape import Shape, Shaped
    from lacunet.structure.cpdag import Cpdag

Scope = tuple[str, ...]
FloatArray = NDArray[np.float64]
Mask = NDArray[np.bool_]
Tables = Mapping[str, FloatArray]  # of each variable one like its CPT

# In the listing of a network.
MOST_LISTED = 12  # states
STATES_PER_LINE = 60  # columns that they take
_HEADER = ("variable", "parents", "states")


# Attributes of a network that only the package uses.
INNER_ATTRIBUTES = frozenset(
    [
        "backing",
        "bootstrap",
        "can_occur",
        "cardinality_of",
        "edges_of_rules",
        "head_of",
        "heads",
        "intervened",
        "known",
        "masked_of",
        "needs_data",
        "order",
        "parents_of",
        "possible",
        "possible_of",
        "reversible",
        "shape",
        "shaped_of",
        "shapes_of",
        "state_index",
        "states_of",
        "support",
        "tables_of",
        "tied_with",
        "with_bootstrap",
        "with_codes",
        "with_computed",
        "with_copies",
        "with_leaf",
        "with_mechanisms",
        "with_reversible",
        "with_rule_variables",
        "with_support",
        "with_ties",
    ]
)


@clear_arguments
@dataclass(frozen=True, init=False, repr=False)
class Network(Askable):
    """Variables with ordered states, the parents of each and, if known, their CPTs.

    Parameters
    ----------
    states
        The states of each variable, in order. The order of the keys is that of the variables.
    parents
        The parents of each variable that has any; or edges as text: ``"Rain -> Wet"``.
    tables
        The CPT of every variable, axes parents... then child; or None for a bare structure.
    cuts
        For variables whose states are intervals of numbers: where each begins, and where the
        last one ends. Numbers in the data are then cut accordingly.
    codes
        What values in data mean, for some variables: ``{9: None}`` missing, ``{1: "yes"}`` a
        state, ``{"40+": ["40-49", "50+"]}`` one of several. Codes are compared by value.
    not_asked
        For variables that not all were asked about: a rule on the states of parents, such as
        ``"Smoked=no and Age!=old"``. Where it holds the state is ``not_asked``, and nowhere else;
        ``("Smoked=no", "never")`` names another state.

    Raises
    ------
    NetworkError
        What is given is not a Bayesian network; the message names the variable.

    Examples
    --------
    >>> rain = Network(
    ...     {"Rain": ["no", "yes"], "Wet": ["no", "yes"]},
    ...     {"Wet": ["Rain"]},
    ...     {"Rain": [0.8, 0.2], "Wet": [[0.9, 0.1], [0.2, 0.8]]},
    ... )
    >>> rain.parents("Wet"), rain.states("Rain")
    (('Rain',), ('no', 'yes'))
    >>> rain.cpt("Wet").table[1, 1].item()
    0.8
    """

    variables: Scope
    states_of: StatesOf
    parents_of: Mapping[str, Scope]
    tables_of: Mapping[str, FloatArray] | None
    cuts_of: Mapping[str, tuple[float, ...]]
    order: Scope  # parents before children
    codes_of: CodesOf
    not_asked_of: Mapping[str, NotAsked]
    support: Mapping[str, Mask] | None  # of each CPT row: do data support it? None: not known
    masked_of: Mapping[str, FloatArray]  # CPTs with rows without data: as they are, and those zero
    mechanisms: Mechanisms | None  # how values went missing; None: not known
    reversible: tuple[tuple[str, str], ...]  # edges whose direction the data do not tell
    bootstrap: tuple[Network, ...] | None  # what replicates of the rows led to; None: edges known
    tied: tuple[Scope, ...]  # variables whose CPTs are one, group by group
    shapes_of: Mapping[str, Shape]  # of CPTs that are no full tables

    def __init__(
        self,
        states: Mapping[str, Sequence[str]],
        parents: Mapping[str, Sequence[str]] | str | None = None,
        tables: Mapping[str, ArrayLike] | None = None,
        cuts: Mapping[str, Sequence[float]] | None = None,
        codes: Mapping[str, Mapping[Any, Any]] | None = None,
        not_asked: Mapping[str, object] | None = None,
    ) -> None:
        states_of = checked_states(states)
        parents_of = checked_parents(states_of, parents or {})
        order = topological_order(parents_of)
        tables_of = None if tables is None else checked_tables(states_of, parents_of, tables)
        rules = checked_rules(states_of, parents_of, not_asked or {})
        self._hold(
            variables=tuple(states_of),
            states_of=states_of,
            parents_of=parents_of,
            tables_of=tables_of,
            order=order,
            cuts_of=checked_cuts(states_of, cuts or {}, rules),
            codes_of=checked_codes(states_of, codes or {}),
            not_asked_of=rules,
            support=None,
            masked_of={},
            mechanisms=None,
            reversible=(),
            bootstrap=None,
            tied=(),
            shapes_of={},
        )
        self._check_rules()

    def __dir__(self) -> list[str]:
        """What a network is asked; what the package itself needs of it is not completed."""
        return [name for name in super().__dir__() if name not in INNER_ATTRIBUTES]

    def _hold(self, **fields: object) -> None:
        """Take in what is checked; mappings can be read only."""
        for name, value in fields.items():
            self.__dict__[name] = MappingProxyType(value) if isinstance(value, dict) else value

    @staticmethod
    def from_data(
        data: Any,
        edges: Any,
    ) -> Network:
        """A network without CPTs: structure from edges, states from the columns of the data.

        The network has the variables that the edges name,
        in the order of the columns; other columns are left alone.

        Parameters
        ----------
        data
            Whatever `lacunet.learn` takes: a path, a dataframe, a dict of lists, or `lacunet.Data`,
            which also says which states there are, where numbers are cut, what codes mean and
            when questions were not asked. The network keeps all of that: later data are read in the
            same way.
        edges
            Pairs ``(parent, child)``, a text such as ``"Age -> Disease; Disease -> Test"``, DOT,
            dagitty, bnlearn's ``"[A][B|A]"``, a graph of networkx, a mapping from child to
            parents; a `pathlib.Path` of a file with the text, or of a file of two columns. An empty
            list stands for all columns without edges.

        Warns
        -----
        LacunetWarning
            Values treated as missing without being declared, with counts; and values that look
            like undeclared codes for missing, and columns that are always empty under a state of
            another.

        Raises
        ------
        EdgesError, StatesError, DictionaryError, NetworkError
            The edges cannot be read, or no states can be found in a column, also where texts differ
            only in how a number is written (``1.1`` and ``1.10``); the message names it and says
            what to do.

        Examples
        --------
        >>> rows = {"Age": [30, 29, 41], "Ill": ["no", "yes", None], "Id": ["a", "b", "c"]}
        >>> network = Network.from_data(rows, "Age -> Ill")
        >>> network.states("Age"), network.states("Ill"), network.parents("Ill")
        (('29', '30', '41'), ('no', 'yes'), ('Age',))
        """
        from lacunet.data.network_from_data import (
            find_network,  # the one import that points forwards
        )

        built = find_network(data, edges)
        for remark in built.remarks:
            warn(remark)
        return built.network

    def states(self, variable: str) -> tuple[str, ...]:
        """The states of a variable, in order."""
        return self.states_of[self.known(variable)]

    def parents(self, variable: str) -> Scope:
        """The parents of a variable, in the order of the CPT's axes."""
        return self.parents_of[self.known(variable)]

    def family(self, variable: str) -> Scope:
        """The parents of a variable, then the variable itself."""
        return (*self.parents(variable), variable)

    def cardinality(self, variable: str) -> int:
        """The number of states of a variable."""
        return len(self.states(variable))

    @property
    def cardinality_of(self) -> dict[str, int]:
        """The number of states of each variable."""
        return {name: len(states) for name, states in self.states_of.items()}

    @property
    def families(self) -> tuple[Scope, ...]:
        """The family of each variable, in the order of the variables."""
        return tuple(map(self.family, self.variables))

    def shape(self, scope: Iterable[str]) -> tuple[int, ...]:
        """The shape of a table over ``scope``."""
        return tuple([len(self.states(name)) for name in scope])

    @property
    def has_cpts(self) -> bool:
        """Whether the network carries parameters."""
        return self.tables_of is not None

    def cpt(self, variable: str) -> Cpt:
        """The CPT of a variable."""
        self.known(variable)
        if self.tables_of is None:
            raise NetworkError(
                f"the network has no CPT for {variable!r}: it was given without parameters.",
                "learn them from data: lacunet.learn(network, data) (lacunet learn NETWORK DATA).",
            )
        states = tuple(self.states_of[name] for name in self.family(variable))
        supported = None if self.support is None else self.support.get(variable)
        return Cpt(
            child=variable,
            parents=self.parents_of[variable],
            table=self.tables_of[variable],
            states=states,
            supported=supported,
        )

    @property
    def cpts(self) -> tuple[Cpt, ...]:
        """All CPTs, in the order of the variables."""
        return tuple(self.cpt(name) for name in self.variables)

    def known(self, variable: str) -> str:
        """The variable itself, if the network has it."""
        if variable not in self.states_of:
            names = f"its variables are {first_of(self.variables, 10)}."
            from lacunet.network.waves import waves_in_words

            waves = waves_in_words(variable, self)
            hint = waves or did_you_mean(variable, self.variables) or names
            raise NetworkError(f"the network has no variable {variable!r}.", hint)
        return variable

    def state_index(self, variable: str, state: str) -> int:
        """The position of a state on its variable's axis."""
        states = self.states(variable)
        if state not in states:
            raise NetworkError.no_such_state(variable, state, states)
        return states.index(state)

    def with_tables(self, tables: Mapping[str, ArrayLike] | None) -> Network:
        """The same structure with other parameters, or with none.

        Nothing is known about what supports them, nor how values went missing.
        """
        checked = (
            None if tables is None else checked_tables(self.states_of, self.parents_of, tables)
        )
        network = self._with(tables_of=checked, support=None, masked_of={}, mechanisms=None)
        network._check_rules()
        return network

    def with_computed(self, tables: Mapping[str, FloatArray]) -> Network:
        """As `with_tables`, for CPTs that we computed: they are neither checked nor copied."""
        return self._with(tables_of=dict(tables), support=None, mechanisms=None)

    def with_codes(
        self,
        codes: Mapping[str, Mapping[Any, Any]] | None = None,
        not_asked: Mapping[str, object] | None = None,
    ) -> Network:
        """The same network with other codes and rules, as in a new network."""
        network = self._with(
            codes_of=checked_codes(self.states_of, codes or {}),
            not_asked_of=checked_rules(self.states_of, self.parents_of, not_asked or {}),
            bootstrap=self.bootstrap and tuple(r.with_codes(codes) for r in self.bootstrap),
        )
        network._check_rules()
        return network

    def _check_rules(self) -> None:
        """Refuse CPTs that give probability to what a rule excludes."""
        for name, rule in self.not_asked_of.items() if self.tables_of else ():
            if (self.tables_of or {})[name][~self.possible(name)].any():
                raise NetworkError(
                    f"the CPT of {name!r} does not obey its rule: the state {rule.state!r} where "
                    f"{rule.when}, and nowhere else.",
                    "learn the CPTs from data with this rule, or correct one of them.",
                )

    def possible(self, variable: str) -> Mask:
        """Which cells of a CPT may have probability; all others are structural zeros.

        Examples
        --------
        >>> survey = Network(
        ...     {"Smoked": ["no", "yes"], "Now": ["no", "yes", "not_asked"]},
        ...     {"Now": ["Smoked"]},
        ...     not_asked={"Now": "Smoked=no"},
        ... )
        >>> survey.possible("Now").tolist()
        [[False, False, True], [True, True, False]]
        """
        family = self.family(variable)
        rule = self.not_asked_of.get(variable)
        possible = np.ones(1, dtype=bool)
        if rule is not None:
            possible = rule.can_occur(family, variable, self.states_of[variable])
        return np.broadcast_to(possible, self.shape(family))  # it takes no memory

    @property
    def possible_of(self) -> Mapping[str, Mask]:
        """The possible cells of each CPT that has structural zeros."""
        return {name: self.possible(name) for name in self.not_asked_of}

    def needs_data(self, variable: str) -> Mask:
        """Which rows of a CPT data have to tell: those that no rule decides, and that can occur.

        Of a CPT that is fixed there are none.

        Parents that contradict a rule of one of them never occur together.

        Examples
        --------
        >>> survey = Network(
        ...     {"Smoked": ["no", "yes"], "Now": ["no", "yes", "not_asked"], "Ill": ["no", "yes"]},
        ...     {"Now": ["Smoked"], "Ill": ["Smoked", "Now"]},
        ...     not_asked={"Now": "Smoked=no"},
        ... )
        >>> survey.needs_data("Ill").tolist()
        [[False, False, True], [True, True, False]]
        """
        needed = self.can_occur(self.parents(variable))
        if variable in self.shapes_of and not self.shaped_of[variable].parameter_names:
            return np.zeros_like(needed)  # the CPT is fixed
        if variable in self.not_asked_of:
            needed &= self.possible(variable).sum(axis=-1) > 1
        return needed

    def backing(self, variable: str, rows: FloatArray) -> FloatArray:
        """The rows of data behind each row of a CPT: infinitely many where it needs no data.

        A CPT that is no full table tells of configurations of the parents that nobody shows.
        """
        if variable in self.shaped_of:
            return self.shaped_of[variable].backing(rows)
        if not self.not_asked_of:
            return rows
        return np.where(self.needs_data(variable), rows, np.inf)

    def can_occur(self, scope: Scope) -> Mask:
        """Which states of some variables together contradict no rule of theirs."""
        mask = np.ones(self.shape(scope), dtype=bool)
        for name in self.not_asked_of.keys() & scope:
            mask &= self.not_asked_of[name].can_occur(scope, name, self.states_of[name])
        return mask

    def with_rule_variables(self, scope: Scope) -> Scope:
        """Some variables, and behind them those that the rules of what was not asked look at."""
        names = list(scope)
        for name in names:  # it grows
            if name in self.not_asked_of:
                names += [v for v in self.not_asked_of[name].scope if v not in names]
        return tuple(names)

    @property
    def cpdag(self) -> Cpdag:
        """What the edges have in common with those of all networks that imply the same.

        Examples
        --------
        >>> states = {name: ["0", "1"] for name in "ABC"}
        >>> print(Network(states, {"B": ["A"], "C": ["B"]}).cpdag)
        A -- B
        B -- C
        >>> print(Network(states, {"B": ["A", "C"]}).cpdag)
        A -> B
        C -> B
        """
        from lacunet.structure.cpdag import to_cpdag

        return to_cpdag(self)

    @property
    def free_parameters(self) -> int:
        """The number of free parameters: for each row of each CPT one less than it has states.

        What rules on questions that were not asked exclude or decide is not counted, and CPTs that
        are tied are counted once.

        Examples
        --------
        >>> survey = Network(
        ...     {"Smoked": ["no", "yes"], "Now": ["no", "yes", "not_asked"], "Ill": ["no", "yes"]},
        ...     {"Now": ["Smoked"], "Ill": ["Smoked", "Now"]},
        ...     not_asked={"Now": "Smoked=no"},
        ... )
        >>> survey.free_parameters  # P(Smoked), P(Now | Smoked=yes), P(Ill | ...) in three rows
        5
        """
        total = sum(
            len(self.shaped_of[name].parameter_names)
            for name in self.heads
            if name in self.shaped_of
        )
        heads = [name for name in self.heads if name not in self.shaped_of]
        if not self.not_asked_of:
            shapes = [self.shape(self.family(name)) for name in heads]
            return total + sum(prod(shape[:-1]) * (shape[-1] - 1) for shape in shapes)
        for name in heads:
            possible = self.possible(name)
            states = self.cardinality(name) if possible is None else possible.sum(axis=-1)
            total += int(((states - 1) * self.needs_data(name)).sum())
        return total

    def with_support(self, support: Mapping[str, ArrayLike] | None) -> Network:
        """The same network, which knows which rows of its CPTs data support.

        Parameters
        ----------
        support
            For each variable, one axis for each parent: the weight of the rows of the data with
            this parent configuration, or whether there are any. Variables that are left out
            keep no record; None forgets all.

        Examples
        --------
        >>> rain = Network(
        ...     {"Rain": ["no", "yes"], "Wet": ["no", "yes"]},
        ...     {"Wet": ["Rain"]},
        ...     {"Rain": [0.8, 0.2], "Wet": [[0.9, 0.1], [0.5, 0.5]]},
        ... )
        >>> print(rain.with_support({"Wet": [80, 0]}).cpt("Wet"))
        P(Wet | Rain)
        Rain      no     yes
        no    0.9000  0.1000
        yes   0.5000  0.5000  no data
        """
        checked = checked_support(self, support) if support else None
        return self._with(support=checked, masked_of=_masked(self.tables_of, checked))

    def with_mechanisms(self, mechanisms: Mechanisms | None) -> Network:
        """The same network, which knows how values went missing: rows are completed accordingly."""
        if mechanisms is not None:
            from lacunet.network.mechanisms import check_mechanisms

            check_mechanisms(self, mechanisms)
        return self._with(mechanisms=mechanisms)

    def with_reversible(self, edges: Iterable[tuple[str, str]]) -> Network:
        """The same network, which knows of edges whose direction the data do not tell.

        A structure that was learned knows them. What setting a variable does is answered with a
        warning where it has such an edge.

        Parameters
        ----------
        edges
            Edges of the network, in any direction; none of them takes all directions as known.

        Examples
        --------
        >>> pair = Network({"Rain": ["no", "yes"], "Wet": ["no", "yes"]}, {"Wet": ["Rain"]})
        >>> pair.with_reversible([("Wet", "Rain")]).reversible
        (('Rain', 'Wet'),)
        """
        given = {(left, right) for left, right in edges}
        known = {*self.edges}
        if strangers := sorted(edge for edge in given if not {edge, edge[::-1]} & known):
            left, right = strangers[0]
            raise NetworkError(f"the network has no edge between {left!r} and {right!r}.")
        return self._with(reversible=tuple(e for e in self.edges if {e, e[::-1]} & given))

    def with_bootstrap(self, networks: Iterable[Network] | None) -> Network:
        """The same network, which knows what the search for its edges found in replicates.

        A structure that was learned knows them, and intervals of answers count them.

        Parameters
        ----------
        networks
            Networks with CPTs over the same variables and states, one for each replicate of the
            rows. None takes the edges as known; with an empty list they were learned, and nobody
            knows how sure they are.

        Examples
        --------
        >>> states = {"Rain": ["no", "yes"], "Wet": ["no", "yes"]}
        >>> empty = Network(states, {}, {"Rain": [0.8, 0.2], "Wet": [0.7, 0.3]})
        >>> len(empty.with_bootstrap([empty, empty]).bootstrap)
        2
        """
        replicates = None if networks is None else tuple(networks)
        for replicate in replicates or ():
            if replicate.states_of != self.states_of or not replicate.has_cpts:
                raise NetworkError(
                    "a network of the bootstrap has other variables or states, or no CPTs."
                )
        return self._with(bootstrap=replicates)

    def with_states(self, states: Mapping[str, Sequence[str]]) -> Network:
        """The same structure, in which some variables have other states; it has no CPTs.

        Ties and shapes of CPTs stay. What was known of the values of these variables, cut points
        and codes, does not.

        Examples
        --------
        >>> classes = Network({"Class": ["1", "2"], "A": ["no", "yes"]}, {"A": ["Class"]})
        >>> classes.with_states({"Class": ["1", "2", "3"]}).free_parameters
        5
        """
        refuse_unknown_variables("states", states, self.variables)
        network = self._with(
            states_of=checked_states({**self.states_of, **states}),
            tables_of=None,
            support=None,
            masked_of={},
            mechanisms=None,
            cuts_of={name: cuts for name, cuts in self.cuts_of.items() if name not in states},
            codes_of={name: codes for name, codes in self.codes_of.items() if name not in states},
        )
        check_ties(network, network.tied)
        _ = network.shaped_of  # refuses what a CPT cannot have
        return network

    def with_ties(self, groups: Iterable[Sequence[str]]) -> Network:
        """The same network, in which the CPTs of some variables are one: the same wave by wave.

        What rows show of one of them, they show of all: their counts are added up.

        Parameters
        ----------
        groups
            The variables of each group. They have the same states, and so have their parents, which
            correspond in the order in which the network has them.

        Raises
        ------
        NetworkError
            Two families of a group do not correspond; the message names them.

        Examples
        --------
        >>> states = {name: ["no", "yes"] for name in ("Ill1", "Ill2", "Ill3")}
        >>> visits = Network(states, {"Ill2": ["Ill1"], "Ill3": ["Ill2"]})
        >>> visits.free_parameters, visits.with_ties([["Ill2", "Ill3"]]).free_parameters
        (5, 3)
        """
        tied = tuple(tuple(map(str, group)) for group in groups)
        check_ties(self, tied)
        return self._with(tied=tuple(group for group in tied if len(group) > 1))

    def with_shapes(self, shapes: Mapping[str, str | Shape]) -> Network:
        """The same network, in which some CPTs are no full tables.

        Parameters
        ----------
        shapes
            For some variables the shape of their CPT: ``"noisy-or"``, ``"noisy-max"``,
            ``"logistic"``, ``"ordinal"``, ``"fixed"`` (to the CPT that the network has), or
            `lacunet.NoisyOr`, `lacunet.NoisyMax` and `lacunet.Fixed` with their options. Variables
            that are tied have one shape.

        Raises
        ------
        NetworkError
            A CPT cannot have its shape, or a rule has a say in it; the message names it.

        Examples
        --------
        >>> causes = {name: ["no", "yes"] for name in ("Flu", "Cold", "Covid", "Fever")}
        >>> fever = Network(causes, {"Fever": ["Flu", "Cold", "Covid"]})
        >>> fever.free_parameters, fever.with_shapes({"Fever": "noisy-or"}).free_parameters
        (11, 7)
        """
        if not shapes:
            return self._with(shapes_of={})
        from lacunet.network.shapes.absent import check_absent_variables
        from lacunet.network.shapes.fixed import Fixed
        from lacunet.network.shapes.shape_names import shape_named

        asked: dict[str, Shape] = {}
        for name, given in shapes.items():
            if given == Fixed.name and self.tables_of is not None:
                shape: Shape = Fixed(self.cpt(name).table)
            else:
                shape = shape_named(given)
            for member in self.tied_with(self.known(name)):
                if asked.get(member, shape) != shape:
                    raise NetworkError(
                        f"{name!r} and {member!r} are tied, and have different shapes: "
                        f"{shape.name!r} and {asked[member].name!r}.",
                        "variables that are tied have one CPT: name the shape of one of them.",
                    )
                asked[member] = shape
        for name, shape in asked.items():
            if name in self.not_asked_of:
                raise NetworkError(
                    f"the CPT of {name!r} is to be {shape.name!r}, but a rule has a say in it.",
                    "leave the rule or the shape out.",
                )
        for name, shape in asked.items():
            members = chain.from_iterable(map(self.family, self.tied_with(name)))
            absent = getattr(shape, "absent", {})  # only shapes of causes have it
            check_absent_variables(name, absent, list(dict.fromkeys(members)))
        network = self._with(shapes_of={v: s for v, s in asked.items() if s.name != "table"})
        _ = network.shaped_of  # refuses what a CPT cannot have
        return network

    @cached_property
    def shaped_of(self) -> Mapping[str, Shaped]:
        """The shape of each CPT that is no full table, on its family; none with one state."""
        shaped = {}
        for name, shape in self.shapes_of.items():
            states = tuple(self.states_of[axis] for axis in self.family(name))
            on_family = shape.of(name, self.parents_of[name], states)
            if len(states[-1]) > 1:
                shaped[name] = on_family
        return MappingProxyType(shaped)

    @cached_property
    def head_of(self) -> Mapping[str, str]:
        """For each variable the first of those that its CPT is shared with; it itself, mostly."""
        position_of = {name: position for position, name in enumerate(self.variables)}
        heads = dict(zip(self.variables, self.variables, strict=True))
        for group in self.tied:
            head = min(group, key=position_of.__getitem__)
            heads.update(dict.fromkeys(group, head))
        return MappingProxyType(heads)

    @property
    def heads(self) -> Scope:
        """One variable for each CPT that is to be learned."""
        return tuple(name for name, head in self.head_of.items() if name == head)

    def tied_with(self, variable: str) -> Scope:
        """The variables that share a CPT with one, itself among them, in the network's order."""
        group = next((group for group in self.tied if variable in group), (variable,))
        if self.tied:
            return tuple(name for name in self.variables if name in group)
        return group

    def intervened(self, states: Mapping[str, int]) -> Network:
        r"""The network after :math:`\mathrm{do}(X = x)`: edges into X are cut, and X is x.

        Parameters
        ----------
        states
            The position of its state for each variable that is set from outside.

        Examples
        --------
        >>> rain = Network(
        ...     {"Rain": ["no", "yes"], "Wet": ["no", "yes"]},
        ...     {"Wet": ["Rain"]},
        ...     {"Rain": [0.8, 0.2], "Wet": [[0.9, 0.1], [0.2, 0.8]]},
        ... )
        >>> hosed = rain.intervened({"Wet": 1})
        >>> hosed.parents("Wet"), hosed.cpt("Wet").table.tolist()
        ((), [0.0, 1.0])
        """
        set_to = {
            self.known(name): np.eye(self.cardinality(name))[index]
            for name, index in states.items()
        }
        for table in set_to.values():
            table.setflags(write=False)
        full_support = dict.fromkeys(set_to, np.ones((), dtype=np.bool_))
        return self._with(
            parents_of={**self.parents_of, **dict.fromkeys(set_to, ())},
            tables_of=self.tables_of and {**self.tables_of, **set_to},
            support=self.support and {**self.support, **full_support},
            masked_of={v: table for v, table in self.masked_of.items() if v not in set_to},
            not_asked_of={v: rule for v, rule in self.not_asked_of.items() if v not in set_to},
            mechanisms=None,
            reversible=tuple(edge for edge in self.reversible if edge[1] not in set_to),
            bootstrap=self.bootstrap and (),
            tied=_without(self.tied, set_to),
            shapes_of={v: shape for v, shape in self.shapes_of.items() if v not in set_to},
        )

    def with_leaf(self, name: str, parent: str, table: FloatArray) -> Network:
        """The network with one more variable, a child with the states "no" and "yes".

        It needs no data: the table is known.
        """
        known = np.ones(self.cardinality(parent), dtype=np.bool_)
        return self._with(
            variables=(*self.variables, name),
            states_of={**self.states_of, name: ("no", "yes")},
            parents_of={**self.parents_of, name: (parent,)},
            tables_of=self.tables_of and {**self.tables_of, name: table},
            order=(*self.order, name),
            support=self.support and {**self.support, name: known},
        )

    def with_copies(self, parents_of: Mapping[str, Scope], like: Mapping[str, str]) -> Network:
        """The network with further variables, each with the states and the CPT of another.

        They are tied to these. How values went missing is not known of them.

        Parameters
        ----------
        parents_of
            Of all variables, the further ones among them.
        like
            For each further variable the one that it is a copy of.
        """

        def copied(values: Mapping[str, Any]) -> dict[str, Any]:
            """What is known of variables, and of their copies."""
            return {**values, **{new: values[old] for new, old in like.items() if old in values}}

        group_of = {name: group for group in self.tied for name in group}
        grown = {old: list(group_of.get(old, (old,))) for old in like.values()}
        for new, old in like.items():
            grown[old].append(new)
        others = [group for group in self.tied if not {*group} & {*grown}]
        return self._with(
            variables=(*self.variables, *like),
            states_of=copied(self.states_of),
            parents_of=dict(parents_of),
            tables_of=self.tables_of and copied(self.tables_of),
            order=topological_order(parents_of),
            cuts_of=copied(self.cuts_of),
            codes_of=copied(self.codes_of),
            support=self.support and copied(self.support),
            masked_of=copied(self.masked_of),
            mechanisms=None,
            bootstrap=self.bootstrap and (),
            tied=(*others, *map(tuple, grown.values())),
            shapes_of=copied(self.shapes_of),
        )

    def unroll(self, waves: int) -> Network:
        """The network of a panel over more waves, to forecast: later ones are as the last.

        Parameters
        ----------
        waves
            The number of all waves, from the first.

        Examples
        --------
        >>> states = {name: ["well", "ill"] for name in ("H[0]", "H[1]", "H[2]")}
        >>> panel = Network(states, {"H[1]": ["H[0]"], "H[2]": ["H[1]"]})
        >>> panel.with_ties([["H[1]", "H[2]"]]).unroll(5).variables
        ('H[0]', 'H[1]', 'H[2]', 'H[3]', 'H[4]')
        """
        from lacunet.network.waves import unroll

        return unroll(self, waves)

    def _with(self, **fields: object) -> Network:
        """A copy in which some fields, checked already, are others."""
        copy = object.__new__(Network)
        copy._hold(**{**self.__dict__, **fields})
        for derived in ("head_of", "shaped_of"):  # they are found anew
            copy.__dict__.pop(derived, None)
        return copy

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """Every edge, from a parent to a child; by child, then in the order of the parents."""
        return tuple((parent, name) for name in self.variables for parent in self.parents_of[name])

    @property
    def edges_of_rules(self) -> tuple[tuple[str, str], ...]:
        """The edges that rules about questions not asked require."""
        return tuple(
            (parent, name) for name, rule in self.not_asked_of.items() for parent in rule.scope
        )

    def to_networkx(self) -> nx.DiGraph[str]:
        """The graph, with the ``states`` of each node."""
        import networkx as nx

        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_nodes_from((name, {"states": self.states_of[name]}) for name in self.variables)
        graph.add_edges_from(self.edges)
        return graph

    def to_dot(self) -> str:
        """The graph in the language of Graphviz.

        Examples
        --------
        >>> print(Network({"A": ["0", "1"], "B": ["0", "1"]}, {"B": ["A"]}).to_dot())
        digraph {
          "A";
          "B";
          "A" -> "B";
        }
        """
        nodes = [f"  {in_quotes(name)};" for name in self.variables]
        arrows = [f"  {in_quotes(parent)} -> {in_quotes(child)};" for parent, child in self.edges]
        return "\n".join(["digraph {", *nodes, *arrows, "}"])

    def __repr__(self) -> str:
        cpts = "with" if self.has_cpts else "without"
        variables = counted(len(self.variables), "variable")
        return f"<Network: {variables}, {counted(len(self.edges), 'edge')}, {cpts} CPTs>"

    def __str__(self) -> str:
        return f"{self!r}\n{TextTable(_HEADER, self._listing(), left=3)}"

    def _repr_html_(self) -> str:
        from lacunet.show.figures.notebook_figures import network_html

        return network_html(self, repr(self)[1:-1], TextTable(_HEADER, self._listing(), left=3))

    def _listing(self) -> list[list[str]]:
        """Each variable with its parents and states; of those that are tied the first."""
        rows = []
        for name in self.heads:
            group = self.tied_with(name)
            states = self.states_of[name]
            label = name if len(group) == 1 else f"{name} to {group[-1]}"
            listed = [", ".join(states)]
            if len(states) > MOST_LISTED and terminal_width():
                listed = [f"{', '.join(states[:3])}, … {states[-1]} ({len(states)} states)"]
            elif len(states) > MOST_LISTED:
                listed = fitting(listed[0], STATES_PER_LINE).split("\n")
            rows.append([label, ", ".join(self.parents_of[name]) or "-", listed[0]])
            rows += [["", "", line.strip()] for line in listed[1:]]
        return rows

    def __getstate__(self) -> dict[str, object]:
        """What pickle keeps: it cannot keep mappings that can be read only."""
        return {
            name: dict(value) if isinstance(value, MappingProxyType) else value
            for name, value in self.__dict__.items()
            if name not in ("masked_of", "head_of", "shaped_of")
        }

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        for array in (*(state["tables_of"] or {}).values(), *(state["support"] or {}).values()):
            array.setflags(write=False)
        self._hold(**state, masked_of=_masked(state["tables_of"], state["support"]))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Network):
            return NotImplemented
        names = ["variables", "states_of", "parents_of", "cuts_of", "codes_of", "not_asked_of"]
        names += ["tied", "shapes_of"]
        is_same = all(getattr(self, name) == getattr(other, name) for name in names)
        tables, others = self.tables_of, other.tables_of
        if not is_same or tables is None or others is None:
            return is_same and tables is others
        return all(np.array_equal(table, others[name]) for name, table in tables.items())

    def __hash__(self) -> int:
        return hash((self.variables, *map(self.states, self.variables), self.edges, self.tied))


def _without(groups: Sequence[Scope], names: Collection[str]) -> tuple[Scope, ...]:
    """Groups without some variables; a group of one is none."""
    left = [tuple(name for name in group if name not in names) for group in groups]
    return tuple(group for group in left if len(group) > 1)


def _masked(
    tables: Mapping[str, FloatArray] | None, support: Mapping[str, Mask] | None
) -> dict[str, FloatArray]:
    """The CPTs that have rows without data, and on a last axis the same with zeros in these."""
    return {
        name: np.stack([table, table * supported[..., None]], axis=-1)
        for name, table in (tables or {}).items()
        if (supported := (support or {}).get(name)) is not None and not supported.all()
    }
