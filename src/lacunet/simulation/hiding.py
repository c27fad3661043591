"""Values hidden from complete rows, as mechanisms say."""

from __future__ import annotations

import numpy as np

from lacunet.data.table import Codes, EncodedTable
from lacunet.missingness.mechanisms import Missingness, Parent, node_name
from lacunet.model.network import Cpt, FloatArray
from lacunet.model.nodes import named
from lacunet.simulation.errors import SimulationError
from lacunet.simulation.sampling import draw_columns


def hide_cells(
    complete: EncodedTable, missingness: Missingness, rng: np.random.Generator
) -> EncodedTable:
    """Hide values of complete rows as the mechanisms say.

    Parameters
    ----------
    complete
        The rows; what the mechanisms look at must be shown in every one.
    missingness
        The mechanisms and their parameters.
    rng
        Where the randomness comes from; one seed hides the same cells.

    Returns
    -------
    The rows with every other cell as it was, weights and row numbers too.

    Raises
    ------
    SimulationError
        A variable that a mechanism looks at is missing somewhere already.
    """
    cpts = _cpts(missingness)
    _check_shown(complete, cpts)
    given = {named(name): column for name, column in complete.columns.items()}
    drawn = draw_columns(cpts, given, complete.rows, rng)
    columns = dict(complete.columns)
    for name, one in missingness.mechanisms.items():
        columns[name] = _hidden(columns[name], drawn[str(one.node)], complete.cardinality_of[name])
    return EncodedTable.of(
        complete.cardinality_of, columns, complete.weights, complete.notes, complete.row_numbers
    )


def _cpts(missingness: Missingness) -> list[Cpt]:
    """Every coin and mechanism as a CPT with two states; names are quoted, so none meet."""
    coins = [_cpt(one.cause, one.parents, one.zero) for one in missingness.causes]
    hiding = [_cpt(one.node, one.parents, one.missing) for one in missingness.mechanisms.values()]
    return coins + hiding


def _cpt(node: Parent, parents: tuple[Parent, ...], first: FloatArray) -> Cpt:
    return Cpt(
        node_name(node), tuple(map(node_name, parents)), np.stack([first, 1 - first], axis=-1)
    )


def _check_shown(complete: EncodedTable, cpts: list[Cpt]) -> None:
    seen = {parent for cpt in cpts for parent in cpt.parents}
    incomplete = [name for name in complete.partially_observed if named(name) in seen]
    if incomplete:
        raise SimulationError(
            f"the mechanisms look at {sorted(incomplete)}, which the table does not show in "
            "every row.",
            "hide values of a complete table.",
        )


def _hidden(codes: Codes, mechanism: Codes, missing: int) -> Codes:
    hidden = codes.copy()
    hidden[mechanism == 0] = missing
    return hidden
