r"""If values are not missing at random: how far an answer moves as the hidden values differ.

Missing at random says that within a group :math:`g` of rows (which agree on what is always
shown) hidden values are like shown ones. The tilt lets them differ by a stated amount,

.. math::
    \Pr(y_m \mid \text{hidden}, g) \propto \Pr(y_m \mid \text{shown}, g) \, e^{\delta a(y_m)},

with :math:`a = 1` for one state of the variable in question and 0 for the others:
:math:`e^\delta` is the ratio of the odds of that state among hidden and shown values. So

.. math::
    P_\delta(y) = \sum_g \frac{n_g}{N} \Bigl( s_g P_g(y_m) + (1 - s_g)
    \frac{P_g(y_m) e^{\delta a(y_m)}}{\sum_{y'} P_g(y') e^{\delta a(y')}} \Bigr),

:math:`s_g` being the share of rows that show the variable. :math:`\delta = 0` is direct
deletion for MAR; the data say nothing about :math:`\delta`. The *tipping point* is where an
answer crosses a threshold: how different hidden values would have to be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lacunet.data.read import read_table
from lacunet.data.table import EncodedTable
from lacunet.errors import LacunetError
from lacunet.missingness.fitted import observed_parents
from lacunet.model.network import FloatArray, Network, Scope
from lacunet.statistics.counts import added_up
from lacunet.statistics.distinct import distinct, pack
from lacunet.statistics.groups import count_in_groups, group_rows
from lacunet.uncertainty.jackknife import without_each_group
from lacunet.uncertainty.spread import Spread

DELTAS = (-inf, -3.0, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0, inf)
FARTHEST = 30.0  # beyond e^30 the tilt is as good as infinite


@dataclass(frozen=True)
class Question:
    """``P(target = state | evidence)``, and the state whose odds are tilted among hidden values."""

    target: str
    state: str
    evidence: Mapping[str, str]
    mechanism: str
    tilted_state: str

    @property
    def variables(self) -> Scope:
        """All variables that the answer needs together."""
        return tuple(dict.fromkeys([self.target, *self.evidence, self.mechanism]))

    def __str__(self) -> str:
        given = ", ".join(f"{name}={state}" for name, state in self.evidence.items())
        return f"P({self.target}={self.state}{' | ' if given else ''}{given})"


@dataclass(frozen=True)
class TiltedShares:
    """What the answer is made of, for any tilt.

    One entry for each group and configuration: ``share`` is :math:`P_g(y_m)`, ``shown`` and
    ``hidden`` the weight of the group's rows that show and hide the mechanism's variable.
    ``lost`` is the share of rows about whose group nothing is known.
    """

    group: NDArray[np.intp]
    share: FloatArray
    shown: FloatArray
    hidden: FloatArray
    is_tilted: NDArray[np.bool_]
    is_evidence: NDArray[np.bool_]
    is_target: NDArray[np.bool_]
    lost: float

    def answer(self, delta: float) -> float:
        """The answer if hidden values are tilted by ``delta``; it may be infinite."""
        weight = self.shown * self.share + self.hidden * self._hidden_share(delta)
        given = float(weight[self.is_evidence].sum())
        return float(weight[self.is_evidence & self.is_target].sum()) / given if given else np.nan

    def _hidden_share(self, delta: float) -> FloatArray:
        """The distribution of hidden values within each group."""
        groups = int(self.group.max(initial=-1)) + 1
        tilted = added_up(self.group, self.share * self.is_tilted, groups)[self.group]
        if np.isinf(delta):
            reached = tilted > 0 if delta > 0 else tilted < 1 - 1e-12
            keeps = self.is_tilted == (delta > 0)
            total = np.where(delta > 0, tilted, 1 - tilted)
            moved = np.divide(
                self.share * keeps, total, out=np.zeros_like(self.share), where=reached
            )
            return np.where(reached, moved, self.share)
        scale = 1 + tilted * (exp(delta) - 1)
        return np.asarray(self.share * np.where(self.is_tilted, exp(delta), 1.0) / scale)


def tilted_shares(
    network: Network, table: EncodedTable, question: Question, given: Scope
) -> TiltedShares:
    """Count what any tilt needs, once.

    Parameters
    ----------
    given
        The fully observed variables that make the groups; those of the question are added.
    """
    scope = question.variables
    always = [name for name in scope if not table.missing_of[name]]
    groups, group = group_rows(
        table, tuple(n for n in table.fully_observed if n in always or n in given)
    )
    hidden_scope = tuple(name for name in scope if table.missing_of[name])
    cells = count_in_groups(table, groups, group, hidden_scope, whole=True)
    known = added_up(cells.group, cells.tally.weights, len(groups.weights))
    is_gone = ~table.is_shown((question.mechanism,))
    weights = np.ones(table.rows) if table.weights is None else table.weights
    gone = added_up(group[is_gone], weights[is_gone], len(groups.weights))
    # Groups in which no row shows all: pooled with those that agree on the question's variables.
    pool, place = distinct(groups.place(always), int(np.prod(network.shape(always))))
    fell = known == 0
    pooled_known = added_up(place[cells.group], cells.tally.weights, len(pool))
    pooled = [added_up(place[fell], part[fell], len(pool)) for part in (groups.weights, gone)]
    number = len(groups.weights)
    both = np.concatenate([cells.group, place[cells.group] + number])
    total = np.concatenate([known, pooled_known])
    mass = np.concatenate([groups.weights * ~fell, pooled[0]])
    lacking = np.concatenate([gone * ~fell, pooled[1]])
    columns: dict[str, NDArray[np.integer]] = {}
    columns |= zip(hidden_scope, cells.columns(), strict=True)
    columns |= {n: groups.configs[groups.scope.index(n)][cells.group] for n in always}

    def is_state(name: str, state: str) -> NDArray[np.bool_]:
        found = columns[name] == network.state_index(name, state)
        return np.concatenate([found, found])

    agrees = [is_state(name, state) for name, state in question.evidence.items()]
    lost = float(mass[number:][pooled_known == 0].sum() / groups.weights.sum())
    entries, entry = distinct(
        pack([both, np.tile(cells.cells, 2)], [2 * number + 1, _bound(cells.cells)], len(both)),
        (2 * number + 1) * _bound(cells.cells),
    )
    first = np.zeros(len(entries), np.intp)
    first[entry] = np.arange(len(both))
    share = added_up(entry, np.tile(cells.tally.weights, 2), len(entries)) / total[both[first]]
    at = both[first]
    return TiltedShares(
        at,
        share,
        (mass - lacking)[at],
        lacking[at],
        is_state(question.mechanism, question.tilted_state)[first],
        np.logical_and.reduce(agrees, axis=0)[first] if agrees else np.ones(len(at), dtype=bool),
        is_state(question.target, question.state)[first],
        lost,
    )


def _bound(cells: NDArray[np.integer]) -> int:
    return int(cells.max(initial=0)) + 1


@dataclass(frozen=True, repr=False)
class Sensitivity:
    """How an answer moves as hidden values differ from shown ones.

    ``answers`` and ``intervals`` (low, high) go with ``deltas``. ``tipping_point`` is the
    tilt at which the answer crosses ``threshold``, None if none does. ``given`` are the
    variables within whose groups hidden values are compared with shown ones.
    """

    question: Question
    given: Scope
    deltas: tuple[float, ...]
    answers: FloatArray
    intervals: FloatArray
    threshold: float
    tipping_point: float | None
    hidden_share: float
    words: tuple[str, ...]

    def __repr__(self) -> str:
        return f"<Sensitivity of {self.question}: {self.words[0]}>"

    def __str__(self) -> str:
        return as_text(self)


def sensitivity(
    network: Network,
    data: Any,
    target: str,
    state: str,
    evidence: Mapping[str, str],
    mechanism: str,
    *,
    tilted_state: str | None = None,
    threshold: float | None = None,
    given: Sequence[str] | None = None,
    deltas: Sequence[float] = DELTAS,
    weight: Any = None,
    groups: int = 30,
) -> Sensitivity:
    """Ask how far an answer moves if values are not missing at random.

    Parameters
    ----------
    network
        Structure and states; CPTs are not looked at.
    data
        A path, a dataframe of any library, or an encoded table.
    target, state, evidence
        The question: P(target = state | evidence).
    mechanism
        The variable whose hidden values may differ from its shown ones.
    tilted_state
        The state whose odds differ; the question's own, or the variable's last.
    threshold
        The answer at which a conclusion would change; by default the end of the answer's own
        95% interval that is nearer.
    given
        Hidden values are compared with shown ones within groups by these fully observed
        variables; learned from the data by default.
    groups
        How many groups of rows the jackknife leaves out in turn.

    Examples
    --------
    Half of the old do not answer; of those who do, half are ill.

    >>> network = Network({"Age": ["young", "old"], "Ill": ["no", "yes"]}, {"Ill": ["Age"]})
    >>> rows = {"Age": ["old"] * 80, "Ill": ["no"] * 20 + ["yes"] * 20 + [None] * 40}
    >>> found = sensitivity(network, rows, "Ill", "yes", {"Age": "old"}, "Ill", threshold=0.625)
    >>> found.answers[5].item(), round(exp(found.tipping_point), 6)
    (0.5, 3.0)
    """
    table = read_table(data, network, weight=weight)
    question = _checked(network, table, target, state, evidence, mechanism, tilted_state)
    if given is None:
        given = observed_parents(network, table)[mechanism]
    for name in given:
        if table.missing_of[network.known(name)]:
            raise LacunetError(
                f"{name!r} is missing in {table.missing_of[name]:,} rows.",
                "groups are made by variables that every row shows.",
            )
    grouped = tuple(n for n in table.fully_observed if n in given)
    shares = tilted_shares(network, table, question, grouped)
    answers = np.array([shares.answer(delta) for delta in deltas])
    if np.isnan(answers).any():
        raise LacunetError(
            f"no row that shows {', '.join(question.variables)} together agrees with the evidence.",
            "ask about states that occur in the data.",
        )
    replicates = np.array(
        [
            [one.answer(delta) for delta in deltas]
            for part in without_each_group(table, groups)
            for one in [tilted_shares(network, part, question, grouped)]
        ]
    )
    apart = np.square(replicates - np.nanmean(replicates, axis=0))
    variance = (groups - 1) / groups * np.nansum(apart, axis=0)
    binary = np.stack([answers, 1 - answers], axis=-1)
    spread = Spread.of_variance(binary, binary, np.repeat(variance[:, None], 2, axis=1))
    intervals = spread.interval()[:, 0]
    start = shares.answer(0.0)
    own = intervals[list(deltas).index(0.0)] if 0.0 in deltas else np.array([start, start])
    limit = _nearest_end(start, own, shares) if threshold is None else threshold
    tipping = tipping_point(shares, limit)
    hidden = float(np.average(~table.is_shown((mechanism,)), weights=table.weights))
    found = Sensitivity(
        question,
        grouped,
        tuple(deltas),
        answers,
        intervals,
        limit,
        tipping,
        hidden,
        (),
    )
    words = _words(found, start, shares, named=threshold is not None)
    return Sensitivity(**{**found.__dict__, "words": words})


def _checked(
    network: Network,
    table: EncodedTable,
    target: str,
    state: str,
    evidence: Mapping[str, str],
    mechanism: str,
    tilted_state: str | None,
) -> Question:
    asked = {target: state, **evidence}
    for name, value in asked.items():
        network.state_index(name, value)
    if target in evidence:
        raise LacunetError(f"{target!r} is both asked about and given.", "ask about another one.")
    if not table.missing_of[network.known(mechanism)]:
        raise LacunetError(
            f"{mechanism!r} is never missing: there is nothing to be sensitive to.",
            f"missing at times: {', '.join(table.partially_observed) or 'nothing'}.",
        )
    tilted = tilted_state or asked.get(mechanism, network.states(mechanism)[-1])
    network.state_index(mechanism, tilted)
    return Question(target, state, dict(evidence), mechanism, tilted)


def tipping_point(shares: TiltedShares, threshold: float) -> float | None:
    """The tilt at which the answer is the threshold; the one nearest to none, if any."""
    from scipy.optimize import brentq

    def apart(delta: float) -> float:
        return shares.answer(delta) - threshold

    start = apart(0.0)
    found = []
    for end in (FARTHEST, -FARTHEST):
        if start * apart(end) <= 0:
            found.append(float(brentq(apart, 0.0, end, xtol=1e-10)))
    return min(found, key=abs, default=None)


def _nearest_end(start: float, interval: FloatArray, shares: TiltedShares) -> float:
    """The end of the interval that the smaller tilt reaches."""
    ends = [(tipping_point(shares, float(end)), float(end)) for end in interval]
    reached = [(abs(delta), end) for delta, end in ends if delta is not None]
    return min(reached)[1] if reached else float(interval[1] if start < 0.5 else interval[0])


def _words(found: Sensitivity, start: float, shares: TiltedShares, named: bool) -> tuple[str, ...]:
    question = found.question
    hidden = f"a hidden {question.mechanism}={question.tilted_state}"
    what = (
        f"would cross {found.threshold:.3g}"
        if named
        else f"would leave its 95% interval (at {found.threshold:.3g})"
    )
    low, high = sorted((shares.answer(-inf), shares.answer(inf)))
    words = [f"If values are missing at random, {question} is {start:.3g}."]
    if found.tipping_point is None:
        words.append(
            f"No tilt of the hidden values of {question.mechanism} takes the answer to "
            f"{found.threshold:.3g}: it stays between {low:.3g} and {high:.3g}."
        )
    else:
        times = exp(found.tipping_point)
        ratio = f"{times:.3g} times" if times >= 1 else f"1/{1 / times:.3g}"
        words.append(
            f"The answer {what} if the odds of {hidden} were {ratio} those of a shown one; "
            f"it can be anywhere between {low:.3g} and {high:.3g}."
        )
    if shares.lost > 0:
        words.append(f"Nothing is known about {shares.lost:.1%} of the rows: left out.")
    words.append("The data cannot say which tilt is right.")
    return tuple(words)


def as_text(found: Sensitivity) -> str:
    """The answer over the tilts as a table with a curve, and the words."""
    from lacunet.wording import text_table

    def curve(value: float) -> str:
        return " " * round(value * 40) + "*"

    rows = [
        [
            f"{delta:+g}" if delta else "0",
            f"{exp(delta):.3g}" if abs(delta) < inf else ("all" if delta > 0 else "none"),
            f"{answer:.4f}",
            f"{low:.4f}",
            f"{high:.4f}",
            curve(answer).ljust(41),
        ]
        for delta, answer, (low, high) in zip(
            found.deltas, found.answers, found.intervals, strict=True
        )
    ]
    given = ", ".join(found.given) or "nothing"
    return "\n".join(
        [
            f"{found.question}; {found.question.mechanism} is missing in "
            f"{found.hidden_share:.1%} of the rows; compared within groups by {given}",
            "",
            text_table(
                ["delta", "odds ratio", "answer", "low", "high", "0" + " " * 38 + " 1"], rows
            ),
            "",
            *found.words,
        ]
    )


def as_data(found: Sensitivity) -> dict[str, Any]:
    """All of it as lists, strings and numbers, ready for JSON."""
    from dataclasses import asdict

    from lacunet.wording import finite

    data = asdict(found) | {
        "answers": found.answers.tolist(),
        "intervals": found.intervals.tolist(),
        "question": str(found.question),
    }
    clean: dict[str, Any] = finite(data)
    return clean
