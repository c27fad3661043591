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
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lacunet.data.table import Codes, EncodedTable, SetsOf
from lacunet.model.dictionary import NotAsked
from lacunet.model.network import Network


@dataclass
class Skips:
    """One variable's rule, applied piece by piece; it remembers what contradicted it.

    ``can_hold`` and ``can_fail`` say for each combination of codes of the rule's variables
    whether some states that they allow make it hold, or not.
    """

    name: str
    rule: NotAsked
    sizes: Sequence[int]  # codes of each of the rule's variables
    can_hold: NDArray[np.bool_]
    can_fail: NDArray[np.bool_]
    states: int  # of the variable
    skip: int  # the place of the state for those who were not asked
    holds_skip: NDArray[np.bool_]  # whether each code of the variable allows that state
    holds_rest: NDArray[np.bool_]  # whether it allows all others
    contradicted: int = 0
    first: int | None = None  # row, from 0
    _rows: int = 0

    def applied(self, columns: Mapping[str, Codes]) -> Codes:
        """The codes of the variable as `filled` gives them; what contradicts is remembered."""
        codes = columns[self.name]
        holds, fails = self._verdicts(columns)
        is_odd = (holds & ~self.holds_skip[codes]) | (fails & (codes == self.skip))
        if is_odd.any():
            if self.first is None:
                self.first = self._rows + int(np.argmax(is_odd))
            self.contradicted += int(is_odd.sum())
        self._rows += len(codes)
        return self._filled(codes, holds, fails)

    def filled(self, columns: Mapping[str, Codes], unseen: Collection[str] = ()) -> Codes:
        """The codes of the variable, with the state where the question was not asked.

        Parameters
        ----------
        unseen
            Variables that the rule takes as missing.
        """
        return self._filled(columns[self.name], *self._verdicts(columns, unseen))

    def fails(self, columns: Mapping[str, Codes]) -> NDArray[np.bool_]:
        """Whether each row shows that the question was asked."""
        return self._verdicts(columns)[1]

    def implied(self, columns: Mapping[str, Codes]) -> NDArray[np.bool_]:
        """Whether each row's cell, missing or not, says no more than the rule does."""
        codes, (holds, fails) = columns[self.name], self._verdicts(columns)
        return (holds & self.holds_skip[codes]) | (fails & self.holds_rest[codes])

    def _verdicts(
        self, columns: Mapping[str, Codes], unseen: Collection[str] = ()
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Whether the rule holds, and whether it fails, in each row."""
        scope, missing = self.rule.scope, self.rule.truth.shape
        codes = [
            np.full_like(columns[name], code) if name in unseen else columns[name]
            for name, code in zip(scope, missing, strict=True)
        ]
        cell = np.ravel_multi_index(tuple(codes), tuple(self.sizes))
        return ~self.can_fail[cell], ~self.can_hold[cell]

    def _filled(self, codes: Codes, holds: NDArray[np.bool_], fails: NDArray[np.bool_]) -> Codes:
        kind = codes.dtype.type
        is_bare = fails & ((codes == self.skip) | (codes > self.states) & self.holds_rest[codes])
        return np.where(holds, kind(self.skip), np.where(is_bare, kind(self.states), codes))


def by_rules(
    skips: Sequence[Skips], columns: Mapping[str, Codes], unseen: Collection[str] = ()
) -> dict[str, Codes]:
    """All columns with the rules applied; ``unseen`` variables are missing to the rules."""
    found = dict(columns)
    for own in skips:
        found[own.name] = own.filled(found, unseen)
    return found


def ruled(network: Network, table: EncodedTable) -> EncodedTable:
    """The table with a network's rules applied by all variables."""
    columns = by_rules(skips_of(network, table.sets_of), table.columns)
    return table.with_columns(table.cardinality_of, columns)


def without_implied(network: Network, table: EncodedTable, asked: Collection[str]) -> EncodedTable:
    """The table without cells that say no more than rules do, so that nothing hangs on them.

    A cell stays where one of its descendants is shown, or ``asked`` about: that looks at its state.
    """
    is_idle: dict[str, NDArray[np.bool_]] = {}
    skips = {own.name: own for own in skips_of(network, table.sets_of)}
    columns = dict(table.columns)
    for name in reversed(network.order if skips else ()):
        codes, missing = table.columns[name], table.cardinality_of[name]
        is_open = codes == missing
        if name in skips:
            is_open = is_open | skips[name].implied(table.columns)
        below = [own for child, own in is_idle.items() if name in network.parents_of[child]]
        is_idle[name] = np.logical_and.reduce([is_open, *below]) & (name not in asked)
        columns[name] = np.where(is_idle[name], codes.dtype.type(missing), codes)
    return table.with_columns(table.cardinality_of, columns) if skips else table


def skips_of(network: Network, sets_of: SetsOf) -> list[Skips]:
    """The rules of a network, parents before children."""
    allowed = {
        name: allowed_states(network.cardinality(name), sets_of.get(name, ()))
        for name in network.variables
    }
    found = []
    for name in network.order:
        rule = network.not_asked_of.get(name)
        if rule is None:
            continue
        can_hold, can_fail = rule.truth, ~rule.truth
        for axis, other in enumerate(rule.scope):
            can_hold = _some(can_hold, axis, allowed[other])
            can_fail = _some(can_fail, axis, allowed[other])
        skip = network.state_index(name, rule.state)
        states, own = network.cardinality(name), allowed[name]
        sizes = [len(allowed[other]) for other in rule.scope]
        found.append(
            Skips(
                name,
                rule,
                sizes,
                can_hold.ravel(),
                can_fail.ravel(),
                states,
                skip,
                own[:, skip],
                np.asarray(np.delete(own, skip, axis=1).all(axis=1)),
            )
        )
    return found


def allowed_states(states: int, sets: Sequence[tuple[int, ...]]) -> NDArray[np.bool_]:
    """Whether each code (a state, missing, sets) allows each state."""
    in_sets = [np.isin(np.arange(states), own)[None] for own in sets]
    plain = np.eye(states, dtype=bool), np.ones((1, states), dtype=bool)
    return np.concatenate([*plain, *in_sets])


def _some(truth: NDArray[np.bool_], axis: int, allowed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether it is true for some state that each code allows, along one axis."""
    moved = np.moveaxis(truth, axis, 0)
    some = (allowed.astype(np.int64) @ moved.reshape(len(moved), -1)) > 0
    return np.moveaxis(some.reshape(len(allowed), *moved.shape[1:]), 0, axis)
