r"""Estimands as values: what is estimated, from which rows, in words and in LaTeX.

An estimand is a sum, over some fully observed variables, of products of conditionals, each
estimated among the rows that show what it mentions. Factored deletion has several products
for the same quantity, one for each order of the chain rule, and merges them. ``R[X]=1``
reads "the row shows X".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, permutations
from math import factorial

from lacunet.model.network import Scope

LONG_LIST = 6
ALL_ORDERS = 3


@dataclass(frozen=True)
class Factor:
    """``P(target | given)`` among the rows that show all of ``shown``.

    ``shown`` names only variables that are partially observed; the others always are.
    """

    target: Scope
    given: Scope
    shown: Scope

    @property
    def mentions(self) -> Scope:
        """The variables on both sides of the bar."""
        return (*self.target, *self.given)

    @property
    def text(self) -> str:
        """The factor in plain text."""
        condition = ", ".join([*_listed(self.given), *(f"R[{name}]=1" for name in self.shown)])
        return f"P({', '.join(self.target)}{' | ' if condition else ''}{condition})"

    @property
    def latex(self) -> str:
        """The factor in LaTeX."""
        shown = (rf"R_{{{latex_name(name)}}}=1" for name in self.shown)
        condition = ", ".join([*_listed(self.given, latex=True), *shown])
        bar = r" \mid " if condition else ""
        return rf"\Pr({', '.join(map(latex_name, self.target))}{bar}{condition})"


@dataclass(frozen=True)
class Estimand:
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

    @property
    def summed(self) -> Scope:
        """The variables the sum runs over."""
        return tuple(name for name in self.given if name not in self.left)

    @property
    def text(self) -> str:
        """The estimand in plain text."""
        total = f"sum over {', '.join(_listed(self.summed))} of " if self.summed else ""
        products = [" ".join(factor.text for factor in order) for order in self.orders]
        right = f"{total}{products[0]}"
        if self.order_count > 1:
            right += f" (one of {self.order_count:,} orders of the chain rule, merged)"
        return f"P({', '.join(self.left)}) = {right}"

    @property
    def latex(self) -> str:
        """The estimand in LaTeX."""
        summed = ", ".join(_listed(self.summed, latex=True))
        total = rf"\sum_{{{summed}}} " if self.summed else ""
        product = r" \, ".join(factor.latex for factor in self.orders[0])
        return rf"\Pr({', '.join(map(latex_name, self.left))}) \approx {total}{product}"


def latex_name(name: str) -> str:
    r"""A variable's name in LaTeX's mathematics.

    Examples
    --------
    >>> latex_name("X"), latex_name("blood_type")
    ('X', '\\mathrm{blood\\_type}')
    """
    special = {"\\": r"\backslash ", "~": r"\sim ", "^": r"\hat{\ }"}
    escaped = "".join(
        special.get(sign, f"\\{sign}" if sign in "_%&#${}" else sign) for sign in name
    )
    return escaped if len(name) == 1 else rf"\mathrm{{{escaped}}}"


def _listed(names: Sequence[str], latex: bool = False) -> list[str]:
    if len(names) > LONG_LIST:
        words = f"{len(names)} fully observed variables"
        return [rf"\text{{{words}}}" if latex else words]
    return [latex_name(name) for name in names] if latex else list(names)


def listwise_estimand(left: Scope, partially: Sequence[str]) -> Estimand:
    """Only the rows that show every variable."""
    factor = Factor(left, (), tuple(partially))
    return Estimand(left, (), ((factor,),))


def direct_mcar_estimand(left: Scope, partially: Sequence[str]) -> Estimand:
    """The rows that show all of ``left``."""
    factor = Factor(left, (), _among(left, partially))
    return Estimand(left, (), ((factor,),))


def factored_mcar_estimand(left: Scope, partially: Sequence[str]) -> Estimand:
    """Every order of the chain rule over ``left``."""
    return Estimand(left, (), _chain_rule(left, (), partially), factorial(len(left)))


def direct_mar_estimand(left: Scope, partially: Sequence[str], given: Scope) -> Estimand:
    """The partially observed part of ``left`` given ``given``, weighted by P(given).

    ``given`` holds the fully observed part of ``left`` and the variables summed over.
    """
    hidden = _among(left, partially)
    if not hidden:
        return direct_mcar_estimand(left, partially)
    factors = _with_weight([Factor(hidden, given, hidden)], given)
    return Estimand(left, given, (factors,))


def factored_mar_estimand(left: Scope, partially: Sequence[str], given: Scope) -> Estimand:
    """Every order of the chain rule over the partially observed part of ``left``."""
    hidden = _among(left, partially)
    if not hidden:
        return direct_mcar_estimand(left, partially)
    orders = _chain_rule(hidden, given, partially)
    weighted = tuple(_with_weight(order, given) for order in orders)
    return Estimand(left, given, weighted, factorial(len(hidden)))


def _with_weight(factors: Sequence[Factor], given: Scope) -> tuple[Factor, ...]:
    return (*factors, Factor(given, (), ())) if given else tuple(factors)


def _chain_rule(
    left: Scope, given: Scope, partially: Sequence[str]
) -> tuple[tuple[Factor, ...], ...]:
    """The orders of the chain rule: all of them, or the first two where there are too many."""

    def factor(target: str, rest: Scope) -> Factor:
        return Factor((target,), (*rest, *given), _among((target, *rest), partially))

    most = None if len(left) <= ALL_ORDERS else 2
    return tuple(
        tuple(factor(one, order[at + 1 :]) for at, one in enumerate(order))
        for order in islice(permutations(left), most)
    )


def _among(names: Sequence[str], partially: Sequence[str]) -> Scope:
    return tuple(name for name in names if name in partially)
