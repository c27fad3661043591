"""What a missingness graph says of a query, and the estimate where it says yes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from lacunet.data.table import EncodedTable
from lacunet.estimands.compute import LARGEST_TABLE, Conditional, compute
from lacunet.estimands.rows import distinct_rows
from lacunet.estimands.terms import Fraction, Term, needed, scopes
from lacunet.estimands.weigh import Run
from lacunet.estimands.words import estimand_latex, estimand_text
from lacunet.missingness.errors import NoRowsError, NotRecoverableError
from lacunet.missingness.refute.witness import Witness
from lacunet.model.network import FloatArray, Network, Scope

if TYPE_CHECKING:
    from lacunet.missingness.graph import MissingnessGraph

Weight = str | ArrayLike | None  # a column, one weight for each row, or none
RECOVERABLE = "recoverable"
NOT_RECOVERABLE = "not recoverable"
UNDECIDED = "undecided"


@dataclass(frozen=True)
class Estimation:
    r"""An estimate of P(target | given) and what it rests on.

    ``table`` has the axes given... then target...; a configuration of ``given`` about which
    the data say nothing holds NaN, and ``unseen`` counts these. ``given_share`` is the share
    of each configuration of ``given`` among the weighted rows. ``effective_size`` is
    :math:`(\sum w)^2 / \sum w^2` over the inverse propensities of the rows used,
    ``largest_weight`` the largest of these, ``share_used`` the rows used among all rows.
    ``warnings`` name what backed off for lack of data.
    """

    target: Scope
    given: Scope
    table: FloatArray
    given_share: FloatArray
    effective_size: float
    largest_weight: float
    rows_used: int
    share_used: float
    unseen: int
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class Verdict:
    """Whether P(target | given) can be recovered, why, and by which estimand.

    ``status`` is "recoverable", "not recoverable" or "undecided". ``estimand`` and ``latex``
    are empty unless it is recoverable. ``witness`` holds two models that look the same and
    differ in the query, where such a pair is the reason.
    """

    graph: MissingnessGraph
    target: Scope
    given: Scope
    status: str
    why: str
    term: Term | None = None
    witness: Witness | None = None

    @property
    def query(self) -> str:
        """The query in words."""
        return query_words(self.target, self.given)

    def __str__(self) -> str:
        return f"{self.query} is {self.status}: {self.estimand or self.why}"

    @property
    def is_recoverable(self) -> bool:
        """Whether there is an estimand."""
        return self.term is not None

    @property
    def estimand(self) -> str:
        """The estimand as plain text."""
        return "" if self.term is None else estimand_text(self.term)

    @property
    def latex(self) -> str:
        """The estimand in LaTeX."""
        return "" if self.term is None else estimand_latex(self.term)

    def estimate(self, data: object, weight: Weight = None) -> FloatArray:
        """The table of P(target | given), axes given... then target..., without a prior.

        Raises
        ------
        NotRecoverableError
            The query is not recoverable, or no row shows what its estimand needs.
        """
        return self.estimate_with_report(data, weight).table

    def estimate_with_report(self, data: object, weight: Weight = None) -> Estimation:
        """The estimate together with what it rests on."""
        table = as_table(data, self.graph.network, weight)
        return estimate(self, table)


def query_words(target: Scope, given: Scope) -> str:
    """``P(target | given)``."""
    bar = f" | {', '.join(given)}" if given else ""
    return f"P({', '.join(target)}{bar})"


def as_table(data: object, network: Network, weight: Weight) -> EncodedTable:
    """The data as an encoded table, whatever they come as."""
    from lacunet.data.read import read_table

    return read_table(data, network, weight=weight)


def estimate(verdict: Verdict, table: EncodedTable) -> Estimation:
    """Carry out a verdict's estimand on a table."""
    term = verdict.term
    if term is None:
        raise NotRecoverableError.verdict(verdict.query, verdict.status, verdict.why)
    columns = [name for name in verdict.graph.network.variables if name in needed(term)]
    verdict.graph.check_mechanisms(table, columns)
    _check_size(verdict, term)
    run = Run(distinct_rows(table, columns))
    result = compute(run, term)
    if not result.rows_used or not result.mass.sum():
        raise _no_rows(verdict, term, columns)
    return _reported(verdict, result, table.rows, tuple(run.notes))


def _no_rows(verdict: Verdict, term: Term, columns: Sequence[str]) -> NoRowsError:
    """What should have been shown together, or in parts."""
    if isinstance(term, Fraction):
        together = [mechanism.variable for mechanism in term.sample.selected]
        return NoRowsError.query(verdict.query, together or columns)
    partial = [name for name in columns if name in verdict.graph.causes]
    return NoRowsError.parts(verdict.query, partial or columns)


def _check_size(verdict: Verdict, term: Term) -> None:
    network = verdict.graph.network
    cells = max(float(np.prod(network.shape(scope), dtype=float)) for scope in scopes(term))
    if cells > LARGEST_TABLE:
        raise NotRecoverableError.too_large(verdict.query, cells)


def _reported(
    verdict: Verdict, result: Conditional, rows: int, notes: tuple[str, ...]
) -> Estimation:
    wanted = (*verdict.given, *verdict.target)
    table = result.table.transpose([result.scope.index(name) for name in wanted])
    share = result.mass.transpose([result.given.index(name) for name in verdict.given])
    empty = np.isnan(table).any(axis=tuple(range(len(verdict.given), table.ndim)))
    return Estimation(
        verdict.target,
        verdict.given,
        np.array(table, order="C"),
        np.array(share, order="C"),
        result.effective_size,
        result.largest_weight,
        int(result.rows_used),
        result.rows_used / rows,
        int(np.count_nonzero(empty)),
        notes,
    )
