"""Queries as they are typed: ``X,Y | do(W=w), Z="a, b"``.

A name or state is in quotes if it holds a comma, a bar or an equals sign. What is given may be

- a state, ``Age=60+``;
- one of several, ``Age in {40-59, 60+}``;
- a comparison, ``Age>=60``, where the states are numbers, intervals of them or periods of dates;
  two for both ends, ``Age>=20, Age<60``;
- likelihoods of the states, ``Test ~ {pos: 0.8, neg: 0.2}`` (see `lacunet.data.evidence`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from lacunet.errors import LacunetError
from lacunet.text import assigned, finite_number, listed, quotes_blanked, separated

if TYPE_CHECKING:
    from lacunet.network.network import Network

_PROBABILITY = re.compile(r"[Pp]r?\(")
_ARITHMETIC = re.compile(r"\)\s*[-−+*/]\s*[Pp]r?\(")
_AND = re.compile(r"\s*(?:;|&+|\band\b)\s*")
_DO = re.compile(r"(?:^|,)\s*do\s*\(")
_BRACES = re.compile(r"\s*(?:\bin|~)\s*\{")
_UNEQUAL = re.compile(r"\s*(?:!=|≠)")


class Typed(NamedTuple):
    """The parts of a query: what is asked about, what is given, and what is done."""

    target: list[str]
    given: list[str]
    do: list[str]


class AskedQuery(NamedTuple):
    """A query whose variables and states the network has.

    ``states`` are those of the target that are asked about; all of them for other variables.
    ``each`` and ``each_do`` are variables that are given or done without a state: in each of them.
    """

    target: Sequence[str]
    given: Mapping[str, object]
    do: Mapping[str, object]
    states: Mapping[str, str]
    each: Sequence[str] = ()
    each_do: Sequence[str] = ()


def is_query(text: str) -> bool:
    """Whether a text says more than the name of a variable.

    Examples
    --------
    >>> is_query("P(Ill)"), is_query("Ill | Age=old"), is_query("Ill")
    (True, True, False)
    """
    return _PROBABILITY.match(text.lstrip()) is not None or "|" in text or "=" in text


def parse_query(text: str, network: Network) -> AskedQuery:
    """What is asked, given and done, if the network has it.

    Examples
    --------
    >>> from lacunet.network.network import Network
    >>> network = Network({"Age": ["young", "old"], "Ill": ["no", "yes"]})
    >>> parse_query("P(Ill | Age=old)", network)
    AskedQuery(target=['Ill'], given={'Age': 'old'}, do={}, states={}, each=[], each_do=[])
    >>> parse_query("P(Ill=yes)", network).states, parse_query("P(Ill | Age)", network).each
    ({'Ill': 'yes'}, ['Age'])
    """
    typed = split_query(text)
    if not typed.target:
        raise LacunetError(
            f"the query {text!r} names no variable to ask about.", 'as in "Ill,Test|Age=old".'
        )
    names, states = names_and_states(typed.target, network)
    for name in names:
        network.known(name)
    given, each = _states_and_names(typed.given, network)
    do, each_do = _states_and_names(typed.do, network)
    behind = [*given, *do, *each, *each_do]
    for name in dict.fromkeys([*each, *each_do]):
        if name in names or behind.count(name) > 1:
            raise LacunetError(f"the query {text!r} names {name!r} more than once.")
    return AskedQuery(target=names, given=given, do=do, states=states, each=each, each_do=each_do)


def as_probability(text: str) -> str:
    """A query within ``P(...)``, as it is or put there.

    >>> as_probability("Ill, Test | Age=old"), as_probability("P(Ill)")
    ('P(Ill, Test | Age=old)', 'P(Ill)')
    """
    return text if _PROBABILITY.match(text.lstrip()) else f"P({text})"


def _has_arithmetic(text: str) -> bool:
    """Whether a sign stands between two probabilities, rather than within the name of a state.

    >>> _has_arithmetic("P(X=a) - P(X=b)"), _has_arithmetic("P(X=f(1)-P(2))")
    (True, False)
    """
    for sign in _ARITHMETIC.finditer(text):
        before = text[: sign.start() + 1]
        if before.count("(") == before.count(")"):
            return True
    return False


def split_query(text: str) -> Typed:
    """What is left and right of the bar, and within ``do(...)``.

    Examples
    --------
    >>> split_query(' X , "a|b" | Z ')
    Typed(target=['X', 'a|b'], given=['Z'], do=[])
    >>> split_query("P(X | do(V=1, W=c(d)), Z=a)")
    Typed(target=['X'], given=['Z=a'], do=['V=1', 'W=c(d)'])
    >>> split_query('X | Z="1 day, 0:00:00"')
    Typed(target=['X'], given=['Z=1 day, 0:00:00'], do=[])
    >>> split_query('X | Y=a, Z in {b, "c, d"}')
    Typed(target=['X'], given=['Y=a', 'Z in {b, "c, d"}'], do=[])
    """
    inside = _inside_probability(text.strip())
    before, bar, _ = quotes_blanked(inside).partition("|")
    position = len(before)
    if not bar and '"' not in inside and len(parts := re.split(r"\s+given\s+", inside)) == 2:
        raise LacunetError(
            f"the query {inside!r} has the word given.",
            f"write a bar: {' | '.join(parts)!r}. (A name that holds the word stands in quotes.)",
        )
    given, do = _without_do(inside[position + 1 :])
    return Typed(split_at_commas(inside[:position]), split_at_commas(given), split_at_commas(do))


def _inside_probability(text: str) -> str:
    """What stands within ``P(...)``; the text itself where it is written without."""
    if not _PROBABILITY.match(text):
        return text
    if not text.endswith(")"):
        raise LacunetError(f"the query {text!r}: P( is not closed.", f"write {text + ')'!r}.")
    if _has_arithmetic(quotes_blanked(text)):
        raise LacunetError(
            f"the query {text!r} is about several probabilities.",
            "ask each by itself; differences and ratios of interventions are "
            "result.effect('Y', do='X') (lacunet effect), and sensitivity takes a difference.",
        )
    return text.partition("(")[2][:-1]


def _without_do(text: str) -> tuple[str, str]:
    """What is given without its ``do(...)``, and what stands within that."""
    unquoted = quotes_blanked(text)
    begin = _DO.search(unquoted)
    if begin is None:
        return text, ""
    depth = 1
    for position in range(begin.end(), len(text)):
        depth += (unquoted[position] == "(") - (unquoted[position] == ")")
        if not depth:
            rest = [text[: begin.start()], text[position + 1 :].strip().removeprefix(",")]
            given, more = _without_do(",".join(part for part in rest if part.strip()))
            return given, ",".join(filter(None, [text[begin.end() : position], more]))
    raise LacunetError(f"the query {text.strip()!r}: do( is not closed.", 'as in "Y | do(X=yes)".')


def split_at_commas(text: str) -> list[str]:
    """What commas separate, without the spaces around it."""
    unquoted = quotes_blanked(text)
    parts = list[str]()
    begin = 0
    while braces := _BRACES.search(unquoted, begin):
        close = unquoted.find("}", braces.end())
        if close < 0:
            raise LacunetError(
                f"the query {text.strip()!r}: {{ is not closed.", 'as in "Y | X in {a, b}".'
            )
        # What stands in braces stays as it is typed: its commas do not separate parts.
        *before, name = separated(text[begin : braces.start()])
        parts += [*before, f"{name}{text[braces.start() : close + 1]}"]
        begin = close + 1
        if rest := unquoted[begin:].strip():
            if not rest.startswith(","):
                raise LacunetError(f"the query {text!r} cannot be read: write a comma behind }}.")
            begin = unquoted.index(",", begin) + 1
    if text[begin:].strip() or (begin and unquoted[begin - 1] == ","):
        parts += separated(text[begin:])
    if not all(parts):
        raise LacunetError(f"the query {text!r} cannot be read: give names separated by commas.")
    return parts


def states_in(parts: Sequence[str], network: Network) -> dict[str, str]:
    """``["X=x", "Y=y"]`` as a mapping, if the network has these variables and states.

    A name may hold ``=`` itself, and a state the spaces around it or a comma, as intervals do. A
    number stands for the interval that holds it, a code for what it means. An interval that begins
    with a comparison needs no further ``=``.

    Examples
    --------
    >>> from lacunet.network.network import Network
    >>> ages = Network({"Age": ["<40", "[40,60)", ">=60"]}, cuts={"Age": [0, 40, 60, 99]})
    >>> states_in(split_at_commas("Age=[40,60)"), ages), states_in(["Age=50"], ages)
    ({'Age': '[40,60)'}, {'Age': '[40,60)'})
    >>> states_in(["Age>=60"], ages), states_in(["Age <40"], ages)
    ({'Age': '>=60'}, {'Age': '<40'})
    """
    from lacunet.data.evidence import codes_seen

    state_of = evidence_in(parts, network)
    seen = codes_seen(network, state_of, otherwise="")
    return {name: network.states(name)[index] for name, index in seen.items()}


def evidence_in(parts: Sequence[str], network: Network) -> dict[str, object]:
    """What is given, as a query takes it: states, lists of them, comparisons, likelihoods.

    Examples
    --------
    >>> from lacunet.network.network import Network
    >>> network = Network({"Age": ["0-39", "40-59", "60+"], "Test": ["neg", "pos"]})
    >>> evidence_in(split_at_commas("Age in {40-59, 60+}, Test ~ {pos: 0.8, neg: 0.2}"), network)
    {'Age': ['40-59', '60+'], 'Test': {'pos': 0.8, 'neg': 0.2}}
    """
    given, bare = _states_and_names(parts, network)
    for name in bare:
        states = network.states(name)
        hint = f"name it: {assigned(name, states[-1])}; its states are {list(states)}."
        raise LacunetError(f"{name!r} needs a state here.", hint)
    return given


def _states_and_names(
    parts: Sequence[str], network: Network
) -> tuple[dict[str, object], list[str]]:
    """What is given of variables, as in `evidence_in`, and those that stand without a state."""
    state_of: dict[str, object] = {}
    bare: list[str] = []
    compared: set[str] = set()  # given by a comparison: another one may give the other end
    following = list(parts)
    while following:
        part = following.pop(0)
        if part in network.states_of:
            bare.append(part)
            continue
        name = _variable_of(part, network)
        text = part[len(name) :].lstrip()
        is_comparison = text.startswith(("<", ">"))
        is_other_end = is_comparison and name in compared
        if name in state_of and not is_other_end:
            raise LacunetError(f"the query names {name!r} more than once.")
        if _BRACES.match(text):
            state_of[name] = _in_braces(text, network, name)
            continue
        state, taken = _state(text.removeprefix("="), following, network, name)
        del following[:taken]
        state_of[name] = _in_both(network, name, state_of[name], state) if is_other_end else state
        if is_comparison:
            compared.add(name)
    return state_of, bare


def _variable_of(part: str, network: Network) -> str:
    """The variable that a part gives a state; of several whose names fit, the longest."""
    known = [name for name in network.variables if _is_about(part, name)]
    if known:
        return max(known, key=len)
    if unequal := re.match(r"(.+?)\s*(?:!=|≠)(.*)", part):
        name = network.known(unequal[1])
        others = _all_but(network, name, unequal[2].strip())
        raise LacunetError(
            f"{part!r}: a query knows no 'not equal'.",
            f"write {assigned(name, others if len(others) > 1 else others[0])}.",
        )
    name = part.partition("=")[0].rstrip("> ").strip()
    before = name.partition(">")[0].strip()
    if before in network.states_of:
        name = before
    states = network.states(network.known(name)) if name else ()
    cut = "; a number stands for its interval" if name in network.cuts_of else ""
    hint = ""
    if states:
        hint = f"as in {name}={states[0]}; its states are {[*states]}{cut}."
    raise LacunetError(f"{part!r} is not of the form VARIABLE=STATE.", hint)


def _all_but(network: Network, name: str, value: str) -> list[str]:
    """The states that a value does not mean; of what means none, all."""
    from lacunet.data.evidence import places_seen

    try:
        places = places_seen(network, {name: value}).get(name, ())
    except LacunetError:
        places = ()
    states = network.states(name)
    return [state for index, state in enumerate(states) if index not in places] or list(states)


def _in_both(network: Network, name: str, first: object, second: object) -> list[str]:
    """The states that two comparisons leave."""
    from lacunet.data.evidence import places_seen

    states = network.states(name)
    either = [places_seen(network, {name: value}).get(name, ()) for value in (first, second)]
    both = [states[index] for index in either[0] if index in either[1]]
    if not both:
        ends = f"{assigned(name, first)} and {assigned(name, second)}"
        raise LacunetError(
            f"no state of {name!r} is left by {ends}.",
            f"its states are {listed(states)}.",
        )
    return both


def names_and_states(parts: Sequence[str], network: Network) -> tuple[list[str], dict[str, str]]:
    """``["X", "Y=y"]`` as names, and the states of those that were typed with one."""
    names: list[str] = []
    states: dict[str, str] = {}
    for written in parts:
        is_bare = len(written) > 1 and written[0] == written[-1] == "'"
        part = written[1:-1] if is_bare and written not in network.states_of else written
        has_state = {"=", "<", ">"} & set(part) or _BRACES.search(part)
        if part in network.states_of or not has_state:
            names.append(part)
        elif _BRACES.search(part) or _UNEQUAL.search(part):
            raise LacunetError(
                f"{part!r} is asked about, but that may be one state or the whole variable.",
                "ask for the variable, and add up its states; several of them may stand behind "
                "the bar.",
            )
        else:
            state_of = states_in([part], network)
            states |= state_of
            names += state_of
    return names, states


def _state(text: str, following: Sequence[str], network: Network, name: str) -> tuple[str, int]:
    """The state that is meant, and how many of the following parts are a piece of it."""
    from lacunet.data.evidence import states_and_likelihoods

    states = network.states(name)
    by_name = _state_by_name(text, following, states)
    if by_name is not None:
        return by_name
    bare = text.strip()
    first, *clauses = _AND.split(text)
    if clauses and all(
        any(_is_about(clause, other) for other in network.variables) for clause in clauses
    ):
        meant = ", ".join([f"{name}={first.strip()}", *clauses])
        raise LacunetError(f"{name}={bare} cannot be read.", f"write {meant}: with commas.")
    code_of, likelihoods = states_and_likelihoods(network, {name: bare}, otherwise="")
    if name in likelihoods:
        return bare, 0
    if name not in code_of:
        raise LacunetError(
            f"{name}={bare} means that {name!r} is missing.",
            f"leave it out, or give one of its states: {listed(states)}.",
        )
    return states[code_of[name]], 0


def _state_by_name(
    text: str, following: Sequence[str], states: Sequence[str]
) -> tuple[str, int] | None:
    """The state with this name, and how many of the following parts its commas cut off."""
    state_of = {state: state for state in states}
    state_of |= {"".join(state.split()): state for state in states}
    for taken in range(len(following) + 1):
        whole = ",".join([text, *following[:taken]])
        bare = whole.strip().removeprefix("=").strip()  # of X==x
        if bare[:1] == bare[-1:] == "'":
            bare = bare[1:-1]
        for written in (whole, whole.strip(), "".join(whole.split()), bare):
            if written in state_of:
                return state_of[written], taken
    return None


def _is_about(part: str, name: str) -> bool:
    rest = part[len(name) :]
    begins = rest.lstrip().startswith(("=", ">", "<")) or _BRACES.match(rest)
    return part.startswith(name) and bool(begins)


def _in_braces(text: str, network: Network, name: str) -> list[str] | dict[str, float]:
    """The states that stand in braces, or the likelihood of each."""
    inside = text[text.index("{") + 1 : -1]
    items = separated(inside) if inside.strip() else []
    if text.startswith("~"):
        return _likelihoods(items, network, name)
    states: list[str] = []
    while items:
        state, taken = _state(items.pop(0), items, network, name)
        states.append(state)
        del items[:taken]
    if not states:
        raise LacunetError(
            f"{name} in {{}} names no state.",
            f"as in {assigned(name, list(network.states(name)))}.",
        )
    return states


def _likelihoods(items: Sequence[str], network: Network, name: str) -> dict[str, float]:
    """``["pos: 0.8", "neg: 0.2"]`` as a mapping; a state may hold commas, as intervals do."""
    likelihoods: dict[str, float] = {}
    pieces: list[str] = []
    for item in items:
        before, colon, after = item.rpartition(":")
        number = finite_number(after)
        if not colon or number is None:
            pieces.append(item)
            continue
        state, _ = _state(",".join([*pieces, before]).strip(), (), network, name)
        if state in likelihoods:
            raise LacunetError(f"the query names the state {state!r} of {name} more than once.")
        likelihoods[state] = number
        pieces = []
    if pieces or not items:
        example = dict.fromkeys(network.states(name), 0.5)
        raise LacunetError(
            f"{name} ~ {{{', '.join(items)}}} has no likelihood for each of the states it names.",
            f"as in {assigned(name, example)}.",
        )
    return likelihoods
