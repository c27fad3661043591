"""What a sensitivity analysis is asked: a probability, or the difference of two, as it is typed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from lacunet.ask.sensitivity.tilt import Question
from lacunet.data.evidence import evidence_written, places_seen, state_named
from lacunet.data.query_text import evidence_in, split_query, states_in
from lacunet.errors import LacunetError
from lacunet.inference.query import warn_of_undirected
from lacunet.network.network import Network, Scope
from lacunet.text import assigned, quotes_blanked

_QUERY = re.compile(r"\s*[Pp]r?\(|[^|]*\|")
# Without spaces only from P(...) to P(...). The second sign is that which word processors set.
_MINUS = re.compile(r"(?<=\))\s*[-−]\s*(?=[Pp]r?\()|\s+[-−]\s+")


class AskedTerm(NamedTuple):
    """``P(target = state | do, evidence)``."""

    target: str
    state: object
    evidence: Mapping[str, object]
    do: Mapping[str, object] = {}


def typed_terms(text: str, network: Network) -> tuple[AskedTerm, ...]:
    """The probability that a text asks for; of a difference the two, the subtracted one last.

    Examples
    --------
    >>> network = Network({"Drug": ["no", "yes"], "Ill": ["no", "yes"]}, {"Ill": ["Drug"]})
    >>> text = "P(Ill=yes | do(Drug=yes)) - P(Ill=yes | do(Drug=no))"
    >>> [term.do for term in typed_terms(text, network)]
    [{'Drug': 'yes'}, {'Drug': 'no'}]
    """
    return tuple(_typed_term(part, network) for part in _subtracted(text))


def _subtracted(text: str) -> tuple[str, ...]:
    """Both sides of a minus sign between two queries; else the text itself.

    A side is ``P(...)`` or has a bar: names and states may hold the sign too.
    """
    unquoted = quotes_blanked(text)
    for sign in _MINUS.finditer(unquoted):
        sides = unquoted[: sign.start()], unquoted[sign.end() :]
        are_closed = all(side.count("(") == side.count(")") for side in sides)
        if are_closed and all(_QUERY.match(side) for side in sides):
            return text[: sign.start()], text[sign.end() :]
    return (text,)


def _typed_term(text: str, network: Network) -> AskedTerm:
    """The target, its state, what is given and what is done in one query as it is typed."""
    typed = split_query(text)
    asked = states_in(typed.target, network)
    if len(asked) != 1:
        raise LacunetError(
            f"the query {text!r} asks for {len(asked)} states.",
            'ask for one, as in "Ill=yes|Age=old".',
        )
    ((target, state),) = asked.items()
    evidence = evidence_in(typed.given, network)
    do = states_in(typed.do, network)
    if both := [name for name in do if name in evidence or name == target]:
        raise LacunetError(
            f"{both[0]!r} is set by do(...) and named outside of it too.", "name it in one place."
        )
    return AskedTerm(target, state, evidence, do)


def asked_terms(network: Network, query: str) -> tuple[AskedTerm, ...]:
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


def question_of(
    network: Network,
    hidden: Scope,
    terms: Sequence[AskedTerm],
    mechanism: str,
    tilted_state: object,
) -> Question:
    """What is asked, with states as the network has them, and which state is tilted.

    Parameters
    ----------
    hidden
        The variables with missing values.
    terms
        The probability that is asked for; then the one that is subtracted, if there is one.
    mechanism
        The variable whose hidden values may differ from its shown ones.
    tilted_state
        The state whose odds differ. By default the one that the question names, else the last.
    """
    _check_mechanism(network, hidden, mechanism)
    question: Question | None = None
    # The last first: each holds the one that is subtracted from it.
    for term in reversed(terms):
        evidence = evidence_written(network, term.evidence)
        if term.target in evidence:
            raise LacunetError(
                f"{term.target!r} is both asked about and given.", "ask about another one."
            )
        state = state_named(network, term.target, term.state)
        if not term.do:
            _refuse_decided(network, term.target, state, evidence)
        question = Question(
            target=term.target,
            state=state,
            evidence=evidence,
            mechanism=mechanism,
            tilted_state="",
            do=evidence_written(network, term.do),
            less=question,
        )
    assert question is not None
    warn_of_undirected(network, dict.fromkeys(name for term in terms for name in term.do))
    return question.tilting(_state_to_tilt(network, question, tilted_state))


def _check_mechanism(network: Network, hidden: Scope, mechanism: str) -> None:
    hint = "no variable has missing values."
    if hidden:
        choices = " or ".join(f"mechanism={name!r}" for name in hidden[:3])
        hint = f"write {choices} (--mechanism)."
    if not isinstance(mechanism, str):
        raise LacunetError(
            f"mechanism is {mechanism!r}, but must be the name of one variable.", hint
        )
    if network.known(mechanism) not in hidden:
        raise LacunetError(
            f"{mechanism!r} is never missing, so the answer does not depend on its hidden values.",
            hint,
        )


def _state_to_tilt(network: Network, question: Question, tilted_state: object) -> str:
    """The state of the mechanism's variable whose odds differ."""
    mechanism = question.mechanism
    rule = network.not_asked_of.get(mechanism)
    answers = [state for state in network.states(mechanism) if rule is None or state != rule.state]
    if tilted_state is None:
        named = {**question.evidence, question.target: question.state}.get(mechanism)
        return named if isinstance(named, str) and named in answers else answers[-1]
    tilted = state_named(network, mechanism, tilted_state)
    if tilted not in answers:
        raise LacunetError(
            f"{tilted!r} is not an answer that somebody who was asked could hide.",
            f"tilt one of {', '.join(answers)}.",
        )
    return tilted


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
