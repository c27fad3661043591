r"""What a sensitivity analysis is asked: a probability, or the difference of two, as it is typed.

The interval of a difference is put together from those of its probabilities (G. Zou and A. Donner,
2008): with the probabilities p and q, their ends l and u, and the correlation r of the two,

.. math::
    L = p - q - \sqrt{(p - l_p)^2 - 2 r (p - l_p)(u_q - q) + (u_q - q)^2},

and likewise the upper end.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from lacunet.counts.counts import quotient
from lacunet.data.query_text import evidence_in, split_query, states_in
from lacunet.errors import LacunetError
from lacunet.network.network import FloatArray, Network
from lacunet.text import quotes_blanked

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


def of_difference(
    probabilities: FloatArray, ends: FloatArray, variances: FloatArray, variance: FloatArray
) -> FloatArray:
    """Low and high of differences, from those of the two probabilities.

    Parameters
    ----------
    probabilities
        One row for each difference; the two probabilities in columns.
    ends
        Their intervals, on one more axis.
    variances, variance
        Those of the two probabilities, in columns, and of their differences.
    """
    covariance = (variances.sum(axis=1) - variance) / 2
    correlation = np.clip(quotient(covariance, np.sqrt(variances.prod(axis=1))), -1, 1)
    below = probabilities - ends[..., 0]
    above = ends[..., 1] - probabilities

    def reach(first: FloatArray, second: FloatArray) -> FloatArray:
        squared = first**2 - 2 * correlation * first * second + second**2
        return np.sqrt(np.maximum(squared, 0.0))

    middle = probabilities[:, 0] - probabilities[:, 1]
    low = middle - reach(below[:, 0], above[:, 1])
    high = middle + reach(above[:, 0], below[:, 1])
    return np.stack([low, high], axis=-1)
