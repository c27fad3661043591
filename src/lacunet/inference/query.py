"""What a network says about some variables, given others: `query` and `marginals`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from itertools import product
from math import prod
from types import MappingProxyType
from typing import Any, Literal

from lacunet.data.evidence import codes_seen, states_and_likelihoods
from lacunet.data.query_text import AskedQuery, evidence_in, is_query, parse_query
from lacunet.errors import LacunetError, as_level, warn
from lacunet.inference.answer import (
    DEFAULT_LEVEL,
    EDGES_AS_KNOWN,
    SEARCH_FALLS_SHORT,
    WITH_REPLICATES,
    Answer,
    AnswerBasis,
    Answers,
    answer_table,
    at_states,
    basis_of,
    resting,
    title,
)
from lacunet.inference.errors import QueryError, UnsupportedError
from lacunet.inference.joint import NO_EVIDENCE, JointQuestion, pose_question
from lacunet.inference.unsupported import bounds_over_bare_rows
from lacunet.limits import Memory
from lacunet.missingness.confounding import NOT_DESCRIBED, confounded_pair, hidden_cause
from lacunet.network.formats.files import AnyNetwork, as_learned, as_network
from lacunet.network.network import FloatArray, Network, Scope
from lacunet.network.nodes import quoted
from lacunet.text import assigned, first_of, separated

Unsupported = Literal["warn", "refuse", "bounds", "ignore"]
WAYS_WITH_UNSUPPORTED: tuple[Unsupported, ...] = ("warn", "refuse", "bounds", "ignore")
NOTED_SHARE = 0.001  # less than that cannot matter
# Answers in a warning, beside the one that rests most on CPT rows without data.
MAX_ANSWERS_IN_WARNING = 2
MAX_ANSWER_ROWS = 1000  # of an answer to what is given without a state


def query(
    network: AnyNetwork,
    target: str | Sequence[str],
    evidence: Mapping[str, object] = NO_EVIDENCE,
    *,
    do: Mapping[str, object] = NO_EVIDENCE,
    level: float = DEFAULT_LEVEL,
    unsupported: Unsupported = "warn",
    memory: Memory = None,
) -> Answer:
    """The joint distribution of the target given the evidence, P(target | evidence, do).

    It has one axis for each variable of the target. A target that is also evidence has probability
    one at the state seen.

    With ``do``, variables are set to states from outside: the edges into them are cut, and the
    evidence is what is seen afterwards (truncated factorisation). This is right only if there are
    no hidden common causes. A network that was learned with a missingness graph knows of those in
    the graph (``X <-> Y``). Where they matter to the answer, a query with ``do`` is refused, and
    one without ``do`` is answered with a warning.

    Parameters
    ----------
    network
        A network with CPTs, a result of learning, or the path or name of one.
    target
        The variables asked for; the axes of the answer are in this order. Or a query as it is
        written, ``"P(Ill | do(Drug=yes), Age=old)"``, which says what is seen and set too; of
        ``"P(Ill=yes)"`` the answer has that state alone, and ``float`` makes a number of it. Of
        ``"P(Ill | Age)"`` it has a row for each state of Age: variables behind the bar that have
        no state are the first axes of the answer, those asked for the last.
    evidence
        The states of the variables seen, written as in the data: 5 and "5" are the same state,
        None and NaN mean that the variable was not seen. In place of a state may stand several
        (``["40-59", "60+"]``: one of them), a comparison where states are numbers or intervals of
        numbers (``">=60"``), or how likely what was observed is in each state
        (``{"pos": 0.8, "neg": 0.2}``: likelihood or virtual evidence, which multiplies odds). A
        query that is written says ``Age in {40-59, 60+}``, ``Age>=60``,
        ``Test ~ {pos: 0.8, neg: 0.2}``.
    do
        The states that variables are set to from outside.
    level
        The level of the intervals, which the answer to a result has that was learned with
        intervals. They take much longer than the answer itself, so they are computed only when they
        are read or printed. They are made from the rows alone, around the answer without the
        prior's pseudo-counts, and stretched to hold the answer itself: it need not be in their
        middle.
    unsupported
        What to do where at least 0.1% of the answer rests on CPT rows that no data support:
        "warn", "refuse", or "ignore". With "bounds" the answer has the lowest and the highest
        value over all values that these CPT rows could have. The share itself is
        ``answer.unsupported`` in any case.
    memory
        The bytes that inference may take, or such as ``"500MB"``; by default half of the memory.

    Returns
    -------
    The probability of each state, which prints as a table: ``answer["yes"]`` is a number.

    Raises
    ------
    ImpossibleEvidenceError
        The evidence has probability zero.
    QueryError
        The query cannot be answered, such as one with ``do`` where hidden common causes matter.
    UnsupportedError
        The answer rests on CPT rows without data, and ``unsupported`` is "refuse".
    OverBudgetError
        Inference would take more memory; nothing was allocated.

    Warns
    -----
    LacunetWarning
        The answer rests on CPT rows without data; or ``do`` sets a variable of a learned structure
        at which the data do not tell the direction of an edge (``network.reversible``); or there
        are intervals, the edges were learned, and the intervals take them as known: they count the
        search where ``network.bootstrap`` has what it found in replicates of the rows. With ``do``
        they never do, and the answer says so where it is printed.

    Examples
    --------
    >>> rain = Network(
    ...     {"Rain": ["no", "yes"], "Wet": ["no", "yes"]},
    ...     {"Wet": ["Rain"]},
    ...     {"Rain": [0.8, 0.2], "Wet": [[0.9, 0.1], [0.2, 0.8]]},
    ... )
    >>> print(query(rain, "Rain", {"Wet": "yes"}))
    P(Rain | Wet=yes)
        no     yes
    0.3333  0.6667
    >>> round(query(rain, "Rain", {"Wet": "no"})["yes"], 4)
    0.0526
    >>> query(rain, "Rain", do={"Wet": "yes"})
    <P(Rain | do(Wet=yes)): no 0.8000, yes 0.2000>
    >>> round(query(rain, "P(Rain | Wet=no)")["yes"], 4)
    0.0526
    >>> round(float(query(rain, "P(Rain=yes | Wet=no)")), 4)
    0.0526
    >>> print(query(rain, "P(Rain | Wet)"))
    P(Rain | Wet)
    Wet      no     yes
    no   0.9474  0.0526
    yes  0.3333  0.6667
    """
    source = as_learned(network)
    model = as_network(source)
    check_choice(unsupported)
    _refuse_states_as_target(target, evidence)
    asked = _asked(model, target, evidence, do)
    cases = [*_cases(model, asked)]
    answers = [
        answer_query(
            source,
            asked.target,
            seen,
            do=done,
            states=asked.states,
            level=level,
            has_bounds=unsupported == "bounds",
            has_share=unsupported != "ignore",
            memory=memory,
        )
        for seen, done in cases
    ]
    seen, done = cases[0]  # all cases see and set the same variables
    check_confounding(model, [tuple(asked.target)], seen, done)
    bases = [*map(basis_of, answers)]
    if unsupported in ("warn", "refuse"):
        _object(bases, [answer.unsupported for answer in answers], unsupported)
    warn_of_undirected(model, [*asked.do, *asked.each_do])
    if bases[0].takes_edges_as_known and not done:
        warn(f"{EDGES_AS_KNOWN}{WITH_REPLICATES}.")
    if bases[0].search_falls_short:
        warn(f"{SEARCH_FALLS_SHORT}.")
    return _whole(answers, model, asked)


def _refuse_states_as_target(target: object, evidence: object) -> None:
    """Refuse a mapping in place of the names of variables."""
    if not isinstance(target, Mapping):
        return
    if not isinstance(evidence, Mapping):
        raise QueryError(
            "the arguments are swapped: the target comes first, then the evidence.",
            f"as in result.query({evidence!r}, {dict(target)!r}).",
        )
    raise QueryError(
        f"the target is {dict(target)!r}, but must be the names of variables: the states in "
        "it would not be looked at.",
        "name what is asked about; known states stand behind the bar, as in "
        "result.query('Ill | Age=old'), or in the evidence: result.query('Ill', "
        "{'Age': 'old'}).",
    )


def _cases(
    network: Network, asked: AskedQuery
) -> Iterator[tuple[Mapping[str, object], Mapping[str, object]]]:
    """What is seen and set in each row of the answer: one, unless something has no state."""
    names = [*asked.each_do, *asked.each]
    if not names:
        yield asked.given, asked.do
        return
    if (rows := prod(network.shape(names))) > MAX_ANSWER_ROWS:
        raise QueryError(
            f"the answer would have {rows:,} rows, one for each configuration of "
            f"{', '.join(names)}.",
            f"give states of some of them; it has {MAX_ANSWER_ROWS:,} rows at most.",
        )
    for states in product(*map(network.states, names)):
        state_of = dict(zip(names, states, strict=True))
        seen = {name: state_of[name] for name in asked.each}
        done = {name: state_of[name] for name in asked.each_do}
        yield {**asked.given, **seen}, {**asked.do, **done}


def _whole(answers: Sequence[Answer], network: Network, asked: AskedQuery) -> Answer:
    """The one answer, or the table of those to all states of what is given without one."""
    names = (*asked.each_do, *asked.each)
    if not names:
        return answers[0]
    target = [assigned(x, asked.states[x]) if x in asked.states else x for x in asked.target]
    written = title(target, asked.given, asked.do, asked.each, asked.each_do)
    return answer_table(answers, written, names, tuple(map(network.states, names)))


def answer_query(
    source: AnyNetwork,
    target: Sequence[str],
    evidence: Mapping[str, object],
    *,
    do: Mapping[str, object],
    level: float = DEFAULT_LEVEL,
    states: Mapping[str, str] = MappingProxyType({}),
    has_bounds: bool = False,
    has_share: bool = True,
    memory: Memory = None,
) -> Answer:
    """The answer of `query` to one case, without its warnings; at some states alone, if given.

    If it need not have the share without data, that is computed when it is read.
    """
    model, given = after_doing(as_network(source), evidence, do)
    question = pose_question(model, [tuple(target)], given, memory, shares=has_share)
    (table,) = question.answers
    (basis,) = _bases(question, do, has_shares=has_share)
    if has_bounds:
        basis = _with_bounds(basis, question)
    basis = _with_intervals(basis, source, evidence, do, as_level(level))
    return at_states(Answer(table, basis), states)


def _with_intervals(
    basis: AnswerBasis,
    source: AnyNetwork,
    evidence: Mapping[str, object],
    do: Mapping[str, object],
    level: float,
) -> AnswerBasis:
    """What an answer rests on with its intervals, which are computed when somebody reads them."""
    result: Any = source
    network = as_network(source)
    scope = basis.scope
    is_learned = result is not network and hasattr(result, "uncertainty")
    if not is_learned or result.uncertainty is None:
        return basis._replace(lacks_intervals=is_learned)
    uncertainty = result.uncertainty
    seen = dict(evidence)
    done = dict(do)

    @cache
    def spread() -> tuple[FloatArray, FloatArray]:
        estimate = uncertainty.query(scope, seen, done, network.support, network.bootstrap)
        return estimate.interval(level), estimate.standard_error

    # A structure that was learned has replicates, though perhaps none that can be used.
    is_structure_learned = network.bootstrap is not None
    counts_search = bool(network.bootstrap) and not do
    return basis._replace(
        level=level,
        spread=spread,
        takes_edges_as_known=is_structure_learned and not counts_search,
        is_credible=uncertainty.is_credible,
        search_falls_short=counts_search and result.search_falls_short,
    )


def _asked(
    network: Network,
    target: str | Sequence[str],
    evidence: Mapping[str, object],
    do: Mapping[str, object],
) -> AskedQuery:
    """What is asked, seen and set, where the target may be the text of it."""
    is_name = isinstance(target, str) and target in network.states_of
    if is_name or not isinstance(target, str) or not (is_query(target) or "," in target):
        return AskedQuery([target] if isinstance(target, str) else target, evidence, do, {})
    asked = parse_query(target, network)
    if any((asked.given, asked.do, asked.each, asked.each_do)) and (evidence or do):
        raise QueryError(
            f"the query {target!r} says what is given, and evidence or do says it again.",
            "say it in one of the two.",
        )
    return asked._replace(given=asked.given or evidence, do=asked.do or do)


def _bases(
    question: JointQuestion, do: Mapping[str, object], *, has_shares: bool
) -> list[AnswerBasis]:
    """What each answer is about, with the share of it that no data support.

    Without ``has_shares`` that is computed when it is read; what was calibrated is not kept for it.
    """
    written = question.written
    states_of = question.network.states_of
    later = question if has_shares else replace(question)  # a copy without its calibration

    def heading(scope: Scope) -> str:
        fixed = {name: state for name, state in written.items() if name in do}
        seen = {name: state for name, state in written.items() if name not in do}
        return title(scope, seen, fixed)

    def share(index: int) -> float | None:
        return later.shares[index]

    return [
        AnswerBasis(
            partial(heading, scope),
            scope,
            tuple([states_of[name] for name in scope]),
            question.shares[index] if has_shares else partial(share, index),
        )
        for index, scope in enumerate(question.scopes)
    ]


def _with_bounds(basis: AnswerBasis, question: JointQuestion) -> AnswerBasis:
    """What an answer rests on, with its bounds over all values of the CPT rows without data."""
    bounds, are_exact = bounds_over_bare_rows(question)
    return basis._replace(bounds=bounds, bounds_are_exact=are_exact)


BOUNDS = "unsupported='bounds' (--unsupported bounds)"


def _object(
    bases: Iterable[AnswerBasis], shares: Iterable[float | None], unsupported: Unsupported
) -> None:
    """Warn of what answers rest on, or refuse them; those that rest most on it are named."""
    both = zip(shares, bases, strict=True)
    noted = [(share, basis) for share, basis in both if share and share >= NOTED_SHARE]
    if not noted:
        return
    ((share, worst), *more) = sorted(noted, key=lambda pair: -pair[0])
    text = f"{worst.title}: {resting(share)}"
    if more:
        titles = [basis.title for _, basis in more]
        text += f"; so does part of {first_of(titles, MAX_ANSWERS_IN_WARNING)}"
    if unsupported == "refuse":
        raise UnsupportedError(
            f"{text}.",
            f"collect rows for them, or ask with {BOUNDS} for what they leave open.",
        )
    warn(f"{text}; {BOUNDS} shows how far they could move it.")


def marginals(
    network: AnyNetwork,
    evidence: Mapping[str, object] = NO_EVIDENCE,
    *,
    do: Mapping[str, object] = NO_EVIDENCE,
    variables: Sequence[str] | None = None,
    level: float = DEFAULT_LEVEL,
    unsupported: Unsupported = "warn",
    memory: Memory = None,
) -> Mapping[str, Answer]:
    """The distribution of every variable, or of some, given the evidence: P(X | evidence, do).

    All of them come from one calculation, which takes less time than a `query` for each.

    The ``unsupported`` of each answer is the share of it that rests on CPT rows without data. With
    ``unsupported="ignore"`` it is computed only when it is read.

    Parameters
    ----------
    network, evidence, do, level, unsupported, memory
        As in `query`; one warning names all answers that rest on CPT rows without data.
    variables
        The variables asked about; all of them if not given.

    Examples
    --------
    >>> coin = Network({"Coin": ["head", "tail"]}, tables={"Coin": [0.25, 0.75]})
    >>> print(marginals(coin)["Coin"])
    P(Coin)
      head    tail
    0.2500  0.7500
    """
    source = as_learned(network)
    checked_level = as_level(level)
    model = as_network(source)
    check_choice(unsupported)
    after, given = after_doing(model, evidence, do)
    warn_of_undirected(model, do)
    scopes = [(name,) for name in (model.variables if variables is None else variables)]
    has_shares = unsupported in ("warn", "refuse")
    question = pose_question(after, scopes, given, memory, shares=has_shares)
    check_confounding(model, scopes, evidence, do)
    tables = question.answers
    bases = _bases(question, do, has_shares=has_shares)
    if has_shares:
        _object(bases, question.shares, unsupported)
    if unsupported == "bounds":
        bases = [
            _with_bounds(basis, pose_question(after, [basis.scope], given, memory))
            for basis in bases
        ]
    bases = [_with_intervals(basis, source, evidence, do, checked_level) for basis in bases]
    return Answers(
        {basis.scope[0]: Answer(table, basis) for basis, table in zip(bases, tables, strict=True)}
    )


def after_doing(
    network: Network, evidence: Mapping[str, object], do: Mapping[str, object]
) -> tuple[Network, Mapping[str, object]]:
    """The network after an intervention, and all that is seen in it, what was done included."""
    check_mapping("evidence", evidence, network)
    check_mapping("do", do, network)
    if not do:
        return network, evidence
    if both := sorted(set(do) & set(evidence)):
        raise QueryError(
            f"{both[0]!r} is both in do and in the evidence.", "name it in one of the two."
        )
    fixed = codes_seen(network, do, otherwise="")
    if unset := [name for name in do if name not in fixed]:
        raise QueryError(f"do={{{unset[0]!r}: {do[unset[0]]!r}}} names no state.", "name one.")
    return network.intervened(fixed), {**evidence, **do}


def warn_of_undirected(network: Network, do: Iterable[str]) -> None:
    """Warn of edges at what is set whose direction the data do not tell.

    Only of a structure that was learned: other networks take their directions as known.
    """
    for name in do:
        beside = {end for edge in network.reversible if name in edge for end in edge} - {name}
        edges = [f"{quoted(name)} -- {quoted(end)}" for end in network.variables if end in beside]
        if edges:
            warn(
                f"the data do not tell the direction of {first_of(edges, 3)}; the other direction "
                f"may give another effect of {name}. Say what is known with learn_structure(..., "
                "required=, tiers=), or learn the CPTs of a network that you draw."
            )


def check_confounding(
    network: Network,
    scopes: Iterable[Scope],
    evidence: Mapping[str, object],
    do: Mapping[str, object],
) -> None:
    """Refuse an intervention that hidden common causes confound; warn of what they bend otherwise.

    Only of answers for which the network's own graph has a hidden cause that matters.
    """
    if network.mechanisms is None:
        return
    pair = _confounded_pair(network, scopes, evidence, do)
    if pair is None:
        return
    if not do:
        warn_of_hidden_cause(pair)
        return
    raise QueryError(
        f"{hidden_cause(pair)}, and the CPTs of a network do not tell what an intervention does "
        "then.",
        "graph.recover(..., do=[...]) decides whether the data do, and graph.effect(..., "
        "data=rows) estimates it; lacunet effect --missingness GRAPH.",
    )


def _confounded_pair(
    network: Network,
    scopes: Iterable[Scope],
    evidence: Mapping[str, object],
    do: Mapping[str, object],
) -> tuple[str, str] | None:
    """Two variables with a hidden common cause that matters to one of the answers, if any."""
    seen, likelihoods = states_and_likelihoods(network, evidence)
    # What is not certain blocks no path, and opens those that its state would.
    blocking = frozenset(seen)
    opening = frozenset({**seen, **likelihoods})
    for scope in scopes:
        for shown in dict.fromkeys([blocking, opening]):
            pair = confounded_pair(network, scope, shown, do.keys())
            if pair is not None:
                return pair
    return None


def warn_of_hidden_cause(pair: tuple[str, str]) -> None:
    """Warn of answers that depend on how two variables with a hidden common cause go together."""
    warn(f"{hidden_cause(pair)}: {NOT_DESCRIBED}.")


def check_mapping(name: str, value: object, network: Network) -> None:
    """Refuse what does not say which variables have which states."""
    if isinstance(value, Mapping):
        return
    # The hint has as a mapping what was typed as "A=a, B=b", or the variables that it names.
    written = separated(value) if isinstance(value, str) else value
    parts = [*map(str, written)] if isinstance(written, list | tuple | set) else []
    mapping: dict[str, object] = {}
    with suppress(LacunetError):
        mapping = evidence_in(parts, network)
    if not mapping:
        named = [v for v in network.variables if v in parts] or network.variables[-1:]
        mapping = {v: network.states(v)[-1] for v in named}
    raise QueryError(
        f"{name} is {value!r}, but must be a mapping of variables to states.",
        f"write it as {mapping!r}.",
    )


def check_choice(unsupported: str, choices: Sequence[str] = WAYS_WITH_UNSUPPORTED) -> None:
    """Refuse another word than those for what to do with answers that data do not support."""
    if unsupported not in choices:
        raise QueryError(
            f"unsupported={unsupported!r} is not known here.", f"choose among {', '.join(choices)}."
        )
