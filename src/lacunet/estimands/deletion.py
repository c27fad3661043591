r"""The estimands of the closed forms: sums of products of factors.

An estimand is a sum, over some fully observed variables, of products of conditionals, each
estimated among the rows that show what it mentions. Factored deletion has several products
for the same quantity, one for each order of the chain rule, and merges them. ``R[X]=1``
reads "the row shows X".
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import islice, permutations
from math import factorial

from lacunet.estimands.notation import Notation, Readable
from lacunet.estimands.samples import Sample, Writer
from lacunet.estimands.terms import Factor
from lacunet.model.network import Scope
from lacunet.model.nodes import Mechanism

ALL_ORDERS = 3


@dataclass(frozen=True)
class Estimand(Readable):
    """The estimate of ``P(left)``: a sum of products of factors.

    Rows are grouped by ``given``, and the sum runs over what of it is not in ``left``.
    ``orders`` holds the products; they estimate one thing and are merged. Where there are
    more than ``ALL_ORDERS``! of them, only the first two are spelled out; ``order_count``
    says how many there are.
    """

    left: Scope
    given: Scope
    orders: tuple[tuple[Factor, ...], ...]
    order_count: int = 1

    def written(self, notation: Notation) -> str:
        """The estimand in some notation."""
        writer = Writer(notation, visible={*self.left})
        left = notation.probability(map(notation.name, self.left))
        with writer.summing([name for name in self.given if name not in self.left]) as sign:
            product = notation.times.join(factor.written(writer) for factor in self.orders[0])
        merged = ""
        if self.order_count > 1:
            words = f" (one of {self.order_count:,} orders of the chain rule, merged)"
            merged = notation.words(words)
        return notation.block([f"{left}{notation.equal}{sign}{product}{merged}"])


def _factor(target: Scope, given: Scope, shown: Collection[str]) -> Factor:
    return Factor(target, given, Sample(tuple(map(Mechanism, shown))))


def listwise_estimand(left: Scope, partially: Collection[str], _given: Scope = ()) -> Estimand:
    """Only the rows that show every variable."""
    return Estimand(left, (), ((_factor(left, (), partially),),))


def direct_mcar_estimand(left: Scope, partially: Collection[str], _given: Scope = ()) -> Estimand:
    """The rows that show all of ``left``."""
    return Estimand(left, (), ((_factor(left, (), _among(left, partially)),),))


def factored_mcar_estimand(left: Scope, partially: Collection[str], _given: Scope = ()) -> Estimand:
    """Every order of the chain rule over ``left``."""
    return Estimand(left, (), _chain_rule(left, (), partially), factorial(len(left)))


def direct_mar_estimand(left: Scope, partially: Collection[str], given: Scope) -> Estimand:
    """The partially observed part of ``left`` given ``given``, weighted by P(given).

    ``given`` holds the fully observed part of ``left`` and the variables summed over.
    """
    hidden = _among(left, partially)
    if not hidden:
        return direct_mcar_estimand(left, partially)
    return Estimand(left, given, ((_factor(hidden, given, hidden), *_weight(given)),))


def factored_mar_estimand(left: Scope, partially: Collection[str], given: Scope) -> Estimand:
    """Every order of the chain rule over the partially observed part of ``left``."""
    hidden = _among(left, partially)
    if not hidden:
        return direct_mcar_estimand(left, partially)
    orders = _chain_rule(hidden, given, partially)
    weighted = tuple((*order, *_weight(given)) for order in orders)
    return Estimand(left, given, weighted, factorial(len(hidden)))


def _weight(given: Scope) -> tuple[Factor, ...]:
    return (_factor(given, (), ()),) if given else ()


def _chain_rule(
    left: Scope, given: Scope, partially: Collection[str]
) -> tuple[tuple[Factor, ...], ...]:
    """The orders of the chain rule: all of them, or the first two where there are too many."""

    def factor(target: str, rest: Scope) -> Factor:
        return _factor((target,), (*rest, *given), _among((target, *rest), partially))

    most = None if len(left) <= ALL_ORDERS else 2
    return tuple(
        tuple(factor(name, order[index + 1 :]) for index, name in enumerate(order))
        for order in islice(permutations(left), most)
    )


def _among(names: Sequence[str], partially: Collection[str]) -> Scope:
    return tuple(name for name in names if name in partially)
