"""Questions that were not asked: cells under a rule get the state for that.

A rule looks at the row's other cells, which may be missing or one of several states themselves. It
may therefore hold, not hold, or be open. Where it holds, a cell that shows nothing was not asked;
one that shows something else contradicts the rule. Where it does not hold, a cell that says "not
asked" does, and one that may be any other state shows nothing. What is open stays as it is: CPTs
that obey the rule do the rest.

What a rule says by a variable that is to be predicted would be that variable in other words. So a
rule can be applied as if some variables were missing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from lacunet.data.table import Codes, Columns, EncodedTable, SetsOf, allowed_states
from lacunet.network.network import Mask, Network


class Skips:
    """One variable's rule, applied piece by piece; it remembers what contradicted it.

    ``first`` is the first row (from 0) that did. ``allowed`` says which states each code of a
    variable allows.
    """

    def __init__(self, network: Network, name: str, allowed: Mapping[str, Mask]) -> None:
        self.name = name
        self.rule = network.not_asked_of[name]
        self.contradicted = self._rows = 0
        self.first: int | None = None
        self.states = network.cardinality(name)
        self.skip = network.state_index(name, self.rule.state)
        self._sizes = [len(allowed[other]) for other in self.rule.scope]
        # For each combination of codes of the rule's variables: do some states that they allow
        # make it hold, or not?
        self._can_hold, self._can_fail = (
            _some(truth, [allowed[other] for other in self.rule.scope]).ravel()
            for truth in (self.rule.truth, ~self.rule.truth)
        )
        # Does each code of the variable allow the state of who was not asked, and all others?
        self._holds_skip = allowed[name][:, self.skip]
        self._holds_rest = np.asarray(np.delete(allowed[name], self.skip, axis=1).all(axis=1))

    def applied(self, columns: Columns) -> Codes:
        """The codes of the variable as `filled` gives them; what contradicts is remembered."""
        codes = columns[self.name]
        holds, fails = self._verdicts(columns)
        is_odd = (holds & ~self._holds_skip[codes]) | (fails & (codes == self.skip))
        if is_odd.any():
            if self.first is None:
                self.first = self._rows + int(np.argmax(is_odd))
            self.contradicted += int(is_odd.sum())
        self._rows += len(codes)
        return self._filled(codes, holds, fails)

    def filled(self, columns: Columns, unseen: Collection[str] = ()) -> Codes:
        """The codes of the variable, with the state where the question was not asked.

        Parameters
        ----------
        unseen
            Variables that the rule takes as missing.
        """
        return self._filled(columns[self.name], *self._verdicts(columns, unseen))

    def fails(self, columns: Columns) -> Mask:
        """Whether each row shows that the question was asked."""
        return self._verdicts(columns)[1]

    def implied(self, columns: Columns) -> Mask:
        """Whether each row's cell, missing or not, says no more than the rule does."""
        codes = columns[self.name]
        holds, fails = self._verdicts(columns)
        return (holds & self._holds_skip[codes]) | (fails & self._holds_rest[codes])

    def _verdicts(self, columns: Columns, unseen: Collection[str] = ()) -> tuple[Mask, Mask]:
        """Whether the rule holds, and whether it fails, in each row."""
        scope = self.rule.scope
        missing = self.rule.truth.shape
        codes = [
            np.full_like(columns[name], code) if name in unseen else columns[name]
            for name, code in zip(scope, missing, strict=True)
        ]
        cell = np.ravel_multi_index(tuple(codes), tuple(self._sizes))
        return ~self._can_fail[cell], ~self._can_hold[cell]

    def _filled(self, codes: Codes, holds: Mask, fails: Mask) -> Codes:
        kind = codes.dtype.type
        is_bare = fails & ((codes == self.skip) | (codes > self.states) & self._holds_rest[codes])
        return np.where(holds, kind(self.skip), np.where(is_bare, kind(self.states), codes))


def by_rules(
    skips: Sequence[Skips], columns: Columns, unseen: Collection[str] = ()
) -> dict[str, Codes]:
    """All columns with the rules applied; ``unseen`` variables are missing to the rules."""
    filled = dict(columns)
    for skip in skips:
        filled[skip.name] = skip.filled(filled, unseen)
    return filled


def apply_rules(network: Network, table: EncodedTable) -> EncodedTable:
    """The table with a network's rules applied by all variables."""
    columns = by_rules(skips_of(network, table.sets_of), table.columns)
    return table.with_columns(table.cardinality_of, columns)


def without_implied(network: Network, table: EncodedTable, asked: Collection[str]) -> EncodedTable:
    """The table without cells that say no more than rules do, so that nothing hangs on them.

    A cell stays where one of its descendants is shown, or ``asked`` about: that looks at its state.
    """
    is_idle: dict[str, Mask] = {}
    skips = {skip.name: skip for skip in skips_of(network, table.sets_of)}
    columns = dict(table.columns)
    for name in reversed(network.order if skips else ()):
        codes, missing = table.columns[name], table.cardinality_of[name]
        is_open = codes == missing
        if name in skips:
            is_open = is_open | skips[name].implied(table.columns)
        below = [idle for child, idle in is_idle.items() if name in network.parents_of[child]]
        is_idle[name] = np.logical_and.reduce([is_open, *below]) & (name not in asked)
        columns[name] = np.where(is_idle[name], codes.dtype.type(missing), codes)
    return table.with_columns(table.cardinality_of, columns) if skips else table


def skips_of(network: Network, sets_of: SetsOf) -> list[Skips]:
    """The rules of a network, parents before children."""
    if not network.not_asked_of:
        return []
    allowed = {
        name: allowed_states(network.cardinality(name), sets_of.get(name, ()))
        for name in network.variables
    }
    return [Skips(network, name, allowed) for name in network.order if name in network.not_asked_of]


def _some(truth: Mask, allowed: Sequence[Mask]) -> Mask:
    """Whether it is true for some of the states that codes allow, an axis for each variable."""
    for axis, mask in enumerate(allowed):
        truth = np.moveaxis(np.tensordot(mask, truth, (1, axis)) > 0, 0, axis)
    return truth
