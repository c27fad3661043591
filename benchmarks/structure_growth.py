"""How structure learning grows with variables and missing values, beside another commit.

    git worktree add ../base COMMIT
    python benchmarks/structure_growth.py ../base [--variables 50,100,200] [--shares 0.1,0.3]

Random networks (two to four states, up to three parents), 10^4 rows, a share of all cells missing,
`lacunet.learn_structure` as it is called by default. Both source trees search the same table at the
same time, each in a process of its own, so that what else runs slows both alike: processor seconds,
F1 and the score of each, the ratio, and the exponent by which seconds grow from one number of
variables to the next.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
from inspect import signature
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

ROOT = Path(__file__).parents[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base", type=Path, nargs="?", help="the worktree of another commit")
    parser.add_argument("--variables", default="50,100,200")
    parser.add_argument("--shares", default="0.1,0.3")
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--strengths", type=int, help="bootstrap replicates, as by default if none")
    asked = parser.parse_args()
    trees = {"after": ROOT} if asked.base is None else {"before": asked.base, "after": ROOT}
    for share in map(float, asked.shares.split(",")):
        last: dict[str, tuple[int, float]] = {}
        for variables in map(int, asked.variables.split(",")):
            with TemporaryDirectory() as folder:
                drawn_into(Path(folder), variables, share, asked.rows, asked.seed)
                runs = {
                    name: started(tree, folder, asked.strengths) for name, tree in trees.items()
                }
                found = {name: json.loads(run.communicate()[0]) for name, run in runs.items()}
            for name, run in found.items():
                growth = ""
                if name in last:
                    fewer, seconds = last[name]
                    exponent = math.log(run["seconds"] / seconds) / math.log(variables / fewer)
                    growth = f", grows by {exponent:.1f}"
                last[name] = variables, run["seconds"]
                print(
                    f"{variables} variables, {share:.0%} missing, {name}: {run['seconds']:.1f} s, "
                    f"F1 {run['f1']:.3f}, score {run['score']:,.1f}{growth}",
                    flush=True,
                )
            if len(found) > 1:
                ratio = found["after"]["seconds"] / found["before"]["seconds"]
                print(
                    f"{variables} variables, {share:.0%} missing: {ratio:.2f} of before", flush=True
                )


def drawn_into(folder: Path, variables: int, share: float, rows: int, seed: int) -> None:
    """A random network and rows of it, in files that both trees read."""
    import numpy as np

    from lacunet.data.table import EncodedTable
    from lacunet.data.write import write_table
    from lacunet.inference.sampling import sample_codes
    from studies.problems.generators import random_network

    rng = np.random.default_rng([variables, seed])
    truth = random_network(variables, rng, max_parents=3, states=(2, 4))
    whole = sample_codes(truth, rows, rng)
    hidden = {
        name: np.where(rng.random(rows) < share, whole.cardinality_of[name], column)
        for name, column in whole.columns.items()
    }
    truth.write(folder / "truth.bif")
    write_table(EncodedTable(whole.cardinality_of, hidden), truth, folder / "rows.parquet")


def started(tree: Path, folder: str, strengths: int | None) -> subprocess.Popen[str]:
    environment = dict(
        os.environ,
        PYTHONPATH=str(tree.resolve() / "src"),
        OMP_NUM_THREADS="1",
        OPENBLAS_NUM_THREADS="1",
    )
    command = [sys.executable, __file__, "worker", json.dumps([folder, strengths])]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


def work(folder: str, strengths: int | None) -> None:
    import lacunet as lc

    truth, rows = lc.read_network(f"{folder}/truth.bif"), f"{folder}/rows.parquet"
    bare = truth.with_tables(None)
    is_new = "states" in signature(lc.Data).parameters  # before, they were given beside the data
    given = {"data": lc.Data(rows, states=bare)} if is_new else {"data": rows, "states": bare}
    lc.learn_structure({"A": [0, 1, None, 1] * 5, "B": [0, None, 1, 1] * 5}, strengths=0)  # warm
    began = process_time()
    found = lc.learn_structure(**given, strengths=strengths)
    seconds = process_time() - began
    f1 = lc.compare_structures(truth, found.network).f1
    print(json.dumps({"seconds": seconds, "f1": f1, "score": found.score}))


if __name__ == "__main__":
    if sys.argv[1:2] == ["worker"]:
        work(*json.loads(sys.argv[2]))
    else:
        sys.path.insert(0, str(ROOT))
        main()
