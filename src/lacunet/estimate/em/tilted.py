r"""EM under a tilt: hidden values of one variable are more, or less, likely than MAR says.

In every row that hides the variable, its states get the soft evidence :math:`e^{\delta a(x)}`.
It enters as an observed child whose CPT is kept as it is: in rows that show the variable the
child says nothing, in the others it says :math:`e^{\delta a(x)}`. At :math:`\delta = 0` this is
plain EM. The tilt is relative to the learned law, that of `lacunet.uncertainty.tilt` to the
shown values.
"""

from __future__ import annotations

import numpy as np

from lacunet.data.table import EncodedTable
from lacunet.estimate.em.start import Rows, maximise
from lacunet.inference.engine import engine_of
from lacunet.memory import memory_budget
from lacunet.model.network import FloatArray, Network
from lacunet.statistics.problems.compile import compile_problems


def tilted_em(
    start: Network,
    table: EncodedTable,
    variable: str,
    tilt: FloatArray,
    prior: float = 2.0,
    tolerance: float = 1e-6,
    max_iterations: int = 5000,
) -> Network:
    r"""The network of highest posterior if hidden values are tilted.

    Parameters
    ----------
    start
        Where to start: the network as plain EM learned it.
    variable
        The variable whose hidden values are tilted.
    tilt
        :math:`\delta a(x)` for each of its states.
    """
    child = "hidden"
    while child in start.states_of:
        child += "'"
    network = Network(
        dict(start.states_of) | {child: ("no", "yes")},
        dict(start.parents_of) | {child: (variable,)},
    )
    is_hidden = (table.columns[variable] == table.cardinality_of[variable]).astype(np.uint8)
    rows = EncodedTable.of(
        dict(table.cardinality_of) | {child: 2},
        dict(table.columns) | {child: is_hidden},
        table.weights,
    )
    engine = engine_of(compile_problems(network, rows), memory_budget())
    layout = engine.problems.layout
    evidence = np.stack([np.ones_like(tilt), np.exp(tilt - tilt.max())], axis=-1).reshape(-1)
    cells = layout.flat({**(start.tables_of or {}), child: evidence})
    kept = slice(len(cells) - len(evidence), None)  # the child comes last
    for _ in range(max_iterations):
        after = maximise(engine.expect(cells).counts, Rows.of(layout), prior)
        after[kept] = evidence
        change = float(np.abs(after - cells).max())
        cells = after
        if change < tolerance:
            break
    tables = layout.tables(cells)
    return start.with_tables({name: tables[name] for name in start.variables})
