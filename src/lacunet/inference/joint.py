"""Posterior joint distributions over some scopes, exact, from one calibration.

Variables that are neither asked about nor seen, and have no such descendants, are barren:
their CPTs sum to one and are left out. Evidence cuts its axis out of every table before the
junction tree is planned, so that evidence only ever makes inference cheaper. What it cuts off
from all that is asked for is left out as well, unless it has zeros: only they can make the
evidence impossible.

An elimination order is searched for once per structure. Every question about it tries that order
first, and searches for a better one only where the cells to be saved are worth the search.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, reduce
from operator import or_
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from lacunet.data.evidence import Likelihood, evidence_written, states_and_likelihoods
from lacunet.inference.elimination.elimination_order import (
    CELLS_PER_NODE,
    best_order,
    bits_of,
    greedy_order,
    join_scopes,
    number_nodes,
)
from lacunet.inference.elimination.junction_tree import (
    Calibration,
    CalibrationPlan,
    JunctionTree,
    Message,
    Places,
    calibrate,
    calibration_plan,
    junction_tree,
)
from lacunet.inference.errors import (
    MAX_NAMES_IN_ERROR,
    ImpossibleEvidenceError,
    OverBudgetError,
    QueryError,
)
from lacunet.limits import NEVER, Deadline, Memory, gibibytes, memory_budget
from lacunet.network.checks import topological_order
from lacunet.network.network import FloatArray, Network, Scope
from lacunet.text import assigned, counted, first_of

ANY = slice(None)
QUOTIENT_ROUNDING = 1e-12  # of a quotient of two sums of products
NO_EVIDENCE: Mapping[str, str] = MappingProxyType({})
NO_TABLES: Mapping[str, FloatArray] = MappingProxyType({})


def family_marginals(
    network: Network, *, memory: Memory = None, deadline: Deadline = NEVER
) -> Mapping[str, FloatArray]:
    r"""The joint :math:`\Pr(u, x)` of every family, axes parents... then child."""
    question = pose_question(network, network.families, memory=memory, deadline=deadline)
    return dict(zip(network.variables, question.answers, strict=True))


def joint_marginals(
    network: Network,
    scopes: Sequence[Scope],
    evidence: Mapping[str, object] = NO_EVIDENCE,
    *,
    memory: Memory = None,
) -> tuple[FloatArray, ...]:
    """The posterior joint distribution over each of several scopes, all from one calibration."""
    return pose_question(network, scopes, evidence, memory).answers


@dataclass(frozen=True, eq=False)
class JointQuestion:
    """What is asked of a network, and how to answer it."""

    # Where what is seen of a variable is not a state but likelihoods of its states, the network has
    # a child of it that is seen.
    network: Network
    scopes: tuple[Scope, ...]  # asked about
    seen: Mapping[str, int]  # the state of each variable that was seen
    plan: JointPlan
    budget: float  # the bytes that the answer may take
    # What was given for each variable of which likelihoods are seen.
    uncertain: Mapping[str, object]

    def calibrated(
        self, tables: Mapping[str, FloatArray] = NO_TABLES, *, marginals: bool = True
    ) -> Calibration:
        """The product of all tables that the answer depends on, summed.

        What other tables do not change is taken from the calibration with the network's own.

        Parameters
        ----------
        tables
            Tables that stand in for CPTs of the network; their rows need not sum to one.
        marginals
            Whether the marginals over the scopes are wanted too.
        """
        plan = self.plan
        self._refuse_too_large()
        known = self._messages_without(tables) if tables else {}
        factors = self._cut_tables(plan.near, tables)
        return calibrate(plan.calibration, factors, marginals=marginals, known=known)

    def _refuse_too_large(self) -> None:
        """Refuse a question whose cliques do not fit the budget."""
        tree = self.plan.calibration.tree
        if tree.memory <= self.budget:
            return
        cells = max(tree.cells)
        names = [self.plan.names[number] for number in tree.cliques[tree.cells.index(cells)]]
        raise OverBudgetError(
            f"exact inference needs about {gibibytes(tree.memory)}, over the budget of "
            f"{gibibytes(self.budget)}: the largest clique joins "
            f"{counted(len(names), 'variable')} ({first_of(names, MAX_NAMES_IN_ERROR)}) into "
            f"{cells:.2g} cells.",
            "raise memory=... (--memory), ask for fewer variables, or give more evidence.",
        )

    def _messages_without(self, tables: Mapping[str, FloatArray]) -> dict[int, Message]:
        """The messages of the network's own tables, without those that other tables change."""
        tree = self.plan.calibration.tree
        known = dict(self.calibration.messages)
        for cut in self.plan.near:
            if cut.child in tables:
                clique = tree.home(cut.scope)
                while clique in known:  # and its ancestors, whose messages rest on this one
                    del known[clique]
                    clique = tree.parents[clique]
        return known

    def _cut_tables(
        self, cuts: Iterable[Cut], tables: Mapping[str, FloatArray] = NO_TABLES
    ) -> list[FloatArray]:
        """The CPTs, or what stands in for them, at the states seen."""
        cpts = self.network.tables_of
        seen = self.seen
        factors = []
        for cut in cuts:
            if cut.child in tables:
                table = tables[cut.child]
            elif cut.is_masked:
                table = self.network.masked_of[cut.child]
            else:
                table = cpts[cut.child] if cpts else self.network.cpt(cut.child).table  # is refused
            if cut.family:
                table = np.asarray(table[tuple([seen.get(name, ANY) for name in cut.family])])
            factors.append(table)
        return factors

    @cached_property
    def calibration(self) -> Calibration:
        """The product of the network's own tables."""
        return self.calibrated()

    @property
    def children(self) -> list[str]:
        """The variables whose CPTs the answers depend on."""
        return [cut.child for cut in self.plan.near]

    @property
    def answers(self) -> tuple[FloatArray, ...]:
        """The posterior joint distribution over each scope."""
        calibrated = self.calibration
        if not self._is_possible or calibrated.log_total == -math.inf:
            seen = self.written
            shown = ", ".join(assigned(name, state) for name, state in seen.items())
            together = " together" if len(seen) > 1 else ""
            whose = "their" if len(seen) > 1 else "its"
            raise ImpossibleEvidenceError(
                f"{shown} cannot occur{together} in this network: {whose} probability is zero.",
                "leave out the evidence that is in doubt, or look for zeros in the CPTs: "
                "network.cpt(variable).",
            )
        return tuple(
            self.with_seen(table, scope)
            for table, scope in zip(calibrated.marginals, self.scopes, strict=True)
        )

    @cached_property
    def shares(self) -> tuple[float | None, ...]:
        r"""The share of the answer to each scope that rests on CPT rows without data.

        It is the posterior probability of passing through one. Let :math:`S` be the event that
        every row on the way is supported. It is the product of one indicator per family, so with
        zeros in the rows without data the same calibration gives :math:`\Pr(e, S)`, and the share
        is :math:`1 - \Pr(e, S) / \Pr(e)`. Only families that the answer depends on have a part in
        it. None where the network does not know what supports it.
        """
        if self.network.support is None:
            return (None,) * len(self.scopes)
        if (variant_of := self.plan.variant_of) is not None:
            ratios = self.calibration.ratios
        else:
            plan = plan_joint(self.network, self.scopes, self.seen, shares=True)
            if plan.calibration.memory > self.budget and len(self.scopes) > 1:
                alone = [replace(self, scopes=(scope,)) for scope in self.scopes]
                return tuple([question.shares[0] for question in alone])
            ratios = replace(self, plan=plan).calibrated(marginals=False).ratios
            variant_of = plan.variant_of or ()
        lost = [1 - ratio if 1 - ratio > QUOTIENT_ROUNDING else 0.0 for ratio in ratios]
        return tuple([lost[variant] if variant >= 0 else 0.0 for variant in variant_of])

    @property
    def evidence(self) -> dict[str, str]:
        """The states seen, by name."""
        states_of = self.network.states_of
        return {name: states_of[name][index] for name, index in self.seen.items()}

    @property
    def written(self) -> dict[str, object]:
        """What is seen, by name: states, and what was given where there is none."""
        children = set(map(_observation, self.uncertain))
        states = {name: state for name, state in self.evidence.items() if name not in children}
        return {**states, **self.uncertain}

    def with_seen(self, table: FloatArray, scope: Scope) -> FloatArray:
        """Give the variables seen their axes back, with all weight on the state seen."""
        seen = self.seen
        if not any(name in seen for name in scope):
            return table
        full = np.zeros(self.network.shape(scope))
        full[tuple(seen.get(name, slice(None)) for name in scope)] = table
        return full

    @property
    def _is_possible(self) -> bool:
        """Whether nothing that the answer does not depend on rules the evidence out.

        Only zeros can. What is apart and has none sums to some positive constant, each connected
        part by itself.
        """
        network = self.network
        seen = self.seen
        apart = zip(self.plan.apart, self._cut_tables(self.plan.apart), strict=True)
        with_zeros = [cut for cut, table in apart if not table.all()]
        if not all(cut.scope for cut in with_zeros):  # all is seen, and has probability zero
            return False
        families = (network.family(cut.child) for cut in with_zeros)
        hidden = tuple(name for family in families for name in family if name not in seen)
        if not hidden:
            return True
        plan = plan_joint(network, (), seen, hidden)
        return replace(self, plan=plan).calibrated(marginals=False).log_total > -math.inf


def pose_question(
    network: Network,
    scopes: Sequence[Scope],
    evidence: Mapping[str, object] = NO_EVIDENCE,
    memory: Memory = None,
    *,
    shares: bool = False,
    deadline: Deadline = NEVER,
) -> JointQuestion:
    """A question that the network can be asked, planned.

    With ``shares``, the calibration that answers it also tells what it rests on, if memory allows.

    Raises
    ------
    OutOfTimeError
        The deadline passes before it is planned.
    """
    seen, likelihoods = states_and_likelihoods(network, evidence)
    uncertain = {name: evidence[name] for name in likelihoods}
    if uncertain:
        uncertain = evidence_written(network, uncertain)
    if network.not_asked_of:
        network, likelihoods = _beyond_zeros(network, seen, likelihoods)
    if likelihoods:
        network = _with_observations(network, likelihoods)
        seen |= {_observation(name): 1 for name in likelihoods}
    for scope in scopes:
        if repeated := {name for name in scope if scope.count(network.known(name)) > 1}:
            raise QueryError(f"the target names a variable more than once: {sorted(repeated)}.")
    budget = memory_budget(memory)
    has_shares = shares and network.support is not None
    plan = plan_joint(network, scopes, seen, shares=has_shares, deadline=deadline)
    if plan.variant_of and plan.calibration.memory > budget:
        plan = plan_joint(network, scopes, seen)
    return JointQuestion(
        network=network,
        scopes=tuple(scopes),
        seen=seen,
        plan=plan,
        budget=budget,
        uncertain=uncertain,
    )


def _beyond_zeros(
    network: Network, seen: Mapping[str, int], likelihoods: Mapping[str, Likelihood]
) -> tuple[Network, dict[str, Likelihood]]:
    """The network and the likelihoods without what structural zeros say by all that is seen.

    Likelihoods that are the same in all states that are possible then say nothing, and if there is
    one such state, its parents have no part in it.
    """
    allowed_of = {name: [index] for name, index in seen.items()}
    allowed_of |= {
        name: np.flatnonzero(likelihood).tolist() for name, likelihood in likelihoods.items()
    }
    informative = dict(likelihoods)
    reduced = network
    for name in network.not_asked_of:
        if name not in allowed_of:
            continue
        parents = reduced.parents(name)
        states_of = [allowed_of.get(v, range(reduced.cardinality(v))) for v in parents]
        rows = reduced.possible(name)[np.ix_(*states_of)]
        possible = np.flatnonzero(rows.any(axis=tuple(range(len(parents)))))
        if name in informative and len({informative[name][index] for index in possible}) > 1:
            continue
        if {*possible} <= {*allowed_of[name]}:
            informative.pop(name, None)
            if len(possible) == 1:
                reduced = reduced.intervened({name: int(possible[0])})
    return reduced, informative


def _with_observations(network: Network, likelihoods: Mapping[str, Likelihood]) -> Network:
    """The network with a child of each of some variables, seen as likely as its states say.

    Of likelihoods only the ratios matter: the highest is taken as one.
    """
    for name, likelihood in likelihoods.items():
        shown = np.array(likelihood) / max(likelihood)
        table = np.stack([1 - shown, shown], axis=1)
        network = network.with_leaf(_observation(name), name, table)
    return network


def _observation(name: str) -> str:
    """The child of a variable that stands for what was observed of it."""
    return f"\0{name}"


@dataclass(frozen=True, eq=False)
class NumberedFamilies:
    """Families whose variables are numbered in an elimination order; sets of them are bits."""

    names: Scope
    number_of: Mapping[str, int]
    sizes: Places  # the states of each variable
    families: tuple[Places, ...]  # the parents of each variable, and then itself
    scopes: Places  # the same as a set
    lines: Places  # each variable and all its ancestors
    touching: Places  # the variables in whose family each is

    def bits(self, names: Iterable[str]) -> int:
        """Some variables as a set."""
        return _bits([self.number_of[name] for name in names])

    def relevant(self, variables: int) -> int:
        """Some variables and all their ancestors; every other variable is barren."""
        return _union([self.lines[number] for number in bits_of(variables)])

    def near(self, variables: int, relevant: int, seen: int) -> int:
        """The relevant families that hang together with some variables, by what is not seen."""
        gathered = 0
        reached = 0
        fresh = variables
        while fresh:
            reached |= fresh
            touching = _union([self.touching[number] for number in bits_of(fresh)])
            families = touching & relevant & ~gathered
            gathered |= families
            joined = _union([self.scopes[number] for number in bits_of(families)])
            fresh = joined & ~(seen | reached)
        return gathered

    def near_scope(self, scope: Scope, seen: int) -> int:
        """The families that the answer to a scope depends on."""
        asked = self.bits(scope)
        return self.near(asked & ~seen, self.relevant(asked | seen), seen)


class Cut(NamedTuple):
    """A CPT without the axes of what was seen."""

    child: str
    scope: Places
    family: Scope  # all its names, if there are any
    # Whether there are two tables: the CPT, and that with zeros in rows without data.
    is_masked: bool


@dataclass(frozen=True, eq=False)
class JointPlan:
    """How to answer a question, whatever the states seen."""

    names: Scope  # numbers stand for the variables here
    near: tuple[Cut, ...]  # the tables that the answer depends on
    apart: tuple[Cut, ...]  # those that can only tell whether the evidence is possible
    calibration: CalibrationPlan
    # For each scope the variant of the product without the rows that have no data, -1 if it has
    # such rows of no CPT; None if it is not planned what the answers rest on.
    variant_of: Places | None


def plan_joint(
    network: Network,
    scopes: Sequence[Scope],
    seen: Iterable[str] = (),
    needed: Scope = (),
    *,
    shares: bool = False,
    deadline: Deadline = NEVER,
) -> JointPlan:
    """The plan for some scopes, given that some variables are seen.

    ``needed`` are variables that have a part in it without being asked for; ``shares`` are wanted
    where it must tell what the answers rest on.
    """
    structure = _structure_of(network)
    masked = tuple(network.masked_of) if shares else None
    return _plan(structure, structure.bits(seen), tuple(scopes), needed, masked, deadline)


def relevant(network: Network, variables: Iterable[str]) -> list[str]:
    """The variables and all their ancestors; every other variable is barren."""
    structure = _structure_of(network)
    bits = structure.relevant(structure.bits(variables))
    return [name for name in network.variables if bits >> structure.number_of[name] & 1]


def _structure_of(network: Network) -> NumberedFamilies:
    return _structure(
        network.variables,
        tuple(network.parents_of.values()),
        tuple([len(states) for states in network.states_of.values()]),
    )


@lru_cache(maxsize=16)
def _structure(names: Scope, parents: tuple[Scope, ...], sizes: Places) -> NumberedFamilies:
    """The structure of a network, in an order which every question about it can use."""
    parents_of = dict(zip(names, parents, strict=True))
    size_of = dict(zip(names, sizes, strict=True))
    neighbours = join_scopes([(*scope, name) for name, scope in parents_of.items()])
    nodes = list(neighbours)
    graph = number_nodes(neighbours, {name: math.log(size_of[name]) for name in nodes})
    ordered = [nodes[number] for number in greedy_order(graph, [1] * len(nodes))]
    number_of = {name: number for number, name in enumerate(ordered)}
    families = [tuple([number_of[v] for v in (*parents_of[name], name)]) for name in ordered]
    line_of: dict[str, int] = {}
    for name in topological_order(parents_of):
        line_of[name] = 1 << number_of[name]
        for parent in parents_of[name]:
            line_of[name] |= line_of[parent]
    touching = [0] * len(ordered)
    for child, family in enumerate(families):
        for number in family:
            touching[number] |= 1 << child
    return NumberedFamilies(
        names=tuple(ordered),
        number_of=number_of,
        sizes=tuple([size_of[name] for name in ordered]),
        families=tuple(families),
        scopes=tuple([_bits(family) for family in families]),
        lines=tuple([line_of[name] for name in ordered]),
        touching=tuple(touching),
    )


@lru_cache(maxsize=256)
def _plan(
    structure: NumberedFamilies,
    seen: int,
    asked: tuple[Scope, ...],
    needed: Scope,
    masked: Scope | None,
    deadline: Deadline,
) -> JointPlan:
    """The plan in the known order, or in a better one where searching for it may pay."""
    names = structure.names
    bare = structure.bits(masked or ())
    near, apart, wanted, tree = _laid_out(structure, seen, asked, needed, bare)
    if sum(tree.cells) > CELLS_PER_NODE * len(tree.clique_of):
        order = _searched_order(structure, near, wanted, deadline)
        number_of = {node: number for number, node in enumerate(order)}
        wanted = [tuple([number_of[v] for v in scope]) for scope in wanted]
        near = [cut._replace(scope=tuple([number_of[v] for v in cut.scope])) for cut in near]
        scopes = [_bits(cut.scope) for cut in near]
        free = [_bits(scope) for scope in wanted]
        tree = junction_tree(scopes, [structure.sizes[node] for node in order], free)
        names = tuple([structure.names[node] for node in order])

    # Scopes whose answers depend on the same rows without data share a variant of the product.
    bare_of = [structure.near_scope(scope, seen) & bare if bare else 0 for scope in asked]
    distinct = [*dict.fromkeys(filter(None, bare_of))]
    factor_of = {structure.number_of[cut.child]: factor for factor, cut in enumerate(near)}
    variants = [_bits([factor_of[number] for number in bits_of(bits)]) for bits in distinct]
    calibration = calibration_plan(tree, [cut.scope for cut in near], wanted, variants)
    variant_of = tuple([distinct.index(bits) if bits else -1 for bits in bare_of])
    has_shares = masked is not None
    return JointPlan(
        names=names,
        near=tuple(near),
        apart=tuple(apart),
        calibration=calibration,
        variant_of=variant_of if has_shares else None,
    )


def _searched_order(
    structure: NumberedFamilies, near: Sequence[Cut], wanted: Sequence[Places], deadline: Deadline
) -> list[int]:
    """The variables of a question in a better elimination order than the known one, if there is."""
    neighbours = join_scopes([*wanted, *(cut.scope for cut in near)])
    nodes = list(neighbours)
    graph = number_nodes(neighbours, {node: math.log(structure.sizes[node]) for node in nodes})
    known = sorted(range(len(nodes)), key=nodes.__getitem__)
    return [nodes[number] for number in best_order(graph, [known], deadline=deadline)]


def _laid_out(
    structure: NumberedFamilies, seen: int, asked: tuple[Scope, ...], needed: Scope, bare: int
) -> tuple[list[Cut], list[Cut], list[Places], JunctionTree]:
    """Leave out barren variables, the axes of what is seen and what it cuts off."""
    names = structure.names
    wanted = []
    for asked_scope in asked:
        numbers = [structure.number_of[name] for name in asked_scope]
        wanted.append(tuple([number for number in numbers if not seen >> number & 1]))
    free = [_bits(scope) for scope in wanted]
    relevant = structure.relevant(
        seen | structure.bits([name for scope in asked for name in scope])
    )
    is_near = structure.near(structure.bits(needed) | _union(free), relevant, seen)
    near: list[Cut] = []
    apart: list[Cut] = []
    scopes = []
    for number in bits_of(relevant):
        scope = structure.families[number]
        whole = structure.scopes[number]
        bits = whole & ~seen
        family: Scope = ()
        if bits != whole:
            family = tuple([names[v] for v in scope])
            scope = tuple([v for v in scope if bits >> v & 1])
        if is_near >> number & 1:
            near.append(Cut(names[number], scope, family, bool(bare >> number & 1)))
            scopes.append(bits)
        else:
            apart.append(Cut(names[number], scope, family, is_masked=False))
    return near, apart, wanted, junction_tree(scopes, structure.sizes, free)


def _bits(numbers: Iterable[int]) -> int:
    """Some variables as a set."""
    return _union([1 << number for number in numbers])


def _union(sets: Iterable[int]) -> int:
    """All variables that are in one of the sets."""
    return reduce(or_, sets, 0)
