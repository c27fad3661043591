"""Counting in memory: each closed form against reading the bytes once, and against pgmpy."""

from __future__ import annotations

import sys
import warnings
from typing import Any

from lacunet.data.table import EncodedTable
from lacunet.data.write import to_arrow
from lacunet.learning.learn import learn
from lacunet.network.catalogue import example
from lacunet.text_tables import TextTable
from timing import alarm, read_once, seconds

METHODS = ("direct-mcar", "factored-mcar", "direct-mar", "factored-mar")
PGMPY_ROWS = (10**6, 10**7)


def main(sizes: list[int]) -> None:
    network = example("alarm")
    rows, per_row = [], []
    for size in sizes:
        table = alarm(size)
        limit = seconds(lambda table=table: read_once(table), 5)
        peer = seconds(pgmpy_fit(table), 1) if size in PGMPY_ROWS else None
        for method in METHODS:
            took = seconds(
                lambda m=method, t=table: learn(network, t, m, pseudo_counts=1),
                1 if size > 2e6 else 3,
            )
            against = f"{peer / took:.0f}x faster" if peer else "-"
            rows.append([f"{size:,}", method, f"{took:.3f} s", f"{took / limit:.0f}x", against])
            per_row.append([f"{size:,}", method, f"{took / size * 1e9:.0f} ns"])
        if peer:
            print(f"pgmpy's MLE fed the same holes, {size:,} rows: {peer:.2f} s", file=sys.stderr)
    header = ["rows", "method", "time", "reading the bytes once", "pgmpy's MLE"]
    print("\n## Counting and estimating, in memory (Alarm, MCAR, 30% of variables, 70% hidden)\n")
    print(TextTable(header, rows, left=2))
    print("\n## Cost of one row: flat where cost is linear\n")
    print(TextTable(["rows", "method", "time a row"], per_row, left=2))


def pgmpy_fit(table: EncodedTable) -> Any:
    """Pgmpy's maximum likelihood on the same holes (it uses the available cases)."""
    from pgmpy.estimators import MaximumLikelihoodEstimator
    from pgmpy.models import DiscreteBayesianNetwork

    network = example("alarm")
    frame = to_arrow(table, network).to_pandas()
    edges = [(parent, child) for child in network.variables for parent in network.parents(child)]
    model = DiscreteBayesianNetwork(edges)

    def fit() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            MaximumLikelihoodEstimator(model, frame).get_parameters(n_jobs=1)

    return fit


if __name__ == "__main__":
    main([int(float(size)) for size in sys.argv[1:]] or [10**4, 10**5, 10**6, 10**7])
