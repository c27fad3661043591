"""Shares of rows by their values and their patterns: mechanisms as variables of a formula.

A mechanism is an axis with two values (0: missing, 1: shown) where a formula sums over it, and no
axis where it is 1 throughout.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from lacunet.counts.counts import quotient
from lacunet.missingness.formulas.samples import Mechanisms, Run, Sample, Writer
from lacunet.missingness.formulas.terms import Basis, Conditional, Term
from lacunet.network.named_axes import Table
from lacunet.network.nodes import Node, quoted


@dataclass(frozen=True)
class PatternShare(Term):
    r"""The share of the rows with some values that show some variables and have others.

    .. math:: P(a, R_T = 1 \mid b, R_S = 1)

    Both sides may have mechanisms, with two values.
    """

    shown: Mechanisms  # T
    selected: Mechanisms  # S

    def assumptions(self) -> Iterator[str]:
        """That some rows show what is needed."""
        if every := (*self.shown, *self.selected):
            named = ", ".join(quoted(mechanism.variable) for mechanism in every)
            yield f"some rows of each configuration show {named}"

    def written(self, writer: Writer) -> str:
        """A conditional probability."""
        notation = writer.notation
        left = [*map(writer.name, self.target), *map(notation.shown, self.shown)]
        right = [*writer.names(self.given), *map(notation.shown, self.selected)]
        return notation.probability(left, right)

    def compute(self, run: Run) -> Conditional:
        """The weight of the rows with all of it, divided by that of the rows with the conditions.

        It need not sum to one: other rows do not show the variables of ``shown``.
        """
        every = Sample(self.selected).weigh(run)
        both = Sample((*self.shown, *self.selected)).weigh(run)
        above = both.tabled((*self.given, *self.target))
        below = every.tabled(self.given)
        shares = quotient(above.array, below.aligned(above.scope), np.nan)
        table = Table(above.scope, shares)
        return Conditional(
            target=self.target,
            given=self.given,
            table=table,
            mass=below.shares(),
            basis=Basis.of(both),
        )


@dataclass(frozen=True)
class AtOne(Term):
    """Another term where mechanisms of its target are 1."""

    term: Term
    mechanisms: Mechanisms

    def written(self, writer: Writer) -> str:
        """The term, and that the mechanisms are 1."""
        notation = writer.notation
        shown = notation.with_commas(map(notation.shown, self.mechanisms))
        return notation.bracketed(f"{self.term.inner(writer)}{notation.words(' at ')}{shown}")

    def compute(self, run: Run) -> Conditional:
        """The second entry along the axes of the mechanisms."""
        result = self.term.compute(run)
        table = result.table
        gone = frozenset[Node](self.mechanisms)
        index = tuple(1 if name in gone else slice(None) for name in table.scope)
        left = tuple(name for name in table.scope if name not in gone)
        return replace(result, target=self.target, table=Table(left, table.array[index]))
