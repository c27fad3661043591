"""How far an answer moves if values are not missing at random: a table, a curve, words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import chain
from math import exp, inf
from numbers import Integral, Real
from os import PathLike
from typing import Any, get_args

import numpy as np

from lacunet.ask.sensitivity.comparison import (
    Comparison,
    TiltableMethod,
    comparison_in_groups,
    comparison_on_graph,
    graph_without_tilt,
)
from lacunet.ask.sensitivity.sensitivity_words import (
    on_answer,
    on_dropout,
    on_no_tilt,
    on_rows,
    on_tilts,
)
from lacunet.ask.sensitivity.tilt import (
    FLAT,
    Question,
    TiltedShares,
    tilted_shares,
    tipping_point,
)
from lacunet.ask.sensitivity.tilted_em import TILTED_EM_TOLERANCE, TiltedModel, TiltedRows
from lacunet.ask.sensitivity.tilted_intervals import TRACE, tilted_intervals
from lacunet.ask.sensitivity.tilted_query import asked_terms, question_of
from lacunet.counts.counts import quotient
from lacunet.counts.distinct_rows import Rows
from lacunet.counts.folds import JACKKNIFE_GROUPS, Folds, folds_of
from lacunet.counts.gather import Gathering, Needs, Statistics
from lacunet.counts.observations import Observations, replicates
from lacunet.counts.open_rows import open_rows
from lacunet.data.evidence import places_seen
from lacunet.errors import LacunetError
from lacunet.inference.engine import engine_of
from lacunet.inference.joint import pose_question
from lacunet.inference.query import (
    after_doing,
    check_confounding,
)
from lacunet.learning.cpt_rows import CptRows
from lacunet.learning.em.em import EM
from lacunet.learning.em.with_learned_pseudo_counts import flat_pseudo_counts
from lacunet.learning.learn import carry_out
from lacunet.learning.methods import default_pseudo_counts
from lacunet.learning.plan import Setting, make_plan
from lacunet.learning.pseudo_count_arguments import checked_pseudo_counts
from lacunet.learning.pseudo_counts import AskedPseudoCounts, is_given
from lacunet.learning.result import Result
from lacunet.limits import Memory
from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.learned.not_asked import notes_on_rules
from lacunet.network.arguments import clear_arguments
from lacunet.network.formats.files import NetworkOrEdges, as_learned
from lacunet.network.network import FloatArray, Network, Scope
from lacunet.progress import AskedProgress
from lacunet.text import assigned, finite, sentence
from lacunet.text_tables import Displayed, TextTable, terminal_width

TILTABLE_METHODS = get_args(TiltableMethod)
METHODS_BY_EM = ("auto", "em", "em-bp")
TILT_HEADER = ("delta", "odds ratio", "answer", "low", "high")
BESIDE_DRAWING = 48  # columns of a terminal that these take
DRAWING_WIDTHS = (8, 40)  # of the drawing beside them, at least and at most
UNTILTED_ITERATIONS = 5_000
DELTAS = (-inf, -3.0, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0, inf)

Tilted = Callable[[Statistics], TiltedShares | TiltedRows]


@dataclass(frozen=True, repr=False)
class Sensitivity(Displayed):
    """How an answer moves as hidden values differ from shown ones.

    ``answers`` and ``intervals`` (low, high) go with ``deltas``. ``tipping_point`` is the
    tilt at which the answer crosses ``threshold``, None if none does. ``within`` are the
    variables within whose groups hidden values are compared with shown ones; by "em" also given
    whatever else a row shows. ``log_likelihoods`` say how well the network fits the rows at each
    tilt, by "em": its independences may speak against some.
    """

    question: Question
    method: str
    within: Scope
    deltas: tuple[float, ...]
    answers: FloatArray
    intervals: FloatArray
    threshold: float
    tipping_point: float | None
    hidden_share: float
    words: tuple[str, ...]
    log_likelihoods: tuple[float, ...] = ()

    def __repr__(self) -> str:
        return f"<Sensitivity of {self.question}: {self.words[0]}>"

    def _parts(self) -> Iterator[object]:
        least = self.question.lowest
        columns = terminal_width()
        narrowest, drawn = DRAWING_WIDTHS
        if columns is not None:
            drawn = min(drawn, max(columns - BESIDE_DRAWING, narrowest))
        scale = drawn / (1 - least)
        rows = [
            [
                f"{delta:+g}" if delta else "0",
                f"{exp(delta):.3g}",
                f"{answer:.4f}",
                f"{low:.4f}",
                f"{high:.4f}",
                (" " * round((answer - least) * scale) + "*").ljust(drawn + 1),
            ]
            for delta, answer, (low, high) in zip(
                self.deltas, self.answers, self.intervals, strict=True
            )
        ]
        compared = "among all rows"
        if self.within:
            compared = f"within groups by {', '.join(self.within)}"
        if self.method == "em":
            compared += " and by what else a row shows"
        yield (
            f"{self.question}; {self.question.mechanism} is missing in "
            f"{self.hidden_share:.1%} of the rows; compared {compared} ({self.method})"
        )
        yield ""
        yield TextTable([*TILT_HEADER, f"{least:<{drawn - 1}g} 1"], rows)
        tilted = assigned(self.question.mechanism, self.question.tilted_state)
        group = " of the same group" if self.within else ""
        yield (
            f"tilt by delta: the odds of {tilted} among hidden values are e^delta times (odds "
            f"ratio) those among shown ones{group}"
        )
        yield ""
        yield from self.words

    def as_data(self) -> dict[str, Any]:
        """All of it as lists, strings and numbers, ready for JSON."""
        data: dict[str, Any] = finite(
            asdict(self)
            | {
                "answers": self.answers.tolist(),
                "intervals": self.intervals.tolist(),
                "question": str(self.question),
            }
        )
        return data


@clear_arguments
def sensitivity(
    network: NetworkOrEdges,
    data: Any,
    query: str,
    mechanism: str,
    missingness: MissingnessGraph | str | PathLike[str] | None = None,
    *,
    tilted_state: object = None,
    threshold: float | None = None,
    within: Sequence[str] | str | None = None,
    deltas: Sequence[float] | float = DELTAS,
    groups: int = JACKKNIFE_GROUPS,
    method: TiltableMethod | None = None,
    pseudo_counts: AskedPseudoCounts | None = None,
    memory: Memory = None,
    progress: AskedProgress = False,
) -> Sensitivity:
    """Ask how far an answer moves if values are not missing at random.

    Hidden values of ``mechanism`` are taken to be distributed like the shown ones of the same
    group, but for a tilt: the odds of ``tilted_state`` are e^delta times as high. With
    delta 0 values are missing at random, or as the graph says, and the answer is that of `learn` by
    the same method; with delta 0.7 the odds are twice as high among hidden
    values, with -0.7 half as high. The tipping point is the delta at which the answer reaches the
    ``threshold``.

    Parameters
    ----------
    network
        Structure and states, or edges; CPTs, if it has any, are ignored. Of a result that EM
        learned under pseudo-counts that were given, or experts, these are kept.
    data
        A path, a dataframe of any library, or `lacunet.Data`. If it has clusters or replicate
        weights, the intervals are computed from them.
    query
        One state and what is given, ``"Ill=yes | Age=old"``, also with do(...), or the difference
        of two such queries, ``"P(Ill=yes | do(Drug=yes)) - P(Ill=yes | do(Drug=no))"``. What
        do(...) does, the network says, by "em".
    mechanism
        The variable whose hidden values may differ from its shown ones.
    missingness
        A missingness graph, its text or its file, in place of ``within``: then hidden values are
        compared given its causes of ``mechanism``, and at delta 0 the answer is that of EM on the
        graph (``learn(network, data, "em", missingness=graph)``). What is to be known of hidden
        values, the tilt says: an edge ``X -> R[X]`` of ``mechanism`` itself is left out.
    tilted_state
        The state of ``mechanism`` whose odds differ: by default the one that the question names,
        otherwise its last.
    threshold
        The answer at which a conclusion would change; by default an end of the 95% interval that
        the answer has at delta 0: the end that a smaller tilt reaches.
    within
        Variables that may decide whether a value is hidden: hidden values are compared with shown
        ones in groups that agree on them. By default they are learned from the data, and the
        parents of ``mechanism`` that every row shows are added. With "direct-mar" every row must
        show them; "em" takes those that a row misses for a group of their own.
    deltas
        The tilts to look at, each a delta; 0, where hidden values are like shown ones, is added.
    groups
        How many groups of rows the jackknife leaves out in turn, where there are no clusters.
    method
        "direct-mar" compares shares of rows, without pseudo-counts; "em" learns the whole network
        for every tilt, so that all that a row shows counts as evidence about what it hides. By
        default "direct-mar", and "em" where another variable of the question or of ``within``, or a
        parent or child of ``mechanism``, has missing values: "direct-mar" would not use the rows
        that miss it, or what it tells.
    pseudo_counts
        What is added to each cell, for "em", as for `lacunet.learn`; by default those that the
        result was given, or learned once, by plain EM.
    memory
        The budget in bytes, or such as ``"500MB"``; by default half of the memory there is.
    progress
        True for a bar, in notebooks too, or a function to call as the work goes on.

    Returns
    -------
    A value that prints. Its ``answers`` and ``intervals`` go with its ``deltas``; its
    ``tipping_point`` is the delta at which the answer reaches the ``threshold``, None if none does.

    Examples
    --------
    Half of the old do not answer; of those who do, half are ill.

    >>> network = Network({"Age": ["young", "old"], "Ill": ["no", "yes"]}, {"Ill": ["Age"]})
    >>> rows = {"Age": ["old"] * 80, "Ill": ["no"] * 20 + ["yes"] * 20 + [None] * 40}
    >>> result = sensitivity(network, rows, "Ill=yes | Age=old", "Ill", threshold=0.625)
    >>> result.answers[result.deltas.index(0)].item(), round(exp(result.tipping_point), 6)
    (0.5, 3.0)
    """
    source = as_learned(network)
    opened = open_rows("sensitivity", source, data, memory, progress)
    model = opened.network
    terms = asked_terms(model, query)
    _check_options(method, threshold, groups, is_difference=len(terms) > 1)
    tilts = _tilts(deltas)
    names_within = _names_within(within)
    given_pseudo_counts = None
    if pseudo_counts is not None:
        given_pseudo_counts = checked_pseudo_counts(pseudo_counts, model)

    with opened.rows() as rows:
        look = rows.look()
        hidden = look.hidden(model)
        question = question_of(model, hidden, terms, mechanism, tilted_state)
        graph = graph_without_tilt(missingness, model, opened.data, question, names_within, method)
        if graph is None:
            comparison = comparison_in_groups(model, look, question, method, names_within)
        else:
            comparison = comparison_on_graph(graph, question.mechanism)

        # By EM the network is learned without a tilt first: its prior is that of every tilt.
        untilted = EM(
            tolerance=TILTED_EM_TOLERANCE, max_iterations=UNTILTED_ITERATIONS, missingness=graph
        )
        used_pseudo_counts = given_pseudo_counts
        if used_pseudo_counts is None:
            used_pseudo_counts = _pseudo_counts_given_to(source, model)
        if used_pseudo_counts is None:
            used_pseudo_counts = default_pseudo_counts(untilted, look)
        setting = Setting(used_pseudo_counts, memory=opened.budget, progress=opened.progress)
        learned = None
        if comparison.method == "em":
            plan = make_plan(untilted, model, look, used_pseudo_counts)
            learned = carry_out(plan, rows, setting)

        tilted_model = comparison.model(model, look, question, learned)
        tilted = _answer_at_tilts(
            rows=rows,
            network=model,
            question=question,
            comparison=comparison,
            model=tilted_model,
            learned=learned,
            deltas=tilts,
            folds=folds_of(groups, 0, look.units),
            setting=setting,
        )

    result = _with_intervals(
        network=model,
        question=question,
        comparison=comparison,
        deltas=tilts,
        tilted=tilted,
        threshold=threshold,
        by_design=look.units is not None,
    )
    rules_allowed_for = [question.mechanism] if comparison.method == "em" else []
    warnings = learned.warnings if learned is not None and graph is not None else ()
    words = (
        on_no_tilt(result, graph),
        *on_answer(result, tilted.shares, named=threshold is not None),
        *on_rows(result, tilted.whole, tilted.shares, tilted.rows, tilted.share_without_data),
        *map(sentence, notes_on_rules(model, hidden, rules_allowed_for)),
        *on_dropout(question, tilted_model, tilted.rows),
        *comparison.words,
        *map(sentence, warnings),
        on_tilts(result),
    )
    return replace(result, words=words)


def _with_intervals(
    network: Network,
    question: Question,
    comparison: Comparison,
    deltas: tuple[float, ...],
    tilted: _TiltedAnswers,
    threshold: float | None,
    *,
    by_design: bool,
) -> Sensitivity:
    """The answers with their intervals and the tipping point, without words."""
    intervals = tilted_intervals(
        np.array([*map(tilted.whole.probabilities, deltas)]),
        tilted.by_rows,
        tilted.scales,
        tilted.degrees,
        [_rows_that_tell(network, term, tilted.rows) for term in question.terms],
        by_design=by_design,
    )
    tips = partial(tipping_point, tilted.whole.answer, deltas=deltas, answers=tilted.answers)
    limit = threshold
    if limit is None:
        untilted = deltas.index(0.0)
        limit = _nearest_end(tilted.answers[untilted], intervals[untilted], tips, question.lowest)
    is_hidden = ~tilted.rows.is_shown([question.mechanism])
    return Sensitivity(
        question=question,
        method=comparison.method,
        within=comparison.within,
        deltas=deltas,
        answers=tilted.answers,
        intervals=intervals,
        threshold=limit,
        tipping_point=tips(limit),
        hidden_share=float(np.average(is_hidden, weights=tilted.rows.counts)),
        words=(),
        log_likelihoods=tilted.log_likelihoods,
    )


def _names_within(within: Sequence[str] | str | None) -> Sequence[str] | None:
    """The names of the variables that make the groups; states of them have another place."""
    if isinstance(within, Mapping):
        states = ", ".join(assigned(name, state) for name, state in within.items())
        raise LacunetError(
            f"within is {dict(within)!r}, but must be names of variables: the states in it would "
            "not be looked at.",
            f"known states stand behind the bar of the query: '... | {states}'.",
        )
    return (within,) if isinstance(within, str) else within


def _pseudo_counts_given_to(source: Any, network: Network) -> AskedPseudoCounts | None:
    """Those that a result of EM was given, experts' among them; None where nothing was given."""
    if not isinstance(source, Result) or source.method not in METHODS_BY_EM:
        return None
    given = source.pseudo_counts
    return checked_pseudo_counts(given, network) if is_given(given) else None


def _check_options(
    method: str | None, threshold: float | None, groups: int, *, is_difference: bool
) -> None:
    if method not in (None, *TILTABLE_METHODS):
        raise LacunetError(
            f"method is {method!r}, but must be one of {', '.join(TILTABLE_METHODS)}."
        )
    is_number = isinstance(threshold, Real)
    lowest = -1 if is_difference else 0
    what = "difference of two" if is_difference else "probability"
    if threshold is not None and not (is_number and lowest <= threshold <= 1):
        raise LacunetError(f"the threshold {threshold!r} is not a {what}.", "as in 0.5.")
    if not isinstance(groups, Integral) or groups < 2:
        raise LacunetError(
            f"groups is {groups!r}, but intervals need a whole number of them, two at least."
        )


def _tilts(deltas: float | Sequence[float]) -> tuple[float, ...]:
    """The tilts to look at, 0 among them, in order."""
    try:
        tilts = np.asarray(deltas, dtype=np.float64).ravel()
    except (TypeError, ValueError):
        raise LacunetError(f"deltas is {deltas!r}, not numbers.", "as in deltas=[-1, 1].") from None
    if np.isnan(tilts).any():
        raise LacunetError("a tilt is not a number.", "leave it out of deltas.")
    return tuple(sorted({0.0, *tilts.tolist()}))


@dataclass(frozen=True)
class _TiltedAnswers:
    """What the rows answer at every tilt."""

    whole: TiltedShares | TiltedRows  # how all rows answer
    answers: FloatArray  # theirs, one for each tilt
    by_rows: FloatArray  # the probabilities of all rows alone, then those of replicates
    scales: FloatArray  # how much each replicate adds to a variance
    degrees: float  # of freedom
    rows: Rows  # the distinct rows over what the question is about
    shares: TiltedShares  # how shares of rows answer, whatever the method
    share_without_data: float | None = None  # of the answer by EM: what rests on no row
    log_likelihoods: tuple[float, ...] = ()  # by EM, at each tilt


def _answer_at_tilts(
    rows: Observations,
    network: Network,
    question: Question,
    comparison: Comparison,
    model: TiltedModel,
    learned: Result | None,
    deltas: tuple[float, ...],
    folds: Folds | None,
    setting: Setting,
) -> _TiltedAnswers:
    """Count the rows once, and let all of them and their replicates answer at every tilt."""
    look = rows.look()
    columns = {*question.variables, *comparison.within, *model.never_without}
    needs = Needs(
        (),
        problems=None if learned is None else model.compiling,
        rows=(tuple(name for name in network.variables if name in columns),),
        folds=folds,
    )
    gathering = Gathering(needs, network, memory=setting.memory / 4, scale=look.scale)
    statistics = rows.gather(gathering, setting.progress)
    _check_shown(question.mechanism, statistics)

    by_shares: Tilted = partial(_by_shares, network, question, comparison.within)
    tilted = by_shares
    by_rows_alone = by_shares  # without pseudo-counts, which shares of rows do not have
    logs: tuple[float, ...] = ()
    share_without_data = None
    if learned is not None:
        share_without_data = _share_without_data(learned.network, question, int(setting.memory))
        tilted, by_rows_alone, logs = _by_em(
            start=learned.network.with_mechanisms(None),
            statistics=statistics,
            question=question,
            model=model,
            deltas=deltas,
            setting=replace(setting, pseudo_counts=learned.pseudo_counts),
        )

    whole = tilted(statistics.sample(0))
    answers = np.array([whole.answer(delta) for delta in deltas])
    if np.isnan(answers).any():
        raise LacunetError(
            f"no row that shows {', '.join(question.variables)} together agrees with the evidence.",
            "ask about states that occur in the data.",
        )
    samples, scales, degrees = replicates(
        look.units,
        statistics,
        lambda replicate: rows.gather(replace(gathering, replicate=replicate)),
    )
    by_rows = _by_rows(
        by_rows_alone,
        chain([statistics.sample(0)], samples),
        number=len(scales) + 1,
        deltas=deltas,
        setting=setting,
    )
    (distinct,) = statistics.sample(0).distinct.values()
    return _TiltedAnswers(
        whole=whole,
        answers=answers,
        by_rows=by_rows,
        scales=scales,
        degrees=degrees,
        rows=distinct,
        shares=_by_shares(network, question, comparison.within, statistics.sample(0)),
        share_without_data=share_without_data,
        log_likelihoods=logs,
    )


def _check_shown(mechanism: str, statistics: Statistics) -> None:
    """Refuse a variable that no row shows."""
    if mechanism in statistics.never_shown:
        raise LacunetError(
            f"no row shows {mechanism!r}: there is nothing to compare hidden values with.",
            "ask about a variable that some rows show.",
        )


def _by_shares(
    network: Network, question: Question, within: Scope, statistics: Statistics
) -> TiltedShares:
    """How shares of rows answer."""
    (distinct,) = statistics.distinct.values()
    return tilted_shares(network, distinct.table, question, within)


def _by_em(
    start: Network,
    statistics: Statistics,
    question: Question,
    model: TiltedModel,
    deltas: Sequence[float],
    setting: Setting,
) -> tuple[Tilted, Tilted, tuple[float, ...]]:
    """How EM answers, how it does by the rows alone, and how well the network fits at each tilt.

    On a replicate of the rows it starts where it ended on all of them. By the rows alone the
    pseudo-counts are a trace: they decide nothing but CPT rows of which no row tells.
    """

    def tilted_rows(
        sample: Statistics, starts: Mapping[float, FloatArray], *, alone: bool = False
    ) -> TiltedRows:
        assert sample.problems is not None
        engine = engine_of(sample.problems, setting.memory)
        layout = engine.problems.layout
        pseudo_counts = flat_pseudo_counts(setting.used_pseudo_counts, layout)
        if alone:
            rows = CptRows.of(layout)
            sums = np.repeat(np.add.reduceat(pseudo_counts, rows.begins), rows.lengths)
            pseudo_counts = TRACE * quotient(pseudo_counts, sums)
        return TiltedRows(
            engine=engine,
            start=start,
            question=question,
            pseudo_counts=pseudo_counts,
            model=model,
            near=starts,
        )

    # Filled as EM goes along: by the rows alone it starts where it ended with the prior.
    ends: dict[float, FloatArray] = {}
    ends_alone: dict[float, FloatArray] = {}
    whole = tilted_rows(statistics.sample(0), ends)
    alone = tilted_rows(statistics.sample(0), ends, alone=True)
    for done, delta in enumerate(deltas):
        setting.progress("tilts", done, len(deltas))
        ends[delta] = whole.cells(delta)
        ends_alone[delta] = alone.cells(delta)
    logs = tuple(float(whole.engine.log_likelihoods(ends[delta]).sum()) for delta in deltas)
    by_rows_alone = partial(tilted_rows, starts=ends_alone, alone=True)
    return partial(tilted_rows, starts=ends), by_rows_alone, logs


def _rows_that_tell(network: Network, question: Question, rows: Rows) -> float:
    """How many rows show the target, and all of the evidence as it is."""
    table = rows.table
    seen = {**question.evidence, **question.do}
    agree = table.is_shown((question.target, *seen))
    for name, places in places_seen(network, seen).items():
        agree = agree & np.isin(table.columns[name], places)
    return float(rows.counts[agree].sum())


def _by_rows(
    tilted: Tilted,
    samples: Iterable[Statistics],
    number: int,
    deltas: Sequence[float],
    setting: Setting,
) -> FloatArray:
    """The probabilities that each sample of the rows gives, for every tilt and each term."""
    answers = []
    for done, sample in enumerate(samples):
        setting.progress("jackknife", done, number)
        answers.append([*map(tilted(sample).probabilities, deltas)])
    setting.progress("jackknife", number, number)
    return np.array(answers)


def _share_without_data(network: Network, question: Question, budget: int) -> float:
    """The share of the answer that rests on CPT rows without data; of two the larger.

    An intervention that a hidden common cause of the network's graph confounds is refused.
    """
    shares = []
    for term in question.terms:
        check_confounding(network, [(term.target,)], term.evidence, term.do)
        after, evidence = after_doing(network, term.evidence, term.do)
        shares.append(pose_question(after, [(term.target,)], evidence, budget).shares[0] or 0.0)
    return max(shares)


def _nearest_end(
    start: float, interval: FloatArray, tips: Callable[[float], float | None], lowest: float
) -> float:
    """The end of the interval that the smaller tilt reaches.

    Else the one towards the middle of what is possible, from ``lowest`` to 1.
    """
    apart = interval[np.abs(interval - start) > FLAT]  # the interval may be stretched to the answer
    ends = [(tips(float(end)), float(end)) for end in apart]
    reached = [(abs(delta), end) for delta, end in ends if delta is not None]
    if reached:
        return min(reached)[1]
    far = apart if apart.size else interval
    return float(far[-1] if start < (lowest + 1) / 2 else far[0])
