"""What decides whether values are shown, learned from any data and within a time limit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lacunet.data.errors import DataWarning
from lacunet.errors import LacunetError, warn
from lacunet.limits import Deadline, Memory, OutOfTimeError
from lacunet.missingness.graph import MissingnessGraph, graph_of
from lacunet.missingness.learned.from_rows import (
    MOST_ROWS,
    LearnedGraph,
    from_few_rows,
    learned_graph,
)
from lacunet.network.arguments import clear_arguments
from lacunet.network.formats.files import NetworkOrEdges
from lacunet.threads import one_blas_thread

if TYPE_CHECKING:
    from lacunet.counts.missing_values import PatternCounts
    from lacunet.counts.observations import Observations
    from lacunet.data.table import EncodedTable


@clear_arguments
def learn_missingness(
    data: Any,
    network: NetworkOrEdges | None = None,
    *,
    given: MissingnessGraph | str | None = None,
    memory: Memory = None,
    time_limit: float | None = None,
) -> LearnedGraph:
    """Learn what decides whether values are shown.

    Candidates for a mechanism are all variables but its own, and the mechanisms before it in
    the network's order; where a value decides on another's mechanism, its own mechanism comes
    before that. Where a mechanism has a value and whether it is shown as causes, what decides
    among the rows that hide the value is looked for too. A cause is added as long as that raises
    BIC, with a further penalty for the number of candidates; no level is chosen. The p-value
    printed beside each is that of a test given the other causes. Where no row shows B without A, as
    after dropout, the graph has ``R[B] <= R[A]``. What the data cannot show is not in the
    graph: that a value is missing because of what it is. With fewer than about 5,000 rows a
    learned graph is not reliable.

    Parameters
    ----------
    data
        A path, a dataframe of any library, or `lacunet.Data`; tests allow for its clusters.
    network
        Gives the variables and their states, or edges; its CPTs are ignored. Without it, as in
        ``learn_missingness(data)``, all columns are looked at.
    given
        What is known of the graph, or its text; it stays whatever the data say. Hidden causes are
        kept, and not used to learn the rest.
    memory
        The budget in bytes, or such as ``"500MB"``; by default half of the memory there is.
        Of rows that take more than a quarter of it, some hundred thousand are looked at, spread
        over all of the data.
    time_limit
        Seconds after which to give up, reading the rows included. If time runs out, an error is
        raised: an incomplete graph would wrongly say that the rest have no causes.

    Returns
    -------
    The graph itself: print it, write it (``graph.write("graph.txt")``), or learn with it
    (``learn(network, data, "em", missingness=graph)``).

    Warns
    -----
    LacunetWarning
        The rows are too few for the graph to be reliable, or refute what it implies.

    Raises
    ------
    LacunetError
        The data have no rows, or the time limit was reached.

    Examples
    --------
    The old answer half of the time, the young always.

    >>> from lacunet import Network
    >>> network = Network({"Age": ["young", "old"], "Ill": ["no", "yes"]}, {"Ill": ["Age"]})
    >>> rows = {"Age": ["young"] * 50 + ["old"] * 50, "Ill": ["no"] * 75 + [None] * 25}
    >>> graph = learn_missingness(rows, network)
    >>> graph.causes["Ill"], graph.origin_of["Age", "Ill"].source
    (('Age',), 'learned')
    """
    from lacunet.counts.open_rows import open_rows
    from lacunet.data.data import as_data
    from lacunet.data.network_from_data import rows_first, warned_network_of_columns

    deadline = Deadline.asked(time_limit)
    data = as_data(rows_first(data, "learn_missingness"))
    if network is None:
        columns, data = warned_network_of_columns(data)
        network = columns.network
    opened = open_rows("learn_missingness", network, data, memory)
    with opened.rows() as rows:
        table, patterns = _rows_to_learn_from(rows)
    if given is not None and not isinstance(given, MissingnessGraph):
        given = graph_of(given, opened.network)
    if table.partially_observed and (few := from_few_rows(table.row_count)):
        warn(f"{few}: compare its edges with what you know of the data.", DataWarning)

    try:
        with one_blas_thread():
            graph = learned_graph(
                network=opened.network,
                table=table,
                given=given,
                deadline=deadline,
                latent=data.latent,
                patterns=patterns,
            )
    except OutOfTimeError:
        raise LacunetError(
            f"what decides whether values are shown was not learned in {time_limit:g} seconds.",
            "give a larger time_limit, or none.",
        ) from None

    tested = graph.tested_on(table, deadline)
    if tested.doubt:
        warn(f"{tested.doubt}.", DataWarning)
    return tested


def _rows_to_learn_from(rows: Observations) -> tuple[EncodedTable, PatternCounts | None]:
    """At least `MOST_ROWS` rows if there are, and the patterns of missing values in all rows.

    The patterns are None where the table holds all rows. That no row shows B without A must hold
    in every row, and a sample may lack the one that does.
    """
    from lacunet.counts.observations import missing_in
    from lacunet.data.read import ReadReport

    read_report = ReadReport()
    look = rows.look()
    table = look.sampled(MOST_ROWS, read_report)
    patterns = None
    if look.rows is None or table.row_count < look.rows:
        patterns = missing_in(rows, (), read_report).patterns
    rows.warned_notes(read_report)
    return table, patterns
