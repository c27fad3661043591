"""EM that reads the data once: the method and its options."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING

from lacunet.counts.look import Look
from lacunet.inference.engine import Inference
from lacunet.learning.closed_forms.forms import check_graph
from lacunet.learning.em.em_stage import climb_stage, start_stage
from lacunet.learning.em.restarts import Visit
from lacunet.learning.em.start import starting_form
from lacunet.learning.method_options import TIME_LIMIT_HELP, check_options, graph_option, option
from lacunet.learning.plan import RATE_MATRIX, MethodError, Plan, Stage
from lacunet.learning.pseudo_counts import ONE_PER_CELL, AskedPseudoCounts
from lacunet.limits import NEVER, Deadline
from lacunet.network.arguments import clear_arguments
from lacunet.network.network import Network

if TYPE_CHECKING:
    from lacunet.missingness.graph import MissingnessGraph


ALL_LOOPY = "em-bp"  # the name of EM whose expectations are all by loopy belief propagation


def parse_bool(text: str) -> bool:
    """Yes or no, as typed."""
    if text.lower() not in ("yes", "no", "true", "false"):
        raise MethodError(f"{text!r} is neither 'yes' nor 'no'.")
    return text.lower() in ("yes", "true")


@clear_arguments
@dataclass(frozen=True)
class EM:
    """Maximum a posteriori by expectation maximisation; "em-bp" is ``EM(inference="bp")``.

    Parameters
    ----------
    start
        Where to start: the name of a closed form, a network with CPTs, or "random". The paper's
        EM starts from "factored-mar", and ends in the same place.
    tolerance, max_iterations
        EM has converged when no parameter changes by more than ``tolerance``, and what its steps
        add up to from there is below a tenth of a standard error; it makes at most
        ``max_iterations`` iterations.
    restarts
        How many starts in total: the one of ``start``, then perturbed copies of it and random
        ones. The run with the highest posterior is kept. None makes several where an iteration
        is cheap, one where it is not.
    time_limit
        Seconds after which the best parameters so far are returned, reading the rows included.
        Intervals that it leaves too little time for are left out, with a note.
    inference
        "exact" leaves only components beyond the memory budget to loopy belief propagation,
        "bp" all of them.
    accelerate
        Whether steps towards convergence are extrapolated (Anderson acceleration).
    most_cells
        How many cells of large cliques an exact expectation may compute: components beyond that are
        left to loopy belief propagation, too.
    most_loopy_reads
        How many table cells a step by loopy belief propagation may read; beyond, EM makes none.
    visit
        Called with where EM is, at each start and after each iteration.
    missingness
        How values go missing: then the mechanisms are learned too, as observed nodes of the
        network, which is maximum likelihood under the graph.
    """

    start: str | Network = option(
        "factored-mcar", "where EM starts: a closed form, a network file, or 'random'", metavar="S"
    )
    tolerance: float = option(
        1e-4, "EM has converged if no parameter changes by more than this", kind=float, least=0
    )
    max_iterations: int = option(5_000, "maximum number of iterations", kind=int, least=0)
    restarts: int | None = option(
        None,
        "number of starts; the best posterior is kept (by default several if iterations are fast)",
        kind=int,
        least=1,
    )
    time_limit: float | None = option(None, TIME_LIMIT_HELP, kind=float, metavar="SECONDS", least=0)
    inference: Inference = option(
        "exact", "exact where memory allows, or loopy belief propagation", choices=("exact", "bp")
    )
    accelerate: bool = option(
        True,
        "whether steps towards convergence are extrapolated",
        kind=parse_bool,
        metavar="yes|no",
    )
    missingness: MissingnessGraph | None = graph_option()
    most_cells: float = field(default=inf, repr=False)
    most_loopy_reads: float = field(default=inf, repr=False)
    visit: Visit | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_options(self)
        if self.missingness is not None:
            check_graph(self.missingness)
        starting_form(self.start)  # refuses what cannot be started from

    @property
    def name(self) -> str:
        """The name of the method."""
        return ALL_LOOPY if self.inference == "bp" else "em"

    @property
    def bytes_per_cell(self) -> int:
        """What the estimate of a family takes at once for each of its cells."""
        return starting_form(self.start).bytes_per_cell

    def plan(
        self,
        network: Network,
        look: Look,
        pseudo_counts: AskedPseudoCounts = ONE_PER_CELL,  # noqa: ARG002
        deadline: Deadline = NEVER,
    ) -> Plan:
        """The closed form that EM starts from, if it does, then the climb; on the graph if any."""
        if self.missingness is not None:
            from lacunet.learning.em.on_missingness_graph import graph_plan

            return graph_plan(self, self.missingness, network, look, deadline)
        closed = start_stage(starting_form(self.start).stage(network, look))
        partially = look.hidden(network)
        climb = climb_stage(self, network, partially, closed)
        stages: tuple[Stage, ...] = (climb,)
        if self.starts_closed:
            stages = (closed, climb)
            begins = self.start
        elif self.start == "random":
            begins = "random CPTs"
        else:
            begins = "a given network"
        return Plan(
            method=self.name,
            network=network,
            partially=partially,
            stages=stages,
            bytes_per_cell=self.bytes_per_cell,
            recipe=RATE_MATRIX,
            intention=f"{self.name} starts from {begins}",
            stands=str(self.start) if self.stays_closed else "",
        )

    @property
    def starts_closed(self) -> bool:
        """Whether EM starts from a closed form."""
        return isinstance(self.start, str) and self.start != "random"

    @property
    def stays_closed(self) -> bool:
        """Whether EM starts from a closed form and may make no step from there."""
        return self.starts_closed and self.max_iterations == 0
