"""The road itself: a network and data in, a network with learned CPTs out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

import numpy as np

from lacunet.data.read import read_table
from lacunet.estimate.errors import MethodError
from lacunet.estimate.forecast import check_size
from lacunet.estimate.method import Ended, FamilyReport, Method, Task
from lacunet.estimate.registry import method_named
from lacunet.memory import memory_budget
from lacunet.missingness.graph import MissingnessGraph
from lacunet.model.network import Network
from lacunet.progress import Progress, silent
from lacunet.wording import counted


@dataclass(frozen=True, repr=False)
class Result:
    """What was learned, and what it rests on.

    ``network`` has the learned CPTs; ``families`` says of each variable's CPT which estimand
    it is, from how many rows, how much of it fell back and on what. ``ended`` tells how an
    iterative method ended, None for a closed form. ``why`` is the reason for the method,
    where the method was chosen and not given.
    """

    network: Network
    families: Mapping[str, FamilyReport]
    method: str
    rows: int
    total: float
    prior: float
    missing: Mapping[str, int]
    notes: tuple[str, ...]
    ended: Ended | None = None
    why: str = ""

    def __repr__(self) -> str:
        warnings = counted(len(self.warnings), "warning")
        cpts = counted(len(self.network.variables), "CPT")
        return f"<Result: {cpts} by {self.method} from {counted(self.rows, 'row')}, {warnings}>"

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings of all families, each with its variable."""
        return tuple(
            f"{name}: {warning}"
            for name, report in self.families.items()
            for warning in report.warnings
        )


def learn(
    network: Network,
    data: Any,
    method: str | Method = "auto",
    prior: float = 2.0,
    weight: Any = None,
    *,
    separator: Sequence[str] | None = None,
    missingness: MissingnessGraph | None = None,
    otherwise: str | None = None,
    aggregation: str | None = None,
    missing: Sequence[str] = (),
    unknown: Literal["error", "missing"] = "error",
    latent: Sequence[str] = (),
    rng: np.random.Generator | None = None,
    memory: int | None = None,
    progress: Progress = silent,
) -> Result:
    """Learn the CPTs of a network from data with holes.

    Parameters
    ----------
    network
        Structure and states; CPTs, if it has any, are not looked at.
    data
        A path or several, a dataframe of any library, an Arrow table, a DuckDB relation.
    method
        A method's name, or a method with its options.
    prior
        The concentration of the symmetric Dirichlet prior: 2 adds one pseudo-count a cell,
        1 none.
    weight
        The name of the column with the rows' weights, or the weights themselves.
    separator
        For informed methods: variables that separate missing values from their mechanisms.
    missingness
        For "mgraph" and the informed methods: how values go missing, as a graph.
    otherwise
        For "mgraph": what becomes of a family that cannot be recovered: "refuse", "prior", or
        a method's name.
    aggregation
        For factored methods: how the factorisations are merged.
    missing
        Further texts that mean "not observed".
    unknown
        What to do with values that are no states: refuse, or take them as missing.
    latent
        Variables that the data do not have.
    rng
        The source of randomness, for methods that use any.
    memory
        The budget in bytes; half of the machine's memory by default.
    progress
        Called as the work goes on.

    Raises
    ------
    LacunetError
        Something is wrong with the input; the message says what, where and the way out.
    """
    options = {
        "separator": separator,
        "missingness": missingness,
        "otherwise": otherwise,
        "aggregation": aggregation,
    }
    method = _checked(network, method, prior, options)
    budget = memory_budget(memory)
    check_size(network, method, budget)
    table = read_table(
        data,
        network,
        weight=weight,
        missing=missing,
        unknown=unknown,
        latent=latent,
        progress=progress,
    )
    task = Task(network, table, float(prior), rng or np.random.default_rng(0), budget, progress)
    learned = method.learn(task)
    return Result(
        network.with_tables(learned.tables),
        learned.families,
        method.name,
        table.rows,
        table.total,
        prior,
        table.missing_of,
        table.notes,
        learned.ended,
        learned.why,
    )


def _checked(
    network: Network, method: str | Method, prior: float, options: Mapping[str, Any]
) -> Method:
    """The method with its options, if what was given makes sense."""
    if not isinstance(network, Network):
        raise MethodError.not_a_network(network)
    if not (isinstance(prior, Real) and np.isfinite(float(prior)) and prior >= 1):
        raise MethodError.prior(prior)
    if isinstance(method, str):
        return method_named(method, **options)
    if not hasattr(method, "learn"):
        raise MethodError.not_a_method(method)
    for option, value in options.items():
        if value is not None:
            raise MethodError.option_beside_a_method(option)
    return method
