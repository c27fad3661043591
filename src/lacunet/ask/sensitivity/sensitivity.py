"""How far an answer moves if values are not missing at random: a table, a curve, words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import chain
from math import exp, inf
from numbers import Integral, Real
from os import PathLike
from typing import Any, Literal

import numpy as np

from lacunet.ask.sensitivity.tilt import Question, TiltedShares, tilted_shares, tipping_point
from lacunet.ask.sensitivity.tilted_em import (
    TiltedModel,
    TiltedRows,
    tilted_model,
    tilted_model_on_graph,
)
from lacunet.ask.sensitivity.tilted_query import AskedTerm, of_difference, typed_terms
from lacunet.counts.counts import quotient
from lacunet.counts.distinct_rows import Rows
from lacunet.counts.folds import JACKKNIFE_GROUPS, folds_of
from lacunet.counts.gather import Gathering, Needs, Statistics
from lacunet.counts.look import Look
from lacunet.counts.missing_values import PatternCounts
from lacunet.counts.observations import replicates
from lacunet.counts.open_rows import open_rows
from lacunet.data.data import Data
from lacunet.data.evidence import evidence_written, places_seen, state_named
from lacunet.data.read import note_on_sets
from lacunet.errors import LacunetError
from lacunet.inference.engine import engine_of
from lacunet.inference.joint import posed
from lacunet.inference.query import (
    after_doing,
    check_confounding,
    warn_of_undirected,
)
from lacunet.learning.cpt_rows import CptRows
from lacunet.learning.em.em import EM
from lacunet.learning.em.with_learned_pseudo_counts import flat_pseudo_counts
from lacunet.learning.learn import carry_out
from lacunet.learning.methods import default_pseudo_counts
from lacunet.learning.plan import Setting, planned
from lacunet.learning.pseudo_count_arguments import checked_pseudo_counts
from lacunet.learning.pseudo_counts import AskedPseudoCounts
from lacunet.learning.result import Result
from lacunet.learning.uncertainty.cpt_intervals import Spread, settled
from lacunet.learning.uncertainty.jackknife import replicate_variance
from lacunet.limits import Memory
from lacunet.missingness.graph import MissingnessGraph, graph_of
from lacunet.missingness.learned.from_rows import (
    MOST_ROWS,
    parents_among,
    shown_wherever_it_matters,
)
from lacunet.missingness.learned.not_asked import notes_on_rules
from lacunet.network.arguments import clear_arguments
from lacunet.network.formats.files import NetworkOrEdges
from lacunet.network.network import FloatArray, Network, Scope
from lacunet.network.nodes import named
from lacunet.progress import AskedProgress
from lacunet.text import assigned, finite, first_of, interval_in_words, sentence
from lacunet.text_tables import Displayed, TextTable, terminal_width

TILTABLE_METHODS = ("direct-mar", "em")
FLAT = 1e-6  # answers that differ by less are the same
TILT_HEADER = ("delta", "odds ratio", "answer", "low", "high")
BESIDE_DRAWING = 48  # columns of a terminal that these take
AS_GOOD = 1.92  # nats below the best: not refuted at 5%
TRACE = 1e-6  # pseudo-counts of a CPT row, where the rows are to answer alone
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
        drawn = 40 if columns is None else min(40, max(columns - BESIDE_DRAWING, 8))
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
        compared = f"within groups by {', '.join(self.within)}" if self.within else "among all rows"
        compared += " and by what else a row shows" if self.method == "em" else ""
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
    method: Literal["direct-mar", "em"] | None = None,
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
        Structure and states, or edges; CPTs, if it has any, are ignored.
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
        What is added to each cell, for "em", as for `lacunet.learn`; learned once, by plain EM.
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
    opened = open_rows("sensitivity", network, data, memory, progress)
    network = opened.network
    terms = _asked_terms(network, query)
    _check_options(method, threshold, groups, is_difference=len(terms) > 1)
    if isinstance(within, Mapping):
        states = ", ".join(assigned(name, state) for name, state in within.items())
        raise LacunetError(
            f"within is {dict(within)!r}, but must be names of variables: the states in it would "
            "not be looked at.",
            f"known states stand behind the bar of the query: '... | {states}'.",
        )
    asked, within = _tilts(deltas), (within,) if isinstance(within, str) else within
    pseudo_counts = None if pseudo_counts is None else checked_pseudo_counts(pseudo_counts, network)
    with opened.rows() as rows:
        look = rows.look()
        question = _checked(network, look, terms, mechanism, tilted_state)
        graph = _graph(missingness, network, opened.data, question, within, method)
        method, grouped, choices = _compared(network, look, question, method, within, graph)
        untilted = EM(tolerance=1e-6, max_iterations=5_000, missingness=graph)
        pseudo_counts = (
            default_pseudo_counts(untilted, look) if pseudo_counts is None else pseudo_counts
        )
        setting = Setting(pseudo_counts, memory=opened.budget, progress=opened.progress)
        learned = None
        if method == "em":
            learned = carry_out(planned(untilted, network, look, pseudo_counts), rows, setting)
        model = _model(network, look, question, grouped, graph, learned)
        needs = Needs(
            (),
            problems=model.compiling if method == "em" else None,
            rows=(_columns(network, question, (*grouped, *model.never_without)),),
            folds=folds_of(groups, 0, look.units),
        )
        gathering = Gathering(needs, network, memory=setting.memory / 4, scale=look.scale)
        statistics = rows.gather(gathering, setting.progress)
        _check_shown(question.mechanism, statistics)
        tilted: Tilted = partial(_by_shares, network, question, grouped)
        by_rows_alone = tilted
        logs: tuple[float, ...] = ()
        bare = None
        if learned is not None:
            bare = _share_without_data(learned.network, question, opened.budget)
            setting = replace(setting, pseudo_counts=learned.pseudo_counts)
            tilted, by_rows_alone, logs = _by_em(
                learned.network.with_mechanisms(None), statistics, question, model, asked, setting
            )
        whole = tilted(statistics.sample(0))
        answers = np.array([whole.answer(delta) for delta in asked])
        if np.isnan(answers).any():
            raise LacunetError(
                f"no row that shows {', '.join(question.variables)} together agrees with the "
                "evidence.",
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
            len(scales) + 1,
            asked,
            setting,
        )
    (distinct,) = statistics.sample(0).distinct.values()
    intervals = _intervals(
        np.array([*map(whole.probabilities, asked)]),
        by_rows,
        scales,
        degrees,
        [_rows_that_tell(network, term, distinct) for term in question.terms],
        by_design=look.units is not None,
    )
    tips = partial(tipping_point, whole.answer, deltas=asked, answers=answers)
    mar = asked.index(0.0)
    if (limit := threshold) is None:
        limit = _nearest_end(answers[mar], intervals[mar], tips, question.lowest)
    shares = _by_shares(network, question, grouped, statistics.sample(0))
    result = Sensitivity(
        question,
        method,
        grouped,
        asked,
        answers,
        intervals,
        limit,
        tips(limit),
        float(np.average(~distinct.is_shown([question.mechanism]), weights=distinct.counts)),
        words=(),
        log_likelihoods=logs,
    )
    allowed_for = [question.mechanism] if method == "em" else []  # rules
    words = (
        _on_no_tilt(result, graph),
        *_on_answer(result, shares, named=threshold is not None),
        *_on_rows(result, whole, shares, distinct, bare),
        *map(sentence, notes_on_rules(network, look.hidden(network), allowed_for)),
        *_on_dropout(question, model, distinct),
        *choices,
        *map(sentence, learned.warnings if learned is not None and graph is not None else ()),
        _on_tilts(result),
    )
    return replace(result, words=words)


def _asked_terms(network: Network, query: str) -> tuple[AskedTerm, ...]:
    """What is asked: one probability, or the difference of two."""
    if not isinstance(query, str):
        raise LacunetError(
            f"the query is {query!r}, but must be text.", 'as in "Ill=yes | Age=old".'
        )
    if query.strip() in network.states_of:
        name = query.strip()
        asked = assigned(name, network.states(name)[-1])
        raise LacunetError(
            f"the query {query!r} names no state of {name!r}.", f"ask for one, as in {asked!r}."
        )
    return typed_terms(query, network)


def _check_options(
    method: str | None, threshold: float | None, groups: int, *, is_difference: bool
) -> None:
    if method not in (None, *TILTABLE_METHODS):
        raise LacunetError(
            f"method is {method!r}, but must be one of {', '.join(TILTABLE_METHODS)}."
        )
    is_number = isinstance(threshold, Real)
    lowest, what = (-1, "difference of two") if is_difference else (0, "probability")
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


def _compared(
    network: Network,
    look: Look,
    question: Question,
    method: Literal["direct-mar", "em"] | None,
    within: Sequence[str] | None,
    graph: MissingnessGraph | None,
) -> tuple[Literal["direct-mar", "em"], Scope, tuple[str, ...]]:
    """How and within what hidden values are compared, and words on what was not asked for.

    Groups are as given, or by what decides on being shown and by the parents of the variable: these
    tell most of its hidden values, and data that hardly show whether they decide would else leave
    them out. Shares of rows need variables that every row shows; EM takes others too, and is the
    default where one of them bears on the answer.
    """
    mechanism, hidden = question.mechanism, look.hidden(network)
    others = [name for name in network.variables if name != mechanism]
    words = []
    if graph is not None:
        causes = [cause for cause in graph.causes[mechanism] if isinstance(cause, str)]
        listed = ", ".join(map(named, graph.causes[mechanism])) or "nothing"
        return (
            "em",
            tuple(causes),
            (
                f"Method em on the missingness graph, by which {listed} "
                f"{'decide' if len(causes) > 1 else 'decides'} whether {mechanism} is shown.",
            ),
        )
    parents = network.parents(mechanism)
    if within is None:
        usable = tuple(n for n in others if method != "direct-mar" or n not in hidden)
        learned = parents_among(network, look.sampled(MOST_ROWS), mechanism, usable)
        always = [name for name in parents if name not in hidden]
        within = (*learned, *always)
        words.append(_on_groups(mechanism, learned, always))
    partly = [name for name in within if network.known(name) in hidden]
    if partly and method == "direct-mar":
        raise LacunetError(
            f"{partly[0]!r} is missing in some rows.",
            "shares are of groups by variables that every row shows; method='em' (--method em) "
            "takes others too.",
        )
    if any(term.do for term in question.terms):
        if method == "direct-mar":
            raise LacunetError(
                "method 'direct-mar' compares shares of rows, which do not say what do(...) does.",
                "method='em' (--method em) answers it by the network.",
            )
        method = "em"
        words.append("Method em: what do(...) does, the network says.")
    if method is None:
        children = [name for name in others if mechanism in network.parents(name)]
        bearing = {*question.variables, *within, *parents, *children} - {mechanism}
        missed = [name for name in others if name in bearing and name in hidden]
        method = "em" if missed else "direct-mar"
        words.append(_on_method(mechanism, missed))
    rule = network.not_asked_of.get(mechanism)
    asked_by = {name for name in (rule.scope if rule else ()) if name not in hidden}
    groups = tuple(name for name in others if name in {*within, *asked_by})
    return method, groups, tuple(words)


def _on_groups(mechanism: str, learned: Sequence[str], parents: Sequence[str]) -> str:
    """Why hidden values are compared within these groups."""
    rest = [name for name in parents if name not in learned]
    parts = []
    if learned:
        seems = "seem" if len(learned) > 1 else "seems"
        what = f"{seems} to decide whether {mechanism} is shown (learned from the data)"
        parts.append(f"{', '.join(learned)} {what}")
    if rest:
        noun = "are parents" if len(rest) > 1 else "is a parent"
        parts.append(f"{', '.join(rest)} {noun} of {mechanism} in the network")
    groups = ", ".join(parts) or f"none, nothing seems to decide whether {mechanism} is shown"
    return f"Groups: {groups}; within=[...] (--within) names others."


def _on_method(mechanism: str, missed: Sequence[str]) -> str:
    """Why hidden values are compared by this method."""
    if missed:
        has = "have" if len(missed) > 1 else "has"
        return (
            f"Method em, since {first_of(missed, 3)} {has} missing values too: the whole network "
            "is learned for every tilt, and all that a row shows is evidence about its hidden "
            f"{mechanism}."
        )
    return "Method direct-mar: shares of rows are compared, group by group."


def _model(
    network: Network,
    look: Look,
    question: Question,
    within: Scope,
    graph: MissingnessGraph | None,
    learned: Result | None,
) -> TiltedModel:
    """The network with the mechanism that is tilted."""
    partially = look.hidden(network)
    if graph is not None and learned is not None:
        return tilted_model_on_graph(graph, question, partially, learned.mechanisms)
    never_without: Scope = ()
    if not {*partially}.isdisjoint(within):
        patterns = PatternCounts.of(look.sampled(MOST_ROWS))
        never_without = shown_wherever_it_matters(patterns, partially)[question.mechanism]
    return tilted_model(network, question, within, partially, never_without)


def _columns(network: Network, question: Question, others: Scope) -> Scope:
    """The columns of which distinct rows are counted."""
    return tuple(name for name in network.variables if name in {*question.variables, *others})


def _graph(
    missingness: MissingnessGraph | str | PathLike[str] | None,
    network: Network,
    data: Data,
    question: Question,
    within: Sequence[str] | None,
    method: str | None,
) -> MissingnessGraph | None:
    """The missingness graph, if there is one, without what the tilt says."""
    if missingness is None:
        return None
    if within is not None or method == "direct-mar":
        what = "within" if within is not None else "method='direct-mar'"
        raise LacunetError(
            f"{what} and missingness cannot be used together.",
            "the graph says what decides on being shown, and EM on the graph is the method.",
        )
    graph = graph_of(missingness, network).hiding(data.latent)
    return _without_tilted(graph, question.mechanism)


def _without_tilted(graph: MissingnessGraph, variable: str) -> MissingnessGraph:
    """The graph whose mechanism of a variable does not depend on its own hidden values."""
    if graph.selection is not None:
        raise LacunetError(
            "the missingness graph says that rows are a selection (R[*]), which tilts cannot take.",
            "leave R[*] out of the graph, and weight the rows instead.",
        )
    causes = {name: [*nodes] for name, nodes in graph.causes.items()}
    causes.setdefault(variable, [])
    causes[variable] = [cause for cause in causes[variable] if cause != variable]
    return graph.with_parts(causes=causes)


def _check_shown(mechanism: str, statistics: Statistics) -> None:
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
    near: dict[float, FloatArray] = {}
    near_alone: dict[float, FloatArray] = {}

    def tilted(
        sample: Statistics, near: Mapping[float, FloatArray], *, alone: bool = False
    ) -> TiltedRows:
        assert sample.problems is not None
        engine = engine_of(sample.problems, setting.memory)
        layout = engine.problems.layout
        pseudo = flat_pseudo_counts(setting.used_pseudo_counts, layout)
        if alone:
            rows = CptRows.of(layout)
            sums = np.repeat(np.add.reduceat(pseudo, rows.begins), rows.lengths)
            pseudo = TRACE * quotient(pseudo, sums)
        return TiltedRows(engine, start, question, pseudo, model, near)

    whole = tilted(statistics.sample(0), near)
    alone = tilted(statistics.sample(0), near, alone=True)
    for done, delta in enumerate(deltas):
        setting.progress("tilts", done, len(deltas))
        near[delta] = whole.cells(delta)
        near_alone[delta] = alone.cells(delta)
    logs = tuple(float(whole.engine.log_likelihoods(near[delta]).sum()) for delta in deltas)
    by_rows_alone = partial(tilted, near=near_alone, alone=True)
    return partial(tilted, near=near), by_rows_alone, logs


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


def _intervals(
    probabilities: FloatArray,
    by_rows: FloatArray,
    scales: FloatArray,
    degrees: float,
    rows: Sequence[float],
    *,
    by_design: bool,
) -> FloatArray:
    """Low and high for every tilt; replicates that have no answer are left out.

    They are made around what the rows alone answer, and stretched to hold the answer. Of
    ``by_rows`` the first are the probabilities of all rows, the others those of replicates, all
    for every tilt and each term. Where all replicates answer alike, ``rows`` say how many rows are
    behind each term.
    """
    whole, replicates = settled(by_rows[0], TRACE), by_rows[1:]
    has_answer = np.isfinite(replicates).all(axis=(1, 2))
    replicates, scales = replicates[has_answer], scales[has_answer]

    def varies(again: FloatArray, rates: FloatArray) -> FloatArray:
        variance = replicate_variance(again, scales, rates if by_design else None)
        return np.where(variance < FLAT**2, 0.0, variance)

    ends, variances = [], []
    for term, behind in enumerate(rows):
        rates, variance = whole[:, term], varies(replicates[..., term], whole[:, term])
        table = probabilities[:, term]
        table, rates = (np.stack([values, 1 - values], axis=-1) for values in (table, rates))
        both = np.repeat(variance[:, None], 2, axis=1)
        spread = replace(Spread.of_variance(table, rates, both, behind), degrees=degrees)
        ends.append(spread.interval()[:, 0])
        variances.append(variance)
    if len(rows) == 1:
        return ends[0]
    apart = varies(replicates[..., 0] - replicates[..., 1], whole[:, 0] - whole[:, 1])
    return of_difference(probabilities, np.stack(ends, axis=1), np.stack(variances, axis=-1), apart)


def _checked(
    network: Network,
    look: Look,
    terms: Sequence[AskedTerm],
    mechanism: str,
    tilted_state: object,
) -> Question:
    hidden = look.hidden(network)
    hint = f"write {' or '.join(f'mechanism={name!r}' for name in hidden[:3])} (--mechanism)."
    hint = hint if hidden else "no variable has missing values."
    if not isinstance(mechanism, str):
        raise LacunetError(
            f"mechanism is {mechanism!r}, but must be the name of one variable.",
            hint,
        )
    if network.known(mechanism) not in hidden:
        raise LacunetError(
            f"{mechanism!r} is never missing, so the answer does not depend on its hidden values.",
            hint,
        )
    named: list[tuple[str, str, dict[str, object], dict[str, object]]] = []
    for target, state, evidence, do in terms:
        seen, done = evidence_written(network, evidence), evidence_written(network, do)
        if target in seen:
            raise LacunetError(
                f"{target!r} is both asked about and given.", "ask about another one."
            )
        named.append((target, state_named(network, target, state), seen, done))
        if not do:
            _refuse_decided(network, target, named[-1][1], seen)
    warn_of_undirected(network, dict.fromkeys(name for term in terms for name in term.do))
    target, state, seen, _ = named[0]
    asked = {target: state, **seen}
    rule = network.not_asked_of.get(mechanism)
    answers = [
        answer for answer in network.states(mechanism) if rule is None or answer != rule.state
    ]
    tilted = asked[mechanism] if asked.get(mechanism) in answers else answers[-1]
    if tilted_state is not None:
        tilted = state_named(network, mechanism, tilted_state)
    if tilted not in answers:
        raise LacunetError(
            f"{tilted!r} is not an answer that somebody who was asked could hide.",
            f"tilt one of {', '.join(answers)}.",
        )
    question: Question | None = None
    for target, state, seen, done in reversed(named):
        question = Question(target, state, seen, mechanism, tilted, done, less=question)
    assert question is not None
    return question


def _share_without_data(network: Network, question: Question, budget: int) -> float:
    """The share of the answer that rests on CPT rows without data; of two the larger.

    An intervention that a hidden common cause of the network's graph confounds is refused.
    """
    shares = []
    for term in question.terms:
        check_confounding(network, [(term.target,)], term.evidence, term.do)
        after, evidence = after_doing(network, term.evidence, term.do)
        shares.append(posed(after, [(term.target,)], evidence, budget).shares[0] or 0.0)
    return max(shares)


def _refuse_decided(
    network: Network, target: str, state: str, evidence: Mapping[str, object]
) -> None:
    """Refuse a question that a rule of what was not asked decides."""
    scope = (*evidence, target)
    possible = network.can_occur(scope)
    places = places_seen(network, evidence)
    cells = possible[np.ix_(*places.values(), range(network.cardinality(target)))]
    left = np.asarray(cells.any(axis=tuple(range(len(places)))))
    index = network.state_index(target, state)
    if 1 <= left.sum() < len(left) and (left.sum() == 1 or not left[index]):
        raise LacunetError(
            f"what was not asked decides this question: the answer is {int(left[index])}, whatever "
            "the hidden values are.",
            "ask about states that no rule decides.",
        )


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


def _on_no_tilt(result: Sensitivity, graph: MissingnessGraph | None) -> str:
    """The answer without a tilt."""
    assumption = "values are missing at random" if graph is None else "the missingness graph holds"
    answer = f"{result.question} is {result.answers[result.deltas.index(0.0)]:.3g}"
    return f"If {assumption}, {answer}."


def _on_answer(result: Sensitivity, shares: TiltedShares, named: bool) -> Iterator[str]:
    """How far tilts move the answer; by EM a prior has odds where rows have none.

    ``named`` says that the user gave the threshold.
    """
    question, threshold = result.question, result.threshold
    low, high = result.answers.min(), result.answers.max()
    is_flat = high - low < FLAT
    what, state = question.mechanism, question.tilted_state
    bounds = "lacunet.worst_case gives bounds that assume nothing."
    limit = f"{threshold:.3g}"
    if not named:
        limit += f" (an end of its {interval_in_words(0.95)} at delta 0)"
    if is_flat and shares.unmoved == 1:
        yield (
            f"A tilt cannot say more: of the shown values of {what} that hidden ones are compared "
            f"with, none or all are {state}, and odds of zero stay zero. {bounds}"
        )
        return
    if result.tipping_point is None:
        yield (
            f"No tilt of the hidden values of {what} takes the answer to {limit}: it stays between "
            f"{low:.3g} and {high:.3g}."
        )
    else:
        times = exp(result.tipping_point)
        ratio = f"{times:.3g} times" if times >= 1 else f"1/{1 / times:.3g} of"
        yield (
            f"The answer would cross {limit} if the odds of a hidden {assigned(what, state)} were "
            f"{ratio} those of a shown one; over these tilts it lies between {low:.3g} and "
            f"{high:.3g}."
        )
    if shares.unmoved and (result.method != "em" or is_flat):
        yield (
            f"No tilt moves {shares.unmoved:.1%} of the hidden values of {what}: of the shown ones "
            f"that they are compared with, none or all are {state}. {bounds}"
        )


def _on_rows(
    result: Sensitivity,
    tilted: TiltedShares | TiltedRows,
    shares: TiltedShares,
    rows: Rows,
    bare: float | None,
) -> Iterator[str]:
    """What the answer lacks; ``bare`` is the share of CPT rows without data, None but for EM."""
    if tilted.lost > 0:
        yield f"Nothing is known about {tilted.lost:.1%} of the rows: left out."
    if bare:
        yield f"{bare:.1%} of the answer rests on CPT rows without data."
    if bare is not None:
        return
    variables, mechanism, table = result.question.variables, result.question.mechanism, rows.table
    if shares.pooled > 0:
        yield (
            f"{shares.pooled:.1%} of the rows that the answer is about are in groups of which no "
            f"row shows {', '.join(variables)}: rows of other groups stand for them."
        )
    if others := [v for v in variables if v != mechanism and table.missing_of[v]]:
        yield (
            f"Of rows that hide one of {', '.join([mechanism, *others])}, what they show of the "
            "others is not used: answers may lie outside of those of worst_case. method='em' uses "
            "it (--method em)."
        )
    if table.cells_of_sets:  # EM takes them as they are
        yield sentence(note_on_sets(table.cells_of_sets))


def _on_dropout(question: Question, model: TiltedModel, rows: Rows) -> Iterator[str]:
    """How many hidden values have none that are shown to differ from."""
    is_hidden = ~rows.is_shown([question.mechanism])
    dropped = is_hidden & ~rows.is_shown(model.never_without)
    if share := float(rows.counts[dropped].sum() / rows.counts[is_hidden].sum()):
        yield (
            f"{share:.1%} of the hidden values of {question.mechanism} are in rows that hide "
            f"{' or '.join(model.never_without)} too, and no such row shows it: these are not "
            "tilted themselves, but like the values of all others with the same history."
        )


def _on_tilts(result: Sensitivity) -> str:
    """What the data say about the tilt itself."""
    words = "Rows alone cannot say which tilt is right."
    logs = result.log_likelihoods
    if not logs:
        return words
    fitting = [d for d, log in zip(result.deltas, logs, strict=True) if log > max(logs) - AS_GOOD]
    low, high = (f"{delta:+g}" if delta else "0" for delta in (fitting[0], fitting[-1]))
    which = f"only delta = {low} fits" if low == high else f"those from delta = {low} to {high} fit"
    which = "all fit" if len(fitting) == len(logs) else which
    mechanism = result.question.mechanism
    causes = ", ".join([mechanism, *result.within])
    return (
        f"{words} If the network's independences hold, and only {causes} may decide whether "
        f"{mechanism} is shown, of these tilts {which} the data."
    )
