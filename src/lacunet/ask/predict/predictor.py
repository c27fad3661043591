"""A network made ready to predict some variables, for one row or for many: `compile`.

Rows come as codes, whoever read them. A few rows are asked as queries, whose plans are remembered;
many are divided into problems that are solved once (`lacunet.ask.predict.posteriors`), which takes
some milliseconds to begin.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from lacunet.ask.predict.posteriors import Posteriors, row_posteriors
from lacunet.ask.predict.rows_with_mechanisms import rows_with_mechanisms
from lacunet.ask.predict.unsupported_bounds import evidence_of, row_bounds
from lacunet.data.errors import DataWarning, clipped
from lacunet.data.evidence import states_and_sets
from lacunet.data.skipped_questions import Skips, apply_rules, by_rules, skips_of
from lacunet.data.table import EncodedTable, SetsOf, code_type
from lacunet.errors import LacunetError, warn
from lacunet.inference.answer import Answer
from lacunet.inference.errors import ImpossibleEvidenceError
from lacunet.inference.joint import pose_question
from lacunet.inference.query import marginals
from lacunet.limits import Memory
from lacunet.network.dictionary import sets_among
from lacunet.network.formats.files import AnyNetwork, as_network
from lacunet.network.mechanisms import with_nodes
from lacunet.network.network import Network
from lacunet.text import close_to, first_of, meaning_question
from lacunet.text_tables import Displayed

close_names = lru_cache(maxsize=1024)(close_to)  # rows come with the same columns
MAX_NAMES = 5  # of targets, in a line
MAX_ROWS_BY_QUERY = 8  # from more on, to solve them together is faster


@dataclass(frozen=True, eq=False, repr=False)
class Predictor(Displayed):
    """Predicts some variables for one row at a time, about as fast as a query; see `compile`."""

    network: Network
    targets: tuple[str, ...]
    _unseen: tuple[str, ...]  # targets that are no evidence, even in rows that show them
    _whole: Network  # with its mechanisms as nodes
    _sets_of: SetsOf  # what codes for one of several states may mean
    _skips: tuple[Skips, ...]  # the rules by which questions were not asked
    _memory: Memory

    def __repr__(self) -> str:
        return f"<Predictor of {first_of(self.targets, MAX_NAMES)}; call it with a row>"

    def _parts(self) -> list[str]:
        return [repr(self)[1:-1]]

    @classmethod
    def of(
        cls, network: Network, targets: Sequence[str], unseen: Sequence[str], memory: Memory
    ) -> Predictor:
        """A predictor of these targets, of which those ``unseen`` are never evidence."""
        network.cpt(network.variables[0])  # refused without CPTs, before the first row
        among = {
            name: sets_among(network.states(name), codes.values())
            for name, codes in network.codes_of.items()
        }
        sets_of = {name: sets for name, sets in among.items() if sets}
        return cls(
            network=network,
            targets=tuple(targets),
            _unseen=tuple(unseen),
            _whole=with_nodes(network),
            _sets_of=sets_of,
            # What was not asked is shown: its mechanism did not hide it.
            _skips=() if network.mechanisms is None else tuple(skips_of(network, sets_of)),
            _memory=memory,
        )

    def __call__(self, row: Mapping[str, object]) -> Mapping[str, Answer]:
        """The posterior of each target, given what the row shows of the other variables.

        Parameters
        ----------
        row
            A value for each column; None and NaN mean that it is missing. Columns that are not
            the network's have no part in it.

        Raises
        ------
        ImpossibleEvidenceError
            The network gives what the row shows the probability zero.
        """
        if not hasattr(row, "items"):  # a series of pandas has them, too
            raise LacunetError(
                f"a predictor takes one row as a mapping, not {clipped(row)}.",
                "give a value for each column: {'Age': 'old', 'Test': None}; for many rows, "
                "network.predict.",
            )
        cells = {name: value for name, value in row.items() if name in self.network.states_of}
        absent = [name for name in self.network.variables if name not in cells]
        if len(cells) < len(row):
            self._warn_of_slips(row, absent)
        (evidence,) = evidence_of(self._whole, self._shown(self._encoded(cells), absent))
        return marginals(
            self._whole,
            evidence,
            variables=self.targets,
            unsupported="ignore",  # each answer says it when it is printed
            memory=self._memory,
        )

    def _warn_of_slips(self, row: Mapping[str, object], absent: Sequence[str]) -> None:
        """Say which columns are taken for missing though one has nearly their name."""
        for name in row:
            if name in self.network.states_of or not isinstance(name, str):
                continue
            if meant := close_names(name, tuple(absent)):
                warn(
                    f"the column {name!r}, which the network does not have, is ignored: "
                    f"{meaning_question(meant)}",
                    DataWarning,
                )

    def posteriors(
        self,
        table: EncodedTable,
        absent: Collection[str] = (),
        *,
        shares: bool = False,
        logs: bool = False,
        bounds: bool = False,
    ) -> Posteriors:
        """The posteriors of the targets for each row; NaN in a row of probability zero.

        Parameters
        ----------
        table
            Rows of the network's variables; rules were applied with unseen targets as missing.
        absent
            Variables that the data have no column for.
        shares, logs, bounds
            Whether the shares that rest on CPT rows without data, the log-probabilities of the
            rows, and the bounds of the posteriors are wanted too.
        """
        network, memory = self.network, self._memory
        shown = self._shown(table, absent)
        if table.rows <= MAX_ROWS_BY_QUERY and not logs:
            posteriors = self._one_by_one(shown, shares=shares)
        else:
            posteriors = row_posteriors(self._whole, shown, self.targets, memory, shares=shares)
        if bounds:
            bounds_of = {
                name: row_bounds(self._whole, shown, name, memory) for name in self.targets
            }
            posteriors = replace(posteriors, bounds_of=bounds_of)
        if logs and (self._unseen or self._whole is not network):
            # Of all that the row shows, targets included; its pattern of missing cells is not.
            whole_rows = row_posteriors(network, apply_rules(network, table), (), memory)
            posteriors = replace(posteriors, log_probability=whole_rows.log_probability)
        return posteriors

    def _encoded(self, cells: Mapping[str, object]) -> EncodedTable:
        """One row as codes, with the rules applied to it."""
        seen, sets = states_and_sets(self.network, cells)
        columns: dict[str, Any] = {}
        for name, size in self.network.cardinality_of.items():
            code = seen.get(name, size)
            if name in sets:
                code = size + 1 + self._sets_of[name].index(sets[name])
            columns[name] = np.array([code], code_type(size, len(self._sets_of.get(name, ()))))
        implied = by_rules(self._skips, columns, self._unseen)
        for skips in self._skips:
            # Cells that show something stay, even those that contradict a rule.
            if skips.name not in seen and implied[skips.name][0] == skips.skip:
                columns[skips.name] = implied[skips.name]
        return EncodedTable(self.network.cardinality_of, columns, sets_of=self._sets_of)

    def _shown(self, table: EncodedTable, absent: Collection[str]) -> EncodedTable:
        """What the rows show that is evidence, mechanisms included."""
        _, rows = rows_with_mechanisms(self.network, table, absent, self._unseen, whole=self._whole)
        return rows.hiding(self._unseen) if self._unseen else rows

    def _one_by_one(self, table: EncodedTable, *, shares: bool) -> Posteriors:
        """The posteriors of a few rows, each asked as a query; without log-probabilities."""
        scopes = [(name,) for name in self.targets]
        nothing = np.full(table.rows, np.nan)
        of_target = {
            name: np.full((table.rows, self.network.cardinality(name)), np.nan)
            for name in self.targets
        }
        unsupported_of = {name: nothing.copy() for name in self.targets if shares}
        for row, evidence in enumerate(evidence_of(self._whole, table)):
            question = pose_question(self._whole, scopes, evidence, self._memory, shares=shares)
            with suppress(ImpossibleEvidenceError):  # whose row has NaN
                for name, answer in zip(self.targets, question.answers, strict=True):
                    of_target[name][row] = answer
                for name, row_shares in unsupported_of.items():
                    row_shares[row] = question.shares[self.targets.index(name)]
        return Posteriors(of_target, nothing, unsupported_of)


def compile(  # noqa: A001
    network: AnyNetwork, targets: str | Sequence[str], *, memory: Memory = None
) -> Predictor:
    """A predictor for single rows, such as a service gets.

    It does as much of the work as it can once and for all, and remembers what depends only on
    which columns a row shows. A row then takes about 0.1 ms more than a query.

    Parameters
    ----------
    network, targets, memory
        As in `predict`.

    Returns
    -------
    A function of one row, a mapping from columns to values. It gives the probabilities of the
    states of each target.

    Examples
    --------
    >>> rain = Network(
    ...     {"Rain": ["no", "yes"], "Wet": ["no", "yes"]},
    ...     {"Wet": ["Rain"]},
    ...     {"Rain": [0.75, 0.25], "Wet": [[0.75, 0.25], [0.25, 0.75]]},
    ... )
    >>> predictor = compile(rain, "Rain")
    >>> predictor({"Wet": "no", "Day": 3})["Rain"]["no"]
    0.9
    """
    network = as_network(network)
    names = checked_targets(network, targets)
    return Predictor.of(network, names, names, memory)


def checked_targets(network: Network, targets: str | Sequence[str]) -> tuple[str, ...]:
    """The names of the targets, each once and known to the network."""
    if isinstance(targets, Mapping):
        raise LacunetError(
            f"targets is {dict(targets)!r}, but must be the names of variables: the states in it "
            "would not be looked at.",
            "name what is to be predicted; known states are cells of the rows.",
        )
    if not isinstance(targets, Iterable):
        raise LacunetError(f"targets is {targets!r}, but must be a variable or a list of them.")
    names = (targets,) if isinstance(targets, str) else tuple(targets)
    if not names:
        raise LacunetError("there are no targets.", "name variables of the network to predict.")
    if len(set(names)) < len(names):
        raise LacunetError(f"a target is named twice in {list(names)}.", "name each once.")
    return tuple(map(network.known, names))
