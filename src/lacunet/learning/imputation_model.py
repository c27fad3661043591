"""What is learned for imputation, as users have it: a noun that completes rows."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from lacunet.data.donors import Donors
from lacunet.data.table import EncodedTable
from lacunet.learning.dense.augmentation import (
    COMPLETING_SWEEPS,
    SWEEPS_BETWEEN,
    WARM_SWEEPS,
)
from lacunet.learning.dense.dense_network import DenseNetwork
from lacunet.learning.dense.log_linear import Parameters
from lacunet.learning.result_json import as_json
from lacunet.network.arguments import clear_arguments
from lacunet.network.formats.errors import FormatError
from lacunet.network.formats.files import write_with_learned
from lacunet.network.network import Network
from lacunet.text import counted
from lacunet.text_tables import Displayed

if TYPE_CHECKING:
    from lacunet.ask.impute.impute import How
    from lacunet.limits import Memory

ENDINGS = (".json", ".json.gz")


@dataclass(frozen=True)
class DenseDraw:
    """What completes rows of one draw: a dense network with parameters of its own."""

    network: Network
    dense: DenseNetwork
    at: tuple[Parameters, ...]

    def completed(self, table: EncodedTable, rng: np.random.Generator) -> EncodedTable:
        """The rows with their missing cells drawn jointly."""
        return self.dense.completed(table, self.at, rng)

    def likeliest(self, table: EncodedTable) -> EncodedTable:
        """The rows with the likeliest state in each missing cell."""
        return self.dense.likeliest(table, np.random.default_rng(0))


@clear_arguments
@dataclass(frozen=True, repr=False, eq=False)
class ImputationModel(Displayed):
    """A dense network, learned to complete rows and for nothing else.

    Every variable is a child of all before it in a line, by a log-linear CPT whose effects are
    shrunk as far as the rows ask for, so that whatever an analysis asks about is in the completed
    rows. Such CPTs are never tables, and no query can be answered exactly: `impute` draws.

    ``network`` has the variables with their states and cut points and all edges, without CPTs;
    ``missing`` the number of rows that miss each variable; ``why`` how it was learned and how
    draws are made.
    """

    network: Network
    dense: DenseNetwork
    donors: Donors | None  # rows as they were observed, from which missing numbers are drawn
    rows: int
    missing: Mapping[str, int]
    left_out: tuple[str, ...]  # columns of the rows that are not variables
    kept_pairs: tuple[str, ...]
    seconds: float
    notes: tuple[str, ...]
    ended: str  # "all sweeps", or "time limit"

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """The edges, (parent, child)."""
        return self.network.edges

    @property
    def why(self) -> str:
        """How it was learned, and how draws are made."""
        parameters = counted(self.dense.effects, "effect")
        tables = counted(self.dense.tables, "table")
        sweeps = WARM_SWEEPS + len(self.dense.draws) * SWEEPS_BETWEEN
        text = (
            f"{counted(len(self.network.variables), 'variable')} in a line, those that miss least "
            f"first, each given the ones before it by a log-linear CPT: {parameters}, shrunk by "
            f"precisions that the rows choose, and {tables} of associations that effects do not "
            f"tell. Learned by data augmentation ({sweeps} sweeps): parameters and missing cells "
            f"drawn in turn, given each other; {counted(len(self.dense.draws), 'draw')} of the "
            "parameters kept. Completions are drawn by Gibbs sampling "
            f"({COMPLETING_SWEEPS} sweeps), each cell given all others of its row; one table by "
            "the mean parameters, several by a draw each. Values are taken to be missing at random "
            "given what their rows show."
        )
        if self.kept_pairs:
            text += f" Effects among {', '.join(self.kept_pairs)} are hardly shrunk."
        return text

    def impute(
        self,
        data: Any,
        draws: int | None = None,
        *,
        how: How = "draw",
        rng: np.random.Generator | int | None = None,
        proper: bool | None = None,
        memory: Memory = None,
    ) -> Any:
        """The data with every missing cell filled in, as `Network.impute` does.

        Parameters
        ----------
        data
            The rows that it was learned from, or others with the same columns.
        draws
            How many completed tables, to be analysed each and pooled by `lacunet.pool`; None for
            one.
        how
            ``"draw"``, or ``"most probable"``: each missing cell gets its likeliest state given
            what the row shows, cell by cell.
        rng
            A seed or a generator.
        proper
            Whether each table has parameters of its own, drawn from what the rows say of them;
            by default two tables or more have.
        memory
            The bytes that may be taken, or such as ``"500MB"``.
        """
        from lacunet.ask.impute.impute import impute

        return impute(self, data, draws, how=how, rng=rng, proper=proper, memory=memory)

    def draws(self, number: int, rng: np.random.Generator, *, proper: bool) -> Iterator[DenseDraw]:
        """What completes the rows of each of so many tables."""
        if not proper:
            for _ in range(number):
                yield DenseDraw(self.network, self.dense, self.dense.at)
            return
        for parameters in self.dense.drawn(number, rng):
            yield DenseDraw(self.network, self.dense, tuple(parameters))

    def write(self, path: str | os.PathLike[str], *, donors: bool = True) -> None:
        """Write all of it to a ``.json`` or ``.json.gz`` file, which `lacunet.read_result` reads.

        The file holds `donors`, which are rows as they were observed, with all their cells. Where
        rows must not be disclosed, give ``donors=False``.
        """
        name = os.fspath(path)
        if not name.lower().endswith(ENDINGS):
            raise FormatError(
                f"{name}: a network for imputation has CPTs that no other format can hold.",
                "write it to a .json file.",
            )
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "network"}
        if not donors:
            values["donors"] = None
        write_with_learned(self.network, as_json(self.network, values), path)

    def check(self) -> None:
        """Refuse what was read from a file and does not fit the network."""
        sizes = [scale.states for scale in self.dense.scales]
        wanted = [self.network.cardinality(name) for name in self.dense.line]
        if {*self.dense.line} != {*self.network.variables} or sizes != wanted:
            raise TypeError("the CPTs do not fit the network")
        if self.donors is not None:
            self.donors.check(self.network)

    def __repr__(self) -> str:
        variables = counted(len(self.network.variables), "variable")
        return f"<ImputationModel: {variables} from {counted(self.rows, 'row')}, {self.ended}>"

    def _parts(self) -> Iterator[str]:
        yield repr(self)
        yield self.why
        yield from self.notes
