"""All marginals given evidence: by the junction tree, and by the engine of the E-step.

    python benchmarks/two_engines.py NETWORK ...

Each network (a bundled name or a BIF file) is asked for the joint of every family, given a tenth
of its variables. The E-step engine gets one row that shows these variables: its expected family
counts are the same joints. Processor time of the first question (with its plan), of the next one
(plan at hand), and the largest difference between the answers.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import lacunet as lc
from lacunet.data.table import EncodedTable
from lacunet.inference.expectation.expect import expect
from lacunet.inference.expectation.plan import EvaluationPlan, plan_of
from lacunet.inference.joint import joint_marginals
from lacunet.memory import memory_budget
from lacunet.statistics.problems.compile import compile_problems
from lacunet.wording import text_table
from queries import evidence_of, milliseconds


def e_step_plan(network: lc.Network, evidence: dict[str, str]) -> EvaluationPlan:
    """The plan for one row that shows the evidence; nothing is pruned, every family is wanted."""
    row = {
        name: network.state_index(name, evidence[name])
        if name in evidence
        else network.cardinality(name)
        for name in network.variables
    }
    columns = {name: np.array([code], np.uint16) for name, code in row.items()}
    sizes = {name: network.cardinality(name) for name in network.variables}
    problems = compile_problems(network, EncodedTable(sizes, columns), prune=False)
    return plan_of(problems, memory_budget(None))


def line(name: str, network: lc.Network) -> list[str]:
    evidence = evidence_of(network, np.random.default_rng(11))
    scopes = [network.family(variable) for variable in network.variables]
    tree = [milliseconds(lambda: joint_marginals(network, scopes, evidence)) for _ in range(2)]
    planning, plan = milliseconds(lambda: e_step_plan(network, evidence))
    header = [name, f"{tree[0][0]:,.0f}", f"{tree[1][0]:,.0f}"]
    if len(plan.left_out):
        return [*header, "beyond memory", "", ""]
    layout = plan.problems.layout
    cells = layout.flat(network.tables_of or {})
    summing, expected = milliseconds(lambda: expect(plan, cells))
    counts = layout.tables(expected.counts)
    difference = max(
        float(np.abs(counts[variable] - table).max())
        for variable, table in zip(network.variables, tree[0][1], strict=True)
    )
    return [*header, f"{planning + summing:,.0f}", f"{summing:,.0f}", f"{difference:.0e}"]


def main(names: list[str]) -> None:
    header = ["network", "tree, first", "tree, next", "E-step, first", "E-step, next", "difference"]
    lines = []
    for name in names:
        network = lc.read_network(name) if Path(name).exists() else lc.example(name)
        lines.append(line(Path(name).name.split(".")[0], network))
        print(*lines[-1], file=sys.stderr, flush=True)
    print("\n## Joints of all families given evidence, milliseconds of processor time\n")
    print(text_table(header, lines, left=1))


if __name__ == "__main__":
    main(sys.argv[1:])
