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

from lacunet.missingness.formulas.notation import Notation, Readable
from lacunet.missingness.formulas.samples import Sample, Writer
from lacunet.missingness.formulas.terms import Factor, Product, SumOut, Term
from lacunet.network.network import Scope
from lacunet.network.nodes import Mechanism

MAX_IN_ALL_ORDERS = 3  # variables of which all orders are written down, 3! of them


@dataclass(frozen=True)
class Orders(Term):
    """One law by several products, one for each order of the chain rule.

    How their estimates are merged is up to the method.
    """

    products: tuple[Term, ...]  # one for each order, or the first two where there are too many
    number: int  # of orders

    def written(self, writer: Writer) -> str:
        """The first product, and of how many it is one."""
        words = f" (one of {self.number:,} orders of the chain rule, merged)"
        return self.products[0].written(writer) + writer.notation.words(words)


@dataclass(frozen=True)
class Estimand(Readable):
    """What a closed form estimates: the law of some variables, as a term over the rows."""

    term: Term
    given: Scope = ()  # what rows are grouped by

    def written(self, notation: Notation) -> str:
        """The estimand in some notation."""
        return self.term.equation(notation)


def _factor(target: Scope, given: Scope, shown: Collection[str]) -> Factor:
    return Factor(target, given, Sample(tuple(map(Mechanism, shown))))


def listwise_estimand(left: Scope, partially: Collection[str], _given: Scope = ()) -> Estimand:
    """Only the rows that show every variable."""
    return Estimand(_factor(left, (), partially))


def direct_mcar_estimand(left: Scope, partially: Collection[str], _given: Scope = ()) -> Estimand:
    """The rows that show all of ``left``."""
    return Estimand(_factor(left, (), _among(left, partially)))


def factored_mcar_estimand(left: Scope, partially: Collection[str], _given: Scope = ()) -> Estimand:
    """Every order of the chain rule over ``left``."""
    return _summed(left, (), _chain_rule(left, (), partially), factorial(len(left)))


def direct_mar_estimand(left: Scope, partially: Collection[str], given: Scope) -> Estimand:
    """The partially observed part of ``left`` given ``given``, weighted by P(given).

    ``given`` holds the fully observed part of ``left`` and the variables summed over.
    """
    hidden = _among(left, partially)
    if not hidden:
        return direct_mcar_estimand(left, partially)
    return _summed(left, given, [_factor(hidden, given, hidden)], 1)


def factored_mar_estimand(left: Scope, partially: Collection[str], given: Scope) -> Estimand:
    """Every order of the chain rule over the partially observed part of ``left``."""
    hidden = _among(left, partially)
    if not hidden:
        return direct_mcar_estimand(left, partially)
    return _summed(left, given, _chain_rule(hidden, given, partially), factorial(len(hidden)))


def _summed(left: Scope, given: Scope, orders: Sequence[Term], number: int) -> Estimand:
    """The sum, over what of ``given`` is not in ``left``, of each order weighted by P(given)."""
    if given:
        orders = [Product.of(order, _factor(given, (), ())) for order in orders]
    term = orders[0]
    if number > 1:
        term = Orders(term.target, (), tuple(orders), number)
    return Estimand(SumOut(left, (), term), given)


def _chain_rule(left: Scope, given: Scope, partially: Collection[str]) -> list[Term]:
    """The orders of the chain rule: all of them, or the first two where there are too many."""

    def chained(order: Scope) -> Term:
        first = order[:1]
        rest = order[1:]
        factor = _factor(first, (*rest, *given), _among(order, partially))
        if not rest:
            return factor
        return Product.of(factor, chained(rest))

    orders = permutations(left)
    if len(left) > MAX_IN_ALL_ORDERS:
        return [chained(order) for order in islice(orders, 2)]
    return [chained(order) for order in orders]


def _among(names: Sequence[str], partially: Collection[str]) -> Scope:
    return tuple(name for name in names if name in partially)
