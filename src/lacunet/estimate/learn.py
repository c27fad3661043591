"""The road itself: a network and data in, a network with learned CPTs out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from pathlib import Path
from typing import Any, Literal

import numpy as np

from lacunet.data.read import read_table
from lacunet.data.table import EncodedTable
from lacunet.deadline import Deadline
from lacunet.estimate.deletion.forms import check_size
from lacunet.estimate.method import Ended, FamilyReport, Learned, Method, MethodError, Setting
from lacunet.estimate.registry import method_named
from lacunet.formats.files import read_network
from lacunet.memory import memory_budget
from lacunet.missingness.graph import graph_of
from lacunet.model.network import Network
from lacunet.progress import Progress, silent
from lacunet.statistics.gather import gather
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


class Interrupted(KeyboardInterrupt):
    """Ctrl-C while learning; ``result`` is the best so far."""

    def __init__(self, result: Result) -> None:
        super().__init__("interrupted; the best so far is in the exception's `result`")
        self.result = result


def learn(
    network: Network | str | Path,
    data: Any,
    method: str | Method | None = None,
    prior: float = 2.0,
    weight: Any = None,
    *,
    missing: Sequence[str] = (),
    unknown: Literal["error", "missing"] = "error",
    latent: Sequence[str] = (),
    rng: np.random.Generator | None = None,
    memory: int | None = None,
    progress: Progress = silent,
    **options: Any,
) -> Result:
    """Learn the CPTs of a network from data with missing values.

    Parameters
    ----------
    network
        Structure and states; CPTs, if it has any, are not looked at. Also a file's path.
    data
        A path or several, a dataframe of any library, an Arrow table, a DuckDB relation;
        `lacunet.TextFiles` for text files with another delimiter, encoding or decimal character.
    method
        A method's name, or a method with its options. By default "auto", or "mgraph" where
        ``missingness`` is given.
    prior
        The concentration of the symmetric Dirichlet prior: 2 adds one pseudo-count per cell,
        1 none.
    weight
        The name of the column with the rows' weights, or the weights themselves.
    missing
        Further strings that mean "not observed".
    unknown
        What to do with values that are not states: refuse, or take them as missing.
    latent
        Variables that the data do not have.
    rng
        The source of randomness, for methods that use any.
    memory
        The budget in bytes; by default half of the memory there is.
    progress
        Called as the work goes on.
    options
        The options of the method, such as ``restarts=5`` for "em" or ``separator=["Age"]`` for
        "informed-direct"; ``missingness`` is a graph, its text or a file's path.

    Raises
    ------
    LacunetError
        Something is wrong with the input; the message says what, where and the way out.
    Interrupted
        On Ctrl-C, once there is a result to return; it is a KeyboardInterrupt.
    """
    network = _checked_network(network, data)
    method = checked_method(network, method, options)
    if not (isinstance(prior, Real) and np.isfinite(float(prior)) and prior >= 1):
        raise MethodError(
            f"prior is {prior!r}, but the Dirichlet concentration must be a number of at least 1 "
            "(1: maximum likelihood, 2: one pseudo-count per cell)."
        )
    budget = memory_budget(memory)
    check_size(network, method.bytes_per_cell, budget)
    rng = rng or np.random.default_rng(0)
    table = read_table(
        data,
        network,
        weight=weight,
        missing=missing,
        unknown=unknown,
        latent=latent,
        progress=progress,
    )
    setting = Setting(float(prior), rng, budget, progress)
    learned = carry_out(method, network, table, setting)
    result = Result(
        network.with_tables(learned.tables),
        learned.families,
        method.name,
        table.rows,
        table.total,
        prior,
        table.missing_of,
        (*table.notes, *learned.notes),
        learned.ended,
        learned.why,
    )
    if result.ended is not None and result.ended.reason == "interrupted":
        raise Interrupted(result)
    return result


def carry_out(method: Method, network: Network, table: EncodedTable, setting: Setting) -> Learned:
    """Plan, count, estimate."""
    setting = replace(setting, deadline=Deadline.within(getattr(method, "time_limit", None)))
    plan = method.plan(network, table.partially_observed)
    statistics = gather(
        plan.needs,
        network,
        [table],
        progress=setting.progress,
        deadline=setting.deadline,
        memory=setting.memory / 4,
        seed=int(setting.rng.integers(2**62)) if plan.needs.heldout else 0,
    )
    learned = method.estimate(plan, statistics, setting)
    return replace(learned, notes=(*plan.notes, *learned.notes))


def _checked_network(network: object, data: object) -> Network:
    if isinstance(data, Network):
        raise MethodError(
            "the second argument is a network, but the data belong there.",
            "call learn(network, data).",
        )
    if isinstance(network, str | Path):
        return read_network(network)
    if not isinstance(network, Network):
        raise MethodError(
            f"the network is {type(network).__name__}, not a lacunet.Network.",
            "read it with lacunet.read_network(path).",
        )
    return network


def checked_method(
    network: Network, method: str | Method | None, options: Mapping[str, Any]
) -> Method:
    """The method with its options, if what was given makes sense."""
    given = {option: value for option, value in options.items() if value is not None}
    if "missingness" in given:
        given["missingness"] = graph_of(given["missingness"], network)
    if method is None:
        method = "mgraph" if "missingness" in given else "auto"
    if isinstance(method, str):
        return method_named(method, **given)
    if not (hasattr(method, "plan") and hasattr(method, "estimate")):
        raise MethodError(f"method is {method!r}, but must be a method's name or a method.")
    for option in given:
        raise MethodError(
            f"{option}= goes with a method's name; a method that is given as a value has its own.",
            f"give {option} to the method.",
        )
    return method
