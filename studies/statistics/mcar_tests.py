"""False alarms and power of the tests and of learned mechanisms.

False alarms: a chain of eight variables with random CPTs, half of the variables missing
completely at random at a rate of 30%; the share of data sets in which any test is below 5%
after Holm's adjustment (MCAR and MAR tests), and in which any cause of a mechanism is learned.
Power: the paper's first MAR setting on Alarm.

    python -m studies.statistics.mcar_tests [--sets 400] [--part alarms power]
"""

from __future__ import annotations

import argparse
from itertools import pairwise

import numpy as np

import lacunet as lc
from lacunet.ask.diagnose.at_random_tests import mar_tests, mcar_tests
from lacunet.missingness.learned.from_rows import observed_parents
from lacunet.missingness.learned.learn_missingness import learn_missingness
from lacunet.simulation.simulate import simulate


def chain(states: int, rng: np.random.Generator) -> lc.Network:
    names = [f"X{at}" for at in range(8)]
    parents = {name: [before] for before, name in pairwise(names)}
    shape = {name: (states,) * len(parents.get(name, [])) for name in names}
    tables = {name: rng.dirichlet(np.ones(states), shape[name]) for name in names}
    return lc.Network({n: [str(s) for s in range(states)] for n in names}, parents, tables)


def alarms(sets: int) -> None:
    print("false alarms where values are missing completely at random (share of data sets)")
    print(
        f"{'states':>6} {'rows':>6} {'sets':>5} {'MCAR tests':>11} {'MAR tests':>10} "
        f"{'causes learned':>15}"
    )
    for states in (2, 4):
        for rows in (300, 3000):
            found = []
            for seed in range(sets):
                rng = np.random.default_rng([11, states, rows, seed])
                network = chain(states, rng)
                table = simulate(network, rows, lc.MCAR(0.3, share=0.5), rng=rng).table
                completely = mcar_tests(network, table, rng)
                always = mar_tests(network, table, rng, observed_parents(network, table))
                graph = learn_missingness(table, network)
                strict = any(graph.causes.values())
                found.append([completely[0].adjusted < 0.05, always[0].adjusted < 0.05, strict])
            shares = np.mean(found, axis=0)
            print(
                f"{states:6} {rows:6,} {sets:5} {shares[0]:11.3f} {shares[1]:10.3f} "
                f"{shares[2]:15.3f}",
                flush=True,
            )


def power(sets: int) -> None:
    alarm = lc.example("alarm")
    print("\nthe paper's first MAR setting, Alarm (30% of the variables, 2 parents, Beta(1, .5))")
    for rows in (300, 1000, 3000, 10_000):
        rejected, right, wrong, there, always = [], 0, 0, 0, []
        for seed in range(sets):
            rng = np.random.default_rng([12, rows, seed])
            drawn = simulate(alarm, rows, lc.MAR(share=0.3, beta=(1.0, 0.5)), rng=rng)
            rejected.append(mcar_tests(alarm, drawn.table, rng)[0].adjusted < 0.05)
            parents_of = observed_parents(alarm, drawn.table)
            always.append(mar_tests(alarm, drawn.table, rng, parents_of)[0].adjusted < 0.05)
            learned = learn_missingness(drawn.table, alarm).causes
            for name, nodes in learned.items():
                truth = set(drawn.graph.causes.get(name, ()))
                right += len(truth & set(nodes))
                wrong += len(set(nodes) - truth)
                there += len(truth)
        print(
            f"{rows:6,} rows, {sets} sets: MCAR rejected in {np.mean(rejected):.2f}, MAR in "
            f"{np.mean(always):.2f}; causes learned: {right} of {there} right, {wrong} wrong",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=400)
    parser.add_argument("--part", nargs="+", default=["alarms", "power"])
    chosen = parser.parse_args()
    for part, study, sets in (
        ("alarms", alarms, chosen.sets),
        ("power", power, max(chosen.sets // 20, 2)),
    ):
        if part in chosen.part:
            study(sets)


if __name__ == "__main__":
    main()
