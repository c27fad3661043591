r"""The effect of one variable on another, as people report it: differences, ratios, odds ratios.

The probabilities :math:`p_x = \Pr(y \mid do(x))` come from a learned network, or from a missingness
graph and data. Their contrasts take intervals from those of the probabilities and from their
correlation (G. Y. Zou and A. Donner 2008): with :math:`[l, u]` around each of two probabilities,
and h the identity, the logarithm or the log-odds,

.. math::
    h(p_1) - h(p_0) \mp \sqrt{d_1^2 - 2 \rho \, d_1 d_0 + d_0^2}, \qquad
    d_1 = h(p_1) - h(l_1), \; d_0 = h(u_0) - h(p_0)

for the lower end, and the other way round for the upper. The intervals stay within what is
possible, and are right where those of two standard errors are not. Where a probability is 0 or 1
and the ratio has no logarithm, the ends of the two intervals give the interval, which is wider.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np

from lacunet.data.column_rules import with_data_codes
from lacunet.data.data import as_data
from lacunet.data.evidence import evidence_written, state_named, states_and_likelihoods
from lacunet.data.query_text import is_query, split_query
from lacunet.errors import LacunetError, as_level, warn
from lacunet.inference.answer import (
    DEFAULT_LEVEL,
    EDGES_AS_KNOWN,
    SHOWN_SHARE,
    Answer,
    basis_of,
    resting,
)
from lacunet.inference.joint import NO_EVIDENCE
from lacunet.inference.query import (
    NOTED_SHARE,
    answer_query,
    check_confounding,
    check_mapping,
    warn_of_undirected,
)
from lacunet.learning.uncertainty.by_formula import estimate_by_formula
from lacunet.learning.uncertainty.delta import AnsweredQuery
from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.population import known_variables
from lacunet.missingness.verdict import not_recoverable
from lacunet.network.formats.files import AnyNetwork, as_learned, as_network
from lacunet.network.labelled_tables import NO_DATA_MARK, Library, frame_of
from lacunet.network.network import FloatArray, Network, Tables
from lacunet.network.nodes import quoted
from lacunet.text import assigned, finite, first_of, intervals_in_words, sentence
from lacunet.text_tables import Displayed, TextTable, as_html


class Measured(NamedTuple):
    """A number and its interval; NaN where there is none."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        if np.isnan(self.low):
            return f"{self.value:.3f}"
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


class Contrast(NamedTuple):
    """Doing ``state`` instead of ``reference``: what it does to the probability of ``outcome``."""

    outcome: str
    state: str
    reference: str
    difference: Measured
    ratio: Measured
    odds_ratio: Measured

    def __repr__(self) -> str:
        return f"<Contrast: {self}>"

    def __str__(self) -> str:
        sides = f"{self.outcome}, {self.state} vs {self.reference}"
        measures = zip(MEASURES, self[3:], strict=True)
        return f"{sides}: {', '.join(f'{name} {number}' for name, number in measures)}"

    def _repr_html_(self) -> str:
        return as_html([str(self)])


@dataclass(frozen=True)
class Effect(Displayed):
    """The effect of setting one variable on another.

    ``probabilities`` has P(target | do(cause)), axes states of the cause, states of the target;
    ``interval`` its intervals (then low and high), None for a network alone. `contrasts`
    compare every state of the cause with ``reference``. ``basis`` says what the numbers rest on,
    ``unsupported`` the share of the probabilities under each state of the cause that rests on CPT
    rows without data, where that is known. ``is_zero`` says that the network has no effect,
    whatever its CPTs: contrasts are exact then.
    """

    target: str
    cause: str
    given: Mapping[str, object]
    outcomes: tuple[str, ...]
    states: tuple[str, ...]
    reference: str
    probabilities: FloatArray
    interval: FloatArray | None = None
    correlations: FloatArray | None = None
    level: float = 0.95
    basis: tuple[str, ...] = ()
    outcome: str | None = None
    unsupported: tuple[float, ...] | None = None
    is_zero: bool = False

    @property
    def contrasts(self) -> tuple[Contrast, ...]:
        """Every other state of the cause against the reference, for every outcome.

        Of two outcomes only the second, since the first says the same; or the one asked for.
        """
        base = self.states.index(self.reference)
        chosen = [1] if len(self.outcomes) == 2 else range(len(self.outcomes))
        if self.outcome is not None:
            chosen = [self.outcomes.index(self.outcome)]
        return tuple(
            Contrast(
                self.outcomes[y],
                self.states[x],
                self.reference,
                *(self._measured(x, base, y, scale) for scale in SCALES),
            )
            for y in chosen
            for x in range(len(self.states))
            if x != base
        )

    @property
    def _shares(self) -> tuple[float, ...]:
        """The share without data under each state of the cause; 0 where it is not known."""
        return self.unsupported or (0.0,) * len(self.states)

    def unsupported_of(self, contrast: Contrast) -> float:
        """The larger of the shares of the two sides that rest on CPT rows without data."""
        sides = contrast.state, contrast.reference
        return max(self._shares[self.states.index(state)] for state in sides)

    def _measured(self, state: int, reference: int, outcome: int, scale: Scale) -> Measured:
        scaled, back = scale
        p = self.probabilities[[state, reference], outcome]
        with np.errstate(divide="ignore", invalid="ignore"):
            h = scaled(p)
            value = float(back(h[0] - h[1]))
            if self.is_zero and np.isfinite(h).all():
                value = float(back(0.0))
            if self.interval is None or self.correlations is None:
                return Measured(value, np.nan, np.nan)
            if self.is_zero:
                return Measured(value, value, value)
            ends = scaled(self.interval[[state, reference], outcome])  # of both: low, high
            if not np.isfinite(h).all():  # a probability of 0 or 1: the ends themselves
                furthest = ends[0, 0] - ends[1, 1], ends[0, 1] - ends[1, 0]
                return Measured(value, *(float(back(end)) for end in furthest))
            rho = float(self.correlations[outcome, state, reference])
            low = h[0] - h[1] - _length(h[0] - ends[0, 0], ends[1, 1] - h[1], rho)
            high = h[0] - h[1] + _length(ends[0, 1] - h[0], h[1] - ends[1, 0], rho)
            return Measured(value, float(back(low)), float(back(high)))

    @property
    def title(self) -> str:
        """What the effect is."""
        given = "".join(f", {assigned(name, state)}" for name, state in self.given.items())
        return f"P({self.target} | do({self.cause}){given})"

    def to_frame(self, library: Library | None = None) -> Any:
        """The contrasts as a dataframe, one row each: differences, ratios, with their intervals.

        It is of pandas where that is installed, otherwise of PyArrow, unless ``library`` says
        which: "pandas", "polars" or "pyarrow".
        """
        contrasts = self.contrasts
        columns = {}
        for name in Contrast._fields:
            parts: list[Any] = [getattr(contrast, name) for contrast in contrasts]
            if name in ("outcome", "state", "reference"):
                columns[name] = parts
            else:
                columns[name] = [part.value for part in parts]
                columns[f"{name}_low"] = [part.low for part in parts]
                columns[f"{name}_high"] = [part.high for part in parts]
        if self.unsupported is not None:
            columns["unsupported"] = [*map(self.unsupported_of, contrasts)]
        return frame_of(columns, library)

    def _tables(self) -> list[TextTable]:
        """The probabilities and the contrasts.

        A last column marks what rests on CPT rows without data, if anything does.
        """
        probabilities = [
            [state, *(str(self._probability(x, y)) for y in range(len(self.outcomes)))]
            for x, state in enumerate(self.states)
        ]
        contrasts = [
            [f"{contrast.state} vs {contrast.reference}", contrast.outcome, *map(str, contrast[3:])]
            for contrast in self.contrasts
        ]
        header = [f"do({self.cause})", *(assigned(self.target, state) for state in self.outcomes)]
        shares = tuple(map(self.unsupported_of, self.contrasts))
        tables = [
            (1, header, probabilities, self._shares),
            (2, [self.cause, self.target, *MEASURES], contrasts, shares),
        ]
        if max(self._shares) < SHOWN_SHARE:
            return [TextTable(header, rows, left) for left, header, rows, _ in tables]
        marked = []
        for left, header, rows, shares in tables:
            lines = [[*row, _mark(share)] for row, share in zip(rows, shares, strict=True)]
            marked.append(TextTable([*header, ""], lines, left))
        return marked

    def _notes(self) -> tuple[str, ...]:
        """What must be read with the numbers."""
        if max(self._shares) < SHOWN_SHARE:
            return self.basis
        return (*self.basis, MARKED)

    def _probability(self, x: int, y: int) -> Measured:
        ends = (np.nan, np.nan) if self.interval is None else self.interval[x, y]
        return Measured(float(self.probabilities[x, y]), *map(float, ends))

    def __repr__(self) -> str:
        return f"<Effect of {self.cause} on {self.target}>"

    def _parts(self) -> Iterator[object]:
        probabilities, contrasts = self._tables()
        yield from (self.title, probabilities, "", contrasts)
        if notes := self._notes():
            yield ""
            yield from notes

    def as_data(self) -> dict[str, Any]:
        """All of it as lists, strings and numbers, ready for JSON; None for no number."""
        data: dict[str, Any] = finite(
            {
                "target": self.target,
                "do": self.cause,
                "given": dict(self.given),
                "outcomes": list(self.outcomes),
                "states": list(self.states),
                "reference": self.reference,
                "probabilities": self.probabilities.tolist(),
                "intervals": None if self.interval is None else self.interval.tolist(),
                "level": None if self.interval is None else self.level,
                "contrasts": [
                    {
                        name: part._asdict() if isinstance(part, Measured) else part
                        for name, part in contrast._asdict().items()
                    }
                    for contrast in self.contrasts
                ],
                "basis": list(self.basis),
                "unsupported": None if self.unsupported is None else list(self.unsupported),
            }
        )
        return data


MEASURES = ("difference", "ratio", "odds ratio")
MARKED = (
    "no data: the share of a probability that rests on CPT rows that no data support; of a "
    "contrast the larger of two."
)


def _mark(share: float) -> str:
    return f"{share:.1%} {NO_DATA_MARK}" if share >= SHOWN_SHARE else ""


# A scale on which two probabilities are compared, and the way back.
Scale = tuple[Callable[[FloatArray], FloatArray], Callable[[Any], Any]]
SCALES: tuple[Scale, ...] = (
    (lambda p: p, lambda h: h),
    (np.log, np.exp),
    (lambda p: np.log(p) - np.log1p(-p), np.exp),
)


def _length(left: float, right: float, rho: float) -> float:
    """The standard error of a difference, or as far as an interval reaches, by those of two parts.

    Parameters
    ----------
    rho
        The correlation of the two.
    """
    if np.isinf(left) or np.isinf(right):
        return np.inf
    return float(np.sqrt(max(left**2 - 2 * rho * left * right + right**2, 0.0)))


def _as_name(value: object, otherwise: str) -> str:
    """The first name in what was given in place of one."""
    names = value if isinstance(value, Mapping | list | tuple) else [value]
    name = next((name for name in names if isinstance(name, str)), otherwise)
    return [*split_query(name).target, otherwise][0].partition("=")[0].strip()


def effect(
    source: AnyNetwork,
    target: str,
    *,
    do: str,
    evidence: Mapping[str, object] = NO_EVIDENCE,
    reference: object = None,
    outcome: object = None,
    level: float = DEFAULT_LEVEL,
) -> Effect:
    """The effect of setting one variable on another, by the CPTs of a network.

    It takes the edges of the network as causes, and assumes no hidden common causes. A result of
    learning says what more its CPTs rest on, and has intervals where it was learned with them.

    Warns
    -----
    LacunetWarning
        - The target comes before the treatment in the network: the effect is zero. Where the
          data do not tell the directions of the edges between them, this says nothing about the
          true effect.
        - What is given is a consequence of the treatment or of the target: it is not the effect
          in a group that can be chosen beforehand.
        - The effect rests on CPT rows without data.
        - The structure was learned, and the data do not tell the direction of an edge at the
          treatment (``network.reversible``).

    Examples
    --------
    >>> network = Network(
    ...     {name: ["no", "yes"] for name in ("Drug", "Well")},
    ...     {"Well": ["Drug"]},
    ...     {"Drug": [0.5, 0.5], "Well": [[0.8, 0.2], [0.5, 0.5]]},
    ... )
    >>> print(effect(network, "Well", do="Drug"))
    P(Well | do(Drug))
    do(Drug)  Well=no  Well=yes
    no          0.800     0.200
    yes         0.500     0.500
    <BLANKLINE>
    Drug       Well  difference  ratio  odds ratio
    yes vs no  yes        0.300  2.500       4.000
    <BLANKLINE>
    It takes the edges of the network as causes, and assumes no hidden common causes.
    """
    learned = as_learned(source)
    network = as_network(learned)
    asked = _asked(network, target, do, evidence, reference, outcome, level)
    answer = _by_network(asked, learned, network)
    seen, likelihoods = states_and_likelihoods(network, evidence)
    if _is_zero(network, target, do, seen, likelihoods):
        zero = f"By the edges of the network {do} has no effect on {target}, whatever the data."
        basis = *answer.basis, _by_directions(network, target, do, seen) or zero
        return replace(answer, basis=basis, is_zero=True)
    return answer


def _asked(
    network: Network,
    target: str,
    do: str,
    evidence: Mapping[str, object],
    reference: object,
    outcome: object,
    level: float,
) -> Effect:
    """What is asked, checked, and without numbers."""
    _check_names(network, target, do)
    states = network.states(network.known(do))
    base = states[0] if reference is None else state_named(network, do, reference)
    outcomes = network.states(network.known(target))
    compared = None if outcome is None else state_named(network, target, outcome)
    check_mapping("evidence", evidence, network)
    given = evidence_written(network, evidence)
    if target == do:
        raise LacunetError(
            f"{do} is both the target and the treatment (do): an effect is of one on another.",
            "name another target.",
        )
    if both := {target, do} & {*given}:
        raise LacunetError(
            "the target, the treatment (do) and what is given must be different variables, but "
            f"{both.pop()} is named twice.",
            "leave it out of what is given.",
        )
    _warn_of_order(network, target, do, given)
    warn_of_undirected(network, [do])
    unknown = np.full((len(states), len(outcomes)), np.nan)
    return Effect(
        target=target,
        cause=do,
        given=given,
        outcomes=outcomes,
        states=states,
        reference=base,
        probabilities=unknown,
        level=as_level(level),
        outcome=compared,
    )


def _check_names(network: Network, target: object, do: object) -> None:
    """Refuse what is not the name of one variable, but a query, a state too, or several."""
    for name, value in (("target", target), ("do", do)):
        is_name = isinstance(value, str) and (value in network.states_of or not is_query(value))
        if not is_name:
            on, of = _as_name(target, "Ill"), _as_name(do, "Smoke")
            raise LacunetError(
                f"{name} is {value!r}, but must be the name of one variable.",
                f"as in result.effect({on!r}, do={of!r}): the states of {of} are compared; "
                f"result.query({on!r}, do={{{of!r}: state}}) sets one.",
            )


def _is_zero(
    network: Network, target: str, do: str, given: Iterable[str], uncertain: Iterable[str]
) -> bool:
    """Whether the target does not depend on what is set, once edges into it are cut.

    Of ``uncertain`` ones it is given how likely their states are, as a child of each may show.
    """
    from networkx import is_d_separator

    drawn = network.to_networkx()
    drawn.remove_edges_from([*drawn.in_edges(do)])
    child_of = {name: f"\0{name}" for name in uncertain}
    drawn.add_edges_from(child_of.items())
    return bool(is_d_separator(drawn, {do}, {target}, {*given, *child_of.values()}))


def _by_directions(network: Network, target: str, do: str, given: Iterable[str] = ()) -> str:
    """That a zero rests on directions that the data do not tell; nothing where it does not.

    Some network of the same class has a way from ``do`` to ``target`` just where one is drawn with
    such edges going both ways.
    """
    from networkx import has_path, shortest_path

    drawn = network.to_networkx()
    drawn.add_edges_from([(child, parent) for parent, child in network.reversible])
    drawn.remove_nodes_from([*given])
    if not has_path(drawn, do, target):
        return ""
    edges = [
        f"{quoted(parent)} -> {quoted(child)}"
        for child, parent in pairwise(shortest_path(drawn, do, target))
        if (parent, child) in network.edges
    ]
    if not edges:
        return ""
    which = "that direction" if len(edges) == 1 else "these directions"
    return (
        f"The network draws {first_of(edges, 3)}, but the data do not tell {which}: the zero says "
        "nothing about the true effect."
    )


def _warn_of_order(network: Network, target: str, do: str, given: Mapping[str, object]) -> None:
    """Warn that the effect is zero where the outcome leads to what is set.

    And of conditions that come after the treatment, and so choose whom it compares.
    """
    from networkx import descendants

    drawn = network.to_networkx()
    after_do = descendants(drawn, do)
    after_target = descendants(drawn, target)
    if not given and target not in after_do and do in after_target:
        undirected = _by_directions(network, target, do)
        words = (
            f"the effect of {do} on {target} is zero by the network: {target} leads to {do}, "
            f"and not the other way. For the effect of {target} on {do} write "
            f".effect({do!r}, do={target!r}) ({do} | do({target}))."
        )
        if undirected:
            words = f"{undirected[0].lower()}{undirected[1:]}"
        warn(words)
    later = {name: target if name in after_target else do for name in given if name in after_do}
    if later:
        named = [f"{name} is a consequence of {cause}" for name, cause in later.items()]
        warn(
            f"{first_of(named, 3, '; ')}: given that, this is not the effect in a group that can "
            f"be chosen beforehand. Leave it out, or give what does not come after {do}."
        )


def _as_causes(source: Any) -> str:
    """What the numbers of a network assume; those of a result also what its CPTs rest on."""
    assumption = getattr(source, "assumption", "")
    missing = f", and that {assumption}" if assumption else ""
    return (
        "It takes the edges of the network as causes, and assumes no hidden common causes"
        f"{missing}."
    )


def _by_network(asked: Effect, source: Any, network: Network) -> Effect:
    """What is asked, by the CPTs of a network."""
    target = (asked.target,)
    given = asked.given
    interventions = [{asked.cause: state} for state in asked.states]
    answers = [
        answer_query(source, target, given, do=do, level=asked.level) for do in interventions
    ]
    check_confounding(network, [target], given, interventions[0])
    shares = None
    if network.support is not None:
        shares = tuple(answer.unsupported or 0.0 for answer in answers)
        _warn_of_shares(answers, shares)
    probabilities = np.stack([np.asarray(answer) for answer in answers])
    without_intervals = replace(asked, probabilities=probabilities, unsupported=shares)
    basis = [_as_causes(source)]
    is_learned = hasattr(source, "uncertainty")
    if not is_learned or source.uncertainty is None:
        if is_learned:
            basis.append("No intervals: learn with intervals=True (--intervals).")
        return replace(without_intervals, basis=tuple(basis))

    if basis_of(answers[0]).takes_edges_as_known:
        basis.append(f"{EDGES_AS_KNOWN[0].upper()}{EDGES_AS_KNOWN[1:]}.")
    uncertainty = source.uncertainty
    basis.append(f"{uncertainty.words(asked.level)}.")
    together = _Together(
        tuple(AnsweredQuery.of(network, target, given, do) for do in interventions)
    )
    variances = uncertainty.covariance.variances(together, uncertainty.spread_of)
    # A covariance is a quarter of the variance of p_x + p_w, less that of p_x - p_w.
    sums, gaps = variances.reshape(2, -1, len(interventions), len(interventions))
    return replace(
        without_intervals,
        interval=np.stack([np.asarray(answer.interval) for answer in answers]),
        correlations=_correlations((sums - gaps) / 4),
        basis=tuple(basis),
    )


def _warn_of_shares(answers: Sequence[Answer], shares: Sequence[float]) -> None:
    """Warn of probabilities that rest on CPT rows without data."""
    noted = []
    for answer, share in zip(answers, shares, strict=True):
        if share >= NOTED_SHARE:
            noted.append(f"{answer.title}: {resting(share)}")
    if noted:
        warn(f"{first_of(noted, 3, '; ')}.")


@dataclass(frozen=True)
class _Together:
    """Sums and differences of what two interventions lead to, asked as if they were answers.

    Of each outcome, one intervention after the other, with each of them.
    """

    asked: tuple[AnsweredQuery, ...]

    @property
    def network(self) -> Network:
        return self.asked[0].network

    @cached_property
    def gradients(self) -> list[Tables]:
        of_outcomes = [*zip(*(query.gradients for query in self.asked), strict=True)]
        return [
            _added(left, right, sign)
            for sign in (1, -1)
            for of_states in of_outcomes
            for left, right in product(of_states, repeat=2)
        ]

    def of_network(self, network: Network) -> FloatArray:
        """The same from another network."""
        answers = np.stack([query.of_network(network).reshape(-1) for query in self.asked], axis=1)
        sums = answers[:, :, None] + answers[:, None, :]
        return np.stack([sums, answers[:, :, None] - answers[:, None, :]]).reshape(-1)


def _added(left: Tables, right: Tables, sign: int) -> dict[str, FloatArray]:
    """Tables plus, or minus, those of the same names; a missing one is zero."""
    names = dict.fromkeys((*left, *right))
    return {name: np.asarray(left.get(name, 0.0) + sign * right.get(name, 0.0)) for name in names}


def effect_by_graph(
    graph: MissingnessGraph,
    target: str,
    *,
    do: str,
    data: Any,
    population: Any = None,
    evidence: Mapping[str, object] = NO_EVIDENCE,
    reference: object = None,
    outcome: object = None,
    level: float = DEFAULT_LEVEL,
) -> Effect:
    """The effect of setting one variable on another, by the estimand that a graph gives."""
    rows = as_data(data)
    network = with_data_codes(graph.network.with_tables(None), rows)
    asked = _asked(network, target, do, evidence, reference, outcome, level)
    whole_graph = graph.over(network).hiding(rows.latent)
    known = known_variables(network, population)
    seen, likelihoods = states_and_likelihoods(network, evidence)
    verdict = whole_graph.recover([*likelihoods, target], list(seen), [do], population=known)
    if verdict.term is None:
        group = f", evidence={dict(asked.given)!r}" if asked.given else ""
        raise not_recoverable(verdict, f"result.effect({target!r}, do={do!r}{group})")
    laws = verdict.population_laws(population)
    recovery = estimate_by_formula(verdict, rows, population=laws, likelihoods=likelihoods)
    # The first axis is that of the cause, then come those of what is seen, then the target's.
    chosen: Any = (slice(None), *(seen[name] for name in verdict.given))
    estimation = recovery.estimation
    table = estimation.table
    basis = (
        *estimation.estimand.splitlines(),
        f"{sentence(verdict.why)}.",
        f"{estimation.rows_used:,} rows used ({estimation.share_used:.1%}); "
        f"{intervals_in_words(asked.level)} by {recovery.left_out.words}.",
        *estimation.warnings,
    )
    cells = np.arange(table.size).reshape(table.shape)[chosen]  # cause, outcome
    blocks = recovery.covariance[cells[:, :, None, None], cells]
    return replace(
        asked,
        probabilities=table[chosen],
        basis=basis,
        interval=recovery.spread.interval(asked.level)[chosen],
        correlations=_correlations(np.einsum("xyzy->yxz", blocks)),
    )


def _correlations(covariance: FloatArray) -> FloatArray:
    """Correlations from covariances, along the last two axes; none with what does not vary."""
    errors = np.sqrt(np.einsum("yxx->yx", covariance))
    both = errors[:, :, None] * errors[:, None, :]
    usable = (both > 0) & np.isfinite(both)
    correlations = np.divide(covariance, both, out=np.zeros_like(covariance), where=usable)
    return np.asarray(np.clip(correlations, -1, 1))
